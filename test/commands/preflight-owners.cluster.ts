import {execa} from 'execa';
import {expect, test} from 'vitest';
import {parseAllDocuments} from 'yaml';
import type {CheckDocument} from '../../src/checks/preflight/checks/check.ts';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import {type Workplace, workplace} from '../control-plane/workplace.ts';
import {chartFlags, installPlace, TOKEN} from '../support/install-place.ts';
import {install, preflight} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelmMatrix();
const LOCAL = [...(await chartFlags('agent-local')), '--metadata-service', 'block'];
const POLICY = 'scalr-agent-agent-local-network-policy';
/** The stand-ins have no roles, and not the definition that is released. */
const QUIET = ['--cloud', 'other', '--node-os', 'other', '--yes', '--no-wait', '--json'];

const policy = (metadata: object) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: {name: POLICY, ...metadata},
  spec: {podSelector: {matchLabels: {app: 'mine'}}, policyTypes: ['Ingress']},
});

async function check(
  kubeTarget: Pick<Workplace, 'kubeconfig' | 'namespace'>,
  argv: readonly string[],
  id = 'object-names',
) {
  const {stdout} = await preflight(kubeTarget, helm, [...argv, '--json'], {env: TOKEN});
  return (JSON.parse(stdout) as {checks: CheckDocument[]}).checks.find((each) => each.id === id);
}

/** Runs every kubectl command of a remedy as a shell would. */
async function obey({kubeconfig}: Workplace, remedy = ''): Promise<void> {
  const kubectl = await findKubectl();
  const lines = remedy.split('\n').filter((line) => line.startsWith('kubectl '));
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines)
    await execa('sh', ['-c', `kubectl() { '${kubectl}' "$@"; }; ${line}`], {
      env: {KUBECONFIG: kubeconfig},
    });
}

const secrets = (place: Workplace) => place.kubectl('get', 'secrets', '--output', 'name');

test('refuses to install over an object without an owner until the printed command is run', async () => {
  const place = await installPlace();
  await place.kubectl.apply(policy({}));
  const refused = await install(place, helm, [...LOCAL, ...QUIET], {env: TOKEN});
  const {error} = JSON.parse(refused.stdout);
  expect({exit: refused.exit, code: error.code}).toEqual({exit: 3, code: 'PREFLIGHT_FAILED'});
  expect(error.message).toContain(
    `NetworkPolicy ${POLICY} already exists and belongs to no Helm release`,
  );
  expect(await secrets(place)).toBe('');
  const dry = await install(place, helm, [...LOCAL, '--dry-run', '--json'], {env: TOKEN});
  expect(dry.exit).toBe(3);
  expect(dry.stdout).toContain('belongs to no Helm release');
  const {status, remedy} = (await check(place, LOCAL)) ?? {};
  expect(status).toBe('fail');
  await obey(place, remedy);
  expect(await check(place, LOCAL)).toMatchObject({status: 'pass'});
  expect(await install(place, helm, [...LOCAL, ...QUIET], {env: TOKEN})).toMatchObject({exit: 0});
});

test('prints commands that adopt objects created from helm template', async () => {
  const place = await installPlace();
  const [, , , source = ''] = LOCAL;
  const rendered = await execa(helm, [
    'template',
    'scalr-agent',
    source,
    '--namespace',
    place.namespace,
    '--set',
    'allowMetadataService=false,agent.tokenExistingSecret.name=x',
  ]);
  const made = parseAllDocuments(rendered.stdout).map((each) => each.toJS());
  await place.kubectl.apply(...made.filter(({kind}) => kind === 'NetworkPolicy'));
  const {status, remedy} = (await check(place, LOCAL)) ?? {};
  expect({status, remedy}).toMatchObject({
    status: 'fail',
    remedy: expect.stringContaining('kubectl annotate networkpolicies'),
  });
  await obey(place, remedy);
  expect(await install(place, helm, [...LOCAL, ...QUIET], {env: TOKEN})).toMatchObject({exit: 0});
});

test('refuses a ClusterRole without an owner before creating the namespace', async () => {
  const place = await workplace();
  const namespace = `${place.namespace}-new`;
  const name = `${namespace}-scalr-agent-clusterrole`;
  await place.kubectl('create', 'clusterrole', name, '--verb=get', '--resource=pods');
  const there = {...place, namespace};
  const job = [...(await chartFlags('agent-job')), ...QUIET];
  const {stdout, exit} = await install(there, helm, job, {env: TOKEN});
  expect(exit).toBe(3);
  expect(JSON.parse(stdout).error.message).toContain(
    `ClusterRole ${name} already exists and belongs to no Helm release`,
  );
  expect(await place.kubectl('get', 'namespace', namespace, '--ignore-not-found')).toBe('');
  await obey(place, (await check(there, await chartFlags('agent-job')))?.remedy);
  expect(await check(there, await chartFlags('agent-job'))).toMatchObject({status: 'pass'});
});

test('reports objects of another release with the command that uninstalls it', async () => {
  const place = await installPlace();
  const k8s = [...(await chartFlags('agent-k8s')), '--data-home', `/var/lib/${place.namespace}`];
  expect(
    (await install(place, helm, [...k8s, '--release', 'blue', ...QUIET], {env: TOKEN})).exit,
  ).toBe(0);
  const found = await check(place, k8s);
  expect(found).toMatchObject({
    status: 'fail',
    message: expect.stringMatching(
      /Role agent-k8s-role.* already exist and belong to Helm release test-\w+\/blue/,
    ),
  });
  expect(found?.remedy).toContain(
    `scalr-agent uninstall --release blue --namespace ${place.namespace} --kube-context test-cluster --kubeconfig`,
  );
  expect(found?.remedy).toContain('another namespace with --namespace');
});

test.each([
  [
    'Argo CD application agents',
    {
      annotations: {
        'argocd.argoproj.io/tracking-id': `agents:networking.k8s.io/NetworkPolicy:x/${POLICY}`,
      },
    },
  ],
  [
    'Flux Kustomization flux-system/agents',
    {
      labels: {
        'kustomize.toolkit.fluxcd.io/name': 'agents',
        'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
      },
    },
  ],
])('reports an object that belongs to the %s', async (owner, metadata) => {
  const place = await workplace();
  await place.kubectl.apply(policy(metadata));
  expect(await check(place, LOCAL)).toMatchObject({
    status: 'fail',
    message: expect.stringContaining(`belongs to the ${owner}`),
    remedy: expect.stringContaining(`Remove it from the ${owner}`),
  });
});

test('suggests a remedy for an object of a release that no longer exists, and accepts its own object without labels', async () => {
  const place = await installPlace();
  const gone = {
    'meta.helm.sh/release-name': 'former',
    'meta.helm.sh/release-namespace': place.namespace,
  };
  await place.kubectl.apply(
    policy({labels: {'app.kubernetes.io/managed-by': 'Helm'}, annotations: gone}),
  );
  const found = await check(place, LOCAL);
  expect(found).toMatchObject({
    status: 'fail',
    message: expect.stringContaining('/former, which no longer exists'),
  });
  await obey(place, found?.remedy);
  expect(await install(place, helm, [...LOCAL, ...QUIET], {env: TOKEN})).toMatchObject({exit: 0});
  await place.kubectl('label', 'networkpolicy', POLICY, 'app.kubernetes.io/managed-by-');
  expect(await check(place, [...LOCAL, '--concurrency', '2'])).toMatchObject({status: 'pass'});
  expect(
    (await install(place, helm, [...LOCAL, ...QUIET, '--concurrency', '2'], {env: TOKEN})).exit,
  ).toBe(0);
});

test('accepts a CRD that matches the chart, and names Argo CD when its CRD differs', async () => {
  const place = await workplace();
  const job = await chartFlags('agent-job');
  const name = 'agenttasktemplates.scalr.io';
  const {stdout: crds} = await execa(helm, ['show', 'crds', job.at(-1) as string]);
  const bring = async () =>
    execa(
      await findKubectl(),
      ['--kubeconfig', place.kubeconfig, 'apply', '--server-side', '--force-conflicts', '-f', '-'],
      {input: crds},
    );
  await bring();
  try {
    expect(await check(place, job, 'crd')).toMatchObject({
      status: 'pass',
      message: `CRD ${name} matches the chart`,
    });
    await place.kubectl('annotate', 'crd', name, 'argocd.argoproj.io/tracking-id=crds:x');
    await place.kubectl(
      'patch',
      'crd',
      name,
      '--type=merge',
      '--patch={"spec":{"names":{"singular":"other"}}}',
    );
    expect(await check(place, job, 'crd')).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('belongs to Argo CD application crds and differs'),
    });
  } finally {
    // The cluster is shared with other tests.
    await place.kubectl('annotate', 'crd', name, 'argocd.argoproj.io/tracking-id-');
    await bring();
  }
});
