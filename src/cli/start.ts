import {Config} from '@oclif/core/config';
import {flush} from '@oclif/core/flush';
import {run} from '@oclif/core/run';
import {ExitCode} from '../errors.ts';
import {failureText} from '../ui/messages.ts';
import {nodeApp} from './app.ts';
import {asExpected, failureDocument} from './failure.ts';
import {originOf} from './origin.ts';
import {programAt} from './program.ts';

/** Runs the program. Commands report their own failures; what is left is a command that does not exist. */
export async function start(argv: string[], bin: string): Promise<void> {
  // Before oclif's own, which throws.
  process.stdout.prependListener('error', outputFailed);
  const program = programAt(bin);
  const config = await Config.load({root: program.root, plugins: new Map([[program.name, program]])});
  try {
    await run(argv, config);
    await flush();
  } catch (error) {
    const {exit} = (error as {oclif?: {exit?: number}}).oclif ?? {};
    if (exit === 0) return;
    const failure = asExpected(error, config.commandIDs);
    const {stdout, stderr, screen} = nodeApp();
    if (argv.includes('--json')) stdout(`${JSON.stringify(failureDocument(failure), null, 2)}\n`);
    else stderr(failureText(failure, originOf(program.pjson), screen));
    process.exitCode = failure.exit;
  }
}

/** A reader that has seen enough is no failure; a full disk is. */
function outputFailed({code}: NodeJS.ErrnoException): void {
  if (code !== 'EPIPE') process.stderr.write(`Error: Cannot write to standard output: ${code}.\n`);
  process.exit(code === 'EPIPE' ? ExitCode.ok : ExitCode.failed);
}
