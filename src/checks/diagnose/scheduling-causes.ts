import type {KubernetesObject, Pod} from '../../cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../cluster/kubernetes/snapshot.ts';
import {oneLine} from '../../ground/one-line.ts';
import {
  type CauseRow,
  type CauseTable,
  describe,
  remedyOf,
  type Symptom,
  singleCause,
} from './cause.ts';
import {eventsOf, firstTimeOf} from './events.ts';
import {claimsOf, condition, isTerminating} from './pod-state.ts';
import {unhealthyPods} from './rollout.ts';
import {rootOf} from './snapshot-queries.ts';

/** Pending PersistentVolumeClaims with an error. Waiting for the first consumer is normal. */
const pendingClaims = (snapshot: Snapshot): Symptom[] =>
  snapshot.claims
    .filter((claim) => claim.status?.phase === 'Pending' && !isTerminating(claim))
    .flatMap((claim) => {
      // Every retry creates normal events; only a bound claim resolves a failure.
      const failed = eventsOf(snapshot, claim, ['ProvisioningFailed', 'FailedBinding']).at(-1);
      if (failed === undefined) return [];
      const {message: text = ''} = failed;
      return [
        {object: claim, text, reason: oneLine(`PVC pending: ${text}`), since: firstTimeOf(failed)},
      ];
    });

/** Users can create the StorageClass or a volume manually right after the release. */
const BY_HAND = 60;

export const claimCauses: readonly CauseTable[] = [
  {
    symptoms: pendingClaims,
    textIn: (line) =>
      /^PVC pending: |ProvisioningFailed|FailedBinding|provision volume|waiting for a volume to be created|storageclass\S* "[^"]*" not found|no storage class is set/i.test(
        line,
      )
        ? line
        : undefined,
    rows: [
      {
        code: 'PVC_WITHOUT_CLASS',
        pattern: /no storage class is set/,
        permanentAfter: BY_HAND,
        remedy: 'Set --cache-storage-class, or make a StorageClass the default',
      },
      {
        code: 'CLASS_NOT_FOUND',
        pattern: /storageclass\S* "[^"]*" not found/i,
        permanentAfter: BY_HAND,
        remedy:
          'The class of a PVC cannot change: delete the PVC, which has no data, then run install again with an existing --cache-storage-class. List the StorageClasses',
        kubectlArgs: () => ['get', 'storageclass'],
      },
      {
        // The access modes of a driver never change.
        code: 'ACCESS_MODE_NOT_SUPPORTED',
        pattern: /access ?mode|MULTI_NODE|volume capabilit/i,
        permanentAfter: 30,
        remedy:
          'Use a StorageClass that supports ReadWriteMany (--cache-storage-class), or --cache-access-mode ReadWriteOnce',
      },
      {
        // Provisioning a cloud file system takes minutes, and the driver reports this error meanwhile.
        code: 'PROVISIONING_SLOW',
        pattern:
          /DeadlineExceeded|deadline exceeded|code = Aborted|already exists|in progress|aiting for a volume to be created/,
        remedy: 'Provisioning is still in progress: wait, then check the log of the storage driver',
      },
      {
        code: 'PROVISIONING_FAILED',
        pattern: /./,
        permanentAfter: 120,
        remedy: 'Fix the error reported by the storage driver',
      },
    ],
  },
  singleCause({
    code: 'PVC_LOST',
    // When a claim is bound or restored, its volume can appear later.
    permanentAfter: 30,
    remedy:
      'The volume of the PVC no longer exists: delete the PVC so that a new one is created. Its data is lost',
    symptoms: ({claims}) =>
      claims
        .filter(({status}) => status?.phase === 'Lost')
        .map((claim) => ({object: claim, reason: 'PVC lost: its volume does not exist'})),
  }),
];

/** Autoscalers take about a minute to react, and another one to start a node. */
const NODE_START_SECONDS = 120;

/** One reason of the scheduler for some of the nodes. */
interface NodeRow extends CauseRow {
  /** With agent-local, whose agents execute the runs and which has no controller. */
  remedyForRuns?: string;
}

const NODE_ROWS: readonly NodeRow[] = [
  {
    code: 'PVC_NOT_FOUND',
    pattern: /persistentvolumeclaim "[^"]*" not found/,
    permanentAfter: 60,
    remedy: 'Create the PVC in the release namespace, or correct --cache-claim',
  },
  {
    code: 'PVC_DELETED',
    pattern: /persistentvolumeclaim "[^"]*" is being deleted/,
    permanentAfter: 60,
    remedy:
      'The PVC is deleted when the pods that mount it have ended. Then create it again, or set another --cache-claim',
  },
  {
    // Some drivers take five minutes for a volume; the cause of the claim is more precise.
    code: 'PVC_NOT_BOUND',
    pattern: /unbound immediate PersistentVolumeClaims/,
    permanentAfter: Number.POSITIVE_INFINITY,
    isVague: true,
    remedy: 'Check why the PVC is not bound',
    kubectlArgs: ({object}, namespace) => [
      'describe',
      'pvc',
      ...claimsOf(object as Pod),
      '--namespace',
      namespace,
    ],
  },
  {
    code: 'NODE_DISK_FULL',
    pattern: /node\.kubernetes\.io\/disk-pressure/,
    remedy: 'The disks of these nodes are full: use larger ones, or free space. Show DiskPressure',
    kubectlArgs: () => ['describe', 'nodes'],
  },
  {
    code: 'NODE_PRESSURE',
    pattern: /node\.kubernetes\.io\/(memory|pid)-pressure/,
    remedy: 'These nodes are short of memory or processes: add or enlarge nodes',
    kubectlArgs: () => ['describe', 'nodes'],
  },
  {
    code: 'NODES_NOT_READY',
    pattern: /untolerated taint[^{]*\{node\.kubernetes\.io\/|were unschedulable|no nodes available/,
    remedy: 'Some nodes are cordoned or not ready. List the nodes',
    kubectlArgs: () => ['get', 'nodes'],
  },
  {
    code: 'INSUFFICIENT_CPU',
    pattern: /Insufficient cpu/,
    remedy: 'Add nodes, or request less CPU: --run-cpu-request, --controller-cpu-request',
    remedyForRuns: 'Add nodes, or request less CPU: --run-cpu-request',
  },
  {
    code: 'INSUFFICIENT_MEMORY',
    pattern: /Insufficient memory/,
    remedy: 'Add nodes, or request less memory: --run-memory-request, --controller-memory-request',
    remedyForRuns: 'Add nodes, or request less memory: --run-memory-request',
  },
  {
    code: 'INSUFFICIENT_RESOURCE',
    pattern: /Insufficient \S+/,
    remedy: 'Add nodes that provide the resource, or do not request it',
  },
  {
    code: 'TOO_MANY_PODS',
    pattern: /Too many pods/,
    remedy: 'Add nodes: the existing nodes cannot run more pods',
  },
  {
    code: 'VOLUME_NODE_AFFINITY',
    pattern:
      /volume node affinity conflict|match PersistentVolume's node affinity|available persistent volumes to bind/,
    remedy:
      'The volume is in another zone: run the pods there (--node-selector), or use a StorageClass with WaitForFirstConsumer',
  },
  {
    code: 'MAX_VOLUMES',
    pattern: /max volume count/,
    remedy: 'Add nodes: the existing nodes cannot attach more volumes',
  },
  {
    code: 'NODE_SELECTOR',
    pattern: /match Pod's node (affinity|selector)/,
    remedy: 'Label nodes, or correct --node-selector or --controller-node-selector',
    remedyForRuns: 'Label nodes, or correct --node-selector',
  },
  {
    code: 'TAINT',
    pattern: /untolerated taint|had taint/,
    remedy:
      'Add --toleration (--controller-toleration) for the taint of the nodes. Show the taints',
    remedyForRuns: 'Add --toleration for the taint of the nodes. Show the taints',
    kubectlArgs: () => ['describe', 'nodes'],
  },
  {
    code: 'SPREAD_OR_AFFINITY',
    pattern: /topology spread|pod (anti-)?affinity/,
    remedy: 'Relax the affinity rules or topology spread constraints, or add nodes',
  },
  {
    code: 'PORTS_IN_USE',
    pattern: /free ports/,
    remedy: 'Add nodes: the host ports are in use, and each node can run only one such pod',
  },
];

/** The scheduler checks these first and then skips the node, so the node may not match the pod at all. */
const BEFORE_SELECTOR = [
  'NODE_DISK_FULL',
  'NODE_PRESSURE',
  'NODES_NOT_READY',
  'TAINT',
  'NODE_SELECTOR',
];

/** Events of a cluster autoscaler or Karpenter: a node for this pod is starting. */
const NODE_COMING = ['TriggeredScaleUp', 'Nominated'];

/** The text is the most significant part of the scheduler message. */
function unscheduledPods(snapshot: Snapshot): Symptom[] {
  return unhealthyPods(snapshot).flatMap((pod) => {
    const {
      status,
      reason,
      message = '',
      lastTransitionTime: since,
    } = condition(pod, 'PodScheduled') ?? {};
    if (status !== 'False' || reason !== 'Unschedulable') return [];
    // The result of a preemption is not a reason.
    const summary = message
      .replace(/(\. |, )(no new claims|preemption:).*$/s, '')
      .replace(/\. not found$/, '');
    const parts = partsOf(pod, summary);
    const hasRuns = isOfAgentLocal(rootOf(snapshot, pod));
    const remedyOfPart = ({row: {remedyForRuns, ...row}}: NodePart): string => {
      const remedy = hasRuns ? (remedyForRuns ?? row.remedy) : row.remedy;
      return remedyOf({...row, remedy}, {object: pod}, snapshot.kubeTarget);
    };
    return [
      {
        object: pod,
        text: parts[0]?.text ?? '',
        reason: oneLine(`unschedulable: ${summary}`),
        since,
        isPermanent: eventsOf(snapshot, pod, NODE_COMING).length > 0 ? false : undefined,
        remedies: parts.length === 0 ? undefined : [...new Set(parts.map(remedyOfPart))],
      },
    ];
  });
}

const isOfAgentLocal = ({metadata}: KubernetesObject): boolean =>
  metadata.labels?.['helm.sh/chart']?.startsWith('agent-local-') ?? false;

/** Why some nodes do not take a pod. */
interface NodePart {
  row: NodeRow;
  text: string;
}

/** The part that excludes most nodes comes first; ties are ordered as in the table. */
const partsOf = (pod: Pod, message: string): NodePart[] =>
  partsIn(
    message,
    pod.metadata.ownerReferences?.some(({kind}) => kind === 'DaemonSet'),
  );

function partsIn(message: string, isDaemon = false): NodePart[] {
  const found = message
    .replace(/^\d+\/\d+ nodes are available: /, '')
    .split(/, (?=\d+ )/)
    .flatMap((text) => {
      const row = NODE_ROWS.find(({pattern}) => pattern?.test(text));
      return row === undefined ? [] : [{row, text, nodes: Number.parseInt(text, 10) || 0}];
    });
  // If a selected node is full, the other nodes were excluded on purpose; and a pod of a DaemonSet is made for a single node.
  const isChosen = found.some(({row}) => !BEFORE_SELECTOR.includes(row.code));
  const telling =
    isDaemon || isChosen ? found.filter(({row}) => row.code !== 'NODE_SELECTOR') : found;
  return telling.toSorted(
    (a, b) => b.nodes - a.nodes || NODE_ROWS.indexOf(a.row) - NODE_ROWS.indexOf(b.row),
  );
}

/** Pods of which only an event tells why they have no node. */
const refusedByScheduler = (snapshot: Snapshot, pattern: RegExp): Symptom[] =>
  unhealthyPods(snapshot)
    .filter((pod) => pod.status?.phase === 'Pending' && pod.spec?.nodeName === undefined)
    .filter((pod) => condition(pod, 'PodScheduled')?.reason === undefined)
    .flatMap((pod) => {
      const event = eventsOf(snapshot, pod, ['FailedScheduling']).at(-1);
      const {message = ''} = event ?? {};
      return event !== undefined && pattern.test(message)
        ? [{object: pod, reason: oneLine(`unschedulable: ${message}`), since: firstTimeOf(event)}]
        : [];
    });

export const schedulingCauses: readonly CauseTable[] = [
  {
    symptoms: unscheduledPods,
    textIn: (line) => {
      const [message] =
        /\d+\/\d+ nodes are available: .*|(?:\d+ )?node\(s\) .*|no nodes available to schedule|persistentvolumeclaim "[^"]*" (?:not found|is being deleted)/s.exec(
          line,
        ) ?? [];
      return message && (partsIn(message)[0]?.text ?? message);
    },
    rows: [
      ...NODE_ROWS,
      {code: 'UNSCHEDULABLE', remedy: 'Fix the problem reported by the scheduler'},
    ].map((row) => ({
      permanentAfter: NODE_START_SECONDS,
      ...row,
    })),
  },
  singleCause({
    // The scheduler of Fargate sets no condition.
    code: 'FARGATE_UNSUPPORTED',
    permanentAfter: 60,
    remedy:
      'Fargate runs no pod with such a volume or privilege: remove the namespace from the Fargate profile and use EC2 nodes, or use --cache ephemeral or EFS',
    textIn: (line) => (/not supported on Fargate/.test(line) ? line : undefined),
    symptoms: (snapshot) => refusedByScheduler(snapshot, /Fargate/),
  }),
  singleCause({
    // A scheduler that sets no condition only writes events.
    code: 'UNSCHEDULABLE',
    permanentAfter: NODE_START_SECONDS,
    remedy: 'Fix the problem reported by the scheduler',
    textIn: (line) => (/\b(?:FailedScheduling|NotTriggerScaleUp)\b/.test(line) ? line : undefined),
    symptoms: (snapshot) => refusedByScheduler(snapshot, /./),
  }),
  singleCause({
    code: 'NOT_SCHEDULED',
    normalFor: 15,
    remedy: 'Check whether a scheduler is running, and whether the pod has scheduling gates',
    kubectlArgs: describe('pod'),
    symptoms: (snapshot) =>
      unhealthyPods(snapshot)
        .filter((pod) => pod.status?.phase === 'Pending' && pod.spec?.nodeName === undefined)
        .map((pod) => {
          const {message} = condition(pod, 'PodScheduled') ?? {};
          return {
            object: pod,
            reason: oneLine(`not scheduled yet${message ? `: ${message}` : ''}`),
            since: pod.metadata.creationTimestamp,
          };
        }),
  }),
];
