import {floorOf} from '../charts/charts.ts';
import {reachOf} from '../charts/releases/reach.ts';
import {leavesOf, schemaOf} from '../charts/releases/schema.ts';
import {newestOf} from '../charts/releases/target.ts';
import {template} from '../cluster/helm/chart-calls.ts';

import {objectsIn} from '../cluster/helm/release-record.ts';
import {pooled} from '../ground/async.ts';
import {ExpectedError, failed} from '../ground/errors.ts';
import type {Processes} from '../ground/system/system.ts';
import {toolFailure} from '../ground/tool-errors.ts';
import {
  copyOf,
  getAt,
  leafPaths,
  type Path,
  sameTree,
  setAt,
  spellPath,
  startsWith,
  type Values,
  withoutLeaves,
} from '../ground/tree.ts';
import {effectiveValues} from '../values/reading/read-values.ts';
import type {ReadChart} from './read-chart.ts';
import {leavesOfObjects, type RenderedLeaves} from './rendered-leaves.ts';

/** A key that has no confirmed effect, and why. */
export interface UnconfirmedKey {
  path: Path;
  message: string;
}

/** What rendering showed about the values of one file or cluster. */
export interface KeyReport {
  unconfirmed: readonly UnconfirmedKey[];
  /** Why the chart rejects the values. */
  rejection: ExpectedError | undefined;
}

/** For one chart in one command; further keys are named as not confirmed. */
const MAX_KEYS = 40;

/** Renders that run at once. */
const WIDTH = 4;

/**
 * Renders a chart of an unknown version with the values of each file or cluster, and once more without each key that they set. A key is
 * confirmed if the objects change where they do in the newest known version.
 */
export async function confirmKeys(
  all: readonly Values[],
  chart: ReadChart,
  processes: Pick<Processes, 'run'>,
): Promise<KeyReport[]> {
  const renderer = new ChartRenderer(chart, processes);
  try {
    const rejections = await pooled(all, WIDTH, (values) => renderer.rejectionOf(values));
    const accepted = all.filter((_, index) => rejections[index] === undefined);
    const problems = await problemsOf(accepted, chart, renderer);
    return all.map((values, index) => ({
      unconfirmed: problems.filter(({path}) => getAt(values, path) !== undefined),
      rejection: rejections[index],
    }));
  } catch (error) {
    if (!isWithoutHelm(error)) throw error;
    const message = `helm not found, so the effect of the keys in ${nameOf(chart)} is not confirmed.`;
    return all.map(() => ({unconfirmed: [{path: [], message}], rejection: undefined}));
  }
}

const isWithoutHelm = (error: unknown): boolean =>
  error instanceof ExpectedError && error.code === 'TOOL_NOT_FOUND';

const nameOf = ({target: {chart, version}}: ReadChart): string => `${chart} ${version}`;

/** The keys without a confirmed effect; each is left out of the last values that set it. */
async function problemsOf(
  all: readonly Values[],
  chart: ReadChart,
  renderer: ChartRenderer,
): Promise<UnconfirmedKey[]> {
  const keys = new Map(
    all.flatMap((values) =>
      keysOf(values, chart).map((path) => [spellPath(path), {path, values}] as const),
    ),
  );
  const tested = [...keys.values()].slice(0, MAX_KEYS);
  const messages = await pooled(tested, WIDTH, async ({path, values}) => {
    const parts = await renderer.partsOf(path, values);
    return parts && problemOf(path, parts, chart);
  });
  return [...keys].flatMap(([key, {path}], index) => {
    const message =
      index < MAX_KEYS
        ? messages[index]
        : `${key} is not confirmed: the values have too many keys.`;
    return message === undefined ? [] : [{path, message}];
  });
}

/** The keys whose value differs from the default; for entries of a map such as extraEnv, the map. */
function keysOf(values: Values, {target}: ReadChart): Path[] {
  const defaults = effectiveValues({}, target);
  const leaves = leavesOf(schemaOf(target), target.version);
  return leafPaths(values)
    .filter((path) => !sameTree(getAt(values, path), getAt(defaults, path)))
    .map((path) => leaves.find((leaf) => startsWith(path, leaf.path))?.path ?? path);
}

function problemOf(
  path: Path,
  parts: ReadonlySet<string>,
  {target: {chart, version}}: ReadChart,
): string | undefined {
  const known = reachOf(chart, path);
  if (parts.size === 0)
    return `${spellPath(path)} has no effect: no template of ${chart} ${version} changes with it.`;
  if (known.length === 0 || known.some((part) => parts.has(part))) return undefined;
  return `${spellPath(path)} changes ${[...parts].join(', ')} in ${chart} ${version}, but ${known.join(', ')} in ${newestOf(chart)}.`;
}

class ChartRenderer {
  readonly #chart: ReadChart;
  readonly #processes: Pick<Processes, 'run'>;
  readonly #complete = new Map<Values, Promise<RenderedLeaves>>();

  constructor(chart: ReadChart, processes: Pick<Processes, 'run'>) {
    this.#chart = chart;
    this.#processes = processes;
  }

  /** Why the chart rejects the values. */
  async rejectionOf(values: Values): Promise<ExpectedError | undefined> {
    try {
      await this.#completeOf(values);
      return undefined;
    } catch (error) {
      if (!(error instanceof ExpectedError) || isWithoutHelm(error)) throw error;
      const message = `${nameOf(this.#chart)} rejects the values.\n${error.message}`;
      return failed('INVALID_SETTING', message, ['Change the settings in the message']);
    }
  }

  /** What changes without the key; undefined if helm fails without it, so that a template must read it. */
  async partsOf(path: Path, values: Values): Promise<ReadonlySet<string> | undefined> {
    const complete = await this.#completeOf(values);
    try {
      return changedParts(complete, await this.#render(without(path, values, this.#chart)));
    } catch (error) {
      if (!(error instanceof ExpectedError) || isWithoutHelm(error)) throw error;
      return undefined;
    }
  }

  #completeOf(values: Values): Promise<RenderedLeaves> {
    const rendering = this.#complete.get(values) ?? this.#renderTwice(values);
    this.#complete.set(values, rendering);
    return rendering;
  }

  /** What differs in two equal renders, such as a random password, tells nothing. */
  async #renderTwice(values: Values): Promise<RenderedLeaves> {
    const first = await this.#render(values);
    const second = await this.#render(values);
    return new Map(
      [...first].map(([place, leaf]) =>
        second.get(place)?.text === leaf.text ? [place, leaf] : [place, {...leaf, parts: []}],
      ),
    );
  }

  async #render(values: Values): Promise<RenderedLeaves> {
    const {target, path} = this.#chart;
    const chart = {chart: target.chart, version: target.version, source: path};
    const name = {release: 'scalr-agent', kubeTarget: {namespace: 'scalr-agent'}};
    const kubeVersion = floorOf(target)?.version ?? '';
    const call = template(name, chart, `${JSON.stringify(values)}\n`, kubeVersion);
    const result = await this.#processes.run(call);
    if (result.exitCode !== 0) throw toolFailure(call, result);
    return leavesOfObjects(objectsIn(result.stdout));
  }
}

/** A random leaf has no parts. */
function changedParts(before: RenderedLeaves, after: RenderedLeaves): ReadonlySet<string> {
  const places = [...new Set([...before.keys(), ...after.keys()])];
  const changed = places.filter((place) => before.get(place)?.text !== after.get(place)?.text);
  return new Set(changed.flatMap((place) => (before.get(place) ?? after.get(place))?.parts ?? []));
}

/** A name that the chart can require is changed instead. */
function without(path: Path, values: Values, {target}: ReadChart): Values {
  const value = getAt(values, path);
  const leaf = leavesOf(schemaOf(target), target.version).find((each) => sameTree(each.path, path));
  const isName = ['object-name', 'data-key'].includes(leaf?.node.format ?? '');
  if (typeof value !== 'string' || leaf?.default !== '' || !isName)
    return withoutLeaves(values, (each) => startsWith(each, path));
  const changed = copyOf(values);
  setAt(changed, path, `${value}x`);
  return changed;
}
