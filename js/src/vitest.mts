// Fixtures for Vitest: mock servers from recordings, and recordings from real servers.
//
//     const test = mcpTest.with({ server: 'node server.js' });
//     test('search', async ({ mcp }) => { const client = await mcp.client(); … });
//
// The recording of a test changes only when the test has passed.

import { createHash } from 'node:crypto';
import * as path from 'node:path';
import { expect as plainExpect, test, type TestAPI } from 'vitest';
import { failure } from './failure.mjs';
import { MODES, McpServer, type Mode, type ServerOptions } from './server.mjs';

export { expect, type McpExpect, type McpMatchers, type ToolResultShape } from './matchers.mjs';
export { McpServer, type Call, type ClientOptions, type ContractOptions, type Mode, type ServerOptions } from './server.mjs';
export { verifyRecordings, type VerifyRecordingsOptions } from './suite.mjs';

const NAME_LIMIT = 120; // characters of a recording's file name
const SETTLE_LIMIT = 60_000; // ms; a server may need seconds to end
const OPTIONS = ['env', 'ignore', 'match', 'options', 'recording', 'server'];
const TRACES = ['off', 'on', 'retain-on-failure'] as const;
type Traces = (typeof TRACES)[number];

export interface McpFixtures {
  /** A server that answers from the recording of this test, or the recorder in front of the real one. */
  mcp: McpServer;
}

export type McpTest = TestAPI<McpFixtures> & {
  /** The same with other options; those that are not given stay as they are. */
  with(options: ServerOptions): McpTest;
};

/** What is used of a test. */
interface Task {
  name: string;
  suite?: Suite | undefined;
  file: { name: string; filepath: string };
  result?: { state?: string } | undefined;
}

interface Suite {
  name: string;
  suite?: Suite | undefined;
}

function variable<T extends string>(name: string, values: readonly T[]): T | undefined {
  const value = process.env[name];
  if (!value) return undefined;
  if (values.includes(value as T)) return value as T;
  throw failure(`mcpreel: ${name} is '${value}'; it can be ${values.join(', ')}`);
}

/** MCPREEL_MODE, else as Vitest treats snapshots: -u writes all of them, with CI set it writes none. */
function currentMode(): Mode {
  const chosen = variable('MCPREEL_MODE', MODES);
  if (chosen) return chosen;
  const update = plainExpect.getState().snapshotState.snapshotUpdateState;
  return update === 'all' ? 'rewrite' : update === 'none' ? 'none' : 'once';
}

function currentTraces(): Traces {
  return variable('MCPREEL_TRACE', TRACES) ?? 'retain-on-failure';
}

/** The names of the suites that a test is in, and its own. */
function namesOf(task: Task): string[] {
  const names = [task.name];
  for (let suite = task.suite; suite && suite.name && suite.name !== task.file.name; suite = suite.suite) {
    names.unshift(suite.name);
  }
  return names;
}

/** A name for any test, short enough for a file, and different for different tests. */
function fileName(names: string[]): string {
  const plain = names.map((name) => name.replace(/[^A-Za-z0-9_]+/g, '-').replace(/^-|-$/g, '') || 'test').join('.');
  const isFaithful = names.every((name) => /^[A-Za-z0-9_]+( [A-Za-z0-9_]+)*$/.test(name));
  if (isFaithful && plain.length <= NAME_LIMIT) return plain;
  return `${plain.slice(0, NAME_LIMIT - 9)}-${createHash('sha256').update(names.join('\0')).digest('hex').slice(0, 8)}`;
}

/** A word of a command line for a shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function makeServer(options: ServerOptions, task: Task): McpServer {
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown) throw failure(`mcpreel: mcpTest.with() has no option '${unknown}'; it has ${OPTIONS.join(', ')}`);
  const names = namesOf(task);
  const folder = path.dirname(task.file.filepath);
  const pattern = `^${names.join(' ').replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
  const alone = `${quoted(task.file.name)} -t ${quoted(pattern)}`;
  return new McpServer(options, {
    folder,
    recording: path.join(folder, '__recordings__', path.basename(task.file.filepath), `${fileName(names)}.jsonl`),
    mode: currentMode(),
    runAlone: `npx vitest run ${alone}`,
    rewriteAlone: `npx vitest run ${alone} -u`, // -u in front of the file would take its name for a value
  });
}

/** Vitest names test files relative to the root of the project. */
function traceStem(task: Task): string {
  const root = task.file.filepath.slice(0, -task.file.name.length);
  return path.join(root, 'mcp-traces', fileName([task.file.name, ...namesOf(task)]));
}

/** After all hooks of the test, and the teardown of all fixtures: one that throws ends that of the others. */
async function settle(server: McpServer, task: Task): Promise<void> {
  try {
    const problem = await server.finish();
    const passed = !problem && task.result?.state === 'pass';
    if (passed) server.accept();
    const traces = currentTraces();
    const kept = traces === 'on' || (traces === 'retain-on-failure' && !passed) ? await server.keepTraces(traceStem(task)) : [];
    const commands = kept.map((file) => `  Look at it: npx mcpreel show ${quoted(path.relative('', file))}`).join('\n');
    if (problem) throw failure(`${problem}\n${commands}`.trim());
    if (!passed && commands) console.error(commands); // Vitest names the test
  } catch (error) {
    throw failure(error);
  } finally {
    server.remove();
  }
}

function make(options: ServerOptions): McpTest {
  const made = test.extend<McpFixtures>({
    mcp: async ({ task, onTestFinished }, use) => {
      const server = makeServer(options, task);
      onTestFinished(() => settle(server, task), SETTLE_LIMIT);
      await server.prepare().catch((error: unknown) => Promise.reject(failure(error)));
      await use(server);
    },
  });
  return Object.assign(made, { with: (more: ServerOptions) => make({ ...options, ...more }) });
}

export const mcpTest: McpTest = make({});
