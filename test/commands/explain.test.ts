import {expect, test} from 'vitest';
import Explain from '../../src/commands/explain.ts';
import {explanations} from '../../src/findings/catalog.ts';
import {explanationText} from '../../src/ui/explain.ts';
import causeExamples from '../../templates/findings/cause-examples.json' with {type: 'json'};
import examples from '../../templates/findings/examples.json' with {type: 'json'};
import {RUN_LINES} from '../checks/diagnose/run-lines.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const SCREEN = {hasColor: false, columns: 80};

test.each([
  ['OOM_KILLED', 'OOM_KILLED: out of memory'],
  ['oom-killed', 'OOM_KILLED: out of memory'],
  ['crash-loop', 'CRASH_LOOP: container ends again and again'],
  ['exec format error', 'WRONG_ARCHITECTURE: program is built for another architecture'],
  ['storage-class', 'storage-class: StorageClass of new PVCs'],
])('%s is explained', async (word, first) => {
  const {stdout, exit} = await runCommand(Explain, [word], {resultScreen: SCREEN});
  expect(exit).toBe(0);
  expect(stdout).toContain(`${first}\n`);
  expect(stdout).toMatch(/\n {2}→ .+\n/);
  expect(stdout).toMatch(/\/docs\/[a-z]+\.md#[a-z0-9_-]+\n$/);
});

/** Lines of kubectl that `status` reads too, and errors of helm and kubectl. */
const EVENTS = [
  [
    'Failed to pull image "a/b:1": rpc error: code = NotFound desc = failed to pull and unpack image "a/b:1": failed to resolve reference "a/b:1": a/b:1: not found',
    'IMAGE_NOT_FOUND',
  ],
  ['Failed to pull image "a/b:1": unexpected status: 401 Unauthorized', 'IMAGE_DENIED'],
  ['Failed to pull image "a/b:1": dial tcp: lookup a: no such host', 'REGISTRY_UNREACHABLE'],
  [
    'Error: pods is forbidden: User "system:anonymous" cannot list resource "pods"',
    'NOT_LOGGED_IN',
  ],
  [
    "Client error '429 Too Many Requests' for url 'https://acme.scalr.io/api/iacp/v3/agents'",
    'SCALR_UNAVAILABLE',
  ],
  ['MountVolume.SetUp failed for volume "token" : secret "token" not found', 'SECRET_NOT_FOUND'],
  ['MountVolume.MountDevice failed: context deadline exceeded', 'MOUNT_FAILED'],
  ['AttachVolume.Attach failed for volume "pvc-1" : rpc error', 'ATTACH_FAILED'],
  ['Warning FailedScheduling 0/3 nodes are available: 3 Insufficient cpu.', 'INSUFFICIENT_CPU'],
  ['0/5 nodes are available: 1 Insufficient cpu, 4 node(s) had untolerated taint {a: b}.', 'TAINT'],
  ['exit code 1', 'CRASH_LOOP'],
  [
    'Error creating: pods "a" is forbidden: exceeded quota: compute, requested: cpu=1',
    'QUOTA_EXCEEDED',
  ],
  [
    'Error: Kubernetes cluster unreachable: Get "https://10.0.0.1:6443/version": dial tcp 10.0.0.1:6443: i/o timeout',
    'CLUSTER_UNREACHABLE',
  ],
  [
    'Unable to connect to the server: x509: certificate signed by unknown authority',
    'CLUSTER_UNREACHABLE',
  ],
  [
    'Unable to connect to the server: dial tcp: lookup a on 10.0.0.1:53: no such host',
    'CLUSTER_UNREACHABLE',
  ],
  ['error: context "nowhere" does not exist', 'CLUSTER_UNREACHABLE'],
  [
    'error: error loading config file "/etc/rancher/k3s/k3s.yaml": open /etc/rancher/k3s/k3s.yaml: permission denied',
    'CLUSTER_UNREACHABLE',
  ],
  [
    'OCI runtime create failed: container init was OOM-killed (memory limit too low?)',
    'OOM_KILLED',
  ],
  [
    'Unable to retrieve some image pull secrets (regcred); attempting to pull the image may not succeed.',
    'PULL_SECRET_NOT_FOUND',
  ],
  ['Pod ephemeral local storage usage exceeds the total limit of containers 1Gi.', 'EVICTED'],
  [
    'Error response from daemon: Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io: no such host',
    'REGISTRY_UNREACHABLE',
  ],
  [
    'Unable to connect to the server: getting credentials: exec: executable aws not found',
    'NOT_LOGGED_IN',
  ],
  [
    'Error: Kubernetes cluster unreachable: the server has asked for the client to provide credentials',
    'NOT_LOGGED_IN',
  ],
  ['error: You must be logged in to the server (Unauthorized)', 'NOT_LOGGED_IN'],
  [
    'Error from server (Forbidden): pods is forbidden: User "joe" cannot list resource "pods" in API group "" in the namespace "a"',
    'FORBIDDEN',
  ],
  [
    'conflict occurred while applying object a/b apps/v1, Kind=Deployment: Apply failed with 1 conflict: conflict with "kubectl-edit" using apps/v1: .spec.replicas',
    'CHANGED_IN_CLUSTER',
  ],
  [
    'Error: UPGRADE FAILED: conflict occurred while applying object a/b apps/v1, Kind=Deployment: Apply failed with 1 conflict: conflict with "kubectl-edit" using apps/v1: .spec.replicas',
    'CHANGED_IN_CLUSTER',
  ],
  [
    'conflict occurred while applying object a/b apps/v1, Kind=Deployment: Apply failed with 1 conflict: conflict with "operator" using apps/v1: .spec.replicas',
    'OBJECT_NOT_OWNED',
  ],
  ['Error: INSTALLATION FAILED: cannot re-use a name that is still in use', 'release-name'],
  ['persistentvolumeclaim "scalr-agent-cache" is being deleted', 'PVC_DELETED'],
  ["can't evaluate field name in type interface {}", 'REUSE_VALUES'],
  [
    "Error: values don't meet the specifications of the schema(s) in the following chart(s):",
    'INVALID_VALUES',
  ],
  [
    'Error: chart "agent-local" version "0.9.9" not found in https://scalr.github.io/agent-helm/ repository',
    'CHART_NOT_FOUND',
  ],
  [
    "chart pull error: no 'agent-local' chart with version matching '0.6.9' found",
    'CHART_NOT_FOUND',
  ],
  ['error: current-context is not set', 'CLUSTER_UNREACHABLE'],
  [
    "Failed to apply default image tag: couldn't parse image name: invalid reference format: repository name must be lowercase",
    'IMAGE_NAME_INVALID',
  ],
  ['Pod was terminated in response to imminent node shutdown.', 'EVICTED'],
  ['Unit scalr-agent.service not found.', 'AGENT_NOT_FOUND'],
  ['Error: failed to download "scalr/agent-k8s"', 'CHART_NOT_FOUND'],
  [
    'failed calling webhook "x.y.z": no endpoints available for service "kyverno"',
    'WEBHOOK_UNREACHABLE',
  ],
  [
    'Error: Internal error occurred: failed calling webhook "a.b.c": failed to call webhook: Post "https://a.b.svc/x": context deadline exceeded',
    'WEBHOOK_UNREACHABLE',
  ],
  [
    'Error: INSTALLATION FAILED: admission webhook "validate.kyverno.svc" denied the request: labels required',
    'ADMISSION_DENIED',
  ],
  [
    'Readiness probe failed: Get "http://10.1.1.1:8080/healthz": dial tcp 10.1.1.1:8080: connect: connection refused',
    'PROBE_FAILING',
  ],
  ['node(s) had volume node affinity conflict', 'VOLUME_NODE_AFFINITY'],
  ['container has runAsNonRoot and image will run as root', 'RUNS_AS_ROOT'],
  [
    "pull access denied for scalr/agent, repository does not exist or may require 'docker login'",
    'IMAGE_DENIED',
  ],
  [
    'failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized',
    'IMAGE_DENIED',
  ],
  ['Error from server (NotFound): secrets "scalr-agent-token" not found', 'SECRET_NOT_FOUND'],
  [
    'OCI runtime create failed: runc create failed: exec: "/bin/agent": no such file',
    'COMMAND_NOT_FOUND',
  ],
  ['ReplicaSet "scalr-agent-6d9" has timed out progressing.', 'DEADLINE_EXCEEDED'],
  ['error: deployment "x" exceeded its progress deadline', 'DEADLINE_EXCEEDED'],
  [
    'Warning  BackoffLimitExceeded  2m  job-controller  Job has reached the specified backoff limit',
    'JOB_FAILED',
  ],
  ['Job was active longer than specified deadline', 'JOB_FAILED'],
  [
    'Normal  Killing  2m  kubelet  Container agent failed liveness probe, will be restarted',
    'PROBE_FAILING',
  ],
  [
    "Waiting for a volume to be created either by the external provisioner 'ebs.csi.aws.com' or manually by the system administrator.",
    'PROVISIONING_SLOW',
  ],
  [
    'Pod not supported on Fargate: volumes not supported: cache is of an unsupported volume Type',
    'FARGATE_UNSUPPORTED',
  ],
  [
    'Warning  FailedScheduling  2m  fargate-scheduler  Pod not supported on Fargate: Insufficient cpu',
    'FARGATE_UNSUPPORTED',
  ],
  [
    'Warning  FailedScheduling  14s  fargate-scheduler  Pod provisioning timed out (will retry)',
    'UNSCHEDULABLE',
  ],
  [
    "Normal  NotTriggerScaleUp  pod didn't trigger scale-up: 1 max node group size reached",
    'UNSCHEDULABLE',
  ],
  ['Usage of EmptyDir volume "cache-dir" exceeds the limit "1Gi".', 'EVICTED'],
  ['Container runner exceeded its local ephemeral storage limit "2Gi".', 'EVICTED'],
  ['Warning  FailedScheduling  no nodes available to schedule pods', 'NODES_NOT_READY'],
  ['Warning  FailedScheduling  persistentvolumeclaim "cache" not found', 'PVC_NOT_FOUND'],
] as const;

/** Lines that only agents print. */
const OF_AGENTS = [
  [
    'requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://acme.scalr.io/api/agents',
    'TOKEN_REJECTED',
  ],
  ['httpx.HTTPStatusError: 403 Client Error: Forbidden for url: https://a.io', 'SCALR_FORBIDDEN'],
  ['httpx.ConnectTimeout', 'CONNECTION_FAILED'],
  ['httpx.ConnectError: All connection attempts failed', 'CONNECTION_FAILED'],
  [
    'httpx.RemoteProtocolError: Server disconnected without sending a response.',
    'CONNECTION_FAILED',
  ],
  [
    'httpx.ConnectError: [SSL: UNEXPECTED_EOF_WHILE_READING] EOF occurred in violation of protocol (_ssl.c:1006)',
    'TLS_FAILED',
  ],
  [
    'kubernetes.client.exceptions.ApiException: (403) Reason: Forbidden User "system:serviceaccount:scalr:agent" cannot create resource "pods"',
    'AGENT_FORBIDDEN',
  ],
  [
    'x509: certificate has expired or is not yet valid: current time 2026-11-27T16:00:00Z is after 2026-10-01T00:00:00Z',
    'TLS_CERTIFICATE_INVALID',
  ],
] as const;

test.each([
  ...EVENTS,
  ...OF_AGENTS,
  ...RUN_LINES,
])('the line %s has one code', async (line, code) => {
  const {stdout} = await runCommand(Explain, [line, '--json']);
  expect(JSON.parse(stdout).findings.map((each: {code: string}) => each.code)).toEqual([code]);
});

test.each([
  ['Back-off restarting failed container agent in pod agent-5f-x_scalr', 'CRASH_LOOP'],
  ['Error: UPGRADE FAILED: "scalr-agent" has no deployed releases', 'RELEASE_FAILED'],
  ['Error: UPGRADE FAILED: context deadline exceeded', 'TIMED_OUT'],
  [
    'Error: UPGRADE FAILED: resource Deployment/a/b not ready. status: InProgress, message: Available: 0/1',
    'TIMED_OUT',
  ],
  [
    'Error: chart requires kubeVersion: >=1.35.0 which is incompatible with Kubernetes v1.30.0',
    'server-version',
  ],
  ['Error from server (NotFound): namespaces "scalr" not found', 'namespace'],
  ['Error: INSTALLATION FAILED: create: namespaces "scalr" not found', 'namespace'],
  ['read: connection reset by peer', 'CONNECTION_FAILED'],
  ['registration FAILED: dial tcp: lookup acme.scalr.io: no such host', 'DNS_FAILED'],
  ['lost the connection to the server: connection refused', 'CONNECTION_FAILED'],
  ['bash: kubectl: command not found', 'TOOL_NOT_FOUND'],
  ['Memory cgroup out of memory: Killed process 1234 (terraform)', 'OOM_KILLED'],
  ['Exit Code:    137', 'OOM_KILLED'],
  ['signal: killed', 'OOM_KILLED'],
  ['429', 'IMAGE_RATE_LIMIT'],
  ['Init:Error', 'CRASH_LOOP'],
  ['Init:CrashLoopBackOff', 'CRASH_LOOP'],
  ['Init:0/1', 'INIT_STUCK'],
  ['PodInitializing', 'INIT_STUCK'],
  ['SchedulingGated', 'NOT_SCHEDULED'],
  ['OutOfcpu', 'INSUFFICIENT_CPU'],
  ['OOMKilled', 'OOM_KILLED'],
  ['SystemOOM', 'NODE_PRESSURE'],
  ["Cannot evict pod as it would violate the pod's disruption budget.", 'RUNS_BLOCK_DRAINS'],
  [
    'Error: UPGRADE FAILED: release a failed, and has been rolled back due to atomic being set: context deadline exceeded',
    'TIMED_OUT',
  ],
  [
    'Error: UPGRADE FAILED: template: agent-job/templates/a.yaml:1: nil pointer evaluating interface {}.name',
    'REUSE_VALUES',
  ],
  [
    'Error: UPGRADE FAILED: cannot patch "a" with kind Deployment: Deployment.apps "a" is invalid: spec.selector: Invalid value: field is immutable',
    'SELECTOR_CHANGED',
  ],
  ['container runtime network not ready: cni plugin not initialized', 'NODES_NOT_READY'],
  ['Normal  NodeHasDiskPressure  Node status is now: NodeHasDiskPressure', 'NODE_DISK_FULL'],
  ['Warning  FreeDiskSpaceFailed  2m  kubelet  Failed to garbage collect', 'NODE_DISK_FULL'],
  ['Evicted', 'EVICTED'],
  [
    'Error: Get "https://api.github.com/repos/acme/x": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
    'CONNECTION_FAILED',
  ],
  [
    'Error: Post "https://acme.scalr.io/api/iacp/v3/agents": context deadline exceeded',
    'CONNECTION_FAILED',
  ],
  [
    'Get "https://registry-1.docker.io/v2/": net/http: request canceled while waiting for connection (Client.Timeout exceeded while awaiting headers)',
    'REGISTRY_UNREACHABLE',
  ],
  ['dial unix /var/run/docker.sock: connect: permission denied', 'DOCKER_UNREACHABLE'],
  [
    'fork/exec .terraform/providers/registry.terraform.io/hashicorp/aws/5.0.0/linux_amd64/terraform-provider-aws_v5: permission denied',
    'NOEXEC_MOUNT',
  ],
  ['Secret scalr-agent-token not found', 'secrets'],
  [
    'Error: Cannot reach the Kubernetes API at 10.1.2.3:6443 (connection refused).',
    'CLUSTER_UNREACHABLE',
  ],
  ['Error: Release acme not found in namespace agents.', 'RELEASE_NOT_FOUND'],
  ['StorageClass fast of PVC cache not found (existing: standard)', 'storage-class'],
  ['Context prod no longer selects the cluster of the plan.', 'TARGET_CHANGED'],
  ['× OBJECT_MISSING  Role acme: not found', 'OBJECT_MISSING'],
  ['  More: scalr-agent explain CLUSTER_UNREACHABLE', 'CLUSTER_UNREACHABLE'],
])('the line or the state %s leads first to %s', async (line, code) => {
  const {stdout} = await runCommand(Explain, [line, '--json']);
  expect(JSON.parse(stdout).findings[0].code).toBe(code);
});

test.each([
  ['401', ['NOT_LOGGED_IN', 'SCALR_DENIED', 'IMAGE_DENIED', 'TOKEN_REJECTED']],
  ['403', ['FORBIDDEN', 'SCALR_DENIED', 'IMAGE_DENIED', 'SCALR_FORBIDDEN']],
  ['404', ['SCALR_NOT_FOUND', 'IMAGE_NOT_FOUND', 'AGENT_API_NOT_FOUND']],
  ['Exit Code: 143', ['EVICTED', 'PROBE_FAILING', 'RESTARTED']],
  ['slow runs', ['SLOW_IMAGE_PULLS', 'CACHE_NOT_USED', 'host-cpu']],
])('%s has all meanings: %j', async (line, codes) => {
  const {stdout} = await runCommand(Explain, [line, '--json']);
  expect(JSON.parse(stdout).findings.map((each: {code: string}) => each.code)).toEqual(
    expect.arrayContaining(codes),
  );
});

/** Two errors can have one message, and the lines below it name a more specific code. Without a further word, it is too short. */
test.each(
  Object.entries(examples).filter(([, example]) => /^Error: (?!Interrupted)/.test(example)),
)('the first sentence of the message of %s leads there', async (_, example) => {
  const [sentence = ''] = example.replaceAll(/\s+/g, ' ').split(/(?<=\.) | Next steps:/, 1);
  const {stdout} = await runCommand(Explain, [sentence, '--json']);
  expect(JSON.parse(stdout).findings?.[0]?.example, stdout).toBe(example);
});

test.each([
  'dial tcp: lookup scalr.github.io: no such host',
  'tls: failed to verify certificate: x509: certificate signed by unknown authority',
  'proxyconnect tcp: 407 Proxy Authentication Required',
  'dial tcp 203.0.113.1:443: i/o timeout',
])('helm, not an agent, cannot download the chart: %s', async (reason) => {
  const line = `Error: looks like "https://scalr.github.io/agent-helm/" is not a valid chart repository or cannot be reached: Get "https://scalr.github.io/agent-helm/index.yaml": ${reason}`;
  const {stdout} = await runCommand(Explain, [line], {resultScreen: SCREEN});
  expect(stdout).toMatch(/^CHART_NOT_FOUND: cannot download the chart\n/);
});

test.each([
  ['quota', 'QUOTA_EXCEEDED'],
  ['token', 'TOKEN_REJECTED'],
  ['namespace', 'NAMESPACE_TERMINATING'],
])('the check %s is explained above codes that its name leads to', async (word, code) => {
  const {stdout} = await runCommand(Explain, [word], {resultScreen: SCREEN});
  expect(stdout).toMatch(new RegExp(`^${word}: [^]+\\n  ${code} `));
});

/** Causes that no line of their own tells. */
const WITHOUT_LINE =
  /^(AGENT_LOG_UNRECOGNIZED|CONTAINER_WAITING|IMAGE_VOLUMES_UNSUPPORTED|INIT_STUCK|NODE_LOST|NOT_SCHEDULED|NO_NODE_MATCHES|POD_FAILED|POD_NOT_READY|PVC_LOST|ROLLOUT_PAUSED|START_FAILED)$/;

test.each(
  Object.entries(causeExamples).filter(([code]) => !WITHOUT_LINE.test(code)),
)('what status prints about %s leads there', async (code, example) => {
  const [, line = ''] = /^\S+ +\S+ +\S+: (.*?) →/.exec(example.replaceAll(/\s+/g, ' ')) ?? [];
  const {stdout} = await runCommand(Explain, [line.replace('agent log: ', ''), '--json']);
  const codes = (JSON.parse(stdout).findings ?? []).map((each: {code: string}) => each.code);
  expect(codes, line).toContain(code);
});

test('a word with several meanings lists the codes, and how to find the one that applies', async () => {
  const {stdout} = await runCommand(Explain, ['ImagePullBackOff'], {resultScreen: SCREEN});
  expect(stdout).toContain('  IMAGE_DENIED ');
  expect(stdout).toContain('  IMAGE_NOT_FOUND ');
  expect(stdout).not.toContain('OOM_KILLED');
  expect(stdout).toContain('Show which one applies: scalr-agent status');
});

test.each([
  ['x509: certificate signed by unknown authority', 'TLS_UNKNOWN_AUTHORITY'],
  [
    'Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress',
    'RELEASE_BUSY',
  ],
  ['another operation (install/upgrade/rollback) is in progress', 'RELEASE_PENDING'],
  ['Error: UPGRADE FAILED: context deadline exceeded', 'TIMED_OUT'],
  ['invalid ownership metadata; annotation validation error', 'OBJECT_NOT_OWNED'],
  ['403 Forbidden', 'SCALR_FORBIDDEN'],
  ['httpx.HTTPStatusError: 403 Client Error: Forbidden', 'SCALR_FORBIDDEN'],
  ['dial tcp 10.0.0.1:443: i/o timeout', 'CONNECTION_FAILED'],
  ['Get "https://10.0.0.1:6443": context deadline exceeded', 'CLUSTER_UNREACHABLE'],
  ['forbidden', 'AGENT_FORBIDDEN'],
  ['forbidden', 'FORBIDDEN'],
  ['137', 'OOM_KILLED'],
  ['OOMKilled', 'OOM_KILLED'],
  ['OOMKilled', 'RUNS_FAILED'],
  ['queued', 'RUNS_WAITING'],
  ['ContainerCreating', 'MOUNT_FAILED'],
  ['ContainerCreating', 'SLOW_IMAGE_PULLS'],
  ['NAMESPACE_TERMINATING', 'NAMESPACE_TERMINATING'],
  ['namespace "x" because it is being terminated', 'NAMESPACE_TERMINATING'],
  ['Terminating', 'DELETION_PENDING'],
  ['spec: Forbidden: spec is immutable after creation except resources', 'IMMUTABLE_FIELD'],
  ['waiting for first consumer to be created before binding', 'PVC_NOT_BOUND'],
  ['DiskPressure', 'NODE_DISK_FULL'],
  ['no matches for kind "AgentTask" in version "scalr.io/v1beta1"', 'CRD_RENAMED'],
  [
    'Get "https://10.0.0.1:6443": x509: certificate signed by unknown authority',
    'CLUSTER_UNREACHABLE',
  ],
  ['dial tcp: lookup registry.terraform.io: no such host', 'probe-registries'],
])('a pasted line or a word of it leads to its codes: %s', async (line, code) => {
  const {stdout, exit} = await runCommand(Explain, [line, '--json']);
  expect(exit).toBe(0);
  expect(JSON.parse(stdout).findings.map((each: {code: string}) => each.code)).toContain(code);
});

test.each([
  ['pod stuck pending', 'NOT_SCHEDULED'],
  ['no space left', 'DISK_FULL'],
  ['why are runs queued', 'RUNS_WAITING'],
  ['OOM', 'OOM_KILLED'],
  ['tls', 'TLS_FAILED'],
  ['token expired', 'TOKEN_REJECTED'],
  ['certificate expired', 'TLS_CERTIFICATE_INVALID'],
  ['disk full', 'DISK_FULL'],
  ['webhook', 'WEBHOOK_UNREACHABLE'],
  ['leaked token', 'TOKEN_IN_FILE'],
  ['provider', 'probe-registries'],
  ['immutable', 'SELECTOR_CHANGED'],
  ['immutable', 'IMMUTABLE_FIELD'],
  ['timeout', 'TIMED_OUT'],
  ['upgrade blocked', 'UPGRADE_BLOCKED'],
  ['agent not connecting', 'AGENT_OFFLINE'],
  ['pods not starting', 'START_FAILED'],
  ['workspace stuck in queue', 'RUNS_WAITING'],
])('own words lead to codes, without quotes: %s', async (words, code) => {
  const {stdout, stderr, exit} = await runCommand(Explain, [...words.split(' '), '--json']);
  expect(exit, stderr).toBe(0);
  expect(JSON.parse(stdout).findings.map((each: {code: string}) => each.code)).toContain(code);
});

test.each([
  'Warning  Error of a release is Pending',
  'nothing of that',
])('words of a sentence are no states: %s', async (line) => {
  const {stderr, exit} = await runCommand(Explain, [line]);
  expect(exit).toBe(2);
  expect(stderr).toContain('/guide/symptoms.md');
});

test.each([
  'Unauthorized: invalid bearer token, service account token has expired',
  'Error: waiting for EC2 Instance (i-1) create: context deadline exceeded',
  "Error: waiting for RDS: timeout while waiting for state to become 'available'",
])('an error of a run is no cause of an agent: %s', async (line) => {
  const {stderr, exit} = await runCommand(Explain, [line]);
  expect(exit).toBe(2);
  expect(stderr).toContain('/guide/symptoms.md');
});

test('a log on standard input leads to the causes that its lines tell', async () => {
  const log = [
    'Initializing modules...',
    '\u001b[31mgit@github.com: Permission denied (publickey).\u001b[0m',
    'Error: Failed to download module',
    '0/3 nodes are available: 3 Insufficient cpu.',
    'The webhook of the provider is 403 in a sentence',
  ];
  const {stdout} = await runCommand(Explain, ['-', '--json'], {
    files: memoryFiles({}, log.join('\n')),
  });
  expect(JSON.parse(stdout).findings.map((each: {code: string}) => each.code)).toEqual([
    'INSUFFICIENT_CPU',
    'RUN_GIT_DENIED',
  ]);
  expect(violations('explain', stdout)).toEqual([]);
  const printed = await runCommand(Explain, ['-'], {
    files: memoryFiles({}, log.join('\n')),
    resultScreen: SCREEN,
  });
  for (const [line, code] of [
    ['0/3 nodes are available: 3 Insufficient cpu.', 'INSUFFICIENT_CPU'],
    ['git@github.com: Permission denied (publickey).', 'RUN_GIT_DENIED'],
  ])
    expect(printed.stdout).toContain(`\n  > ${line}\n  ${code} `);
  const {stderr, exit} = await runCommand(Explain, ['-'], {files: memoryFiles({}, 'Applied\n')});
  expect(exit).toBe(2);
  expect(stderr).toContain('No line has a known cause.');
});

test('a command is named as one', async () => {
  const {stderr} = await runCommand(Explain, ['rotate-token']);
  expect(stderr).toContain('It is a command: scalr-agent rotate-token --help');
});

test('an unknown word is an error with the nearest one', async () => {
  const {stderr, exit} = await runCommand(Explain, ['OOMKILLD']);
  expect(exit).toBe(2);
  expect(stderr).toContain('Did you mean OOMKilled? scalr-agent explain "OOMKilled"');
});

test('every code fits into 80 columns', () => {
  for (const each of explanations()) {
    const {code} = each;
    const lines = explanationText(each, 'https://example.com', SCREEN).split('\n');
    // Commands and addresses stay whole so that they can be copied, and so does the line of a file above its caret.
    const long = lines.filter(
      (line, index) =>
        line.length > 80 &&
        !/https?:|(kubectl|helm|docker|scalr-agent) /.test(line) &&
        !/^ *\^$/.test(line) &&
        !/^ *\^$/.test(lines[index + 1] ?? ''),
    );
    expect([code, long]).toEqual([code, []]);
  }
});

test('--json describes one code or all', async () => {
  const one = await runCommand(Explain, ['ENOSPC', '--json']);
  expect(violations('explain', one.stdout)).toEqual([]);
  expect(JSON.parse(one.stdout)).toMatchObject({findings: [{code: 'DISK_FULL'}]});
  const all = await runCommand(Explain, ['--json']);
  expect(JSON.parse(all.stdout).findings).toHaveLength(explanations().length);
});
