import {isClusterScoped} from '../cluster/kubernetes/kinds.ts';
import type {KubernetesObject} from '../cluster/kubernetes/objects.ts';
import type {RemovedObject, Step} from './step.ts';

/** Something that an uninstall deletes. It is done when none of the objects exists. */
export interface Removal {
  what: string;
  /** Its objects are listed with it. */
  isListed?: boolean;
  objects: readonly RemovedObject[];
  /** The steps that delete it after the release; empty if it is deleted with the release. */
  steps: readonly Step[];
  /** What a plan that keeps it calls it: others may have started to use it since the plan was created. */
  keptAs?: string;
  /** How to delete it manually, where deleting the objects would not be enough. */
  how?: string;
}

/** Text for the user; for a part of the objects if not all are deleted. */
export const removalText = (
  {what, isListed, objects}: Removal,
  part: readonly RemovedObject[] = objects,
): string =>
  isListed && part.length > 0
    ? `${what}: ${part.map(({kind, name}) => `${kind} ${name}`).join(', ')}`
    : what;

/** A rendered object, where Helm puts it. */
export const renderedObject = (
  {kind = '', apiVersion = 'v1', metadata}: KubernetesObject,
  namespace: string,
): RemovedObject => ({
  kind,
  name: metadata.name,
  ...(isClusterScoped(kind) ? {} : {namespace: metadata.namespace ?? namespace}),
  groupVersion: apiVersion,
});
