import {describe, expect, test} from 'vitest';
import {LogMatcher, type LogRecord} from '../../../../src/checks/diagnose/log-matcher.ts';
import type {
  Claim,
  Event,
  KubernetesObject,
  Pod,
} from '../../../../src/cluster/kubernetes/objects.ts';
import {clusterFindings} from '../../../../src/extensions/bundle/cluster-findings.ts';
import {objectFiles} from '../../../../src/extensions/bundle/collect/read-objects.ts';
import {BundlePositions} from '../../../../src/extensions/bundle/positions.ts';
import type {ObjectFinding} from '../../../../src/ground/finding.ts';
import {TODAY} from '../../../support/settings-from.ts';

type Status = NonNullable<Pod['status']>;
const pod = (status: Status, name = 'agent-1'): Pod => ({
  kind: 'Pod',
  metadata: {name, uid: name},
  spec: {containers: [{name: 'agent'}]},
  status: {phase: 'Running', ...status},
});
const agent = (more: object = {}, name = 'agent') => ({
  name,
  ready: false,
  restartCount: 0,
  state: {running: {}},
  ...more,
});
const READY = {conditions: [{type: 'Ready', status: 'True'}]};
const event = (
  about: KubernetesObject,
  reason: string,
  message: string,
  type = 'Warning',
): Event => ({
  kind: 'Event',
  metadata: {name: reason, creationTimestamp: TODAY.toISOString()},
  type,
  reason,
  message,
  lastTimestamp: TODAY.toISOString(),
  involvedObject: {kind: about.kind as string, name: about.metadata.name},
});

function log(file: string, ...lines: readonly string[]): LogRecord {
  const text = lines.map((line) => `${TODAY.toISOString()} ${line}\n`).join('');
  const words = new LogMatcher();
  words.push(Buffer.from(text));
  return {file, bytes: text.length, tail: text, ...words.end()};
}

const texts = (objects: readonly KubernetesObject[]) =>
  objectFiles(objects, () => (value) => value);

function find(objects: readonly KubernetesObject[], logs: readonly LogRecord[] = []) {
  return clusterFindings({
    objects,
    logs,
    places: new BundlePositions(texts(objects), new Set(), logs),
    now: TODAY,
  });
}

/** What stands in the line that a finding names. */
function seen(
  objects: readonly KubernetesObject[],
  finding: ObjectFinding | undefined,
): string | undefined {
  const {file, line = 0} = finding?.evidence ?? {};
  return texts(objects)
    .find(({name}) => name === file)
    ?.text.split('\n')[line - 1];
}

describe('causes have evidence in the bundle', () => {
  test('of a crash loop: the last line before the exit', () => {
    const crash = pod({
      containerStatuses: [
        agent({
          restartCount: 9,
          state: {waiting: {reason: 'CrashLoopBackOff'}},
          lastState: {terminated: {exitCode: 1}},
        }),
      ],
    });
    const logs = [
      log('logs/agent-1/agent.log', 'starting'),
      log('logs/agent-1/agent.previous.log', 'starting', 'no such option', 'bye'),
    ];
    expect(find([crash], logs)).toMatchObject([
      {
        verdict: 'error',
        code: 'CRASH_LOOP',
        subject: {object: 'pod/agent-1'},
        evidence: {file: 'logs/agent-1/agent.previous.log', line: 3},
      },
    ]);
    expect(find([crash])).toMatchObject([
      {code: 'CRASH_LOOP', evidence: {file: 'objects/pod/agent-1.json'}},
    ]);
  });

  test('of an out-of-memory error: the state of the container', () => {
    const ended = {terminated: {reason: 'OOMKilled', exitCode: 137}};
    const killed = pod({
      containerStatuses: [
        agent({restartCount: 4, state: {waiting: {reason: 'CrashLoopBackOff'}}, lastState: ended}),
      ],
    });
    const [finding] = find([killed], [log('logs/agent-1/agent.previous.log', 'working')]);
    expect(finding).toMatchObject({
      verdict: 'error',
      code: 'OOM_KILLED',
      evidence: {file: 'objects/pod/agent-1.json'},
    });
    expect(seen([killed], finding)).toContain('"reason": "OOMKilled"');
  });

  test('of a failed image pull: the newest event', () => {
    const waiting = {
      waiting: {
        reason: 'ImagePullBackOff',
        message: 'Back-off pulling image "scalr/agent:9": ErrImagePull: not found',
      },
    };
    const stuck = pod({phase: 'Pending', containerStatuses: [agent({state: waiting})]});
    const other = pod({...READY, containerStatuses: [agent({ready: true})]}, 'agent-10');
    const objects = [
      stuck,
      other,
      event(stuck, 'Failed', 'Failed to pull image "scalr/agent:9": not found'),
      event(other, 'Failed', 'Failed to pull image "scalr/agent:9": not found'),
      event(stuck, 'Failed', 'Error: ImagePullBackOff'),
    ];
    const [finding] = find(objects);
    expect(finding).toMatchObject({code: 'IMAGE_NOT_FOUND', evidence: {file: 'events.txt'}});
    expect(seen(objects, finding)).toContain('Pod/agent-1  Failed  Failed to pull image');
  });

  test('of an unscheduled pod: the message of the scheduler', () => {
    const words = '0/2 nodes are available: 2 Insufficient memory.';
    const pending = pod({
      phase: 'Pending',
      conditions: [
        {type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: words},
      ],
    });
    const objects = [
      pending,
      event(pending, 'FailedScheduling', `${words} preemption: 0/2 nodes are available`),
    ];
    const [finding] = find(objects);
    expect(finding).toMatchObject({
      code: 'INSUFFICIENT_MEMORY',
      message: expect.stringContaining('2 Insufficient memory'),
      evidence: {file: 'events.txt'},
    });
    expect(seen(objects, finding)).toContain('FailedScheduling');
    const [later] = find([pending]);
    expect(seen([pending], later)).toContain('2 Insufficient memory');
  });

  test('of a PVC: the message of the storage driver', () => {
    const claim: Claim = {
      kind: 'PersistentVolumeClaim',
      metadata: {name: 'cache'},
      status: {phase: 'Pending'},
    };
    const objects = [
      claim,
      event(claim, 'ProvisioningFailed', 'storageclass.storage.k8s.io "fast" not found'),
    ];
    const [finding] = find(objects);
    expect(finding).toMatchObject({
      code: 'CLASS_NOT_FOUND',
      subject: {object: 'pvc/cache'},
      evidence: {file: 'events.txt', line: 1},
    });
  });

  test('without a line number when redaction moved the lines', () => {
    const claim: Claim = {
      kind: 'PersistentVolumeClaim',
      metadata: {name: 'cache'},
      status: {phase: 'Lost'},
    };
    const places = new BundlePositions(
      texts([claim]),
      new Set(['objects/persistentvolumeclaim/cache.json']),
      [],
    );
    const [finding] = clusterFindings({objects: [claim], logs: [], places, now: TODAY});
    expect(finding).toMatchObject({
      code: 'PVC_LOST',
      evidence: {file: 'objects/persistentvolumeclaim/cache.json'},
    });
    expect(finding?.evidence).not.toHaveProperty('line');
  });
});

describe('agent log messages', () => {
  const REFUSED = '{"level":"error","event":"Invalid agent token"}';
  const well = pod({...READY, containerStatuses: [agent({ready: true})]});

  test('explain an unhealthy agent, behind the timestamps of the node', () => {
    const status = agent({restartCount: 1, lastState: {terminated: {exitCode: 1}}});
    const logs = [
      log('logs/agent-1/agent.log', 'starting', REFUSED, REFUSED),
      log('logs/agent-1/agent.previous.log', 'something older'),
    ];
    expect(find([pod({containerStatuses: [status]})], logs)).toContainEqual(
      expect.objectContaining({
        code: 'TOKEN_REJECTED',
        evidence: {file: 'logs/agent-1/agent.log', line: 3},
      }),
    );
  });

  test('are reported once when resolved, with their number', () => {
    const lines = [
      REFUSED,
      ...Array.from({length: 2000}, () => 'x'.repeat(40)),
      REFUSED,
      'agent is ready to receive tasks',
      'working',
    ];
    const logs = [
      log('logs/agent-1/agent.log', ...lines),
      log('logs/agent-1/agent.previous.log', REFUSED),
    ];
    expect(find([well], logs)).toMatchObject([
      {
        verdict: 'warning',
        code: 'TOKEN_REJECTED',
        message:
          'container agent logged 2 times, last: Invalid agent token; the pod became ready afterwards',
        evidence: {file: 'logs/agent-1/agent.log', line: 2002},
        remedies: [{text: expect.stringContaining('agent pool')}],
      },
    ]);
    expect(find([well], logs.slice(1))).toMatchObject([
      {message: expect.stringContaining('before the last restart'), evidence: {line: 1}},
    ]);
  });

  test('are not reported when they were temporary', () => {
    const unreachable = 'connection refused';
    const said = (count: number) =>
      log(
        'logs/agent-1/agent.log',
        ...Array.from({length: count}, () => unreachable),
        'agent is ready to receive tasks',
      );
    expect(find([well], [said(2)])).toEqual([]);
    expect(find([well], [said(3)])).toMatchObject([
      {code: 'CONNECTION_FAILED', evidence: {line: 3}},
    ]);
  });

  test('are reported once for all pods of a workload', () => {
    const set = {
      kind: 'DaemonSet',
      metadata: {name: 'workers', uid: 's'},
      spec: {},
      status: {desiredNumberScheduled: 2, numberReady: 2, updatedNumberScheduled: 2},
    };
    const pods = ['a', 'b'].map((name) => ({
      ...pod({...READY, containerStatuses: [agent({ready: true})]}, name),
      metadata: {
        name,
        uid: name,
        ownerReferences: [{kind: 'DaemonSet', name: 'workers', uid: 's'}],
      },
    }));
    const logs = ['a', 'b'].map((name) =>
      log(`logs/${name}/agent.log`, 'x509: unknown authority', ...Array(9).fill('fine')),
    );
    expect(find([set, ...pods], logs)).toMatchObject([
      {
        code: 'TLS_UNKNOWN_AUTHORITY',
        subject: {object: 'pod/a'},
        message: expect.stringMatching(/\(and 1 more pod\)$/),
      },
    ]);
  });

  test('count for the runner when they are about the agent, and never for containers of others', () => {
    const run: Pod = {
      ...pod(
        {
          ...READY,
          containerStatuses: [
            agent({ready: true}, 'worker'),
            agent({ready: true}, 'runner'),
            agent({ready: true}, 'istio-proxy'),
          ],
        },
        'run-1',
      ),
    };
    const lines = [
      'x509: certificate signed by unknown authority',
      'dial tcp: connection refused',
      'connection refused',
      'connection refused',
      'end',
    ];
    const logs = ['runner', 'istio-proxy'].map((name) => log(`logs/run-1/${name}.log`, ...lines));
    expect(find([run], logs)).toMatchObject([
      {code: 'TLS_UNKNOWN_AUTHORITY', evidence: {file: 'logs/run-1/runner.log', line: 1}},
    ]);
  });
});

describe('restarts', () => {
  const restarted = (reason: string, name = 'agent-1') =>
    pod(
      {
        ...READY,
        containerStatuses: [
          agent({ready: true, restartCount: 2, lastState: {terminated: {reason, exitCode: 137}}}),
        ],
      },
      name,
    );

  test('because of memory are reported although the pod is ready again', () => {
    const objects = [restarted('OOMKilled')];
    const [finding] = find(objects);
    expect(finding).toMatchObject({
      verdict: 'warning',
      code: 'OOM_KILLED',
      evidence: {file: 'objects/pod/agent-1.json'},
    });
    expect(finding?.message).toBe('container agent restarted 2 times: OOMKilled (exit code 137)');
    expect(seen(objects, finding)).toContain('"reason": "OOMKilled"');
  });

  test('for another reason refer to the last log', () => {
    const [finding] = find(
      [restarted('Error')],
      [log('logs/agent-1/agent.previous.log', 'one', 'two')],
    );
    expect(finding).toMatchObject({
      code: 'RESTARTED',
      evidence: {file: 'logs/agent-1/agent.previous.log', line: 2},
    });
  });
});

describe('problems that do not affect readiness', () => {
  test('an agent without pods is reported', () => {
    const deployment = {
      kind: 'Deployment',
      metadata: {name: 'agent', namespace: 'a'},
      spec: {replicas: 0},
    } as KubernetesObject;
    const [finding, ...rest] = find([deployment]);
    expect([finding, rest]).toMatchObject([
      {verdict: 'warning', code: 'SCALED_TO_ZERO', subject: {object: 'deployment/agent'}},
      [],
    ]);
    const [asManifest] = clusterFindings({
      objects: [deployment],
      logs: [],
      places: new BundlePositions([], new Set(), []),
      replicas: {agent: 3},
      now: TODAY,
    });
    expect(asManifest?.remedies[0]?.text).toMatch(
      /: kubectl scale deployment agent --replicas=3 --namespace a$/,
    );
    expect(seen([deployment], finding)).toContain('"replicas": 0');
  });

  test('an evicted pod is reported although another one replaced it', () => {
    const evicted = pod({
      phase: 'Failed',
      reason: 'Evicted',
      message: 'The node was low on resource: memory.',
    });
    const other = pod({...READY, containerStatuses: [agent({ready: true})]}, 'agent-2');
    for (const each of [evicted, other])
      each.metadata.ownerReferences = [{kind: 'ReplicaSet', name: 'agent'}];
    const set = {
      kind: 'ReplicaSet',
      metadata: {name: 'agent'},
      spec: {replicas: 1},
      status: {replicas: 1, readyReplicas: 1},
    } as KubernetesObject;
    const found = find([set, evicted, other]);
    expect(found).toMatchObject([
      {
        code: 'EVICTED',
        subject: {object: 'pod/agent-1'},
        message: expect.stringContaining('memory'),
      },
    ]);
    expect(seen([evicted], found[0])).toContain('"reason": "Evicted"');
  });
});

test('a healthy agent has no findings', () => {
  const objects = [pod({...READY, containerStatuses: [agent({ready: true})]})];
  expect(find(objects, [log('logs/agent-1/agent.log', 'agent is ready to receive tasks')])).toEqual(
    [],
  );
});
