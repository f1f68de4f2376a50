import type {KubernetesObject} from '../cluster/objects.ts';
import type {ApiReader} from '../kubernetes/client.ts';
import {listAll} from '../kubernetes/queries.ts';
import type {ApiError, ApiErrorKind} from '../ports/log-stream.ts';
import {NAMESPACE_KINDS} from './namespace-kinds.ts';

/** Something that could not be read, or not whole. */
export interface Gap {
  /** The file it would have been in, or the kind of object. */
  what: string;
  /** `no-room`: it was there, and the disk was full. */
  trouble: Omit<ApiError, 'kind'> & {kind: ApiErrorKind | 'no-room'};
  /** Many accounts may not see it, and the bundle is whole without it. */
  isMinor?: boolean;
}

export interface NamespaceReading {
  /** Of every kind that may be read. */
  objects: readonly KubernetesObject[];
  gaps: readonly Gap[];
}

/** Lists everything of a namespace that support asks for; what is refused is said and the rest is there. */
export async function readNamespace(api: ApiReader, namespace: string, over: AbortSignal): Promise<NamespaceReading> {
  const lists = await Promise.all(
    NAMESPACE_KINDS.map(async ({kind, path, isOptional = false, isOftenHidden = false}) => {
      const {items, trouble} = await listAll(api, path(namespace), {over});
      const objects = (items as KubernetesObject[]).map((item) => named(item, kind));
      const isMissing = trouble?.kind === 'not-found' && isOptional;
      return {
        objects,
        gaps:
          trouble === undefined || isMissing
            ? []
            : [{what: `${kind} objects`, trouble, isMinor: isOftenHidden && trouble.kind === 'forbidden'}],
      };
    }),
  );
  return {objects: lists.flatMap(({objects}) => objects), gaps: lists.flatMap(({gaps}) => gaps)};
}

/** Items of a list do not say what they are, but who changed which of their fields: half of what they would take of memory. */
function named(item: KubernetesObject, kind: string): KubernetesObject {
  const {managedFields: _, ...metadata} = item.metadata as KubernetesObject['metadata'] & {managedFields?: unknown};
  return {...item, kind, metadata};
}
