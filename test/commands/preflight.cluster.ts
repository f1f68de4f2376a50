import {once} from 'node:events';
import {cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {type AddressInfo, createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, describe, expect, test} from 'vitest';
import {parse, stringify} from 'yaml';
import type {CheckDocument} from '../../src/checks/preflight/checks/check.ts';
import {kubernetesClient} from '../../src/cluster/kubernetes/connect.ts';
import {argumentsOf} from '../../src/ground/call-arguments.ts';
import {nodeProcesses} from '../../src/ground/system/node-processes.ts';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {accountWith} from '../control-plane/accounts.ts';
import {faultyApi} from '../control-plane/faulty-api.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import {type Workplace, workplace} from '../control-plane/workplace.ts';

import {rolesIn} from '../support/commands-in.ts';
import {chartFlags, TOKEN} from '../support/install-place.ts';
import {violations} from '../support/output-schema.ts';
import {install, preflight} from '../support/run-on-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));

const helms = await findHelmMatrix();
const [{path: anyHelm} = {path: 'helm'}] = helms;
const LOCAL = await chartFlags('agent-local');
/** The checks of the account, the tools and the namespace: the nodes of the test cluster are another matter. */
const OURS = [
  'helm-version',
  'kubectl-version',
  'cluster-reachable',
  'permissions',
  'permissions-optional',
];
const ALSO = ['chart-renders', 'namespace', 'object-names', 'quota', 'admission', 'secrets'];

type Outcomes = Record<string, Pick<CheckDocument, 'status' | 'message' | 'remedy'>>;

/** What each check says, and how the program ends. */
async function outcomes(
  kubeTarget: Pick<Workplace, 'kubeconfig' | 'namespace'>,
  argv: readonly string[],
  {helm = anyHelm, env = {}} = {},
) {
  const start = Date.now();
  const {stdout, exit, stderr} = await preflight(kubeTarget, helm, [...argv, '--json'], {env});
  expect(violations('preflight', stdout), stdout).toEqual([]);
  const {checks, facts} = JSON.parse(stdout) as {checks: CheckDocument[]; facts: object};
  const by = Object.fromEntries(checks.map((each) => [each.id, each])) as Outcomes;
  return {by, facts, exit, said: stdout + stderr, seconds: (Date.now() - start) / 1000};
}
const statuses = (by: Outcomes, ids: readonly string[]) =>
  Object.fromEntries(ids.map((id) => [id, by[id]?.status]));
const all = (ids: readonly string[], status: CheckDocument['status']) =>
  Object.fromEntries(ids.map((id) => [id, status]));

describe.each(helms)('with Helm $major', ({path: helm}) => {
  test.each([
    'agent-local',
    'agent-k8s',
    'agent-job',
  ] as const)('passes for an administrator who installs %s', async (chart) => {
    const place = await workplace();
    await place.kubectl(
      'create',
      'secret',
      'generic',
      'scalr-agent-token',
      '--from-literal=token=x',
    );
    const {by, facts, said} = await outcomes(place, await chartFlags(chart), {helm});
    expect(said).not.toContain('requires Kubernetes 1.35 or newer');
    expect(statuses(by, [...OURS, 'chart-renders', 'namespace', 'secrets'])).toEqual(
      all([...OURS, 'chart-renders', 'namespace', 'secrets'], 'pass'),
    );
    expect(facts).toMatchObject({versions: {server: {value: expect.stringMatching(/^v1\./)}}});
  });

  test('fails when the chart does not exist, and still reports the checks that do not need it', async () => {
    const place = await workplace();
    const {by, exit} = await outcomes(
      place,
      ['--chart', 'agent-local', '--chart-source', join(scratch, 'nothing')],
      {helm, env: TOKEN},
    );
    expect(exit).toBe(3);
    expect(by['chart-renders']).toMatchObject({
      status: 'fail',
      remedy: expect.stringContaining('--chart-source'),
    });
    const seen = OURS.slice(0, 3);
    const unseen = [...OURS.slice(3), 'admission', 'object-names'];
    expect(statuses(by, [...seen, ...unseen])).toEqual({
      ...all(seen, 'pass'),
      ...all(unseen, 'skip'),
    });
  });
});

test('prints problems first, counts passed checks and hides the token', async () => {
  const existing = await workplace();
  const place = {...existing, namespace: `${existing.namespace}-new`};
  const said = async (...argv: string[]) => {
    const {stdout, stderr} = await preflight(place, anyHelm, [...LOCAL, ...argv], {env: TOKEN});
    expect(stdout + stderr).not.toContain('hunter2');
    return stdout;
  };
  const counts = String.raw`\d errors?, \d+ warnings?, \d+ not checked, \d+ passed`;
  expect(await said()).toMatch(
    new RegExp(
      String.raw`^  ! token  Agent pool token: [^✓]*\n\nNot checked\n  \? [^✓]*\n\n${counts} \(use --verbose to list them\)\n$`,
    ),
  );
  expect(await said('--verbose')).toMatch(
    new RegExp(
      String.raw`^  ! [\s\S]*\nTools\n  ✓ Helm version: helm \d[\s\S]*\nPermissions\n  ✓ [\s\S]*${counts}\n$`,
    ),
  );
  expect(await said('--quiet')).toMatch(
    /^ {2}! token {2}Agent pool token: .*\n {4}→ .*\n {4}https:\/\/\S*\n$/,
  );
});

test('takes missing settings from the cluster with --from-cluster', async () => {
  const {by, exit} = await outcomes(await workplace(), [...LOCAL, '--from-cluster'], {env: TOKEN});
  expect(statuses(by, OURS)).toEqual(all(OURS, 'pass'));
  expect(exit).toBe(0);
});

test('fails on a warning with --strict', async () => {
  const argv = [...LOCAL, '--token-secret-key', 'other'];
  const {by, exit} = await outcomes(await workplace(), argv, {env: TOKEN});
  const failed = Object.values(by).some(({status}) => status === 'fail');
  expect(by['token']?.status).toBe('warn');
  expect(exit).toBe(failed ? 3 : 0);
  expect((await outcomes(await workplace(), [...argv, '--strict'], {env: TOKEN})).exit).toBe(
    failed ? 3 : 4,
  );
});

test('lists all missing permissions of a read-only account, and skips what it cannot read', async () => {
  const place = await workplace();
  const kubeconfig = await accountWith('view', place);
  const {by, exit} = await outcomes({...place, kubeconfig}, LOCAL);
  expect(exit).toBe(3);
  const {message = '', remedy = ''} = by['permissions'] ?? {};
  expect(message).toContain(`create, patch deployments.apps in ${place.namespace}`);
  expect(message).toContain(
    `get, list, create, update, patch, delete secrets in ${place.namespace}`,
  );
  expect(remedy).toMatch(/kind: Role\n[\s\S]*\[secrets\]/);
  expect(by['permissions-optional']).toMatchObject({
    status: 'warn',
    message: expect.stringContaining('list nodes cluster-wide'),
  });
  expect(statuses(by, ['secrets', 'namespace', 'cluster-reachable'])).toEqual({
    secrets: 'skip',
    namespace: 'pass',
    'cluster-reachable': 'pass',
  });
});

const RULES = [
  {
    apiGroups: [''],
    resources: ['namespaces', 'events', 'pods', 'pods/log', 'persistentvolumeclaims'],
    verbs: ['get', 'list'],
  },
  {apiGroups: [''], resources: ['secrets'], verbs: ['*']},
  {
    apiGroups: ['apps', 'batch'],
    resources: ['deployments', 'statefulsets', 'daemonsets', 'replicasets', 'jobs'],
    verbs: ['get', 'list'],
  },
];

test('names a single missing permission and suggests a role that grants it', async () => {
  const place = await workplace();
  const most = [
    ...RULES,
    {apiGroups: ['apps'], resources: ['deployments'], verbs: ['create', 'delete']},
  ];
  const kubeconfig = await accountWith(most, place);
  const {by} = await outcomes({...place, kubeconfig}, LOCAL, {env: TOKEN});
  expect(by['permissions']).toMatchObject({
    status: 'fail',
    message: expect.stringMatching(
      /^1 of \d+ permissions missing: patch deployments\.apps in test-\w+$/,
    ),
  });
  await applyGrant(by['permissions']?.remedy, place);
  // The API server hears of a role a moment after it was made.
  const again = async () =>
    (await outcomes({...place, kubeconfig}, LOCAL, {env: TOKEN})).by['permissions'];
  await expect.poll(again).toMatchObject({status: 'pass'});
});

/** The YAML of a remedy, applied by the administrator of the cluster. */
async function applyGrant(remedy = '', {kubectl}: Workplace): Promise<void> {
  await kubectl.apply(...rolesIn(remedy));
}

test('suggests roles that neither another chart, nor another account replaces', async () => {
  const place = await workplace();
  const other = await workplace();
  const kubeconfig = await accountWith(RULES, place);
  const others = await accountWith(RULES, other);
  const job = await chartFlags('agent-job');
  const mine = {...place, kubeconfig};
  const remedyOf = async (
    where: typeof mine,
    flags: readonly string[],
  ): Promise<string | undefined> =>
    (await outcomes(where, flags, {env: TOKEN})).by['permissions']?.remedy;
  const desired = [
    [place, LOCAL, await remedyOf(mine, LOCAL)],
    [place, job, await remedyOf(mine, job)],
    [other, job, await remedyOf({...other, kubeconfig: others}, job)],
  ] as const;
  // Twice, and those of the other team last.
  for (const [where, , remedy] of [...desired, ...desired]) await applyGrant(remedy, where);
  for (const [where, flags] of [
    [mine, LOCAL],
    [mine, job],
    [{...other, kubeconfig: others}, job],
  ] as const)
    await expect
      .poll(async () => (await outcomes(where, flags, {env: TOKEN})).by['permissions'])
      .toMatchObject({status: 'pass'});
});

test('requires the permissions of a role from the account that creates it', async () => {
  const place = await workplace();
  const kubeconfig = await accountWith('edit', place);
  const {by} = await outcomes({...place, kubeconfig}, await chartFlags('agent-job'), {env: TOKEN});
  expect(by['permissions']).toMatchObject({
    status: 'fail',
    message: expect.stringMatching(
      /customresourcedefinitions\.apiextensions\.k8s\.io[^;]* cluster-wide/,
    ),
  });
});

test('reports a Secret without the key and a missing Secret', async () => {
  const place = await workplace();
  await place.kubectl('create', 'secret', 'generic', 'scalr-agent-token', '--from-literal=tokne=x');
  const {by, exit} = await outcomes(place, [
    ...LOCAL,
    '--ca-secret',
    'ca',
    '--image-pull-secret',
    'pull',
  ]);
  expect(exit).toBe(3);
  expect(by['secrets']?.message).toContain('has no key token (existing keys: tokne)');
  expect(by['secrets']?.message).toContain('Secret ca not found');
  expect(by['pull-secrets']).toMatchObject({
    status: 'fail',
    message: expect.stringContaining('Secret pull not found'),
  });
});

test('fails when Pod Security rejects the pods of the chart', async () => {
  const place = await workplace({'pod-security.kubernetes.io/enforce': 'baseline'});
  const {by} = await outcomes(place, [...(await chartFlags('agent-k8s')), '--cloud', 'gke'], {
    env: TOKEN,
  });
  expect(by['admission']).toMatchObject({
    status: 'fail',
    message: expect.stringContaining('violates PodSecurity "baseline:latest": hostPath volume'),
  });
});

test('checks the objects of a newer chart when helm refuses it on this server', async () => {
  const place = await workplace();
  const chart = join(scratch, place.namespace);
  cpSync(LOCAL.at(-1) as string, chart, {recursive: true});
  const file = join(chart, 'Chart.yaml');
  writeFileSync(file, stringify({...parse(readFileSync(file, 'utf8')), kubeVersion: '>=1.99.0-0'}));
  const {by, exit} = await outcomes(place, ['--chart', 'agent-local', '--chart-source', chart], {
    env: TOKEN,
  });
  expect(exit).toBe(3);
  expect(by['chart-renders']).toMatchObject({
    status: 'fail',
    message: expect.stringContaining('requires kubeVersion: >=1.99.0-0'),
  });
  expect(statuses(by, [...OURS, 'object-names'])).toEqual(all([...OURS, 'object-names'], 'pass'));
  expect(by['permissions']?.message).not.toContain('not rendered');
});

test('reports all other checks when helm is missing', async () => {
  const place = await workplace();
  const {by, exit} = await outcomes(place, LOCAL, {helm: join(scratch, 'no-helm'), env: TOKEN});
  expect(exit).toBe(3);
  expect(
    statuses(by, [
      'helm-version',
      'chart-renders',
      'kubectl-version',
      'permissions',
      'namespace',
      'secrets',
    ]),
  ).toEqual({
    'helm-version': 'fail',
    'chart-renders': 'skip',
    'kubectl-version': 'pass',
    permissions: 'skip',
    namespace: 'pass',
    secrets: 'pass',
  });
});

describe('API server faults', () => {
  const UNSEEN = ['permissions', 'permissions-optional', 'namespace'];

  /** The same account at another address. */
  function at(server: string, kubeconfig: string): string {
    const config = parse(readFileSync(kubeconfig, 'utf8'));
    config.clusters[0].cluster.server = server;
    const path = join(scratch, `${new URL(server).port}.yaml`);
    writeFileSync(path, stringify(config), {mode: 0o600});
    return path;
  }

  const expectNothingSeen = (
    {by, exit, seconds}: Awaited<ReturnType<typeof outcomes>>,
    longest: number,
  ): void => {
    expect(exit).toBe(3);
    expect(by['cluster-reachable']?.status).toBe('fail');
    expect(statuses(by, [...UNSEEN, 'chart-renders', 'helm-version'])).toEqual({
      ...all(UNSEEN, 'skip'),
      'chart-renders': 'pass',
      'helm-version': 'pass',
    });
    expect(seconds).toBeLessThan(longest);
  };

  test('skips what needs the cluster when the API server refuses connections', async () => {
    const place = await workplace();
    expectNothingSeen(
      await outcomes({...place, kubeconfig: at('https://127.0.0.1:1', place.kubeconfig)}, LOCAL, {
        env: TOKEN,
      }),
      60,
    );
  });

  test.each([
    [[], 60],
    [['--timeout', '7s'], 45],
  ] as const)('skips what needs the cluster in time when the API server never answers (%j)', async (more, longest) => {
    const place = await workplace();
    const silent = createServer((socket) => void socket.on('error', () => undefined));
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const kubeconfig = at(
      `https://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      place.kubeconfig,
    );
    try {
      expectNothingSeen(
        await outcomes({...place, kubeconfig}, [...LOCAL, ...more], {env: TOKEN}),
        longest,
      );
    } finally {
      silent.close();
    }
  });

  test('retries when the API server fails once', async () => {
    const place = await workplace();
    const api = await faultyApi(place.kubeconfig);
    const faults = [
      api.inject('GET', /^\/version/, {status: 503}, 1),
      api.inject('POST', /selfsubjectaccessreviews/, {status: 500}, 1),
      api.inject('GET', /\/secrets\/scalr-agent-token/, {status: 429, retryAfter: 1}, 1),
    ];
    const {by} = await outcomes({...place, kubeconfig: api.kubeconfig}, LOCAL, {env: TOKEN});
    expect(faults.map((each) => each.count())).toEqual([1, 1, 1]);
    expect(statuses(by, [...OURS, ...ALSO])).toEqual(all([...OURS, ...ALSO], 'pass'));
  });

  test('reports the results so far within the timeout when the API server stops answering', async () => {
    const place = await workplace();
    const api = await faultyApi(place.kubeconfig);
    api.inject('POST', /selfsubjectaccessreviews/, 'stall');
    const {by, seconds} = await outcomes(
      {...place, kubeconfig: api.kubeconfig},
      [...LOCAL, '--timeout', '12s'],
      {env: TOKEN},
    );
    expect(by['permissions']?.status).toBe('skip');
    expect(statuses(by, ['cluster-reachable', 'namespace', 'secrets'])).toEqual(
      all(['cluster-reachable', 'namespace', 'secrets'], 'pass'),
    );
    expect(seconds).toBeLessThan(90);
  });
});

describe('install', () => {
  test('refuses to start when a check fails, and with --skip-preflight when the API server does', async () => {
    const place = await workplace({'pod-security.kubernetes.io/enforce': 'baseline'});
    const argv = [
      ...(await chartFlags('agent-k8s')),
      '--data-home',
      `/var/lib/${place.namespace}`,
      '--yes',
      '--json',
      '--no-wait',
    ];
    const {stdout, exit} = await install(place, anyHelm, argv, {env: TOKEN});
    const {error} = JSON.parse(stdout);
    expect({exit, code: error.code}).toEqual({exit: 3, code: 'PREFLIGHT_FAILED'});
    expect(error.message).toMatch(
      /Nothing was changed[\s\S]*× admission {2}Admission control: .*hostPath/,
    );
    expect(error.suggestions.join()).toContain(`kubectl label namespace ${place.namespace}`);
    expect(await place.kubectl('get', 'secrets', '--output', 'name')).toBe('');
    // The API server itself does not accept pods that the namespace rejects.
    const skipped = await install(place, anyHelm, [...argv, '--skip-preflight'], {env: TOKEN});
    expect(JSON.parse(skipped.stdout).error.message).toContain(
      'The API server rejected the plan. Nothing was changed.',
    );
  });

  test('prints warnings, and sends no access reviews when nothing is to be done', async () => {
    const place = await workplace();
    // Nothing is left for the cluster to answer either.
    const argv = [
      ...LOCAL,
      '--cloud',
      'other',
      '--node-os',
      'other',
      '--yes',
      '--json',
      '--no-wait',
    ];
    const calls: string[] = [];
    const kubectl = await findKubectl();
    const processes = () => {
      const real = nodeProcesses({helm: anyHelm, kubectl});
      return {
        ...real,
        run: (...[call, options]: Parameters<typeof real.run>) => {
          calls.push(argumentsOf(call).join(' '));
          return real.run(call, options);
        },
      };
    };
    const reviews: string[] = [];
    const kubernetes = async (...where: Parameters<typeof kubernetesClient>) => {
      const real = kubernetesClient(...where);
      return {
        ...real,
        post: (...[path, ...rest]: Parameters<typeof real.post>) => {
          reviews.push(path);
          return real.post(path, ...rest);
        },
      };
    };
    const first = await install(place, anyHelm, argv, {env: TOKEN, processes, kubernetes});
    expect(first.stderr).toContain(
      '  ! token  Agent pool token: The token is not a Scalr agent pool token',
    );
    expect(reviews.length).toBeGreaterThan(0);
    [calls.length, reviews.length] = [0, 0];
    const second = await install(place, anyHelm, argv, {env: TOKEN, processes, kubernetes});
    expect(JSON.parse(second.stdout)).toMatchObject({changed: false});
    expect({calls: calls.length < 10, reviews}).toEqual({calls: true, reviews: []});
  });
});
