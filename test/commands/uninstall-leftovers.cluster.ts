import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {stringify} from 'yaml';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {definition} from '../cluster/helm/definition.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {accountWith} from '../control-plane/accounts.ts';
import type {Kubectl} from '../control-plane/kubectl.ts';
import {setLogs} from '../control-plane/logs.ts';
import {type Workplace, workplace} from '../control-plane/workplace.ts';
import {violations} from '../support/output-schema.ts';
import {install, preflight, uninstall} from '../support/run-on-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));
const [{path: helm} = {path: 'helm'}] = await findHelm();
const RELEASE = 'scalr-agent';
const RBAC = 'rbac.authorization.k8s.io/v1';

/** As agent-job: every version creates other objects, some of them cluster-scoped, some without labels. */
function chart(version: string, objects: readonly object[]): string {
  const path = join(scratch, `agent-job-${version}`);
  mkdirSync(join(path, 'templates'), {recursive: true});
  writeFileSync(
    join(path, 'Chart.yaml'),
    stringify({apiVersion: 'v2', name: 'agent-job', version}),
  );
  const text = objects.map((each) => stringify(each)).join('---\n');
  writeFileSync(join(path, 'templates', 'all.yaml'), text);
  return path;
}

const NAMED = '{{ .Release.Namespace }}-{{ .Release.Name }}';
const labels = {
  'helm.sh/chart': '{{ .Chart.Name }}-{{ .Chart.Version }}',
  'app.kubernetes.io/instance': '{{ .Release.Name }}',
};

const deployment = (name: string, podLabels: object = labels): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {name, labels},
  spec: {
    selector: {matchLabels: {app: name}},
    template: {
      metadata: {labels: {app: name, ...podLabels}},
      spec: {
        serviceAccountName: name,
        terminationGracePeriodSeconds: 1,
        containers: [{name: 'agent', image: 'scalr/agent'}],
      },
    },
  },
});

const objectsOf = (name: string): object[] => [
  {apiVersion: 'v1', kind: 'ServiceAccount', metadata: {name, labels}},
  {apiVersion: RBAC, kind: 'ClusterRole', metadata: {name: `${NAMED}-${name}`}, rules: []},
  {
    apiVersion: RBAC,
    kind: 'ClusterRoleBinding',
    metadata: {name: `${NAMED}-${name}`},
    roleRef: {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: `${NAMED}-${name}`,
    },
    subjects: [{kind: 'ServiceAccount', name, namespace: '{{ .Release.Namespace }}'}],
  },
  {apiVersion: RBAC, kind: 'Role', metadata: {name}, rules: []},
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: {name, labels},
    spec: {maxUnavailable: 1, selector: {matchLabels: {app: name}}},
  },
  deployment(name),
];

/** Helm creates everything before the Deployment, which has no valid selector. */
const refused: object = {
  ...deployment('new'),
  spec: {selector: {matchLabels: {app: 'new'}}, template: {metadata: {labels: {app: 'other'}}}},
};
const task = (name: string, metadata: object = {}): object => ({
  apiVersion: 'scalr.io/v1',
  kind: 'AgentTask',
  metadata: {name, ...metadata},
});

let former: string;
let failing: string;
let local: string;
beforeAll(async () => {
  former = chart('0.5.67', [...objectsOf('old'), task('old', {labels})]);
  failing = chart('0.6.5', [...objectsOf('new').slice(0, -1), refused]);
  local = await directoryOf({chart: 'agent-local', version: '0.6.5'}, scratch);
});

const runHelm = ({kubeconfig, namespace}: Workplace, ...args: readonly string[]) =>
  execa(helm, [...args, '--namespace', namespace, '--kubeconfig', kubeconfig], {reject: false});

async function withDefinition(kubectl: Kubectl): Promise<void> {
  await kubectl.apply(definition('atasks', 'AgentTask'));
  await kubectl(
    'wait',
    '--for=condition=Established',
    'customresourcedefinition/atasks.scalr.io',
    '--timeout=30s',
  );
}

/** A release whose upgrade has failed after some of its objects were created. */
async function failedUpgrade(): Promise<Workplace> {
  const place = await workplace();
  await withDefinition(place.kubectl);
  onTestFinished(async () => {
    const names = ['old', 'new'].map((each) => `${place.namespace}-${RELEASE}-${each}`);
    for (const kind of ['clusterrole', 'clusterrolebinding'])
      await place.kubectl('delete', kind, ...names, '--ignore-not-found');
  });
  expect(await runHelm(place, 'install', RELEASE, former)).toMatchObject({exitCode: 0});
  const upgraded = await runHelm(place, 'upgrade', RELEASE, failing);
  expect(upgraded.exitCode, upgraded.stdout).toBe(1);
  return place;
}

async function uninstalled(place: Workplace, ...argv: readonly string[]) {
  const {stdout, stderr, exit} = await uninstall(place, helm, [...argv, '--json']);
  const result = JSON.parse(stdout);
  expect(violations(result.error ? 'error' : 'uninstall', stdout)).toEqual([]);
  return {exit, stderr, result};
}

/** Everything that Helm has created for the release, in the namespace and in the cluster. */
async function remains({kubectl, namespace}: Workplace): Promise<string[]> {
  const kinds = [
    'deployments,serviceaccounts,roles,rolebindings,networkpolicies,poddisruptionbudgets',
    'atasks.scalr.io',
    'clusterroles,clusterrolebindings',
  ];
  const listed = await kubectl('get', kinds.join(','), '--output', 'json');
  return (JSON.parse(listed).items as {kind: string; metadata: Metadata}[])
    .filter(({metadata: {annotations = {}}}) => {
      const {'meta.helm.sh/release-namespace': where} = annotations;
      return where === namespace;
    })
    .map(({kind, metadata}) => `${kind} ${metadata.name}`);
}

interface Metadata {
  name: string;
  annotations?: Record<string, string>;
}

/** All of them but CRDs, which other tests use at the same time. */
const ALL = '--purge=secrets,claims,leftovers,namespace,node-data';

describe('objects of other revisions', () => {
  test.each<[string, boolean]>([
    ['after a failed upgrade', false],
    ['after its rollback', true],
  ])('are deleted with the release, cluster-scoped ones too, %s', async (_, rollsBack) => {
    const place = await failedUpgrade();
    if (rollsBack) {
      // Helm misses the Deployment that was never created, and then finds no difference.
      await runHelm(place, 'rollback', RELEASE, '1');
      expect(await runHelm(place, 'rollback', RELEASE, '1')).toMatchObject({exitCode: 0});
    }
    const planned = await uninstalled(place, '--dry-run');
    const [other] = rollsBack ? ['new'] : ['old'];
    const name = `${place.namespace}-${RELEASE}-${other}`;
    expect(planned.result.steps.map(({id}: {id: string}) => id)).toContain('leftovers');
    expect(planned.result.removed.join()).toContain(`ClusterRole ${name}`);
    const {exit, result, stderr} = await uninstalled(place, '--yes');
    expect({exit, notRemoved: result.notRemoved, complete: result.complete}, stderr).toEqual({
      exit: 0,
      notRemoved: [],
      complete: true,
    });
    expect(result.removed.join()).toContain(`ClusterRole ${name}`);
    expect(await remains(place)).toEqual([]);
  });

  test('stay when a policy forbids one deletion, and so does the agent', async () => {
    const place = await failedUpgrade();
    await forbidDeletion(place, 'serviceaccounts');
    const before = await remains(place);
    for (const flag of ['--dry-run', '--yes']) {
      const {exit, result} = await uninstalled(place, flag);
      expect({exit, code: result.error?.code}).toEqual({exit: 1, code: 'TOOL_FAILED'});
      expect(result.error.message).toContain('Nothing was changed.');
      expect(result.error.message).toContain('Deletion of ServiceAccount old');
      expect(result.error.message).toContain('deletions are forbidden here');
    }
    expect(await remains(place)).toEqual(before);
    const replicas = ['get', 'deployment', 'old', '--output', 'jsonpath={.spec.replicas}'];
    expect(await place.kubectl(...replicas)).toBe('1');
  }, 120_000);
});

describe('objects of a release without a record', () => {
  async function unrecorded(): Promise<Workplace> {
    const place = await failedUpgrade();
    await place.kubectl('delete', 'secrets', '--selector=owner=helm');
    return place;
  }

  test('are listed, and removed with --purge=leftovers', async () => {
    const place = await unrecorded();
    const listed = await uninstalled(place, '--yes');
    expect({exit: listed.exit, ...listed.result}).toMatchObject({
      exit: 0,
      changed: false,
      complete: false,
    });
    const kept = listed.result.kept.map(({what}: {what: string}) => what);
    const names = ['AgentTask old', 'PodDisruptionBudget new', 'ServiceAccount old'];
    const wide = `ClusterRole ${place.namespace}-${RELEASE}-new`;
    expect(kept).toEqual(expect.arrayContaining([...names, wide]));
    const {exit, result, stderr} = await uninstalled(place, ALL, '--confirm', RELEASE);
    expect({exit, complete: result.complete}, stderr).toEqual({exit: 0, complete: true});
    expect(await remains(place)).toEqual([]);
  });

  test('stay while others use them', async () => {
    const place = await unrecorded();
    await place.kubectl.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {name: 'theirs'},
      spec: {serviceAccountName: 'new', containers: [{name: 'x', image: 'x'}]},
    });
    const {result} = await uninstalled(place, '--purge=leftovers', '--confirm', RELEASE);
    expect(result.complete).toBe(false);
    expect(result.kept).toContainEqual({
      what: 'ServiceAccount new',
      why: 'used by Pod theirs',
      how: 'Keep it while it is used',
    });
    expect(await remains(place)).toEqual(['ServiceAccount new']);
  });

  test('are not called complete when this user cannot list cluster-scoped objects', async () => {
    const place = await unrecorded();
    const kubeconfig = await accountWith('admin', place);
    const {result} = await uninstalled({...place, kubeconfig}, '--yes');
    expect(result.complete).toBe(false);
    expect(result.kept).toContainEqual(
      expect.objectContaining({
        what: 'Cluster-scoped objects of the release',
        why: expect.stringMatching(/^not checked: /),
      }),
    );
  });

  test('are named with the command that removes them by the install that meets them', async () => {
    const place = await workplace();
    const other = await workplace();
    const source = ['--chart', 'agent-local', '--chart-source', local, '--shutdown-mode', 'force'];
    await place.kubectl.apply({
      ...deployment('scalr-agent-agent-local', {}),
      metadata: {
        name: 'scalr-agent-agent-local',
        labels: {'app.kubernetes.io/managed-by': 'Helm', 'helm.sh/chart': 'agent-local-0.6.5'},
        annotations: {
          'meta.helm.sh/release-name': 'gone',
          'meta.helm.sh/release-namespace': other.namespace,
        },
      },
    });
    const {stdout} = await preflight(place, helm, [...source, '--json']);
    const found = (JSON.parse(stdout) as {checks: {id: string; remedy?: string}[]}).checks.find(
      ({id}) => id === 'object-names',
    );
    expect(found?.remedy).toContain(
      `scalr-agent uninstall --release gone --namespace ${other.namespace}`,
    );
    expect(found?.remedy).toContain('--purge=leftovers');
    expect(found?.remedy).not.toContain('helm uninstall');
  });
});

describe('what others use is not offered for deletion', () => {
  test('a CRD with custom resources that Helm does not know', async () => {
    const argo = await workplace();
    const place = await workplace();
    await withDefinition(argo.kubectl);
    await argo.kubectl.apply(task('theirs'));
    onTestFinished(async () => void (await argo.kubectl('delete', 'atasks.scalr.io', '--all')));
    const source = await directoryOf({chart: 'agent-job', version: '0.6.5'}, scratch);
    const checked = await preflight(place, helm, [
      ...['--chart', 'agent-job', '--chart-source', source],
      '--json',
    ]);
    const {checks} = JSON.parse(checked.stdout) as {checks: {id: string; remedy?: string}[]};
    expect(checks.find(({id}) => id === 'leftover-crds')?.remedy ?? '').not.toContain('atasks');
    expect(await runHelm(place, 'install', RELEASE, former)).toMatchObject({exitCode: 0});
    const {result} = await uninstalled(place, '--yes', '--purge=crds', '--dry-run');
    const kept = result.kept.find(({what}: {what: string}) => what === 'CRD atasks.scalr.io');
    expect(kept.how).toMatch(/^When nothing uses it: /);
  });

  test('a node directory of another agent', async () => {
    const source = await directoryOf({chart: 'agent-k8s', version: '0.6.5'}, scratch);
    const places = [await workplace(), await workplace()] as const;
    const path = `/var/lib/${places[0].namespace}`;
    for (const place of places) {
      await setLogs(
        place.kubeconfig,
        {namespace: place.namespace},
        {'*': {current: ['The agent is ready to receive tasks']}},
      );
      const given = ['--chart', 'agent-k8s', '--chart-source', source, '--data-home', path];
      const {exit, stderr} = await install(
        place,
        helm,
        [...given, '--skip-preflight', '--no-wait', '--yes'],
        {env: {SCALR_AGENT_TOKEN: 'hunter2'}},
      );
      expect(exit, stderr).toBe(0);
    }
    const {result, stderr} = await uninstalled(places[0], '--dry-run', '--purge=node-data');
    const kept = result.kept.find(({what}: {what: string}) => what.startsWith('Directory'));
    expect(kept.why).toContain(`DaemonSet ${places[1].namespace}/`);
    expect(kept.how).toBe('Keep it while it is used');
    expect(stderr + JSON.stringify(result)).not.toContain('rm -rf');
  });
});

/** As a policy of the cluster for one namespace. */
async function forbidDeletion({kubectl, namespace}: Workplace, resource: string): Promise<void> {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const metadata = {name: `${namespace}-deletion`};
  await kubectl.apply(
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          namespaceSelector: {matchLabels: {'kubernetes.io/metadata.name': namespace}},
          resourceRules: [
            {apiGroups: ['*'], apiVersions: ['*'], operations: ['DELETE'], resources: [resource]},
          ],
        },
        validations: [{expression: 'false', message: 'deletions are forbidden here'}],
      },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: {policyName: metadata.name, validationActions: ['Deny']},
    },
  );
  onTestFinished(
    async () =>
      void (await kubectl(
        'delete',
        'validatingadmissionpolicy,validatingadmissionpolicybinding',
        metadata.name,
      )),
  );
  // A policy takes a moment to count.
  await kubectl('create', 'serviceaccount', 'probe');
  await expect
    .poll(() =>
      kubectl('delete', 'serviceaccount', 'probe', '--dry-run=server').then(
        () => 'allowed',
        () => 'refused',
      ),
    )
    .toBe('refused');
}
