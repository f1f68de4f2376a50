import {Secret} from '../settings/secret.ts';
import type {ReleaseName} from './helm.ts';
import type {Place} from './place.ts';
import type {Call} from './processes.ts';

/** Who wrote a field, as the API server remembers it. */
export const FIELD_MANAGER = 'scalr-agent-install';

const kubectl = (place: Place, args: readonly string[], input?: Call['input']): Call => ({
  tool: 'kubectl',
  args: [
    ...args,
    '--namespace',
    place.namespace,
    ...(place.kubeContext ? ['--context', place.kubeContext] : []),
    ...(place.kubeconfig ? ['--kubeconfig', place.kubeconfig] : []),
  ],
  ...(input === undefined ? {} : {input}),
});

/** An API server that accepts connections and says nothing would hold kubectl for ever. For calls that do not wait by themselves. */
const PROMPT = '--request-timeout=15s';

export const serverVersion = (place: Place): Call => kubectl(place, ['version', '--output', 'json', PROMPT]);

export const currentContext = (place: Place): Call => kubectl(place, ['config', 'view', '--minify', '--output', 'json']);

export const getObject = (place: Place, kind: string, name: string): Call =>
  kubectl(place, ['get', kind, name, '--ignore-not-found', '--output', 'json', PROMPT]);

/** Objects of several kinds in one list. */
export const listObjects = (place: Place, kinds: readonly string[]): Call =>
  kubectl(place, ['get', kinds.join(','), '--output', 'json', PROMPT]);

/** The same of all namespaces, or of what lies in none. */
export const listEverywhere = (place: Place, kinds: readonly string[]): Call =>
  kubectl(place, ['get', kinds.join(','), '--all-namespaces', '--output', 'json', PROMPT]);

/** Those of them that exist, as a list; prints nothing where none does. */
export const getObjects = (place: Place, kind: string, names: readonly string[]): Call =>
  kubectl(place, ['get', kind, ...names, '--ignore-not-found', '--output', 'json', PROMPT]);

/** Server-side: a client-side apply would copy the data of a Secret into an annotation. */
export const applyObject = (place: Place, object: object, {isForced = false} = {}): Call =>
  kubectl(
    place,
    ['apply', '--server-side', '--field-manager', FIELD_MANAGER, ...(isForced ? ['--force-conflicts'] : []), PROMPT, '--filename', '-'],
    new Secret(JSON.stringify(object)),
  );

/** As a whole, and only if nobody changed it since it was read: its resourceVersion goes along. */
export const replaceObject = (place: Place, object: object): Call =>
  kubectl(place, ['replace', '--field-manager', FIELD_MANAGER, PROMPT, '--filename', '-'], new Secret(JSON.stringify(object)));

/** What the API server says to a whole manifest, without anything being kept. */
export const dryRunManifest = (place: Place, manifest: string): Call =>
  kubectl(
    place,
    ['apply', '--server-side', '--force-conflicts', '--field-manager', FIELD_MANAGER, '--dry-run=server', PROMPT, '--filename', '-'],
    manifest,
  );

/** Done when it has gone: a finalizer may hold it. */
export const deleteObject = (place: Place, kind: string, name: string, seconds: number): Call =>
  kubectl(place, ['delete', kind, name, '--ignore-not-found', `--timeout=${seconds}s`]);

export const podLogs = (place: Place, pod: string, container: string, {previous = false} = {}): Call =>
  kubectl(place, ['logs', pod, '--container', container, '--tail', '50', PROMPT, ...(previous ? ['--previous'] : [])]);

export const releaseLogs = ({release, place}: ReleaseName): Call =>
  kubectl(place, ['logs', '--selector', `app.kubernetes.io/instance=${release}`]);

export const describePods = (place: Place): Call => kubectl(place, ['describe', 'pods']);

export const scale = (place: Place, kind: string, name: string, replicas: number): Call =>
  kubectl(place, ['scale', `${kind.toLowerCase()}/${name}`, `--replicas=${replicas}`, PROMPT]);

export const patchVolume = (place: Place, name: string, patch: object): Call =>
  kubectl(place, ['patch', 'persistentvolume', name, '--type=merge', `--patch=${JSON.stringify(patch)}`, PROMPT]);

/** `what` is names or a selector. Done at once when there is nothing of that. */
export const waitUntilGone = (place: Place, what: readonly string[], seconds: number): Call =>
  kubectl(place, ['wait', '--for=delete', ...what, `--timeout=${seconds}s`]);

export const waitForJobs = (place: Place, selector: string, seconds: number): Call =>
  kubectl(place, ['wait', '--for=condition=complete', 'job', `--selector=${selector}`, `--timeout=${seconds}s`]);

export const deleteJobs = (place: Place, selector: string): Call => kubectl(place, ['delete', 'job', `--selector=${selector}`]);

/** Returns at once; a claim goes only when the last pod that mounts it has gone. */
export const deleteClaim = (place: Place, name: string): Call =>
  kubectl(place, ['delete', 'persistentvolumeclaim', name, '--ignore-not-found', '--wait=false']);
