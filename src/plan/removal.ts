import {CLUSTER_SCOPED} from '../cluster/live-drift.ts';
import type {KubernetesObject} from '../cluster/objects.ts';
import type {Step} from './step.ts';

/** Something that an uninstall deletes. What it promises is true when none of the objects exists any more. */
export interface Removal {
  what: string;
  /** What it consists of is named with it. */
  isListed?: boolean;
  objects: readonly RemovedObject[];
  /** What deletes it once the release is gone; empty where it goes with the release. */
  steps: readonly Step[];
  /** Others may have begun to use it since the plan was made. */
  isShared?: boolean;
  /** How to delete it by hand, where deleting the objects would not be enough. */
  how?: string;
}

export interface RemovedObject {
  kind: string;
  name: string;
  /** Without it the object is in no namespace. */
  namespace?: string;
  groupVersion: string;
}

/** For the user to read; of a part of it where not all of it is gone. */
export const removalText = ({what, isListed, objects}: Removal, part: readonly RemovedObject[] = objects): string =>
  isListed ? `${what}: ${part.map(({kind, name}) => `${kind} ${name}`).join(', ')}` : what;

/** A rendered object, where Helm puts it. */
export const renderedObject = ({kind = '', apiVersion = 'v1', metadata}: KubernetesObject, namespace: string): RemovedObject => ({
  kind,
  name: metadata.name,
  ...(CLUSTER_SCOPED.has(kind) ? {} : {namespace: metadata.namespace ?? namespace}),
  groupVersion: apiVersion,
});

export const removedVolume = (name: string): RemovedObject => ({kind: 'PersistentVolume', name, groupVersion: 'v1'});

export const removedClaim = (name: string, namespace: string): RemovedObject => ({
  kind: 'PersistentVolumeClaim',
  name,
  namespace,
  groupVersion: 'v1',
});
