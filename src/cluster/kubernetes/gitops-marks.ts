import {pluralOfKind} from './kinds.ts';
import type {KubernetesObject} from './objects.ts';

/** The object of Argo CD or Flux that an object names as its controller, and the keys that name it. */
export interface GitOpsMark {
  engine: 'Argo CD' | 'Flux';
  kind: string;
  /** helmreleases.helm.toolkit.fluxcd.io */
  resource: string;
  name: string;
  /** Undefined if the mark does not contain it. */
  namespace?: string | undefined;
  in: 'label' | 'annotate';
  keys: readonly string[];
}

/** A mark of Argo CD: agents, or team_agents for an application in namespace team. */
export function argoMark(text: string, where: GitOpsMark['in'], key: string): GitOpsMark {
  const [name = '', namespace] = text.split('_').reverse();
  return {
    engine: 'Argo CD',
    kind: 'application',
    resource: 'applications.argoproj.io',
    name,
    namespace,
    in: where,
    keys: [key],
  };
}

const TRACKING = 'argocd.argoproj.io/tracking-id';

const INSTANCE = 'argocd.argoproj.io/instance';

export function gitOpsMark({metadata}: KubernetesObject): GitOpsMark | undefined {
  const {annotations = {}, labels = {}} = metadata;
  const tracked = annotations[TRACKING]?.split(':')[0];
  if (tracked) return argoMark(tracked, 'annotate', TRACKING);
  if (labels[INSTANCE]) return argoMark(labels[INSTANCE], 'label', INSTANCE);
  for (const [group, kind] of FLUX) {
    const keys = [`${group}/name`, `${group}/namespace`] as const;
    const name = labels[keys[0]];
    if (name)
      return {
        engine: 'Flux',
        kind,
        resource: `${pluralOfKind(kind)}.${group}`,
        name,
        namespace: labels[keys[1]],
        in: 'label',
        keys,
      };
  }
  return undefined;
}

/** Argo CD application agents, Flux HelmRelease flux-system/agents */
export const gitOpsText = ({engine, kind, namespace, name}: GitOpsMark): string =>
  `${engine} ${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;

/** What synchronizes an object with a repository and would undo other changes: Argo CD application agents */
export function gitOpsOwner(object: KubernetesObject): string | undefined {
  const mark = gitOpsMark(object);
  return mark && gitOpsText(mark);
}

const FLUX = [
  ['kustomize.toolkit.fluxcd.io', 'Kustomization'],
  ['helm.toolkit.fluxcd.io', 'HelmRelease'],
] as const;
