import {describe, expect, test} from 'vitest';
import pjson from '../../package.json' with {type: 'json'};
import {BaseCommand} from '../../src/cli/base-command.ts';
import {type ErrorCode, ExitCode, ExpectedError} from '../../src/ground/errors.ts';
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

const interrupted = (code: 'INTERRUPTED' | 'TERMINATED'): ExpectedError =>
  new ExpectedError('Interrupted.', {code});
const NOT_READY = new ExpectedError('Not ready.', {code: 'NOT_READY'});

/** The last line of every error. */
const moreAbout = (code: string): string =>
  `  More: scalr-agent explain ${code}, or ${PAGE}#${code.toLowerCase()}`;
const PAGE = `https://github.com/Scalr/scalr-agent-install/blob/v${pjson.version}/docs/errors.md`;

test.each([
  [
    'after Ctrl-C on a terminal, which has written ^C there',
    interrupted('INTERRUPTED'),
    TERMINAL,
    '\nError: Interrupted.\n',
  ],
  ['in a pipe', interrupted('INTERRUPTED'), PIPE, 'Error: Interrupted.\n'],
  [
    'after a signal that nobody typed',
    interrupted('TERMINATED'),
    TERMINAL,
    'Error: Interrupted.\n',
  ],
  ['of any other failure', NOT_READY, TERMINAL, 'Error: Not ready.\n'],
])('where the text of a failure begins: %s', async (_, failure, screen, first) => {
  const stderr = `${first}${moreAbout(failure.code)}\n`;
  expect(await runCommand(failing(failure), [], {screen})).toEqual({
    stdout: '',
    stderr,
    exit: failure.exit,
  });
});

describe('where the text of a failure ends', () => {
  const ending = async (code: ErrorCode, argv: readonly string[] = [], columns = 80) => {
    const failure = new ExpectedError('No.', {
      code,
      suggestions: ['Do it'],
      options: [],
    });
    const {stdout, stderr} = await runCommand(failing(failure), [...argv], {
      screen: {hasColor: false, columns},
    });
    return {stdout, lines: stderr.split('\n').slice(1)};
  };

  test('after the next steps, in one piece however narrow the terminal is', async () => {
    const page = moreAbout('TOOL_NOT_FOUND');
    expect((await ending('TOOL_NOT_FOUND', [], 40)).lines).toEqual([
      'Next steps:',
      '  - Do it',
      page,
      '',
    ]);
  });

  test.each([
    'BUG',
    'RENDER_MISMATCH',
    'SECRET_IN_BUNDLE',
  ] as const)('%s is no doing of the operator and asks for a report', async (code) => {
    const report = '  Report it: https://github.com/Scalr/scalr-agent-install/issues';
    expect((await ending(code)).lines.slice(2)).toEqual([report, moreAbout(code), '']);
  });

  test('who said no is told nothing more', async () => {
    expect((await ending('CANCELED')).lines).toEqual(['Next steps:', '  - Do it', '']);
  });

  test('the document of --json has its own fields', async () => {
    const {stdout, lines} = await ending('TOOL_NOT_FOUND', ['--json']);
    expect(JSON.parse(stdout).error).toEqual({
      code: 'TOOL_NOT_FOUND',
      message: 'No.',
      suggestions: ['Do it'],
      exit: ExitCode.usage,
    });
    expect(lines).toEqual([]);
  });
});

test('--verbose keeps the files of this program in a stack, and redacts what others printed', async () => {
  const cause = new Error('the plugin printed password=Tr0ub4dor-3xyz');
  const frames = [
    '    at run (file:///opt/dist/shared/apply-fixes-CxeTHV6s.js:12:345)',
    '    at async file:///opt/dist/commands/install-Cf1Whc04.js:1:2',
    '    at node:internal/timers:1:2',
  ].join('\n');
  cause.stack = `Error: ${cause.message}\n${frames}`;
  const failure = new ExpectedError('Failed.', {code: 'TOOL_FAILED', cause});
  const {stderr} = await runCommand(failing(failure), ['--verbose']);
  expect(stderr).toContain(`\n${frames}\n`);
  expect(stderr).not.toContain('Tr0ub4dor');
});
