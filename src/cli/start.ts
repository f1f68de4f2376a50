import {join} from 'node:path';
import {flush} from '@oclif/core/flush';
import type {PJSON} from '@oclif/core/interfaces';
import {run} from '@oclif/core/run';
import {settings} from '@oclif/core/settings';
import {ownJson} from '../adapters/own-files.ts';
import {ExitCode} from '../errors.ts';
import {failureText} from '../ui/messages.ts';
import {nodeApp, originOf} from './app.ts';
import {asExpected, failureDocument} from './failure.ts';

/** Runs the command of the package in this directory. Commands report their own failures; what is left is a command that does not exist. */
export async function start(argv: string[], root: string): Promise<void> {
  process.once('beforeExit', leftWaiting);
  // The sources of a checkout are not run.
  settings.enableAutoTranspile = false;
  // Otherwise oclif starts PowerShell to find out the name of the shell, which nothing here uses.
  if (process.platform === 'win32') process.env['SHELL'] ??= 'unknown';
  try {
    await run(argv, {root, userPlugins: false, devPlugins: false});
    await flush();
  } catch (error) {
    report(error, argv, root);
  }
  process.off('beforeExit', leftWaiting);
}

function report(error: unknown, argv: readonly string[], root: string): void {
  const {exit} = (error as {oclif?: {exit?: number}}).oclif ?? {};
  if (exit === 0) return;
  const {commands} = ownJson(join(root, 'oclif.manifest.json')) as {commands: object};
  const failure = asExpected(error, {argv, commands: Object.keys(commands)});
  const {stdout, stderr, screen} = nodeApp();
  if (argv.includes('--json')) stdout(`${JSON.stringify(failureDocument(failure), null, 2)}\n`);
  else stderr(failureText(failure, originOf(ownJson(join(root, 'package.json')) as PJSON), screen));
  process.exitCode = failure.exit;
}

/** Nothing can happen any more, and the command has not come to its end. */
function leftWaiting(): void {
  process.stderr.write('Error: The program waited for something that cannot come any more.\n');
  process.exitCode = ExitCode.failed;
}
