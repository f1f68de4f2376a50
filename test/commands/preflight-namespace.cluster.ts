import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import {parseAllDocuments} from 'yaml';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import type {CheckDocument} from '../../src/checks/preflight/checks/check.ts';
import {podSpecs} from '../../src/cluster/kubernetes/pod-specs.ts';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import {type Workplace, workplace} from '../control-plane/workplace.ts';
import {chartFlags, installPlace, TOKEN} from '../support/install-place.ts';
import {install, preflight} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelmMatrix();
const QUIET = ['--cloud', 'other', '--node-os', 'other', '--yes', '--json'];

async function check(
  id: string,
  place: Workplace,
  argv: readonly string[],
): Promise<CheckDocument> {
  const {stdout} = await preflight(place, helm, [...argv, '--json'], {env: TOKEN});
  return (JSON.parse(stdout) as {checks: CheckDocument[]}).checks.find(
    (each) => each.id === id,
  ) as CheckDocument;
}

/** The arguments that a remedy names, as a shell would split them. */
async function optionsIn(remedy = ''): Promise<string[]> {
  const line = remedy.split('\n').find((each) => /(^|Use )--/.test(each)) ?? '';
  const options = line.replace(/^Use /, '').replace(/\. Or .*$/, '');
  return (await execa('sh', ['-c', `printf '%s\\n' ${options}`])).stdout.split('\n');
}

async function obey({kubeconfig}: Workplace, remedy = ''): Promise<void> {
  const kubectl = await findKubectl();
  for (const line of remedy.split('\n').filter((each) => each.startsWith('kubectl ')))
    await execa('sh', ['-c', `kubectl() { '${kubectl}' "$@"; }; ${line}`], {
      env: {KUBECONFIG: kubeconfig},
    });
}

/** What the API server says to a pod of every template in the release, the templates of runs included. */
async function admit(place: Workplace): Promise<string> {
  const manifest = await execa(helm, [
    'get',
    'manifest',
    'scalr-agent',
    '--namespace',
    place.namespace,
    '--kubeconfig',
    place.kubeconfig,
  ]);
  const pods = parseAllDocuments(manifest.stdout)
    .flatMap((each) => podSpecs(each.toJS()))
    .map((spec, index) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {name: `try-${index}`},
      spec,
    }));
  const argv = [
    '--kubeconfig',
    place.kubeconfig,
    '--namespace',
    place.namespace,
    'create',
    '--dry-run=server',
    '-f',
    '-',
  ];
  const input = JSON.stringify({apiVersion: 'v1', kind: 'List', items: pods});
  const {exitCode, stderr} = await execa(await findKubectl(), argv, {input, reject: false});
  return exitCode === 0 ? 'admitted' : stderr;
}

const waiting = async (place: Workplace): Promise<string> =>
  place.kubectl(
    'get',
    'replicasets',
    '--output',
    'jsonpath={.items[*].status.conditions[*].message}',
  );

describe('Pod Security restricted', () => {
  test.each([
    'agent-local',
    'agent-job',
  ] as const)('suggests options for %s that the API server admits', async (chart: ChartName) => {
    const place = await installPlace();
    await place.kubectl(
      'label',
      'namespace',
      place.namespace,
      'pod-security.kubernetes.io/enforce=restricted',
    );
    const flags = await chartFlags(chart);
    const refused = await check('admission', place, flags);
    expect(refused).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('allowPrivilegeEscalation'),
    });
    expect(refused.remedy).not.toContain('kubectl label');
    const options = await optionsIn(refused.remedy);
    expect(await check('admission', place, [...flags, ...options])).toMatchObject({
      status: 'pass',
    });
    expect(
      await install(place, helm, [...flags, ...options, ...QUIET], {env: TOKEN}),
    ).toMatchObject({exit: 0});
    expect(await admit(place)).toBe('admitted');
  });

  test('suggests another chart instead of agent-k8s', async () => {
    const place = await workplace({'pod-security.kubernetes.io/enforce': 'restricted'});
    const {status, remedy} = await check('admission', place, [
      ...(await chartFlags('agent-k8s')),
      '--cloud',
      'other',
    ]);
    expect({status, remedy}).toMatchObject({
      status: 'fail',
      remedy: expect.stringContaining('--chart agent-local'),
    });
  });
});

describe('ResourceQuota and LimitRange', () => {
  const quota = (hard: Record<string, string>, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: {name: 'team'},
    spec: {hard, ...more},
  });
  const limits = (...items: object[]) => ({
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: {name: 'team'},
    spec: {limits: items},
  });

  test('fails before the install when the quota has no room for all replicas', async () => {
    const place = await installPlace();
    const local = await chartFlags('agent-local');
    await place.kubectl.apply(
      quota({
        'requests.cpu': '2500m',
        'limits.cpu': '100',
        'requests.memory': '10Gi',
        'limits.memory': '100Gi',
      }),
    );
    const flags = [...local, '--concurrency', '3'];
    expect(await check('quota', place, [...local, '--concurrency', '2'])).toMatchObject({
      status: 'pass',
    });
    const found = await check('quota', place, flags);
    expect(found).toMatchObject({
      status: 'fail',
      message: 'team has 2500m of 2500m requests.cpu left, required: 3 for 3 concurrent runs',
      remedy: expect.stringMatching(
        /^Use --concurrency 2, or increase the quota:\nkubectl patch resourcequota team /,
      ),
    });
    const refused = await install(place, helm, [...flags, ...QUIET], {env: TOKEN});
    expect(refused.exit).toBe(3);
    expect(await place.kubectl('get', 'secrets', '--output', 'name')).toBe('');
    // What would have come: a pod that the quota refuses.
    await install(place, helm, [...flags, ...QUIET, '--skip-preflight', '--no-wait'], {env: TOKEN});
    await expect.poll(() => waiting(place)).toContain('exceeded quota: team');
    // The pods of the release itself are not counted twice.
    expect(await check('quota', place, [...local, '--concurrency', '2'])).toMatchObject({
      status: 'pass',
    });
    await obey(place, (await check('quota', place, flags)).remedy);
    expect(await check('quota', place, flags)).toMatchObject({status: 'pass'});
    await place.kubectl('rollout', 'restart', 'deployment');
    const {exit, stdout, stderr} = await install(place, helm, [...flags, ...QUIET], {env: TOKEN});
    expect(exit, stdout + stderr).toBe(0);
  });

  test('warns before a rolling update that needs one more pod than the quota allows', async () => {
    const place = await installPlace();
    const local = await chartFlags('agent-local');
    await place.kubectl.apply(
      quota({
        'requests.cpu': '1500m',
        'limits.cpu': '100',
        'requests.memory': '10Gi',
        'limits.memory': '100Gi',
      }),
    );
    expect(await check('quota', place, local)).toMatchObject({status: 'pass'});
    expect(await install(place, helm, [...local, ...QUIET], {env: TOKEN})).toMatchObject({exit: 0});
    const found = await check('quota', place, local);
    expect(found).toMatchObject({
      status: 'warn',
      message:
        'A rolling update starts new pods before it stops old ones: team has 1500m of 1500m requests.cpu left, required: 2',
      remedy: expect.stringMatching(
        /^Stop old pods first with --set strategy\.type=Recreate, or increase the quota:\nkubectl patch /,
      ),
    });
    const changed = [...local, '--set', 'podAnnotations.team=a', ...QUIET];
    // What would come: the new pod is refused, and the old one stays.
    await install(place, helm, [...changed, '--no-wait'], {env: TOKEN});
    await expect.poll(() => waiting(place)).toContain('exceeded quota: team');
    await obey(place, found.remedy);
    expect(await check('quota', place, local)).toMatchObject({status: 'pass'});
    await place.kubectl('rollout', 'restart', 'deployment');
    expect(await install(place, helm, changed, {env: TOKEN})).toMatchObject({exit: 0});
  });

  test('suggests options that work when a quota requires limits and pods have none', async () => {
    const place = await installPlace();
    const job = await chartFlags('agent-job');
    await place.kubectl.apply(
      quota({'limits.memory': '64Gi', pods: '20', 'count/jobs.batch': '3'}),
    );
    const found = await check('admission', place, job);
    expect(found).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('failed quota: team: must specify limits.memory for: '),
    });
    const options = await optionsIn(found.remedy);
    expect(await check('admission', place, [...job, ...options])).toMatchObject({status: 'pass'});
    expect(await check('quota', place, [...job, ...options, '--concurrency', '4'])).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('3 of 3 count/jobs.batch left, required: 4'),
    });
    expect(await install(place, helm, [...job, ...options, ...QUIET], {env: TOKEN})).toMatchObject({
      exit: 0,
    });
    expect(await admit(place)).toBe('admitted');
  });

  test('reports PVCs and storage that exceed the quota or the LimitRange', async () => {
    const place = await workplace();
    const flags = [...(await chartFlags('agent-local')), '--cache', 'pvc', '--cache-size', '30Gi'];
    await place.kubectl.apply(quota({'requests.storage': '20Gi', persistentvolumeclaims: '0'}));
    const {status, message, remedy} = await check('quota', place, flags);
    expect({status, message}).toEqual({
      status: 'fail',
      message:
        'team has 0 of 0 persistentvolumeclaims left, required: 1; team has 20Gi of 20Gi requests.storage left, required: 30Gi',
    });
    await obey(place, remedy);
    expect(await check('quota', place, flags)).toMatchObject({status: 'pass'});
    await place.kubectl.apply(limits({type: 'PersistentVolumeClaim', max: {storage: '10Gi'}}));
    const found = await check('admission', place, flags);
    expect(found).toMatchObject({
      status: 'fail',
      message: expect.stringContaining(
        'maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 30Gi',
      ),
    });
    expect(
      await check('admission', place, [...flags.slice(0, -2), ...(await optionsIn(found.remedy))]),
    ).toMatchObject({status: 'pass'});
  });

  test.each([
    ['max', {type: 'Container', max: {cpu: '2', memory: '1Gi'}}],
    ['min', {type: 'Container', min: {cpu: '1500m', memory: '64Mi'}}],
    ['max per pod', {type: 'Pod', max: {memory: '512Mi'}}],
  ])('agrees with the API server on a LimitRange with %s, before and after the suggested options', async (_, item) => {
    const place = await installPlace();
    const local = await chartFlags('agent-local');
    await place.kubectl.apply(limits(item));
    const found = await check('admission', place, local);
    expect(found.status).toBe('fail');
    const refused = await install(
      place,
      helm,
      [...local, ...QUIET, '--skip-preflight', '--no-wait'],
      {env: TOKEN},
    );
    expect(refused.exit).toBe(1);
    expect(refused.stdout + refused.stderr).toMatch(/× Pod of Deployment .* is forbidden/);
    const options = await optionsIn(found.remedy);
    expect(await check('admission', place, [...local, ...options])).toMatchObject({
      status: 'pass',
    });
    expect(
      await install(place, helm, [...local, ...options, ...QUIET], {env: TOKEN}),
    ).toMatchObject({exit: 0});
    expect(await admit(place)).toBe('admitted');
  });
});
