import {describe, expect, onTestFinished, test} from 'vitest';
import {parseAllDocuments} from 'yaml';
import type {KubernetesObject} from '../../src/cluster/objects.ts';
import type {Checked} from '../../src/preflight/check.ts';
import {accountWith} from '../cluster/accounts.ts';
import {faultyApi} from '../cluster/faulty-api.ts';
import {setLogs} from '../cluster/logs.ts';
import {type Workplace, workplace} from '../cluster/workplace.ts';
import {findHelm} from '../helm/find-helm.ts';
import {chartFlags, TOKEN} from '../support/install-place.ts';
import {violations} from '../support/output-schema.ts';
import {preflight} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const LOCAL = await chartFlags('agent-local');
const BLOCKED = ['--metadata-service', 'block'];
const ADDRESS = ['--url', 'https://acme.scalr.io'];
const IDS = ['probe-pod', 'probe-scalr', 'probe-volume', 'probe-metadata'];
const KINDS = 'pods,configmaps,networkpolicies';

/** What the probe prints when all is well. */
const WELL = ['probe volume ok /var/lib/scalr-agent/data', 'probe scalr-url ok 200', 'probe metadata timeout', 'probe done'];
const outcomeOf = (outcome: string) => ['--set', `podAnnotations={"test.scalr.io/outcome":"${outcome}"}`];

/** A namespace whose pods print this. */
async function probePlace(lines: readonly string[] = WELL, labels: Record<string, string> = {}): Promise<Workplace> {
  const place = await workplace(labels);
  await setLogs(place.kubeconfig, {namespace: place.namespace}, {'*': {current: lines}});
  return place;
}

/** Objects of probes that are there, without what Kubernetes puts into every namespace. */
const left = async ({kubectl}: Workplace): Promise<string[]> =>
  (await kubectl('get', KINDS, '--output', 'name')).split('\n').filter((name) => name !== '' && name !== 'configmap/kube-root-ca.crt');

type World = NonNullable<Parameters<typeof preflight>[3]>;
type Place = Pick<Workplace, 'kubeconfig' | 'namespace'>;

async function probe(place: Place, more: readonly string[] = [], world: World = {}) {
  const start = Date.now();
  const argv = [...LOCAL, ...ADDRESS, '--probe', '--json', ...more];
  const {stdout, stderr, exit} = await preflight(place, helm, argv, {env: TOKEN, ...world});
  const document = JSON.parse(stdout);
  const checks: Checked[] = document.checks ?? [];
  if (document.checks) expect(violations('preflight', stdout), stdout).toEqual([]);
  const by = Object.fromEntries(checks.map((each) => [each.id, each])) as Record<string, Checked>;
  return {by, exit, stderr, error: document.error, seconds: (Date.now() - start) / 1000};
}
const statuses = (by: Record<string, Checked>) => Object.fromEntries(IDS.map((id) => [id, by[id]?.status]));
const all = (status: Checked['status']) => Object.fromEntries(IDS.map((id) => [id, status]));

/** Signals that the test sends. */
function interrupts() {
  const [asked, insisted] = [new AbortController(), new AbortController()];
  return {asked, insisted, takeInterrupts: () => ({asked: asked.signal, insisted: insisted.signal, release: () => undefined})};
}

/** Resolves when the pod of a probe is there. */
async function podOf({kubectl}: Workplace): Promise<string> {
  const named = () => kubectl('get', 'pods', '--selector', 'scalr.io/probe', '--output', 'name');
  await expect.poll(named, {timeout: 30_000, interval: 200}).toContain('pod/');
  return named();
}

describe('a probe', () => {
  test.each(['runs', 'completes'])('says what it found, and nothing of it stays (the pod %s)', async (outcome) => {
    const place = await probePlace();
    const {by} = await probe(place, [...BLOCKED, ...outcomeOf(outcome)]);
    expect(statuses(by)).toEqual(all('pass'));
    expect(by['probe-pod']?.message).toMatch(/^scalr-agent-probe-\w+ ran scalr\/agent:\S+ on node-[abc]$/);
    expect(await left(place)).toEqual([]);
  });

  test('what it finds decides about the end of the program', async () => {
    const place = await probePlace([
      'probe volume noexec /var/lib/scalr-agent/data',
      'probe scalr-url proxy 407',
      'probe metadata ok 200',
      'probe done',
    ]);
    const {by, exit} = await probe(place, BLOCKED);
    expect(exit).toBe(3);
    expect(statuses(by)).toEqual({'probe-pod': 'pass', 'probe-scalr': 'fail', 'probe-volume': 'fail', 'probe-metadata': 'warn'});
  });

  test('is as the API server takes it, with policy and certificates, and belongs to the release in nothing', async () => {
    const place = await probePlace([]);
    const {asked, takeInterrupts} = interrupts();
    const running = probe(place, [...BLOCKED, '--ca-file', 'test/support/certificates/ca.pem'], {takeInterrupts});
    const name = (await podOf(place)).replace('pod/', '');
    const objects = await place.kubectl.get<{items: KubernetesObject[]}>(KINDS, '--selector', 'scalr.io/probe=scalr-agent');
    expect(objects.items.map(({kind, metadata}) => `${kind} ${metadata.name}`)).toEqual([
      `Pod ${name}`,
      `ConfigMap ${name}`,
      `NetworkPolicy ${name}`,
    ]);
    for (const {metadata} of objects.items) {
      expect(metadata.labels).toMatchObject({
        'app.kubernetes.io/managed-by': 'scalr-agent-install',
        'scalr.io/release': 'scalr-agent',
        'scalr.io/probe': 'scalr-agent',
      });
      expect(Object.keys(metadata.labels ?? {}).filter((key) => /\/(name|instance|component)$/.test(key))).toEqual([]);
    }
    asked.abort('SIGINT');
    await running;
    expect(await left(place)).toEqual([]);
  });

  test('as text under a heading of its own; without it there is none', async () => {
    const place = await probePlace();
    const {stdout} = await preflight(place, helm, [...LOCAL, ...ADDRESS, '--probe', '--verbose'], {env: TOKEN});
    expect(stdout).toMatch(/\nProbe\n✓ a pod with the placement of runs comes to its end: [\s\S]*\d+ passed\n$/);
    const without = await preflight(place, helm, [...LOCAL, ...ADDRESS, '--verbose'], {env: TOKEN});
    expect(without.stdout).not.toMatch(/probe/i);
  });

  test('is shown and not made with --dry-run, without the password of the proxy', async () => {
    const place = await probePlace();
    const argv = [...LOCAL, ...ADDRESS, ...BLOCKED, '--probe', '--dry-run', '--https-proxy', 'http://ann:hunter3@proxy:3128'];
    const {stdout} = await preflight(place, helm, argv, {env: TOKEN});
    expect(stdout).not.toContain('hunter3');
    const [yaml = ''] = stdout.split('\nTools\n');
    const kinds = parseAllDocuments(yaml).map((document) => (document.toJS() as KubernetesObject).kind);
    expect(kinds).toEqual(['NetworkPolicy', 'Pod']);
    expect(stdout).toMatch(
      /- a pod with the placement of runs comes to its end: There was no probe: --dry-run only shows scalr-agent-probe-\w+/,
    );
    expect(await left(place)).toEqual([]);
  });

  test('removes those of the same release that were killed, and no others', async () => {
    const place = await probePlace();
    const object = (kind: string, name: string, release: string, more = {}) => ({
      ...{apiVersion: 'v1', kind, metadata: {name, labels: {'scalr.io/probe': release}}},
      ...more,
    });
    const spec = {containers: [{name: 'probe', image: 'scalr/agent:1'}]};
    await place.kubectl.apply(
      object('ConfigMap', 'old', 'scalr-agent', {data: {}}),
      object('Pod', 'old', 'scalr-agent', {spec}),
      object('Pod', 'other', 'another', {spec}),
    );
    expect(statuses((await probe(place)).by)).toEqual(all('pass'));
    await expect.poll(() => left(place), {timeout: 10_000}).toEqual(['pod/other']);
  });
});

describe('a pod that', () => {
  test('no node takes: it is said why, in time, and nothing stays', async () => {
    const place = await probePlace();
    const {by, seconds} = await probe(place, ['--node-selector', 'pool=nowhere', '--timeout', '25s']);
    expect(by['probe-pod']?.message).toContain("didn't match Pod's node affinity/selector");
    expect(by['probe-pod']).toMatchObject({status: expect.stringMatching(/warn|fail/), remedy: expect.stringContaining('--node-selector')});
    expect(by['probe-scalr']?.status).toBe('skip');
    expect(seconds).toBeLessThan(35);
    expect(await left(place)).toEqual([]);
  });

  test('gets no image', async () => {
    const place = await probePlace();
    const {by} = await probe(place, [...outcomeOf('image-pull-backoff'), '--timeout', '20s']);
    expect(by['probe-pod']?.message).toContain('ImagePullBackOff: scalr/agent');
    expect(await left(place)).toEqual([]);
  });

  test('ends before it has said all', async () => {
    const place = await probePlace(['probe volume ok /var/lib/scalr-agent/data']);
    const {by, seconds} = await probe(place, outcomeOf('completes'));
    expect(by['probe-pod']).toMatchObject({status: 'fail', message: expect.stringContaining('its container ended with exit code 0')});
    expect(seconds).toBeLessThan(60);
    expect(await left(place)).toEqual([]);
  });

  test('says nothing at all until time is over', async () => {
    const place = await probePlace(['hello']);
    const {by} = await probe(place, ['--timeout', '15s']);
    expect(by['probe-pod']).toMatchObject({status: 'fail', remedy: 'Give it more time: --timeout 5m'});
    expect(await left(place)).toEqual([]);
  });

  test('the API server does not let in', async () => {
    const place = await probePlace(WELL, {'pod-security.kubernetes.io/enforce': 'restricted'});
    const {by} = await probe(place, BLOCKED);
    expect(by['probe-pod']).toMatchObject({
      status: 'fail',
      message: expect.stringMatching(/cannot be made: .*violates PodSecurity/),
      remedy: expect.stringContaining('pod-security.kubernetes.io/enforce'),
    });
    expect(await left(place)).toEqual([]);
  });

  test('somebody else removes', async () => {
    const place = await probePlace(['hello']);
    const running = probe(place);
    await place.kubectl('delete', await podOf(place), '--wait=false');
    expect((await running).by['probe-pod']).toMatchObject({status: 'fail', message: expect.stringContaining('it was gone before')});
  });
});

describe('Ctrl-C', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('%s: the pod is removed before the program ends', async (signal, status) => {
    const place = await probePlace(['hello']);
    const {asked, takeInterrupts} = interrupts();
    const running = probe(place, BLOCKED, {takeInterrupts});
    await podOf(place);
    asked.abort(signal);
    const {exit, error} = await running;
    expect({exit, code: error.code, message: error.message}).toEqual({
      ...{exit: status, code: 'INTERRUPTED', message: 'Interrupted. The probe was removed.'},
    });
    expect(await left(place)).toEqual([]);
  });

  test('twice: it is said what is left and how to remove it', async () => {
    const place = await probePlace(['hello']);
    const api = await faultyApi(place.kubeconfig);
    const trouble = api.trouble('DELETE', /\/pods\//, 'stall');
    const {asked, insisted, takeInterrupts} = interrupts();
    const running = probe({...place, kubeconfig: api.kubeconfig}, [], {takeInterrupts});
    const pod = await podOf(place);
    asked.abort('SIGINT');
    await trouble.met;
    insisted.abort('SIGINT');
    const {exit, error} = await running;
    expect(exit).toBe(130);
    expect(error.message).toMatch(new RegExp(`^Interrupted. Remove the probe: kubectl delete ${pod} `));
    trouble.end();
    // The command that is named does it.
    const [, command = ''] = /kubectl (delete .*) --timeout/.exec(error.message) ?? [];
    await place.kubectl(...command.split(' '));
    expect(await left(place)).toEqual([]);
  });
});

describe('an account', () => {
  const rules = (...pods: string[]) => [
    {apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', ...pods]},
    {apiGroups: [''], resources: ['pods/log'], verbs: ['get']},
    {apiGroups: [''], resources: ['secrets'], verbs: ['*']},
    {apiGroups: ['apps', 'batch'], resources: ['deployments', 'replicasets', 'daemonsets', 'jobs'], verbs: ['*']},
  ];

  test('that may not make pods: there is no probe, and the rest is told', async () => {
    const place = await probePlace();
    const kubeconfig = await accountWith(rules(), place);
    const {by} = await probe({...place, kubeconfig});
    expect(statuses(by)).toEqual({...all('skip'), 'probe-pod': 'fail'});
    expect(by['probe-pod']?.message).toBe('There was no probe: the account may not create pods, delete pods');
    expect(by['probe-pod']?.remedy).toMatch(/kind: "Role"[\s\S]*"create"/);
    expect(by['cluster-reachable']?.status).toBe('pass');
    expect(await left(place)).toEqual([]);
  });

  test('that may do only what a probe needs is enough', async () => {
    const place = await probePlace();
    const kubeconfig = await accountWith(rules('create', 'delete'), place);
    const spec = {containers: [{name: 'probe', image: 'scalr/agent:1'}]};
    await place.kubectl.apply({apiVersion: 'v1', kind: 'Pod', metadata: {name: 'old', labels: {'scalr.io/probe': 'scalr-agent'}}, spec});
    const {by} = await probe({...place, kubeconfig}, ['--metadata-service', 'allow']);
    expect(statuses(by)).toEqual(all('pass'));
    await expect.poll(() => left(place), {timeout: 10_000}).toEqual([]);
  });
});

test('in a namespace that is not there it has no place', async () => {
  const {kubeconfig} = await workplace();
  const {by} = await probe({kubeconfig, namespace: 'nowhere'});
  expect(by['probe-pod']).toMatchObject({status: 'fail', remedy: expect.stringContaining('kubectl create namespace nowhere')});
});

describe('an API server that', () => {
  test('makes the pod and does not say so: it is removed', async () => {
    const place = await probePlace();
    const api = await faultyApi(place.kubeconfig);
    const trouble = api.trouble('POST', /\/pods\?/, 'lose', 1);
    const running = probe({...place, kubeconfig: api.kubeconfig}, ['--timeout', '30s']);
    await trouble.met;
    expect(await podOf(place)).toContain('pod/');
    const {by} = await running;
    expect(by['probe-pod']?.status).toBe('fail');
    expect(await left(place)).toEqual([]);
  });

  test('is too weak to remove it at first is asked again', async () => {
    const place = await probePlace();
    const api = await faultyApi(place.kubeconfig);
    const trouble = api.trouble('DELETE', /\/pods\//, {status: 500}, 2);
    expect(statuses((await probe({...place, kubeconfig: api.kubeconfig})).by)).toEqual(all('pass'));
    expect(trouble.count()).toBe(2);
    expect(await left(place)).toEqual([]);
  });

  test('is gone when it should remove it: what was found is told, and how to remove it', async () => {
    const place = await probePlace(['hello']);
    const api = await faultyApi(place.kubeconfig);
    onTestFinished(async () => void (await place.kubectl('delete', 'pods', '--all', '--wait=false')));
    const running = probe({...place, kubeconfig: api.kubeconfig}, ['--timeout', '20s']);
    const pod = await podOf(place);
    api.stop();
    const {by, seconds, exit} = await running;
    expect(by['probe-pod']?.status).toBe('fail');
    expect(by['probe-pod']?.remedy).toContain(`Remove it: kubectl delete ${pod} `);
    expect(by['permissions']?.status).toBe('pass');
    expect(exit).not.toBe(1);
    expect(seconds).toBeLessThan(45);
  });

  test('was never there', async () => {
    const place = await workplace();
    const api = await faultyApi(place.kubeconfig);
    api.stop();
    const {by, seconds} = await probe({...place, kubeconfig: api.kubeconfig}, ['--timeout', '10s']);
    expect(by['probe-pod']?.message).toContain('There was no probe: the API server does not answer');
    expect(seconds).toBeLessThan(15);
  });
});
