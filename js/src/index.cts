// Record, replay and verify MCP traffic with the program mcpreel. The functions start the program and read its
// reports; they contain no matching, comparing or redacting of their own.

export { McpreelError, findProgram } from './program.cjs';
export { run, type Finished } from './process.cjs';
export { ReplayServer, type ReplayOptions, type ReplayReport, type StdioParams } from './replay.cjs';
export { verify, type InteractionResult, type VerifyOptions, type VerifyResult } from './verify.cjs';
