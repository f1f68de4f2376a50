import {execa} from 'execa';
import {expect, test} from 'vitest';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {setLogs} from '../control-plane/logs.ts';
import {pod} from '../control-plane/objects.ts';
import {type Case, casesOf, survivorsIn} from '../extensions/bundle/redact/corpus/cases.ts';
import {PROGRAM} from '../package/built.ts';
import {freshFile, unpack} from '../support/collected.ts';
import {installed} from '../support/installed-charts.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();

/** Made up for this test. */
const KNOWN = Buffer.from('Zr8kQ+v9/3Lm-Xw2"0&p', 'utf8');
const BINARY = Buffer.from('p\xe4ssw\xf6rd-\xc49-\xe9\xfc', 'latin1');
const inBase64 = (value: Buffer, before: string): string =>
  Buffer.concat([Buffer.from(before), value, Buffer.from('tail')]).toString('base64');

/** The first lines of every class, as a program writes them. */
const samples = [...casesOf(1)].reduce(
  (all, each) => all.set(each.class, [...(all.get(each.class) ?? []), each]),
  new Map<string, Case[]>(),
);
const SAMPLES = [...samples.values()].flatMap((all) => all.slice(0, 5));

test('the built program hides a sample of every class of secrets, and known ones in base64', async () => {
  const {kubectl, kubeconfig, namespace} = await installed('agent-local', helm);
  const data = {
    token: KNOWN.toString('base64'),
    blob: BINARY.toString('base64'),
    pin: Buffer.from('1234').toString('base64'),
  };
  const labels = {'app.kubernetes.io/instance': 'scalr-agent'};
  await kubectl.apply(
    {apiVersion: 'v1', kind: 'Secret', metadata: {name: 'known'}, data},
    {
      ...pod('speaks', {spec: {containers: [{name: 'agent', image: 'scalr/agent:1'}]}}),
      metadata: {name: 'speaks', labels},
    },
  );
  const known = [KNOWN, BINARY].flatMap((value) =>
    ['', 'a', 'ab'].map((before) => inBase64(value, before)),
  );
  const current = [
    ...SAMPLES.flatMap(({text}) => text.trimEnd().split('\n')),
    ...known.map((text) => `said ${text} .`),
    'the agent is ready',
  ];
  await setLogs(kubeconfig, {namespace}, {'*': {current}});
  await kubectl('wait', 'pod', 'speaks', '--for=condition=Ready', '--timeout=20s');
  await expect.poll(() => kubectl('logs', 'speaks').catch(String)).toContain('the agent is ready');
  const out = freshFile();
  const flags = [
    '--kubeconfig',
    kubeconfig,
    '--namespace',
    namespace,
    '--helm',
    helm,
    '--out',
    out,
  ];
  const {exitCode, stderr} = await execa(process.execPath, [PROGRAM, 'collect-logs', ...flags], {
    reject: false,
  });
  expect({exitCode, stderr}).toMatchObject({exitCode: 0});
  const {all, text} = await unpack(out);
  const log = text('logs/speaks/agent.log');
  expect(SAMPLES.length).toBeGreaterThan(70);
  const survivors = SAMPLES.filter(({secrets}) => survivorsIn(all, secrets).length > 0).map(
    ({class: name, line}) => `${name}: ${line}`,
  );
  expect(survivors).toEqual([]);
  for (const written of known) expect(all).not.toContain(written.slice(8, -8));
  expect(log).toContain('the agent is ready');
  expect(text('SUMMARY.md')).toContain('too short, common or public: known/pin');
});
