import type {KubernetesObject} from './objects.ts';

/** The Helm release that an object belongs to by its metadata. */
export function helmOwner({
  metadata,
}: KubernetesObject): {release: string; namespace: string} | undefined {
  const {annotations = {}, labels = {}} = metadata;
  const release = annotations['meta.helm.sh/release-name'];
  const namespace = annotations['meta.helm.sh/release-namespace'];
  // Helm requires all three.
  return release && namespace && labels[MANAGED_BY] === 'Helm' ? {release, namespace} : undefined;
}

export const MANAGED_BY = 'app.kubernetes.io/managed-by';

/** Any other program or object that the metadata of an object names as its owner. */
export function otherOwner({metadata}: KubernetesObject): string | undefined {
  const [owner] = metadata.ownerReferences ?? [];
  if (owner) return `${owner.kind} ${owner.name}`;
  const manager = metadata.labels?.[MANAGED_BY];
  // Charts set this label themselves, also where helm template and kubectl apply brought the object.
  return manager === undefined || manager === 'Helm' ? undefined : manager;
}
