import {isMap, type Tree} from '../../ground/tree.ts';
import {canonicalQuantity} from '../../settings/kinds/quantities.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';

/** Each field that a manager sets; a list item is a key such as `k:{"name":"agent"}`. */
export interface FieldSet {
  [key: string]: FieldSet;
}

export interface LiveObject extends KubernetesObject {
  metadata: KubernetesObject['metadata'] & {
    managedFields?: readonly {manager?: string; subresource?: string; fieldsV1?: FieldSet}[];
  };
}

/** The fields of a manager, such as spec.template.spec.containers[agent].image. */
export const fieldsOf = (fields: FieldSet, path = ''): string[] =>
  stepsOf(fields, path).flatMap(({at, below}) => {
    const deeper = fieldsOf(below, at);
    return deeper.length === 0 ? [at] : deeper;
  });

/** The fields and list items of one level, with their paths. */
const stepsOf = (
  fields: FieldSet,
  path: string,
): {name: string; at: string; isItem: boolean; below: FieldSet}[] =>
  Object.entries(fields).flatMap(([key, below]) => {
    const isItem = key.startsWith('k:');
    const name = isItem ? nameOf(JSON.parse(key.slice(2)) as Tree) : key.slice(2);
    if (!/^[fk]:/.test(key) || name === undefined) return [];
    return [{name, at: isItem ? `${path}[${name}]` : joined(path, name), isItem, below}];
  });

/** Metadata besides labels and annotations belongs to the API server, status to controllers. */
const COMPARED = (key: string): boolean =>
  !['apiVersion', 'kind', 'metadata', 'status'].includes(key);

/** Fields of a live object that are not as in its manifest. What the manifest leaves open is an addition only when kubectl set it. Pure. */
export function comparePaths(
  rendered: KubernetesObject,
  live: LiveObject,
): {changed: string[]; added: string[]} {
  const desired = comparedPart(rendered);
  const byUser = (live.metadata.managedFields ?? [])
    .filter(
      ({manager = '', subresource}) => subresource === undefined && manager.startsWith('kubectl'),
    )
    .flatMap(({fieldsV1 = {}}) =>
      Object.entries(fieldsV1).filter(([key]) => COMPARED(key.slice(2))),
    )
    .flatMap(([key, below]) => unrenderedPaths({[key]: below}, desired, ''));
  const added = [...new Set([...addedItems(desired, live as unknown as Tree, ''), ...byUser])];
  const changed = differences(desired, live as unknown as Tree, '').filter(
    (path) => !isVolatile(rendered, path),
  );
  return {changed: changed.toSorted(), added: added.toSorted()};
}

/** A rendered object with the values of the cluster in changed fields, except for those that others set. Pure. */
export function liveView(
  rendered: KubernetesObject,
  live: LiveObject,
  byOthers: ReadonlySet<string> = new Set(),
): KubernetesObject {
  const {apiVersion, kind, metadata} = rendered;
  const {labels: _, annotations: __, ...identity} = metadata;
  const view = asInCluster(
    comparedPart(rendered),
    live as unknown as Tree,
    '',
    (path) => byOthers.has(path) || isVolatile(rendered, path),
  ) as {metadata: object};
  return {
    ...(apiVersion && {apiVersion}),
    ...(kind && {kind}),
    ...view,
    metadata: {...identity, ...view.metadata},
  };
}

function comparedPart(rendered: KubernetesObject): Tree {
  const {labels, annotations} = rendered.metadata;
  return {
    ...specOf(rendered),
    metadata: {...(labels && {labels}), ...(annotations && {annotations})},
  } as Tree;
}

/** What the object specifies, with the content of a Secret as the API server returns it. */
function specOf({kind, ...object}: KubernetesObject): object {
  const spec = Object.fromEntries(Object.entries(object).filter(([key]) => COMPARED(key)));
  const {stringData, data, ...rest} = spec as {
    stringData?: Record<string, string>;
    data?: Record<string, string>;
  };
  if (kind !== 'Secret') return spec;
  const encoded = Object.entries(stringData ?? {}).map(([key, text]) => [
    key,
    Buffer.from(text).toString('base64'),
  ]);
  return {...rest, data: {...data, ...Object.fromEntries(encoded)}};
}

/** A claim may have been expanded; no install makes it smaller again. */
const isVolatile = ({kind}: KubernetesObject, path: string): boolean =>
  kind === 'PersistentVolumeClaim' && path.startsWith('spec.resources.requests');

/** Paths at which `live` is not as `desired`. What is empty in one may be absent in the other. */
function differences(desired: Tree, live: Tree | undefined, path: string): string[] {
  if (desired === null || (isEmpty(desired) && (live === undefined || live === null))) return [];
  if (isMap(desired)) {
    if (live !== undefined && !isMap(live)) return [path];
    return Object.entries(desired).flatMap(([key, below]) =>
      differences(below, live?.[key], joined(path, key)),
    );
  }
  if (Array.isArray(desired)) {
    if (!Array.isArray(live)) return [path];
    if (live.length !== desired.length && !desired.every(isNamed)) return [path];
    return desired.flatMap((item, index) => {
      const name = nameOf(item);
      return differences(
        item,
        name === undefined ? live[index] : itemNamed(live, name),
        `${path}[${name ?? index}]`,
      );
    });
  }
  return isSameScalar(desired, live) ? [] : [path];
}

/** `desired` with its differences; undefined without differences. */
function asInCluster(
  desired: Tree,
  live: Tree | undefined,
  path: string,
  isIgnored: (path: string) => boolean,
): Tree | undefined {
  if (isIgnored(path) || differences(desired, live, path).length === 0) return desired;
  if (isMap(desired) && isMap(live)) {
    const fields = Object.entries(desired).map(
      ([key, below]) => [key, asInCluster(below, live[key], joined(path, key), isIgnored)] as const,
    );
    return Object.fromEntries(
      fields.filter((field): field is [string, Tree] => field[1] !== undefined),
    );
  }
  if (Array.isArray(desired) && Array.isArray(live) && desired.every(isNamed))
    return desired.flatMap((item) => {
      const name = nameOf(item) as string;
      return asInCluster(item, itemNamed(live, name), `${path}[${name}]`, isIgnored) ?? [];
    });
  return live;
}

/** Containers, variables and volumes that the manifest does not have. */
function addedItems(desired: Tree, live: Tree | undefined, path: string): string[] {
  if (isMap(desired) && isMap(live))
    return Object.entries(desired).flatMap(([key, below]) =>
      addedItems(below, live[key], joined(path, key)),
    );
  if (!Array.isArray(desired) || !Array.isArray(live)) return [];
  return live.flatMap((item) => {
    const name = nameOf(item);
    if (name === undefined) return [];
    const own = itemNamed(desired, name);
    const at = `${path}[${name}]`;
    if (own !== undefined) return addedItems(own, item, at);
    return desired.every(isNamed) ? [at] : [];
  });
}

/** Paths that a manager set and that the manifest does not have. */
function unrenderedPaths(fields: FieldSet, desired: Tree | undefined, path: string): string[] {
  return stepsOf(fields, path).flatMap(({name, at, isItem, below}) => {
    // Controllers and rollouts store state in annotations.
    if (name === 'annotations') return [];
    const next = isItem ? itemNamed(desired, name) : fieldNamed(desired, name);
    if (isItem && next === undefined) return [at];
    const isLeaf = !Object.keys(below).some((each) => /^[fk]:/.test(each));
    if (!isLeaf) return unrenderedPaths(below, next, at);
    return next === undefined ? [at] : [];
  });
}

const fieldNamed = (tree: Tree | undefined, name: string): Tree | undefined =>
  isMap(tree) ? tree[name] : undefined;

const itemNamed = (list: Tree | undefined, name: string): Tree | undefined =>
  Array.isArray(list) ? list.find((each) => nameOf(each) === name) : undefined;

/** Key of a list item: a volume can be mounted twice, but not at the same path. */
function nameOf(item: Tree): string | undefined {
  const name = isMap(item) ? (item['mountPath'] ?? item['name']) : undefined;
  return typeof name === 'string' ? name : undefined;
}

const isNamed = (item: Tree): boolean => nameOf(item) !== undefined;

const joined = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

const isEmpty = (tree: Tree): boolean =>
  tree === null ||
  tree === '' ||
  tree === false ||
  tree === 0 ||
  (typeof tree === 'object' && Object.keys(tree).length === 0);

/** The API server spells quantities in its own way. */
const isSameScalar = (desired: Tree, live: Tree | undefined): boolean => {
  if (desired === live) return true;
  if (live === undefined || live === null || typeof live === 'object') return false;
  const one = String(desired);
  const other = String(live);
  return (
    one === other ||
    (canonicalQuantity(one) !== undefined && canonicalQuantity(one) === canonicalQuantity(other))
  );
};
