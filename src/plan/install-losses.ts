import {spellPath} from '../charts/tree.ts';
import {type Difference, driftOf} from '../cluster/drift.ts';
import type {InstallFacts} from '../cluster/install-facts.ts';
import {objectsIn} from '../cluster/manifest.ts';
import type {Claim, KubernetesObject} from '../cluster/objects.ts';
import type {WantedRelease} from './install.ts';
import type {Loss} from './step.ts';

/** What the installed release has and the wanted one has not. */
export const lossesOf = (wanted: WantedRelease, facts: InstallFacts): Loss[] => [
  ...lostClaims(wanted, facts).map((claim) => ({claim})),
  ...lostValues(wanted, facts).map((value) => ({value})),
];

/** What helm was given, by hand or by other settings, that nobody asked to be otherwise and that no default makes the same. */
function lostValues({effective, asked}: WantedRelease, {release}: InstallFacts): Difference[] {
  const keys = asked.map(spellPath);
  const isAsked = (key: string): boolean => keys.some((each) => each === key || each.startsWith(`${key}.`) || key.startsWith(`${each}.`));
  return driftOf(release?.values ?? {}, effective).differences.filter(
    ({path, installed, file}) => (installed ?? undefined) !== undefined && (file === undefined || !isAsked(path)),
  );
}

/** Claims whose data goes; behind a volume that is of the release too there is a file system that nobody deletes (EFS). */
function lostClaims({manifest}: WantedRelease, {installed}: InstallFacts): string[] {
  const named = (objects: readonly KubernetesObject[], kind: string): KubernetesObject[] => objects.filter((each) => each.kind === kind);
  const kept = new Set(named(objectsIn(manifest), CLAIM).map(({metadata}) => metadata.name));
  const volumes = new Set(named(installed, 'PersistentVolume').map(({metadata}) => metadata.name));
  return (named(installed, CLAIM) as Claim[])
    .filter(({metadata, spec}) => !kept.has(metadata.name) && !volumes.has(spec?.volumeName ?? '') && !isKept(metadata))
    .map(({metadata}) => metadata.name);
}

const CLAIM = 'PersistentVolumeClaim';

/** Helm leaves it behind. */
const isKept = ({annotations}: KubernetesObject['metadata']): boolean => annotations?.['helm.sh/resource-policy'] === 'keep';
