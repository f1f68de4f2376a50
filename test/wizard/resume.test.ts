import {describe, expect, test} from 'vitest';
import {PromptCancelled} from '../../src/errors.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {ENTER, type Line} from '../support/scripted-prompter.ts';
import {KEPT, LEAVE, talk} from './conversation.ts';

/** Ctrl-C at a question. */
const interrupt = (question: string): Line => [
  question,
  new Proxy([], {
    get() {
      throw new PromptCancelled();
    },
  }) as readonly string[],
];

const BEGUN: Line[] = [
  ['Agent pool token', 'hunter2'],
  ['Address of', 'https://acme.scalr.io'],
  ['Where does the cluster run', 'eks'],
  ['What is the agent pool for', ENTER],
  ['May runs share', ENTER],
];

describe('a conversation that broke off', () => {
  const broken = async () => {
    const files = memoryFiles();
    const result = await talk([...BEGUN, interrupt('What does the network')], {files});
    return {...result, files};
  };

  test('ends with 130, changes nothing and says how to go on', async () => {
    const {exit, stderr} = await broken();
    expect(exit).toBe(130);
    expect(stderr).toContain('Cancelled. Nothing was changed.');
    expect(stderr).toContain('--resume');
  });

  test('leaves its answers to its owner alone, without the token', async () => {
    const {files} = await broken();
    const last = files.written.at(-1);
    expect(last).toMatchObject({path: KEPT, isPrivate: true});
    expect(last?.text).not.toContain('hunter2');
    expect(JSON.parse(last?.text ?? '')).toEqual({
      answers: {url: 'https://acme.scalr.io', cloud: 'eks', purpose: 'runs'},
      asked: ['isolation'],
    });
  });

  test('is gone on with: only secrets and the rest are asked', async () => {
    const {files} = await broken();
    const lines: Line[] = [
      ['Agent pool token', 'hunter2'],
      ['What does the network', ENTER],
      ['Where do providers', ENTER],
      ['How many runs', ENTER],
      ['Which chart?', ENTER],
      LEAVE,
    ];
    const {exit, stderr} = await talk(lines, {argv: ['--resume'], files});
    expect(exit).toBe(0);
    expect(stderr).toContain('✔ Where does the cluster run? eks (said before)');
    expect(files.removed).toEqual([KEPT]);
  });
});

test('before the first answer nothing is left behind', async () => {
  const {exit, stderr, files} = await talk([interrupt('Agent pool token')]);
  expect(exit).toBe(130);
  expect(files.written).toEqual([]);
  expect(stderr).not.toContain('--resume');
});

test('where nothing broke off there is nothing to resume', async () => {
  const {exit, stderr} = await talk([], {argv: ['--resume']});
  expect(exit).toBe(2);
  expect(stderr).toContain('There is no conversation to resume.');
});

test('what is damaged is said', async () => {
  const {exit, stderr} = await talk([], {argv: ['--resume'], files: memoryFiles({[KEPT]: '{'})});
  expect(exit).toBe(2);
  expect(stderr).toContain('is damaged');
});

test.each([['--yes'], ['--json'], ['--dry-run'], ['--no-input']])('%s leaves nobody to go on with', async (flag) => {
  const {exit, stdout, stderr} = await talk([], {argv: ['--resume', flag]});
  expect(exit).toBe(2);
  expect(stdout + stderr).toContain('--resume goes on with a conversation');
});

test('a home that cannot be written does not end it', async () => {
  const files = memoryFiles();
  const {ExpectedError} = await import('../../src/errors.ts');
  files.write = async () => {
    throw new ExpectedError('Cannot write: read-only.', {code: 'UNWRITABLE_FILE', exit: 1});
  };
  const {exit, stderr} = await talk([...BEGUN, interrupt('What does the network')], {files});
  expect(exit).toBe(130);
  expect(stderr).not.toContain('--resume');
});
