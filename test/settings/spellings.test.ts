import {describe, expect, test} from 'vitest';
import {resolveAnswers} from '../../src/answers/resolve.ts';
import {fromEnvironment, fromFlags} from '../../src/answers/sources.ts';
import Values from '../../src/commands/values.ts';
import type {Secret} from '../../src/ground/secret.ts';
import {token, tokenFile} from '../../src/settings/agent.ts';
import {catalog} from '../../src/settings/catalog.ts';
import {caFile} from '../../src/settings/tls.ts';
import {certificates} from '../support/certificates.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';
import {TODAY} from '../support/settings-from.ts';
import {jwt} from '../wizard/conversation.ts';

const URL = {url: 'https://acme.scalr.io'};
const resolved = (flags: object, env = {}, files = memoryFiles(certificates)) =>
  resolveAnswers([fromFlags({...URL, ...flags}), fromEnvironment(env)], {files, now: TODAY});

test.each([
  ['cloud', 'aws', 'eks'],
  ['cloud', 'azure', 'aks'],
  ['cloud', 'gcp', 'gke'],
  ['cloud', 'google', 'gke'],
  ['cloud', 'EKS', 'eks'],
  ['cloud', 'GKE_Autopilot', 'gke-autopilot'],
  ...['k3s', 'kind', 'minikube', 'rke2'].map((each) => ['cloud', each, 'other']),
  ['node-os', 'AmazonLinux2023', 'al2023'],
  ['chart', 'job', 'agent-job'],
  ['chart-version', 'v0.6.5', '0.6.5'],
  ['target', 'k8s', 'kubernetes'],

  ['url', 'acme', 'https://acme.scalr.io'],
  ['url', 'acme.scalr.io', 'https://acme.scalr.io'],
  ['url', 'localhost:8443', 'https://localhost:8443'],
  ['https-proxy', 'proxy:3128', 'http://proxy:3128'],
] as [string, string, string][])('reads --%s %s as %s, and says so', async (id, typed, full) => {
  const settings = await resolved({[id]: typed});
  const answer = settings.entries().find(({setting}) => setting.id === id)?.answer;
  expect(answer).toMatchObject({value: full, notes: [`is read as ${full}`]});
});

test('reads a size of a volume in gibibytes', async () => {
  const settings = await resolved({cache: 'pvc', 'cache-size': '50'});
  expect(settings.entries().find(({setting}) => setting.id === 'cache-size')?.answer).toMatchObject(
    {
      value: '50Gi',
      notes: ['is read as 50Gi'],
    },
  );
});

test.each([
  ['cache-size', '1073741824', 'Use a number with a unit'],
  ['run-memory-limit', '512', 'Did you mean 512Gi or 512Mi?'],
  ['url', 'eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2ln', ''],
  ['https-proxy', 'proxy:443', 'Did you mean http://proxy:443?'],
  ['https-proxy', 'user:hunter2@proxy:3128', ''],
  ['chart-version', 'latest', 'Omit --chart-version'],
  ['release', 'My Release', 'Did you mean my-release?'],
])('does not guess what --%s %s means', async (id, typed, step) => {
  const failure = await resolved({cache: 'pvc', [id]: typed}).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toMatchObject({code: 'INVALID_SETTING', exit: 2});
  expect((failure as {suggestions: string[]}).suggestions.join()).toContain(step);
});

/** Every spelling is an alternative: no option is read as another one. */
test.each(catalog.filter(({kind}) => kind.options !== undefined))('keeps every option of $id', ({
  kind,
  meant,
}) => {
  for (const option of kind.options ?? []) expect(meant?.(option) ?? option).toBe(option);
});

const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2ln';

test.each([
  ['base64', Buffer.from(TOKEN).toString('base64')],
  [
    'base64 with line breaks',
    `${Buffer.from(TOKEN).toString('base64').slice(0, 20)}\n${Buffer.from(TOKEN).toString('base64').slice(20)}\n`,
  ],
  ['base64 of a line', Buffer.from(`${TOKEN}\n`).toString('base64')],
])('decodes a token in %s', async (_, given) => {
  const settings = await resolved({}, {SCALR_AGENT_TOKEN: given});
  expect((settings.get(token) as Secret).reveal()).toBe(TOKEN);
  expect(settings.answer(token)?.notes).toEqual(['is base64-encoded, and was decoded']);
});

describe('a token in a file or a variable', () => {
  const inFile = (text: string) =>
    resolved({'token-file': 'token'}, {}, memoryFiles({token: Buffer.from(text)}));
  const inVariable = (text: string) => resolved({}, {SCALR_AGENT_TOKEN: text});
  const SOURCES = [
    ['file', inFile],
    ['variable', inVariable],
  ] as const;

  test.each(SOURCES)('is read without what was copied with it: %s', async (_, read) => {
    const settings = await read(`export SCALR_AGENT_TOKEN="Bearer ${TOKEN}"\n`);
    const given = settings.get(token) ?? settings.get(tokenFile);
    expect((given as Secret).reveal()).toBe(TOKEN);
  });

  test.each(SOURCES)('is refused when it is one of a user: %s', async (_, read) => {
    await expect(read(jwt({iss: 'user', jti: 'at-v0'}))).rejects.toThrow(
      /this is a user token, not an agent pool token\./i,
    );
  });

  test.each(SOURCES)('is refused when expired: %s', async (_, read) => {
    await expect(read(jwt({exp: 1_700_000_000}))).rejects.toThrow(
      /the token expired on 2023-11-14\./i,
    );
  });
});

const PEM = String(certificates['ca.pem']);

test('decodes a CA bundle as the READMEs of the charts encode it', async () => {
  const files = memoryFiles({...certificates, 'ca.b64': Buffer.from(PEM).toString('base64')});
  expect((await resolved({'ca-file': 'ca.b64'}, {}, files)).get(caFile)).toBe(
    (await resolved({'ca-file': 'ca.pem'})).get(caFile),
  );
});

test('leaves expired certificates out of a CA bundle, and says so', async () => {
  const expired = String(certificates['expired.pem']);
  const files = memoryFiles({...certificates, 'bundle.pem': expired + PEM});
  const settings = await resolved({'ca-file': 'bundle.pem'}, {}, files);
  expect(settings.answer(caFile)?.notes).toEqual([
    'contains 1 expired certificate, ignored: CN=Example expired CA',
  ]);
  expect(settings.get(caFile)).toBe(PEM);
});

test('a command shows each note once', async () => {
  const {stderr, stdout} = await runCommand(Values, [
    '--url',
    'acme',
    '--chart',
    'local',
    '--cloud',
    'aws',
  ]);
  expect(stderr.match(/^Note: .*$/gm)).toEqual([
    'Note: --chart is read as agent-local.',
    'Note: --url is read as https://acme.scalr.io.',
    'Note: --cloud is read as eks.',
  ]);
  expect(stdout).toContain('https://acme.scalr.io');
  expect((await runCommand(Values, ['--url', 'acme', '--quiet'])).stderr).not.toContain('Note:');
});
