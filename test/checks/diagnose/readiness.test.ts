import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {registered, verdictIn} from '../../../src/checks/diagnose/agent-log.ts';
import {explainSnapshot, isReady, progress} from '../../../src/checks/diagnose/explain.ts';
import {
  afterStart,
  around,
  claim,
  daemonSet,
  deployment,
  event,
  job,
  pod,
  READY_DEPLOYMENT,
  readyPod,
  replicaSet,
  START,
  snapshot,
  waiting,
} from './objects.ts';

const READY_LINE =
  '{"event": "Scalr agent is ready to receive tasks.", "level": "info", "logger_name": "tacoagent.cmd"}';
const LOG = 'agent-5f-x/agent';
const well = [READY_DEPLOYMENT, replicaSet({readyReplicas: 1}), readyPod()];

/** Everything that can have happened to a pod before it became well. */
const PAST = [
  ['Failed', 'Failed to pull image "scalr/agent:1": not found'],
  ['Failed', 'Error: secret "token" not found'],
  ['FailedToRetrieveImagePullSecret', 'Unable to retrieve some image pull secrets (x)'],
  ['FailedScheduling', '0/3 nodes are available: 3 Insufficient cpu.'],
  ['FailedMount', 'MountVolume.SetUp failed for volume "x" : secret "x" not found'],
  ['FailedAttachVolume', 'Multi-Attach error for volume "x"'],
  ['FailedCreatePodSandBox', 'no IP addresses'],
  ['Unhealthy', 'Readiness probe failed: x'],
  ['BackOff', 'Back-off restarting failed container'],
  ['Evicted', 'The node was low on resource: memory.'],
  ['NodeNotReady', 'Node is not ready'],
] as const;

describe('healthy objects have no cause', () => {
  test('regardless of earlier failures', () => {
    const past = fc.array(fc.tuple(fc.constantFrom(...PAST), fc.nat(600)), {maxLength: 8});
    fc.assert(
      fc.property(past, fc.nat(5), fc.nat(7200), (events, restartCount, seconds) => {
        const healthy = readyPod('agent-5f-x', {
          restartCount,
          lastState: restartCount ? {terminated: {exitCode: 1}} : {},
        });
        const said = events.map(([[reason, message], at]) => event(healthy, reason, message, {at}));
        const refused = event(replicaSet(), 'FailedCreate', 'Error creating: exceeded quota: x');
        const seen = snapshot(
          [READY_DEPLOYMENT, replicaSet({readyReplicas: 1}), healthy, ...said, refused],
          {[LOG]: READY_LINE},
        );
        expect(explainSnapshot(seen, afterStart(seconds))).toEqual([]);
        expect(isReady(seen)).toBe(true);
      }),
    );
  });

  test.each([
    ['a pod that was just made', around(pod({spec: {nodeName: undefined}, conditions: []}))],
    ['a container that is just being made', around(waiting('ContainerCreating'))],
    [
      'a program that just started',
      around(pod({phase: 'Running', container: {state: {running: {startedAt: START}}}})),
    ],
    [
      'a claim that waits for its first consumer',
      [...well, claim(), event(claim(), 'WaitForFirstConsumer', 'waiting', {type: 'Normal'})],
    ],
    [
      'a claim whose volume is just being made',
      [claim(), event(claim(), 'ExternalProvisioning', 'Waiting for a volume', {type: 'Normal'})],
    ],
    ['a claim that was bound at last', [claim('Bound'), event(claim(), 'ProvisioningFailed', 'x')]],
    [
      'an evicted pod that was replaced',
      [
        ...well,
        pod({name: 'old', phase: 'Failed', status: {reason: 'Evicted', message: 'memory'}}),
      ],
    ],
    [
      'a pod on its way out',
      [
        ...well,
        pod({
          name: 'old',
          metadata: {deletionTimestamp: START},
          container: {state: {waiting: {reason: 'Mystery'}}},
        }),
      ],
    ],
    ['a Job that is done', [job({succeeded: 1, conditions: [{type: 'Complete', status: 'True'}]})]],
    [
      'a DaemonSet that was refused its pods and has them',
      [daemonSet({desiredNumberScheduled: 0}), job({succeeded: 1})].slice(1),
    ],
  ])('%s', (_, objects) => {
    expect(explainSnapshot(snapshot(objects), afterStart(5))).toEqual([]);
  });

  test('after a resolved mount failure while the image is pulled', () => {
    const creating = waiting('ContainerCreating');
    const objects = around(
      creating,
      event(creating, 'Pulling', 'Pulling image "scalr/agent:1"', {at: 2, type: 'Normal'}),
      event(
        creating,
        'FailedMount',
        'MountVolume.SetUp failed for volume "x" : secret "x" not found',
        {at: 2},
      ),
    );
    expect(explainSnapshot(snapshot(objects), afterStart(20))).toEqual([]);
  });

  test('with another release in the namespace, and with runs', () => {
    const foreign = {
      ...waiting('Mystery'),
      metadata: {name: 'x', labels: {'app.kubernetes.io/instance': 'other'}},
    };
    const run = {
      ...waiting('Mystery'),
      metadata: {
        name: 'y',
        labels: {'app.kubernetes.io/instance': 'acme', 'app.kubernetes.io/component': 'task'},
      },
    };
    expect(explainSnapshot(snapshot([...well, foreign, run]), afterStart(99))).toEqual([]);
  });
});

describe('progress', () => {
  test.each([
    [[deployment({observedGeneration: 0})], 'waiting', 'not observed yet'],
    [
      [
        deployment(
          {replicas: 3, updatedReplicas: 3, readyReplicas: 2, availableReplicas: 2},
          {replicas: 3},
        ),
      ],
      'waiting',
      '2 of 3 ready',
    ],
    [
      [
        deployment(
          {replicas: 3, updatedReplicas: 1, readyReplicas: 3, availableReplicas: 3},
          {replicas: 3},
        ),
      ],
      'waiting',
      '1 of 3 updated',
    ],
    [
      [deployment({replicas: 2, updatedReplicas: 1, readyReplicas: 2, availableReplicas: 2})],
      'waiting',
      '1 of 1 ready, 1 old pending termination',
    ],
    [well, 'ready', '1 of 1 ready'],
    [around(waiting('InvalidImageName', 'x')), 'failing', '0 of 1 ready'],
    [
      [daemonSet({desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberReady: 3})],
      'ready',
      '3 of 3 ready',
    ],
  ])('of %#', (objects, state, text) => {
    const seen = snapshot(objects);
    expect(progress(seen, explainSnapshot(seen, new Date(START)))).toMatchObject([{state, text}]);
    expect(isReady(snapshot(objects))).toBe(state === 'ready');
  });

  test('a release without objects is not ready', () => {
    expect(isReady(snapshot([]))).toBe(false);
  });
});

describe('registration of agents', () => {
  const says = (log: string | undefined, now?: Date) =>
    registered(snapshot(well, log === undefined ? {} : {[LOG]: log}), now);

  test.each([
    ['the documented line', READY_LINE, true],
    [
      'the documented line in plain format',
      '2026-11-21 10:00:00 INFO Scalr agent is ready to receive tasks.',
      true,
    ],
    ['the line after trouble', `Connection refused\n${READY_LINE}`, true],
    ['trouble after the line', `${READY_LINE}\n401 Unauthorized`, false],
    ['words nobody knows', 'connected to something', 'unknown'],
    [
      'trouble that is only chatter',
      '{"event": "connection refused, next try", "level": "debug"}',
      'unknown',
    ],
    ['nothing', undefined, 'unknown'],
    ['trouble long past', ['Connection refused', 'a', 'b', 'c', 'd', 'e'].join('\n'), 'unknown'],
  ])('%s', (_, log, answer) => {
    expect(says(log)).toBe(answer);
  });

  test('an agent that is not registered makes the release not ready', () => {
    expect(isReady(snapshot(well, {[LOG]: 'the token was rejected'}))).toBe(false);
  });

  test('uses the timestamp of the line if it has one', () => {
    const line =
      '{"event": "connection refused", "level": "error", "timestamp": "2026-11-21 10:00:00.1"}';
    expect([says(line, afterStart(60)), says(line, afterStart(3600))]).toEqual([false, 'unknown']);
  });

  test('prefers the time of the kubelet, because the clock or the time zone of a container can be wrong', () => {
    const outer = afterStart(50).toISOString();
    const lines = [
      `${outer} 2026-11-21 05:00:00 [error] connection refused`,
      `${outer} {"event": "connection refused", "level": "error", "timestamp": "2026-11-21 05:00:00.1"}`,
    ];
    for (const line of lines) {
      expect(says(line, afterStart(60))).toBe(false);
      expect(says(line, afterStart(3600))).toBe('unknown');
      const [cause] = explainSnapshot(snapshot(well, {[LOG]: line}), afterStart(60));
      expect(cause?.message).toMatch(/^agent log: (\[error\] )?connection refused$/);
    }
  });

  test('requires all replicas to be registered', () => {
    const two = [...well, readyPod('agent-5f-y')];
    expect(registered(snapshot(two, {[LOG]: READY_LINE}))).toBe('unknown');
    expect(registered(snapshot(two, {[LOG]: READY_LINE, 'agent-5f-y/agent': READY_LINE}))).toBe(
      true,
    );
  });

  test('ignores injected containers', () => {
    const meshed = readyPod();
    const sidecar = {name: 'istio-proxy', ready: true, state: {running: {}}};
    const injected = {
      ...meshed,
      status: {
        ...meshed.status,
        containerStatuses: [sidecar, ...(meshed.status?.containerStatuses ?? [])],
      },
    };
    const logs = {'agent-5f-x/istio-proxy': 'connection refused', [LOG]: READY_LINE};
    expect(registered(snapshot([READY_DEPLOYMENT, replicaSet(), injected], logs))).toBe(true);
  });
});

describe('a log of errors that no row knows', () => {
  const at = (second: number): string => `2026-11-21 10:00:0${second}`;
  const FORBIDDEN = '409 Client Error: Conflict for url: https://acme.scalr.io/api/agents/register';
  const plain = [1, 2, 3].map((second) => `${at(second)} [error] ${FORBIDDEN}`);
  const json = [1, 2, 3].map((second) =>
    JSON.stringify({event: FORBIDDEN, level: 'error', timestamp: at(second)}),
  );
  const seen = (lines: readonly string[]) => snapshot(well, {[LOG]: lines.join('\n')});

  test.each([
    ['text', plain],
    ['JSON', json],
    ['one line', plain.slice(0, 1)],
  ])('is not registered, and shows the line: %s', (_, lines) => {
    const found = seen(lines);
    expect(registered(found, afterStart(5))).toBe(false);
    expect(isReady(found, afterStart(5))).toBe(false);
    expect(explainSnapshot(found, afterStart(5))).toMatchObject([
      {code: 'AGENT_LOG_UNRECOGNIZED', message: expect.stringContaining(FORBIDDEN)},
    ]);
  });

  test.each([
    ['after the agent was ready', [READY_LINE, ...plain]],
    ['between other lines', [...plain.slice(0, 2), `${at(4)} [info] next attempt`]],
    ['older than ten minutes', plain.map((line) => line.replace('10:00', '09:40'))],
    ['without a level', ['starting', 'reading the configuration']],
  ])('is no sign of an agent that has not registered %s', (_, lines) => {
    expect(registered(seen(lines), afterStart(5))).not.toBe(false);
    expect(explainSnapshot(seen(lines), afterStart(5))).toEqual([]);
  });
});

describe('later work clears an error', () => {
  const at = (seconds: number): string => afterStart(seconds).toISOString();
  const ready = `${at(0)} [info] The agent is ready to receive tasks`;
  const meaning = (...lines: string[]) =>
    verdictIn([ready, ...lines].join('\n'), 'kubernetes', true, afterStart(120))?.meaning;

  test.each([
    [
      'a run',
      `${at(60)} level=error "Task failed" 401 Unauthorized for url: https://gitlab.corp/x`,
      `${at(80)} [info] Task completed`,
    ],
    [
      'a reconnect',
      `${at(60)} [error] Connection timed out, reconnecting in 1s`,
      `${at(61)} [info] Connected`,
    ],
    [
      'a retry',
      `${at(60)} [error] Temporary failure in name resolution`,
      `${at(62)} [info] Task acquired`,
    ],
  ])('of %s', (_, error, work) => {
    expect(meaning(error, work)).toBe('READY');
  });

  test('and nothing else does', () => {
    const rejected = `${at(60)} [error] 401 Client Error: Unauthorized for url: https://acme.scalr.io/api/x`;
    expect(meaning(rejected, `${at(61)} [info] retrying in 5s`)).toBe('TOKEN_REJECTED');
    expect(meaning(rejected, `${at(61)} [error] not connected`)).toBe('TOKEN_REJECTED');
  });

  test('a 401 of another server is not about the token', () => {
    const other = `${at(60)} [error] 401 Client Error: Unauthorized for url: https://gitlab.corp/x`;
    expect(meaning(other)).toBe('READY');
  });

  test('a line of a run on the level of information is not about the agent', () => {
    expect(meaning(`${at(60)} [info] atask-1: Error: no space left on device`)).toBe('READY');
  });
});
