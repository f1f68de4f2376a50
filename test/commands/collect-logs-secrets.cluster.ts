import {execa} from 'execa';
import {expect, test} from 'vitest';
import {nodeFiles} from '../../src/adapters/node-files.ts';
import CollectLogs from '../../src/commands/collect-logs.ts';
import {accountWith} from '../cluster/accounts.ts';
import {setLogs} from '../cluster/logs.ts';
import {pod} from '../cluster/objects.ts';
import type {Workplace} from '../cluster/workplace.ts';
import {findHelm} from '../helm/find-helm.ts';
import {collected, freshFile, unpack} from '../support/collected.ts';
import {chartFlags} from '../support/install-place.ts';
import {installed} from '../support/installed-charts.ts';
import {runCommand} from '../support/run-command.ts';
import {collectLogs} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();

const SOURCE = (await chartFlags('agent-local')).at(-1) as string;

/** Made up for this test; each has a character that some writing of it escapes. */
const KEY_LINES = [
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDfakeFAKEfake1',
  'q83/Zz0LQ+Xf4tUqkPpWmA1cBn7yTe2rVh9sDg5oJi8lKu6mNbGvCxZaQwErTy==',
];
const NEEDLES = {
  token: 'tok-9"f/Kq+2&Lm=x7Vw',
  mounted: 'mnt/8w+Rz"Pq&4=Tn6y',
  proxy: 'pr0xy+Pa/ss"w&rd=77',
  key: `-----BEGIN PRIVATE KEY-----\n${KEY_LINES.join('\n')}\n-----END PRIVATE KEY-----`,
} as const;

/** As tools write it; spelled out here, so that nothing of the program says what is searched for. */
const writings = (secret: string): string[] => [
  secret,
  Buffer.from(secret).toString('base64'),
  Buffer.from(`user:${secret}`).toString('base64'),
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
  JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1),
];

/** What may be nowhere: every writing, and of what base64 shifts the part that does not depend on what stands before. */
const forbidden = (secret: string): string[] => [
  ...writings(secret),
  ...[1, 2].map((before) =>
    Buffer.from('x'.repeat(before) + secret)
      .toString('base64')
      .slice(4, -4),
  ),
  ...secret.split('\n').filter((line) => !line.startsWith('-----')),
];

const secretOf = (name: string, data: Record<string, string>): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {name},
  stringData: data,
});

/** An agent whose secrets stand wherever somebody may have put them. */
async function leaky(): Promise<Workplace> {
  const place = await installed('agent-local', helm);
  const {kubectl, kubeconfig, namespace} = place;
  const proxy = `http://user:${encodeURIComponent(NEEDLES.proxy)}@proxy:3128`;
  const where = ['--namespace', namespace, '--kubeconfig', kubeconfig];
  await execa(helm, ['upgrade', 'scalr-agent', SOURCE, '--reuse-values', '--set', `extraEnv.HTTPS_PROXY=${proxy}`, ...where]);
  await kubectl.apply(
    secretOf('token', {token: NEEDLES.token}),
    secretOf('mounted', {file: NEEDLES.mounted}),
    secretOf('proxy', {password: NEEDLES.proxy}),
    secretOf('client', {'tls.key': `${NEEDLES.key}\n`}),
  );
  const all = Object.values(NEEDLES);
  const env = all.flatMap((secret, at) => writings(secret).map((value, form) => ({name: `NOTE_${at}_${form}`, value})));
  const annotations = Object.fromEntries(env.map(({name, value}) => [`example.com/${name}`, value]));
  const labels = {'app.kubernetes.io/instance': 'scalr-agent'};
  const spec = {containers: [{name: 'agent', image: 'scalr/agent:1', env: [...env, {name: 'DB_PASSWORD', value: 'of-nobody-knows-7x'}]}]};
  await kubectl.apply(
    {...pod('leaks', {spec}), metadata: {name: 'leaks', labels, annotations}},
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {name: 'leaks', labels},
      data: Object.fromEntries(env.map(({name, value}) => [name, value])),
    },
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {name: 'leaks'},
      involvedObject: {kind: 'Pod', name: 'leaks', namespace},
      type: 'Warning',
      reason: 'Failed',
      message: `could not log in: ${all.flatMap(writings).join(' ')}`.slice(0, 1000),
    },
  );
  const current = all.flatMap((secret) =>
    writings(secret).flatMap((each) => [`said ${each}`, `{"msg":"${each}"}`, `https://host/?q=${each}`, ...each.split('\n')]),
  );
  await setLogs(kubeconfig, {namespace}, {'*': {current, previous: current}});
  await kubectl('wait', 'pod', 'leaks', '--for=condition=Ready', '--timeout=20s');
  await expect.poll(() => kubectl('logs', 'leaks').catch(String)).toContain('said');
  return place;
}

test('no writing of any secret is anywhere in the bundle, and how many were hidden is counted', async () => {
  const place = await leaky();
  const {exit, all, text, names, stderr, result} = await collected(place, helm);
  expect(exit, stderr).toBe(0);
  const survivors = Object.entries(NEEDLES).flatMap(([name, secret]) =>
    forbidden(secret).flatMap((each, form) => (all.includes(each) ? [`${name} ${form}`] : [])),
  );
  expect(survivors).toEqual([]);
  expect(all).not.toMatch(/of-nobody-knows|hunter2|managedFields|last-applied-configuration|helm\.sh\/release\.v1|PRIVATE KEY-----\nMII/);
  expect(names.join()).not.toMatch(/secret/);
  const redactions = JSON.parse(text('redactions.json'));
  expect(redactions).toEqual(result.redactions);
  expect(redactions.knownValues.used).toBeGreaterThanOrEqual(4);
  const files = Object.keys(redactions.files);
  for (const file of ['logs/leaks/agent.log', 'objects/pod/leaks.json', 'events.txt', 'releases/scalr-agent/values.json'])
    expect(files).toContain(file);
  expect(Object.values<number>(redactions.rules).reduce((sum, count) => sum + count)).toBe(redactions.total);
  // What is around them is still there.
  expect(text('logs/leaks/agent.log')).toContain('Z said ');
  expect(text('objects/pod/leaks.json')).toContain('"NOTE_0_0"');
});

test('with Secrets that may not be read the bundle is incomplete, says so first, and inspect repeats it', async () => {
  const place = await leaky();
  const kubeconfig = await accountWith('view', place);
  const warning = 'Secrets were not searched: 1 namespace not readable. Review before sending.';
  const out = freshFile();
  for (const quiet of [[], ['--quiet']]) {
    const {exit, stderr} = await collectLogs({...place, kubeconfig}, helm, ['--out', `${out}${quiet.join()}`, ...quiet]);
    expect({exit, first: stderr.split('\n')[0]}).toEqual({exit: 7, first: warning});
  }
  const inspected = await runCommand(CollectLogs, ['--inspect', out], {files: nodeFiles});
  expect(inspected.stdout.split('\n')[0]).toBe(warning);
  const {result} = await collected(place, helm);
  expect(result.complete).toBe(true);
});

test('with Secrets that are not read as asked the bundle is complete, and says so first', async () => {
  const place = await leaky();
  const warning = 'Secrets were not searched: --no-secret-seeds. Review before sending.';
  const out = freshFile();
  const {exit, stderr} = await collectLogs(place, helm, ['--no-secret-seeds', '--out', out]);
  expect({exit, first: stderr.split('\n')[0]}).toEqual({exit: 0, first: warning});
  const {text} = await unpack(out);
  expect(text('SUMMARY.md').split('\n')[0]).toBe(warning);
  expect(text('SUMMARY.md')).toContain('The bundle is complete.');
});

test('what is known of nobody is found by how it looks', async () => {
  const place = await leaky();
  const {exit, all, result} = await collected(place, helm, ['--no-secret-seeds']);
  expect(exit).toBe(0);
  // The variable that sounds secret, the password of the proxy, and private keys in variables.
  expect(result.redactions.knownValues.used).toBeGreaterThanOrEqual(2);
  expect(all).not.toContain('of-nobody-knows');
  expect(all).not.toContain(`user:${encodeURIComponent(NEEDLES.proxy)}@`);
});
