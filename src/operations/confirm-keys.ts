import {floorOf} from '../charts/charts.ts';
import {reachOf} from '../charts/reach.ts';
import {leavesOf, schemaOf} from '../charts/schema.ts';
import {newestOf} from '../charts/target.ts';
import {template} from '../cluster/helm/chart-calls.ts';
import {objectsIn} from '../cluster/helm/release-record.ts';
import type {KubernetesObject} from '../cluster/kubernetes/objects.ts';
import {ExpectedError} from '../ground/errors.ts';
import type {Processes} from '../ground/system/system.ts';
import {toolFailure} from '../ground/tool-errors.ts';
import {
  copyOf,
  getAt,
  isMap,
  leafPaths,
  type Path,
  sameTree,
  setAt,
  spellPath,
  startsWith,
  type Tree,
  type Values,
  withoutLeaves,
} from '../ground/tree.ts';
import {effectiveValues} from '../values/reading/read-values.ts';
import type {ReadChart} from './read-chart.ts';

/** A key that has no confirmed effect, and why. */
export interface Unconfirmed {
  path: Path;
  message: string;
}

/** For one command. */
export const MAX_RENDERS = 10;

/**
 * Renders a chart of an unknown version with and without the keys of the values, several at once. A key is confirmed if the objects change
 * where they do in the newest known version. With one render, it only finds out whether helm accepts them. @throws ExpectedError if helm rejects the values
 */
export async function confirmKeys(
  values: Values,
  read: ReadChart,
  processes: Pick<Processes, 'run'>,
  renders: number,
): Promise<Unconfirmed[]> {
  const keys = keysOf(values, read);
  if (keys.length === 0) return [];
  const base = await render(values, read, processes);
  if (renders === 1) return [];
  const codes = codesFor(keys.length, renders - 1);
  const first = await renderWithout(codes.masks, keys, values, read, processes);
  const found = explained(base, first, codes.of);
  const open = keys.flatMap((_, index) => (found[index]?.size === 0 ? [index] : []));
  const again = codes.isSingle ? [] : open.slice(0, renders - 1 - codes.masks.length);
  const alone = again.map((index) => [index]);
  const renderedAlone = await renderWithout(alone, keys, values, read, processes);
  const ownRenders = again.map((_, render) => [render]);
  const singles = explained(base, renderedAlone, ownRenders);
  return keys.flatMap((path, index) => {
    const parts = singles[again.indexOf(index)] ?? found[index];
    const isTested =
      codes.of[index] !== undefined &&
      (codes.isSingle || parts?.size !== 0 || again.includes(index));
    const message = isTested
      ? problemOf(path, parts ?? new Set(), read)
      : `${spellPath(path)} is not confirmed: the values have too many keys.`;
    return message === undefined ? [] : [{path, message}];
  });
}

/** The keys whose value differs from the default; for entries of a map such as extraEnv, the map. */
function keysOf(values: Values, {target}: ReadChart): Path[] {
  const defaults = effectiveValues({}, target);
  const leaves = leavesOf(schemaOf(target), target.version);
  const changed = leafPaths(values).filter(
    (path) => !sameTree(getAt(values, path), getAt(defaults, path)),
  );
  const keys = changed.map(
    (path) => leaves.find((leaf) => startsWith(path, leaf.path))?.path ?? path,
  );
  return [...new Map(keys.map((path) => [spellPath(path), path])).values()];
}

function problemOf(
  path: Path,
  parts: ReadonlySet<string>,
  {target}: ReadChart,
): string | undefined {
  const {chart, version} = target;
  const known = reachOf(chart, path);
  if (parts.size === 0)
    return `${spellPath(path)} has no effect: no template of ${chart} ${version} changes with it.`;
  if (parts.has(REQUIRED) || known.length === 0 || known.some((part) => parts.has(part)))
    return undefined;
  return `${spellPath(path)} changes ${[...parts].join(', ')} in ${chart} ${version}, but ${known.join(', ')} in ${newestOf(chart)}.`;
}

/** Helm fails without the key, so a template reads it. */
const REQUIRED = 'required';

async function renderWithout(
  masks: readonly (readonly number[])[],
  keys: readonly Path[],
  values: Values,
  read: ReadChart,
  processes: Pick<Processes, 'run'>,
): Promise<(RenderedParts | undefined)[]> {
  return Promise.all(
    masks.map(async (mask) => {
      try {
        return await render(
          mask.reduce((rest, index) => without(keys[index] as Path, rest, read), values),
          read,
          processes,
        );
      } catch (error) {
        if (!(error instanceof ExpectedError) || error.code === 'TOOL_NOT_FOUND') throw error;
        return mask.length === 1 ? new Map([[REQUIRED, {text: '', parts: [REQUIRED]}]]) : undefined;
      }
    }),
  );
}

/** A name that the chart can require is changed instead. */
function without(path: Path, values: Values, {target}: ReadChart): Values {
  const value = getAt(values, path);
  const {node, default: usual} =
    leavesOf(schemaOf(target), target.version).find((leaf) => sameTree(leaf.path, path)) ?? {};
  const isName =
    typeof value === 'string' &&
    usual === '' &&
    (node?.format === 'object-name' || node?.format === 'data-key');
  if (!isName) return withoutLeaves(values, (leaf) => startsWith(leaf, path));
  const changed = copyOf(values);
  setAt(changed, path, `${value}x`);
  return changed;
}

async function render(
  values: Values,
  {target, path}: ReadChart,
  processes: Pick<Processes, 'run'>,
): Promise<RenderedParts> {
  const chart = {chart: target.chart, version: target.version, source: path};
  const name = {release: 'scalr-agent', kubeTarget: {namespace: 'scalr-agent'}};
  const call = template(name, chart, `${JSON.stringify(values)}\n`, floorOf(target)?.version ?? '');
  const outcome = await processes.run(call);
  if (outcome.exitCode !== 0) throw toolFailure(call, outcome);
  return renderedParts(objectsIn(outcome.stdout));
}

/** Which renders leave out which keys. */
export interface Codes {
  /** The keys that each render leaves out. */
  masks: readonly (readonly number[])[];
  /** The renders that leave a key out; undefined for a key that is in every render. */
  of: readonly (readonly number[] | undefined)[];
  /** Every render leaves out one key. */
  isSingle: boolean;
}

/**
 * One render per key if there are few keys. Otherwise every key gets its own set of renders, all sets of the same size, so that no set
 * contains another one: what changes in exactly these renders depends on this key.
 */
export function codesFor(keys: number, renders: number): Codes {
  const isSingle = keys <= renders;
  // Two renders are left for keys that are not clear.
  const [width, size] = isSingle
    ? [keys, 1]
    : ((
        [
          [renders - 2, 3],
          [renders - 1, 4],
          [renders, 4],
        ] as const
      ).find(([n, k]) => choose(n, k) >= keys) ?? [renders, Math.min(4, Math.floor(renders / 2))]);
  const sets = subsets(width, size).slice(0, keys);
  const of = Array.from({length: keys}, (_, key) => sets[key]);
  const masks = Array.from({length: width}, (_, render) =>
    of.flatMap((set, key) => (set?.includes(render) ? [key] : [])),
  );
  return {masks, of, isSingle};
}

const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n - 1, k - 1) * n) / k);

/** All sets of `size` numbers below `width`. */
function subsets(width: number, size: number, from = 0): number[][] {
  if (size === 0) return [[]];
  return Array.from({length: width - from}, (_, index) => from + index).flatMap((first) =>
    subsets(width, size - 1, first + 1).map((rest) => [first, ...rest]),
  );
}

/** The parts that change because of each key: at a place that changed, a key is the only explanation of at least one render. */
export function explained(
  base: RenderedParts,
  renders: readonly (RenderedParts | undefined)[],
  codes: Codes['of'],
): ReadonlySet<string>[] {
  const found = codes.map(() => new Set<string>());
  const isKnown = renders.map((each) => each !== undefined);
  const places = new Set([base, ...renders].flatMap((each) => [...(each?.keys() ?? [])]));
  for (const place of places) {
    const changed = renders.flatMap((each, render) =>
      each !== undefined && each.get(place)?.text !== base.get(place)?.text ? [render] : [],
    );
    // What differs in every render, such as a random password, tells nothing.
    if (changed.length === 0 || (changed.length === renders.length && renders.length > 2)) continue;
    const possible = codes.flatMap((code, key) =>
      code?.every((render) => !isKnown[render] || changed.includes(render)) ? [key] : [],
    );
    const parts = [base, ...renders].flatMap((each) => each?.get(place)?.parts ?? []);
    for (const render of changed) {
      const [only, ...others] = possible.filter((key) => codes[key]?.includes(render));
      if (only !== undefined && others.length === 0)
        for (const part of parts) found[only]?.add(part);
    }
  }
  return found;
}

/** Every scalar of a manifest, and the container or kind of object that it belongs to, as in schemas/reach.json. */
type RenderedParts = ReadonlyMap<string, {text: string; parts: readonly string[]}>;

/** Pods count for their containers, everything else for the kind of its object. */
function renderedParts(objects: readonly KubernetesObject[]): RenderedParts {
  const found = new Map<string, {text: string; parts: readonly string[]}>();
  const add = (place: string, tree: Tree, parts: readonly string[]): void => {
    const below: [string, Tree][] = Array.isArray(tree)
      ? tree.map((item, index) => [nameOf(item) ?? String(index), item])
      : Object.entries(isMap(tree) ? tree : {});
    for (const [key, each] of below) add(`${place}/${key}`, each, parts);
    if (below.length === 0) found.set(place, {text: JSON.stringify(tree), parts});
  };
  for (const object of objects) {
    const {kind = ''} = object;
    const place = `${kind} ${object.metadata.name}`;
    const pods: Values[] = [];
    add(place, withoutPods(object as unknown as Tree, pods), [kind]);
    for (const pod of pods) {
      const {containers = [], initContainers = [], ...spec} = pod['spec'] as Values;
      const all = [initContainers, containers].flat() as Values[];
      add(`${place} pod`, {spec, metadata: pod['metadata'] ?? {}}, [
        ...new Set(all.map((each) => roleOf(kind, each['name']))),
      ]);
      for (const container of all)
        add(`${place} ${container['name']}`, container, [roleOf(kind, container['name'])]);
    }
  }
  return found;
}

/** Items of lists are compared by name: containers, variables, volumes. */
const nameOf = (item: Tree): string | undefined =>
  isMap(item) && typeof item['name'] === 'string' ? item['name'] : undefined;

function withoutPods(tree: Tree, pods: Values[]): Tree {
  if (!isMap(tree)) return tree;
  return Object.fromEntries(
    Object.entries(tree).flatMap(([key, below]): [string, Tree][] => {
      const isPod =
        key === 'template' &&
        isMap(below) &&
        isMap(below['spec']) &&
        Array.isArray(below['spec']['containers']);
      if (isPod) pods.push(below);
      return isPod ? [] : [[key, withoutPods(below, pods)]];
    }),
  );
}

/** docs/charts/README.md, "Terms". */
function roleOf(kind: string, container: Tree | undefined): string {
  if (container === 'agent-local') return 'agent';
  if (kind === 'DaemonSet') return 'worker';
  if (kind === 'Deployment' || kind === 'StatefulSet') return 'controller';
  return container === 'runner' ? 'runner' : 'worker';
}
