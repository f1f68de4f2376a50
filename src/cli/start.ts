import {Config} from '@oclif/core/config';
import {flush} from '@oclif/core/flush';
import {run} from '@oclif/core/run';
import {ExitCode} from '../errors.ts';
import {failureText} from '../ui/messages.ts';
import {nodeApp} from './app.ts';
import {asExpected, failureDocument} from './failure.ts';
import {originOf} from './origin.ts';
import {programAt} from './program.ts';

/** Runs the program that lies in this directory. Commands report their own failures; what is left is a command that does not exist. */
export async function start(argv: string[], root: string): Promise<void> {
  process.once('beforeExit', leftWaiting);
  await runAt(root, argv);
  process.off('beforeExit', leftWaiting);
}

async function runAt(root: string, argv: string[]): Promise<void> {
  const program = programAt(root);
  const config = await Config.load({root: program.root, plugins: new Map([[program.name, program]])});
  try {
    await run(argv, config);
    await flush();
  } catch (error) {
    const {exit} = (error as {oclif?: {exit?: number}}).oclif ?? {};
    if (exit === 0) return;
    const failure = asExpected(error, {argv, commands: config.commandIDs});
    const {stdout, stderr, screen} = nodeApp();
    if (argv.includes('--json')) stdout(`${JSON.stringify(failureDocument(failure), null, 2)}\n`);
    else stderr(failureText(failure, originOf(program.pjson), screen));
    process.exitCode = failure.exit;
  }
}

/** Nothing can happen any more, and the command has not come to its end. */
function leftWaiting(): void {
  process.stderr.write('Error: The program waited for something that cannot come any more.\n');
  process.exitCode = ExitCode.failed;
}
