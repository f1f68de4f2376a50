import {expect, test} from 'vitest';
import type {Pod} from '../../src/cluster/kubernetes/objects.ts';
import {AGENT_LINES} from '../checks/diagnose/agent-lines.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {setLogs} from '../control-plane/logs.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {installed} from '../support/installed-charts.ts';
import {status} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const QUICK = {timeout: 30_000};
const READY = 'The agent is ready to receive tasks';

interface Found {
  code: string;
  message: string;
  remedies: {text: string}[];
}

async function seen(place: Workplace) {
  const {stdout, exit} = await status(place, helm, ['--json']);
  const {state, causes, recent} = JSON.parse(stdout) as Record<'causes' | 'recent', Found[]> & {
    state: string;
  };
  return {exit, state, causes, recent};
}

const log = ({kubeconfig, namespace}: Workplace, ...lines: string[]): Promise<void> =>
  setLogs(kubeconfig, {namespace}, {'*': {current: lines}});

/** As the kubelet reports it. */
const report = async ({kubectl}: Workplace, pod: string, state: object): Promise<string> =>
  kubectl(
    'patch',
    'pod',
    pod,
    '--subresource=status',
    '--type=merge',
    `--patch=${JSON.stringify({status: state})}`,
  );

async function agentPod({kubectl}: Workplace): Promise<Pod> {
  const {items} = JSON.parse(await kubectl('get', 'pods', '--output', 'json')) as {items: Pod[]};
  return items.find(({status: {phase} = {}}) => phase === 'Running') as Pod;
}

test('restarts, reconnects and evictions of agents that are ready now are shown with what they need', async () => {
  const place = await installed('agent-local', helm);
  const {metadata, status: before} = await agentPod(place);
  const finishedAt = new Date().toISOString();
  const killed = {reason: 'OOMKilled', exitCode: 137, startedAt: finishedAt, finishedAt};
  const containerStatuses = before?.containerStatuses?.map((each) => ({
    ...each,
    restartCount: 7,
    lastState: {terminated: killed},
  }));
  await report(place, metadata.name, {containerStatuses});
  const lines = [`[info] ${READY}`, ...Array.from({length: 3}, () => '[info] reconnected')];
  const at = new Date(Date.now() - 60_000);
  const {kubeconfig, namespace} = place;
  await setLogs(kubeconfig, {namespace}, {'*': {current: lines, at, pauseMs: 1000}});
  const {exit, state, causes, recent} = await seen(place);
  expect({exit, state, causes}).toEqual({exit: 0, state: 'ready', causes: []});
  expect(recent).toMatchObject([
    {code: 'OOM_KILLED', message: expect.stringContaining('restarted 7 times')},
    {code: 'AGENT_RECONNECTS', message: expect.stringContaining('reconnected 3 times')},
  ]);

  await log(place, READY);
  await report(place, metadata.name, {
    phase: 'Failed',
    reason: 'Evicted',
    message: 'Usage of EmptyDir volume "cache" exceeds the limit "20Gi". ',
    containerStatuses: [],
  });
  // A new pod becomes ready.
  await expect
    .poll(() => seen(place), QUICK)
    .toMatchObject({
      exit: 0,
      state: 'ready',
      causes: [],
      recent: [{code: 'EVICTED', remedies: [{text: expect.stringContaining('--cache-size')}]}],
    });
});

test('runs that the cluster ended are counted with their reasons', async () => {
  const place = await installed('agent-job', helm);
  const labels = {
    'app.kubernetes.io/instance': 'scalr-agent',
    'app.kubernetes.io/component': 'task',
  };
  const ends = {
    'atask-1': {reason: 'Evicted', message: 'The node was low on resource: memory. '},
    'atask-2': {
      containerStatuses: [
        {
          name: 'runner',
          image: 'a',
          imageID: '',
          ready: false,
          restartCount: 0,
          state: {terminated: {reason: 'OOMKilled', exitCode: 137}},
        },
      ],
    },
  };
  for (const [name, end] of Object.entries(ends)) {
    await place.kubectl.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {name, labels, annotations: {'test.scalr.io/outcome': 'none'}},
      spec: {restartPolicy: 'Never', containers: [{name: 'runner', image: 'a'}]},
    });
    await report(place, name, {phase: 'Failed', startTime: new Date().toISOString(), ...end});
  }
  const {exit, state, recent} = await seen(place);
  expect({exit, state}).toEqual({exit: 0, state: 'ready'});
  expect(recent).toMatchObject([
    {code: 'RUNS_FAILED', message: '2 runs failed in the last 24 hours: Evicted, OOMKilled'},
  ]);
});

test('what an agent logs last is a cause, whatever it is', async () => {
  const place = await installed('agent-local', helm);
  const oneOfEach = new Map(
    AGENT_LINES.filter(({permanentFrom}) => permanentFrom !== undefined).map(({code, line}) => [
      code,
      line,
    ]),
  );
  for (const [code, line] of oneOfEach) {
    await log(place, `[error] ${line}`);
    const {exit, state, causes} = await seen(place);
    expect({exit, state, code: causes[0]?.code}, line).toMatchObject({exit: 1, code});
  }
  await log(place, '[error] 418 I am a teapot');
  const unknown = await seen(place);
  expect(unknown.causes).toMatchObject([{message: expect.stringContaining('418 I am a teapot')}]);
  expect(unknown.exit).toBe(1);
  await log(place, `[info] ${READY}`);
  expect(await seen(place)).toMatchObject({exit: 0, state: 'ready', causes: []});
});

test('an agent whose pods are ready is not ready without its Role, or without a node for workers', async () => {
  const job = await installed('agent-job', helm);
  await job.kubectl('delete', 'roles', '--all');
  expect(await seen(job)).toMatchObject({
    exit: 1,
    state: 'not-ready',
    causes: [{code: 'OBJECT_MISSING', message: expect.any(String)}],
  });
  const nowhere = await installed(
    'agent-k8s',
    helm,
    '--node-selector',
    'pool=nowhere',
    '--no-wait',
  );
  await expect
    .poll(async () => (await seen(nowhere)).causes.map(({code}) => code), QUICK)
    .toEqual(['NO_NODE_MATCHES']);
  expect((await seen(nowhere)).exit).toBe(1);
});
