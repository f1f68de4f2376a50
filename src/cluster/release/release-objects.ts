import {at, getAt, type Tree} from '../../ground/tree.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';

/** Which release an object is asked about. */
export interface OwnRelease {
  release: string;
  namespace: string;
}

/** Helm created it for the release. */
export function isRenderedFor(
  {metadata: {annotations = {}}}: KubernetesObject,
  {release, namespace}: OwnRelease,
): boolean {
  const isHere = (annotations['meta.helm.sh/release-namespace'] ?? namespace) === namespace;
  return annotations['meta.helm.sh/release-name'] === release && isHere;
}

/** It belongs to the release, to a run, or to a workload that was just deleted. */
export function isOfRelease(object: KubernetesObject, own: OwnRelease): boolean {
  if (isRenderedFor(object, own)) return true;
  const {kind, metadata, ...rest} = object;
  const {release} = own;
  // Other tools label their objects by instance too.
  const isOurs = (
    {labels = {}}: Pick<KubernetesObject['metadata'], 'labels'>,
    mayBeOwned: boolean,
  ): boolean =>
    labels['app.kubernetes.io/instance'] === release &&
    (mayBeOwned || labels['app.kubernetes.io/component'] === 'task');
  if (kind === 'ReplicaSet') return isOwned({metadata}) && isOurs(metadata, true);
  if (kind === 'Pod') return isOurs(metadata, isOwned({metadata}));
  const template = getAt(rest as Tree, at('spec.template.metadata')) as
    | KubernetesObject['metadata']
    | undefined;
  return kind === 'Job' && [metadata, template ?? {}].some((each) => isOurs(each, false));
}

export const isInManifest = (
  {kind, metadata}: KubernetesObject,
  manifest: readonly KubernetesObject[],
): boolean => manifest.some((each) => each.kind === kind && each.metadata.name === metadata.name);

export const isOwned = ({metadata}: KubernetesObject): boolean =>
  (metadata.ownerReferences?.length ?? 0) > 0;

export const isOwnedByOneOf = (
  owners: readonly KubernetesObject[],
  {metadata}: KubernetesObject,
): boolean =>
  metadata.ownerReferences?.some(({kind, name}) =>
    owners.some((each) => each.kind === kind && each.metadata.name === name),
  ) ?? false;
