// The server that a test talks to: a replay, or a recorder in front of the real server. It knows no test runner.

import * as fs from 'node:fs';
import * as path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { McpreelError, findProgram } from './program.cjs';
import { Listener, ScratchFolder, run, runSync, type Variables } from './process.cjs';
import { ReplayServer, stdioParamsOf, type ReplayReport, type StdioParams } from './replay.cjs';
import { ignoreWords, serverWords } from './verify.cjs';

export const MODES = ['none', 'once', 'append', 'rewrite', 'verify'] as const;
export type Mode = (typeof MODES)[number];

const REPORT_WAIT = 5_000; // ms; a stdio replay ends when its client closes standard input

/** For requests without a match, by the reason in the report. */
const ADVICE = {
  'no-match': "  If a value varies: mcpTest.with({ ignore: ['$.params.arguments.NAME'] })",
  exhausted: "  If a call may be repeated: mcpTest.with({ options: ['--on-exhausted', 'last'] })",
};

/** A tool call of this test, as the client made it. */
export interface Call {
  tool: string;
  arguments: Record<string, unknown>;
  error: boolean;
  serverMs: number | null;
}

export interface ServerOptions {
  /** The real server: a command line, its words, or a URL. Needed to record. */
  server?: string | readonly string[];
  /** The recording, relative to the folder of the test file. */
  recording?: string;
  /** How requests match: 'by-request' if not given. */
  match?: 'by-request' | 'sequential' | 'fuzzy' | 'strict' | (string & {});
  /** Values that may differ, such as '$.params.arguments.q'. */
  ignore?: string | readonly string[];
  /** Other options of 'mcpreel replay', such as '--redact-env', 'NAME'. */
  options?: readonly string[];
  /** Variables for mcpreel and the real server. */
  env?: Variables;
}

export interface ClientOptions {
  /** 'http' if the real server is at a URL, else 'stdio'. */
  transport?: 'stdio' | 'http';
  /** Your own client, such as one with a handler for sampling; it is connected. */
  client?: Client;
}

export interface ContractOptions {
  /** The lock file, relative to the folder of the test file. */
  file?: string;
  /** Options of 'mcpreel lock --check', such as '--fail-on', 'risky'. */
  options?: readonly string[];
}

/** What the runner says of a test. */
export interface TestPlace {
  /** The folder of the test file. */
  folder: string;
  /** The recording, unless the options name one. */
  recording: string;
  mode: Mode;
  /** Command lines that run this test alone: in its mode, and to record anew. */
  runAlone: string;
  rewriteAlone: string;
}

interface Verdict {
  pass: boolean;
  text: string;
}

/**
 * Give clients `url`, start one with `stdioParams()` or `command`, or let client() do it. Each use of the latter is
 * a run of its own. The files of a run are in a folder that only this user can read; accept() makes what was
 * recorded the recording of the test.
 */
export class McpServer {
  readonly recording: string;
  readonly mode: Mode;
  #place: TestPlace;
  #server: string[];
  #env: Variables | undefined;
  #ignore: string[];
  #redaction: string[];
  #options: string[];
  #folder: ScratchFolder | undefined;
  #runs: string[] = [];
  #before: string;
  #http: Promise<{ replay: ReplayServer; front: Listener }> | undefined;
  #httpRun: string | undefined;
  #clients: Client[] = [];
  #contracts = new Map<string, string>();
  #problems: string[] = [];

  /** @internal */
  constructor(options: ServerOptions, place: TestPlace) {
    this.recording = options.recording ? path.resolve(place.folder, options.recording) : place.recording;
    this.mode = place.mode;
    this.#place = place;
    this.#server = serverWords(options.server ?? []);
    this.#env = options.env;
    this.#ignore = ignoreWords(options.ignore);
    const [redaction, others] = splitRedaction(options.options ?? []);
    this.#redaction = redaction;
    this.#options = [...(options.match ? ['--match', options.match] : []), ...this.#ignore, ...others];
    this.#before = stateOf(this.recording);
  }

  // For tests.

  /** The URL for clients over HTTP. All clients of a test share it. */
  get url(): Promise<string> {
    this.#http ??= this.#startHttp(this.#newRun());
    return this.#http.then(({ front }) => front.url);
  }

  /** The words of a command for a client on stdio. */
  get command(): string[] {
    const folder = this.#newRun();
    const { options, server } = this.#replayWords(folder);
    const report = ['--report', `json=${path.join(folder, 'report.json')}`];
    return [
      ...[findProgram(), ...recorderWords(folder), '--'],
      ...ReplayServer.command(this.recording, { options: [...report, ...options], server }),
    ];
  }

  /** The same for the StdioClientTransport of the official SDK. */
  stdioParams(env: Variables = {}): StdioParams {
    return stdioParamsOf(this.command, { ...this.#env, ...env });
  }

  /** A client of the official SDK, connected. It is closed at the end of the test. */
  async client({ transport, client }: ClientOptions = {}): Promise<Client> {
    const sdk = await officialSdk();
    const made = client ?? new sdk.Client({ name: 'mcpreel', version: '1' });
    if ((transport ?? (this.#server[0] === '--url' ? 'http' : 'stdio')) === 'http') {
      await made.connect(new sdk.StreamableHTTPClientTransport(new URL(await this.url)));
    } else {
      const stdio = new sdk.StdioClientTransport({ ...this.stdioParams(), stderr: 'pipe' });
      let said = '';
      stdio.stderr?.on('data', (text: Buffer) => (said += text.toString()));
      await made.connect(stdio).catch(async (error: unknown) => {
        await made.close();
        throw new McpreelError(`mcpreel: the client could not connect: ${messageOf(error)}\n${said.trim()}`.trim());
      });
    }
    this.#clients.push(made);
    return made;
  }

  /** The tool calls so far, in order. */
  get calls(): Call[] {
    return this.#traces().flatMap(callsIn);
  }

  // For the matchers.

  /** Compare the conversation so far with the recording. @internal */
  async compareWithRecording(): Promise<Verdict> {
    const traces = this.#traces();
    if (traces.length !== 1) {
      const text = `mcpreel: ${traces.length || 'no'} clients have connected; the recording is compared with the conversation of one`;
      return { pass: false, text };
    }
    if (this.#writesAll() || this.mode === 'append') return { pass: true, text: 'the conversation becomes the recording' };
    const redacted = `${traces[0]}.redacted.jsonl`;
    await this.#redact(traces[0]!, redacted);
    const done = await run(['-q', 'diff', '--exit-code', '--no-pager', ...this.#ignore, this.recording, redacted]);
    if (done.code !== 0 && done.code !== 1) throw new McpreelError(`mcpreel: ${done.stderr.trim()}`);
    const advice = `  If the change is intended: ${this.#place.rewriteAlone}`;
    return {
      pass: done.code === 0,
      text: `mcpreel: the conversation is not that of ${this.recording}\n\n${done.stdout.trim()}\n\n${advice}`,
    };
  }

  /** Compare what the server lists with the lock file; write it if there is none and the mode records. @internal */
  async compareWithContract({ file, options = [] }: ContractOptions = {}): Promise<Verdict> {
    const lock = file ? path.resolve(this.#place.folder, file) : this.recording.replace(/\.jsonl$/, '') + '.lock.json';
    const exists = fs.existsSync(lock);
    if (!exists && (this.mode === 'none' || this.mode === 'verify')) {
      const text = `mcpreel: there is no contract ${lock} (mode ${this.mode})\n\n  write it: ${this.#place.rewriteAlone}`;
      return { pass: false, text };
    }
    const words = (name: string): string[] => this.#server[0] === '--url' ? [...this.#server, name]
      : [name, ...(this.#server.length ? this.#server : [this.recording])];
    if (!exists || this.mode === 'rewrite') {
      const pending = path.join(this.#newFolder(), path.basename(lock));
      const done = await run(['-q', 'lock', ...this.#redaction, ...words(pending)], this.#env);
      if (done.code) throw new McpreelError(`mcpreel: the contract cannot be written: ${done.stderr.trim()}`);
      this.#contracts.set(lock, pending);
      return { pass: true, text: `the surface of the server becomes the contract ${lock}` };
    }
    const done = await run(['-q', 'lock', '--check', ...this.#redaction, ...options, ...words(lock)], this.#env);
    if (done.code !== 0 && done.code !== 1) throw new McpreelError(`mcpreel: the contract cannot be checked: ${done.stderr.trim()}`);
    const advice = `  If the change is intended: ${this.#place.rewriteAlone}`;
    return { pass: done.code === 0, text: `mcpreel: the server does not keep its contract\n\n${done.stdout.trim()}\n\n${advice}` };
  }

  // For the fixture.

  /** In mode verify, compare the real server with the recording. @internal */
  async prepare(): Promise<void> {
    if (this.mode !== 'verify' || !fs.existsSync(this.recording)) return;
    if (!this.#server.length) throw new McpreelError("mcpreel: mode verify needs the real server: mcpTest.with({ server: 'COMMAND' })");
    const [url, command] = this.#server[0] === '--url' ? [this.#server, []] : [[], this.#server];
    const done = await run(['verify', ...this.#ignore, ...url, this.recording, ...command], this.#env);
    if (done.code) throw new McpreelError(`mcpreel: the server differs from ${this.recording}\n\n${done.stdout}${done.stderr}`);
  }

  /** End all runs. Return the text about what went wrong in them, if anything did. @internal */
  async finish(): Promise<string | undefined> {
    await Promise.allSettled(this.#clients.map((client) => client.close()));
    await this.#stopHttp();
    for (const folder of this.#runs) {
      if (folder !== this.#httpRun && fs.existsSync(path.join(folder, 'trace.jsonl'))) {
        await this.#judgeStdio(folder);
      }
    }
    const pending = this.#pending();
    if (pending.length > 1) {
      this.#problems.push(`mcpreel: ${pending.length} clients recorded at a time, and one file cannot hold both: let the test use ` +
        "one client, or 'url' for all of them");
    } else if (pending.length && stateOf(this.recording) !== this.#before) {
      this.#problems.push(`mcpreel: ${this.recording} was changed during the test, by another test or program: give each test a ` +
        'recording of its own, or put the tests that share one into one file');
    }
    return this.#problems.length ? this.#problems.join('\n\n') : undefined;
  }

  /** Make the new recording and the new contract, if there are any, those of the test. @internal */
  accept(): void {
    for (const pending of this.#pending()) replaceFile(pending, this.recording);
    for (const [lock, pending] of this.#contracts) replaceFile(pending, lock);
  }

  /** Write the traffic of the test to files, redacted as the recording. Return these. @internal */
  async keepTraces(stem: string): Promise<string[]> {
    const kept: string[] = [];
    for (const [number, trace] of this.#traces().entries()) {
      const file = `${stem}${number ? `-${number + 1}` : ''}.jsonl`;
      fs.mkdirSync(path.dirname(file), { recursive: true });
      await this.#redact(trace, file);
      kept.push(file);
    }
    return kept;
  }

  /** Remove the files of the runs, but not the journal of a failed recording, which its message names. @internal */
  remove(): void {
    if (!this.#folder) return;
    const named = this.#runs.filter((folder) => fs.readdirSync(folder).some((name) => name.endsWith('.journal')));
    named.forEach((folder) => fs.rmSync(path.join(folder, 'trace.jsonl'), { force: true }));
    for (const name of fs.readdirSync(this.#folder.path)) {
      const folder = path.join(this.#folder.path, name);
      if (!named.includes(folder)) fs.rmSync(folder, { recursive: true, force: true });
    }
    if (named.length) this.#folder.keep();
    else this.#folder.remove();
  }

  async #startHttp(folder: string): Promise<{ replay: ReplayServer; front: Listener }> {
    this.#httpRun = folder;
    const replay = await ReplayServer.start(this.recording, { ...this.#replayWords(folder), env: this.#env });
    try {
      return { replay, front: await Listener.start([...recorderWords(folder), '--url', replay.url]) };
    } catch (error) {
      await replay.stop();
      throw error;
    }
  }

  async #stopHttp(): Promise<void> {
    const http = await this.#http?.catch(() => undefined); // the test has the error
    if (!http) return;
    await http.front.stop();
    const report = await http.replay.stop();
    this.#judge(report, http.replay.exitCode, http.replay.messages);
  }

  /** Whether this test records from its beginning. */
  #writesAll(): boolean {
    return this.#server.length > 0 && (this.mode === 'rewrite' || (this.mode === 'once' && this.#before === ''));
  }

  /** Options and server words of 'mcpreel replay'. */
  #replayWords(folder: string): { options: string[]; server: string[] } {
    if (this.mode === 'none' || this.mode === 'verify' || !this.#server.length) {
      return { options: ['--fail-at-end', ...this.#options], server: [] };
    }
    // append has no requests without a match: the server answers them.
    const atEnd = this.mode === 'append' ? [] : ['--fail-at-end'];
    const pending = ['--pending', path.join(folder, path.basename(this.recording))];
    return { options: [...atEnd, '--record-mode', this.mode, ...pending, ...this.#redaction, ...this.#options], server: this.#server };
  }

  /** Throw if there is no recording, and none can be made. */
  #requireRecording(): void {
    if (fs.existsSync(this.recording)) return;
    if (this.mode !== 'none' && this.mode !== 'verify' && this.#server.length) return;
    const advice = this.#server.length ? `record it: MCPREEL_MODE=once ${this.#place.runAlone}`
      : "name the real server, mcpTest.with({ server: 'COMMAND' }), and record it with MCPREEL_MODE=once";
    throw new McpreelError(`mcpreel: there is no recording ${this.recording} (mode ${this.mode})\n\n  ${advice}`);
  }

  #newRun(): string {
    this.#requireRecording();
    const folder = this.#newFolder();
    this.#runs.push(folder);
    return folder;
  }

  #newFolder(): string {
    this.#folder ??= new ScratchFolder();
    return fs.mkdtempSync(path.join(this.#folder.path, 'run-'));
  }

  #pending(): string[] {
    return this.#runs.map((folder) => path.join(folder, path.basename(this.recording))).filter((file) => fs.existsSync(file));
  }

  #traces(): string[] {
    return this.#runs.map((folder) => path.join(folder, 'trace.jsonl')).filter((file) => fs.existsSync(file));
  }

  async #redact(trace: string, file: string): Promise<void> {
    fs.rmSync(file, { force: true });
    const done = await run(['-q', 'redact', ...this.#redaction, trace, '-o', file]);
    if (done.code) throw new McpreelError(`mcpreel: the trace ${file} cannot be written: ${done.stderr.trim()}`);
  }

  /** Judge a run that the client started. The replay writes its report, then the recorder in front of it its own. */
  async #judgeStdio(folder: string): Promise<void> {
    const { report, session } = await waitForReports(folder);
    if (report) {
      this.#judge(report, report.exit_code, '');
    } else if (session) {
      const reason = stderrIn(path.join(folder, 'trace.jsonl'));
      this.#problems.push(`mcpreel replay ended with exit code ${session.exit_code}\n${reason}`.trim());
    } else {
      this.#problems.push('mcpreel: a client on stdio has not closed its connection when the test ended');
    }
  }

  #judge(report: ReplayReport, code: number | null, messages: string): void {
    const missed = report.forwarded ? [] : report.unmatched_requests;
    if (missed.length) {
      const lines = missed.map((request) => `  ${request.text}`);
      const advice = Object.entries(ADVICE).filter(([reason]) => missed.some((request) => request.reason === reason));
      lines.push('', `  If the change is intended: ${this.#place.rewriteAlone}`, ...advice.map(([, text]) => text));
      this.#problems.push([`mcpreel: requests without a match in ${this.recording}:`, ...lines].join('\n'));
    } else if (code) {
      this.#problems.push(`mcpreel replay ended with exit code ${code}\n${messages.trim()}`.trim());
    }
  }
}

/** Client and transports of the package that the project of the test has. */
async function officialSdk() {
  try {
    const [client, stdio, http] = await Promise.all([
      import('@modelcontextprotocol/sdk/client/index.js'),
      import('@modelcontextprotocol/sdk/client/stdio.js'),
      import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    ]);
    return { ...client, ...stdio, ...http };
  } catch (error) {
    throw new McpreelError('mcpreel: mcp.client() needs the official SDK: npm install -D @modelcontextprotocol/sdk ' +
      `(${messageOf(error).split('\n', 1)[0]})`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** [options that redact, all others]. Only a recorder takes the first. */
function splitRedaction(options: readonly string[]): [string[], string[]] {
  const redaction: string[] = [];
  const others: string[] = [];
  const words = [...options];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const list = /^--(no-)?redact-/.test(word) ? redaction : others;
    list.push(word);
    if (['--redact-env', '--redact-patterns', '--redact-members'].includes(word)) list.push(words.shift() ?? '');
  }
  return [redaction, others];
}

/** The recorder of a test's own traffic. Tests ask for its arguments, so it is redacted only when it is kept. */
function recorderWords(folder: string): string[] {
  const files = ['-o', path.join(folder, 'trace.jsonl'), '--report', path.join(folder, 'session.json')];
  return ['record', '-q', '--no-redact-defaults', '--no-redact-server-url', ...files];
}

/** Changes when the file does; empty without a file. */
function stateOf(file: string): string {
  const state = fs.existsSync(file) ? fs.statSync(file, { bigint: true, throwIfNoEntry: false }) : undefined;
  return state ? `${state.mtimeNs} ${state.size}` : '';
}

/** Readers see the old file or the new one, and never a part. An old file keeps its mode. */
function replaceFile(from: string, to: string): void {
  const folder = path.dirname(to);
  const beside = path.join(folder, `.${path.basename(to)}.${process.pid}`);
  try {
    fs.mkdirSync(folder, { recursive: true });
    fs.copyFileSync(from, beside);
    fs.chmodSync(beside, fs.statSync(fs.existsSync(to) ? to : from).mode & 0o7777);
    fs.renameSync(beside, to);
  } catch (error) {
    try {
      fs.rmSync(beside, { force: true });
    } catch {} // as with a file for the folder: the first error says it
    throw new McpreelError(`mcpreel: no recording can be written to ${folder}: ${messageOf(error)}`);
  }
}

/** What the recorder reports at its end. */
interface SessionReport {
  exit_code: number;
}

function readJson<T>(file: string): T | undefined {
  return fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, 'utf8')) as T) : undefined;
}

/** The reports of the replay and of the recorder; neither, if the client goes on. */
async function waitForReports(folder: string): Promise<{ report?: ReplayReport | undefined; session?: SessionReport | undefined }> {
  const [report, session] = [path.join(folder, 'report.json'), path.join(folder, 'session.json')];
  const end = Date.now() + REPORT_WAIT;
  while (!fs.existsSync(report) && !fs.existsSync(session) && Date.now() < end) await sleep(10);
  return { report: readJson<ReplayReport>(report), session: readJson<SessionReport>(session) };
}

interface TraceLine {
  type: string;
  seq: number;
  text?: string;
  msg?: { params?: { arguments?: unknown } };
}

function linesOf(trace: string): TraceLine[] {
  const lines = fs.readFileSync(trace, 'utf8').split('\n').slice(0, -1); // the last one is being written
  return lines.map((line) => JSON.parse(line) as TraceLine);
}

function stderrIn(trace: string): string {
  return linesOf(trace).filter((line) => line.type === 'stderr').map((line) => line.text).join('').trim();
}

/** The arguments of the recorded requests. 'mcpreel show' has them as text, and long ones shortened. */
function argumentsBySeq(trace: string): Map<number, Record<string, unknown>> {
  const found = new Map<number, Record<string, unknown>>();
  for (const record of linesOf(trace)) {
    const given = record.msg?.params?.arguments;
    if (given && typeof given === 'object' && !Array.isArray(given)) found.set(record.seq, given as Record<string, unknown>);
  }
  return found;
}

interface Operation {
  kind: string;
  from: string;
  subject: string | null;
  outcome: string;
  server_us: number | null;
  messages: { role: string; seq: number }[];
}

function callsIn(trace: string): Call[] {
  const done = runSync(['show', '--json', trace, 'method:tools/call']);
  if (done.code) throw new McpreelError(`mcpreel: the trace of the test cannot be read: ${done.stderr.trim()}`);
  const given = argumentsBySeq(trace);
  return done.stdout.split('\n').filter(Boolean)
    .map((line) => JSON.parse(line) as Operation)
    .filter((operation) => operation.kind === 'request' && operation.from === 'client')
    .map((operation) => ({
      tool: operation.subject ?? '',
      arguments: given.get(operation.messages.find((message) => message.role === 'request')?.seq ?? -1) ?? {},
      error: operation.outcome !== 'ok',
      serverMs: operation.server_us === null ? null : operation.server_us / 1000,
    }));
}
