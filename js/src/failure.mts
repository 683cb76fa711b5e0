// The failure of a test by mcpreel: its text alone, without the frames of this package.

import { McpreelError } from './program.cjs';

export function failure(reason: unknown): Error {
  const made = new McpreelError(reason instanceof Error ? reason.message : String(reason));
  made.stack = `${made.name}: ${made.message}`;
  return made;
}
