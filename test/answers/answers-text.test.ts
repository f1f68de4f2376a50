import fc from 'fast-check';
import {expect, test} from 'vitest';
import {parseAnswers} from '../../src/answers/answers-file.ts';
import {answersText} from '../../src/answers/answers-text.ts';
import {resolve} from '../../src/answers/resolve.ts';
import {fromAnswers, fromEnvironment, fromFlags} from '../../src/answers/sources.ts';
import {ExpectedError} from '../../src/errors.ts';
import type {Settings} from '../../src/settings/settings.ts';
import {certificates} from '../support/certificates.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {RAW_IDS, rawSettings} from '../support/raw-settings.ts';
import {type RawFlags, settingsFrom, TODAY} from '../support/settings-from.ts';

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
