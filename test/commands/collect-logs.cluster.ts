import {describe, expect, test} from 'vitest';
import type {Pod} from '../../src/cluster/kubernetes/objects.ts';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {setLogs} from '../control-plane/logs.ts';
import {pod} from '../control-plane/objects.ts';
import {type Workplace, workplace} from '../control-plane/workplace.ts';
import {collected} from '../support/collected.ts';
import {installPlace} from '../support/install-place.ts';
import {installed, installedLongAgo} from '../support/installed-charts.ts';
import {collectLogs} from '../support/run-on-cluster.ts';

const helms = await findHelmMatrix();
const [{path: anyHelm} = {path: 'helm'}] = helms;

/** Of every container there is, without the names that Kubernetes made up. */
const logsIn = (names: readonly string[]): string[] =>
  names
    .filter((name) => name.startsWith('logs/'))
    .map((name) => name.replace(/-[a-z0-9]{5}\//, '-?/'));

/** What an agent that nobody installed by helm is known by. */
const ofAgent = {
  labels: {'app.kubernetes.io/name': 'agent-local', 'app.kubernetes.io/instance': 'by-hand'},
};

const labeled = (name: string, labels: object, more: Parameters<typeof pod>[1] = {}): object => {
  const made = pod(name, more) as {metadata: object};
  return {...made, metadata: {...made.metadata, labels}};
};

const phaseOf = async ({kubectl}: Workplace, name: string) =>
  (await kubectl.get<Pod>('pod', name)).status?.phase;

describe.each(helms)('with Helm $major', ({path: helm}) => {
  test.each([
    ['agent-local', ['deployment', 'replicaset'], 1],
    ['agent-k8s', ['deployment', 'daemonset', 'replicaset', 'serviceaccount'], 4],
    ['agent-job', ['deployment', 'replicaset', 'serviceaccount', 'agenttasktemplate'], 1],
  ] as const)('collects a healthy %s completely', async (chart, kinds, agents) => {
    const place = await installed(chart, helm);
    const {result, exit, stderr, names, text, errors, all} = await collected(place, helm);
    expect({exit, errors, complete: result.complete}, stderr).toEqual({
      exit: 0,
      errors: [],
      complete: true,
    });
    expect(result).toMatchObject({
      containers: agents,
      findings: [{code: 'DEBUG_OFF', verdict: 'note'}],
    });
    const files = [
      'SUMMARY.md',
      'TICKET.md',
      'errors.json',
      'events.txt',
      'findings.json',
      'manifest.json',
      'redactions.json',
      'report.html',
      'tools.json',
      'version.json',
    ];
    expect(names).toEqual(
      expect.arrayContaining([
        ...files,
        'releases/scalr-agent/history.json',
        'releases/scalr-agent/values.json',
      ]),
    );
    for (const kind of [...kinds, 'pod', 'node'])
      expect(names.join()).toContain(`objects/${kind}/`);
    expect(logsIn(names)).toHaveLength(agents);
    for (const name of names.filter((each) => each.startsWith('logs/')))
      expect(text(name)).toMatch(/^\d{4}-\d\d-\d\dT\S+ The agent is ready to receive tasks\n$/);
    expect(JSON.parse(text('tools.json'))).toMatchObject({
      helm: expect.stringMatching(/^v?[34]\./),
      kubectl: expect.stringMatching(/^v1\./),
    });
    expect(text('SUMMARY.md')).toContain(
      `- scalr-agent: ${chart} 0.6.5, deployed; agent 1.4.0, newest known version\n`,
    );
    expect(JSON.parse(text('releases/scalr-agent/history.json'))).toMatchObject([
      {revision: 1, status: 'deployed'},
    ]);
    expect(all).not.toMatch(
      /hunter2|managedFields|last-applied-configuration|sh\.helm\.release\.v1/,
    );
  });
});

test('collects a crashed agent with its previous log, init containers and a debugger', async () => {
  const place = await workplace();
  const {kubectl, kubeconfig, namespace} = place;
  const two = [
    {name: 'prepare', image: 'a'},
    {name: 'wait', image: 'a'},
  ];
  const containers = ['agent', 'sidecar'].map((name) => ({name, image: 'scalr/agent:1'}));
  await kubectl.apply(
    labeled('crashes', ofAgent.labels, {outcome: 'crash-loop', spec: {containers}}),
    labeled('well', ofAgent.labels, {spec: {initContainers: two, containers}}),
    labeled('stuck', ofAgent.labels, {
      outcome: 'init-stuck',
      spec: {initContainers: two, containers},
    }),
    pod('theirs'),
  );
  const said = {
    agent: {current: ['again'], previous: ['the token was refused']},
    prepare: {current: ['made a directory']},
  };
  await setLogs(kubeconfig, {namespace}, {...said, '*': {current: ['hello'], previous: ['bye']}});
  await expect.poll(() => phaseOf(place, 'well')).toBe('Running');
  await kubectl('debug', 'well', '--image=busybox', '--container=debugger');
  const status = {
    status: {
      ephemeralContainerStatuses: [
        {
          name: 'debugger',
          image: 'busybox',
          imageID: '',
          ready: false,
          restartCount: 0,
          state: {running: {}},
        },
      ],
    },
  };
  await kubectl(
    'patch',
    'pod',
    'well',
    '--subresource=status',
    `--patch=${JSON.stringify(status)}`,
  );
  const {exit, names, text, result, stderr} = await collected(place, anyHelm);
  expect(exit, stderr).toBe(0);
  expect(names.filter((name) => name.startsWith('logs/'))).toEqual([
    'logs/crashes/agent.log',
    'logs/crashes/agent.previous.log',
    'logs/crashes/sidecar.log',
    'logs/crashes/sidecar.previous.log',
    'logs/stuck/prepare.log',
    'logs/well/agent.log',
    'logs/well/debugger.log',
    'logs/well/prepare.log',
    'logs/well/sidecar.log',
    'logs/well/wait.log',
  ]);
  expect(text('logs/crashes/agent.previous.log')).toContain('the token was refused');
  expect(text('logs/stuck/prepare.log')).toContain('made a directory');
  expect(result.findings).toContainEqual(
    expect.objectContaining({
      subject: {object: 'pod/crashes'},
      evidence: expect.objectContaining({file: expect.stringMatching(/^logs\/crashes\//)}),
    }),
  );
  expect(text('events.txt')).toContain('Back-off restarting failed container');
  expect(names).not.toContain('objects/pod/theirs.json');
});

describe('runs of agent-job', () => {
  const run = (name: string, labels: object, names: readonly string[]): object => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {name},
    spec: {
      template: {
        metadata: {labels, annotations: {'test.scalr.io/outcome': 'unready'}},
        spec: {
          restartPolicy: 'Never',
          containers: names.map((each) => ({name: each, image: 'scalr/runner:1'})),
        },
      },
    },
  });
  const begun = ({kubectl}: Workplace, count: number) =>
    expect
      .poll(
        async () =>
          (
            await kubectl(
              'get',
              'pods',
              '--selector=batch.kubernetes.io/job-name',
              '--output',
              'jsonpath={.items[*].status.containerStatuses[0].state.running.startedAt}',
            )
          )
            .split(' ')
            .filter(Boolean).length,
      )
      .toBe(count);
  const task = {'app.kubernetes.io/instance': 'scalr-agent', 'app.kubernetes.io/component': 'task'};

  test('are found by their labels, and a single one by its ID', async () => {
    const place = await installed('agent-job', anyHelm);
    const names = ['worker', 'runner'];
    await place.kubectl.apply(
      run('atask-run-1-plan', task, names),
      run('atask-run-2-plan', task, names),
      run('backup', {}, names),
    );
    await begun(place, 3);
    const {names: all} = await collected(place, anyHelm);
    expect(logsIn(all)).toEqual([
      ...['runner', 'worker'].map((name) => `logs/atask-run-1-plan-?/${name}.log`),
      ...['runner', 'worker'].map((name) => `logs/atask-run-2-plan-?/${name}.log`),
      expect.stringMatching(/^logs\/scalr-agent-.*controller\.log$/),
    ]);
    expect(all).toEqual(
      expect.arrayContaining([
        'objects/job/atask-run-1-plan.json',
        'objects/job/atask-run-2-plan.json',
      ]),
    );
    expect(all.join()).not.toContain('backup');
    const {names: one} = await collected(place, anyHelm, ['--run', 'run-2']);
    expect(logsIn(one).join()).toMatch(
      /^logs\/atask-run-2-plan-\?\/runner\.log,logs\/atask-run-2-plan-\?\/worker\.log,logs\/scalr-agent-/,
    );
  });

  test('are found by their containers in an old version', async () => {
    const place = await installedLongAgo('agent-job', '0.5.63', anyHelm);
    await place.kubectl.apply(
      run('old-run', {}, ['runner', 'worker']),
      run('backup', {}, ['dump']),
    );
    await begun(place, 2);
    const {names, text} = await collected(place, anyHelm);
    expect(text('SUMMARY.md')).toContain('- scalr-agent: agent-job 0.5.63, deployed');
    expect(logsIn(names)).toEqual(
      expect.arrayContaining(['logs/old-run-?/runner.log', 'logs/old-run-?/worker.log']),
    );
    expect(names.join()).not.toContain('backup');
  });
});

test('writes nothing when there is no agent', async () => {
  const {stdout, exit} = await collectLogs(await workplace(), anyHelm, ['--json']);
  expect({exit, ...JSON.parse(stdout).error}).toMatchObject({exit: 2, code: 'RELEASE_NOT_FOUND'});
});

test('collects everything else when helm is missing, and reports it', async () => {
  const place = await installPlace();
  await place.kubectl.apply(labeled('agent', ofAgent.labels));
  await expect.poll(() => phaseOf(place, 'agent')).toBe('Running');
  const {exit, errors, names} = await collected(place, '/nowhere/helm');
  expect({exit, what: errors.map(({what}) => what)}).toEqual({exit: 7, what: ['version of helm']});
  expect(logsIn(names)).toEqual(['logs/agent/agent.log']);
});
