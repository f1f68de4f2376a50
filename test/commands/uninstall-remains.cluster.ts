import {randomBytes} from 'node:crypto';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {accountWith} from '../control-plane/accounts.ts';
import {findKubectl, kubectlFor} from '../control-plane/kubectl.ts';
import {setLogs} from '../control-plane/logs.ts';
import {type Workplace, workplace} from '../control-plane/workplace.ts';
import {commandsIn} from '../support/commands-in.ts';
import {violations} from '../support/output-schema.ts';
import {install, uninstall} from '../support/run-on-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));
let source: string;
beforeAll(async () => {
  source = await directoryOf({chart: 'agent-local', version: '0.6.5'}, scratch);
});

const [{path: helm} = {path: 'helm'}] = await findHelm();
const kubectlPath = await findKubectl();
const RELEASE = 'scalr-agent';
const TOKEN = {SCALR_AGENT_TOKEN: 'hunter2'};

async function installIn(
  place: Workplace,
  more: readonly string[] = [],
  chart = 'agent-local',
  from = source,
): Promise<void> {
  await setLogs(
    place.kubeconfig,
    {namespace: place.namespace},
    {'*': {current: ['The agent is ready to receive tasks']}},
  );
  const given = ['--chart', chart, '--chart-source', from, '--skip-preflight', '--yes', ...more];
  const {exit, stderr} = await install(place, helm, given, {env: TOKEN});
  expect(exit, stderr).toBe(0);
}

const LOCAL = ['--shutdown-mode', 'force'];

async function installed(more: readonly string[] = []): Promise<Workplace> {
  const place = await workplace();
  await installIn(place, [...LOCAL, ...more]);
  return place;
}

/** A namespace that the install makes. */
async function ownNamespace(): Promise<Workplace> {
  const outer = await workplace();
  const namespace = `${outer.namespace}-own`;
  const kubectl = await kubectlFor(outer.kubeconfig, namespace);
  const kubeTarget = {kubeconfig: outer.kubeconfig, namespace, kubectl};
  await installIn(kubeTarget, LOCAL);
  onTestFinished(
    async () =>
      void (await outer.kubectl(
        'delete',
        'namespace',
        namespace,
        '--ignore-not-found',
        '--wait=false',
      )),
  );
  return kubeTarget;
}

async function uninstalled(
  kubeTarget: Pick<Workplace, 'kubeconfig' | 'namespace'>,
  argv: readonly string[],
  deps = {},
) {
  const {stdout, stderr, exit} = await uninstall(kubeTarget, helm, [...argv, '--json'], deps);
  const result = JSON.parse(stdout);
  expect(violations(result.error ? 'error' : 'uninstall', stdout)).toEqual([]);
  return {exit, stderr, result, all: stdout + stderr};
}

interface Told {
  what: string;
  why: string;
  how: string;
}

/** Runs a printed command as it is. */
const typed = (line: string) =>
  execa('bash', ['-c', line.replace(/^.*?(kubectl .*)$/, '$1').replace(/^kubectl/, kubectlPath)], {
    reject: false,
  });

const exists = async ({kubectl}: Workplace, ...what: string[]): Promise<boolean> =>
  (await kubectl('get', ...what, '--ignore-not-found', '--output', 'name')) !== '';

const notes = (finalizers: readonly string[] = []): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {name: 'notes', finalizers},
});

describe('a release that does not exist', () => {
  test('fails with a list of existing releases, and suggests no namespace deletion', async () => {
    const place = await installed(['--release', 'runs']);
    const {exit, result, all} = await uninstalled(place, ['--release', 'rusn', '--yes']);
    expect(exit).toBe(2);
    expect(result.error).toMatchObject({
      code: 'RELEASE_NOT_FOUND',
      message: expect.stringContaining(
        `Release rusn not found in namespace ${place.namespace}. Agent releases found: ${place.namespace}/runs (agent-local-0.6.5)`,
      ),
    });
    const [command] = result.error.suggestions;
    expect(command).toContain(
      `scalr-agent uninstall --release runs --namespace ${place.namespace} --kube-context test-cluster --kubeconfig ${place.kubeconfig}`,
    );
    expect(all).not.toMatch(/delete namespace/i);
    expect((await uninstalled(place, ['--release', 'runs', '--dry-run'])).result).toMatchObject({
      release: 'runs',
      changed: true,
    });
  });

  test('is reported with its namespace when that does not exist either', async () => {
    const {kubeconfig, namespace} = await workplace();
    const {exit, result} = await uninstalled({kubeconfig, namespace: `${namespace}-typo`}, [
      '--yes',
      '--purge=all',
    ]);
    expect({exit, ...result.error}).toMatchObject({
      exit: 2,
      code: 'RELEASE_NOT_FOUND',
      message: expect.stringContaining(
        `Release ${RELEASE} not found: namespace ${namespace}-typo does not exist. `,
      ),
    });
  });

  test('lists only the releases that the account can see', async () => {
    const place = await installed(['--release', 'runs']);
    const kubeconfig = await accountWith('admin', place);
    const {result} = await uninstalled({...place, kubeconfig}, ['--release', 'typo', '--yes']);
    expect(result.error.message).toMatch(
      ` Agent releases found: ${place.namespace}/runs (agent-local-0.6.5).`,
    );
    expect(result.error.suggestions).toEqual([
      expect.stringContaining('uninstall --release runs'),
      expect.stringContaining('cannot list releases in other namespaces'),
      expect.any(String),
    ]);
  });

  test('but left objects behind is reported, and cleaned up with --purge', async () => {
    const place = await installed();
    expect((await uninstalled(place, ['--yes'])).exit).toBe(0);
    const again = await uninstalled(place, ['--yes']);
    expect({exit: again.exit, ...again.result}).toMatchObject({
      exit: 0,
      changed: false,
      removed: [],
      complete: true,
    });
    // Not of all: CRDs belong to the cluster, and other tests have some at the same time.
    const cleaned = await uninstalled(place, [
      '--purge=secrets,claims,namespace',
      '--confirm',
      RELEASE,
    ]);
    expect({exit: cleaned.exit, removed: cleaned.result.removed}).toEqual({
      exit: 0,
      removed: ['Secret scalr-agent-token'],
    });
    const third = await uninstalled(place, ['--yes']);
    expect({exit: third.exit, code: third.result.error.code}).toEqual({
      exit: 2,
      code: 'RELEASE_NOT_FOUND',
    });
  });

  test('is reported with each object and removed with --purge=leftovers when only its Helm record is gone', async () => {
    const place = await installed();
    await place.kubectl('delete', 'secrets', '--selector=owner=helm');
    const {exit, result} = await uninstalled(place, ['--yes']);
    expect({exit, changed: result.changed, complete: result.complete}).toEqual({
      exit: 0,
      changed: false,
      complete: false,
    });
    const deployment = result.kept.find(({what}: Told) => what.startsWith('Deployment'));
    expect(deployment.why).toContain('which has no Helm record');
    expect(deployment.how).toMatch(/^scalr-agent uninstall .*--purge=leftovers/);
    const purged = await uninstalled(place, ['--purge=leftovers', '--yes']);
    expect({exit: purged.exit, code: purged.result.error.code}).toEqual({
      exit: 2,
      code: 'NOT_CONFIRMED',
    });
    const confirmed = await uninstalled(place, ['--purge=leftovers', '--confirm', RELEASE]);
    expect({exit: confirmed.exit, complete: confirmed.result.complete}).toEqual({
      exit: 0,
      complete: true,
    });
    expect(await exists(place, 'deployments')).toBe(false);
  });
});

describe('a namespace with objects of others', () => {
  test.each<[string, object]>([
    ['a ConfigMap', notes()],
    ['a Secret', {apiVersion: 'v1', kind: 'Secret', metadata: {name: 'theirs'}}],
    [
      'a pod with an unknown owner',
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: 'theirs',
          ownerReferences: [{apiVersion: 'argoproj.io/v1', kind: 'Workflow', name: 'x', uid: 'x'}],
        },
        spec: {containers: [{name: 'x', image: 'x'}]},
      },
    ],
    [
      'a Job with the same instance label',
      {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: {name: 'theirs', labels: {'app.kubernetes.io/instance': RELEASE}},
        spec: {template: {spec: {restartPolicy: 'Never', containers: [{name: 'x', image: 'x'}]}}},
      },
    ],
  ])('is neither deleted nor suggested for deletion when it contains %s', async (_, object) => {
    const place = await ownNamespace();
    await place.kubectl.apply(object);
    const {exit, result, all} = await uninstalled(place, ['--purge=all', '--confirm', RELEASE]);
    expect(exit, all).toBe(0);
    const kept = result.kept.find(({what}: Told) => what.startsWith('Namespace'));
    expect(kept).toMatchObject({
      why: expect.stringMatching(/^it contains other objects: /),
      how: 'Keep it',
    });
    expect(all).not.toMatch(/delete namespace/i);
    expect(await exists(place, 'namespace', place.namespace)).toBe(true);
  });

  test('stays and makes the purge incomplete when an object appears after the plan', async () => {
    const place = await ownNamespace();
    const input = async (): Promise<string> => {
      await place.kubectl.apply(notes());
      return RELEASE;
    };
    const {exit, stdout, stderr} = await uninstall(place, helm, ['--purge=all'], {
      hasTerminal: true,
      prompter: {input},
    });
    expect({exit}, stderr).toEqual({exit: 1});
    const [, removed, notRemoved] =
      /Removed:([\s\S]*)Not removed:([\s\S]*)/.exec(stdout + stderr) ?? [];
    expect(removed).toContain('Secret scalr-agent-token');
    expect(notRemoved?.replaceAll(/\s+/g, ' ')).toContain(
      `Namespace ${place.namespace}: it contains other objects: ConfigMap notes`,
    );
    expect(await exists(place, 'configmap', 'notes')).toBe(true);
  });

  test('is deleted with --purge=all when it contains nothing else', async () => {
    const place = await ownNamespace();
    const {exit, result} = await uninstalled(place, ['--purge=all', '--confirm', RELEASE]);
    expect(exit).toBe(0);
    expect(result.removed).toEqual([
      expect.stringMatching(/^Release/),
      'Secret scalr-agent-token',
      `Namespace ${place.namespace}`,
    ]);
    expect(await exists(place, 'namespace', place.namespace)).toBe(false);
  });
});

describe('objects that could not be deleted', () => {
  /** A disk, bound by Kubernetes' own controller. Kubernetes deletes directories below /tmp and no others. */
  async function disk({kubectl}: Workplace, directory: string): Promise<string> {
    const name = `disk-${randomBytes(4).toString('hex')}`;
    const spec = {
      capacity: {storage: '100Gi'},
      accessModes: ['ReadWriteOnce', 'ReadWriteMany'],
      storageClassName: name,
      persistentVolumeReclaimPolicy: 'Delete',
      hostPath: {path: `${directory}/${name}`},
    };
    await kubectl.apply(
      {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: {name},
        provisioner: 'kubernetes.io/no-provisioner',
      },
      {apiVersion: 'v1', kind: 'PersistentVolume', metadata: {name}, spec},
    );
    onTestFinished(async () => {
      await kubectl(
        'delete',
        'persistentvolume,storageclass',
        name,
        '--ignore-not-found',
        '--wait=false',
      );
    });
    return name;
  }

  async function withCache(
    directory: string,
  ): Promise<{place: Workplace; volume: string; flags: string[]}> {
    const place = await workplace();
    const volume = await disk(place, directory);
    const flags = [...LOCAL, '--cache', 'pvc', '--cache-storage-class', volume];
    await installIn(place, flags);
    await expect.poll(() => phase(place, volume)).toBe('Bound');
    return {place, volume, flags};
  }
  const phase = ({kubectl}: Workplace, volume: string): Promise<string> =>
    kubectl(
      'get',
      'persistentvolume',
      volume,
      '--ignore-not-found',
      '--output',
      'jsonpath={.status.phase}',
    );

  test('reports a retained and rebound volume that cannot be deleted, with the command', async () => {
    const {place, volume, flags} = await withCache('/srv');
    expect((await uninstalled(place, ['--yes'])).exit).toBe(0);
    await expect.poll(() => phase(place, volume)).toBe('Available');
    await installIn(place, flags);
    await expect.poll(() => phase(place, volume)).toBe('Bound');
    const {exit, result, stderr} = await uninstalled(place, [
      '--purge=claims',
      '--confirm',
      RELEASE,
    ]);
    expect({exit, complete: result.complete}).toEqual({exit: 1, complete: false});
    const [told] = result.notRemoved;
    expect(told).toMatchObject({
      what: `PersistentVolume ${volume}`,
      why: expect.stringContaining('its data remains'),
    });
    expect(result.removed.join()).not.toContain('All data');
    expect(stderr).toContain('Not removed:');
    expect(await exists(place, 'persistentvolume', volume)).toBe(true);
    expect(await typed(told.how)).toMatchObject({exitCode: 0});
    expect(await exists(place, 'persistentvolume', volume)).toBe(false);
  });

  test('deletes the volume before reporting its data as removed', async () => {
    const {place, volume} = await withCache('/tmp');
    const {exit, result} = await uninstalled(place, ['--purge=claims', '--confirm', RELEASE]);
    expect(exit).toBe(0);
    expect(result.removed).toContainEqual(expect.stringMatching(/^All data in PVC/));
    expect(await exists(place, 'persistentvolume', volume)).toBe(false);
  });

  test('reports that data remains when the reclaim policy of the volume is Retain', async () => {
    const {place, volume} = await withCache('/tmp');
    await place.kubectl(
      'patch',
      'persistentvolume',
      volume,
      '--patch={"spec":{"persistentVolumeReclaimPolicy":"Retain"}}',
    );
    const {exit, result, all} = await uninstalled(place, ['--purge=claims', '--confirm', RELEASE]);
    expect(exit, all).toBe(0);
    expect(result.removed.join()).not.toContain('All data');
    const told = result.kept.find(({what}: Told) => what.startsWith(`PersistentVolume ${volume}`));
    expect(told.why).toContain('its reclaim policy is Retain, so its data remains');
    expect(await typed(told.how)).toMatchObject({exitCode: 0});
  });

  test('does not report a volume as deleted when the account cannot see it', async () => {
    const {place, volume} = await withCache('/tmp');
    const kubeconfig = await accountWith('admin', place);
    const {exit, result} = await uninstalled({...place, kubeconfig}, [
      '--purge=claims',
      '--confirm',
      RELEASE,
    ]);
    expect(exit).toBe(1);
    expect(result.notRemoved).toMatchObject([
      {
        what: `PersistentVolume ${volume}`,
        why: expect.stringContaining('cannot verify the deletion'),
      },
    ]);
    expect(result.removed.join()).not.toContain('All data');
  });

  test('deletes a PVC only when no pod of others uses it', async () => {
    const {place} = await withCache('/tmp');
    const claim = (
      await place.kubectl('get', 'persistentvolumeclaims', '--output', 'name')
    ).replace(/^.*\//, '');
    const volumes = [{name: 'data', persistentVolumeClaim: {claimName: claim}}];
    await place.kubectl.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {name: 'reader'},
      spec: {
        containers: [{name: 'x', image: 'x', volumeMounts: [{name: 'data', mountPath: '/data'}]}],
        volumes,
      },
    });
    await place.kubectl('wait', 'pod', 'reader', '--for=condition=Ready', '--timeout=20s');
    const purged = () =>
      uninstalled(place, ['--purge=claims', '--confirm', RELEASE, '--timeout', '8s']);
    const refused = await purged();
    expect(refused).toMatchObject({
      exit: 2,
      result: {error: {code: 'OBJECT_NOT_OWNED', message: expect.stringContaining('Pod reader')}},
    });
    await place.kubectl('delete', 'pod', 'reader', '--now');
    expect(await purged()).toMatchObject({exit: 0, result: {complete: true}});
    await expect.poll(() => exists(place, 'persistentvolumeclaims')).toBe(false);
  });

  test('times out when a finalizer holds the Secret, and deletes the rest', async () => {
    const place = await installed();
    const finalizers = (names: readonly string[]) =>
      place.kubectl(
        'patch',
        'secret/scalr-agent-token',
        '--type=merge',
        `--patch=${JSON.stringify({metadata: {finalizers: names}})}`,
      );
    await finalizers(['test.scalr.io/hold']);
    onTestFinished(async () => void (await finalizers([]).catch(() => undefined)));
    const {exit, result} = await uninstalled(place, [
      '--purge=secrets',
      '--confirm',
      RELEASE,
      '--timeout',
      '8s',
    ]);
    expect({exit, complete: result.complete}).toEqual({exit: 6, complete: false});
    expect(result.removed).toEqual([expect.stringMatching(/^Release/)]);
    expect(result.notRemoved).toMatchObject([
      {
        what: 'Secret scalr-agent-token',
        why: 'its deletion is not complete, pending finalizers: test.scalr.io/hold (after 8 s)',
        how: expect.stringContaining(
          'If it no longer exists: kubectl patch secret/scalr-agent-token --type=merge',
        ),
      },
    ]);
    // The command runs as it is printed.
    const [release] = commandsIn(result.notRemoved[0].how);
    await place.kubectl(...(release?.args ?? []));
    await expect.poll(() => exists(place, 'secrets')).toBe(false);
  });

  test('times out when an object in the namespace has a finalizer', async () => {
    const place = await ownNamespace();
    const hold = (names: readonly string[]) =>
      place.kubectl(
        'patch',
        'serviceaccount/default',
        '--type=merge',
        `--patch=${JSON.stringify({metadata: {finalizers: names}})}`,
      );
    await hold(['test.scalr.io/hold']);
    onTestFinished(async () => void (await hold([]).catch(() => undefined)));
    const {exit, result} = await uninstalled(place, [
      '--purge=all',
      '--confirm',
      RELEASE,
      '--timeout',
      '10s',
    ]);
    expect(exit).toBe(6);
    expect(result.notRemoved).toMatchObject([
      {what: `Namespace ${place.namespace}`, why: expect.stringContaining('serviceaccounts')},
    ]);
  });
});

describe('a drain that exceeds its timeout', () => {
  test('leaves the agent stopped, and prints the command that restores its replicas', async () => {
    const place = await workplace();
    const chart = await directoryOf({chart: 'agent-k8s', version: '0.6.5'}, scratch);
    const more = ['--data-home', `/var/lib/${place.namespace}`, '--shutdown-mode', 'drain'];
    await installIn(
      place,
      [...more, '--set', 'agent.kubernetes_task_labels.team=a'],
      'agent-k8s',
      chart,
    );
    const [deployment] = (await place.kubectl('get', 'deployments', '--output', 'name')).split(
      '\n',
    ) as [string];
    await place.kubectl('scale', deployment, '--replicas=2');
    await place.kubectl.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'run-1',
        labels: {team: 'a'},
        annotations: {'test.scalr.io/outcome': 'unready'},
      },
      spec: {restartPolicy: 'Never', containers: [{name: 'runner', image: 'scalr/agent'}]},
    });
    const {exit, result} = await uninstalled(place, ['--drain-timeout', '1s', '--yes']);
    const {error} = result;
    expect({exit, code: error.code}).toEqual({exit: 6, code: 'TIMED_OUT'});
    const name = deployment.replace(/^.*\//, '');
    expect(error.message).toContain(`Deployment ${name} is scaled to 0 and accepts no new runs.`);
    const start = error.suggestions.find((each: string) => each.startsWith('Scale it up again: '));
    expect(start).toContain(`kubectl scale deployment/${name} --replicas=2`);
    expect(start).toContain(`--namespace ${place.namespace}`);
    const replicas = () =>
      place.kubectl('get', deployment, '--output', 'jsonpath={.spec.replicas}');
    expect(await replicas()).toBe('0');
    expect(await typed(start)).toMatchObject({exitCode: 0});
    expect(await replicas()).toBe('2');
  });
});
