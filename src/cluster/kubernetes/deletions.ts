import type {KubectlCall} from '../../ground/call.ts';
import type {ClusterTarget} from '../../ground/command-line.ts';
import type {GitOpsMark} from './gitops-marks.ts';
import {resourceOf} from './kinds.ts';
import {requestTimeout} from './kubectl.ts';
import {identityOf, type ObjectRef, resourceOfRef} from './object-refs.ts';
import type {KubernetesObject} from './objects.ts';

/** Calls of kubectl that delete objects or wait for it, and commands that users run for the same. */

/** Waits until the objects are deleted, including finalizers. Objects that do not exist are ignored. */
export const deleteObjects = (
  kubeTarget: ClusterTarget,
  objects: readonly ObjectRef[],
  seconds: number,
): KubectlCall => ({
  tool: 'kubectl',
  verb: 'delete',
  kubeTarget,
  resources: objects.map(resourceOfRef),
  flags: ['--ignore-not-found', `--timeout=${seconds}s`],
});

const NOW = ['--ignore-not-found', '--wait=false'] as const;

/** Objects of any kind, also of add-ons. Does not wait. */
export const deleteAny = (
  kubeTarget: ClusterTarget,
  objects: readonly KubernetesObject[],
): KubectlCall => ({
  tool: 'kubectl',
  verb: 'delete',
  kubeTarget,
  resources: objects.map((each) => ({kind: resourceOf(each), name: each.metadata.name})),
  objects: objects.map(identityOf),
  flags: NOW,
  ...requestTimeout(kubeTarget),
});

/** All objects of these kinds with the label. Does not wait. */
export const deleteLabeled = (
  kubeTarget: ClusterTarget,
  kinds: readonly string[],
  selector: string,
): KubectlCall => ({
  tool: 'kubectl',
  verb: 'delete',
  kubeTarget,
  resources: kinds.map((kind) => ({kind})),
  selector,
  flags: NOW,
  ...requestTimeout(kubeTarget),
});

/** Does not wait; a PersistentVolumeClaim is deleted only after the last pod that mounts it. */
export const deleteClaim = (kubeTarget: ClusterTarget, name: string): KubectlCall => ({
  tool: 'kubectl',
  verb: 'delete',
  kubeTarget,
  resources: [{kind: 'persistentvolumeclaim', name}],
  flags: NOW,
});

export const deleteJobs = (kubeTarget: ClusterTarget, selector: string): KubectlCall => ({
  tool: 'kubectl',
  verb: 'delete',
  kubeTarget,
  resources: [{kind: 'job'}],
  selector,
});

/** Returns at once if there are none. */
export const waitUntilGone = (
  kubeTarget: ClusterTarget,
  what: Pick<KubectlCall, 'resources' | 'selector' | 'fields'>,
  seconds: number,
): KubectlCall => ({
  tool: 'kubectl',
  verb: 'wait',
  kubeTarget,
  waitsFor: 'delete',
  ...what,
  flags: [`--timeout=${seconds}s`],
});

export const waitForJobs = (
  kubeTarget: ClusterTarget,
  selector: string,
  seconds: number,
): KubectlCall => ({
  tool: 'kubectl',
  verb: 'wait',
  kubeTarget,
  waitsFor: 'condition=complete',
  resources: [{kind: 'job'}],
  selector,
  flags: [`--timeout=${seconds}s`],
});

/** For the user to run. */
export const deleteByHand = (kubeTarget: ClusterTarget, object: ObjectRef): KubectlCall => ({
  tool: 'kubectl',
  verb: 'delete',
  kubeTarget,
  resources: [resourceOfRef(object)],
});

/** For the user to run. */
export const removeFinalizers = (kubeTarget: ClusterTarget, object: ObjectRef): KubectlCall => ({
  tool: 'kubectl',
  verb: 'patch',
  kubeTarget,
  resources: [resourceOfRef(object)],
  flags: ['--type=merge', '--patch={"metadata":{"finalizers":null}}'],
});

/** For the user to run: an object no longer names its controller. */
export const removeMarks = (
  kubeTarget: ClusterTarget,
  object: ObjectRef,
  {in: verb, keys}: Pick<GitOpsMark, 'in' | 'keys'>,
): KubectlCall => ({
  tool: 'kubectl',
  verb,
  kubeTarget,
  resources: [resourceOfRef(object)],
  flags: keys.map((key) => `${key}-`),
});
