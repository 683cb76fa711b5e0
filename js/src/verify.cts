// Compares a server with a recording: 'mcpreel verify --json'.

import { McpreelError } from './program.cjs';
import { errorText, run, wordsOf, type Variables } from './process.cjs';

/** A difference, as 'mcpreel verify --json' has it. */
export interface Finding {
  path: string | null;
  message: string;
  hint?: string | null;
  severity?: string;
  recorded?: unknown;
  live?: unknown;
}

/** The verdict on one recorded request, as 'mcpreel verify --json' has it. */
export interface CallVerdict {
  number: number;
  seq: number;
  line: number;
  method: string | null;
  subject: string | null;
  verdict: string;
  reason: string | null;
  findings: Finding[];
}

export interface VerifyReport {
  calls: CallVerdict[];
  findings: Finding[];
}

export interface VerifyOptions {
  /** The server: a command line, its words, or a URL. */
  server: string | readonly string[];
  /** Values that may differ, such as '$.result..id'. */
  ignore?: string | readonly string[];
  /** Other options of 'mcpreel verify'. */
  options?: readonly string[];
  env?: Variables;
}

export interface InteractionResult {
  index: number;
  method: string;
  passed: boolean;
  /** What differs, with path, recorded and live value. */
  diff: string[];
}

export interface VerifyResult {
  total: number;
  passed: number;
  failed: number;
  results: InteractionResult[];
}

/** The words that name a server to mcpreel, behind those that name the recording. */
export function serverWords(server: string | readonly string[]): string[] {
  if (typeof server === 'string' && /^https?:\/\//.test(server)) return ['--url', server];
  const words = wordsOf(server);
  return words.length ? ['--', ...words] : [];
}

export function ignoreWords(ignore: string | readonly string[] = []): string[] {
  return (typeof ignore === 'string' ? [ignore] : ignore).flatMap((one) => ['--ignore-paths', one]);
}

export function hasFailed(call: CallVerdict): boolean {
  return call.verdict === 'failed' || call.verdict === 'blocked';
}

/** The report on a recording. Throws McpreelError if there is none: the recording or the server cannot be used. */
export async function verifyReport(recording: string, { server, ignore, options = [], env }: VerifyOptions): Promise<VerifyReport> {
  const target = serverWords(server);
  if (!target.length) throw new McpreelError('mcpreel: verify needs a server: a command or a URL');
  const done = await run(['verify', '--json', ...options, ...ignoreWords(ignore), recording, ...target], env);
  const report = done.stdout.startsWith('{') ? (JSON.parse(done.stdout.split('\n', 1)[0]!) as VerifyReport) : undefined;
  if (!report?.calls) throw new McpreelError(`mcpreel verify ended with ${done.code}: ${errorText(done.stderr)}`);
  return report;
}

function textOf(finding: Finding): string {
  if (finding.path === null) return finding.message;
  const recorded = 'recorded' in finding ? JSON.stringify(finding.recorded) : '(absent)';
  const live = 'live' in finding ? JSON.stringify(finding.live) : '(absent)';
  return `${finding.path}: ${recorded} != ${live}`;
}

/** Send the requests of `recording` to a server and compare its responses. */
export async function verify(recording: string, options: VerifyOptions): Promise<VerifyResult> {
  const { calls } = await verifyReport(recording, options);
  const results = calls
    .filter((call) => call.verdict !== 'skipped')
    .map((call) => ({
      index: call.number,
      method: call.subject ? `${call.method} [${call.subject}]` : (call.method ?? ''),
      passed: !hasFailed(call),
      diff: [...call.findings.map(textOf), ...(call.reason ? [call.reason] : [])],
    }));
  const passed = results.filter((result) => result.passed).length;
  return { total: results.length, passed, failed: results.length - passed, results };
}
