import {annotate} from '../cluster/kubernetes/changes.ts';
import type {Claim, KubernetesObject} from '../cluster/kubernetes/objects.ts';
import type {RenderedRelease} from '../cluster/release/desired-release.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {CLAIM} from './release-data.ts';
import type {Step} from './step.ts';
import {isKept} from './step-permissions.ts';

/** PVCs of the release that Helm would delete. The file system behind a PersistentVolume of the release remains (EFS). */
export function claimsToKeep(
  {manifest}: Pick<RenderedRelease, 'manifest'>,
  {installed}: Pick<InstallFacts, 'installed'>,
): string[] {
  const named = (objects: readonly KubernetesObject[], kind: string): KubernetesObject[] =>
    objects.filter((each) => each.kind === kind);
  const rendered = new Set(named(manifest, CLAIM).map(({metadata}) => metadata.name));
  const volumes = new Set(named(installed, 'PersistentVolume').map(({metadata}) => metadata.name));
  return (named(installed, CLAIM) as Claim[])
    .filter(
      (each) =>
        !rendered.has(each.metadata.name) &&
        !volumes.has(each.spec?.volumeName ?? '') &&
        !isKept(each),
    )
    .map(({metadata}) => metadata.name);
}

export const keepClaimSteps = (claims: readonly string[], {kubeTarget}: ReleaseName): Step[] =>
  claims.map((claim) => ({
    id: `keep/${claim}`,
    title: `Annotate PVC ${claim}, so that Helm keeps it with its data`,
    call: annotate(kubeTarget, {kind: CLAIM, name: claim}, {'helm.sh/resource-policy': 'keep'}),
    tolerates: /not found/i,
  }));
