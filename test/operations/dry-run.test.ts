import {describe, expect, test} from 'vitest';
import {objectsIn, type ReleaseRecord} from '../../src/cluster/helm/release-record.ts';
import {type Call, callName} from '../../src/ground/call.ts';
import {argumentsOf} from '../../src/ground/call-arguments.ts';
import type {Secret} from '../../src/ground/secret.ts';
import {dryRunPlan, mergePatch} from '../../src/operations/plan-dry-run.ts';
import {podBatches} from '../../src/operations/pod-trials.ts';
import {requireAccepted, type Trial} from '../../src/operations/server-dry-run.ts';
import type {ReleaseStep} from '../../src/operations/step.ts';
import {fakeKubernetes} from '../support/fake-kubernetes.ts';

const NAME = {release: 'agent', kubeTarget: {namespace: 'scalr'}};
const RELEASE: ReleaseStep = {
  phase: 'release',
  id: 'release',
  title: 'Install',
  call: {tool: 'helm', verb: 'upgrade'},
};
const MANIFEST = `apiVersion: v1
kind: Secret
metadata: {name: token}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: agenttasktemplates.scalr.io}
spec: {group: scalr.io, names: {kind: AgentTaskTemplate}}
---
apiVersion: scalr.io/v1
kind: AgentTaskTemplate
metadata: {name: task}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: main}
spec: {strategy: {type: Recreate}}
`;
const INSTALLED =
  'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: main}\nspec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}\n';

/** What is tried of the manifest where these definitions are served. */
type Rendered = {kind: string; spec?: object};

/** One object, or a list of several. */
const objectsOf = (input: Rendered & {items?: Rendered[]}) => input.items ?? [input];

async function trying(
  served: readonly string[],
  steps: readonly ReleaseStep[] = [RELEASE],
  conflict = '',
  helm = 'v4.1.0',
) {
  const calls: Call[] = [];
  const run = async (call: Call) => {
    calls.push(call);
    const isRefused = conflict !== '' && argumentsOf(call).includes('helm');
    return {
      exitCode: isRefused ? 1 : 0,
      stdout: callName(call) === 'helm version' ? helm : '',
      stderr: isRefused ? conflict : '',
    };
  };
  const facts = {
    namespace: {metadata: {name: 'scalr'}},
    installed: objectsIn(INSTALLED),
    release: undefined,
    drift: [],
  };
  const {text: said} = await dryRunPlan(
    {steps, name: NAME, objects: objectsIn(MANIFEST), facts},
    {kubernetes: fakeKubernetes({resources: served}), processes: {run}},
  );
  const objects = calls.flatMap(({input}) =>
    input === undefined ? [] : objectsOf(JSON.parse((input as Secret).reveal())),
  );
  return {said, objects, calls, kinds: objects.map(({kind}) => kind)};
}

test('skips and lists custom resources whose CRD does not exist yet', async () => {
  for (const {said, kinds} of [
    await trying([]),
    await trying(['agenttasktemplates.scalr.io'], [{...RELEASE, phase: 'definitions'}, RELEASE]),
  ]) {
    expect(kinds).toEqual([
      'Deployment',
      'Secret',
      'CustomResourceDefinition',
      'CustomResourceDefinition',
    ]);
    expect(said).toContain(
      'accepts all other objects. Not checked:\n  - AgentTaskTemplate task: its CRD is not installed yet\n',
    );
  }
  const {said, kinds} = await trying(['agenttasktemplates.scalr.io']);
  expect(kinds).toContain('AgentTaskTemplate');
  expect(said).toBe('The API server accepts all objects.\n');
});

test('reports CRDs that others changed, which Helm 4 would not overwrite', async () => {
  const conflict =
    'error: Apply failed with 1 conflict: conflict with "kubectl-client-side-apply": .spec.versions';
  await expect(trying(['agenttasktemplates.scalr.io'], [RELEASE], conflict)).rejects.toMatchObject({
    code: 'OBJECT_NOT_OWNED',
    message: expect.stringContaining(
      'Helm cannot install the CRDs of the chart: error: Apply failed with 1 conflict',
    ),
  });
  await expect(
    trying(['agenttasktemplates.scalr.io'], [RELEASE], conflict, 'v3.19.0'),
  ).resolves.toBeDefined();
});

test('removes fields that are no longer set, and never merges Secrets', async () => {
  const {objects, calls} = await trying([]);
  expect(objects[0]?.spec).toEqual({strategy: {type: 'Recreate', rollingUpdate: null}});
  // kubectl itself rejects null in some places.
  const isServerSide = (call: Call) => argumentsOf(call).includes('--server-side');
  const merge = calls.find((each) => !isServerSide(each)) as Call;
  expect(argumentsOf(merge)).toContain('--validate=false');
  expect(calls.find(isServerSide)?.input).toSatisfy((input: Secret) =>
    input.reveal().includes('"Secret"'),
  );
  const applied = calls.filter((each) => callName(each) === 'kubectl apply');
  expect(applied.map(argumentsOf)).toSatisfy((all: string[][]) =>
    all.every((args) => args.includes('--dry-run=server')),
  );
});

test('merges list items by name', () => {
  const after = [{name: 'b', value: 'x'}, {name: 'a', valueFrom: {}}, 'text'];
  expect(mergePatch(after, [{name: 'a', value: 'y'}, {value: 'z'}])).toEqual([
    {name: 'b', value: 'x'},
    {name: 'a', valueFrom: {}, value: null},
    'text',
  ]);
});

test.each([
  [[RELEASE]],
  [[]],
])('refuses a namespace that is being deleted', async (steps: ReleaseStep[]) => {
  const facts = {
    namespace: {metadata: {name: 'scalr', deletionTimestamp: '2026-11-25T10:00:00Z'}},
    installed: [],
    release: undefined,
    drift: [],
  };
  const deps = {
    kubernetes: fakeKubernetes(),
    processes: {run: () => Promise.reject(new Error('not called'))},
  };
  await expect(dryRunPlan({steps, name: NAME, objects: [], facts}, deps)).rejects.toMatchObject({
    code: 'NAMESPACE_TERMINATING',
    message: 'Namespace scalr is being deleted. Nothing was changed.',
    suggestions: [
      'Run the command again when the namespace is deleted, or use another --namespace',
    ],
  });
});

describe('a request that is not accepted', () => {
  const TRIAL: Trial = {
    what: 'Pod of Deployment main',
    call: {tool: 'kubectl', verb: 'create', kubeTarget: {namespace: 'scalr'}},
  };
  const verdict = (stderr: string, excuses?: (stderr: string) => string | undefined) =>
    requireAccepted([{call: TRIAL.call, trials: [{...TRIAL, ...(excuses ? {excuses} : {})}]}], {
      run: async () => ({exitCode: 1, stdout: '', stderr}),
    });

  test.each([
    [
      'Error from server (Forbidden): pods is forbidden: User "jane" cannot create resource "pods" in API group "" in the namespace "scalr"',
      'your user cannot create pods',
    ],
    [
      'Error from server (BadRequest): admission webhook "mirror.example.com" does not support dry run',
      'admission webhook mirror.example.com does not support dry runs',
    ],
  ])('is not checked: %s', async (stderr, reason) => {
    expect(await verdict(stderr)).toEqual([{what: TRIAL.what, reason}]);
  });

  test.each([
    [
      'Error from server (Forbidden): error when creating "STDIN": pods "main" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation',
      'pods "main" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation',
      'Pod Security Standard',
    ],
    [
      'Error from server (Forbidden): pods "main" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi',
      'pods "main" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi',
      'not RBAC',
    ],
    [
      'Error from server (Forbidden): pods "main" is forbidden: error looking up service account scalr/nosa: serviceaccount "nosa" not found',
      'pods "main" is forbidden: error looking up service account scalr/nosa: serviceaccount "nosa" not found',
      '--service-account-name',
    ],
    [
      'Error from server: admission webhook "images.example.com" denied the request: no',
      'admission webhook "images.example.com" denied the request: no',
      'admission policy',
    ],
  ])('ends the command with the message: %s', async (stderr, message, remedy) => {
    await expect(verdict(stderr)).rejects.toMatchObject({
      code: 'TOOL_FAILED',
      message: `The API server rejected the plan. Nothing was changed.\n× ${TRIAL.what}: ${message}`,
      suggestions: [expect.stringContaining(remedy)],
    });
  });
});

describe('a quota', () => {
  const FULL =
    'pods "main" is forbidden: exceeded quota: tight, requested: limits.memory=2Gi,pods=1, used: limits.memory=2Gi,pods=1, limited: limits.memory=2Gi,pods=1';
  const SMALL =
    'pods "main" is forbidden: exceeded quota: tight, requested: limits.memory=2Gi, used: limits.memory=0, limited: limits.memory=1Gi';
  const excusesOf = (kind: string, isInstalled: boolean) => {
    const object = {
      apiVersion: 'apps/v1',
      kind,
      metadata: {name: 'main'},
      spec: {template: {spec: {containers: [{name: 'agent'}]}}},
    };
    const facts = {
      installed: [],
      drift: [],
      release: isInstalled ? ({} as ReleaseRecord) : undefined,
    };
    const [batch] = podBatches({steps: [], objects: [object], facts}, NAME.kubeTarget);
    return batch?.trials[0]?.excuses as (stderr: string) => string | undefined;
  };

  test.each([
    ['an update, whose pods use it', 'Deployment', true, FULL, true],
    ['a run, which other runs precede', 'AgentTaskTemplate', false, FULL, true],
    ['a new agent', 'Deployment', false, FULL, false],
    ['a pod that never fits', 'Deployment', true, SMALL, false],
    ['a run that never fits', 'AgentTaskTemplate', true, SMALL, false],
  ])('that has no room for %s', (_, kind, isInstalled, stderr, isExcused) => {
    expect(excusesOf(kind, isInstalled)(stderr)).toBe(
      isExcused ? 'ResourceQuota tight has no room beside the running pods' : undefined,
    );
  });
});
