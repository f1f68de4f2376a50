import type {ReleaseName} from '../ports/helm.ts';
import type {Place} from '../ports/place.ts';
import type {Call} from '../ports/processes.ts';

const kubectl = (place: Place, args: readonly string[]): Call => ({
  tool: 'kubectl',
  args: [
    ...args,
    '--namespace',
    place.namespace,
    ...(place.kubeContext ? ['--context', place.kubeContext] : []),
    ...(place.kubeconfig ? ['--kubeconfig', place.kubeconfig] : []),
  ],
});

/** Without Helm's own wait: a Ctrl-C in it would leave a release that is neither there nor gone. */
export const uninstall = ({release, place}: ReleaseName): Call => ({
  tool: 'helm',
  args: [
    'uninstall',
    release,
    '--namespace',
    place.namespace,
    ...(place.kubeContext ? ['--kube-context', place.kubeContext] : []),
    ...(place.kubeconfig ? ['--kubeconfig', place.kubeconfig] : []),
  ],
});

export const scaleToZero = (place: Place, kind: string, name: string): Call =>
  kubectl(place, ['scale', `${kind.toLowerCase()}/${name}`, '--replicas=0']);

export const patchVolume = (place: Place, name: string, patch: object): Call =>
  kubectl(place, ['patch', 'persistentvolume', name, '--type=merge', `--patch=${JSON.stringify(patch)}`]);

/** `what` is names or a selector. Done at once when there is nothing of that. */
export const waitUntilGone = (place: Place, what: readonly string[], seconds: number): Call =>
  kubectl(place, ['wait', '--for=delete', ...what, `--timeout=${seconds}s`]);

export const waitForJobs = (place: Place, selector: string, seconds: number): Call =>
  kubectl(place, ['wait', '--for=condition=complete', 'job', `--selector=${selector}`, `--timeout=${seconds}s`]);

export const deleteJobs = (place: Place, selector: string): Call => kubectl(place, ['delete', 'job', `--selector=${selector}`]);

/** Returns at once; a claim goes only when the last pod that mounts it has gone. */
export const deleteClaim = (place: Place, name: string): Call =>
  kubectl(place, ['delete', 'persistentvolumeclaim', name, '--ignore-not-found', '--wait=false']);
