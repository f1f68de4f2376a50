import {knownValue} from '../../../cluster/facts/fact.ts';
import type {StorageClass} from '../../../cluster/facts/storage.ts';
import type {Claim, KubernetesObject} from '../../../cluster/objects.ts';
import {claimNames, podSpecs} from '../../../cluster/pod-specs.ts';
import {cache} from '../../../settings/storage.ts';
import type {Outcome} from '../../check.ts';
import type {Situation} from '../../situation.ts';
import {ifKnown} from '../outcomes.ts';

export const MANIFEST = 'What the chart makes of the values is';
export const CLASSES = 'Storage classes are';

/** Claims that the chart makes. */
export const newClaims = (objects: readonly KubernetesObject[]): Claim[] =>
  objects.filter(({kind}) => kind === 'PersistentVolumeClaim') as Claim[];

/** Names of claims that pods mount and the chart does not make. */
export function usedClaims(objects: readonly KubernetesObject[]): string[] {
  const made = new Set(newClaims(objects).map(({metadata}) => metadata.name));
  return [...new Set(objects.flatMap(podSpecs).flatMap(claimNames))].filter((name) => !made.has(name));
}

/** The outcome for the rendered chart; nothing where it could not be rendered and the settings ask for no volume. */
export function withManifest(
  {manifest, get}: Situation,
  conclude: (objects: readonly KubernetesObject[]) => Outcome | undefined,
): Outcome | undefined {
  const isWanted = ['pvc', 'existing-pvc', 'efs'].includes(get(cache) ?? '');
  return knownValue(manifest) === undefined && !isWanted ? undefined : ifKnown(manifest, MANIFEST, conclude);
}

/** The class a claim gets; undefined where there is none of that name, or no default one. */
export const classOf = (claim: Claim, classes: readonly StorageClass[]): StorageClass | undefined => {
  const wanted = claim.spec?.storageClassName;
  return classes.find(({name, isDefault}) => (wanted === undefined ? isDefault : name === wanted));
};

/** The chart brings the class or a volume of it along. */
export const isClassOfChart = ({spec}: Claim, objects: readonly KubernetesObject[]): boolean =>
  spec?.storageClassName !== undefined &&
  objects.some(
    (each) =>
      (each.kind === 'StorageClass' && each.metadata.name === spec.storageClassName) ||
      (each.kind === 'PersistentVolume' && (each as Claim).spec?.storageClassName === spec.storageClassName),
  );

/** Why several pods, maybe on several nodes, mount the claims; undefined where one pod has them for itself. */
export function sharers({target, values}: Situation): string | undefined {
  if (target.chart === 'agent-job') return 'the controller and the pods of all runs';
  const replicas = Number(values['replicaCount'] ?? 1);
  return target.chart === 'agent-local' && replicas > 1 ? `${replicas} agents` : undefined;
}
