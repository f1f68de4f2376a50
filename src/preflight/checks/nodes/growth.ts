import {autoscalerOf} from '../../../cluster/facts/autoscaler.ts';
import {isKnown, knownValue} from '../../../cluster/facts/fact.ts';
import {fail, type Outcome, warn} from '../../check.ts';
import type {Situation} from '../../situation.ts';
import {few} from '../outcomes.ts';
import {type Growth, karpenterGrowth} from './karpenter.ts';

/** Machines of these can be had by asking for more of them. */
const CLOUDS: ReadonlySet<string> = new Set([
  'google',
  'aws',
  'azure',
  'digitalocean',
  'linode',
  'hetzner',
  'oracle',
  'ibm',
  'openstack',
  'vsphere',
]);

/** It writes every few seconds, and clocks differ. */
const STALE_MS = 15 * 60_000;

/** What the cluster-autoscaler says of itself; whether its nodes would do does not show. */
function autoscalerGrowth({facts, readings, now}: Situation): Growth | undefined {
  const autoscaler = autoscalerOf(readings);
  if (!isKnown(autoscaler)) return {text: `whether a cluster autoscaler adds nodes is unknown: ${autoscaler.because}`};
  if (autoscaler.value === undefined) return undefined;
  const {groups, at} = autoscaler.value;
  if (at !== undefined && now.getTime() - at.getTime() > STALE_MS)
    return {text: `the cluster autoscaler has said nothing since ${at.toISOString().slice(0, 16)}Z`};
  const spelled = (some: typeof groups): string => few(some.map(({name, size, maximum}) => `${name} (${size} of ${maximum})`));
  const small = groups.filter(({size, maximum}) => size < maximum);
  const open = small.filter(({isHeldBack}) => !isHeldBack);
  if (open.length > 0) return {canGrow: true, text: `the cluster autoscaler may add nodes to ${spelled(open)}`};
  if (small.length > 0) return {text: `the cluster autoscaler lately got no nodes for ${spelled(small)}, and tries again`};
  if (groups.length === 0) return {canGrow: false, text: 'the cluster autoscaler has no node groups'};
  const full = `the cluster autoscaler has all its node groups at their maximum: ${spelled(groups)}`;
  return knownValue(facts.platform.cloud) === 'gke'
    ? {text: `${full}; node auto-provisioning may add others, if it is on`}
    : {canGrow: false, text: full, remedy: 'or raise the maximum of a node group'};
}

/** Whoever may add nodes that pods wait for. */
function growthsOf(situation: Situation): Growth[] {
  const {facts, readings} = situation;
  if (knownValue(facts.platform.cloud) === 'gke-autopilot') return [{canGrow: true, text: 'Autopilot adds nodes for pods that wait'}];
  if (!isKnown(readings.resources)) return [{text: 'whether anything adds nodes could not be read'}];
  return [karpenterGrowth(situation), autoscalerGrowth(situation)].filter((each) => each !== undefined);
}

/** No node will do: that is final only where no others can come. */
export function noNodeWillDo(situation: Situation, message: string, remedy: string): Outcome {
  const growths = growthsOf(situation);
  const hope = growths.find(({canGrow}) => canGrow) ?? growths.find(({canGrow}) => canGrow === undefined);
  if (hope !== undefined) return warn(`${message}; ${hope.text}`, remedy);
  if (growths.length > 0) {
    const texts = growths.map(({text}) => text);
    return fail([message, ...texts].join('; '), [remedy, ...growths.flatMap((each) => each.remedy ?? [])].join('; '));
  }
  return CLOUDS.has(knownValue(situation.facts.platform.infrastructure) ?? '')
    ? warn(`${message}; a node pool that grows would help, and no autoscaler says that it is here`, remedy)
    : fail(message, remedy);
}
