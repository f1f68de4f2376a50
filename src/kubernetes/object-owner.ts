import {isMap, type Tree} from '../ground/tree.ts';
import type {KubernetesObject} from './objects.ts';

/** The Helm release that an object belongs to by its metadata. */
export function helmOwner({metadata}: KubernetesObject): {release: string; namespace: string} | undefined {
  const {annotations = {}, labels = {}} = metadata;
  const release = annotations['meta.helm.sh/release-name'];
  const namespace = annotations['meta.helm.sh/release-namespace'];
  // Helm requires all three.
  return release && namespace && labels[MANAGED_BY] === 'Helm' ? {release, namespace} : undefined;
}

export const MANAGED_BY = 'app.kubernetes.io/managed-by';

/** What synchronizes an object with a repository and would undo other changes: Argo CD application agents */
export function gitOpsOwner({metadata}: KubernetesObject): string | undefined {
  const {annotations = {}, labels = {}} = metadata;
  const application = annotations['argocd.argoproj.io/tracking-id']?.split(':')[0] ?? labels['argocd.argoproj.io/instance'];
  if (application) return `Argo CD application ${application}`;
  for (const [prefix, kind] of FLUX) {
    const name = labels[`${prefix}/name`];
    if (name) return `Flux ${kind} ${labels[`${prefix}/namespace`] ?? ''}/${name}`;
  }
  return undefined;
}

const FLUX = [
  ['kustomize.toolkit.fluxcd.io', 'Kustomization'],
  ['helm.toolkit.fluxcd.io', 'HelmRelease'],
] as const;

/** Any other program or object that the metadata of an object names as its owner. */
export function otherOwner({metadata}: KubernetesObject): string | undefined {
  const [owner] = metadata.ownerReferences ?? [];
  if (owner) return `${owner.kind} ${owner.name}`;
  const manager = metadata.labels?.[MANAGED_BY];
  // Charts set this label themselves, also where helm template and kubectl apply brought the object.
  return manager === undefined || manager === 'Helm' ? undefined : manager;
}

/** Whether `found` contains all of `wanted`; the API server adds defaults. With `mayLack`, missing fields are ignored. */
export function isContained(wanted: Tree, found: Tree | undefined, {mayLack = false} = {}): boolean {
  if (found === undefined) return mayLack || wanted === null;
  if (Array.isArray(wanted))
    return (
      Array.isArray(found) && wanted.length === found.length && wanted.every((each, index) => isContained(each, found[index], {mayLack}))
    );
  if (isMap(wanted)) return isMap(found) && Object.entries(wanted).every(([key, below]) => isContained(below, found[key], {mayLack}));
  return wanted === found;
}
