import {ExitCode} from '../errors.ts';

/** A reader that has seen enough is no failure; a full disk is. */
export function outputFailed({code}: NodeJS.ErrnoException): void {
  if (code !== 'EPIPE') process.stderr.write(`Error: Cannot write to standard output: ${code}.\n`);
  process.exit(code === 'EPIPE' ? ExitCode.ok : ExitCode.failed);
}
