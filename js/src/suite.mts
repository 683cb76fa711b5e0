// One test for each recorded call: a server is compared with recordings.

import * as fs from 'node:fs';
import * as path from 'node:path';
import { describe, expect, test } from 'vitest';
import { McpreelError } from './program.cjs';
import { errorText, runSync } from './process.cjs';
import { failure } from './failure.mjs';
import { hasFailed, verifyReport, type CallVerdict, type VerifyOptions, type VerifyReport } from './verify.cjs';

const LIMIT = 120_000; // ms; the first test of a file waits for the whole file

export interface VerifyRecordingsOptions extends Omit<VerifyOptions, 'server'> {
  /** The real server: a command line or its words. */
  server?: string | readonly string[];
  /** The URL of the real server, in place of `server`. */
  url?: string;
}

interface Recorded {
  seq: number;
  label: string;
}

/** Make a test of every recorded call in the files of `pattern`, which is relative to the test file. */
export function verifyRecordings(pattern: string, { server, url, ...rest }: VerifyRecordingsOptions): void {
  if ((server === undefined) === (url === undefined)) {
    throw failure('mcpreel: verifyRecordings() needs a server or a url, and not both');
  }
  const folder = path.dirname(expect.getState().testPath ?? path.resolve('x'));
  const files = filesOf(folder, pattern);
  if (!files.length) throw failure(`mcpreel: verifyRecordings: no recording matches ${path.join(folder, pattern)}`);
  for (const file of files) describeFile(folder, file, { ...rest, server: url ?? server ?? '' });
}

function describeFile(folder: string, file: string, options: VerifyOptions): void {
  const name = path.relative(folder, file);
  let recorded: Recorded[];
  try {
    recorded = requestsOf(file);
  } catch (error) {
    test(name, () => Promise.reject(failure(error)));
    return;
  }
  let report: Promise<VerifyReport> | undefined;
  describe(name, () => {
    for (const { seq, label } of recorded) {
      test(`${seq} ${label}`, { timeout: LIMIT }, async ({ skip }) => {
        report ??= verifyReport(file, options).catch((error: unknown) => Promise.reject(failure(error)));
        const { calls, findings } = await report;
        const call = calls.find((one) => one.seq === seq);
        if (!call) throw failure(`mcpreel verify has no verdict on it: ${findings.map((one) => one.message).join('\n')}`);
        if (call.verdict === 'skipped') skip(call.reason ?? 'not sent');
        if (hasFailed(call)) throw failure(describeCall(call, file));
      });
    }
  });
}

/** The recorded requests of the client. */
function requestsOf(file: string): Recorded[] {
  const shown = runSync(['show', '--json', file]);
  if (shown.code) throw new McpreelError(`mcpreel: ${errorText(shown.stderr)}`);
  interface Operation {
    kind?: string;
    from?: string;
    method: string | null;
    subject: string | null;
    messages: { role: string; from: string; seq: number }[];
  }
  return shown.stdout.split('\n').filter(Boolean)
    .map((line) => JSON.parse(line) as Operation)
    .filter((operation) => operation.kind === 'request' && operation.from === 'client')
    .flatMap((operation) => operation.messages
      .filter((message) => message.role === 'request' && message.from === 'client')
      .map(({ seq }) => ({ seq, label: [operation.method, operation.subject].filter(Boolean).join(' ') })));
}

function describeCall(call: CallVerdict, file: string): string {
  const lines = [`mcpreel: ${[call.method, call.subject].filter(Boolean).join(' ')} of ${file}:${call.line} ${call.verdict}`];
  if (call.reason) lines.push(`  ${call.reason}`);
  for (const finding of call.findings) {
    lines.push(`  ${[finding.path, finding.message].filter(Boolean).join(' ')}`);
    if ('recorded' in finding) lines.push(`      - ${short(finding.recorded)}  recorded`);
    if ('live' in finding) lines.push(`      + ${short(finding.live)}  live`);
    if (finding.hint) lines.push(`      ${finding.hint}`);
  }
  lines.push(`  If the change is intended: npx mcpreel verify --update=${call.number} ${file} …`);
  return lines.join('\n');
}

function short(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 200 ? text : `${text.slice(0, 200)}… (${text.length} characters)`;
}

/** The files below `folder` whose names fit: '*' and '?' stand for text without '/', '**' for any folders. */
function filesOf(folder: string, pattern: string): string[] {
  const absolute = path.resolve(folder, pattern).split(path.sep).join('/');
  const [fixed = ''] = absolute.split(/[*?]/, 1);
  const base = fixed.slice(0, fixed.lastIndexOf('/') + 1);
  const wild = absolute.slice(base.length).replace(/\*\*\/|\*|\?|[.+^${}()|[\]\\]/g, (part) =>
    ({ '**/': '(?:.*/)?', '*': '[^/]*', '?': '[^/]' })[part] ?? `\\${part}`);
  if (!fs.existsSync(base)) return [];
  return fs.readdirSync(base, { recursive: true, encoding: 'utf8' })
    .filter((name) => new RegExp(`^${wild}$`).test(name.split(path.sep).join('/')) && !name.includes('node_modules'))
    .map((name) => path.join(base, name))
    .filter((file) => fs.statSync(file).isFile())
    .sort();
}
