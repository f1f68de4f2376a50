import {Secret} from '../settings/secret.ts';
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

export const serverVersion = (place: Place): Call => kubectl(place, ['version', '--output', 'json']);

export const currentContext = (place: Place): Call => kubectl(place, ['config', 'view', '--minify', '--output', 'json']);

export const getObject = (place: Place, kind: string, name: string): Call =>
  kubectl(place, ['get', kind, name, '--ignore-not-found', '--output', 'json']);

/** Objects of several kinds in one list. */
export const listObjects = (place: Place, kinds: readonly string[]): Call => kubectl(place, ['get', kinds.join(','), '--output', 'json']);

/** Server-side: a client-side apply would copy the data of a Secret into an annotation. */
export const applyObject = (place: Place, object: object, {isForced = false} = {}): Call =>
  kubectl(
    place,
    ['apply', '--server-side', '--field-manager', FIELD_MANAGER, ...(isForced ? ['--force-conflicts'] : []), '--filename', '-'],
    new Secret(JSON.stringify(object)),
  );

/** As a whole, and only if nobody changed it since it was read: its resourceVersion goes along. */
export const replaceObject = (place: Place, object: object): Call =>
  kubectl(place, ['replace', '--field-manager', FIELD_MANAGER, '--filename', '-'], new Secret(JSON.stringify(object)));

/** What the API server says to a whole manifest, without anything being kept. */
export const dryRunManifest = (place: Place, manifest: string): Call =>
  kubectl(
    place,
    ['apply', '--server-side', '--force-conflicts', '--field-manager', FIELD_MANAGER, '--dry-run=server', '--filename', '-'],
    manifest,
  );

export const deleteObject = (place: Place, kind: string, name: string): Call =>
  kubectl(place, ['delete', kind, name, '--ignore-not-found']);

export const podLogs = (place: Place, pod: string, container: string, {previous = false} = {}): Call =>
  kubectl(place, ['logs', pod, '--container', container, '--tail', '50', ...(previous ? ['--previous'] : [])]);
