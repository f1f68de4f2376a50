import fc from 'fast-check';
import {expect, test} from 'vitest';
import {answersText, parseAnswers} from '../../src/answers/answers-file.ts';
import {resolve} from '../../src/answers/resolve.ts';
import {fromAnswers, fromEnvironment, fromFlags} from '../../src/answers/sources.ts';
import {ExpectedError} from '../../src/errors.ts';
import type {Settings} from '../../src/settings/settings.ts';
import {certificates} from '../support/certificates.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {RAW_IDS, rawSettings} from '../support/raw-settings.ts';
import {type RawFlags, settingsFrom, TODAY} from '../support/settings-from.ts';

const refusal = (text: string): ExpectedError => {
  try {
    parseAnswers(text, 'answers.yaml');
  } catch (error) {
    if (error instanceof ExpectedError) return error;
    throw error;
  }
  throw new Error('it was taken');
};

test.each([
  [
    'a second document',
    'url: a\n---\nurl: b\n',
    'answers.yaml: a second YAML document begins in line 2.',
    'Keep one document in the file: leave out ---',
  ],
  [
    'bytes',
    'url: !!binary aGVsbG8=\n',
    'answers.yaml: line 1, column 15: the tag !!binary means nothing in answers.',
    'Write the value itself, without a tag',
  ],
  [
    'bytes in a list',
    'extra-env: [!!binary aGVsbG8=]\n',
    'answers.yaml: line 1, column 22: the tag !!binary means nothing in answers.',
    undefined,
  ],
  ['a set', 'extra-env: !!set {a, b}\n', 'answers.yaml: line 1, column 18: the tag !!set means nothing in answers.', undefined],
  ['a tag of nobody', 'url: !foo x\n', 'answers.yaml: line 1, column 11: the tag !foo means nothing in answers.', undefined],
  [
    'an alias of nothing',
    'url: *x\n',
    'answers.yaml: line 1, column 6: there is no anchor &x above the alias *x.',
    'Put quotes around a text that begins with *',
  ],
])('%s is refused in own words', (_, text, message, suggestion) => {
  const {code, exit, suggestions, ...error} = refusal(text);
  expect(refusal(text).message).toBe(message);
  expect({...error, code, exit}).toMatchObject({code: 'INVALID_ANSWERS_FILE', exit: 2});
  if (suggestion !== undefined) expect(suggestions).toEqual([suggestion]);
});

test('usual tags and aliases mean what they say', () => {
  const answers = parseAnswers('cache-size: &size !!str 5Gi\ndata-size: *size\nconcurrency: !!int 3\n...\n', 'answers.yaml');
  expect(Object.fromEntries(answers)).toEqual({'cache-size': '5Gi', 'data-size': '5Gi', concurrency: 3});
});

const URL = {url: 'https://acme.scalr.io'};
const values = (settings: Settings): unknown[] => settings.entries().map(({setting, answer}) => [setting.id, answer.value]);

const readAgain = (text: string): Promise<Settings> =>
  resolve([fromAnswers(parseAnswers(text, 'answers.yaml'))], {files: memoryFiles(certificates), now: TODAY});

test('what is written is what was said', async () => {
  const flags = {
    ...URL,
    concurrency: '5',
    'cache-size': '20Gi',
    'https-proxy': 'http://proxy:3128',
    'no-proxy': '',
    'provider-cache': false,
    toleration: ['spot:NoExecute'],
    'ca-file': 'ca.pem',
  };
  expect(answersText(await settingsFrom(flags, certificates))).toMatchInlineSnapshot(`
    "# Answers for scalr-agent, without secrets. Use them with --answers FILE.

    url: https://acme.scalr.io
    concurrency: "5"
    https-proxy: http://proxy:3128
    no-proxy: ""
    ca-file: ca.pem
    cache-size: 20Gi
    provider-cache: false
    toleration:
      - spot:NoExecute
    "
  `);
});

test('reading it gives the same settings, whatever was said', async () => {
  const accepted = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.subarray(RAW_IDS, {minLength: 1, maxLength: 4}).chain(rawSettings), async (flags: RawFlags) => {
      let settings: Settings;
      try {
        settings = await settingsFrom({...URL, ...flags}, certificates);
      } catch (error) {
        if (error instanceof ExpectedError) return;
        throw error;
      }
      for (const id of Object.keys(flags)) accepted.add(id);
      expect(values(await readAgain(answersText(settings)))).toEqual(values(settings));
    }),
    {numRuns: 1500, seed: 1},
  );
  expect(accepted.size).toBeGreaterThan(RAW_IDS.length / 2);
});

test('secrets are left out and named', async () => {
  const flags = {...URL, 'https-proxy': 'http://user:hunter2@proxy:3128'};
  const files = {...memoryFiles(), readStdin: async () => Buffer.from('hunter2')};
  const world = {files, now: TODAY};
  const text = answersText(await resolve([fromFlags(flags), fromEnvironment({SCALR_AGENT_TOKEN: 'hunter2'})], world));
  expect(text).not.toContain('hunter2');
  expect(text).toContain('# Left out, because they are or hold secrets: SCALR_AGENT_TOKEN, --https-proxy');
  expect(text).toContain('url: https://acme.scalr.io');
  const piped = answersText(await resolve([fromFlags({...flags, 'token-file': '-'})], world));
  expect(piped).toContain('secrets: --token-file, --https-proxy');
});

test.each<[string, RawFlags]>([
  ['extra-env', {'extra-env': ['A=1', 'DB_PASSWORD=hunter2']}],
  ['set', {set: ['extraEnv.DB_PASSWORD=hunter2']}],
  ['set', {set: ['extraEnv={"DB_PASSWORD": "hunter2"}']}],
  ['set', {set: ['agent.controller.extraEnv=[{"name": "DB_PASSWORD", "value": "hunter2"}]']}],
])('--%s is left out where a name in it sounds secret', async (id, flags) => {
  const text = answersText(await settingsFrom({...URL, ...flags}));
  expect(text).not.toContain('hunter2');
  expect(text).toContain(`# Left out, because they are or hold secrets: --${id}\n`);
});

test.each<RawFlags>([
  {'extra-env': ['A=1']},
  {set: ['agent.tokenExistingSecret.name=t']},
  {set: ['imagePullSecrets=[{"name": "token"}]']},
])('%j holds no secret', async (flags) => {
  expect(answersText(await settingsFrom({...URL, ...flags}))).not.toContain('Left out');
});
