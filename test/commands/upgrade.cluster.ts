import {mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, inject, test} from 'vitest';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {sleep} from '../../src/ground/async.ts';
import {directoryOf, REAL} from '../cluster/helm/charts-under-test.ts';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {type Fault, faultyApi} from '../control-plane/faulty-api.ts';
import {type Cluster, startCluster} from '../control-plane/start-cluster.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {boundClaims, type Installed, installedByHelm} from '../support/installed-by-helm.ts';
import {startProgram} from '../support/killed-run.ts';
import {violations} from '../support/output-schema.ts';
import {upgrade} from '../support/run-on-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));

const source = (chart: ChartName, version: string): Promise<string> =>
  directoryOf({chart, version}, scratch);

/** A cluster of its own, because CRDs belong to the cluster: these tests delete them, and other tests use them. */
let cluster: Cluster | undefined;
beforeAll(async () => {
  if (inject('simulated')) cluster = await startCluster();
});
afterAll(() => cluster?.stop());

/** A release of an older version. */
const installed = async (
  helm: string,
  release: string,
  chart: ChartName,
  version: string,
  set: readonly string[],
): Promise<Installed> =>
  installedByHelm(
    helm,
    release,
    {chart, version},
    await source(chart, version),
    set,
    cluster?.kubeconfig,
  );

/** Evidence is written to the current directory. */
async function inDirectory<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const before = process.cwd();
  process.chdir(directory);
  return work().finally(() => process.chdir(before));
}

const mounted = async ({kubectl}: Workplace, kind: string): Promise<string> =>
  kubectl('get', kind, '--output', 'jsonpath={..persistentVolumeClaim.claimName}');

const ids = (stdout: string): string[] => JSON.parse(stdout).steps.map(({id}: {id: string}) => id);
const helms = await findHelmMatrix();
const [{path: anyHelm} = {path: 'helm'}] = helms;

/** Of a run; it ends only when the test deletes it. */
const run = (release: string, name = 'run-1') => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: {name},
  spec: {
    template: {
      metadata: {
        labels: {'app.kubernetes.io/instance': release, 'app.kubernetes.io/component': 'task'},
        annotations: {'test.scalr.io/outcome': 'unready'},
      },
      spec: {
        restartPolicy: 'Never',
        containers: ['runner', 'worker'].map((each) => ({name: each, image: 'scalr/agent'})),
      },
    },
  },
});

const CACHE = ['persistence.cache.enabled=true'];

describe.each(helms)('with Helm $major', ({path: helm, major}) => {
  test('upgrades agent-job 0.5.67 after plain helm failed: selector, PVC and CRD change, and a run in flight ends', async () => {
    const place = await installed(helm, 'scalr-agent', 'agent-job', '0.5.67', CACHE);
    const {kubectl} = place;
    const before = await boundClaims(place);
    expect(Object.keys(before)).toEqual(['scalr-agent-agent-job-cache']);
    const volume = Object.values(before)[0] as string;
    await kubectl('annotate', 'persistentvolume', volume, 'test.scalr.io/marker=data');
    const next = await source('agent-job', '0.6.5');
    await kubectl('apply', '--server-side', '--force-conflicts', '--filename', join(next, 'crds'));
    const plain = await place.helm(
      'upgrade',
      'scalr-agent',
      next,
      '--set',
      'agent.tokenExistingSecret.name=pool',
      '--set',
      CACHE[0] as string,
    );
    expect(plain.stderr).toContain('field is immutable');
    await kubectl.apply(run('scalr-agent'));

    let looks = 0;
    const ending: typeof sleep = async (milliseconds, signal) => {
      looks += 1;
      if (looks === 1) await kubectl('delete', 'job', 'run-1', '--now');
      return sleep(milliseconds, signal);
    };
    const done = await upgrade(place, helm, ['--chart-source', next, '--yes', '--json'], {
      sleep: ending,
    });
    expect(done.exit, done.stdout + done.stderr).toBe(0);
    expect(violations('upgrade', done.stdout)).toEqual([]);
    const result = JSON.parse(done.stdout);
    expect(result).toMatchObject({
      from: {chart: 'agent-job', chartVersion: '0.5.67'},
      to: {chart: 'agent-job', chartVersion: '0.6.5', release: 'scalr-agent'},
      runsInFlight: ['Job run-1'],
      keptPersistentVolumeClaims: ['scalr-agent-agent-job-cache'],
      agent: 'registered',
    });
    expect(result.advice.map(({code}: {code: string}) => code)).toEqual(
      expect.arrayContaining([
        'CRD_RENAMED',
        'PVC_RENAMED',
        'SELECTOR_CHANGED',
        'RUNS_LOSE_TEMPLATE',
      ]),
    );
    expect(ids(done.stdout)).toEqual([
      'keep/scalr-agent-agent-job-cache',
      'definitions',
      'stop/scalr-agent',
      'drain',
      'stopped',
      'replace',
      'release',
      // The failed upgrade has created it, and Helm 3 would not update it.
      ...(major === 3 ? ['restore/scalr-agent-task-template'] : []),
    ]);
    expect(done.stderr).toContain('In flight: Job run-1');
    expect(await boundClaims(place)).toMatchObject(before);
    expect(
      await kubectl(
        'get',
        'persistentvolume',
        volume,
        '--output',
        'jsonpath={.metadata.annotations.test\\.scalr\\.io/marker}',
      ),
    ).toBe('data');
    expect(await mounted(place, 'deployments')).toBe('scalr-agent-agent-job-cache');
    expect(await mounted(place, 'agenttasktemplates')).toBe('scalr-agent-agent-job-cache');
    const again = await upgrade(place, helm, ['--chart-source', next, '--yes', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({
      changed: false,
      steps: [],
      agent: 'registered',
    });
  });

  test('keeps the PVC that plain helm deletes when agent-job 0.5.67 has another release name', async () => {
    const next = await source('agent-job', '0.6.5');
    const lost = await installed(helm, 'lost', 'agent-job', '0.5.67', CACHE);
    await lost.kubectl(
      'apply',
      '--server-side',
      '--force-conflicts',
      '--filename',
      join(next, 'crds'),
    );
    const plain = await lost.helm(
      'upgrade',
      'lost',
      next,
      '--set',
      'agent.tokenExistingSecret.name=pool',
      '--set',
      CACHE[0] as string,
    );
    expect(plain.exitCode, plain.stderr).toBe(0);
    await expect
      .poll(async () => Object.keys(await boundClaims(lost)))
      .toEqual(['lost-scalr-agent-cache']);

    const place = await installed(helm, 'prod', 'agent-job', '0.5.67', CACHE);
    const before = await boundClaims(place);
    const done = await upgrade(place, helm, [
      '--release',
      'prod',
      '--chart-source',
      next,
      '--yes',
      '--json',
    ]);
    expect(done.exit, done.stdout + done.stderr).toBe(0);
    expect(ids(done.stdout)).not.toContain('replace');
    expect(await boundClaims(place)).toEqual(before);
    expect(await mounted(place, 'deployments')).toBe('prod-agent-job-cache');
  });

  test('keeps the PVC that plain helm deletes from agent-local 0.5.74 to 0.5.75', async () => {
    const next = await source('agent-local', '0.5.75');
    const lost = await installed(helm, 'lost', 'agent-local', '0.5.74', CACHE);
    const plain = await lost.helm(
      'upgrade',
      'lost',
      next,
      '--set',
      'agent.tokenExistingSecret.name=pool',
      '--set',
      CACHE[0] as string,
    );
    expect(plain.exitCode, plain.stderr).toBe(0);
    await expect.poll(() => lost.kubectl('get', 'pvc', '--output', 'name')).toBe('');

    const place = await installed(helm, 'prod', 'agent-local', '0.5.74', CACHE);
    const before = await boundClaims(place);
    const done = await upgrade(place, helm, [
      '--release',
      'prod',
      '--chart-source',
      next,
      '--chart-version',
      '0.5.75',
      '--yes',
      '--json',
    ]);
    expect(done.exit, done.stdout + done.stderr).toBe(0);
    expect(await boundClaims(place)).toEqual(before);
    expect(await mounted(place, 'deployments')).toBe('prod-agent-local-cache');
  });

  test('rolls agent-job back to 0.5.67 by hand with the commands that the plan prints', async () => {
    const place = await installed(helm, 'scalr-agent', 'agent-job', '0.5.67', CACHE);
    const before = await boundClaims(place);
    const done = await upgrade(place, helm, [
      '--chart-source',
      await source('agent-job', '0.6.5'),
      '--yes',
    ]);
    expect(done.exit, done.stdout + done.stderr).toBe(0);
    const printed = [...done.stderr.matchAll(/^ {6}(helm|kubectl) (.*)$/gm)].map(
      ([, tool, args = '']) => ({tool, args: args.split(' ')}),
    );
    expect(printed.map(({tool, args}) => `${tool} ${args[0]}`)).toEqual([
      'kubectl delete',
      'helm rollback',
      'helm rollback',
    ]);
    const exits: number[] = [];
    for (const {tool, args} of printed) {
      if (tool === 'kubectl') await place.kubectl(...args);
      else exits.push((await place.helm(...args)).exitCode === 0 ? 0 : 1);
    }
    expect(exits).toEqual([1, 0]);
    expect(await boundClaims(place)).toEqual(before);
    expect(await mounted(place, 'deployments')).toBe('scalr-agent-agent-job-cache');
    const selector = 'jsonpath={.spec.selector.matchLabels.app\\.kubernetes\\.io/name}';
    expect(await place.kubectl('get', 'deployment', 'scalr-agent', '--output', selector)).toBe(
      'agent-job',
    );
  });

  test('rolls agent-job back to 0.5.67 with its PVC and selector when the new version does not become ready', async () => {
    const place = await installed(helm, 'scalr-agent', 'agent-job', '0.5.67', CACHE);
    const before = await boundClaims(place);
    const overlay = join(scratch, 'unready.yaml');
    const {NodeFiles} = await import('../../src/ground/system/node-files.ts');
    await new NodeFiles().write(
      overlay,
      'agent: {podAnnotations: {test.scalr.io/outcome: crash-loop}}\n',
      {isPrivate: false, flag: '--save'},
    );
    const argv = [
      '--chart-source',
      await source('agent-job', '0.6.5'),
      '--values',
      overlay,
      '--rollback-on-failure',
      '--yes',
      '--json',
    ];
    const evidence = mkdtempSync(join(scratch, 'evidence-'));
    const failed = await inDirectory(evidence, () => upgrade(place, helm, argv));
    expect(JSON.parse(failed.stdout).error).toMatchObject({
      code: 'NOT_READY',
      message: expect.stringContaining('Rolled back to revision 1.'),
    });
    const [file = ''] = readdirSync(evidence);
    expect(JSON.parse(readFileSync(join(evidence, file), 'utf8'))).toMatchObject({
      release: 'scalr-agent',
    });
    expect(await boundClaims(place)).toEqual(before);
    expect(await mounted(place, 'deployments')).toBe('scalr-agent-agent-job-cache');
    const name = await place.kubectl(
      'get',
      'deployment',
      'scalr-agent',
      '--output',
      'jsonpath={.spec.selector.matchLabels.app\\.kubernetes\\.io/name}',
    );
    expect(name).toBe('agent-job');
    const {stdout} = await place.helm('history', 'scalr-agent', '--output', 'json');
    expect(JSON.parse(stdout).at(-1)).toMatchObject({
      status: 'deployed',
      chart: 'agent-job-0.5.67',
    });
  });
});

test('starts the deployed revision again when helm fails before it creates a new revision', async () => {
  const place = await installed(anyHelm, 'prod', 'agent-job', '0.5.67', CACHE);
  const before = await boundClaims(place);
  const api = await faultyApi(place.kubeconfig);
  api.inject('POST', /\/secrets/, {status: 403}, 1);
  const argv = [
    '--release',
    'prod',
    '--chart-source',
    await source('agent-job', '0.6.5'),
    '--rollback-on-failure',
    '--yes',
    '--json',
  ];
  const failed = await inDirectory(mkdtempSync(join(scratch, 'evidence-')), () =>
    upgrade({...place, kubeconfig: api.kubeconfig}, anyHelm, argv),
  );
  expect(JSON.parse(failed.stdout).error.message).toContain('Rolled back to revision 1.');
  expect(
    await place.kubectl(
      'get',
      'deployments',
      '--output',
      'jsonpath={.items[*].metadata.name}/{.items[*].spec.replicas}',
    ),
  ).toBe('scalr-agent/1');
  expect(await boundClaims(place)).toEqual(before);
});

test('changes nothing with --dry-run, shows the diff without secrets, and exits with 5', async () => {
  const place = await installed(anyHelm, 'prod', 'agent-local', '0.5.72', [
    'extraEnv.PASSWORD=hunter3',
  ]);
  const argv = [
    '--release',
    'prod',
    '--chart-source',
    await source('agent-local', '0.6.5'),
    '--dry-run',
    '--exit-code',
  ];
  const {stdout, stderr, exit} = await upgrade(place, anyHelm, argv);
  expect(exit, stderr).toBe(5);
  expect(stdout).toContain('--- Deployment prod-agent-local');
  expect(stdout).toMatch(/\n-\s+image: "scalr\/agent-runner:/);
  expect(stdout).not.toMatch(/[-+].*helm\.sh\/chart/);
  expect(stdout).toMatch(/\nhelm upgrade prod .*--reset-values/);
  expect(stdout + stderr).not.toContain('hunter');
  expect(stderr).toContain('without aws, gcloud, az and kubectl');
  expect(stderr).toContain('--client-cert-secret');
  const history = await place.helm('history', 'prod', '--output', 'json');
  expect(JSON.parse(history.stdout)).toHaveLength(1);
});

test('asks everything before the first step, and changes nothing when the plan is declined', async () => {
  const place = await installed(anyHelm, 'prod', 'agent-job', '0.5.67', []);
  const questions: string[] = [];
  const confirm = async (question: string): Promise<boolean> => {
    questions.push(question);
    return !question.startsWith('Apply');
  };
  const argv = ['--release', 'prod', '--chart-source', await source('agent-job', '0.6.5')];
  const {stderr, exit} = await upgrade(place, anyHelm, argv, {
    hasTerminal: true,
    prompter: {confirm},
  });
  expect(exit, stderr).toBe(1);
  expect(questions).toEqual([
    'Roll back if the upgrade fails?',
    ...questions.filter(
      (each) => each === 'Delete CRD atasks.scalr.io, which only a rollback of this release uses?',
    ),
    'Apply this plan?',
  ]);
  expect(stderr).toContain('Canceled. Nothing was changed.');
  expect(
    await place.kubectl(
      'get',
      'deployment',
      'scalr-agent',
      '--output',
      'jsonpath={.spec.replicas}',
    ),
  ).toBe('1');
});

test('refuses a version that ignores the client certificate in use', async () => {
  const tls = [
    'agent.tls.clientCertSecret.name=pool',
    'agent.tls.clientCertSecret.certKey=token',
    'agent.tls.clientCertSecret.keyKey=token',
  ];
  const place = await installed(anyHelm, 'prod', 'agent-local', '0.6.5', tls);
  const argv = [
    '--release',
    'prod',
    '--chart-source',
    await source('agent-local', '0.5.75'),
    '--chart-version',
    '0.5.75',
    '--yes',
    '--json',
  ];
  const {stdout, exit} = await upgrade(place, anyHelm, argv);
  expect(exit).toBe(3);
  expect(JSON.parse(stdout).error).toMatchObject({
    code: 'UPGRADE_BLOCKED',
    message: expect.stringContaining('ignores client certificates'),
  });
});

test('interrupts no run with a drain timeout, and upgrades without waiting with --no-drain', async () => {
  const place = await installed(anyHelm, 'prod', 'agent-job', '0.5.67', []);
  await place.kubectl.apply(run('prod'));
  const argv = [
    '--release',
    'prod',
    '--chart-source',
    await source('agent-job', '0.6.5'),
    '--yes',
    '--json',
  ];
  const late = await upgrade(place, anyHelm, [...argv, '--drain-timeout', '1s']);
  expect(JSON.parse(late.stdout).error).toMatchObject({
    code: 'TIMED_OUT',
    suggestions: expect.arrayContaining([expect.stringContaining('--no-drain')]),
  });
  expect(await place.kubectl('get', 'jobs', '--output', 'name')).toBe('job.batch/run-1');
  const done = await upgrade(place, anyHelm, [...argv, '--no-drain']);
  expect(done.exit, done.stdout + done.stderr).toBe(0);
  expect(ids(done.stdout)).not.toContain('drain');
  expect(
    await place.kubectl(
      'get',
      'deployments',
      '--output',
      'jsonpath={.items[*].status.readyReplicas}',
    ),
  ).toBe('1');
});

test('replaces agent-k8s by agent-job beside it, drains the old agent, and moves a token in plain text to a Secret', async () => {
  const home = `/var/lib/${Math.random().toString(36).slice(2)}`;
  const place = await installed(
    anyHelm,
    'prod',
    'agent-k8s',
    '0.6.5',
    REAL ? [`agent.data_home=${home}`, 'agent.token=hunter2'] : [`agent.data_home=${home}`],
  );
  const argv = [
    '--release',
    'prod',
    '--chart',
    'agent-job',
    '--chart-source',
    await source('agent-job', '0.6.5'),
    '--yes',
    '--json',
  ];
  const done = await upgrade(place, anyHelm, argv);
  expect(done.exit, done.stdout + done.stderr).toBe(0);
  expect(violations('upgrade', done.stdout)).toEqual([]);
  expect(JSON.parse(done.stdout)).toMatchObject({
    to: {chart: 'agent-job', release: 'prod-job'},
    agent: 'registered',
  });
  const steps = ids(done.stdout);
  expect(steps.indexOf('release')).toBeLessThan(steps.indexOf('stop/prod-agent-k8s-controller'));
  if (REAL) expect(steps[0]).toBe('secret/scalr-agent-token');
  const {stdout} = await place.helm('list', '--output', 'json');
  expect(JSON.parse(stdout)).toMatchObject([
    {name: 'prod-job', status: 'deployed', chart: 'agent-job-0.6.5'},
  ]);
  expect(
    await place.kubectl(
      'get',
      'deployments',
      '--output',
      'jsonpath={.items[*].status.readyReplicas}',
    ),
  ).toBe('1');
  await place.helm('uninstall', 'prod-job');
});

test('lists a CRD that nothing uses after the upgrade, and deletes it with --remove-obsolete', async () => {
  const place = await installed(anyHelm, 'prod', 'agent-job', '0.5.67', []);
  const argv = [
    '--release',
    'prod',
    '--chart-source',
    await source('agent-job', '0.6.5'),
    '--yes',
    '--json',
  ];
  const crds = () => place.kubectl('get', 'crds', '--output', 'name');
  const done = await upgrade(place, anyHelm, argv);
  expect(done.exit, done.stdout + done.stderr).toBe(0);
  expect(JSON.parse(done.stdout).obsolete).toEqual(
    expect.arrayContaining([
      {
        title: 'Delete CRD atasks.scalr.io, which only a rollback of this release uses',
        how: expect.stringContaining('kubectl delete customresourcedefinition/atasks.scalr.io'),
      },
    ]),
  );
  expect(await crds()).toContain('atasks.scalr.io');
  const again = await upgrade(place, anyHelm, [...argv, '--remove-obsolete']);
  expect(JSON.parse(again.stdout)).toMatchObject({changed: false, steps: [], obsolete: []});
  expect(await crds()).not.toContain('atasks.scalr.io');
});

test('installs agent-local beside agent-job under a given name, and waits for the runs of the old agent', async () => {
  const place = await installed(anyHelm, 'prod', 'agent-job', '0.6.5', []);
  const {kubectl} = place;
  await kubectl.apply(run('prod'));
  let isReady = '';
  const ending: typeof sleep = async (milliseconds, signal) => {
    const scaled = await kubectl(
      'get',
      'deployment',
      'prod-scalr-agent',
      '--ignore-not-found',
      '--output',
      'jsonpath={.spec.replicas}',
    );
    if (scaled === '0' && isReady === '') {
      isReady = await kubectl(
        'get',
        'deployment',
        'local-agent-local',
        '--output',
        'jsonpath={.status.readyReplicas}',
      );
      await kubectl('delete', 'job', 'run-1', '--now');
    }
    return sleep(milliseconds, signal);
  };
  const argv = [
    '--release',
    'prod',
    '--chart',
    'agent-local',
    '--new-release',
    'local',
    '--yes',
    '--json',
  ];
  const {stdout, stderr, exit} = await upgrade(
    place,
    anyHelm,
    [...argv, '--chart-source', await source('agent-local', '0.6.5')],
    {
      sleep: ending,
    },
  );
  expect(exit, stdout + stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    to: {release: 'local'},
    runsInFlight: ['Job run-1'],
    agent: 'registered',
  });
  expect(stderr).toContain('In flight: Job run-1');
  expect(isReady).toBe('1');
  expect(JSON.parse((await place.helm('list', '--output', 'json')).stdout)).toMatchObject([
    {name: 'local', chart: 'agent-local-0.6.5'},
  ]);
  expect(await kubectl('get', 'secret', 'pool', '--output', 'name')).toBe('secret/pool');
});

/** The released charts have cluster roles without a namespace in their names, and other tests use the default name. */
const KILLED = REAL ? 'killed' : 'scalr-agent';

type Moment = [moment: string, method: string, path: RegExp, fault: Fault];

const MOMENTS: readonly Moment[] = [
  ['after the CRDs are applied', 'PATCH', /\/customresourcedefinitions\/(?!.*dryRun)/, 'lose'],
  ['after the PVC is annotated', 'PATCH', /\/persistentvolumeclaims\/(?!.*dryRun)/, 'lose'],
  ['after the controller is scaled to 0', 'PATCH|PUT', /\/deployments\/[^/]+\/scale/, 'lose'],
  // Only the selector of the default release name changes.
  ...(REAL
    ? []
    : [['after the Deployment is deleted', 'DELETE', /\/deployments\//, 'lose'] as Moment]),
  ['after helm has written its record', 'POST', /\/secrets/, 'lose'],
  [
    'after helm has created some of the objects',
    'POST|PATCH',
    /\/namespaces\/[^/]+\/agenttasktemplates(?!.*dryRun)/,
    'lose',
  ],
  ['while it watches the release', 'GET', /\/replicasets\?limit/, 'stall'],
];

test.each(
  MOMENTS,
)('an upgrade that is killed %s is completed by the next run, on the same volume', async (moment, method, path, fault) => {
  const place = await installed(anyHelm, KILLED, 'agent-job', '0.5.67', CACHE);
  const before = await boundClaims(place);
  const next = await source('agent-job', '0.6.5');
  const argv = ['--release', KILLED, '--chart-source', next, '--yes'];
  const api = await faultyApi(place.kubeconfig);
  // The inventory lists ReplicaSets too, before the first step.
  const skipped = moment.startsWith('while')
    ? api.inject(method, path, {delayMs: 1}, 1)
    : undefined;
  const injected = api.inject(method, path, fault, 1);
  const run = startProgram('upgrade', place, api, anyHelm, argv);
  await skipped?.hit;
  await injected.hit;
  run.signal('SIGKILL');
  if (moment.startsWith('after helm')) process.kill(run.helmPid(), 'SIGKILL');
  expect(await run.ended).toMatchObject({signal: 'SIGKILL'});

  const done = await upgrade(place, anyHelm, [...argv, '--take-over', '--json']);
  expect(done.exit, done.stdout + done.stderr).toBe(0);
  expect(JSON.parse(done.stdout)).toMatchObject({agent: 'registered', to: {chartVersion: '0.6.5'}});
  const again = await upgrade(place, anyHelm, [...argv, '--json']);
  expect(JSON.parse(again.stdout)).toMatchObject({changed: false, agent: 'registered'});
  expect(await boundClaims(place)).toEqual(before);
  const {kubectl} = place;
  expect(
    await kubectl('get', 'deployments', '--output', 'jsonpath={..persistentVolumeClaim.claimName}'),
  ).toBe(Object.keys(before)[0]);
  expect(
    await kubectl('get', 'deployments', '--output', 'jsonpath={.items[*].status.readyReplicas}'),
  ).toBe('1');
  const {stdout} = await place.helm('list', '--output', 'json');
  expect(JSON.parse(stdout)).toMatchObject([{status: 'deployed', chart: 'agent-job-0.6.5'}]);
});

/** Every boundary of docs/charts/upgrades.md. */
const BOUNDARIES: readonly [ChartName, from: string, to: string, set: readonly string[]][] = [
  ['agent-k8s', '0.5.58', '0.6.5', []],
  ['agent-k8s', '0.5.65', '0.5.66', []],
  ['agent-k8s', '0.5.66', '0.5.67', ['agent.container_task_image_registry=mine/']],
  ['agent-k8s', '0.5.66', '0.6.5', []],
  ['agent-local', '0.5.63', '0.5.64', ['persistence.enabled=true']],
  ['agent-local', '0.5.63', '0.6.5', ['persistence.enabled=true']],
  ['agent-local', '0.5.66', '0.5.67', []],
  ['agent-local', '0.5.73', '0.5.74', []],
  ['agent-local', '0.5.76', '0.6.1', ['persistence.enabled=true']],
  ['agent-local', '0.5.76', '0.6.5', []],
  ['agent-local', '0.6.3', '0.6.4', CACHE],
  ['agent-job', '0.5.63', '0.5.64', []],
  ['agent-job', '0.5.63', '0.6.5', ['secret.annotations.a=b', 'persistence.enabled=true']],
  ['agent-job', '0.5.66', '0.5.67', CACHE],
  ['agent-job', '0.5.67', '0.5.68', CACHE],
  ['agent-job', '0.5.68', '0.5.69', CACHE],
  ['agent-job', '0.5.75', '0.6.5', []],
  ['agent-job', '0.5.77', '0.5.78', CACHE],
  ['agent-job', '0.5.79', '0.6.1', ['agent.replicaCount=2', ...CACHE]],
  ['agent-job', '0.6.1', '0.6.2', CACHE],
  ['agent-job', '0.6.3', '0.6.5', CACHE],
];

test.runIf(REAL).each(BOUNDARIES)(
  'upgrades the released %s from %s to %s with its claims',
  async (chart, from, to, set) => {
    const release = `r${Math.random().toString(36).slice(2, 8)}`;
    const own = chart === 'agent-k8s' ? [`agent.data_home=/var/lib/${release}`] : [];
    const place = await installed(anyHelm, release, chart, from, [...own, ...set]);
    const before = await place.kubectl(
      'get',
      'pvc',
      '--output',
      'jsonpath={.items[*].metadata.name}',
    );
    const bound = before === '' ? {} : await boundClaims(place);
    const argv = [
      '--release',
      release,
      '--chart-source',
      await source(chart, to),
      '--chart-version',
      to,
      '--yes',
      '--json',
    ];
    const done = await upgrade(place, anyHelm, argv);
    expect(done.exit, done.stdout + done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({changed: true, agent: 'registered'});
    if (before !== '') expect(await boundClaims(place)).toEqual(bound);
    const {stdout} = await place.helm('list', '--output', 'json');
    expect(JSON.parse(stdout)).toMatchObject([
      {name: release, status: 'deployed', chart: `${chart}-${to}`},
    ]);
    if (chart === 'agent-k8s' && to === '0.6.5')
      expect((await place.helm('get', 'manifest', release)).stdout).toMatch(
        /CONTAINER_TASK_IMAGE_MODE\s+value: "?legacy/,
      );
  },
);
