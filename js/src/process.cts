// Starts mcpreel, waits until it serves clients, and ends it.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import * as fs from 'node:fs';
import type { Socket } from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import type { Readable } from 'node:stream';
import { McpreelError, findProgram } from './program.cjs';

const START_LIMIT = 30_000; // ms until mcpreel listens; a server that it starts for 'record' may be slow
const STOP_LIMIT = 10_000; // ms until it has ended after SIGINT: it stops its own server within 3 s

export type Variables = Record<string, string>;

export interface Finished {
  /** null if a signal has ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

function environment(added: Variables = {}): NodeJS.ProcessEnv {
  return { ...process.env, ...added };
}

/** Run mcpreel to its end, with `env` added to the environment. The caller judges output and exit code. */
export async function run(words: readonly string[], env?: Variables): Promise<Finished> {
  const child = spawn(findProgram(), words, { stdio: ['ignore', 'pipe', 'pipe'], env: environment(env) });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text));
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...output }));
  });
}

/** The same for callers that cannot wait for a promise. */
export function runSync(words: readonly string[]): Finished {
  const done = spawnSync(findProgram(), words, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8', maxBuffer: Infinity });
  if (done.error) throw done.error;
  return { code: done.status, stdout: done.stdout, stderr: done.stderr };
}

/** The message in what mcpreel --json writes to standard error; the text as it is if that is no JSON. */
export function errorText(output: string): string {
  try {
    return String(JSON.parse(output).error.message);
  } catch {
    return output.trim();
  }
}

/** The words of a server's command line. Quotes and backslashes have the meaning that they have in a shell. */
export function wordsOf(server: string | readonly string[]): string[] {
  if (typeof server !== 'string') return [...server];
  const words: string[] = [];
  const rest = server.replace(/\s*((?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+)/gs, (_, word: string) => {
    words.push(word.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/gs, (_all, double?: string, single?: string, one?: string) =>
      double === undefined ? (single ?? one ?? '') : double.replace(/\\(["\\$`])/g, '$1')));
    return '';
  });
  if (rest.trim()) throw new McpreelError(`mcpreel: the command '${server}' has a quote or a backslash without its end`);
  return words;
}

/** Removes a folder, unless a line comes first. A program that ends, too, may make a file in it meanwhile: then rm fails. */
const GUARD = 'read -r done || for try in 1 2 3 4 5 6 7 8 9; do rm -rf -- "$1" && break; sleep 1; done';

/**
 * A temporary folder for files with secrets, which only this user can read. It is removed also if this process is
 * killed: by a shell that waits for the end of a pipe.
 */
export class ScratchFolder {
  readonly path = fs.mkdtempSync(path.resolve(os.tmpdir(), 'mcpreel-')); // absolute: the shell is in another folder
  #pipe: Socket;

  constructor() {
    const words = ['-c', GUARD, 'sh', this.path];
    const guard = spawn('/bin/sh', words, { stdio: ['pipe', 'ignore', 'ignore'], cwd: '/', detached: true });
    guard.once('error', () => {});
    guard.unref();
    this.#pipe = guard.stdin as Socket;
    this.#pipe.once('error', () => {}).unref();
  }

  /** Leave the folder to the caller. */
  keep(): void {
    if (this.#pipe.writable) this.#pipe.end('\n');
  }

  remove(): void {
    fs.rmSync(this.path, { recursive: true, force: true });
    this.keep();
  }
}

/** Ended with this process, if it ends before stop(). */
const running = new Set<ChildProcess>();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** A running 'mcpreel … --listen' on a free port of this machine. It ends with this process, also if that is killed. */
export class Listener {
  #child: ChildProcess;
  #ended: Promise<number | null>;
  #text = '';
  /** Where clients connect. */
  url = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    running.add(child);
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#text += text));
    this.#ended = new Promise((resolve) => {
      child.once('error', (error) => {
        this.#text += error.message;
        resolve(null);
      });
      child.once('close', (code) => resolve(code));
    });
    void this.#ended.then(() => running.delete(child));
  }

  /** `words` are without the options that this adds behind the first word. */
  static async start(words: readonly string[], env?: Variables): Promise<Listener> {
    const [command = '', ...rest] = words;
    const child = spawn(findProgram(), [command, '--listen', '127.0.0.1:0', '--ready-fd', '3', '--end-with-stdin', ...rest], {
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
      env: environment(env),
    });
    const listener = new Listener(child);
    listener.url = await listener.#address(child.stdio[3] as Readable);
    if (listener.url) return listener;
    const code = await listener.stop();
    throw new McpreelError(`mcpreel did not start (exit code ${code}): ${listener.messages.trim() || 'it said nothing'}`);
  }

  /** The line that mcpreel writes when clients can connect; empty if it ended before that, or is too slow. */
  #address(ready: Readable): Promise<string> {
    return new Promise((resolve) => {
      let text = '';
      const end = (): void => {
        clearTimeout(limit);
        ready.destroy();
        resolve(text.endsWith('\n') ? text.trim() : '');
      };
      const limit = setTimeout(end, START_LIMIT);
      ready.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
        if (text.endsWith('\n')) end();
      });
      ready.once('end', end).once('error', end);
    });
  }

  /** Its standard error so far. */
  get messages(): string {
    return this.#text;
  }

  /** End it and return its exit code. Further calls return the same. */
  async stop(): Promise<number | null> {
    this.#child.kill('SIGINT');
    const limit = setTimeout(() => this.#child.kill('SIGKILL'), STOP_LIMIT);
    const code = await this.#ended;
    clearTimeout(limit);
    return code;
  }
}
