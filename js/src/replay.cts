// Serves a recording as an MCP server, over HTTP or as a command for stdio.

import * as fs from 'node:fs';
import * as path from 'node:path';
import { McpreelError, findProgram } from './program.cjs';
import { Listener, ScratchFolder, type Variables } from './process.cjs';

/** The object that 'mcpreel replay --report' writes; docs/json-output.md has all its members. */
export interface ReplayReport {
  exit_code: number;
  matched: number;
  repeated: number;
  unmatched: number;
  forwarded: number;
  unused: number;
  unmatched_requests: { method: string; subject?: string; reason: string; text: string }[];
  recording?: { appended?: number; rewritten?: number } | null;
  [member: string]: unknown;
}

export interface ReplayOptions {
  /** Options of 'mcpreel replay', such as '--match', 'fuzzy'. */
  options?: readonly string[];
  /** The words behind the recording: '--', 'node', 'server.js', or '--url', URL. */
  server?: readonly string[];
  env?: Variables;
}

/** What a client on stdio has to start. */
export interface StdioParams {
  command: string;
  args: string[];
  env: Record<string, string>;
}

export function stdioParamsOf(words: readonly string[], env: Variables = {}): StdioParams {
  const [command = '', ...args] = words;
  return { command, args, env: { ...(process.env as Record<string, string>), ...env } };
}

/**
 * `const server = await ReplayServer.start('session.jsonl')`; connect a client to `server.url`; `await server.stop()`.
 * The recording may have any format that mcpreel reads. After stop(), `report` says which requests had a match,
 * and `exitCode` is 1 if one had none.
 */
export class ReplayServer {
  #listener: Listener;
  #folder: ScratchFolder;
  report: ReplayReport | undefined;
  exitCode: number | null = null;

  private constructor(listener: Listener, folder: ScratchFolder) {
    this.#listener = listener;
    this.#folder = folder;
  }

  static async start(recording: string, { options = [], server = [], env }: ReplayOptions = {}): Promise<ReplayServer> {
    const folder = new ScratchFolder();
    try {
      const report = `json=${path.join(folder.path, 'report.json')}`;
      return new ReplayServer(await Listener.start(['replay', '--report', report, ...options, recording, ...server], env), folder);
    } catch (error) {
      folder.remove();
      throw error;
    }
  }

  /** The words of a command that replays a recording for one client on stdio. */
  static command(recording: string, { options = [], server = [] }: ReplayOptions = {}): string[] {
    return [findProgram(), '-q', 'replay', ...options, recording, ...server];
  }

  /** The same for the StdioClientTransport of the official SDK. */
  static stdioParams(recording: string, { env, ...options }: ReplayOptions = {}): StdioParams {
    return stdioParamsOf(ReplayServer.command(recording, options), env);
  }

  get url(): string {
    return this.#listener.url;
  }

  /** The standard error of mcpreel so far. */
  get messages(): string {
    return this.#listener.messages;
  }

  /** End the server and return its report. Further calls return the same. */
  async stop(): Promise<ReplayReport> {
    this.exitCode = await this.#listener.stop();
    const file = path.join(this.#folder.path, 'report.json');
    if (fs.existsSync(file)) this.report = JSON.parse(fs.readFileSync(file, 'utf8')) as ReplayReport;
    this.#folder.remove();
    if (!this.report) {
      throw new McpreelError(`mcpreel replay ended with exit code ${this.exitCode} and no report: ${this.messages.trim()}`);
    }
    return this.report;
  }

  /** For 'await using'. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
