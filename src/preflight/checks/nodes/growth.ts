import {isKnown, knownValue} from '../../../cluster/facts/fact.ts';
import {fail, type Outcome, warn} from '../../check.ts';
import type {Situation} from '../../situation.ts';

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

/** Who may add nodes that pods wait for; undefined where nobody can. */
function growthOf({facts, readings}: Situation): string | undefined {
  const {cloud, flavour, infrastructure} = facts.platform;
  if (knownValue(cloud) === 'gke-autopilot') return 'Autopilot adds nodes for pods that wait';
  if (knownValue(flavour) === 'auto-mode') return 'EKS Auto Mode adds nodes for pods that wait';
  if (!isKnown(readings.resources)) return 'whether anything adds nodes could not be read';
  if (readings.resources.value.includes('nodepools.karpenter.sh')) return 'Karpenter adds nodes if one of its pools allows for it';
  return CLOUDS.has(knownValue(infrastructure) ?? '')
    ? 'a node pool that grows would help, and whether one does is not looked at'
    : undefined;
}

/** No node will do: that is final only where no others can come. */
export function noNodeWillDo(situation: Situation, message: string, remedy: string): Outcome {
  const growth = growthOf(situation);
  return growth === undefined ? fail(message, remedy) : warn(`${message}; ${growth}`, remedy);
}
