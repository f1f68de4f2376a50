import {describe, expect, test} from 'vitest';
import {CAUSES, explainSnapshot} from '../../../src/checks/diagnose/explain.ts';
import type {KubernetesObject, Workload} from '../../../src/cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../../src/cluster/kubernetes/snapshot.ts';
import {findingText} from '../../../src/ui/finding-text.ts';
import {AGENT_LINES} from './agent-lines.ts';
import {
  afterStart,
  around,
  claim,
  crashed,
  daemonSet,
  deployment,
  event,
  job,
  pod,
  READY_DEPLOYMENT,
  readyPod,
  replicaSet,
  snapshot,
  unscheduled,
  waiting,
} from './objects.ts';

interface Case {
  code: string;
  objects: KubernetesObject[];
  logs?: Snapshot['logs'];
  object?: string;
  reason: string;
  /** The last second with hope, and the first without; `never` where time does not decide. */
  permanentFrom: number | 'never';
}

const POD = 'pod/agent-5f-x';
const LOG = 'agent-5f-x/agent';

/** A pod of a scheduler that sets no condition. */
const onFargate = pod({spec: {nodeName: undefined}, conditions: []});

const image = (
  code: string,
  message: string,
  reason: string,
  permanentFrom: Case['permanentFrom'],
): Case => ({
  code,
  objects: around(waiting('ImagePullBackOff', message)),
  reason: `ImagePullBackOff: scalr/agent:1: ${reason}`,
  permanentFrom,
});

const config = (
  code: string,
  message: string,
  permanentFrom: number,
  reason = 'CreateContainerConfigError',
): Case => ({
  code,
  objects: around(waiting(reason, message)),
  reason: `${reason}: ${message}`,
  permanentFrom,
});

const mount = (
  code: string,
  reason: string,
  message: string,
  permanentFrom: Case['permanentFrom'],
): Case => {
  const creating = waiting('ContainerCreating');
  return {
    code,
    objects: around(creating, event(creating, reason, message)),
    reason: `${reason}: ${message}`,
    permanentFrom,
  };
};

const nodes = (
  code: string,
  message: string,
  permanentFrom: Case['permanentFrom'] = 120,
): Case => ({
  code,
  objects: around(
    unscheduled(
      `0/3 nodes are available: ${message}. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is…`,
    ),
  ),
  reason: `unschedulable: 0/3 nodes are available: ${message}`,
  permanentFrom,
});

const pending = (
  code: string,
  reason: string,
  message: string,
  permanentFrom: Case['permanentFrom'],
): Case => ({
  code,
  objects: [claim(), event(claim(), reason, message)],
  object: 'pvc/agent-cache',
  reason: `PVC pending: ${message}`,
  permanentFrom,
});

const forbidden = (
  code: string,
  message: string,
  permanentFrom: number,
  words = message,
): Case => ({
  code,
  objects: [
    deployment(),
    replicaSet({
      replicas: 0,
      conditions: [
        {
          type: 'ReplicaFailure',
          status: 'True',
          reason: 'FailedCreate',
          message,
          lastTransitionTime: '2026-11-21T10:00:00Z',
        },
      ],
    }),
  ],
  object: 'deployment/agent',
  reason: `FailedCreate: ${words}`,
  permanentFrom,
});

const said = (code: string, line: string, words: string, permanentFrom: number): Case => ({
  code,
  objects: [READY_DEPLOYMENT, replicaSet(), readyPod()],
  logs: {[LOG]: `starting\n${line}\n`},
  reason: `agent log: ${words}`,
  permanentFrom,
});

const DENIED =
  'failed to pull and unpack image "docker.io/scalr/agent:1": failed to resolve reference "docker.io/scalr/agent:1": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed';
const secretless = waiting('ErrImagePull', 'rpc error: code = Unknown desc = 401 Unauthorized');
const evicted = pod({
  phase: 'Failed',
  status: {reason: 'Evicted', message: 'The node was low on resource: memory. '},
});
const probed = pod({
  phase: 'Running',
  container: {state: {running: {startedAt: '2026-11-21T10:00:00Z'}}},
});

const CASES: Case[] = [
  image(
    'IMAGE_DENIED',
    `Back-off pulling image "scalr/agent:1": ErrImagePull: ${DENIED}`,
    'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
    30,
  ),
  image(
    'IMAGE_NOT_FOUND',
    'Back-off pulling image "scalr/agent:1": ErrImagePull: not found',
    'not found',
    30,
  ),
  image(
    'IMAGE_NOT_FOUND',
    'Error response from daemon: manifest for scalr/agent:1 not found: manifest unknown: manifest unknown',
    'manifest for scalr/agent:1 not found: manifest unknown: manifest unknown',
    30,
  ),
  image(
    'IMAGE_RATE_LIMIT',
    'rpc error: code = Unknown desc = toomanyrequests: You have reached your unauthenticated pull rate limit',
    'toomanyrequests: You have reached your unauthenticated pull rate limit',
    120,
  ),
  image(
    'IMAGE_ARCHITECTURE',
    'failed to pull and unpack image "x": no match for platform in manifest: not found',
    'no match for platform in manifest: not found',
    30,
  ),
  image(
    'REGISTRY_UNREACHABLE',
    'dial tcp: lookup registry.acme: no such host',
    'dial tcp: lookup registry.acme: no such host',
    120,
  ),
  image(
    'IMAGE_SHORT_NAME',
    'rpc error: code = Unknown desc = short name mode is enforcing, but image name scalr/agent:1.4.0 returns ambiguous list',
    'short name mode is enforcing, but image name scalr/agent:1.4.0 returns ambiguous list',
    0,
  ),
  image(
    'NODE_DISK_FULL',
    'failed to extract layer: write /var/lib/containerd/x: no space left on device',
    'failed to extract layer: write /var/lib/containerd/x: no space left on device',
    120,
  ),
  image('IMAGE_PULL_FAILED', 'layer has the wrong size', 'layer has the wrong size', 60),
  {
    code: 'PULL_SECRET_NOT_FOUND',
    objects: around(
      secretless,
      event(
        secretless,
        'FailedToRetrieveImagePullSecret',
        'Unable to retrieve some image pull secrets (regcred); attempting to pull the image may not succeed.',
      ),
    ),
    reason:
      'ImagePullBackOff: Unable to retrieve some image pull secrets (regcred); attempting to pull the image may not succeed.',
    permanentFrom: 30,
  },
  config(
    'IMAGE_NAME_INVALID',
    'couldn\'t parse image name "Scalr/Agent": invalid reference format',
    0,
    'InvalidImageName',
  ),
  config(
    'IMAGE_NEVER_PULLED',
    'Container image "scalr/agent:1" is not present with pull policy of Never',
    30,
    'ErrImageNeverPull',
  ),
  config('SECRET_NOT_FOUND', 'secret "scalr-token" not found', 60),
  config('KEY_NOT_FOUND', "couldn't find key token in Secret acme/scalr-token", 60),
  config('CONFIG_MAP_NOT_FOUND', 'configmap "ca" not found', 60),
  config(
    'RUNS_AS_ROOT',
    'container has runAsNonRoot and image will run as root (pod: "x", container: agent)',
    0,
  ),
  config(
    'CONTAINER_CONFIG',
    'failed to prepare subPath for volumeMount "data" of container "agent"',
    60,
  ),
  config('CREATE_CONTAINER_FAILED', 'failed to reserve container name', 60, 'CreateContainerError'),
  mount(
    'SECRET_NOT_FOUND',
    'FailedMount',
    'MountVolume.SetUp failed for volume "ca" : secret "ca" not found',
    60,
  ),
  mount(
    'KEY_NOT_FOUND',
    'FailedMount',
    'MountVolume.SetUp failed for volume "ca" : references non-existent secret key: ca.crt',
    60,
  ),
  mount(
    'HOST_PATH_UNUSABLE',
    'FailedMount',
    'MountVolume.SetUp failed for volume "data" : hostPath type check failed: /x is not a directory',
    60,
  ),
  mount(
    'MOUNT_FAILED',
    'FailedMount',
    'MountVolume.SetUp failed for volume "efs" : exit status 32',
    120,
  ),
  mount(
    'VOLUME_IN_USE',
    'FailedAttachVolume',
    'Multi-Attach error for volume "pvc-1" Volume is already exclusively attached to one node and can\'t be attached to another',
    'never',
  ),
  mount(
    'ATTACH_FAILED',
    'FailedAttachVolume',
    'AttachVolume.Attach failed for volume "pvc-1" : rpc error',
    120,
  ),
  mount(
    'SANDBOX_FAILED',
    'FailedCreatePodSandBox',
    'Failed to create pod sandbox: plugin type="aws-cni" failed: no IP addresses',
    120,
  ),
  nodes(
    'INSUFFICIENT_CPU',
    '1 node(s) had untolerated taint(s), 2 Insufficient cpu, 2 Insufficient memory',
  ),
  nodes('INSUFFICIENT_MEMORY', '3 Insufficient memory'),
  nodes('INSUFFICIENT_RESOURCE', '3 Insufficient ephemeral-storage'),
  nodes('TOO_MANY_PODS', '3 Too many pods'),
  nodes('TAINT', '1 Insufficient cpu, 2 node(s) had untolerated taint {dedicated: agents}'),
  nodes('NODE_DISK_FULL', '3 node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }'),
  nodes('NODE_PRESSURE', '3 node(s) had untolerated taint {node.kubernetes.io/memory-pressure: }'),
  nodes('NODES_NOT_READY', '3 node(s) had untolerated taint {node.kubernetes.io/not-ready: }'),
  nodes(
    'NODE_SELECTOR',
    "1 node(s) had untolerated taint(s), 2 node(s) didn't match Pod's node affinity/selector",
  ),
  nodes('VOLUME_NODE_AFFINITY', '3 node(s) had volume node affinity conflict'),
  nodes('MAX_VOLUMES', '3 node(s) exceed max volume count'),
  nodes('SPREAD_OR_AFFINITY', "3 node(s) didn't match pod topology spread constraints"),
  nodes('PORTS_IN_USE', "3 node(s) didn't have free ports for the requested pod ports"),
  nodes('UNSCHEDULABLE', '3 cannot allocate all claims'),
  {
    ...nodes('PVC_NOT_FOUND', 'persistentvolumeclaim "cache" not found', 60),
    objects: around(
      unscheduled('0/3 nodes are available: persistentvolumeclaim "cache" not found. not found'),
    ),
  },
  nodes('PVC_DELETED', 'persistentvolumeclaim "cache" is being deleted', 60),
  nodes('PVC_NOT_BOUND', 'pod has unbound immediate PersistentVolumeClaims', 'never'),
  pending(
    'PVC_WITHOUT_CLASS',
    'FailedBinding',
    'no persistent volumes available for this claim and no storage class is set',
    60,
  ),
  pending(
    'CLASS_NOT_FOUND',
    'ProvisioningFailed',
    'storageclass.storage.k8s.io "fast" not found',
    60,
  ),
  pending(
    'ACCESS_MODE_NOT_SUPPORTED',
    'ProvisioningFailed',
    'invalid AccessModes [ReadWriteMany]: only AccessModes [ReadWriteOnce] are supported',
    30,
  ),
  pending(
    'ACCESS_MODE_NOT_SUPPORTED',
    'ProvisioningFailed',
    'rpc error: code = InvalidArgument desc = MULTI_NODE_MULTI_WRITER is not supported',
    30,
  ),
  pending(
    'ACCESS_MODE_NOT_SUPPORTED',
    'ProvisioningFailed',
    'rpc error: code = InvalidArgument desc = Volume capabilities are invalid',
    30,
  ),
  pending(
    'PROVISIONING_SLOW',
    'ProvisioningFailed',
    'rpc error: code = DeadlineExceeded desc = context deadline exceeded',
    'never',
  ),
  pending(
    'PROVISIONING_FAILED',
    'ProvisioningFailed',
    'googleapi: Error 403: Insufficient regional quota',
    120,
  ),
  {
    code: 'PVC_LOST',
    objects: [claim('Lost')],
    object: 'pvc/agent-cache',
    reason: 'PVC lost: its volume does not exist',
    permanentFrom: 30,
  },
  forbidden(
    'POD_SECURITY',
    'pods "agent-5f-82jhq" is forbidden: violates PodSecurity "baseline:latest": hostPath volumes (volume "data")',
    0,
    'violates PodSecurity "baseline:latest": hostPath volumes (volume "data")',
  ),
  forbidden(
    'OPENSHIFT_SCC',
    'unable to validate against any security context constraint: [provider "anyuid": Forbidden]',
    0,
  ),
  forbidden(
    'QUOTA_EXCEEDED',
    'exceeded quota: tight, requested: pods=1, used: pods=1, limited: pods=1',
    60,
  ),
  forbidden('LIMITS_REQUIRED', 'failed quota: tight: must specify limits.cpu for: agent', 0),
  forbidden('LIMIT_RANGE', 'maximum cpu usage per Container is 1, but limit is 2', 0),
  forbidden(
    'SERVICE_ACCOUNT_NOT_FOUND',
    'error looking up service account acme/x: serviceaccount "x" not found',
    30,
  ),
  forbidden('PRIORITY_CLASS_NOT_FOUND', 'no PriorityClass with name high was found', 30),
  forbidden(
    'ADMISSION_DENIED',
    'admission webhook "validate.kyverno.svc" denied the request: no latest tags',
    0,
  ),
  forbidden(
    'WEBHOOK_UNREACHABLE',
    'Internal error occurred: failed calling webhook "x.y": failed to call webhook: Post "https://x": connection refused',
    120,
  ),
  forbidden('FAILED_CREATE', 'pod rejected: RuntimeClass "gvisor" not found', 60),
  ...AGENT_LINES.flatMap(({code, line, permanentFrom}) =>
    permanentFrom === undefined ? [] : [said(code, line, line, permanentFrom)],
  ),
  said(
    'TOKEN_REJECTED',
    '2026-11-21 10:00:05,1 ERROR 401 Client Error: Unauthorized for url: https://acme.scalr.io',
    'ERROR 401 Client Error: Unauthorized for url: https://acme.scalr.io',
    20,
  ),
  said(
    'TLS_UNKNOWN_AUTHORITY',
    '{"event": "cannot connect", "level": "error", "exception": "Traceback\\n  x\\n[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate", "timestamp": "2026-11-21 10:00:00.4"}',
    'cannot connect: [SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate',
    30,
  ),
  {
    code: 'AGENT_LOG_UNRECOGNIZED',
    objects: [READY_DEPLOYMENT, replicaSet(), readyPod()],
    logs: {[LOG]: '[error] 409 Client Error: Conflict\n'.repeat(3)},
    reason: 'agent log: [error] 409 Client Error: Conflict',
    permanentFrom: 'never',
  },
  {
    code: 'CRASH_LOOP',
    objects: around(crashed({exitCode: 1, reason: 'Error'})),
    logs: {
      [LOG]:
        '{"event": "starting", "level": "info"}\n{"event": "no idea", "level": "error", "timestamp": "2026-11-21 10:00:00"}\n',
    },
    reason: 'CrashLoopBackOff: container agent exited with code 1: no idea',
    permanentFrom: 'never',
  },
  {
    code: 'OOM_KILLED',
    objects: around(
      pod({
        phase: 'Running',
        spec: {containers: [{name: 'agent', image: 'x', resources: {limits: {memory: '128Mi'}}}]},
        container: {state: {terminated: {exitCode: 137, reason: 'OOMKilled'}}},
      }),
    ),
    reason: 'OOMKilled: container agent exceeded its memory limit of 128Mi',
    permanentFrom: 'never',
  },
  {
    code: 'WRONG_ARCHITECTURE',
    objects: around(crashed({exitCode: 255, reason: 'Error'})),
    logs: {[LOG]: 'exec /usr/bin/scalr-agent: exec format error'},
    reason: 'container agent failed to start: exec /usr/bin/scalr-agent: exec format error',
    permanentFrom: 0,
  },
  {
    code: 'IMAGE_VOLUMES_UNSUPPORTED',
    objects: around(
      crashed({
        exitCode: 128,
        reason: 'StartError',
        message:
          'failed to create containerd task: runc create failed: exec: "/usr/bin/runner/exec-loop": stat /usr/bin/runner/exec-loop: no such file or directory',
      }),
    ),
    reason:
      'container agent failed to start: exec: "/usr/bin/runner/exec-loop": stat /usr/bin/runner/exec-loop: no such file or directory',
    permanentFrom: 0,
  },
  {
    code: 'COMMAND_NOT_FOUND',
    objects: around(
      waiting(
        'RunContainerError',
        'runc create failed: exec: "agent": executable file not found in $PATH',
      ),
    ),
    reason: 'container agent failed to start: exec: "agent": executable file not found in $PATH',
    permanentFrom: 30,
  },
  {
    code: 'START_FAILED',
    objects: around(
      waiting('RunContainerError', 'failed to create shim task: error mounting "/x"'),
    ),
    reason: 'container agent failed to start: failed to create shim task: error mounting "/x"',
    permanentFrom: 60,
  },
  {
    code: 'EVICTED',
    objects: around(evicted),
    reason: 'Evicted: The node was low on resource: memory.',
    permanentFrom: 'never',
  },
  {
    code: 'NODE_LOST',
    objects: around(pod({phase: 'Running', conditions: [{type: 'Ready', status: 'Unknown'}]})),
    reason: 'node node-a is not ready, so the state of the pod is unknown',
    permanentFrom: 'never',
  },
  {
    code: 'POD_FAILED',
    objects: around(pod({phase: 'Failed', container: {state: {terminated: {exitCode: 3}}}})),
    logs: {[LOG]: 'bye'},
    reason: 'container agent exited with code 3: bye',
    permanentFrom: 'never',
  },
  {
    code: 'PROBE_FAILING',
    objects: around(
      probed,
      event(probed, 'Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503', {
        at: 5,
      }),
    ),
    reason: 'Readiness probe failed: HTTP probe failed with statuscode: 503',
    permanentFrom: 180,
  },
  {
    code: 'INIT_STUCK',
    objects: around(
      pod({init: [{name: 'first', state: {running: {startedAt: '2026-11-21T10:00:00Z'}}}]}),
    ),
    reason: 'init container first is still running; other containers wait for it',
    permanentFrom: 'never',
  },
  {
    code: 'CONTAINER_WAITING',
    objects: around(waiting('Mystery', 'who knows')),
    reason: 'Mystery: who knows',
    permanentFrom: 'never',
  },
  {
    code: 'POD_NOT_READY',
    objects: around(waiting('ContainerCreating')),
    reason: 'not ready: agent',
    permanentFrom: 'never',
  },
  {
    code: 'FARGATE_UNSUPPORTED',
    objects: around(
      onFargate,
      event(
        onFargate,
        'FailedScheduling',
        'Pod not supported on Fargate: volumes not supported: data not supported because: PVC cache not bound',
      ),
    ),
    reason:
      'unschedulable: Pod not supported on Fargate: volumes not supported: data not supported because: PVC cache not bound',
    permanentFrom: 60,
  },
  {
    code: 'UNSCHEDULABLE',
    objects: around(onFargate, event(onFargate, 'FailedScheduling', 'no room in the rack')),
    reason: 'unschedulable: no room in the rack',
    permanentFrom: 120,
  },
  {
    code: 'NOT_SCHEDULED',
    objects: around(pod({spec: {nodeName: undefined}, conditions: []})),
    reason: 'not scheduled yet',
    permanentFrom: 'never',
  },
  {
    code: 'DEADLINE_EXCEEDED',
    objects: [
      deployment({
        conditions: [
          {
            type: 'Progressing',
            status: 'False',
            reason: 'ProgressDeadlineExceeded',
            message: 'timed out',
          },
        ],
      }),
    ],
    object: 'deployment/agent',
    reason: 'ProgressDeadlineExceeded: timed out',
    permanentFrom: 0,
  },
  {
    code: 'ROLLOUT_PAUSED',
    objects: [{...deployment({}), spec: {paused: true}} as KubernetesObject],
    object: 'deployment/agent',
    reason: 'the rollout is paused, so no new pod is created',
    permanentFrom: 'never',
  },
  {
    code: 'JOB_FAILED',
    objects: [
      job({
        conditions: [
          {
            type: 'Failed',
            status: 'True',
            reason: 'BackoffLimitExceeded',
            message: 'Job has reached the limit',
          },
        ],
      }),
    ],
    object: 'job/task',
    reason: 'BackoffLimitExceeded: Job has reached the limit',
    permanentFrom: 0,
  },
  {
    code: 'NO_NODE_MATCHES',
    objects: [daemonSet({desiredNumberScheduled: 0})],
    object: 'daemonset/worker',
    reason: 'no node matches its node selector and tolerations',
    permanentFrom: 'never',
  },
];

describe('a cause', () => {
  test.each(CASES)('$code: $reason', ({
    code,
    objects,
    logs,
    object = POD,
    reason,
    permanentFrom,
  }) => {
    const at = (seconds: number) => explainSnapshot(snapshot(objects, logs), afterStart(seconds));
    const [first, ...more] = at(permanentFrom === 'never' ? 3600 : permanentFrom);
    expect(first).toEqual({
      code,
      verdict: permanentFrom === 'never' ? 'warning' : 'error',
      subject: {object},
      message: reason,
      remedies: expect.arrayContaining([{text: expect.stringMatching(/\w{3}/)}]),
    });
    expect(more).toEqual([]);
    if (typeof permanentFrom === 'number' && permanentFrom > 0)
      expect(at(permanentFrom - 1)).toMatchObject([{code, verdict: 'warning'}]);
  });

  test('of every kind is in the table above', () => {
    expect([...new Set(CASES.map(({code}) => code))].toSorted()).toEqual(
      [...new Set(CAUSES.map(({code}) => code))].toSorted(),
    );
  });

  test('is printed like the example of its page', async () => {
    const examples: Record<string, string> = {};
    for (const {code, objects, logs, permanentFrom} of CASES) {
      const at = afterStart(permanentFrom === 'never' ? 3600 : permanentFrom);
      const causes = explainSnapshot(snapshot(objects, logs), at);
      const text = causes.map((each) => findingText(each, {hasColor: false, columns: 78})).join('');
      examples[code] ??= text.trimEnd().replaceAll(/^ {2}/gm, '');
    }
    await expect(
      `${JSON.stringify(examples, Object.keys(examples).toSorted(), 2)}\n`,
    ).toMatchFileSnapshot('../../../templates/findings/cause-examples.json');
  });
});

describe('is an error before its time', () => {
  test('when the same pull failed twice', () => {
    const failing = waiting('ImagePullBackOff', 'Back-off pulling image "scalr/agent:1"');
    const tried = (count: number) =>
      explainSnapshot(
        snapshot(
          around(
            failing,
            event(failing, 'Failed', 'Failed to pull image "scalr/agent:1": not found', {count}),
          ),
        ),
        afterStart(5),
      );
    expect(tried(1)).toMatchObject([{code: 'IMAGE_NOT_FOUND', verdict: 'warning'}]);
    expect(tried(2)).toMatchObject([
      {message: 'ImagePullBackOff: scalr/agent:1: not found', verdict: 'error'},
    ]);
  });

  test('when a container was started four times', () => {
    const restarted = (restartCount: number) =>
      explainSnapshot(snapshot(around(crashed({exitCode: 1}, {restartCount}))), afterStart(5));
    expect(restarted(2)).toMatchObject([{code: 'CRASH_LOOP', verdict: 'warning'}]);
    expect(restarted(3)).toMatchObject([{code: 'CRASH_LOOP', verdict: 'error'}]);
  });

  test('when three consecutive pods were evicted', () => {
    const all = [1, 2, 3].map((each) =>
      pod({
        name: `agent-5f-${each}`,
        phase: 'Failed',
        status: {reason: 'Evicted', message: 'disk'},
      }),
    );
    expect(explainSnapshot(snapshot(around(...all)), afterStart(5))).toMatchObject([
      {message: 'Evicted: disk (and 2 more pods)', verdict: 'error'},
    ]);
  });
});

test('repeated evictions are reported while the next pod is ready', () => {
  const all = [1, 2].map((each) =>
    pod({name: `agent-5f-${each}`, phase: 'Failed', status: {reason: 'Evicted', message: 'disk'}}),
  );
  const seen = snapshot([READY_DEPLOYMENT, replicaSet({readyReplicas: 1}), readyPod(), ...all]);
  expect(explainSnapshot(seen, afterStart(5))).toMatchObject([
    {code: 'EVICTED', verdict: 'warning'},
  ]);
  expect(explainSnapshot(seen, afterStart(3600))).toEqual([]);
});

test('a starting node makes a cause a warning', () => {
  const full = unscheduled('0/3 nodes are available: 3 Insufficient cpu.');
  const scaling = event(
    full,
    'TriggeredScaleUp',
    'pod triggered scale-up: [{pool 3->4 (max: 5)}]',
    {type: 'Normal'},
  );
  expect(explainSnapshot(snapshot(around(full, scaling)), afterStart(600))).toMatchObject([
    {code: 'INSUFFICIENT_CPU', verdict: 'warning'},
  ]);
});

test('several reasons of the scheduler have all their remedies', () => {
  const {objects} = nodes(
    'TAINT',
    '1 node(s) had untolerated taint(s), 1 Insufficient cpu, 1 Too many pods',
  );
  const [cause] = explainSnapshot(snapshot(objects), afterStart(1));
  expect(cause?.remedies).toHaveLength(3);
});

test.each([
  ['Insufficient cpu', /--run-cpu-request$/],
  ['Insufficient memory', /--run-memory-request$/],
  ["node(s) didn't match Pod's node affinity/selector", /correct --node-selector$/],
  ['node(s) had untolerated taint {dedicated: agents}', /^Add --toleration for the taint/],
])('agent-local has no controller, so no remedy names its settings: %s', (reason, remedy) => {
  const {objects} = nodes('TAINT', `3 ${reason}`);
  const labeled = objects.map((each) => ({
    ...each,
    metadata: {
      ...each.metadata,
      labels: {...each.metadata.labels, 'helm.sh/chart': 'agent-local-0.6.5'},
    },
  }));
  const [cause] = explainSnapshot(snapshot(labeled), afterStart(1));
  expect(cause?.remedies[0]?.text).toMatch(remedy);
  expect(cause?.remedies[0]?.text).not.toContain('controller');
});

test.each([
  ['POD_FAILED', 'describe pod agent-5f-x --namespace agents'],
  ['CRASH_LOOP', 'logs agent-5f-x --container agent --previous --namespace agents'],
  ['PROBE_FAILING', 'logs agent-5f-x --container agent --namespace agents'],
  ['NODE_LOST', 'describe node node-a'],
  ['QUOTA_EXCEEDED', 'describe quota --namespace agents'],
  ['TAINT', 'describe nodes'],
  ['NODES_NOT_READY', 'get nodes'],
  ['CLASS_NOT_FOUND', 'get storageclass'],
])('%s contains a command that can be run unchanged', (code, command) => {
  const {objects, logs} = CASES.find((each) => each.code === code) as Case;
  const cause = explainSnapshot(snapshot(objects, logs), afterStart(200)).find(
    (each) => each.code === code,
  );
  expect(cause?.remedies[0]?.text).toMatch(new RegExp(`: kubectl ${command} --context prod(;|$)`));
});

test('a full selected node takes precedence over excluded nodes', () => {
  const {objects} = nodes(
    'NODE_SELECTOR',
    "1 Insufficient memory, 9 node(s) didn't match Pod's node affinity/selector",
  );
  expect(explainSnapshot(snapshot(objects), afterStart(1))).toMatchObject([
    {code: 'INSUFFICIENT_MEMORY'},
  ]);
});

test('pods of a DaemonSet are made for one node each', () => {
  const daemon = {...daemonSet({desiredNumberScheduled: 3}), metadata: {...daemonSet({}).metadata}};
  const stuck = unscheduled(
    "0/3 nodes are available: 1 Insufficient memory, 2 node(s) didn't match Pod's node affinity/selector.",
    {
      metadata: {ownerReferences: [{kind: 'DaemonSet', name: 'worker', uid: daemon.metadata.uid}]},
    },
  );
  expect(explainSnapshot(snapshot([daemon, stuck]), afterStart(1))).toMatchObject([
    {code: 'INSUFFICIENT_MEMORY'},
  ]);
});

test('a taint explains a pod of a DaemonSet, for whose node the selector is made', () => {
  const message =
    "0/3 nodes are available: 1 node(s) had untolerated taint {a: b}, 2 node(s) didn't match Pod's node affinity/selector.";
  const daemon = {...daemonSet({desiredNumberScheduled: 3}), metadata: {...daemonSet({}).metadata}};
  const ownerReferences = [{kind: 'DaemonSet', name: 'worker', uid: daemon.metadata.uid}];
  const ofDaemon = snapshot([daemon, unscheduled(message, {metadata: {ownerReferences}})]);
  expect(explainSnapshot(ofDaemon, afterStart(1))).toMatchObject([{code: 'TAINT'}]);
  const other = snapshot(around(unscheduled(message)));
  expect(explainSnapshot(other, afterStart(1))).toMatchObject([{code: 'NODE_SELECTOR'}]);
});

test('the reason of most nodes comes first, with more than nine nodes too', () => {
  const stuck = unscheduled(
    '0/12 nodes are available: 2 Insufficient cpu, 10 Insufficient memory.',
  );
  expect(explainSnapshot(snapshot(around(stuck)), afterStart(1))).toMatchObject([
    {code: 'INSUFFICIENT_MEMORY'},
  ]);
});

test('a pod with a scheduling gate is not unschedulable', () => {
  const message = 'Scheduling is blocked due to non-empty scheduling gates';
  const gated = pod({
    spec: {nodeName: undefined},
    conditions: [{type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', message}],
  });
  expect(explainSnapshot(snapshot(around(gated)), afterStart(60))).toMatchObject([
    {code: 'NOT_SCHEDULED', message: `not scheduled yet: ${message}`},
  ]);
});

test('a rolling update that goes on with a full quota is not stuck', () => {
  const {objects} = forbidden('QUOTA_EXCEEDED', 'exceeded quota: tight', 60);
  const [, refused] = objects as [Workload, Workload];
  const updatedAt = (seconds: number): Workload =>
    deployment({
      conditions: [
        {type: 'Progressing', status: 'True', lastUpdateTime: afterStart(seconds).toISOString()},
      ],
    });
  const verdict = (updated: number, at: number) =>
    explainSnapshot(snapshot([updatedAt(updated), refused]), afterStart(at))[0]?.verdict;
  expect(verdict(50, 100)).toBe('warning');
  expect(verdict(50, 110)).toBe('error');
  expect(verdict(-50, 60)).toBe('error');
});

describe('objects that an upgrade replaces are ignored', () => {
  const {objects: refused} = forbidden(
    'LIMIT_RANGE',
    'maximum cpu usage per Container is 1, but limit is 2',
    0,
  );
  const [owner, former] = refused as [Workload, Workload];
  const of = (revision: string, object: Workload): Workload => ({
    ...object,
    metadata: {...object.metadata, annotations: {'deployment.kubernetes.io/revision': revision}},
  });
  const verdicts = (...objects: KubernetesObject[]) =>
    explainSnapshot(snapshot(objects), afterStart(600)).map(({verdict}) => verdict);

  test('pods that the ReplicaSet of an older revision cannot create', () => {
    expect(verdicts(of('2', owner), of('1', former))).toEqual(['warning']);
    expect(verdicts(of('2', owner), of('2', former))).toEqual(['error']);
  });

  test('objects of a Deployment whose newest generation was not observed', () => {
    const changed = {...owner, metadata: {...owner.metadata, generation: 2}};
    expect(verdicts(changed, former)).toEqual(['warning']);
  });

  test('the pod of an older DaemonSet template', () => {
    const daemon = daemonSet({desiredNumberScheduled: 1});
    const annotated = {
      ...daemon,
      metadata: {
        ...daemon.metadata,
        annotations: {'deprecated.daemonset.template.generation': '2'},
      },
    };
    const made = (generation: string) => {
      const broken = waiting('InvalidImageName', 'couldn\'t parse image name "x y"');
      const {kind, metadata} = annotated;
      const ownerReferences = [
        {kind: kind as string, name: metadata.name, uid: metadata.uid as string},
      ];
      return {
        ...broken,
        metadata: {
          ...broken.metadata,
          ownerReferences,
          labels: {'pod-template-generation': generation},
        },
      };
    };
    expect(verdicts(annotated, made('1'))).toEqual(['warning']);
    expect(verdicts(annotated, made('2'))).toEqual(['error']);
  });
});

describe('dependent causes', () => {
  test('a deadline gives way to causes of the pods, which become errors', () => {
    const late = deployment({
      conditions: [
        {type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'late'},
      ],
    });
    expect(
      explainSnapshot(snapshot([late, replicaSet(), waiting('Mystery', 'x')]), afterStart(1)),
    ).toMatchObject([{subject: {object: POD}, code: 'CONTAINER_WAITING', verdict: 'error'}]);
  });

  test('a pod gives way to its PVC', () => {
    const pods = unscheduled(
      '0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
      {
        spec: {volumes: [{persistentVolumeClaim: {claimName: 'agent-cache'}}]},
      },
    );
    const objects = around(
      pods,
      claim(),
      event(claim(), 'ProvisioningFailed', 'storageclass.storage.k8s.io "x" not found'),
    );
    expect(explainSnapshot(snapshot(objects), afterStart(1))).toMatchObject([
      {subject: {object: 'pvc/agent-cache'}, code: 'CLASS_NOT_FOUND'},
    ]);
  });

  test('a summarizing mount event gives way to the one before it', () => {
    const creating = waiting('ContainerCreating');
    const objects = around(
      creating,
      event(
        creating,
        'FailedMount',
        'MountVolume.SetUp failed for volume "ca" : secret "ca" not found',
        {at: 60},
      ),
      event(
        creating,
        'FailedMount',
        'Unable to attach or mount volumes: unmounted volumes=[ca]: timed out waiting for the condition',
        {
          at: 120,
        },
      ),
    );
    expect(explainSnapshot(snapshot(objects), afterStart(121))).toMatchObject([
      {code: 'SECRET_NOT_FOUND', verdict: 'error'},
    ]);
  });
});

test('a message fits on one line and contains no secrets', () => {
  const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl';
  const {objects} = said('TOKEN_REJECTED', '', '', 0);
  const [cause] = explainSnapshot(
    snapshot(objects, {[LOG]: `401 Unauthorized ${token}\t${'x'.repeat(999)}`}),
    afterStart(1),
  );
  expect(cause?.message).toMatch(/^agent log: 401 Unauthorized \[hidden\] x+…$/);
  expect(cause?.message.length).toBeLessThanOrEqual(240);
});
