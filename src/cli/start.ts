import {Config, flush, run} from '@oclif/core';
import {errorText} from '../ui/messages.ts';
import {nodeApp} from './app.ts';
import {asExpected, failureDocument} from './failure.ts';

/** Runs the program. Commands report their own failures; what is left is a command that does not exist. */
export async function start(argv: string[], dir: string): Promise<void> {
  const config = await Config.load(dir);
  try {
    await run(argv, config);
    await flush();
  } catch (error) {
    const {exit} = (error as {oclif?: {exit?: number}}).oclif ?? {};
    if (exit === 0) return;
    const failure = asExpected(error, config.commandIDs);
    const {stdout, stderr, screen} = nodeApp();
    if (argv.includes('--json')) stdout(`${JSON.stringify(failureDocument(failure), null, 2)}\n`);
    else stderr(errorText(failure, screen));
    process.exitCode = failure.exit;
  }
}
