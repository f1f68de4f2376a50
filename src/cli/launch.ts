import module from 'node:module';
import {join} from 'node:path';
import {ExitCode} from '../errors.ts';
import {staticAnswer} from './static-answers.ts';

/** Answers `--version`, `--help` and the Tab key itself, and loads oclif for the rest. */
export async function launch(argv: string[]): Promise<void> {
  // Before oclif's own, which throws.
  process.stdout.prependListener('error', outputFailed);
  const root = join(import.meta.dirname, '../..');
  const answer = staticAnswer(argv, root);
  if (answer !== undefined) {
    process.stdout.write(answer);
    return;
  }
  // Node.js has it since 22.1.
  (module as {enableCompileCache?: () => void}).enableCompileCache?.();
  const asked = argv.indexOf('__complete');
  // Each press of Tab; the other program has put its command before it.
  if (asked === 0 || (asked === 1 && argv[0] === 'install')) {
    const {complete} = await import('./complete.ts');
    return complete(argv.slice(asked + 1), argv.slice(0, asked), root);
  }
  // Progress that nobody reads, as behind `2>&1 | head`, is no reason to leave work undone.
  process.stderr.on('error', () => undefined);
  // Of both Node.js says on standard error that one is ignored, and here it is this one.
  if (process.env['NO_COLOR']) delete process.env['FORCE_COLOR'];
  const {start} = await import('./start.ts');
  return start(argv, root);
}

/** A reader that has seen enough is no failure; a full disk is. */
function outputFailed({code}: NodeJS.ErrnoException): void {
  if (code !== 'EPIPE') process.stderr.write(`Error: Cannot write to standard output: ${code}.\n`);
  process.exit(code === 'EPIPE' ? ExitCode.ok : ExitCode.failed);
}
