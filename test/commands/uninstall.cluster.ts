import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {GoBack} from '../../src/ground/errors.ts';
import {warningOf} from '../../src/ground/finding.ts';
import type {TextQuestion} from '../../src/ground/system/system.ts';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {accountWith} from '../control-plane/accounts.ts';
import {setLogs} from '../control-plane/logs.ts';
import {injectingWebhook} from '../control-plane/mutating-webhook.ts';
import {workplace as freshWorkplace, type Workplace} from '../control-plane/workplace.ts';
import {violations} from '../support/output-schema.ts';
import {install, status, uninstall} from '../support/run-on-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
let source: string;
beforeAll(async () => {
  source = await directoryOf({chart: 'agent-local', version: '0.6.5'}, scratch);
});
afterAll(() => rmSync(scratch, {recursive: true, force: true}));

const TOKEN = {SCALR_AGENT_TOKEN: 'hunter2'};
const helms = await findHelm();
const [first = {path: 'helm'}] = helms;
const argv = (...more: string[]): string[] => [
  '--chart',
  'agent-local',
  '--chart-source',
  source,
  '--shutdown-mode',
  'force',
  '--skip-preflight',
  '--yes',
  ...more,
];

async function installed(helm: string, more: readonly string[] = []): Promise<Workplace> {
  const place = await freshWorkplace();
  await setLogs(
    place.kubeconfig,
    {namespace: place.namespace},
    {'*': {current: ['The agent is ready to receive tasks']}},
  );
  const {exit, stderr} = await install(place, helm, argv(...more), {env: TOKEN});
  expect(exit, stderr).toBe(0);
  return place;
}
const left = ({kubectl}: Workplace): Promise<string> =>
  kubectl('get', 'deployments,pods,secrets,persistentvolumeclaims', '--output', 'name');
const RELEASE = 'scalr-agent';

describe.each(helms)('with Helm $major', ({path: helm}) => {
  test('lists removed and remaining objects before and after, and changes nothing when repeated', async () => {
    const place = await installed(helm);
    const {stdout, stderr, exit} = await uninstall(place, helm, ['--yes', '--json']);
    expect(exit, stderr).toBe(0);
    expect(violations('uninstall', stdout)).toEqual([]);
    // Runs of agent-local execute inside the agent.
    const result = JSON.parse(stdout);
    expect(result).not.toHaveProperty('runsInFlight');
    expect(result.warnings).toEqual([
      warningOf('RUNS', expect.stringMatching(/^Runs inside .* are interrupted/)),
    ]);
    expect(stderr).toMatch(
      /Will be removed:[\s\S]*Deployment[\s\S]*Will remain:[\s\S]*Secret scalr-agent-token[\s\S]*Removed:[\s\S]*Remaining:/,
    );
    expect(stderr).not.toContain('hunter2');
    expect(await left(place)).toBe('secret/scalr-agent-token');
    const again = JSON.parse((await uninstall(place, helm, ['--yes', '--json'])).stdout);
    expect(again).toMatchObject({changed: false, steps: [], removed: []});
    expect(again.kept.map(({what}: {what: string}) => what)).toContain('Secret scalr-agent-token');
  });

  test('starts the agent again when installing after an interrupted uninstall', async () => {
    const place = await installed(helm);
    await place.kubectl('scale', 'deployment', '--all', '--replicas=0');
    const {stdout, exit} = await install(place, helm, argv('--json'), {env: TOKEN});
    expect(JSON.parse(stdout).steps.map(({id}: {id: string}) => id)).toEqual([
      expect.stringMatching(/^start\//),
    ]);
    expect(exit).toBe(0);
    await place.kubectl('scale', 'deployment', '--all', '--replicas=0');
    const changed = await install(place, helm, argv('--extra-env', 'TEAM=a'), {env: TOKEN});
    expect(changed.exit, changed.stderr).toBe(0);
    expect(
      await place.kubectl('get', 'deployments', '--output', 'jsonpath={.items[0].spec.replicas}'),
    ).toBe('1');
  });

  test('completes the uninstall on the next run after helm was killed', async () => {
    const place = await installed(helm);
    const {kubectl, kubeconfig, namespace} = place;
    const finalizers = (names: readonly string[]) =>
      kubectl(
        'patch',
        'deployment/scalr-agent-agent-local',
        '--type=merge',
        `--patch=${JSON.stringify({metadata: {finalizers: names}})}`,
      );
    await finalizers(['test.scalr.io/hold']);
    const killed = execa(
      helm,
      ['uninstall', RELEASE, '--wait', '--namespace', namespace, '--kubeconfig', kubeconfig],
      {reject: false},
    );
    await kubectl(
      'wait',
      '--for=jsonpath={.metadata.deletionTimestamp}',
      'deployment/scalr-agent-agent-local',
      '--timeout=20s',
    );
    killed.kill('SIGKILL');
    await killed;
    await finalizers([]);
    const {stdout} = await execa(helm, [
      'history',
      RELEASE,
      '--namespace',
      namespace,
      '--kubeconfig',
      kubeconfig,
      '--output',
      'json',
    ]);
    expect(JSON.parse(stdout).at(-1).status).toBe('uninstalling');
    const {exit, stderr} = await uninstall(place, helm, ['--yes']);
    expect(exit, stderr).toBe(0);
    expect(await left(place)).toBe('secret/scalr-agent-token');
  });
});

test('stops before the first step when helm is missing', async () => {
  const place = await installed(first.path);
  const {exit, stderr} = await uninstall(place, join(scratch, 'no-helm'), ['--yes']);
  expect([exit, stderr]).toEqual([2, expect.stringContaining('no-helm')]);
  expect(
    await place.kubectl('get', 'deployments', '--output', 'jsonpath={.items[*].spec.replicas}'),
  ).toBe('1');
});

test('does not wait for the pods of a release that another operator installs meanwhile', async () => {
  const place = await installed(first.path);
  const helm = join(scratch, 'helm-of-two');
  const again = `install ${RELEASE} ${source} --namespace ${place.namespace} --kubeconfig ${place.kubeconfig} --set agent.url=https://acme.scalr.io,agent.tokenExistingSecret.name=scalr-agent-token`;
  const script = `#!/bin/sh\n${first.path} "$@" || exit\n[ "$1" != uninstall ] || ${first.path} ${again} >&2\n`;
  writeFileSync(helm, script, {mode: 0o755});
  const {exit, stderr} = await uninstall(place, helm, ['--yes']);
  expect([exit, stderr]).toEqual([1, expect.stringContaining('was installed again')]);
  expect(await left(place)).toContain('pod/');
});

test('requires the release name as confirmation before deleting data', async () => {
  const place = await installed(first.path);
  const purge = ['--purge=secrets', '--json'];
  const refused = await uninstall(place, first.path, [...purge, '--yes']);
  expect(JSON.parse(refused.stdout).error).toMatchObject({code: 'NOT_CONFIRMED', exit: 2});
  const other = await uninstall(place, first.path, [...purge, '--confirm', 'another']);
  expect(JSON.parse(other.stdout).error).toMatchObject({code: 'INVALID_SETTING', exit: 2});
  const onTerminal = {hasTerminal: true, prompter: {input: async () => 'scalr-agnet'}};
  const mistyped = await uninstall(place, first.path, ['--purge=secrets'], onTerminal);
  expect(mistyped.exit).toBe(1);
  expect(mistyped.stderr).toContain('Canceled. Nothing was changed.');
  expect(await left(place)).toContain('deployment');

  const questions: string[] = [];
  const input = async ({message: question}: TextQuestion): Promise<string> => {
    questions.push(question);
    return RELEASE;
  };
  const back = async (): Promise<string> => {
    throw new GoBack();
  };
  const before = await left(place);
  const escaped = await uninstall(place, first.path, ['--purge=secrets'], {
    hasTerminal: true,
    prompter: {input: back},
  });
  expect(escaped.stderr).toContain('Canceled. Nothing was changed.');
  expect(await left(place)).toBe(before);
  const done = await uninstall(place, first.path, ['--purge=secrets'], {
    hasTerminal: true,
    prompter: {input},
  });
  expect(done.exit, done.stderr).toBe(0);
  expect(questions).toEqual([
    'Some of these deletions cannot be undone. Type scalr-agent to confirm:',
  ]);
  expect(await left(place)).toBe('');
});

test('changes nothing without confirmation or in a dry run', async () => {
  const place = await installed(first.path);
  const before = await left(place);
  const unasked = await uninstall(place, first.path, ['--json']);
  expect(JSON.parse(unasked.stdout).error).toMatchObject({code: 'NOT_CONFIRMED', exit: 2});
  const refused = await uninstall(place, first.path, [], {
    hasTerminal: true,
    prompter: {confirm: async () => false},
  });
  expect(refused).toMatchObject({exit: 1});
  const dry = await uninstall(place, first.path, ['--dry-run', '--purge=secrets,namespace']);
  expect(dry.stdout).toMatch(
    /^kubectl scale .*\n[\s\S]*\nhelm uninstall scalr-agent .*\n[\s\S]*kubectl delete secret\/scalr-agent-token/,
  );
  expect(dry.exit).toBe(0);
  expect(await left(place)).toBe(before);
});

test('deletes a namespace that it created, with everything in it', async () => {
  const {kubeconfig, kubectl, namespace} = await freshWorkplace();
  const kubeTarget = {kubeconfig, namespace: `${namespace}-own`};
  await setLogs(
    kubeconfig,
    {namespace: kubeTarget.namespace},
    {'*': {current: ['The agent is ready to receive tasks']}},
  );
  expect((await install(kubeTarget, first.path, argv(), {env: TOKEN})).exit).toBe(0);
  const {exit, stderr} = await uninstall(kubeTarget, first.path, [
    '--purge=secrets,namespace',
    '--confirm',
    RELEASE,
  ]);
  expect(exit, stderr).toBe(0);
  expect(
    await kubectl(
      'get',
      'namespace',
      kubeTarget.namespace,
      '--ignore-not-found',
      '--output',
      'name',
    ),
  ).toBe('');
});

test('removes only one of two releases in a namespace, and keeps their shared Secret', async () => {
  const place = await installed(first.path, ['--release', 'one', '--token-secret', 'shared']);
  expect(
    (
      await install(place, first.path, argv('--release', 'two', '--token-secret', 'shared'), {
        env: TOKEN,
      })
    ).exit,
  ).toBe(0);
  const {exit, stderr} = await uninstall(place, first.path, [
    '--release',
    'one',
    '--purge=secrets,namespace',
    '--confirm',
    'one',
  ]);
  expect(exit, stderr).toBe(0);
  expect(stderr).toMatch(/Secret shared: used by Deployment two-agent-local/);
  expect(await left(place)).toMatch(/deployment\S*\/two[\s\S]*secret\/shared/);
});

test('refuses a release of another chart', async () => {
  const place = await freshWorkplace();
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
  const {stdout} = await uninstall(place, first.path, ['--release', 'web', '--yes', '--json']);
  expect(JSON.parse(stdout).error).toMatchObject({code: 'OBJECT_NOT_OWNED', exit: 2});
});

/** As the controller of agent-job makes one, and it does not end by itself. */
const RUN = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: {name: 'atask-1'},
  spec: {
    template: {
      metadata: {
        labels: {'app.kubernetes.io/instance': RELEASE, 'app.kubernetes.io/component': 'task'},
        annotations: {'test.scalr.io/outcome': 'unready'},
      },
      spec: {
        restartPolicy: 'Never',
        containers: ['runner', 'worker'].map((name) => ({name, image: 'scalr/agent'})),
      },
    },
  },
};

describe.each(helms)('a pending operation of Helm $major', ({path: helm}) => {
  /** Helm waits for pods that do not become ready. */
  const pendingOperation = (place: Workplace, verb: 'install' | 'upgrade') =>
    execa(
      helm,
      [
        verb,
        RELEASE,
        source,
        ...['--namespace', place.namespace, '--kubeconfig', place.kubeconfig, '--wait'],
        ...[
          'agent.url=https://acme.scalr.io',
          'agent.tokenExistingSecret.name=any',
          'podAnnotations.test\\.scalr\\.io/outcome=unready',
        ].flatMap((each) => ['--set', each]),
      ],
      {reject: false},
    );

  test.each([
    ['install', 'by --take-over', () => ({flags: ['--take-over'], deps: {}})],
    [
      'upgrade',
      'when it is older than --timeout',
      () => ({flags: [], deps: {now: () => new Date(Date.now() + 3_600_000)}}),
    ],
  ] as const)('of %s stops the uninstall before the first step, and is ended %s', async (verb, _, wayOut) => {
    const place = await (verb === 'upgrade' ? installed(helm) : freshWorkplace());
    const running = pendingOperation(place, verb);
    const records = ['--selector', `owner=helm,status=pending-${verb}`, '--output', 'name'];
    await expect.poll(() => place.kubectl('get', 'secrets', ...records)).not.toBe('');
    await expect.poll(() => place.kubectl('get', 'deployments', '--output', 'name')).not.toBe('');
    const refused = await uninstall(place, helm, ['--yes', '--json']);
    expect(refused.exit, refused.stderr).toBe(1);
    expect(JSON.parse(refused.stdout).error).toMatchObject({
      code: 'RELEASE_BUSY',
      message: expect.stringContaining(`is busy: pending-${verb} (revision`),
      suggestions: [
        expect.stringMatching(/: helm history scalr-agent (?!.*json)/),
        expect.stringContaining('--take-over'),
      ],
    });
    running.kill('SIGKILL');
    await running;
    expect(await place.kubectl('get', 'secrets', ...records)).not.toBe('');
    const {flags, deps} = wayOut();
    const {exit, stderr} = await uninstall(place, helm, ['--yes', ...flags], deps);
    expect(exit, stderr).toBe(0);
    expect(await left(place)).toBe(verb === 'upgrade' ? 'secret/scalr-agent-token' : '');
  });
});

describe('runs in flight', () => {
  async function busy(prepare = async (_: Workplace): Promise<void> => undefined) {
    const place = await freshWorkplace();
    const chart = await directoryOf({chart: 'agent-k8s', version: '0.6.5'}, scratch);
    await setLogs(
      place.kubeconfig,
      {namespace: place.namespace},
      {'*': {current: ['The agent is ready to receive tasks']}},
    );
    const ownDirectory = ['--data-home', `/var/lib/${place.namespace}`];
    const given = [
      '--chart',
      'agent-k8s',
      '--chart-source',
      chart,
      ...ownDirectory,
      '--set',
      'agent.kubernetes_task_labels.team=a',
      '--yes',
    ];
    const {exit, stderr} = await install(place, first.path, given, {env: TOKEN});
    expect(exit, stderr).toBe(0);
    await prepare(place);
    const {template} = RUN.spec;
    await place.kubectl.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {...template.metadata, name: 'run-1', labels: {team: 'a'}},
      spec: template.spec,
    });
    await place.kubectl(
      'wait',
      '--for=jsonpath={.status.phase}=Running',
      'pod/run-1',
      '--timeout=30s',
    );
    return place;
  }

  test('are waited for until the drain timeout, and nothing is removed', async () => {
    const place = await busy();
    const {stdout, stderr, exit} = await uninstall(place, first.path, [
      '--drain-timeout',
      '1s',
      '--yes',
      '--json',
    ]);
    expect(stderr).toContain('Runs in flight: 1: Pod run-1');
    expect(JSON.parse(stdout).error).toMatchObject({code: 'TIMED_OUT', exit: 6});
    expect(JSON.parse(stdout).error.message).toContain('Pod run-1');
    expect(exit).toBe(6);
    expect(await left(place)).toContain('deployment');
  });

  test('have ended when only an injected sidecar still runs', async () => {
    const place = await busy((prepared) => injectingWebhook(prepared, 'istio-proxy'));
    const {kubectl} = place;
    const names = 'jsonpath={.status.containerStatuses[*].name}';
    expect(await kubectl('get', 'pod', 'run-1', '--output', names)).toBe(
      'runner worker istio-proxy',
    );
    const before = await status(place, first.path, ['--json']);
    expect(JSON.parse(before.stdout).runs.inFlight, before.stderr).toMatchObject([{name: 'run-1'}]);
    const ended = {terminated: {exitCode: 0, reason: 'Completed'}};
    const containerStatuses = [
      {name: 'runner', state: ended},
      {name: 'worker', state: ended},
      {name: 'istio-proxy', state: {running: {}}},
    ].map((each) => ({...each, image: 'a', imageID: '', ready: false, restartCount: 0}));
    await kubectl(
      'patch',
      'pod',
      'run-1',
      '--subresource=status',
      '--type=merge',
      `--patch=${JSON.stringify({status: {containerStatuses}})}`,
    );
    const after = JSON.parse((await status(place, first.path, ['--json'])).stdout);
    expect(after).toMatchObject({runs: {inFlight: []}, recent: [{code: 'RUNS_HELD'}]});
    const {stdout, stderr, exit} = await uninstall(place, first.path, ['--yes', '--json']);
    expect(exit, stderr).toBe(0);
    const {runsInFlight, kept} = JSON.parse(stdout);
    expect(runsInFlight).toEqual([]);
    expect(kept).toContainEqual({
      what: 'Pod run-1',
      why: 'its run has ended, but istio-proxy still runs',
      how: expect.stringMatching(/^kubectl delete pod\/run-1 /),
    });
  });

  test('leave the release installed on Ctrl-C, and the same command continues', async () => {
    const place = await busy();
    const interrupt = new AbortController();
    const forceQuit = new AbortController();
    const handleInterrupts = () => ({
      interrupt: interrupt.signal,
      forceQuit: forceQuit.signal,
      release: () => undefined,
    });
    const sleep = async (): Promise<void> => interrupt.abort('SIGINT');
    const broken = await uninstall(place, first.path, ['--yes', '--json'], {
      handleInterrupts,
      sleep,
    });
    expect(JSON.parse(broken.stdout).error).toMatchObject({code: 'INTERRUPTED', exit: 130});
    expect(await left(place)).toContain('deployment');
    await place.kubectl('delete', 'pod', 'run-1', '--now');
    const {exit, stderr} = await uninstall(place, first.path, ['--yes']);
    expect(exit, stderr).toBe(0);
    expect(await left(place)).toBe('secret/scalr-agent-token');
  });

  test('are interrupted only after confirmation with the release name', async () => {
    const place = await busy();
    const refused = await uninstall(place, first.path, ['--no-drain', '--yes', '--json']);
    expect(JSON.parse(refused.stdout).error.code).toBe('NOT_CONFIRMED');
    const {exit, stderr} = await uninstall(place, first.path, ['--no-drain', '--confirm', RELEASE]);
    expect(exit, stderr).toBe(0);
    expect(stderr).toContain('without a drain they lose');
  });
});

describe('with an account that', () => {
  test('can only read, fails and leaves the agent running', async () => {
    const place = await installed(first.path);
    const kubeconfig = await accountWith('view', place);
    const {stdout} = await uninstall({...place, kubeconfig}, first.path, ['--yes', '--json']);
    expect(JSON.parse(stdout).error).toMatchObject({code: 'FORBIDDEN', exit: 1});
    expect(await left(place)).toContain('deployment');
  });

  test('sees only its namespace, removes the release and its Secret', async () => {
    const place = await installed(first.path);
    const kubeconfig = await accountWith('admin', place);
    const {stdout, stderr, exit} = await uninstall({...place, kubeconfig}, first.path, [
      '--purge=secrets',
      '--confirm',
      RELEASE,
      '--json',
    ]);
    expect(exit, stderr + stdout).toBe(0);
    expect(await left(place)).toBe('');
  });
});
