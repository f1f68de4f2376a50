import type {HostTarget} from '../charts/host/host.ts';
import type {TargetName} from '../settings/release.ts';

/** Where the agent will run: the cluster of a kubeconfig context, this machine, or nowhere yet (only files are written, perhaps for a cluster). */
export type Place =
  | {kind: 'kubernetes'; context?: string}
  | {kind: 'files'; context?: string | undefined}
  | {kind: 'docker'}
  | {kind: 'systemd'};

interface Placed {
  place: Place | undefined;
}

/** True if a cluster belongs to the place. */
export const hasCluster = (
  place: Place | undefined,
): place is Extract<Place, {kind: 'kubernetes' | 'files'}> =>
  place?.kind === 'kubernetes' || (place?.kind === 'files' && place.context !== undefined);

export const placeContext = ({place}: Placed): string | undefined =>
  place?.kind === 'kubernetes' || place?.kind === 'files' ? place.context : undefined;

/** The target of the place: values.yaml alone is for Kubernetes, too. */
export const targetOfPlace = (place: Place | undefined): TargetName =>
  place?.kind === 'docker' || place?.kind === 'systemd' ? place.kind : 'kubernetes';

/** Where the agent runs if it is this machine; undefined for Kubernetes and if it is not known yet. */
export function hostOf({place}: Placed): Extract<HostTarget, 'docker' | 'systemd'> | undefined {
  const target = targetOfPlace(place);
  return target === 'kubernetes' ? undefined : target;
}

/** Without a context, kubectl and helm use it. */
export const IN_POD = 'service account of this pod';

const PLACES = {
  files: 'files only',
  docker: 'Docker on this machine',
  systemd: 'virtual machine',
} as const;

export function placeText(place: Place | undefined): string {
  if (place === undefined) return 'current context';
  return place.kind === 'kubernetes' ? (place.context ?? IN_POD) : PLACES[place.kind];
}
