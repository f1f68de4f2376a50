import {reachOf} from '../charts/reach.ts';
import {leavesOf, schemaOf} from '../charts/schema.ts';
import {newestOf} from '../charts/target.ts';
import {floorOf} from '../charts/version-status.ts';
import {ExpectedError} from '../ground/errors.ts';
import {toolFailure} from '../ground/tool-errors.ts';
import {copyOf, getAt, leafPaths, type Path, sameTree, setAt, spellPath, startsWith, type Values, withoutLeaves} from '../ground/tree.ts';
import {template} from '../helm/helm.ts';
import {objectsIn} from '../helm/release-record.ts';
import type {Processes} from '../ports/system.ts';
import {effectiveValues} from '../values/read-values.ts';
import {codesFor, explained} from './effect-codes.ts';
import {type RenderedParts, renderedParts} from './manifest-parts.ts';
import type {ReadChart} from './read-chart.ts';

/** A key that has no confirmed effect, and why. */
export interface Unconfirmed {
  path: Path;
  message: string;
}

const MAX_RENDERS = 10;

/**
 * Renders a chart of an unknown version with and without the keys of the values, several at once. A key is confirmed if the objects change
 * where they do in the newest known version. @throws ExpectedError if helm rejects the values
 */
export async function confirmKeys(values: Values, read: ReadChart, processes: Pick<Processes, 'run'>): Promise<Unconfirmed[]> {
  const keys = keysOf(values, read);
  if (keys.length === 0) return [];
  const base = await render(values, read, processes);
  const codes = codesFor(keys.length, MAX_RENDERS - 1);
  const first = await renderWithout(codes.masks, keys, values, read, processes);
  const found = explained(base, first, codes.of);
  const open = keys.flatMap((_, index) => (found[index]?.size === 0 ? [index] : []));
  const again = codes.isSingle ? [] : open.slice(0, MAX_RENDERS - 1 - codes.masks.length);
  const alone = await renderWithout(
    again.map((index) => [index]),
    keys,
    values,
    read,
    processes,
  );
  const singles = explained(
    base,
    alone,
    again.map((_, index) => [index]),
  );
  return keys.flatMap((path, index) => {
    const parts = singles[again.indexOf(index)] ?? found[index];
    const isTested = codes.of[index] !== undefined && (codes.isSingle || parts?.size !== 0 || again.includes(index));
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
  const changed = leafPaths(values).filter((path) => !sameTree(getAt(values, path), getAt(defaults, path)));
  const keys = changed.map((path) => leaves.find((leaf) => startsWith(path, leaf.path))?.path ?? path);
  return [...new Map(keys.map((path) => [spellPath(path), path])).values()];
}

function problemOf(path: Path, parts: ReadonlySet<string>, {target}: ReadChart): string | undefined {
  const {chart, version} = target;
  const known = reachOf(chart, path);
  if (parts.size === 0) return `${spellPath(path)} has no effect: no template of ${chart} ${version} changes with it.`;
  if (parts.has(REQUIRED) || known.length === 0 || known.some((part) => parts.has(part))) return undefined;
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
  const {node, default: usual} = leavesOf(schemaOf(target), target.version).find((leaf) => sameTree(leaf.path, path)) ?? {};
  const isName = typeof value === 'string' && usual === '' && (node?.format === 'object-name' || node?.format === 'data-key');
  if (!isName) return withoutLeaves(values, (leaf) => startsWith(leaf, path));
  const changed = copyOf(values);
  setAt(changed, path, `${value}x`);
  return changed;
}

async function render(values: Values, {target, path}: ReadChart, processes: Pick<Processes, 'run'>): Promise<RenderedParts> {
  const chart = {chart: target.chart, version: target.version, source: path};
  const name = {release: 'scalr-agent', kubeTarget: {namespace: 'scalr-agent'}};
  const call = template(name, chart, `${JSON.stringify(values)}\n`, floorOf(target)?.version ?? '');
  const outcome = await processes.run(call);
  if (outcome.exitCode !== 0) throw toolFailure(call, outcome);
  return renderedParts(objectsIn(outcome.stdout));
}
