import {knownValue} from '../../cluster/facts/fact.ts';
import {hostPaths, podSpecs} from '../../cluster/pod-specs.ts';
import {cache} from '../../settings/storage.ts';
import type {Situation} from '../situation.ts';

/** The directories of nodes that pods mount; what the settings say where the chart could not be rendered. */
export function wantedHostPaths({manifest, target, get}: Pick<Situation, 'manifest' | 'target' | 'get'>): readonly string[] {
  const objects = knownValue(manifest);
  if (objects) return [...new Set(objects.flatMap(podSpecs).flatMap(hostPaths))];
  const isWanted = get(cache) === 'hostpath' || (target.chart === 'agent-k8s' && get(cache) !== 'efs');
  return isWanted ? ['directories'] : [];
}

/** How to do without them. */
export const withoutHostPath = ({target}: Pick<Situation, 'target'>): string =>
  target.chart === 'agent-k8s' ? 'Use --chart agent-local or --chart agent-job' : 'Use --cache ephemeral or --cache pvc';
