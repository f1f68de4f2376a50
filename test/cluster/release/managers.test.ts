import {describe, expect, test} from 'vitest';
import {
  readController,
  releaseOfAgent,
  requireNoController,
} from '../../../src/cluster/release/managers.ts';
import type {ReleaseName} from '../../../src/ground/command-line.ts';
import {type FakeObject, type FakeServer, fakeKubernetes} from '../../support/fake-kubernetes.ts';

const options = {signal: new AbortController().signal};
const kubeTarget = {namespace: 'scalr-agent'};
const NAME: ReleaseName = {release: 'agents', kubeTarget};
const RESOURCES = [
  'applications.argoproj.io',
  'helmreleases.helm.toolkit.fluxcd.io',
  'kustomizations.kustomize.toolkit.fluxcd.io',
];

const deployment = (metadata: {labels?: object; annotations?: object} = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'agents-agent-local',
    namespace: 'scalr-agent',
    labels: {
      'helm.sh/chart': 'agent-local-0.6.5',
      'app.kubernetes.io/instance': 'agents',
      ...metadata.labels,
    },
    ...(metadata.annotations ? {annotations: metadata.annotations as Record<string, string>} : {}),
  },
});
const tracked = (app = 'agents') =>
  deployment({
    annotations: {
      'argocd.argoproj.io/tracking-id': `${app}:apps/Deployment:scalr-agent/agents-agent-local`,
    },
  });
const ofFlux = deployment({
  labels: {
    'helm.toolkit.fluxcd.io/name': 'agents',
    'helm.toolkit.fluxcd.io/namespace': 'flux-system',
  },
  annotations: {'meta.helm.sh/release-name': 'agents'},
});

const APPLIED = [{kind: 'Deployment', namespace: 'scalr-agent', name: 'agents-agent-local'}];
const application = (spec: object, status: object, metadata: object = {}): FakeObject =>
  ({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: {name: 'agents', namespace: 'argocd', ...metadata},
    spec,
    status: {resources: APPLIED, ...status},
  }) as FakeObject;
const helmRelease = (spec: object, ready?: object, metadata: object = {}): FakeObject =>
  ({
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    kind: 'HelmRelease',
    metadata: {name: 'agents', namespace: 'flux-system', ...metadata},
    spec,
    status: {conditions: ready ? [{type: 'Ready', ...ready}] : []},
  }) as FakeObject;

const read = (workload: ReturnType<typeof deployment>, server: FakeServer = {}) =>
  readController(
    kubeTarget,
    [workload],
    fakeKubernetes({resources: RESOURCES, ...server}),
    options,
  );

const AUTOMATED = {syncPolicy: {automated: {}}};
const MANUAL = {syncPolicy: {}};

describe('an Argo CD application', () => {
  test.each([
    ['synced', AUTOMATED, {sync: {status: 'Synced'}}, undefined],
    ['out-of-sync', AUTOMATED, {sync: {status: 'OutOfSync'}}, undefined],
    ['synced', MANUAL, {sync: {status: 'Synced'}}, undefined],
    ['suspended', MANUAL, {sync: {status: 'OutOfSync'}}, 'OutOfSync, and automatic sync is off'],
    [
      'suspended',
      {syncPolicy: {automated: {enabled: false}}},
      {sync: {status: 'OutOfSync'}},
      'OutOfSync, and automatic sync is off',
    ],
    [
      'failed',
      AUTOMATED,
      {
        sync: {status: 'OutOfSync'},
        operationState: {phase: 'Failed', message: 'one or more objects failed'},
      },
      'one or more objects failed',
    ],
    [
      'failed',
      AUTOMATED,
      {
        sync: {status: 'Unknown'},
        conditions: [{type: 'ComparisonError', message: 'chart\nnot found'}],
      },
      'chart not found',
    ],
  ])('is %s', async (state, spec, status, reason) => {
    const found = await read(tracked(), {objects: [application(spec, status)]});
    expect(found).toMatchObject({name: 'Argo CD application argocd/agents', state});
    expect(found?.reason).toBe(reason);
  });

  test('of another namespace is found by the prefix of its mark', async () => {
    const found = await read(tracked('team_agents'), {
      objects: [application(AUTOMATED, {}, {namespace: 'team'})],
    });
    expect(found?.name).toBe('Argo CD application team/agents');
  });

  test('that applies the workload is preferred to one with the same name', async () => {
    const other = {...application(AUTOMATED, {}, {namespace: 'other'}), status: {resources: []}};
    expect((await read(tracked(), {objects: [other, application(AUTOMATED, {})]}))?.name).toBe(
      'Argo CD application argocd/agents',
    );
  });

  test('names its repository and files without credentials', async () => {
    const sources = [
      {
        repoURL: 'https://scalr.github.io/agent-helm/',
        chart: 'agent-local',
        helm: {valueFiles: ['$values/clusters/eu.yaml']},
      },
      {repoURL: 'https://bot:pass@git.example.com/fleet', path: 'agents'},
    ];
    const found = await read(tracked(), {objects: [application({...AUTOMATED, sources}, {})]});
    expect(found?.source).toMatch(
      /\*\*\*@git\.example\.com\/fleet, path agents; values files clusters\/eu\.yaml$/,
    );
    expect(found?.source).not.toContain('pass');
  });

  test('of an ApplicationSet names the set', async () => {
    const ownerReferences = [{kind: 'ApplicationSet', name: 'fleet'}];
    const found = await read(tracked(), {objects: [application(AUTOMATED, {}, {ownerReferences})]});
    expect(found?.remedies).toEqual([
      'Change or remove the agent in the Argo CD application argocd/agents (applied by ApplicationSet fleet)',
    ]);
  });

  test('is unknown without its definition or the permission to read it', async () => {
    expect(await read(tracked(), {resources: []})).toMatchObject({
      name: 'Argo CD application agents',
      state: 'unknown',
      reason: expect.stringContaining('not found in this cluster'),
      remedies: [
        expect.any(String),
        'If it no longer exists: kubectl annotate deployment/agents-agent-local argocd.argoproj.io/tracking-id- --namespace scalr-agent',
      ],
    });
    expect(await read(tracked(), {refuse: ['applications.argoproj.io']})).toMatchObject({
      state: 'unknown',
      reason: expect.stringContaining('forbidden'),
    });
  });
});

describe('a workload with only the label that charts set too', () => {
  test('belongs to an application that lists it', async () => {
    expect(
      await read(deployment(), {objects: [application(AUTOMATED, {sync: {status: 'Synced'}})]}),
    ).toMatchObject({state: 'synced'});
  });

  test.each([
    ['there is none', []],
    [
      'it lists another workload',
      [{...application(AUTOMATED, {}), status: {resources: [{...APPLIED[0], name: 'other'}]}}],
    ],
  ])('belongs to no application when %s', async (_, objects) => {
    expect(await read(deployment(), {objects})).toBeUndefined();
  });

  test('is not looked for when Helm installed it', async () => {
    const kubernetes = fakeKubernetes({resources: RESOURCES});
    const workload = deployment({annotations: {'meta.helm.sh/release-name': 'agents'}});
    expect(await readController(kubeTarget, [workload], kubernetes, options)).toBeUndefined();
    expect(kubernetes.requests).toEqual([]);
  });
});

describe('a HelmRelease', () => {
  test.each([
    ['synced', {}, {status: 'True', message: 'Helm upgrade succeeded'}, undefined],
    [
      'failed',
      {},
      {status: 'False', message: 'install retries exhausted'},
      'install retries exhausted',
    ],
    ['out-of-sync', {}, {status: 'Unknown', message: 'Running upgrade'}, 'Running upgrade'],
    ['out-of-sync', {}, undefined, undefined],
    ['suspended', {suspend: true}, {status: 'True'}, undefined],
  ])('is %s', async (state, spec, ready, reason) => {
    const found = await read(ofFlux, {objects: [helmRelease(spec, ready)]});
    expect(found).toMatchObject({name: 'Flux HelmRelease flux-system/agents', state});
    expect(found?.reason).toBe(reason);
  });

  test('names what applies it, and how to suspend it', async () => {
    const labels = {
      'kustomize.toolkit.fluxcd.io/name': 'apps',
      'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
    };
    expect(
      (await read(ofFlux, {objects: [helmRelease({}, {status: 'True'}, {labels})]}))?.remedies,
    ).toEqual([
      'Change or remove the agent in the Flux HelmRelease flux-system/agents (applied by Flux Kustomization flux-system/apps)',
      'Or suspend it first: flux suspend helmrelease agents --namespace flux-system',
    ]);
  });

  test('is read in the version that the cluster prefers', async () => {
    const old = {
      ...helmRelease({}, {status: 'True'}),
      apiVersion: 'helm.toolkit.fluxcd.io/v2beta2',
    };
    const kubernetes = fakeKubernetes({resources: RESOURCES, objects: [old]});
    expect(await readController(kubeTarget, [ofFlux], kubernetes, options)).toMatchObject({
      state: 'synced',
    });
    expect(kubernetes.requests.at(-1)).toBe(
      '/apis/helm.toolkit.fluxcd.io/v2beta2/namespaces/flux-system/helmreleases/agents',
    );
  });

  test('prevents a change unless it is suspended', async () => {
    const change = (...objects: FakeObject[]) =>
      requireNoController(NAME, [ofFlux], fakeKubernetes({resources: RESOURCES, objects}), options);
    await expect(change(helmRelease({}, {status: 'True'}))).rejects.toMatchObject({
      code: 'OBJECT_NOT_OWNED',
      exit: 2,
    });
    await expect(change()).rejects.toMatchObject({code: 'OBJECT_NOT_OWNED'});
    await expect(change(helmRelease({suspend: true}, {status: 'True'}))).resolves.toBeUndefined();
  });
});

test.each([
  [deployment(), 'agents'],
  [deployment({annotations: {'meta.helm.sh/release-name': 'other'}}), 'other'],
  [deployment({labels: {'helm.sh/chart': 'nginx-1.0.0'}}), undefined],
])('a workload names its release', (workload, expected) => {
  expect(releaseOfAgent(workload)).toBe(expected);
});
