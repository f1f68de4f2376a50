import type {Pod, Snapshot} from '../cluster/objects.ts';
import type {CauseRecord} from './cause.ts';
import {oneLine} from './error-text.ts';
import {troubledPods} from './readiness.ts';
import {condition, newestEvent} from './snapshot-queries.ts';

/** One reason of the scheduler against some of the nodes. */
interface Part {
  code: string;
  words: RegExp;
  remedy: string;
  hopelessAfter?: number;
  isVague?: boolean;
}

const PARTS: readonly Part[] = [
  {
    code: 'CLAIM_NOT_FOUND',
    words: /persistentvolumeclaim "[^"]*" (not found|is being deleted)/,
    remedy: 'Create the claim in the namespace of the release, or correct --cache-claim',
    hopelessAfter: 60,
  },
  {
    // Some drivers make a volume in five minutes; the claim knows better.
    code: 'CLAIM_NOT_BOUND',
    words: /unbound immediate PersistentVolumeClaims/,
    remedy: 'Look at why the claim is not bound: kubectl describe pvc',
    hopelessAfter: Number.POSITIVE_INFINITY,
    isVague: true,
  },
  {
    code: 'NODES_NOT_READY',
    words: /untolerated taint[^{]*\{node\.kubernetes\.io\/|were unschedulable|no nodes available/,
    remedy: 'Look at the nodes, some are cordoned or not ready: kubectl get nodes',
  },
  {code: 'INSUFFICIENT_CPU', words: /Insufficient cpu/, remedy: 'Add nodes, or request less CPU'},
  {code: 'INSUFFICIENT_MEMORY', words: /Insufficient memory/, remedy: 'Add nodes, or request less memory'},
  {code: 'INSUFFICIENT_RESOURCE', words: /Insufficient \S+/, remedy: 'Add nodes that have it, or do not request it'},
  {code: 'TOO_MANY_PODS', words: /Too many pods/, remedy: 'Add nodes, these are full of pods'},
  {
    code: 'VOLUME_NODE_AFFINITY',
    words: /volume node affinity conflict|match PersistentVolume's node affinity|available persistent volumes to bind/,
    remedy: 'The volume lies in another zone: let the pods run there (--node-selector), or use a class with WaitForFirstConsumer',
  },
  {code: 'MAX_VOLUMES', words: /max volume count/, remedy: 'Add nodes, these have no place for another volume'},
  {
    code: 'NODE_SELECTOR',
    words: /match Pod's node (affinity|selector)/,
    remedy: 'Label nodes, or correct --node-selector, --controller-node-selector',
  },
  {
    code: 'TAINT',
    words: /untolerated taint|had taint/,
    remedy: 'Add --toleration (--controller-toleration) for the taint of the nodes; kubectl describe nodes shows it',
  },
  {code: 'SPREAD_OR_AFFINITY', words: /topology spread|pod (anti-)?affinity/, remedy: 'Loosen affinity or topology spread, or add nodes'},
  {code: 'PORTS_IN_USE', words: /free ports/, remedy: 'The ports of the nodes are taken: one such pod fits on each'},
];

/** What the scheduler looks at first, and then no further: such a node need not be one that was chosen. */
const BEFORE_SELECTOR = ['NODES_NOT_READY', 'TAINT', 'NODE_SELECTOR'];

/** A cluster autoscaler or Karpenter has said that it makes a node for this pod. */
const HELP = ['TriggeredScaleUp', 'Nominated'];

interface Unscheduled {
  pod: Pod;
  words: string;
  parts: readonly Part[];
}

function unscheduled(snapshot: Snapshot): Unscheduled[] {
  return troubledPods(snapshot).flatMap((pod) => {
    const {status, reason, message = ''} = condition(pod, 'PodScheduled') ?? {};
    if (status !== 'False' || reason !== 'Unschedulable') return [];
    // What would happen after a preemption is no reason.
    const words = message.replace(/(\. |, )(no new claims|preemption:).*$/s, '').replace(/\. not found$/, '');
    return [{pod, words, parts: partsOf(pod, words)}];
  });
}

/** The part that keeps most nodes away comes first; of equals, the one first in the table. */
function partsOf(pod: Pod, words: string): Part[] {
  const found = words
    .replace(/^\d+\/\d+ nodes are available: /, '')
    .split(/, (?=\d+ )/)
    .flatMap((said) => {
      const part = PARTS.find((each) => each.words.test(said));
      return part === undefined ? [] : [{part, nodes: Number.parseInt(said, 10) || 0}];
    });
  // Other nodes were left out on purpose when one that was chosen is full; and a pod of a DaemonSet is made for a single node.
  const isDaemon = pod.metadata.ownerReferences?.some(({kind}) => kind === 'DaemonSet');
  const isChosen = found.some(({part}) => !BEFORE_SELECTOR.includes(part.code));
  const telling = isDaemon || isChosen ? found.filter(({part}) => part.code !== 'NODE_SELECTOR') : found;
  return telling.toSorted((a, b) => b.nodes - a.nodes || PARTS.indexOf(a.part) - PARTS.indexOf(b.part)).map(({part}) => part);
}

const isHelped = (snapshot: Snapshot, pod: Pod): false | undefined => (newestEvent(snapshot, pod, HELP) ? false : undefined);

/** Autoscalers take about a minute to notice and another one for a node. */
const TIME_FOR_A_NODE = 120;

const toRecord = ({code, remedy, hopelessAfter = TIME_FOR_A_NODE, isVague = false}: Part): CauseRecord => ({
  code,
  hopelessAfter,
  isVague,
  remedy,
  test: (snapshot) =>
    unscheduled(snapshot)
      .filter(({parts}) => parts[0]?.code === code)
      .map(({pod, words, parts}) => ({
        object: pod,
        reason: oneLine(`unschedulable: ${words}`),
        since: condition(pod, 'PodScheduled')?.lastTransitionTime,
        isHopeless: isHelped(snapshot, pod),
        remedy: [...new Set(parts.map((part) => part.remedy))].join('; or: '),
      })),
});

export const schedulingCauses: readonly CauseRecord[] = [
  ...PARTS.map(toRecord),
  {
    code: 'UNSCHEDULABLE',
    hopelessAfter: TIME_FOR_A_NODE,
    remedy: 'Mend what the scheduler says',
    test: (snapshot) =>
      unscheduled(snapshot)
        .filter(({parts}) => parts.length === 0)
        .map(({pod, words}) => ({
          object: pod,
          reason: oneLine(`unschedulable: ${words}`),
          since: condition(pod, 'PodScheduled')?.lastTransitionTime,
          isHopeless: isHelped(snapshot, pod),
        })),
  },
  {
    code: 'NOT_SCHEDULED',
    normalFor: 15,
    remedy: 'Look whether a scheduler runs, and whether the pod has scheduling gates: kubectl describe pod',
    test: (snapshot) =>
      troubledPods(snapshot)
        .filter((pod) => pod.status?.phase === 'Pending' && pod.spec?.nodeName === undefined)
        .map((pod) => ({
          object: pod,
          reason: oneLine(
            `no node was chosen${condition(pod, 'PodScheduled')?.message ? `: ${condition(pod, 'PodScheduled')?.message}` : ''}`,
          ),
          since: pod.metadata.creationTimestamp,
        })),
  },
];
