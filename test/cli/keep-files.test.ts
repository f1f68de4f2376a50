import {expect, test} from 'vitest';
import {keepFiles} from '../../src/cli/keep-files.ts';
import {ExpectedError} from '../../src/ground/errors.ts';
import {generate} from '../../src/values/generate.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {type RawFlags, settingsFrom} from '../support/settings-from.ts';

const PLACE = {directory: 'scalr-agent', context: 'prod'};
const generated = async (flags: RawFlags = {}) =>
  generate(await settingsFrom({url: 'https://acme.scalr.io', chart: 'agent-local', ...flags}));

test('saves both files, and replaces its own when the settings change', async () => {
  const files = memoryFiles();
  const saved = {saved: ['scalr-agent/answers.yaml', 'scalr-agent/values.yaml'], note: ''};
  expect(await keepFiles(await generated(), PLACE, files)).toEqual(saved);
  expect(await keepFiles(await generated({concurrency: '7'}), PLACE, files)).toEqual(saved);
  expect(String(await files.read('scalr-agent/values.yaml'))).toContain('7');
  expect(files.written.every(({isPrivate}) => isPrivate)).toBe(true);
});

test.each([
  'answers.yaml',
  'values.yaml',
])('writes neither file when %s is of somebody else', async (name) => {
  const files = memoryFiles({[`scalr-agent/${name}`]: 'agent: {}\n'});
  expect(await keepFiles(await generated(), PLACE, files)).toEqual({
    saved: [],
    note: `Not saved: scalr-agent/${name} exists, and is not a file of this program. To save elsewhere, add --save DIRECTORY.\n`,
  });
  expect(files.written).toEqual([]);
});

test.each([
  ['namespace', {namespace: 'other'}, PLACE],
  ['cluster', {}, {...PLACE, context: 'staging'}],
])('does not replace the files of an agent in another %s', async (_, flags, place) => {
  const files = memoryFiles();
  await keepFiles(await generated(), PLACE, files);
  const {saved, note} = await keepFiles(await generated(flags), place, files);
  expect(saved).toEqual([]);
  expect(note).toContain(
    'scalr-agent/answers.yaml belongs to an agent in another cluster or namespace.',
  );
});

test('says why a read-only directory has no files', async () => {
  const write = async () => {
    throw new ExpectedError('Cannot write scalr-agent/answers.yaml: read-only file system.', {
      code: 'UNWRITABLE_FILE',
    });
  };
  const {saved, note} = await keepFiles(await generated(), PLACE, {...memoryFiles(), write});
  expect(saved).toEqual([]);
  expect(note).toBe(
    'Not saved: Cannot write scalr-agent/answers.yaml: read-only file system. To save elsewhere, add --save DIRECTORY.\n',
  );
});

test('does not save values that can contain secrets', async () => {
  const files = memoryFiles();
  const {saved, note} = await keepFiles(
    await generated({
      'https-proxy': 'http://me:hunter2@proxy.corp:3128',
      'allow-clear-text': true,
    }),
    PLACE,
    files,
  );
  expect(saved).toEqual(['scalr-agent/answers.yaml']);
  expect(note).toContain('values.yaml was not saved');
  expect(files.written.map(({text}) => text).join('')).not.toContain('hunter2');
});
