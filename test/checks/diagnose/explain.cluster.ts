import {afterAll, describe, expect, inject, onTestFinished, test} from 'vitest';
import {registered} from '../../../src/checks/diagnose/agent-log.ts';
import {explainSnapshot, isReady, progress} from '../../../src/checks/diagnose/explain.ts';
import {snapshotOf} from '../../../src/checks/diagnose/snapshot-queries.ts';
import type {KubernetesObject} from '../../../src/cluster/kubernetes/objects.ts';
import {type ObjectFinding, remedyText, type Verdict} from '../../../src/ground/finding.ts';
import {type Kubectl, kubectlFor} from '../../control-plane/kubectl.ts';
import {setLogs} from '../../control-plane/logs.ts';
import {startCluster} from '../../control-plane/start-cluster.ts';
import {type Workplace, workplace} from '../../control-plane/workplace.ts';
import {commandsIn} from '../../support/commands-in.ts';

const KINDS = 'deployments,daemonsets,replicasets,jobs,pods,persistentvolumeclaims,events';
const LABELS = {'app.kubernetes.io/instance': 'acme'};
const SECONDS = 60;

type Snapshot = ReturnType<typeof snapshotOf>;

/** Everything an installation would read, logs included. */
async function look(kubectl: Kubectl): Promise<Snapshot> {
  const list = await kubectl.get<{items: KubernetesObject[]}>(KINDS);
  const name = {release: 'acme', kubeTarget: {namespace: list.items[0]?.metadata.namespace ?? ''}};
  const {pods} = snapshotOf(list, name, {});
  const logs: Record<string, string> = {};
  for (const {metadata, status} of pods) {
    const isCrashed = status?.containerStatuses?.some(({lastState}) => lastState?.terminated);
    logs[`${metadata.name}/agent`] = await kubectl(
      'logs',
      metadata.name,
      ...(isCrashed ? ['--previous'] : []),
    ).catch(() => '');
  }
  return snapshotOf(list, name, logs);
}

const durations: [code: string, object: string, seconds: number, reason: string][] = [];

/** Looks until the cause is told, for as long as it may take. */
async function told(kubectl: Kubectl, code: string, start = Date.now()): Promise<ObjectFinding> {
  for (;;) {
    const causes = explainSnapshot(await look(kubectl), new Date());
    const seconds = (Date.now() - start) / 1000;
    const cause = causes.find((each) => each.code === code);
    if (cause !== undefined) {
      durations.push([code, cause.subject.object.replace(/\/.*/, ''), seconds, cause.message]);
      expect(seconds).toBeLessThan(SECONDS);
      for (const {text, args} of commandsIn(remedyText(cause))) {
        // The nodes are no machines, and have no logs of containers that were not given any.
        const output = await kubectl(...args).catch(
          (error: Error) => /no logs found for container/.exec(error.message)?.[0],
        );
        expect(output, text).toMatch(/./);
      }
      return cause;
    }
    if (seconds > SECONDS)
      throw new Error(`${code} is not told after ${SECONDS} s: ${JSON.stringify(causes)}`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

afterAll(() => {
  if (process.env['SHOW_DURATIONS'] === undefined) return;
  for (const [code, object, seconds, reason] of durations)
    process.stderr.write(`| ${code} | ${object} | ${seconds.toFixed(1)} | ${reason} |\n`);
});

interface Template {
  outcome?: string;
  spec?: object;
  container?: object;
}

const template = ({outcome, spec, container}: Template): object => ({
  metadata: {
    labels: {...LABELS, app: 'agent'},
    annotations: outcome ? {'test.scalr.io/outcome': outcome} : {},
  },
  spec: {containers: [{name: 'agent', image: 'scalr/agent:1', ...container}], ...spec},
});

const workload = (kind: string, template_: Template, more: object = {}): object => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: {name: 'agent', labels: LABELS},
  spec: {selector: {matchLabels: {app: 'agent'}}, template: template(template_), ...more},
});
const deployment = (template_: Template = {}, more: object = {}): object =>
  workload('Deployment', template_, more);
const daemonSet = (template_: Template): object => workload('DaemonSet', template_);
const job = (template_: Template): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: {name: 'agent', labels: LABELS},
  spec: {template: template({...template_, spec: {restartPolicy: 'Never', ...template_.spec}})},
});

const claim = (storageClassName: string): object => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {name: 'agent-cache', labels: LABELS},
  spec: {storageClassName, accessModes: ['ReadWriteMany'], resources: {requests: {storage: '1Gi'}}},
});
const mounts = (claimName: string): Template => ({
  spec: {volumes: [{name: 'cache', persistentVolumeClaim: {claimName}}]},
});
const limitRange = {
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: {name: 'small'},
  spec: {limits: [{type: 'Container', max: {cpu: '1'}}]},
};

interface Case {
  code: string;
  object?: string;
  reason: RegExp;
  verdict?: Verdict;
  objects: object[];
  labels?: Record<string, string>;
  prepare?(place: Workplace): Promise<unknown>;
}

const BASELINE = {'pod-security.kubernetes.io/enforce': 'baseline'};
const onHost: Template = {spec: {volumes: [{name: 'data', hostPath: {path: '/var'}}]}};
const quota =
  (hard: string) =>
  async ({kubectl}: Workplace): Promise<unknown> => {
    await kubectl('create', 'quota', 'tight', `--hard=${hard}`);
    return kubectl(
      'wait',
      'quota/tight',
      `--for=jsonpath={.status.hard.${hard.split('=')[0]?.replace('.', '\\.')}}`,
      '--timeout=10s',
    );
  };
const POD = expect.stringMatching(/^pod\/agent-/);

const CASES: Case[] = [
  {
    code: 'IMAGE_NOT_FOUND',
    reason: /^ImagePullBackOff: scalr\/agent:1: not found$/,
    objects: [deployment({outcome: 'image-pull-backoff'})],
  },
  {
    code: 'SECRET_NOT_FOUND',
    reason: /^CreateContainerConfigError: secret "test-missing" not found$/,
    objects: [deployment({outcome: 'config-error'})],
  },
  {
    code: 'CRASH_LOOP',
    reason: /exited with code 1: no such option$/,
    verdict: 'error',
    objects: [deployment({outcome: 'crash-loop'})],
    prepare: ({kubeconfig, namespace}) =>
      setLogs(kubeconfig, {namespace}, {'*': {previous: ['starting', 'no such option']}}),
  },
  {
    code: 'OOM_KILLED',
    reason: /exceeded its memory limit of 128Mi$/,
    verdict: 'error',
    objects: [
      deployment({outcome: 'oom-killed', container: {resources: {limits: {memory: '128Mi'}}}}),
    ],
  },
  {
    code: 'INIT_STUCK',
    reason: /^init container first is still running/,
    objects: [
      deployment({
        outcome: 'init-stuck',
        spec: {initContainers: ['first', 'second'].map((name) => ({name, image: 'x'}))},
      }),
    ],
  },
  {
    code: 'PROBE_FAILING',
    reason: /^Readiness probe failed: .*503$/,
    objects: [deployment({outcome: 'unready'})],
  },
  {
    code: 'EVICTED',
    reason: /^Evicted: The node was low on resource: memory/,
    objects: [deployment({outcome: 'evicted'})],
  },
  {
    code: 'INSUFFICIENT_CPU',
    reason: /^unschedulable: 0\/\d+ nodes are available: \d+ Insufficient cpu$/,
    objects: [deployment({container: {resources: {requests: {cpu: '1000'}}}})],
  },
  {
    code: 'INSUFFICIENT_MEMORY',
    reason: /Insufficient memory$/,
    objects: [deployment({container: {resources: {requests: {memory: '900Gi'}}}})],
  },
  {
    code: 'NODE_SELECTOR',
    reason: /didn't match Pod's node affinity\/selector$/,
    objects: [deployment({spec: {nodeSelector: {pool: 'nowhere'}}})],
  },
  {
    code: 'PVC_NOT_FOUND',
    reason: /persistentvolumeclaim "nowhere" not found$/,
    objects: [deployment(mounts('nowhere'))],
  },
  {
    code: 'PVC_WITHOUT_CLASS',
    object: 'pvc/agent-cache',
    reason: /no storage class is set$/,
    objects: [claim('')],
  },
  {
    code: 'CLASS_NOT_FOUND',
    object: 'pvc/agent-cache',
    reason: /^PVC pending: storageclass.storage.k8s.io "no-such-class" not found$/,
    objects: [claim('no-such-class'), deployment(mounts('agent-cache'))],
  },
  {
    code: 'POD_SECURITY',
    object: 'deployment/agent',
    reason:
      /^FailedCreate: violates PodSecurity "baseline:latest": hostPath volumes \(volume "data"\)$/,
    verdict: 'error',
    labels: BASELINE,
    objects: [deployment(onHost)],
  },
  {
    code: 'POD_SECURITY',
    object: 'daemonset/agent',
    reason: /^FailedCreate: violates PodSecurity/,
    verdict: 'error',
    labels: BASELINE,
    objects: [daemonSet(onHost)],
  },
  {
    code: 'QUOTA_EXCEEDED',
    object: 'deployment/agent',
    reason: /^FailedCreate: exceeded quota: tight/,
    objects: [deployment({}, {replicas: 2})],
    prepare: quota('pods=1'),
  },
  {
    code: 'LIMITS_REQUIRED',
    object: 'deployment/agent',
    reason: /^FailedCreate: failed quota: tight: must specify limits.cpu/,
    verdict: 'error',
    objects: [deployment()],
    prepare: quota('limits.cpu=1'),
  },
  {
    code: 'LIMIT_RANGE',
    object: 'deployment/agent',
    reason: /^FailedCreate: maximum cpu usage per Container is 1/,
    verdict: 'error',
    objects: [deployment({container: {resources: {limits: {cpu: '2'}}}})],
    prepare: ({kubectl}) => kubectl.apply(limitRange),
  },
  {
    code: 'SERVICE_ACCOUNT_NOT_FOUND',
    object: 'deployment/agent',
    reason: /serviceaccount "nobody" not found$/,
    objects: [deployment({spec: {serviceAccountName: 'nobody'}})],
  },
  {
    code: 'SERVICE_ACCOUNT_NOT_FOUND',
    object: 'job/agent',
    reason: /serviceaccount "nobody" not found$/,
    objects: [job({spec: {serviceAccountName: 'nobody'}})],
  },
  {
    code: 'PRIORITY_CLASS_NOT_FOUND',
    object: 'deployment/agent',
    reason: /no PriorityClass with name high was found$/,
    objects: [deployment({spec: {priorityClassName: 'high'}})],
  },
  {
    code: 'ADMISSION_DENIED',
    object: 'deployment/agent',
    reason: /^FailedCreate: .*denied request: agents are forbidden here$/,
    verdict: 'error',
    objects: [deployment()],
    prepare: forbidPods,
  },
  {
    code: 'WEBHOOK_UNREACHABLE',
    object: 'deployment/agent',
    reason: /^FailedCreate: .*failed calling webhook/,
    objects: [deployment()],
    prepare: askNobody,
  },
  {
    code: 'NO_NODE_MATCHES',
    object: 'daemonset/agent',
    reason: /^no node/,
    objects: [daemonSet({spec: {nodeSelector: {pool: 'nowhere'}}})],
  },
  ...Object.entries({
    TOKEN_REJECTED: '401 Client Error: Unauthorized for url: https://acme.scalr.io',
    TLS_UNKNOWN_AUTHORITY:
      '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate',
    PROXY_REFUSED: 'Tunnel connection failed: 407 Proxy Authentication Required',
    TLS_FAILED: 'x509: malformed certificate',
    DNS_FAILED: 'Failed to resolve acme.scalr.io: Temporary failure in name resolution',
    CONNECTION_FAILED: 'HTTPSConnectionPool: Max retries exceeded with url: /api',
  }).map(
    ([code, line]): Case => ({
      code,
      reason: /^agent log: \S/,
      objects: [deployment()],
      prepare: ({kubeconfig, namespace}) =>
        setLogs(kubeconfig, {namespace}, {'*': {current: ['starting', line]}}),
    }),
  ),
];

const inNamespace = (namespace: string): object => ({
  matchLabels: {'kubernetes.io/metadata.name': namespace},
});
const PODS = {apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods']};

/** A policy takes a moment to count; then a pod of our own is refused by it. */
async function forbidPods({kubectl, namespace}: Workplace): Promise<void> {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const metadata = {name: namespace};
  const validations = [{expression: 'false', message: 'agents are forbidden here'}];
  const matchConstraints = {resourceRules: [PODS], namespaceSelector: inNamespace(namespace)};
  await kubectl.apply(
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {failurePolicy: 'Fail', matchConstraints, validations},
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: {policyName: namespace, validationActions: ['Deny']},
    },
  );
  onTestFinished(
    async () =>
      void (await kubectl(
        'delete',
        'validatingadmissionpolicy,validatingadmissionpolicybinding',
        namespace,
      )),
  );
  await refusesPods(kubectl);
}

async function askNobody({kubectl, namespace}: Workplace): Promise<void> {
  const webhook = {
    name: 'nobody.test.scalr.io',
    rules: [PODS],
    namespaceSelector: inNamespace(namespace),
    clientConfig: {url: 'https://127.0.0.1:1/'},
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
  };
  const apiVersion = 'admissionregistration.k8s.io/v1';
  await kubectl.apply({
    apiVersion,
    kind: 'ValidatingWebhookConfiguration',
    metadata: {name: namespace},
    webhooks: [webhook],
  });
  onTestFinished(
    async () => void (await kubectl('delete', 'validatingwebhookconfiguration', namespace)),
  );
  await refusesPods(kubectl);
}

const refusesPods = (kubectl: Kubectl): Promise<void> =>
  expect
    .poll(() =>
      kubectl('run', 'probe', '--image=x', '--dry-run=server').then(
        () => 'allowed',
        () => 'refused',
      ),
    )
    .toBe('refused');

/** Only our own cluster lets pods fare as they are told. */
describe.skipIf(!inject('simulated'))('a cause is told within seconds', () => {
  test.each(CASES)('$code, $object', async ({
    code,
    object = POD,
    reason,
    verdict,
    objects,
    labels = {},
    prepare,
  }) => {
    const place = await workplace(labels);
    await prepare?.(place);
    const start = Date.now();
    await place.kubectl.apply(...objects);
    const cause = await told(place.kubectl, code, start);
    expect(cause).toMatchObject({
      subject: {object},
      message: expect.stringMatching(reason),
      ...(verdict && {verdict}),
    });
    await place.kubectl('delete', 'deployments,daemonsets,jobs,pvc', '--all', '--wait=false');
  });

  test('TAINT', async () => {
    const cluster = await startCluster({
      nodes: [
        {name: 'reserved', taints: [{key: 'dedicated', value: 'others', effect: 'NoSchedule'}]},
      ],
    });
    onTestFinished(cluster.stop);
    const kubectl = await kubectlFor(cluster.kubeconfig);
    await kubectl.apply(deployment({}, {replicas: 2}));
    const {message} = await told(kubectl, 'TAINT');
    expect(message).toMatch(
      /^unschedulable: 0\/1 nodes are available: 1 node\(s\) had untolerated taint/,
    );
    await expect.poll(async () => explainSnapshot(await look(kubectl), new Date()).length).toBe(1);
    expect(explainSnapshot(await look(kubectl), new Date())[0]?.message).toMatch(
      /\(and 1 more pod\)$/,
    );
  });
});

test('a progress deadline makes a cause an error', async () => {
  const {kubectl} = await workplace();
  await kubectl.apply(
    deployment({spec: {nodeSelector: {pool: 'nowhere'}}}, {progressDeadlineSeconds: 2}),
  );
  const errors = async (): Promise<ObjectFinding[]> =>
    explainSnapshot(await look(kubectl), new Date()).filter(({verdict}) => verdict === 'error');
  await expect.poll(errors).toMatchObject([{subject: {object: POD}, code: 'NODE_SELECTOR'}]);
});

test('a recovered release and a ready release have no cause', async () => {
  const {kubectl, kubeconfig, namespace} = await workplace();
  await kubectl.apply(deployment({spec: {serviceAccountName: 'late'}}, {replicas: 2}));
  await told(kubectl, 'SERVICE_ACCOUNT_NOT_FOUND');
  const failing = await look(kubectl);
  expect(progress(failing, explainSnapshot(failing, new Date()))).toEqual([
    {object: 'deployment/agent', state: 'failing', text: '0 of 2 ready'},
  ]);
  expect(isReady(await look(kubectl))).toBe(false);
  await kubectl('create', 'serviceaccount', 'late');
  // The controller tries again after some seconds.
  await expect.poll(async () => isReady(await look(kubectl)), {interval: 500}).toBe(true);
  const seen = await look(kubectl);
  expect(explainSnapshot(seen, new Date())).toEqual([]);
  expect(progress(seen, [])).toEqual([
    {object: 'deployment/agent', state: 'ready', text: '2 of 2 ready'},
  ]);
  expect(registered(seen)).toBe('unknown');
  await setLogs(
    kubeconfig,
    {namespace},
    {'*': {current: ['Scalr agent is ready to receive tasks.']}},
  );
  await expect
    .poll(async () => registered(await look(kubectl)))
    .toBe(inject('simulated') ? true : 'unknown');
});
