import {describe, expect, onTestFinished, test} from 'vitest';
import {parseAllDocuments} from 'yaml';
import type {CheckDocument} from '../../src/checks/preflight/checks/check.ts';
import type {KubernetesObject} from '../../src/cluster/kubernetes/objects.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {accountWith} from '../control-plane/accounts.ts';
import {faultyApi} from '../control-plane/faulty-api.ts';
import {setLogs} from '../control-plane/logs.ts';
import {type Workplace, workplace} from '../control-plane/workplace.ts';
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
const WELL = [
  'probe volume ok /var/lib/scalr-agent/data',
  'probe scalr-url ok 200',
  'probe metadata timeout',
  'probe done',
];
const outcomeOf = (outcome: string) => [
  '--set',
  `podAnnotations={"test.scalr.io/outcome":"${outcome}"}`,
];

/** A namespace whose pods print this. */
async function probePlace(
  lines: readonly string[] = WELL,
  labels: Record<string, string> = {},
): Promise<Workplace> {
  const place = await workplace(labels);
  await setLogs(place.kubeconfig, {namespace: place.namespace}, {'*': {current: lines}});
  return place;
}

/** Objects of probes that are there, without what Kubernetes puts into every namespace. */
const left = async ({kubectl}: Workplace): Promise<string[]> =>
  (await kubectl('get', KINDS, '--output', 'name'))
    .split('\n')
    .filter((name) => name !== '' && name !== 'configmap/kube-root-ca.crt');

type Deps = NonNullable<Parameters<typeof preflight>[3]>;
type Place = Pick<Workplace, 'kubeconfig' | 'namespace'>;

async function probe(place: Place, more: readonly string[] = [], deps: Deps = {}) {
  const start = Date.now();
  const argv = [...LOCAL, ...ADDRESS, '--probe', '--json', ...more];
  const {stdout, stderr, exit} = await preflight(place, helm, argv, {env: TOKEN, ...deps});
  const document = JSON.parse(stdout);
  const checks: CheckDocument[] = document.checks ?? [];
  if (document.checks) expect(violations('preflight', stdout), stdout).toEqual([]);
  const by = Object.fromEntries(checks.map((each) => [each.id, each])) as Record<
    string,
    CheckDocument
  >;
  return {by, exit, stderr, error: document.error, seconds: (Date.now() - start) / 1000};
}
const statuses = (by: Record<string, CheckDocument>) =>
  Object.fromEntries(IDS.map((id) => [id, by[id]?.status]));
const all = (status: CheckDocument['status']) => Object.fromEntries(IDS.map((id) => [id, status]));

/** Signals that the test sends. */
function interrupts() {
  const interrupt = new AbortController();
  const forceQuit = new AbortController();
  return {
    interrupt,
    forceQuit,
    handleInterrupts: () => ({
      interrupt: interrupt.signal,
      forceQuit: forceQuit.signal,
      release: () => undefined,
    }),
  };
}

/** Resolves when the pod of a probe is there. */
async function podOf({kubectl}: Workplace): Promise<string> {
  const named = () => kubectl('get', 'pods', '--selector', 'scalr.io/probe', '--output', 'name');
  await expect.poll(named, {interval: 200}).toContain('pod/');
  return named();
}

describe('a probe', () => {
  test.each([
    'runs',
    'completes',
  ])('reports its results and leaves no objects when the pod %s', async (outcome) => {
    const place = await probePlace();
    const {by} = await probe(place, [...BLOCKED, ...outcomeOf(outcome)]);
    expect(statuses(by)).toEqual(all('pass'));
    expect(by['probe-pod']?.message).toMatch(
      /^scalr-agent-probe-\w+ ran scalr\/agent:\S+ on node-[abc]$/,
    );
    expect(await left(place)).toEqual([]);
  });

  test('determines the exit code by its results', async () => {
    const place = await probePlace([
      'probe volume noexec /var/lib/scalr-agent/data',
      'probe scalr-url proxy 407',
      'probe metadata ok 200',
      'probe done',
    ]);
    const {by, exit} = await probe(place, BLOCKED);
    expect(exit).toBe(3);
    expect(statuses(by)).toEqual({
      'probe-pod': 'pass',
      'probe-scalr': 'fail',
      'probe-volume': 'fail',
      'probe-metadata': 'warn',
    });
  });

  test('creates its pod, ConfigMap and NetworkPolicy without the labels of the release', async () => {
    const place = await probePlace([]);
    const {interrupt, handleInterrupts} = interrupts();
    const running = probe(place, [...BLOCKED, '--ca-file', 'test/support/certificates/ca.pem'], {
      handleInterrupts,
    });
    const name = (await podOf(place)).replace('pod/', '');
    const objects = await place.kubectl.get<{items: KubernetesObject[]}>(
      KINDS,
      '--selector',
      'scalr.io/probe=scalr-agent',
    );
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
      expect(
        Object.keys(metadata.labels ?? {}).filter((key) =>
          /\/(name|instance|component)$/.test(key),
        ),
      ).toEqual([]);
    }
    interrupt.abort('SIGINT');
    await running;
    expect(await left(place)).toEqual([]);
  });

  test('checks the runner image of agent-job in an init container', async () => {
    const place = await workplace();
    await setLogs(
      place.kubeconfig,
      {namespace: place.namespace},
      {
        runner: {current: ['probe runner-user missing', 'probe runner-curl ok']},
        '*': {current: WELL},
      },
    );
    const argv = [...(await chartFlags('agent-job')), ...ADDRESS, '--probe', '--json'];
    const {stdout} = await preflight(place, helm, argv, {env: TOKEN});
    const checks = (JSON.parse(stdout) as {checks: CheckDocument[]}).checks;
    expect(checks.find(({id}) => id === 'probe-runner')).toMatchObject({
      status: 'fail',
      message: 'The image does not contain a user with UID and GID 1000',
    });
    expect(checks.find(({id}) => id === 'probe-scalr')?.status).toBe('pass');
    expect(await left(place)).toEqual([]);
  });

  test('prints its results under a separate heading, and no heading without --probe', async () => {
    const place = await probePlace();
    const {stdout} = await preflight(place, helm, [...LOCAL, ...ADDRESS, '--probe', '--verbose'], {
      env: TOKEN,
    });
    expect(stdout).toMatch(/\nProbe\n {2}✓ Probe pod: [\s\S]*\d+ passed\n$/);
    const without = await preflight(place, helm, [...LOCAL, ...ADDRESS, '--verbose'], {env: TOKEN});
    expect(without.stdout).not.toMatch(/probe/i);
  });

  test('is only printed with --dry-run, without the proxy password', async () => {
    const place = await probePlace();
    const argv = [
      ...LOCAL,
      ...ADDRESS,
      ...BLOCKED,
      '--probe',
      '--dry-run',
      '--https-proxy',
      'http://ann:hunter3@proxy:3128',
    ];
    const {stdout} = await preflight(place, helm, argv, {env: TOKEN});
    expect(stdout).not.toContain('hunter3');
    const [yaml = ''] = stdout.split('\n  ! token');
    const kinds = parseAllDocuments(yaml).map(
      (document) => (document.toJS() as KubernetesObject).kind,
    );
    expect(kinds).toEqual(['NetworkPolicy', 'Pod']);
    expect(stdout).toMatch(/^ {2}\? probe-pod {2}Probe pod: No probe pod was created: --dry-run$/m);
    expect(await left(place)).toEqual([]);
  });

  test('removes leftover probes of the same release, and no others', async () => {
    const place = await probePlace();
    const object = (kind: string, name: string, release: string, more = {}) => ({
      apiVersion: 'v1',
      kind,
      metadata: {name, labels: {'scalr.io/probe': release}},
      ...more,
    });
    const spec = {containers: [{name: 'probe', image: 'scalr/agent:1'}]};
    await place.kubectl.apply(
      object('ConfigMap', 'old', 'scalr-agent', {data: {}}),
      object('Pod', 'old', 'scalr-agent', {spec}),
      object('Pod', 'other', 'another', {spec}),
    );
    expect(statuses((await probe(place)).by)).toEqual(all('pass'));
    await expect.poll(() => left(place)).toEqual(['pod/other']);
  });
});

describe('a failed pod', () => {
  test('is reported with the reason within the timeout when no node accepts it', async () => {
    const place = await probePlace();
    const {by, seconds} = await probe(place, [
      '--node-selector',
      'pool=nowhere',
      '--timeout',
      '12s',
    ]);
    expect(by['probe-pod']?.message).toContain("didn't match Pod's node affinity/selector");
    expect(by['probe-pod']).toMatchObject({
      status: expect.stringMatching(/warn|fail/),
      remedy: expect.stringContaining('--node-selector'),
    });
    expect(by['probe-scalr']?.status).toBe('skip');
    expect(seconds).toBeLessThan(90);
    expect(await left(place)).toEqual([]);
  });

  test('is reported when its image cannot be pulled', async () => {
    const place = await probePlace();
    const {by} = await probe(place, [...outcomeOf('image-pull-backoff'), '--timeout', '12s']);
    expect(by['probe-pod']?.message).toContain('ImagePullBackOff: scalr/agent');
    expect(await left(place)).toEqual([]);
  });

  test('is reported when it ends before its output is complete', async () => {
    const place = await probePlace(['probe volume ok /var/lib/scalr-agent/data']);
    const {by, seconds} = await probe(place, outcomeOf('completes'));
    expect(by['probe-pod']).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('its container exited with code 0'),
    });
    expect(seconds).toBeLessThan(120);
    expect(await left(place)).toEqual([]);
  });

  test('is reported when it prints no results before the timeout', async () => {
    const place = await probePlace(['hello']);
    const {by} = await probe(place, ['--timeout', '10s']);
    expect(by['probe-pod']).toMatchObject({
      status: 'fail',
      remedy: 'Increase the timeout: --timeout 5m',
    });
    expect(await left(place)).toEqual([]);
  });

  test('is reported with the reason when the API server rejects it', async () => {
    const place = await probePlace(WELL, {'pod-security.kubernetes.io/enforce': 'restricted'});
    const {by} = await probe(place, BLOCKED);
    expect(by['probe-pod']).toMatchObject({
      status: 'fail',
      message: expect.stringMatching(/cannot create .*violates PodSecurity/),
      remedy: expect.stringContaining('pod-security.kubernetes.io/enforce'),
    });
    expect(await left(place)).toEqual([]);
  });

  test('is reported when somebody deletes it', async () => {
    const place = await probePlace(['hello']);
    const running = probe(place);
    await place.kubectl('delete', await podOf(place), '--wait=false');
    expect((await running).by['probe-pod']).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('it was deleted before'),
    });
  });
});

describe('Ctrl-C', () => {
  test.each([
    ['SIGINT', 130, 'INTERRUPTED'],
    ['SIGTERM', 143, 'TERMINATED'],
  ])('removes the pod before the program exits on %s', async (signal, status, code) => {
    const place = await probePlace(['hello']);
    const {interrupt, handleInterrupts} = interrupts();
    const running = probe(place, BLOCKED, {handleInterrupts});
    await podOf(place);
    interrupt.abort(signal);
    const {exit, error} = await running;
    expect({exit, code: error.code, message: error.message}).toEqual({
      exit: status,
      code,
      message: 'Interrupted. The probe was deleted.',
    });
    expect(await left(place)).toEqual([]);
  });

  test('prints the command that removes the probe when pressed twice', async () => {
    const place = await probePlace(['hello']);
    const api = await faultyApi(place.kubeconfig);
    const injected = api.inject('DELETE', /\/pods\//, 'stall');
    const {interrupt, forceQuit, handleInterrupts} = interrupts();
    const running = probe({...place, kubeconfig: api.kubeconfig}, [], {handleInterrupts});
    const pod = await podOf(place);
    interrupt.abort('SIGINT');
    await injected.hit;
    forceQuit.abort('SIGINT');
    const {exit, error} = await running;
    expect(exit).toBe(130);
    expect(error.message).toMatch(
      new RegExp(`^Interrupted. Delete the probe: kubectl delete ${pod} `),
    );
    injected.end();
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
    {
      apiGroups: ['apps', 'batch'],
      resources: ['deployments', 'replicasets', 'daemonsets', 'jobs'],
      verbs: ['*'],
    },
  ];

  test('that cannot create pods gets all other checks and no probe', async () => {
    const place = await probePlace();
    const kubeconfig = await accountWith(rules(), place);
    const {by} = await probe({...place, kubeconfig});
    expect(statuses(by)).toEqual({...all('skip'), 'probe-pod': 'fail'});
    expect(by['probe-pod']?.message).toBe(
      'No probe pod was created: your user cannot create pods, delete pods',
    );
    expect(by['probe-pod']?.remedy).toMatch(/kind: Role[\s\S]*create/);
    expect(by['cluster-reachable']?.status).toBe('pass');
    expect(await left(place)).toEqual([]);
  });

  test('that has only the permissions of a probe can run it', async () => {
    const place = await probePlace();
    const kubeconfig = await accountWith(rules('create', 'delete'), place);
    const spec = {containers: [{name: 'probe', image: 'scalr/agent:1'}]};
    await place.kubectl.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {name: 'old', labels: {'scalr.io/probe': 'scalr-agent'}},
      spec,
    });
    const {by} = await probe({...place, kubeconfig}, ['--metadata-service', 'allow']);
    expect(statuses(by)).toEqual(all('pass'));
    await expect.poll(() => left(place)).toEqual([]);
  });
});

test('fails with the command that creates the namespace when it does not exist', async () => {
  const {kubeconfig} = await workplace();
  const {by} = await probe({kubeconfig, namespace: 'nowhere'});
  expect(by['probe-pod']).toMatchObject({
    status: 'fail',
    remedy: expect.stringContaining('kubectl create namespace nowhere'),
  });
});

describe('API server faults', () => {
  test('removes the pod when the answer to its creation is lost', async () => {
    const place = await probePlace();
    const api = await faultyApi(place.kubeconfig);
    const injected = api.inject('POST', /\/pods\?/, 'lose', 1);
    const running = probe({...place, kubeconfig: api.kubeconfig}, ['--timeout', '30s']);
    await injected.hit;
    expect(await podOf(place)).toContain('pod/');
    const {by} = await running;
    expect(by['probe-pod']?.status).toBe('fail');
    expect(await left(place)).toEqual([]);
  });

  test('retries when removing the pod fails at first', async () => {
    const place = await probePlace();
    const api = await faultyApi(place.kubeconfig);
    const injected = api.inject('DELETE', /\/pods\//, {status: 500}, 2);
    expect(statuses((await probe({...place, kubeconfig: api.kubeconfig})).by)).toEqual(all('pass'));
    expect(injected.count()).toBe(2);
    expect(await left(place)).toEqual([]);
  });

  test('reports the results and the command that removes the pod when the API server is gone', async () => {
    const place = await probePlace(['hello']);
    const api = await faultyApi(place.kubeconfig);
    onTestFinished(
      async () => void (await place.kubectl('delete', 'pods', '--all', '--wait=false')),
    );
    const running = probe({...place, kubeconfig: api.kubeconfig}, ['--timeout', '12s']);
    const pod = await podOf(place);
    api.stop();
    const {by, seconds, exit} = await running;
    expect(by['probe-pod']?.status).toBe('fail');
    expect(by['probe-pod']?.remedy).toContain(`Delete it: kubectl delete ${pod} `);
    expect(by['permissions']?.status).toBe('pass');
    expect(exit).not.toBe(1);
    expect(seconds).toBeLessThan(120);
  });

  test('creates no pod when the API server is not reachable', async () => {
    const place = await workplace();
    const api = await faultyApi(place.kubeconfig);
    api.stop();
    const {by, seconds} = await probe({...place, kubeconfig: api.kubeconfig}, ['--timeout', '10s']);
    expect(by['probe-pod']?.message).toContain(
      'No probe pod was created: Cannot reach the Kubernetes API at',
    );
    expect(seconds).toBeLessThan(90);
  });
});
