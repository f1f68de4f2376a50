import {join} from 'node:path';
import type {Interfaces} from '@oclif/core';
import {Config} from '@oclif/core/config';
import {flush} from '@oclif/core/flush';
import {run} from '@oclif/core/run';
import {settings} from '@oclif/core/settings';
import {ExitCode} from '../ground/errors.ts';
import {readPackageJson} from '../ground/system/this-process.ts';
import {failureText} from '../ui/messages.ts';
import {nodeApp, originOf} from './app.ts';
// In one file with what every command loads.
import './base-command.ts';
import {failureDocument, toExpectedError} from './failure.ts';

/** Runs a command of the package in this directory. Commands report their own errors; only unknown commands are reported here. */
export async function start(argv: string[], root: string): Promise<void> {
  process.once('beforeExit', leftWaiting);
  // The stack of a bug reaches down to the command.
  Error.stackTraceLimit = 50;
  // Does not run the sources of a checkout.
  settings.enableAutoTranspile = false;
  try {
    await run(argv, packageAt(root));
    await flush();
  } catch (error) {
    await report(error, argv, root);
  } finally {
    process.off('beforeExit', leftWaiting);
  }
}

/** Given package.json, oclif does not look for it. */
const packageAt = (root: string) => ({
  root,
  pjson: readPackageJson(join(root, 'package.json')) as Interfaces.PJSON,
  userPlugins: false,
  devPlugins: false,
});

async function report(error: unknown, argv: readonly string[], root: string): Promise<void> {
  const {exit} = (error as {oclif?: {exit?: number}}).oclif ?? {};
  if (exit === 0) return;
  const config = await Config.load(packageAt(root));
  const command = await config.findCommand(argv[0] ?? '')?.load();
  const failure = toExpectedError(error, {
    argv: argv.slice(1),
    commands: config.commandIDs,
    ...(command && {flags: {...command.flags, ...command.baseFlags}}),
  });
  const {stdout, stderr, screen} = nodeApp();
  if (argv.includes('--json')) stdout(`${JSON.stringify(failureDocument(failure), null, 2)}\n`);
  else stderr(failureText(failure, originOf(config.pjson), screen));
  process.exitCode = failure.exit;
}

/** The event loop is empty, but the command has not finished. */
function leftWaiting(): void {
  process.stderr.write('Error: The command did not finish, because of an internal error.\n');
  process.exitCode = ExitCode.failed;
}
