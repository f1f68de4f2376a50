import type {Claim, KubernetesObject, Pod} from '../cluster/objects.ts';
import type {ApiReader} from '../kubernetes/client.ts';
import {skewOf} from './clock-skew.ts';
import type {Gap} from './read-namespace.ts';

/** Nodes that run the pods, volumes behind their claims and the version of the server; they lie in no namespace. */
export async function readSurroundings(
  objects: readonly KubernetesObject[],
  {api, over, now}: {api: Pick<ApiReader, 'get'>; over: AbortSignal; now(): Date},
): Promise<{objects: KubernetesObject[]; version: unknown; gaps: Gap[]; skewMs: number}> {
  const nodes = new Set(objects.flatMap((object) => (object.kind === 'Pod' ? ((object as Pod).spec?.nodeName ?? []) : [])));
  const volumes = new Set(
    objects.flatMap((object) => (object.kind === 'PersistentVolumeClaim' ? ((object as Claim).spec?.volumeName ?? []) : [])),
  );
  const gaps: Gap[] = [];
  const read = async (kind: string, path: string): Promise<KubernetesObject[]> => {
    const {trouble, ...answer} = await api.get(path, {over});
    // A namespaced account sees neither, and loses little by it.
    if (trouble) gaps.push({what: path, trouble, isMinor: trouble.kind === 'forbidden'});
    return trouble || !('body' in answer) ? [] : [{...withoutImages(answer.body as KubernetesObject), kind}];
  };
  const [version, ...found] = await Promise.all([
    api.get('/version', {over}).then((answer) => ({...answer, skewMs: skewOf(answer, now())})),
    ...[...nodes].map((name) => read('Node', `/api/v1/nodes/${encodeURIComponent(name)}`)),
    ...[...volumes].map((name) => read('PersistentVolume', `/api/v1/persistentvolumes/${encodeURIComponent(name)}`)),
  ]);
  return {objects: found.flat(), version: version.trouble ? undefined : version.body, gaps, skewMs: version.skewMs};
}

/** Hundreds of lines about images of everybody. */
function withoutImages(object: KubernetesObject & {status?: Readonly<Record<string, unknown>>}): KubernetesObject {
  const {images: _, ...status} = object.status ?? {};
  return object.status === undefined ? object : ({...object, status} as KubernetesObject);
}
