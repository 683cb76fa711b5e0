// Matchers of Vitest for MCP. A comparison of recordings or of contracts is the work of mcpreel.

import { expect as plainExpect, type ExpectStatic } from 'vitest';
import { McpServer, type Call, type ContractOptions } from './server.mjs';

/** What toBeToolResult() compares. A member that is not given is not compared, but `isError` is false then. */
export interface ToolResultShape {
  /** The text of all text content, in lines: all of it, or a part as a pattern. */
  text?: string | RegExp;
  structuredContent?: unknown;
  isError?: boolean;
}

export interface McpMatchers {
  /** A call of the tool has at least these arguments. '*' in the name stands for any text. */
  toHaveCalledTool(tool: string, args?: Record<string, unknown>): void;
  toBeToolResult(shape?: ToolResultShape): void;
  /** The conversation so far is that of the recording: no request is missing, added, changed or moved. */
  toMatchRecording(): Promise<void>;
  /** What the server lists keeps the contract in the lock file. */
  toMatchToolContract(options?: ContractOptions): Promise<void>;
}

type Assertion = ReturnType<ExpectStatic>;
type McpAssertion = Assertion & McpMatchers & { not: Assertion['not'] & McpMatchers };

/** expect() of Vitest with the matchers for MCP. */
export type McpExpect = ((actual: object, message?: string) => McpAssertion) & ExpectStatic;

/** A result of a tool in any of the SDK's types. */
interface ToolResult {
  content?: unknown;
  structuredContent?: unknown;
  isError?: unknown;
}

interface Outcome {
  pass: boolean;
  message: () => string;
}

function serverOf(received: unknown, matcher: string): McpServer {
  if (received instanceof McpServer) return received;
  throw new TypeError(`${matcher}() is for the fixture 'mcp': expect(mcp).${matcher}()`);
}

function listOf(calls: Call[]): string {
  return calls.map((call) => `  ${call.tool} ${JSON.stringify(call.arguments)}`).join('\n') || '  none';
}

/** Whether the name of a tool is a pattern's; '*' in it stands for any text. */
function isNamed(tool: string, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(tool);
}

function textOf(result: ToolResult): string {
  const items = Array.isArray(result.content) ? (result.content as { type?: unknown; text?: unknown }[]) : [];
  return items.filter((item) => item?.type === 'text').map((item) => String(item.text)).join('\n');
}

interface Equality {
  equals: (a: unknown, b: unknown) => boolean;
}

/** One line for each member that differs. */
function differences(result: ToolResult, shape: ToolResultShape, equals: Equality['equals']): string[] {
  const found: string[] = [];
  const text = textOf(result);
  const isError = result.isError === true;
  if (isError !== (shape.isError ?? false)) {
    found.push(isError ? `it is an error: ${text}` : 'it is no error');
  }
  if (typeof shape.text === 'string' ? shape.text !== text : shape.text && !shape.text.test(text)) {
    found.push(`the text is ${JSON.stringify(text)}, not ${shape.text instanceof RegExp ? shape.text : JSON.stringify(shape.text)}`);
  }
  if ('structuredContent' in shape && !equals(result.structuredContent, shape.structuredContent)) {
    const [is, wanted] = [result.structuredContent, shape.structuredContent].map((value) => JSON.stringify(value));
    found.push(`structuredContent is ${is}, not ${wanted}`);
  }
  return found;
}

plainExpect.extend({
  toHaveCalledTool(received: unknown, tool: string, args?: Record<string, unknown>): Outcome {
    const calls = serverOf(received, 'toHaveCalledTool').calls;
    const wanted = args ? plainExpect.objectContaining(args) : undefined;
    const fitting = calls.filter((call) => isNamed(call.tool, tool) && (!wanted || this.equals(call.arguments, wanted)));
    return {
      pass: fitting.length > 0,
      message: () => this.isNot ? `${tool} was called:\n${listOf(fitting)}`
        : `no call of ${tool}${args ? ` ${JSON.stringify(args)}` : ''}; the calls were:\n${listOf(calls)}`,
    };
  },

  toBeToolResult(received: unknown, shape: ToolResultShape = {}): Outcome {
    const isResult = typeof received === 'object' && received !== null && 'content' in received;
    const found = isResult ? differences(received, shape, this.equals) : ['it has no content'];
    return {
      pass: found.length === 0,
      message: () => this.isNot ? 'the tool result is as described' : `the tool result is another: ${found.join('; ')}`,
    };
  },

  async toMatchRecording(received: unknown): Promise<Outcome> {
    const { pass, text } = await serverOf(received, 'toMatchRecording').compareWithRecording();
    return { pass, message: () => (this.isNot ? 'the conversation is that of the recording' : text) };
  },

  async toMatchToolContract(received: unknown, options?: ContractOptions): Promise<Outcome> {
    const { pass, text } = await serverOf(received, 'toMatchToolContract').compareWithContract(options);
    return { pass, message: () => (this.isNot ? 'the server keeps its contract' : text) };
  },
});

export const expect = plainExpect as McpExpect;
