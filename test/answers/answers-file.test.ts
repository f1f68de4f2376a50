import fc from 'fast-check';
import {expect, test} from 'vitest';
import {answersText, parseAnswers} from '../../src/answers/answers-file.ts';
import {resolveAnswers} from '../../src/answers/resolve.ts';
import {fromAnswers, fromEnvironment, fromFlags} from '../../src/answers/sources.ts';
import {ExpectedError} from '../../src/ground/errors.ts';
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
    'answers.yaml: line 2 starts a second YAML document.',
    'Keep one document in the file: remove ---',
  ],
  [
    'bytes',
    'url: !!binary aGVsbG8=\n',
    'answers.yaml: line 1, column 15: unsupported tag !!binary.',
    'Remove the tag',
  ],
  [
    'bytes in a list',
    'extra-env: [!!binary aGVsbG8=]\n',
    'answers.yaml: line 1, column 22: unsupported tag !!binary.',
    undefined,
  ],
  [
    'a set',
    'extra-env: !!set {a, b}\n',
    'answers.yaml: line 1, column 18: unsupported tag !!set.',
    undefined,
  ],
  [
    'an unknown tag',
    'url: !foo x\n',
    'answers.yaml: line 1, column 11: unsupported tag !foo.',
    undefined,
  ],
  [
    'an alias without an anchor',
    'url: *x\n',
    'answers.yaml: line 1, column 6: anchor &x not found for alias *x.',
    'Quote strings that start with *',
  ],
])('refuses %s', (_, text, message, suggestion) => {
  const {code, exit, suggestions, ...error} = refusal(text);
  expect(refusal(text).message).toBe(message);
  expect({...error, code, exit}).toMatchObject({code: 'INVALID_ANSWERS_FILE', exit: 2});
  if (suggestion !== undefined) expect(suggestions).toEqual([suggestion]);
});

test('resolves standard tags and aliases', () => {
  const answers = parseAnswers(
    'cache-size: &size !!str 5Gi\ndata-size: *size\nconcurrency: !!int 3\n...\n',
    'answers.yaml',
  );
  expect(Object.fromEntries(answers)).toEqual({
    'cache-size': '5Gi',
    'data-size': '5Gi',
    concurrency: 3,
  });
});

const URL = {url: 'https://acme.scalr.io'};
const values = (settings: Settings): unknown[] =>
  settings.entries().map(({setting, answer}) => [setting.id, answer.value]);

const readAgain = (text: string): Promise<Settings> =>
  resolveAnswers([fromAnswers(parseAnswers(text, 'answers.yaml'))], {
    files: memoryFiles(certificates),
    now: TODAY,
  });

test('writes the explicit settings', async () => {
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
    "# Answers file for scalr-agent, without secrets. Use it with --answers FILE.

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

test('reads back any settings that it wrote', async () => {
  const accepted = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.subarray(RAW_IDS, {minLength: 1, maxLength: 4}).chain(rawSettings),
      async (flags: RawFlags) => {
        let settings: Settings;
        try {
          settings = await settingsFrom({...URL, ...flags}, certificates);
        } catch (error) {
          if (error instanceof ExpectedError) return;
          throw error;
        }
        for (const id of Object.keys(flags)) accepted.add(id);
        expect(values(await readAgain(answersText(settings)))).toEqual(values(settings));
      },
    ),
    {numRuns: 1500},
  );
  expect(accepted.size).toBeGreaterThan(RAW_IDS.length / 2);
});

test('writes the Scalr URL of the token, and the kubeconfig context as a comment', async () => {
  const token = `e30.${Buffer.from('{"iss":"acme.scalr.io"}').toString('base64url')}.c2ln`;
  const settings = await resolveAnswers([fromEnvironment({SCALR_AGENT_TOKEN: token})], {
    files: memoryFiles(),
    now: TODAY,
  });
  const text = answersText(settings, 'prod');
  expect(text).toContain(
    '# Saved for the kubeconfig context prod. Select it with --kube-context.\n',
  );
  expect(Object.fromEntries(parseAnswers(text, 'answers.yaml'))).toEqual({
    url: 'https://acme.scalr.io',
  });
});

test('omits and lists secrets', async () => {
  const flags = {
    ...URL,
    'https-proxy': 'http://user:hunter2@proxy:3128',
    'chart-source': 'https://user:hunter2@charts/agent-job-0.6.5.tgz',
  };
  const files = {...memoryFiles(), readStdin: async () => Buffer.from('hunter2')};
  const deps = {files, now: TODAY};
  const text = answersText(
    await resolveAnswers([fromFlags(flags), fromEnvironment({SCALR_AGENT_TOKEN: 'hunter2'})], deps),
  );
  expect(text).not.toContain('hunter2');
  expect(text).toContain(
    '# The password of https-proxy was left out: set the complete URL in SCALR_AGENT_INSTALL_HTTPS_PROXY',
  );
  expect(text).toContain('chart-source: https://<user>:<password>@charts/agent-job-0.6.5.tgz');
  expect(text).toContain('url: https://acme.scalr.io');
  const piped = answersText(await resolveAnswers([fromFlags({...flags, 'token-file': '-'})], deps));
  expect(piped).toContain('secrets: --token-file\n');
});

test.each<[string, RawFlags]>([
  ['extra-env', {'extra-env': ['A=1', 'DB_PASSWORD=hunter2']}],
  ['set', {set: ['extraEnv.DB_PASSWORD=hunter2']}],
  ['set', {set: ['extraEnv={"DB_PASSWORD": "hunter2"}']}],
  ['set', {set: ['agent.controller.extraEnv=[{"name": "DB_PASSWORD", "value": "hunter2"}]']}],
])('omits --%s when a name looks like a secret', async (id, flags) => {
  const text = answersText(await settingsFrom({...URL, ...flags}));
  expect(text).not.toContain('hunter2');
  expect(text).toContain(`# Omitted, because they are or contain secrets: --${id}\n`);
});

test.each<RawFlags>([
  {'extra-env': ['A=1']},
  {set: ['agent.tokenExistingSecret.name=t']},
  {set: ['imagePullSecrets=[{"name": "token"}]']},
])('does not report a secret in %j', async (flags) => {
  expect(answersText(await settingsFrom({...URL, ...flags}))).not.toContain('Omitted');
});
