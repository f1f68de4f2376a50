import {mkdirSync, readdirSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, onTestFinished, type TestContext, test} from 'vitest';
import {until} from '../../control-plane/api.ts';
import {buildBeforeTests, builtTool, moduleDirectory} from '../../engines/tools.ts';
import {
  comparable,
  type FleetPlace,
  fleetPlace,
  installedObjects,
  manifestOf,
} from './fleet-place.ts';

const LOCAL = {chart: 'agent-local', version: '0.6.5'} as const;
const OLD = {chart: 'agent-job', version: '0.5.67'} as const;
const NEW = {chart: 'agent-job', version: '0.5.68'} as const;
const FLAGS = ['--url', 'https://acme.scalr.io', '--pod-annotation', 'team=a'];
const isFull = Boolean(process.env['TEST_FULL']);

/** Upgrades of a release called scalr-agent fail between these versions: docs/charts/upgrades.md. */
const RENAMED = ['--release', 'fleet', '--token-secret', 'scalr-agent-token'];

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const {port} = server.address() as {port: number};
      server.close(() => resolve(port));
    });
  });

/** source-controller and helm-controller, which watch the namespace of the test only. */
async function startFlux(
  {namespace, kubeconfig, folder, run}: FleetPlace,
  context: Pick<TestContext, 'skip'>,
): Promise<void> {
  const storage = join(folder, 'storage');
  mkdirSync(storage);
  const address = `127.0.0.1:${await freePort()}`;
  const flags = {
    'source-controller': [
      '--storage-path',
      storage,
      '--storage-addr',
      address,
      '--storage-adv-addr',
      address,
    ],
    'helm-controller': [],
  };
  for (const name of Object.keys(flags) as (keyof typeof flags)[]) {
    const definitions = join(
      await moduleDirectory(`fleets/${name}`, `github.com/fluxcd/${name}`, context),
      'config/crd/bases',
    );
    const files = readdirSync(definitions).flatMap((file) => [
      '--filename',
      join(definitions, file),
    ]);
    await run('kubectl', ['apply', '--server-side', ...files], '.');
    // A new CRD has no status that kubectl could wait for.
    const wait = ['wait', '--for=condition=Established', ...files];
    await until('the CRDs are served', async () => !(await run('kubectl', wait, '.')).failed);
  }
  const shared = [
    '--metrics-addr',
    '127.0.0.1:0',
    '--health-addr',
    '127.0.0.1:0',
    '--watch-all-namespaces=false',
    '--log-level',
    'error',
  ];
  for (const [name, own] of Object.entries(flags) as [keyof typeof flags, string[]][]) {
    const program = await builtTool(name, context);
    const started = execa(program, [...own, ...shared], {
      env: {KUBECONFIG: kubeconfig, RUNTIME_NAMESPACE: namespace},
      cwd: folder,
      reject: false,
      stdio: 'ignore',
    });
    onTestFinished(async () => {
      started.kill();
      await started;
    });
  }
}

/** Applies what kustomize-controller would apply. */
async function applied({run}: FleetPlace): Promise<void> {
  const {stdout} = await run('kubectl', ['kustomize', 'clusters/default']);
  await run('kubectl', ['apply', '--server-side', '--filename', '-'], 'fleet', stdout);
}

const isReady = async (
  {kubectl}: FleetPlace,
  version: string,
  release = 'scalr-agent',
): Promise<boolean> => {
  const {status} = await kubectl.get<{
    status?: {conditions?: {type: string; status: string}[]; history?: {chartVersion: string}[]};
  }>('helmrelease', release);
  return (
    status?.history?.[0]?.chartVersion === version &&
    status.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') === true
  );
};

buildBeforeTests('helm-controller', 'source-controller');

test('Flux installs what install does, and reverts changes', {
  timeout: 120_000,
}, async (context) => {
  for (const name of ['helm-controller', 'source-controller'] as const)
    await builtTool(name, context);
  const place = await fleetPlace([LOCAL]);
  await startFlux(place, context);
  place.exportFiles('flux', '--chart', 'agent-local', ...FLAGS);
  await applied(place);
  await until('the release is ready', () => isReady(place, LOCAL.version));
  expect(await manifestOf(place.helm, place)).toEqual(
    await installedObjects(LOCAL, place.folder, FLAGS),
  );
  await place.kubectl(
    'set',
    'env',
    'deployment/scalr-agent-agent-local',
    'SCALR_URL=https://other.example.com',
  );
  await place.kubectl(
    'annotate',
    'helmrelease',
    'scalr-agent',
    `reconcile.fluxcd.io/requestedAt=${Date.now()}`,
  );
  await until(
    'the change is reverted',
    async () =>
      !(await place.kubectl('get', 'deployments', '-o', 'yaml')).includes('other.example.com'),
  );
});

test.skipIf(!isFull)(
  'Flux replaces CRDs on an upgrade, keeps PVCs, and leaves replicas to an autoscaler',
  {timeout: 180_000},
  async (context) => {
    const place = await fleetPlace([OLD, NEW, LOCAL]);
    await startFlux(place, context);
    const job = [
      '--chart',
      'agent-job',
      '--cache',
      'pvc',
      '--cache-storage-class',
      'kwok-volume',
      '--cache-access-mode',
      'ReadWriteMany',
      ...FLAGS,
      ...RENAMED,
    ];
    for (const {version} of [OLD, NEW]) {
      place.exportFiles('flux', ...job, '--chart-version', version);
      await applied(place);
      await until(`${version} is ready`, () => isReady(place, version, 'fleet'));
    }
    expect(
      await place.kubectl('get', 'crd', 'agenttasktemplates.scalr.io', '-o', 'name'),
    ).toContain('agenttasktemplates');
    const claims = await place.kubectl('get', 'pvc', '-o', 'yaml');
    expect(claims).toContain('helm.sh/resource-policy: keep');
    await place.kubectl('delete', 'helmrelease', 'fleet');
    expect(await place.kubectl('get', 'pvc', '-o', 'name')).not.toBe('');

    place.exportFiles('flux', '--chart', 'agent-local', '--autoscaled', ...FLAGS);
    await applied(place);
    await until('the release is ready', () => isReady(place, LOCAL.version));
    await place.kubectl('scale', 'deployment/scalr-agent-agent-local', '--replicas', '3');
    place.exportFiles('flux', '--chart', 'agent-local', '--autoscaled', '--debug', ...FLAGS);
    await applied(place);
    await until('the values have changed', async () =>
      (await place.kubectl('get', 'deployments', '-o', 'yaml')).includes('SCALR_AGENT_DEBUG'),
    );
    expect(
      await place.kubectl(
        'get',
        'deployment/scalr-agent-agent-local',
        '-o',
        'jsonpath={.spec.replicas}',
      ),
    ).toBe('3');
  },
);

test('External Secrets and a cluster overlay are merged by kustomize', async () => {
  const place = await fleetPlace([LOCAL]);
  writeFileSync(
    join(place.cwd, 'answers.yaml'),
    'url: https://acme.scalr.io\nchart: agent-job\nnode-selector: {team: a}\n',
  );
  mkdirSync(join(place.cwd, 'clusters'));
  writeFileSync(join(place.cwd, 'clusters/default.yaml'), 'node-selector: {disk: ssd}\n');
  place.exportFiles(
    'flux',
    '--answers',
    'answers.yaml',
    '--overlay',
    'clusters',
    '--secret-store',
    'vault',
  );
  const objects = comparable(
    (await place.run('kubectl', ['kustomize', 'clusters/default'])).stdout,
    place.namespace,
  );
  const found = (kind: string) => objects.find((each) => each.kind === kind);
  expect(found('ExternalSecret')).toMatchObject({
    spec: {data: [{remoteRef: {key: 'scalr-agent/default'}}]},
  });
  expect(found('HelmRelease')).toMatchObject({
    spec: {timeout: '16m', values: {task: {nodeSelector: {disk: 'ssd'}}}},
  });
  expect(found('Namespace')).toMatchObject({metadata: {labels: {'scalr-agent/ring': 'all'}}});
});
