import type {Pod, Snapshot} from '../cluster/objects.ts';
import {type CauseRow, type CauseTable, describe, remedyOf, type Symptom, singleCause} from './cause.ts';
import {oneLine} from './error-text.ts';
import {troubledPods} from './readiness.ts';
import {condition, eventsOf, firstTimeOf, isEnding, newestEvent} from './snapshot-queries.ts';

/** PersistentVolumeClaims for which no volume was found. One that waits for its first consumer is in order. */
const pendingClaims = (snapshot: Snapshot): Symptom[] =>
  snapshot.claims
    .filter((claim) => claim.status?.phase === 'Pending' && !isEnding(claim))
    .flatMap((claim) => {
      // Normal events come with every new try; only a bound claim takes a failure back.
      const failed = eventsOf(snapshot, claim, ['ProvisioningFailed', 'FailedBinding']).at(-1);
      if (failed === undefined) return [];
      const {message: text = ''} = failed;
      return [{object: claim, text, reason: oneLine(`PVC pending: ${text}`), since: firstTimeOf(failed)}];
    });

/** Users may create the class or a volume by hand right after the release. */
const BY_HAND = 60;

export const claimCauses: readonly CauseTable[] = [
  {
    symptoms: pendingClaims,
    rows: [
      {
        code: 'CLAIM_WITHOUT_CLASS',
        pattern: /no storage class is set/,
        hopelessAfter: BY_HAND,
        remedy: 'Name a class with --cache-storage-class, or make one the default',
      },
      {
        code: 'CLASS_NOT_FOUND',
        pattern: /storageclass\S* "[^"]*" not found/i,
        hopelessAfter: BY_HAND,
        remedy: 'Correct --cache-storage-class. List the classes',
        look: () => ['get', 'storageclass'],
      },
      {
        // A driver never learns another access mode.
        code: 'ACCESS_MODE_NOT_SUPPORTED',
        pattern: /access ?mode|MULTI_NODE|volume capabilit/i,
        hopelessAfter: 30,
        remedy: 'Use a class that can be mounted by many nodes (--cache-storage-class), or --cache-access-mode ReadWriteOnce',
      },
      {
        // File systems of clouds take minutes, and their drivers report this meanwhile.
        code: 'PROVISIONING_SLOW',
        pattern: /DeadlineExceeded|deadline exceeded|code = Aborted|already exists|in progress/,
        remedy: 'The storage driver still works on it: wait, then look at its log',
      },
      {code: 'PROVISIONING_FAILED', pattern: /./, hopelessAfter: 120, remedy: 'Mend what the storage driver says'},
    ],
  },
  singleCause({
    code: 'CLAIM_LOST',
    // While a claim is bound or restored, its volume may appear after it.
    hopelessAfter: 30,
    remedy: 'The volume of the claim is gone: delete the claim and let a new one be made; what it held is lost',
    symptoms: ({claims}) =>
      claims
        .filter(({status}) => status?.phase === 'Lost')
        .map((claim) => ({object: claim, reason: 'PVC lost: its volume does not exist'})),
  }),
];

/** Autoscalers take about a minute to notice and another one for a node. */
const TIME_FOR_A_NODE = 120;

const claimNames = ({spec}: Pod): string[] => (spec?.volumes ?? []).flatMap(({persistentVolumeClaim: claim}) => claim?.claimName ?? []);

/** One reason of the scheduler against some of the nodes. */
const NODE_ROWS: readonly CauseRow[] = [
  {
    code: 'CLAIM_NOT_FOUND',
    pattern: /persistentvolumeclaim "[^"]*" (not found|is being deleted)/,
    hopelessAfter: 60,
    remedy: 'Create the claim in the namespace of the release, or correct --cache-claim',
  },
  {
    // Some drivers make a volume in five minutes; the claim knows better.
    code: 'CLAIM_NOT_BOUND',
    pattern: /unbound immediate PersistentVolumeClaims/,
    hopelessAfter: Number.POSITIVE_INFINITY,
    isVague: true,
    remedy: 'See why the PVC is not bound',
    look: ({object}, namespace) => ['describe', 'pvc', ...claimNames(object as Pod), '--namespace', namespace],
  },
  {
    code: 'NODES_NOT_READY',
    pattern: /untolerated taint[^{]*\{node\.kubernetes\.io\/|were unschedulable|no nodes available/,
    remedy: 'Some nodes are cordoned or not ready. See which',
    look: () => ['get', 'nodes'],
  },
  {code: 'INSUFFICIENT_CPU', pattern: /Insufficient cpu/, remedy: 'Add nodes, or request less CPU'},
  {code: 'INSUFFICIENT_MEMORY', pattern: /Insufficient memory/, remedy: 'Add nodes, or request less memory'},
  {code: 'INSUFFICIENT_RESOURCE', pattern: /Insufficient \S+/, remedy: 'Add nodes that have it, or do not request it'},
  {code: 'TOO_MANY_PODS', pattern: /Too many pods/, remedy: 'Add nodes, these are full of pods'},
  {
    code: 'VOLUME_NODE_AFFINITY',
    pattern: /volume node affinity conflict|match PersistentVolume's node affinity|available persistent volumes to bind/,
    remedy: 'The volume lies in another zone: let the pods run there (--node-selector), or use a class with WaitForFirstConsumer',
  },
  {code: 'MAX_VOLUMES', pattern: /max volume count/, remedy: 'Add nodes, these have no place for another volume'},
  {
    code: 'NODE_SELECTOR',
    pattern: /match Pod's node (affinity|selector)/,
    remedy: 'Label nodes, or correct --node-selector, --controller-node-selector',
  },
  {
    code: 'TAINT',
    pattern: /untolerated taint|had taint/,
    remedy: 'Add --toleration (--controller-toleration) for the taint of the nodes. See it',
    look: () => ['describe', 'nodes'],
  },
  {code: 'SPREAD_OR_AFFINITY', pattern: /topology spread|pod (anti-)?affinity/, remedy: 'Loosen affinity or topology spread, or add nodes'},
  {code: 'PORTS_IN_USE', pattern: /free ports/, remedy: 'The ports of the nodes are taken: one such pod fits on each'},
];

/** The scheduler checks these first, and checks nothing else on such a node: it need not be one that was chosen. */
const BEFORE_SELECTOR = ['NODES_NOT_READY', 'TAINT', 'NODE_SELECTOR'];

/** Events of a cluster autoscaler or Karpenter: a node for this pod is on its way. */
const NODE_COMING = ['TriggeredScaleUp', 'Nominated'];

/** The text is the part of the scheduler's message that tells most. */
function unscheduledPods(snapshot: Snapshot): Symptom[] {
  return troubledPods(snapshot).flatMap((pod) => {
    const {status, reason, message = '', lastTransitionTime: since} = condition(pod, 'PodScheduled') ?? {};
    if (status !== 'False' || reason !== 'Unschedulable') return [];
    // What would happen after a preemption is no reason.
    const said = message.replace(/(\. |, )(no new claims|preemption:).*$/s, '').replace(/\. not found$/, '');
    const parts = partsOf(pod, said);
    return [
      {
        object: pod,
        text: parts[0]?.text ?? '',
        reason: oneLine(`unschedulable: ${said}`),
        since,
        isHopeless: newestEvent(snapshot, pod, NODE_COMING) ? false : undefined,
        remedy: [...new Set(parts.map(({row}) => remedyOf(row, {object: pod}, snapshot.place)))].join('; or: ') || undefined,
      },
    ];
  });
}

/** The part that keeps most nodes away comes first; of equals, the one first in the table. */
function partsOf(pod: Pod, message: string): {row: CauseRow; text: string}[] {
  const found = message
    .replace(/^\d+\/\d+ nodes are available: /, '')
    .split(/, (?=\d+ )/)
    .flatMap((text) => {
      const row = NODE_ROWS.find(({pattern}) => pattern?.test(text));
      return row === undefined ? [] : [{row, text, nodes: Number.parseInt(text, 10) || 0}];
    });
  // Other nodes were left out on purpose when one that was chosen is full; and a pod of a DaemonSet is made for a single node.
  const isDaemon = pod.metadata.ownerReferences?.some(({kind}) => kind === 'DaemonSet');
  const isChosen = found.some(({row}) => !BEFORE_SELECTOR.includes(row.code));
  const telling = isDaemon || isChosen ? found.filter(({row}) => row.code !== 'NODE_SELECTOR') : found;
  return telling.toSorted((a, b) => b.nodes - a.nodes || NODE_ROWS.indexOf(a.row) - NODE_ROWS.indexOf(b.row));
}

export const schedulingCauses: readonly CauseTable[] = [
  {
    symptoms: unscheduledPods,
    rows: [...NODE_ROWS, {code: 'UNSCHEDULABLE', remedy: 'Mend what the scheduler says'}].map((row) => ({
      hopelessAfter: TIME_FOR_A_NODE,
      ...row,
    })),
  },
  singleCause({
    code: 'NOT_SCHEDULED',
    normalFor: 15,
    remedy: 'Check whether a scheduler runs, and whether the pod has scheduling gates',
    look: describe('pod'),
    symptoms: (snapshot) =>
      troubledPods(snapshot)
        .filter((pod) => pod.status?.phase === 'Pending' && pod.spec?.nodeName === undefined)
        .map((pod) => {
          const {message} = condition(pod, 'PodScheduled') ?? {};
          return {
            object: pod,
            reason: oneLine(`no node was chosen${message ? `: ${message}` : ''}`),
            since: pod.metadata.creationTimestamp,
          };
        }),
  }),
];
