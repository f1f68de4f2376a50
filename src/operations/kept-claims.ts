import type {ReleaseName} from '../ground/command-line.ts';
import {rollback} from '../helm/helm.ts';
import {annotate} from '../kubernetes/kubectl.ts';
import type {Claim, KubernetesObject} from '../kubernetes/objects.ts';
import type {InstallFacts} from '../release/read-release.ts';
import type {Step} from './step.ts';
import type {RenderedRelease} from './wanted-release.ts';

const CLAIM = 'PersistentVolumeClaim';

/** PVCs of the release that Helm would delete. The file system behind a PersistentVolume of the release remains (EFS). */
export function claimsToKeep({manifest}: Pick<RenderedRelease, 'manifest'>, {installed}: Pick<InstallFacts, 'installed'>): string[] {
  const named = (objects: readonly KubernetesObject[], kind: string): KubernetesObject[] => objects.filter((each) => each.kind === kind);
  const rendered = new Set(named(manifest, CLAIM).map(({metadata}) => metadata.name));
  const volumes = new Set(named(installed, 'PersistentVolume').map(({metadata}) => metadata.name));
  return (named(installed, CLAIM) as Claim[])
    .filter(({metadata, spec}) => !rendered.has(metadata.name) && !volumes.has(spec?.volumeName ?? '') && !isKept(metadata))
    .map(({metadata}) => metadata.name);
}

const isKept = ({annotations}: KubernetesObject['metadata']): boolean => annotations?.['helm.sh/resource-policy'] === 'keep';

export const keepClaimSteps = (claims: readonly string[], {kubeTarget}: ReleaseName): Step[] =>
  claims.map((claim) => ({
    id: `keep/${claim}`,
    title: `Annotate PVC ${claim}, so that Helm keeps it with its data`,
    call: annotate(kubeTarget, {kind: CLAIM, name: claim}, {'helm.sh/resource-policy': 'keep'}),
    tolerates: /not found/i,
  }));

/** The rollback of a change that keeps PVCs: the first one records the PVCs and fails, the second one finds them in that record. */
export function rollbackSteps(name: ReleaseName, revision: number, keptClaims: readonly string[]): Step[] {
  const back: Step = {id: 'rollback', title: `Roll back to revision ${revision}`, call: rollback(name, revision)};
  const adopt: Step = {
    ...back,
    id: 'adopt',
    title: 'Record the kept PVCs in the release',
    tolerates: /PersistentVolumeClaim with the name .* found/,
  };
  return keptClaims.length === 0 ? [back] : [adopt, back];
}
