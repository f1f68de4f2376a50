import {expect, test} from 'vitest';
import {BaseCommand} from '../../src/cli/base-command.ts';
import {ExitCode, ExpectedError} from '../../src/errors.ts';
import {runCommand} from '../support/run-command.ts';

const TERMINAL = {hasColor: false, columns: 80};
const PIPE = {hasColor: false, columns: undefined};

const failing = (failure: ExpectedError) =>
  class extends BaseCommand<object> {
    override async run(): Promise<object> {
      await this.parse(this.ctor);
      throw failure;
    }
  };

const interrupted = (exit: ExitCode): ExpectedError => new ExpectedError('Interrupted.', {code: 'INTERRUPTED', exit});
const NOT_READY = new ExpectedError('Not ready.', {code: 'NOT_READY', exit: ExitCode.failed});

test.each([
  ['after Ctrl-C on a terminal, which has written ^C there', interrupted(ExitCode.interrupted), TERMINAL, '\nError: Interrupted.\n'],
  ['in a pipe', interrupted(ExitCode.interrupted), PIPE, 'Error: Interrupted.\n'],
  ['after a signal that nobody typed', interrupted(ExitCode.terminated), TERMINAL, 'Error: Interrupted.\n'],
  ['of any other failure', NOT_READY, TERMINAL, 'Error: Not ready.\n'],
])('where the text of a failure begins: %s', async (_, failure, screen, stderr) => {
  expect(await runCommand(failing(failure), [], {screen})).toEqual({stdout: '', stderr, exit: failure.exit});
});
