import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {NodeFiles} from '../../src/ground/system/node-files.ts';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {findHelm, findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {accountWith} from '../control-plane/accounts.ts';
import {setLogs} from '../control-plane/logs.ts';
import {workplace as freshWorkplace, type Workplace} from '../control-plane/workplace.ts';
import {violations} from '../support/output-schema.ts';
import {debug, install} from '../support/run-on-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
const sources = {} as Record<ChartName, string>;
beforeAll(async () => {
  for (const chart of CHARTS)
    sources[chart] = await directoryOf({chart, version: '0.6.5'}, scratch);
});
afterAll(() => rmSync(scratch, {recursive: true, force: true}));

const CHARTS: readonly ChartName[] = ['agent-local', 'agent-k8s', 'agent-job'];

const chartFlags = (chart: ChartName): string[] => [
  '--chart',
  chart,
  '--chart-source',
  sources[chart],
];
const TOKEN = {SCALR_AGENT_TOKEN: 'hunter2'};

/** Accepted by the API server, but the image of the pods cannot be pulled. */
const NOT_READY = ['--set', 'podAnnotations.test\\.scalr\\.io/outcome=image-pull-backoff'];
/** An image that cannot be pulled is a cause only after some time, which has passed on this clock. */
const LATER = {now: () => new Date(Date.now() + 120_000)};

/** A namespace where every agent says that it has registered; one that says nothing is believed only after a while. */
async function workplace(): Promise<Workplace> {
  const place = await freshWorkplace();
  await setLogs(
    place.kubeconfig,
    {namespace: place.namespace},
    {'*': {current: ['The agent is ready to receive tasks']}},
  );
  return place;
}

const helms = await findHelm();

describe.each(helms)('with Helm $major', ({path: helm}) => {
  test.each(
    CHARTS,
  )('installs %s, changes nothing when repeated, and upgrades on a change', async (chart) => {
    const place = await workplace();
    // Two releases must not share a directory of the nodes, and the tests share a cluster.
    const ownDirectory =
      chart === 'agent-k8s' ? ['--data-home', `/var/lib/${place.namespace}`] : [];
    const argv = [...chartFlags(chart), ...ownDirectory, '--yes', '--json'];
    const first = await install(place, helm, argv, {env: TOKEN});
    expect(first.stderr).not.toContain('hunter2');
    expect(first.stderr).toContain('✔ Where does the cluster run? Other (cluster: ');
    expect(first.exit, first.stdout).toBe(0);
    expect(violations('install', first.stdout)).toEqual([]);
    expect(JSON.parse(first.stdout)).toMatchObject({
      changed: true,
      chart,
      namespace: place.namespace,
    });
    expect(first.exit).toBe(0);
    expect(
      await place.kubectl(
        'get',
        'secret',
        'scalr-agent-token',
        '-o',
        'jsonpath={.metadata.labels.scalr\\.io/release}',
      ),
    ).toBe('scalr-agent');
    expect(await place.kubectl('get', 'secrets', '-o', 'yaml')).not.toContain(
      'last-applied-configuration',
    );

    const second = await install(place, helm, argv, {env: TOKEN});
    expect(JSON.parse(second.stdout)).toMatchObject({changed: false, steps: []});

    const changed = await install(place, helm, [...argv, '--extra-env', 'TEAM=a'], {env: TOKEN});
    expect(JSON.parse(changed.stdout).steps.map((step: {id: string}) => step.id)).toEqual([
      'release',
    ]);
    const history = await execa(helm, [
      'history',
      'scalr-agent',
      '--namespace',
      place.namespace,
      '--kubeconfig',
      place.kubeconfig,
      '-o',
      'json',
    ]);
    expect(JSON.parse(history.stdout)).toHaveLength(2);
  });

  test('uninstalls a failed first install and rolls back a failed upgrade after saving the diagnostics', async () => {
    const place = await workplace();
    const folder = mkdtempSync(join(scratch, 'evidence-'));
    const argv = [
      ...chartFlags('agent-local'),
      '--yes',
      '--json',
      '--rollback-on-failure',
      '--skip-preflight',
      '--save',
      folder,
    ];
    const evidence = () => readdirSync(folder).filter((file) => file.includes('diagnostics'));

    const failing = [...argv, ...NOT_READY];
    const first = JSON.parse(
      (await install(place, helm, failing, {env: TOKEN, ...LATER})).stdout,
    ).error;
    expect(first).toMatchObject({
      code: 'NOT_READY',
      message: expect.stringContaining('Rolled back: the release was uninstalled.'),
    });
    expect(first.suggestions.join()).not.toContain('Nothing was rolled back');
    expect(await place.kubectl('get', 'deployments', '-o', 'name')).toBe('');
    expect(evidence()).toHaveLength(1);
    const path = join(folder, evidence()[0] as string);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
      release: 'scalr-agent',
      causes: [{code: 'IMAGE_NOT_FOUND'}],
    });
    expect(statSync(path).mode & 0o077).toBe(0);

    expect((await install(place, helm, argv, {env: TOKEN})).exit).toBe(0);
    rmSync(path);
    const {message} = JSON.parse(
      (await install(place, helm, [...failing, '--extra-env', 'TEAM=a'], {env: TOKEN, ...LATER}))
        .stdout,
    ).error;
    expect(message).toContain('Rolled back to revision 1.');
    expect(evidence()).toHaveLength(1);
    expect(await place.kubectl('get', 'deployments', '-o', 'yaml')).not.toContain('TEAM');
  });

  test('refuses to interfere with a running helm, and takes over a killed one with --take-over', async () => {
    const place = await workplace();
    const argv = [
      ...chartFlags('agent-local'),
      '--token-secret',
      'scalr-agent-token',
      '--yes',
      '--json',
    ];
    await place.kubectl('create', 'secret', 'generic', 'any', '--from-literal=token=x');
    const values = [
      '--set',
      'agent.tokenExistingSecret.name=any',
      '--set',
      'podAnnotations.test\\.scalr\\.io/outcome=unready',
    ];
    const killed = execa(
      helm,
      [
        'install',
        'scalr-agent',
        sources['agent-local'],
        '--namespace',
        place.namespace,
        '--kubeconfig',
        place.kubeconfig,
        '--wait',
        ...values,
      ],
      {reject: false},
    );
    await expect.poll(() => place.kubectl('get', 'pods')).toContain('scalr-agent');
    const running = await install(place, helm, argv, {env: TOKEN});
    expect(JSON.parse(running.stdout).error).toMatchObject({
      code: 'RELEASE_BUSY',
      message: expect.stringMatching(
        /is busy: pending-install \(revision 1\) since .* The Helm client "Helm" started it/,
      ),
    });
    expect(
      await place.kubectl(
        'get',
        'secrets',
        '--selector=owner=helm,status=pending-install',
        '--output',
        'name',
      ),
    ).not.toBe('');
    killed.kill('SIGKILL');
    await killed;
    const {stdout, exit} = await install(place, helm, [...argv, '--take-over'], {env: TOKEN});
    expect(JSON.parse(stdout).steps.map((step: {id: string}) => step.id)).toEqual([
      'secret/scalr-agent-token',
      'unlock',
      'release',
    ]);
    expect(exit).toBe(0);
  });
});

test('never loses a revision when helm and install start at the same time', async () => {
  const race = async (helm: string): Promise<void> => {
    const place = await workplace();
    const {namespace, kubeconfig, kubectl} = place;
    await kubectl('create', 'secret', 'generic', 'any', '--from-literal=token=x');
    const theirs = [
      'install',
      'scalr-agent',
      sources['agent-local'],
      '--set',
      'agent.tokenExistingSecret.name=any',
    ];
    const [other, own] = await Promise.all([
      execa(helm, [...theirs, '--namespace', namespace, '--kubeconfig', kubeconfig], {
        reject: false,
      }),
      install(
        place,
        helm,
        [
          ...chartFlags('agent-local'),
          '--token-secret',
          'scalr-agent-token',
          '--skip-preflight',
          '--no-wait',
          '--yes',
          '--json',
        ],
        {env: TOKEN},
      ),
    ]);
    const {stdout} = await execa(helm, [
      'history',
      'scalr-agent',
      '--namespace',
      namespace,
      '--kubeconfig',
      kubeconfig,
      '--output',
      'json',
    ]);
    const history = JSON.parse(stdout).map(({status}: {status: string}) => status);
    const failure = JSON.parse(own.stdout).error;
    if (failure !== undefined) expect(failure.code, own.stdout).toBe('RELEASE_BUSY');
    // Each that succeeded has a revision of its own, and none is pending or lost.
    const succeeded = Number(other.exitCode === 0) + Number(failure === undefined);
    expect(history, `${other.stderr}\n${own.stdout}`).toEqual([
      ...Array(succeeded - 1).fill('superseded'),
      'deployed',
    ]);
  };
  for (let round = 0; round < 10; round += 1) await Promise.all(helms.map(({path}) => race(path)));
}, 180_000);

describe.each(await findHelmMatrix())('Helm $major', ({path: helm}) => {
  test('restarts the pods when the token changes', async () => {
    const place = await workplace();
    const argv = [...chartFlags('agent-local'), '--yes', '--json'];
    expect((await install(place, helm, argv, {env: TOKEN})).exit).toBe(0);
    const pods = () => place.kubectl('get', 'pods', '-o', 'name');
    const old = await pods();
    const {stdout, exit} = await install(place, helm, argv, {env: {SCALR_AGENT_TOKEN: 'hunter3'}});
    expect(exit, stdout).toBe(0);
    expect(JSON.parse(stdout).steps.map((step: {id: string}) => step.id)).toEqual([
      'secret/scalr-agent-token',
      'restart/scalr-agent-agent-local',
      'restarted/scalr-agent-token',
    ]);
    await expect.poll(pods).not.toContain(old);
    const again = await install(place, helm, argv, {env: {SCALR_AGENT_TOKEN: 'hunter3'}});
    expect(JSON.parse(again.stdout)).toMatchObject({changed: false});
    const changed = await install(place, helm, [...argv, '--extra-env', 'TEAM=a'], {env: TOKEN});
    expect(JSON.parse(changed.stdout).steps.map((step: {id: string}) => step.id)).toEqual([
      'secret/scalr-agent-token',
      'release',
    ]);
  });

  test('sets labels and annotations of the Secret, and removes only its own', async () => {
    const place = await workplace();
    const argv = [...chartFlags('agent-local'), '--skip-preflight', '--no-wait', '--yes', '--json'];
    const run = async (flags: readonly string[], env: object = TOKEN) => {
      const {stdout, stderr, exit} = await install(place, helm, [...argv, ...flags], {
        env: {...env},
      });
      return {
        exit,
        output: `${stdout}${stderr}`,
        steps: exit === 0 ? JSON.parse(stdout).steps.map(({title}: {title: string}) => title) : [],
      };
    };
    const secretNow = async () =>
      JSON.parse(await place.kubectl('get', 'secret', 'scalr-agent-token', '-o', 'json'));
    expect(
      await run(['--secret-label', 'team=a', '--secret-annotation', 'reloader/match=true']),
    ).toMatchObject({exit: 0});
    const first = await secretNow();
    expect(first.metadata).toMatchObject({
      labels: {team: 'a'},
      annotations: {'reloader/match': 'true'},
    });

    await place.kubectl('label', 'secret', 'scalr-agent-token', 'owner-team=x');
    await place.kubectl('annotate', 'secret', 'scalr-agent-token', 'backup=yes');
    expect(
      await run(['--secret-label', 'team=a', '--secret-annotation', 'reloader/match=true']),
    ).toMatchObject({exit: 0, steps: []});
    const change = 'Change labels and annotations of Secret scalr-agent-token';
    expect(await run(['--secret-label', 'team=b'], {})).toMatchObject({exit: 0, steps: [change]});
    expect((await secretNow()).metadata).toMatchObject({
      labels: {team: 'b', 'owner-team': 'x', 'scalr.io/release': 'scalr-agent'},
      annotations: {backup: 'yes'},
    });
    expect((await secretNow()).data).toEqual(first.data);

    const taken = await run(['--secret-label', 'owner-team=y']);
    expect(taken).toMatchObject({exit: 2});
    expect(taken.output).toContain('owner-team');
    expect(await run([])).toMatchObject({exit: 0, steps: [change]});
    const last = await secretNow();
    expect(last.metadata.labels).toEqual({
      'app.kubernetes.io/managed-by': 'scalr-agent-install',
      'owner-team': 'x',
      'scalr.io/release': 'scalr-agent',
    });
    expect(last.metadata.annotations).toEqual({backup: 'yes'});
    expect(last.data).toEqual(first.data);
    expect(await run([])).toMatchObject({exit: 0, steps: []});
  });

  test('applies the CRDs of the new chart before upgrading the release', async () => {
    const place = await workplace();
    const older = await directoryOf({chart: 'agent-job', version: '0.5.63'}, scratch);
    const flags = ['--chart', 'agent-job', '--yes', '--json'];
    const first = await install(
      place,
      helm,
      [...flags, '--chart-version', '0.5.63', '--chart-source', older],
      {env: TOKEN},
    );
    expect(first.exit, first.stdout).toBe(0);
    const {stdout, exit} = await install(
      place,
      helm,
      [...chartFlags('agent-job'), '--yes', '--json'],
      {env: TOKEN},
    );
    expect(JSON.parse(stdout).steps.map((step: {id: string}) => step.id)).toEqual([
      'definitions',
      'release',
    ]);
    expect(exit).toBe(0);
    expect(await place.kubectl('get', 'agenttasktemplates', '-o', 'name')).not.toBe('');
  });

  test('keeps a PVC that the new settings do not use', async () => {
    const place = await workplace();
    const cache = (kind: string) => [...chartFlags('agent-local'), '--cache', kind, '--json'];
    expect((await install(place, helm, [...cache('pvc'), '--yes'], {env: TOKEN})).exit).toBe(0);
    const name = (
      await place.kubectl(
        'get',
        'persistentvolumeclaims',
        '-o',
        'jsonpath={.items[*].metadata.name}',
      )
    ).trim();
    for (const accepted of ['--dry-run', '--yes']) {
      const {stdout, stderr, exit} = await install(place, helm, [...cache('ephemeral'), accepted], {
        env: TOKEN,
      });
      expect(exit, stdout).toBe(0);
      expect(violations('install', stdout)).toEqual([]);
      // What was asked, and the strategy that follows from it, is no loss.
      expect(JSON.parse(stdout).warnings).toMatchObject([
        {code: 'PVC_KEPT', message: expect.stringContaining(`PVC ${name} remains with its data`)},
        {code: 'RUNS'},
      ]);
      expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
        `Warning: PVC ${name} remains with its data`,
      );
    }
    const again = await install(place, helm, [...cache('ephemeral'), '--yes'], {env: TOKEN});
    expect(JSON.parse(again.stdout)).toMatchObject({changed: false, warnings: []});
    expect(
      await place.kubectl(
        'get',
        'persistentvolumeclaims',
        '-o',
        'jsonpath={.items[*].metadata.name}',
      ),
    ).toContain(name);
  });

  test('warns about values that the new settings remove', async () => {
    const place = await workplace();
    const argv = [...chartFlags('agent-local'), '--json'];
    const byHand = [
      '--set',
      'podAnnotations.team=a',
      '--extra-env',
      'PASSWORD=hunter2',
      '--concurrency',
      '3',
    ];
    expect((await install(place, helm, [...argv, ...byHand, '--yes'], {env: TOKEN})).exit).toBe(0);
    const {stdout, stderr, exit} = await install(
      place,
      helm,
      [...argv, '--concurrency', '4', '--yes', '--quiet'],
      {env: TOKEN},
    );
    expect(exit, stdout).toBe(0);
    expect(violations('install', stdout)).toEqual([]);
    const messages = JSON.parse(stdout).warnings.map(({message}: {message: string}) => message);
    // The last one is about runs.
    expect(messages).toHaveLength(3);
    expect(messages.join()).toMatch(
      /PASSWORD.*podAnnotations\.team is "a" in the installed release, but these settings remove it/,
    );
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
      'Warning: podAnnotations.team is "a" in the installed release',
    );
    expect(stdout + stderr).not.toContain('hunter2');
  });

  test('accepts other volumes and another strategy in a dry run', async () => {
    const place = await workplace();
    const argv = [...chartFlags('agent-local'), '--extra-env', 'TEAM=a'];
    expect((await install(place, helm, [...argv, '--yes', '--json'], {env: TOKEN})).exit).toBe(0);
    const changes = [
      '--cache',
      'pvc',
      '--cache-access-mode',
      'ReadWriteMany',
      '--set',
      'strategy.type=Recreate',
    ];
    const {stderr, exit} = await install(
      place,
      helm,
      [...chartFlags('agent-local'), ...changes, '--dry-run'],
      {env: TOKEN},
    );
    expect(stderr).toContain('The API server accepts all objects.');
    expect(exit).toBe(0);
    expect(
      await place.kubectl('get', 'deployments,persistentvolumeclaims', '-o', 'yaml'),
    ).not.toContain('last-applied');
  });
});

const [helm = {path: 'helm'}] = helms;

test('explains why an install cannot become ready, and repairs it on the next run', async () => {
  const place = await workplace();
  const argv = [...chartFlags('agent-local'), '--yes'];
  const failed = await install(
    place,
    helm.path,
    [...argv, '--set', 'podAnnotations.test\\.scalr\\.io/outcome=image-pull-backoff'],
    {env: TOKEN, ...LATER},
  );
  expect(failed.stderr).toContain('cannot become ready');
  expect(failed.stderr).toMatch(/image/i);
  expect(failed.exit).toBe(1);
  const mended = await install(place, helm.path, argv, {env: TOKEN});
  expect(mended.stderr).toContain('Agent registered with acme.scalr.io');
  expect(mended.exit).toBe(0);
});

test('requires confirmation for another chart or a downgrade, and keeps the installed chart by default', async () => {
  const place = await workplace();
  const run = (...argv: string[]) =>
    install(place, helm.path, ['--yes', '--json', ...argv], {env: TOKEN});
  expect((await run(...chartFlags('agent-local'))).exit).toBe(0);

  const replace = [...chartFlags('agent-job'), '--skip-preflight'];
  const refused = await run(...replace);
  expect(JSON.parse(refused.stdout).error).toMatchObject({
    code: 'NOT_CONFIRMED',
    message: expect.stringContaining(
      'This replaces agent-local-0.6.5 in release scalr-agent with agent-job-0.6.5',
    ),
    suggestions: ['Add --confirm scalr-agent', 'Show the plan with --dry-run'],
  });
  const replaced = await run(...replace, '--confirm', 'scalr-agent');
  expect(replaced.exit, replaced.stderr).toBe(0);
  expect(JSON.parse(replaced.stdout).steps.map(({id}: {id: string}) => id)).toEqual([
    'definitions',
    'stop/scalr-agent-agent-local',
    'stopped',
    'release',
  ]);

  const older = await directoryOf({chart: 'agent-job', version: '0.5.63'}, scratch);
  const downgrade = ['--chart', 'agent-job', '--chart-source', older, '--skip-preflight'];
  const diff = await install(place, helm.path, [...downgrade, '--diff', '--exit-code'], {
    env: {SCALR_AGENT_TOKEN: 'hunter3'},
  });
  expect(diff.exit).toBe(5);
  expect(diff.stdout).toContain(
    '- Downgrade release scalr-agent from agent-job-0.6.5 to agent-job-0.5.63',
  );
  expect(diff.stdout).toMatch(/Secret scalr-agent-token/);
  expect(diff.stdout).toMatch(/^--- Deployment scalr-agent/m);
  expect(diff.stdout).not.toContain('hunter');
  expect(JSON.parse((await run(...downgrade)).stdout).error).toMatchObject({
    code: 'NOT_CONFIRMED',
    message: expect.stringContaining('This downgrades agent-job from 0.6.5 to 0.5.63.'),
  });
  expect(await place.kubectl('get', 'deployments', '--output', 'name')).toBe(
    'deployment.apps/scalr-agent',
  );

  const again = await run('--chart-source', sources['agent-job'], '--skip-preflight');
  expect(JSON.parse(again.stdout)).toMatchObject({chart: 'agent-job', changed: false});
});

test('stops at once and changes nothing on Ctrl-C before the plan', async () => {
  const kubeTarget = {...(await workplace()), namespace: 'never-made'};
  const interrupt = new AbortController();
  setTimeout(() => interrupt.abort('SIGINT'), 100);
  const handleInterrupts = () => ({
    interrupt: interrupt.signal,
    forceQuit: new AbortController().signal,
    release: () => undefined,
  });
  const {stderr, exit} = await install(
    kubeTarget,
    helm.path,
    [...chartFlags('agent-local'), '--yes'],
    {env: TOKEN, handleInterrupts},
  );
  expect({exit, stderr}).toEqual({
    exit: 130,
    stderr: expect.stringContaining('Interrupted. Nothing was changed.'),
  });
});

test('changes nothing without confirmation', async () => {
  const kubeTarget = {...(await workplace()), namespace: 'never-made'};
  const {stderr, exit} = await install(kubeTarget, helm.path, chartFlags('agent-local'), {
    env: TOKEN,
  });
  expect(stderr).toContain('Nothing was changed.');
  expect(stderr).toContain('1. Create namespace never-made');
  expect(exit).toBe(2);
});

test('keeps what another operator installed while the plan was read', async () => {
  const place = await workplace();
  const argv = [
    ...chartFlags('agent-local'),
    '--skip-preflight',
    '--cloud',
    'other',
    '--node-os',
    'other',
    '--no-wait',
    '--yes',
  ];
  expect((await install(place, helm.path, argv, {env: TOKEN})).exit).toBe(0);
  const confirm = async (): Promise<boolean> => {
    expect(
      (await install(place, helm.path, [...argv, '--extra-env', 'TEAM=a'], {env: TOKEN})).exit,
    ).toBe(0);
    return true;
  };
  const late = ['on', '--chart-source', sources['agent-local']];
  const {stderr, exit} = await debug(place, helm.path, late, {
    hasTerminal: true,
    prompter: {confirm},
  });
  expect(stderr).toContain(
    'Release scalr-agent was changed to revision 2 (deployed) after the plan was made. Nothing was changed.',
  );
  expect(exit).toBe(1);
});

test('prints every call, validates with the API server and changes nothing in a dry run', async () => {
  const place = await workplace();
  const {stdout, stderr, exit} = await install(
    place,
    helm.path,
    [...chartFlags('agent-local'), '--dry-run'],
    {env: TOKEN},
  );
  expect(stdout).toMatch(/^kubectl apply --server-side .*\nhelm upgrade scalr-agent .*\n$/);
  expect(stderr).toContain('The API server accepts all objects.');
  expect(stdout + stderr).not.toContain('hunter2');
  expect(exit).toBe(0);
  expect(await place.kubectl('get', 'secrets,deployments', '-o', 'name')).toBe('');
});

test('fails before any change when there is no token', async () => {
  const place = await workplace();
  const {stdout, exit} = await install(place, helm.path, [
    ...chartFlags('agent-local'),
    '--yes',
    '--json',
  ]);
  expect(JSON.parse(stdout).error).toMatchObject({code: 'MISSING_SETTING', exit: 2});
  expect(exit).toBe(2);
});

test('installs nothing into a namespace that is being deleted', async () => {
  const place = await workplace();
  await place.kubectl.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {name: 'held', finalizers: ['test.scalr.io/held']},
  });
  await place.kubectl('delete', 'namespace', place.namespace, '--wait=false');
  await place.kubectl(
    'wait',
    '--for=condition=NamespaceFinalizersRemaining',
    `namespace/${place.namespace}`,
    '--timeout=60s',
  );
  const argv = [...chartFlags('agent-local'), '--yes', '--json'];
  const checked = await install(place, helm.path, argv, {env: TOKEN});
  const {error} = JSON.parse(checked.stdout);
  expect(error).toMatchObject({
    code: 'PREFLIGHT_FAILED',
    message: expect.stringContaining(`${place.namespace} is being deleted`),
  });
  // It is held for good, and the objects of the install are not the reason.
  expect(error.message).not.toContain('Admission control');
  expect(error.suggestions.join()).not.toContain('--for=delete');
  expect(error.suggestions.join()).toContain(
    `kubectl get configmaps --namespace ${place.namespace}`,
  );
  const tried = await install(place, helm.path, [...argv, '--skip-preflight'], {env: TOKEN});
  expect(JSON.parse(tried.stdout).error).toMatchObject({
    code: 'NAMESPACE_TERMINATING',
    message: `Namespace ${place.namespace} is being deleted. Nothing was changed.`,
    exit: 1,
  });
});

test('uses an existing Secret of another owner and never overwrites it', async () => {
  const place = await workplace();
  await place.kubectl(
    'create',
    'secret',
    'generic',
    'scalr-agent-token',
    '--from-literal=token=theirs',
  );
  const argv = [...chartFlags('agent-local'), '--yes', '--json'];
  expect(JSON.parse((await install(place, helm.path, argv, {env: TOKEN})).stdout).error.code).toBe(
    'OBJECT_NOT_OWNED',
  );
  expect(JSON.parse((await install(place, helm.path, argv)).stdout)).toMatchObject({changed: true});
});

test('refuses a chart that does not render what the settings say', async () => {
  const place = await workplace();
  const spoilt = join(scratch, 'spoilt');
  cpSync(sources['agent-local'], spoilt, {recursive: true});
  const container =
    '{name: twice, image: scalr/agent:1, env: [{name: A, value: b}, {name: A, value: c}]}';
  writeFileSync(
    join(spoilt, 'templates/more.yaml'),
    `apiVersion: v1\nkind: Pod\nmetadata: {name: more}\nspec: {containers: [${container}]}\n`,
  );
  const {stdout, exit} = await install(
    place,
    helm.path,
    ['--chart', 'agent-local', '--chart-source', spoilt, '--yes', '--json'],
    {
      env: TOKEN,
    },
  );
  expect(JSON.parse(stdout).error).toMatchObject({
    code: 'RENDER_MISMATCH',
    message: expect.stringContaining('Container twice sets A twice.'),
  });
  expect(exit).toBe(1);
  expect(await place.kubectl('get', 'secrets,deployments,pods', '-o', 'name')).toBe('');
});

test('rolls back and says so when the evidence cannot be saved', async () => {
  const place = await workplace();
  const folder = join(scratch, 'no-directory');
  writeFileSync(folder, '');
  const write: NodeFiles['write'] = (path, ...rest) =>
    new NodeFiles().write(join(folder, path), ...rest);
  const argv = [
    ...chartFlags('agent-local'),
    '--yes',
    '--json',
    '--rollback-on-failure',
    '--skip-preflight',
    ...NOT_READY,
  ];
  const {message, suggestions} = JSON.parse(
    (
      await install(place, helm.path, argv, {
        env: TOKEN,
        ...LATER,
        files: Object.assign(new NodeFiles(), {write}),
      })
    ).stdout,
  ).error;
  expect(message).toMatch(
    /Rolled back: .*\nCannot save the diagnostics from before the rollback: Cannot write .*: not a directory\./,
  );
  expect(suggestions).toContain('Use another path with --save');
  expect(await place.kubectl('get', 'deployments', '-o', 'name')).toBe('');
});

test('saves answers and values without secrets, and changes nothing when the answers are used again', async () => {
  const place = await workplace();
  // Nothing is there as yet.
  const folder = join(mkdtempSync(join(scratch, 'saved-')), 'agents', 'local');
  const argv = [
    ...chartFlags('agent-local'),
    '--concurrency',
    '3',
    '--yes',
    '--json',
    '--save',
    folder,
  ];
  const {stdout, exit} = await install(place, helm.path, argv, {env: TOKEN});
  expect(exit).toBe(0);
  expect(violations('install', stdout)).toEqual([]);
  expect(JSON.parse(stdout).saved).toEqual([
    join(folder, 'answers.yaml'),
    join(folder, 'values.yaml'),
  ]);
  for (const file of readdirSync(folder))
    expect(readFileSync(join(folder, file), 'utf8')).not.toContain('hunter2');
  const again = await install(
    place,
    helm.path,
    ['--answers', join(folder, 'answers.yaml'), '--yes', '--json'],
    {env: TOKEN},
  );
  expect(JSON.parse(again.stdout)).toMatchObject({changed: false});
});

test('installs a values file unchanged, and changes nothing when repeated', async () => {
  const place = await workplace();
  const file = join(scratch, `${place.namespace}.yaml`);
  writeFileSync(
    file,
    'agent: {url: "https://acme.scalr.io"}\nreplicaCount: 2\npodAnnotations: {team: "platform"}\n',
  );
  const argv = [...chartFlags('agent-local'), '--values-file', file, '--yes', '--json'];
  expect(await install(place, helm.path, argv, {env: TOKEN})).toMatchObject({exit: 0});
  expect(
    await place.kubectl(
      'get',
      'deployments',
      '--output',
      'jsonpath={.items[*].spec.replicas}{.items[*].spec.template.metadata.annotations.team}',
    ),
  ).toBe('2platform');
  expect(JSON.parse((await install(place, helm.path, argv, {env: TOKEN})).stdout)).toMatchObject({
    changed: false,
  });
});

test('names the missing permissions of a read-only account', async () => {
  const place = await workplace();
  const kubeconfig = await accountWith('view', place);
  const {stdout} = await install(
    {kubeconfig, namespace: place.namespace},
    helm.path,
    [...chartFlags('agent-local'), '--yes', '--json'],
    {
      env: TOKEN,
    },
  );
  const {code, exit, message, suggestions} = JSON.parse(stdout).error;
  expect({code, exit}).toEqual({code: 'PREFLIGHT_FAILED', exit: 3});
  expect(message).toContain(`create, patch deployments.apps in ${place.namespace}`);
  expect(suggestions.join()).toContain('kind: Role');
});
