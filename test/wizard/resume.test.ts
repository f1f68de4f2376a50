import {describe, expect, test} from 'vitest';
import {memoryFiles} from '../support/memory-files.ts';
import {ENTER, type Line} from '../support/scripted-prompter.ts';
import {FILES_ONLY, interrupt, jwt, KEPT, QUIT, shown, talk} from './conversation.ts';

const TOKEN = jwt({pool: 'runs'});

const BEGUN: Line[] = [
  FILES_ONLY,
  ['Where does the cluster run', 'eks'],
  ['Agent pool token', TOKEN],
  ['Scalr URL', 'https://acme.scalr.io'],
  ['What is the agent pool used for', ENTER],
  ['Isolate each run', ENTER],
];

describe('an interrupted session', () => {
  const broken = async () => {
    const files = memoryFiles();
    const result = await talk([...BEGUN, interrupt('Which of these apply')], {files});
    return {...result, files};
  };

  test('exits with 130, changes nothing and suggests --resume', async () => {
    const {exit, stderr} = await broken();
    expect(exit).toBe(130);
    expect(stderr).toContain('Cancelled. Nothing was changed.');
    expect(stderr).toContain('--resume');
  });

  test('saves the answers in a private file without the token', async () => {
    const {files} = await broken();
    const last = files.written.at(-1);
    expect(last).toMatchObject({path: KEPT, isPrivate: true});
    expect(last?.text).not.toContain(TOKEN);
    expect(JSON.parse(last?.text ?? '')).toEqual({
      answers: {url: 'https://acme.scalr.io', cloud: 'eks', purpose: 'runs'},
      asked: ['target', 'cloud', 'url', 'purpose', 'isolation'],
      boxes: [],
      place: {kind: 'files'},
    });
  });

  test('is resumed: asks only for secrets and missing answers', async () => {
    const {files} = await broken();
    const lines: Line[] = [
      ['Agent pool token', TOKEN],
      ['Which of these apply', ENTER],
      ['Where should provider', ENTER],
      ['Maximum concurrent runs', ENTER],
      ['Chart to install', ENTER],
      ...QUIT,
    ];
    const {exit, stderr} = await talk(lines, {argv: ['--resume'], files});
    expect(exit).toBe(0);
    expect(stderr).toContain('◇  Target     files only · namespace scalr-agent · EKS');
  });

  test('is resumed with the flags it was started with', async () => {
    const files = memoryFiles();
    await talk([...BEGUN, interrupt('Which of these apply')], {files, argv: ['--namespace', 'air', '--release', 'one']});
    const lines: Line[] = [
      ['Agent pool token', TOKEN],
      ['Which of these apply', ENTER],
      ['Where should provider', ENTER],
      ['Maximum concurrent runs', ENTER],
      ['Chart to install', ENTER],
      ...QUIT,
    ];
    const {stderr} = await talk(lines, {argv: ['--resume'], files});
    expect(stderr).toContain('files only · namespace air · release one · EKS');
  });

  test('is resumed with its selected boxes', async () => {
    const files = memoryFiles();
    await talk([...BEGUN, ['Which of these apply', ['mirror', 'proxy']], interrupt('Proxy for https')], {files});
    const lines: Line[] = [
      ['Agent pool token', TOKEN],
      ['Proxy for https', 'http://p:1'],
      ['Hosts and networks', ENTER],
      ['Image registry mirror', 'registry.corp'],
      ['Where should provider', ENTER],
      ['Maximum concurrent runs', ENTER],
      ['Chart to install', ENTER],
      ...QUIT,
    ];
    const {asked} = await talk(lines, {argv: ['--resume'], files});
    expect(shown(asked)).toContain('proxy http://p:1 · images from registry.corp');
  });
});

test('saves nothing before the first answer', async () => {
  const {exit, stderr, files} = await talk([interrupt('Where will the agent run')]);
  expect(exit).toBe(130);
  expect(files.written).toEqual([]);
  expect(stderr).not.toContain('--resume');
});

test('fails to resume without a saved session', async () => {
  const {exit, stderr} = await talk([], {argv: ['--resume']});
  expect(exit).toBe(2);
  expect(stderr).toContain('No saved session found.');
});

test('fails to resume when the saved session is damaged', async () => {
  const {exit, stderr} = await talk([], {argv: ['--resume'], files: memoryFiles({[KEPT]: '{'})});
  expect(exit).toBe(2);
  expect(stderr).toContain('Cannot parse');
});

test.each([['--yes'], ['--json'], ['--dry-run'], ['--no-input']])('refuses %s together with --resume', async (flag) => {
  const {exit, stdout, stderr} = await talk([], {argv: ['--resume', flag]});
  expect(exit).toBe(2);
  expect(stdout + stderr).toContain('--resume requires prompts');
});

test('continues when the home directory is read-only', async () => {
  const files = memoryFiles();
  const {ExpectedError} = await import('../../src/errors.ts');
  files.write = async () => {
    throw new ExpectedError('Cannot write: read-only.', {code: 'UNWRITABLE_FILE', exit: 1});
  };
  const {exit, stderr} = await talk([...BEGUN, interrupt('Which of these apply')], {files});
  expect(exit).toBe(130);
  expect(stderr).not.toContain('--resume');
});
