import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {gunzipSync, gzipSync} from 'node:zlib';
import {execa} from 'execa';
import {afterAll, describe, expect, test} from 'vitest';
import {findHelm, findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {accountWith} from '../control-plane/accounts.ts';
import {until} from '../control-plane/api.ts';
import {setLogs} from '../control-plane/logs.ts';
import {type Workplace, workplace} from '../control-plane/workplace.ts';
import {rolesIn} from '../support/commands-in.ts';
import {chartFlags, installPlace, stepFlags, TOKEN} from '../support/install-place.ts';
import {violations} from '../support/output-schema.ts';
import {install, status, uninstall, upgrade} from '../support/run-on-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));

const helms = await findHelmMatrix();
const [first = {path: 'helm'}] = helms;
const LOCAL = await chartFlags('agent-local');
const SOURCE = LOCAL.at(-1) as string;
const OUTCOME = 'podAnnotations.test\\.scalr\\.io/outcome';
const DEPLOYMENT = 'scalr-agent-agent-local';

async function installed(helm: string, ...more: readonly string[]): Promise<Workplace> {
  const place = await installPlace();
  const {exit, stderr} = await install(place, helm, [...LOCAL, '--yes', ...more], {env: TOKEN});
  expect(exit, stderr).toBe(0);
  return place;
}

/** Helm by hand, with what was given before. */
const upgradeByHand = (
  helm: string,
  {namespace, kubeconfig}: Workplace,
  ...more: readonly string[]
) =>
  execa(
    helm,
    [
      'upgrade',
      'scalr-agent',
      SOURCE,
      '--reuse-values',
      '--namespace',
      namespace,
      '--kubeconfig',
      kubeconfig,
      ...more,
    ],
    {
      reject: false,
    },
  );

async function document(
  kubeTarget: Pick<Workplace, 'kubeconfig' | 'namespace'>,
  helm: string,
  ...argv: readonly string[]
) {
  const {stdout, exit} = await status(kubeTarget, helm, [...argv, '--json']);
  const found = JSON.parse(stdout);
  if (found.error === undefined) expect(violations('status', stdout)).toEqual([]);
  return {...found, exit};
}

describe.each(helms)('with Helm $major', ({path: helm}) => {
  test('prints a healthy release on a small screen', async () => {
    const place = await installed(helm);
    const {stdout, exit} = await status(place, helm, [], {
      resultScreen: {hasColor: false, columns: 80},
    });
    expect(exit, stdout).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toBe(`✓ Release scalr-agent in namespace ${place.namespace} is ready`);
    expect(lines.length).toBeLessThan(24);
    expect(Math.max(...lines.map(({length}) => length))).toBeLessThanOrEqual(80);
    expect(await document(place, helm)).toMatchObject({
      exit: 0,
      state: 'ready',
      helm: {status: 'deployed', revision: 1},
      chart: {name: 'agent-local', version: '0.6.5', standing: 'newest', behind: 0},
      workloads: [{object: `deployment/${DEPLOYMENT}`, state: 'ready', ready: 1, desired: 1}],
      agents: [{state: 'registered'}],
      runs: {visible: false, inFlight: []},
      causes: [],
      unread: [],
    });
  });

  test('reports a failed upgrade although the agent is running', async () => {
    const place = await installed(helm);
    expect((await upgradeByHand(helm, place, '--set', 'replicaCount=-1')).exitCode).not.toBe(0);
    const {exit, state, helm: record, causes, workloads} = await document(place, helm);
    expect({exit, state, status: record.status, revision: record.revision}).toEqual({
      exit: 1,
      state: 'not-ready',
      status: 'failed',
      revision: 2,
    });
    expect(workloads).toMatchObject([{ready: 1, desired: 1}]);
    expect(causes).toMatchObject([
      {
        subject: {object: 'release/scalr-agent'},
        code: 'RELEASE_FAILED',
        message: expect.stringContaining('spec.replicas'),
      },
    ]);
    expect(causes[0].remedies[0].text).toMatch(
      /Run install again.*scalr-agent uninstall --release scalr-agent/,
    );
  });

  test('reports a Helm process that was killed during an upgrade', async () => {
    const place = await installed(helm);
    const running = upgradeByHand(helm, place, '--wait', '--set', `${OUTCOME}=unready`);
    await until(
      'helm is at work',
      async () => (await document(place, helm)).helm.status === 'pending-upgrade',
    );
    running.kill('SIGKILL');
    await running;
    const {exit, causes} = await document(place, helm);
    expect(exit).toBe(1);
    expect(causes).toContainEqual(
      expect.objectContaining({
        code: 'RELEASE_PENDING',
        remedies: [{text: expect.stringContaining('run install again')}],
      }),
    );
  });

  test('prints differences from the files without secrets', async () => {
    const place = await installed(helm, '--log-format', 'json');
    const base = join(scratch, `base-${place.namespace}.yaml`);
    const signal = join(scratch, `over-${place.namespace}.yaml`);
    const {stdout: given} = await execa(helm, [
      'get',
      'values',
      'scalr-agent',
      '--namespace',
      place.namespace,
      '--kubeconfig',
      place.kubeconfig,
      '--output',
      'yaml',
    ]);
    // An empty map says nothing.
    writeFileSync(base, `${given}\naffinity: {}\n`);
    writeFileSync(signal, 'agent:\n  token: geheim\nreplicaCount: 3\n');
    const same = await document(place, helm, '-f', base, '--exit-code');
    expect(same).toMatchObject({exit: 0, values: {differs: false, differences: []}});
    const {stdout, exit} = await status(place, helm, [
      '--values',
      base,
      '--values',
      signal,
      '--exit-code',
    ]);
    expect(exit).toBe(5);
    expect(stdout).toMatch(
      /^✓ [\s\S]*2 differences from [\s\S]*: agent\.token, replicaCount\n[\s\S]*\n\+ {2}token: \[hidden\]\n[\s\S]*\n\+replicaCount: 3\n/,
    );
    expect(stdout).not.toContain('geheim');
    expect(await document(place, helm, '-f', base, '-f', signal)).toMatchObject({
      exit: 0,
      values: {
        differs: true,
        differences: [
          {path: 'agent.token', file: '[hidden]'},
          {path: 'replicaCount', file: 3},
        ],
      },
    });
  });

  test('reports a missing release', async () => {
    const place = await workplace();
    const none = await document(place, helm);
    expect(none.error).toMatchObject({
      code: 'RELEASE_NOT_FOUND',
      exit: 2,
      message: expect.stringContaining('Release scalr-agent not found'),
    });
    const {error} = await document({...place, namespace: 'test-of-nobody'}, helm);
    expect(error).toMatchObject({
      code: 'RELEASE_NOT_FOUND',
      message: expect.stringContaining('namespace test-of-nobody does not exist'),
    });
    expect(error.suggestions.join()).toContain(
      'scalr-agent install --release scalr-agent --namespace test-of-nobody',
    );
  });
});

test('prints causes and next steps', async () => {
  const place = await installed(first.path);
  // Helm 4 applies on the server, which refuses to change the strategy alone.
  const helm3 = (await findHelm()).at(-1)?.path ?? first.path;
  await upgradeByHand(
    helm3,
    place,
    '--set',
    `${OUTCOME}=image-pull-backoff`,
    '--set',
    'strategy.type=Recreate',
  );
  await until(
    'the image is missed',
    async () => (await document(place, first.path)).causes.length > 0,
  );
  const {stdout, stderr, exit} = await status(place, first.path);
  expect(exit).toBe(1);
  expect(stderr).toMatch(/docs\/guide\/symptoms\.md\nLogs and timeline in one page: .*inspect /);
  expect(stdout).toMatch(
    /^! Release scalr-agent .* is not ready\n[\s\S]*0 of 1 ready[\s\S]*\nCauses\n {2}! IMAGE_\w+ {2}pod\/.*ImagePullBackOff.*\n {4}→ Check/,
  );
});

test('reports only the selected one of several releases, and lists it for the others', async () => {
  const place = await installed(first.path, '--release', 'one', '--token-secret', 'shared');
  const two = ['--release', 'two', '--token-secret', 'shared', '--set', `${OUTCOME}=crash-loop`];
  await install(place, first.path, [...LOCAL, '--yes', '--no-wait', ...two], {env: TOKEN});
  expect(await document(place, first.path, '--release', 'one')).toMatchObject({
    exit: 0,
    state: 'ready',
    workloads: [{}],
    agents: [{}],
  });
  await until(
    'two is in trouble',
    async () => (await document(place, first.path, '--release', 'two')).causes.length > 0,
  );
  const {error} = await document(place, first.path);
  expect(error.suggestions).toContainEqual(
    expect.stringContaining('scalr-agent status --release two'),
  );
});

test('finds the start message of an agent behind many lines about runs', async () => {
  const place = await installed(first.path);
  const said = [
    'The agent is ready to receive tasks',
    ...Array.from({length: 200}, (_, run) => `run-${run} finished`),
  ];
  await setLogs(place.kubeconfig, {namespace: place.namespace}, {'*': {current: said}});
  expect(await document(place, first.path)).toMatchObject({
    exit: 0,
    agents: [{state: 'registered'}],
  });
});

/** The record of the release as it is while helm is at work on it. */
async function inState(place: Workplace, state: string): Promise<void> {
  const {metadata, data, ...secret} = JSON.parse(
    await place.kubectl('get', 'secret', 'sh.helm.release.v1.scalr-agent.v1', '--output', 'json'),
  );
  const release = JSON.parse(
    gunzipSync(Buffer.from(Buffer.from(data.release, 'base64').toString(), 'base64')).toString(),
  );
  release.info.status = state;
  const packed = Buffer.from(gzipSync(JSON.stringify(release)).toString('base64')).toString(
    'base64',
  );
  await place.kubectl.apply({
    ...secret,
    metadata: {...metadata, labels: {...metadata.labels, status: state}},
    data: {release: packed},
  });
}

test.each([
  ['pending-install', 'RELEASE_PENDING', /^pending-install since /, 'run install again'],
  ['pending-upgrade', 'RELEASE_PENDING', /^pending-upgrade since /, 'run install again'],
  ['pending-rollback', 'RELEASE_PENDING', /^pending-rollback since /, 'run install again'],
  [
    'uninstalling',
    'RELEASE_UNINSTALLING',
    /^uninstall started at /,
    'Finish the uninstall: scalr-agent uninstall',
  ],
])('reports a release in state %s as not ready although its agent is ready', async (state, code, reason, remedy) => {
  const place = await installed(first.path);
  await inState(place, state);
  expect(await document(place, first.path)).toMatchObject({
    exit: 1,
    state: 'not-ready',
    helm: {status: state},
    workloads: [{ready: 1}],
    causes: [
      {
        subject: {object: 'release/scalr-agent'},
        code,
        message: expect.stringMatching(reason),
        remedies: [{text: expect.stringContaining(remedy)}],
      },
    ],
  });
});

test('reports a stopped agent as not ready', async () => {
  const place = await installed(first.path);
  await place.kubectl('scale', 'deployment', '--all', '--replicas=0');
  expect(await document(place, first.path)).toMatchObject({
    exit: 1,
    state: 'not-ready',
    causes: [{code: 'STOPPED'}],
  });
  await place.kubectl('delete', 'deployment', '--all');
  expect(await document(place, first.path)).toMatchObject({
    exit: 1,
    causes: [{code: 'NO_WORKLOADS'}],
  });
});

test('rejects a release of another chart', async () => {
  const place = await workplace();
  const chart = join(scratch, 'nginx');
  await execa(first.path, ['create', chart]);
  await execa(first.path, [
    'install',
    'web',
    chart,
    '--namespace',
    place.namespace,
    '--kubeconfig',
    place.kubeconfig,
  ]);
  expect((await document(place, first.path, '--release', 'web')).error).toMatchObject({
    code: 'OBJECT_NOT_OWNED',
    exit: 2,
  });
});

test('counts runs in flight', async () => {
  const place = await installPlace();
  const argv = [
    ...(await stepFlags('agent-k8s')),
    '--set',
    'agent.kubernetes_task_labels.team=a',
    '--yes',
  ];
  expect((await install(place, first.path, argv, {env: TOKEN})).exit).toBe(0);
  expect((await document(place, first.path)).runs).toEqual({visible: true, inFlight: []});
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
  expect(await document(place, first.path)).toMatchObject({
    exit: 0,
    runs: {visible: true, inFlight: [{kind: 'Pod', name: 'run-1', certain: true}]},
  });
});

test('reports missing permissions of a namespace viewer once, and prints the workloads', async () => {
  const place = await installed(first.path);
  await place.kubectl(
    'label',
    '--overwrite',
    'deployment',
    DEPLOYMENT,
    'helm.sh/chart=agent-local-0.6.4',
  );
  const kubeconfig = await accountWith('view', place);
  const {stdout, exit} = await status({...place, kubeconfig}, first.path);
  expect(exit, stdout).toBe(0);
  expect(stdout).toMatch(
    /^✓ [\s\S]*agent-local 0\.6\.4 [\s\S]*; 1 release behind 0\.6\.5[\s\S]*1 of 1 ready[\s\S]*\nCould not be read\n {2}\? FORBIDDEN {2}Helm release: .*forbidden/,
  );
  expect(stdout.match(/forbidden/g)).toHaveLength(1);
  expect(rolesIn(stdout).map(({kind}) => kind)).toEqual([
    'Role',
    'RoleBinding',
    'ClusterRole',
    'ClusterRoleBinding',
    // Secrets
    'Role',
    'RoleBinding',
  ]);
  const values = join(scratch, 'any.yaml');
  writeFileSync(values, 'replicaCount: 1\n');
  expect(
    await document({...place, kubeconfig}, first.path, '-f', values, '--exit-code'),
  ).toMatchObject({
    exit: 1,
    state: 'ready',
    values: {differs: null},
    unread: [{code: 'FORBIDDEN'}],
  });
});

test('prints the complete roles for an account without any, also to other commands, and works once they are applied', async () => {
  const place = await installed(first.path);
  const mine = {...place, kubeconfig: await accountWith('view', place)};
  await place.kubectl('delete', 'rolebinding', '--all');
  const refusal = async () => (await document(mine, first.path)).error;
  await expect.poll(refusal).toMatchObject({code: 'FORBIDDEN', exit: 1});
  const [withoutSecrets] = (await refusal()).suggestions;
  const changes = await Promise.all(
    [upgrade, uninstall].map((command) => command(mine, first.path, ['--dry-run', '--json'])),
  );
  const [remedy, same] = changes.map(({stdout}) => JSON.parse(stdout).error.suggestions[0]);
  expect(same).toBe(remedy);
  // Both can be applied, in any order.
  expect(rolesIn(remedy)).toEqual(expect.arrayContaining(rolesIn(withoutSecrets)));
  await place.kubectl.apply(...rolesIn(remedy));
  await expect
    .poll(() => document(mine, first.path))
    .toMatchObject({exit: 0, state: 'ready', unread: []});
  const {error} = JSON.parse((await uninstall(mine, first.path, ['--dry-run', '--json'])).stdout);
  expect(error).toMatchObject({
    code: 'FORBIDDEN',
    message: expect.stringContaining('permissions for these steps'),
  });
});

test('lists all agent releases of the cluster', async () => {
  const one = await installed(first.path);
  const other = await installed(first.path, '--release', 'second');
  await other.kubectl('scale', 'deployment', '--all', '--replicas=0');
  const {stdout, exit} = await status(one, first.path, ['--all-namespaces']);
  expect(exit).toBe(1);
  const line = (namespace: string) =>
    stdout
      .split('\n')
      .find((each) => each.includes(namespace))
      ?.split(/ {3,}/);
  expect(stdout).toMatch(/^NAMESPACE +RELEASE +CHART +STATUS +READY +RUNS +CHANGED OBJECTS$/m);
  expect(line(one.namespace)).toEqual([
    one.namespace,
    'scalr-agent',
    'agent-local-0.6.5',
    'ready',
    '1/1',
    '?',
    '0',
  ]);
  expect(line(other.namespace)?.slice(1, 4)).toEqual(['second', 'agent-local-0.6.5', 'not-ready']);
  const json = await status(one, first.path, ['-A', '--json']);
  expect(violations('status', json.stdout), json.stdout).toEqual([]);
});
