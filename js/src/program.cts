// Finds the program mcpreel that belongs to this package. It does not start it.

import * as fs from 'node:fs';
import * as path from 'node:path';

/** mcpreel is not installed, or could not do what it was asked for. The message says why, and what to do. */
export class McpreelError extends Error {
  override name = 'McpreelError';
}

const PLATFORMS = ['linux-x64', 'linux-arm64'];
const HERE = `${process.platform}-${process.arch}`;
const FROM_SOURCE = 'build mcpreel from source and set MCPREEL to the path of the program';

function packageOf(platform: string): string {
  return `@mcpreel/${platform}`;
}

/** The program in the package of a platform, if that package is installed. */
function programOf(platform: string): string | undefined {
  try {
    return path.join(path.dirname(require.resolve(`${packageOf(platform)}/package.json`)), 'bin', 'mcpreel');
  } catch {
    return undefined;
  }
}

function isExecutable(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Scripts are left out: node_modules/.bin/mcpreel, which calls this function, is one. */
function isScript(file: string): boolean {
  const start = Buffer.alloc(2);
  const descriptor = fs.openSync(file, 'r');
  try {
    fs.readSync(descriptor, start, 0, 2, 0);
  } finally {
    fs.closeSync(descriptor);
  }
  return start.toString() === '#!';
}

function programInPath(): string | undefined {
  const files = (process.env.PATH ?? '').split(path.delimiter).filter(Boolean).map((folder) => path.join(folder, 'mcpreel'));
  return files.find((file) => isExecutable(file) && !isScript(file));
}

function whyMissing(): string {
  if (!PLATFORMS.includes(HERE)) {
    return `mcpreel: there is no program for ${HERE} yet: the packages are ${PLATFORMS.map(packageOf).join(' and ')}. ` +
      `Elsewhere, ${FROM_SOURCE}`;
  }
  const other = PLATFORMS.find((platform) => platform !== HERE && programOf(platform));
  if (other) {
    return `mcpreel: node_modules has ${packageOf(other)}, but this machine is ${HERE}: node_modules was copied from ` +
      "another machine. Run 'npm ci' on this one, and copy package-lock.json only";
  }
  return `mcpreel: the package ${packageOf(HERE)}, which has the program, is not installed. npm leaves it out with ` +
    "--omit=optional, also if 'npm config get omit' has it: run 'npm install --include=optional'";
}

function installed(): string {
  const own = programOf(HERE);
  if (own) {
    if (isExecutable(own)) return own;
    throw new McpreelError(`mcpreel: ${own} is not executable: run 'npm ci', which installs it anew`);
  }
  const found = programInPath();
  if (found) return found;
  throw new McpreelError(whyMissing());
}

/** The path of mcpreel: the variable MCPREEL, else the package of this platform, else the one in PATH. */
export function findProgram(): string {
  const chosen = process.env.MCPREEL;
  if (!chosen) return installed();
  if (!isExecutable(chosen)) throw new McpreelError(`mcpreel: MCPREEL is '${chosen}', which is no program`);
  return chosen;
}
