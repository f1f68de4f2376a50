import {execa} from 'execa';
import {expect, test} from 'vitest';
import {parseAllDocuments, stringify} from 'yaml';
import type {KubernetesObject} from '../../src/cluster/kubernetes/objects.ts';
import {NodeFiles} from '../../src/ground/system/node-files.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {applyGitOpsDefinitions} from '../control-plane/gitops-crds.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {commandsIn} from '../support/commands-in.ts';
import {chartFlags, installPlace, stepFlags, TOKEN} from '../support/install-place.ts';
import {violations} from '../support/output-schema.ts';
import {
  debug,
  install,
  rotateToken,
  status,
  uninstall,
  upgrade,
} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const LOCAL = await stepFlags('agent-local');
const SOURCE = (await chartFlags('agent-local')).at(-1) as string;
const DEPLOYMENT = 'deployment/scalr-agent-agent-local';

const statusOf = async (place: Workplace) => {
  const {stdout, exit} = await status(place, helm, ['--json']);
  expect(violations('status', stdout)).toEqual([]);
  return {...JSON.parse(stdout), exit};
};

/** Every command that changes a release, and what it says. */
async function refusals(place: Workplace) {
  const runs = [
    await install(place, helm, [...LOCAL, '--concurrency', '2', '--yes', '--json'], {env: TOKEN}),
    await upgrade(place, helm, ['--yes', '--json']),
    await debug(place, helm, ['on', '--yes', '--json']),
    await rotateToken(place, helm, ['--yes', '--json'], {env: {SCALR_AGENT_TOKEN: 'another'}}),
    await uninstall(place, helm, ['--yes', '--json']),
  ];
  return runs.map(({stdout, exit}) => ({exit, ...JSON.parse(stdout).error}));
}

test('a release of Flux has the state of its HelmRelease, and is changed only while that is suspended', async (context) => {
  const place = await installPlace();
  await applyGitOpsDefinitions(place.kubectl, context);
  const {namespace, kubectl} = place;
  expect((await install(place, helm, [...LOCAL, '--yes'], {env: TOKEN})).exit).toBe(0);
  await kubectl(
    'label',
    DEPLOYMENT,
    'helm.toolkit.fluxcd.io/name=agents',
    `helm.toolkit.fluxcd.io/namespace=${namespace}`,
  );
  const sourceRef = {kind: 'HelmRepository', name: 'scalr'};
  const spec = {interval: '1h', chart: {spec: {chart: 'agent-local', version: '0.6.5', sourceRef}}};
  const labels = {
    'kustomize.toolkit.fluxcd.io/name': 'apps',
    'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
  };
  await kubectl.apply({
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    kind: 'HelmRelease',
    metadata: {name: 'agents', labels},
    spec,
  });
  const report = (ready: string, message: string) => {
    const condition = {
      type: 'Ready',
      status: ready,
      message,
      reason: 'Test',
      lastTransitionTime: new Date().toISOString(),
    };
    const patch = JSON.stringify({status: {conditions: [condition]}});
    return kubectl(
      'patch',
      'helmreleases.helm.toolkit.fluxcd.io',
      'agents',
      '--subresource=status',
      '--type=merge',
      `--patch=${patch}`,
    );
  };
  const suspend = (isSuspended: boolean) =>
    kubectl(
      'patch',
      'helmreleases.helm.toolkit.fluxcd.io',
      'agents',
      '--type=merge',
      `--patch={"spec":{"suspend":${isSuspended}}}`,
    );
  const name = `Flux HelmRelease ${namespace}/agents`;
  const source = 'applied by Flux Kustomization flux-system/apps';

  await report('True', 'Helm install succeeded');
  expect(await statusOf(place)).toMatchObject({
    exit: 0,
    state: 'ready',
    helm: {status: 'deployed'},
    controller: {name, state: 'synced', source},
  });
  expect((await status(place, helm)).stdout).toMatch(
    new RegExp(`^Controller +${name}: synced \\(${source}\\)$`, 'm'),
  );

  const message = `Release scalr-agent in namespace ${namespace} is managed by the ${name}, which reverts other changes.`;
  const suggestion = `Change or remove the agent in the ${name} (${source})`;
  for (const each of await refusals(place))
    expect(each).toMatchObject({
      exit: 2,
      code: 'OBJECT_NOT_OWNED',
      message,
      suggestions: expect.arrayContaining([suggestion]),
    });
  expect(await kubectl('get', 'secrets', '--selector=owner=helm', '--output', 'name')).toBe(
    'secret/sh.helm.release.v1.scalr-agent.v1',
  );

  await report('False', 'install retries exhausted');
  expect(await statusOf(place)).toMatchObject({
    exit: 1,
    state: 'not-ready',
    controller: {name, state: 'failed', reason: 'install retries exhausted'},
    causes: [
      {
        subject: {object: name},
        code: 'CONTROLLER_FAILED',
        message: 'install retries exhausted',
        remedies: [{text: suggestion}],
      },
    ],
  });

  await suspend(true);
  expect(await statusOf(place)).toMatchObject({
    state: 'ready',
    controller: {state: 'suspended', reason: 'install retries exhausted'},
  });
  const {exit, stdout} = await debug(place, helm, [
    'on',
    '--chart-source',
    SOURCE,
    '--yes',
    '--json',
  ]);
  expect({exit, ...JSON.parse(stdout)}).toMatchObject({exit: 0, changed: true});
  await suspend(false);
  expect((await refusals(place)).map(({code}) => code)).toEqual(Array(5).fill('OBJECT_NOT_OWNED'));
});

test.for([
  [
    'an annotation',
    {annotations: {'argocd.argoproj.io/tracking-id': 'agents-app:apps/Deployment:x/y'}},
    'agents-app',
  ],
  ['the label that the chart sets too', {}, 'scalr-agent'],
] as const)('an agent of Argo CD, tracked by %s, has the state of its application and is not changed', async ([
  ,
  metadata,
  app,
], context) => {
  const place = await installPlace();
  await applyGitOpsDefinitions(place.kubectl, context);
  const {namespace, kubectl} = place;
  const values = [
    '--set',
    'agent.url=https://acme.scalr.io',
    '--set',
    'agent.tokenExistingSecret.name=scalr-agent-token',
  ];
  const {stdout} = await execa(helm, [
    'template',
    'scalr-agent',
    SOURCE,
    '--namespace',
    namespace,
    ...values,
  ]);
  const objects = parseAllDocuments(stdout).map((each) => each.toJS() as KubernetesObject);
  await kubectl.apply(
    ...objects.map((each) => ({...each, metadata: {...each.metadata, ...metadata}})),
  );
  await kubectl('rollout', 'status', DEPLOYMENT);
  const resources = [
    {group: 'apps', kind: 'Deployment', namespace, name: 'scalr-agent-agent-local', version: 'v1'},
  ];
  const application = (sync: string, more: object = {}) =>
    kubectl.apply({
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: {name: app},
      spec: {
        project: 'default',
        destination: {namespace, server: 'https://kubernetes.default.svc'},
        syncPolicy: {automated: {}},
        source: {
          repoURL: 'https://git.example.com/fleet',
          path: 'clusters/eu',
          targetRevision: 'main',
        },
      },
      status: {sync: {status: sync}, resources, ...more},
    });
  const name = `Argo CD application ${namespace}/${app}`;
  const source = 'https://git.example.com/fleet, path clusters/eu';

  await application('Synced');
  expect(await statusOf(place)).toMatchObject({
    exit: 0,
    state: 'ready',
    controller: {name, state: 'synced', source},
  });
  for (const each of await refusals(place))
    expect(each).toMatchObject({
      exit: 2,
      code: 'OBJECT_NOT_OWNED',
      suggestions: expect.arrayContaining([
        `Change or remove the agent in the ${name} (${source})`,
      ]),
    });
  await application('OutOfSync', {
    operationState: {
      phase: 'Failed',
      message: 'Deployment is invalid',
      operation: {},
      startedAt: '2026-01-01T00:00:00Z',
    },
  });
  expect(await statusOf(place)).toMatchObject({
    exit: 1,
    controller: {state: 'failed', reason: 'Deployment is invalid'},
  });
});

test('a mark without its controller can be removed with the printed command', async () => {
  const place = await installPlace();
  expect((await install(place, helm, [...LOCAL, '--yes'], {env: TOKEN})).exit).toBe(0);
  await place.kubectl(
    'label',
    DEPLOYMENT,
    'helm.toolkit.fluxcd.io/name=gone',
    'helm.toolkit.fluxcd.io/namespace=gone',
  );
  expect(await statusOf(place)).toMatchObject({
    exit: 0,
    state: 'ready',
    controller: {name: 'Flux HelmRelease gone/gone', state: 'unknown'},
  });
  const {stdout} = await debug(place, helm, ['on', '--chart-source', SOURCE, '--yes', '--json']);
  const [remove] = commandsIn(
    JSON.parse(stdout).error.suggestions.find((each: string) => each.includes('kubectl label')) ??
      '',
  );
  await place.kubectl(...(remove?.args ?? []));
  expect((await debug(place, helm, ['on', '--chart-source', SOURCE, '--yes', '--json'])).exit).toBe(
    0,
  );
});

test('status and upgrade read the values in a HelmRelease', async () => {
  const place = await installPlace();
  expect((await install(place, helm, [...LOCAL, '--yes'], {env: TOKEN})).exit).toBe(0);
  const file = (values: object) => {
    const spec = {chart: {spec: {chart: 'agent-local', version: '0.6.5'}}, values};
    const text = stringify({
      apiVersion: 'helm.toolkit.fluxcd.io/v2',
      kind: 'HelmRelease',
      metadata: {name: 'agents'},
      spec,
    });
    return {
      files: Object.assign(new NodeFiles(), {
        read: async (path: string) =>
          path === 'release.yaml' ? Buffer.from(text) : new NodeFiles().read(path),
      }),
    };
  };
  const installed = JSON.parse(
    (
      await execa(helm, [
        'get',
        'values',
        'scalr-agent',
        '--output',
        'json',
        '--namespace',
        place.namespace,
        '--kubeconfig',
        place.kubeconfig,
      ])
    ).stdout,
  );
  const compare = async (values: object) => {
    const {stdout, exit} = await status(
      place,
      helm,
      ['--values', 'release.yaml', '--exit-code', '--json'],
      file(values),
    );
    return {
      exit,
      differences: JSON.parse(stdout).values.differences.map(({path}: {path: string}) => path),
    };
  };
  expect(await compare(installed)).toEqual({exit: 0, differences: []});
  expect(await compare({...installed, replicaCount: 2})).toEqual({
    exit: 5,
    differences: ['replicaCount'],
  });
  const argv = [
    '--chart-source',
    SOURCE,
    '--chart-version',
    '0.6.5',
    '--values',
    'release.yaml',
    '--dry-run',
  ];
  const {stdout, exit} = await upgrade(place, helm, argv, file({replicaCount: 2}));
  expect(exit, stdout).toBe(0);
  expect(stdout).toMatch(/replicas: 2/);
});
