#!/usr/bin/env node
// The command mcpreel: starts the program with the same standard streams, and ends as it ends.

import { spawn } from 'node:child_process';
import { McpreelError, findProgram } from './program.cjs';

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGCONT', 'SIGWINCH'] as const;
const NO_PROGRAM = 127; // as a shell has it

function start(program: string): void {
  const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
  const forward = (signal: NodeJS.Signals): boolean => child.kill(signal);
  FORWARDED.forEach((signal) => process.on(signal, forward));
  child.once('error', (error) => {
    process.stderr.write(`mcpreel: ${program} cannot be started: ${error.message}\n`);
    process.exitCode = NO_PROGRAM;
  });
  child.once('exit', (code, signal) => {
    FORWARDED.forEach((one) => process.off(one, forward));
    if (signal) process.kill(process.pid, signal);
    else process.exitCode = code ?? 1;
  });
}

try {
  start(findProgram());
} catch (error) {
  if (!(error instanceof McpreelError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = NO_PROGRAM;
}
