import {type ChartRequirements, recommend} from '../charts/recommend.ts';
import {oncePerVersion} from '../charts/releases.ts';
import type {ChartName} from '../charts/schema.ts';
import {isUnknown} from '../charts/target.ts';
import type {ChartReference} from '../ground/call.ts';
import {ExpectedError, failed, type Warning} from '../ground/errors.ts';
import {mergeValues, sameTree, type Values} from '../ground/tree.ts';
import type {Unconfirmed} from '../operations/confirm-keys.ts';
import type {ChartSignature, ReadChart} from '../operations/read-chart.ts';
import {allowClearText} from '../settings/clear-text.ts';
import type {Setting} from '../settings/define.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import type {Generated} from '../values/generate.ts';
import {type MigratedFile, parseTarget} from '../values/migrate/migrate-file.ts';
import type {ValuesFinding} from '../values/reading/finding.ts';
import {dotted} from '../values/reading/tree-path.ts';
import {generateChecked} from '../values/validate/validate.ts';
import type {App} from './app.ts';
import {type ClusterFlags, toolPaths} from './flags.ts';

export interface ChartDeps {
  app: Pick<App, 'charts' | 'processes'>;
  /** The path of helm. */
  flags: ClusterFlags;
}

/** The chart of this version, read from `source` or the repository; undefined for a version that this program knows. @throws ExpectedError */
export async function readUnknownChart(
  name: ChartName,
  version: string,
  source: string | undefined,
  deps: ChartDeps,
): Promise<ReadChart | undefined> {
  if (!isUnknown({chart: name, version}, source !== undefined)) return undefined;
  return source === undefined
    ? downloaded(deps, `${name}@${version}`)
    : readChartFrom(source, {chart: name, version}, deps);
}

/** Once for all files and clusters of a command. */
const downloaded = oncePerVersion((deps: ChartDeps, name): Promise<ReadChart> => {
  const [chart, version] = name.split('@') as [string, string];
  return readChartFrom(undefined, {chart, version}, deps);
});

/** Reads a chart; without a source from the repository. @throws ExpectedError */
export async function readChartFrom(
  source: string | undefined,
  named: {chart: string; version: string},
  {app, flags}: ChartDeps,
): Promise<ReadChart> {
  const {readChart} = await import('../operations/read-chart.ts');
  const desired = {...named, ...(source === undefined ? {} : {source})};
  return readChart(desired, {
    charts: app.charts,
    processes: {run: (call) => app.processes(toolPaths(flags)).run(call)},
  });
}

/** The chart that the settings name, read if its version is unknown. @throws ExpectedError */
export async function readChartOfSettings(
  settings: Settings,
  facts: ChartRequirements | undefined,
  deps: ChartDeps,
): Promise<ReadChart | undefined> {
  const version = settings.get(chartVersion);
  if (version === undefined) return undefined;
  return readUnknownChart(
    settings.get(chart) ?? recommend(settings, facts).chart,
    version,
    settings.get(chartSource),
    deps,
  );
}

/** Values, and the chart that was read for them because its version is unknown. */
interface GeneratedFor {
  generated: Generated;
  read: ReadChart | undefined;
}

/** Generates and validates the values; their keys are not confirmed yet. @throws ExpectedError */
export async function generateUnconfirmed(
  settings: Settings,
  facts: ChartRequirements | undefined,
  deps: ChartDeps,
): Promise<GeneratedFor> {
  const read = await readChartOfSettings(settings, facts, deps);
  return {generated: generateChecked(settings, facts, read?.target), read};
}

/** For commands that only read the values: they do not write the credentials in them. */
export const onlyRead = (settings: Settings): Settings =>
  settings.with(allowClearText as Setting, {value: true, source: 'default'});

/** Generates and validates the values. Keys for an unknown chart version are confirmed by rendering it. @throws ExpectedError */
export const generateFor = async (
  settings: Settings,
  facts: ChartRequirements | undefined,
  deps: ChartDeps,
): Promise<Generated> => confirmOne(await generateUnconfirmed(settings, facts, deps), deps);

/** @throws ExpectedError if the chart rejects the values */
export async function confirmOne(made: GeneratedFor, deps: ChartDeps): Promise<Generated> {
  const [generated] = await confirmGenerated([made], deps);
  if (generated instanceof ExpectedError) throw generated;
  return generated as Generated;
}

/** Warns about keys of unknown chart versions that have no confirmed effect; the values for one version are rendered together. */
export async function confirmGenerated(
  all: readonly GeneratedFor[],
  deps: ChartDeps,
): Promise<(Generated | ExpectedError)[]> {
  const charts = [...new Set(all.flatMap(({read}) => read ?? []))];
  const found = new Map<GeneratedFor, Confirmed>();
  for (const chart of charts) {
    const ofChart = all.filter(({read}) => read === chart);
    const values = ofChart.map(({generated}) => generated.values);
    const confirmed = await confirmAll(chart, values, deps, charts.length);
    for (const [index, each] of ofChart.entries()) found.set(each, confirmed[index] as Confirmed);
  }
  return all.map((each) => {
    const {unconfirmed = [], rejection} = found.get(each) ?? {};
    return (
      rejection ?? {
        ...each.generated,
        warnings: [...each.generated.warnings, ...warningsOf(unconfirmed)],
      }
    );
  });
}

export const warningsOf = (found: readonly Pick<Unconfirmed, 'message'>[]): Warning[] =>
  found.map(({message}) => ({code: 'UNCONFIRMED_KEY', message}));

/** Keys without a confirmed effect in a chart of an unknown version, or why it rejects the values. */
interface Confirmed {
  unconfirmed: Unconfirmed[];
  rejection?: ExpectedError;
}

/** Confirms the keys of several files or clusters. `charts` share the renders of a command. */
export async function confirmAll(
  read: ReadChart,
  all: readonly Values[],
  deps: ChartDeps,
  charts: number,
): Promise<Confirmed[]> {
  const {MAX_RENDERS} = await import('../operations/confirm-keys.ts');
  const renders = Math.max(2, Math.floor(MAX_RENDERS / charts));
  const distinct = all.filter(
    (values, index) => all.findIndex((each) => sameTree(each, values)) === index,
  );
  if (distinct.length === 1) {
    const one = await confirmKeysIn(read, distinct[0] as Values, deps, renders);
    return all.map(() => one);
  }
  // Merged values hide what the chart rejects in one of them, and valid ones can contradict each other.
  const alone = await Promise.all(
    distinct
      .slice(0, Math.floor(renders / 2))
      .map((values) => confirmKeysIn(read, values, deps, 1)),
  );
  const accepted = distinct.filter((_, index) => alone[index]?.rejection === undefined);
  const {unconfirmed, rejection} = await confirmKeysIn(
    read,
    accepted.reduce(mergeValues, {}),
    deps,
    Math.max(2, renders - alone.length),
  );
  const message = `The effect of the keys is not confirmed. All files merged: ${rejection?.message}`;
  const merged = {unconfirmed: rejection === undefined ? unconfirmed : [{path: [], message}]};
  return all.map((values) => {
    const own = alone[distinct.findIndex((each) => sameTree(each, values))];
    return own?.rejection === undefined ? merged : own;
  });
}

export async function confirmKeysIn(
  read: ReadChart,
  values: Values,
  {app, flags}: ChartDeps,
  renders?: number,
): Promise<Confirmed> {
  const {confirmKeys, MAX_RENDERS} = await import('../operations/confirm-keys.ts');
  try {
    return {
      unconfirmed: await confirmKeys(
        values,
        read,
        app.processes(toolPaths(flags)),
        renders ?? MAX_RENDERS,
      ),
    };
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    const {chart: name, version} = read.target;
    if (error.code === 'TOOL_NOT_FOUND')
      return {
        unconfirmed: [
          {
            path: [],
            message: `helm not found, so the effect of the keys in ${name} ${version} is not confirmed.`,
          },
        ],
      };
    const message = `${name} ${version} rejects the values.\n${error.message}`;
    const rejection = failed('INVALID_SETTING', message, ['Change the settings in the message']);
    return {unconfirmed: [], rejection};
  }
}

/** The signature of the chart with --verify; undefined without the flag. @throws ExpectedError if it cannot be verified */
export async function signatureOf(
  {chart: name, version, source}: ChartReference,
  keyring: string | undefined,
  {app, flags}: ChartDeps,
): Promise<ChartSignature | undefined> {
  if (keyring === undefined) return undefined;
  const {verifyChart} = await import('../operations/read-chart.ts');
  const chart = {chart: name, version, keyring, ...(source === undefined ? {} : {source})};
  return verifyChart(chart, {
    charts: app.charts,
    processes: {run: (call) => app.processes(toolPaths(flags)).run(call)},
  });
}

export const signatureText = (signature: ChartSignature | undefined): string =>
  signature === undefined
    ? ''
    : `Chart signature verified: ${signature.signer}, key ${signature.fingerprint}, SHA-256 ${signature.digest}.\n`;

/** The target of a migration, if it is read from a chart: --chart-source, or an unknown version in --to. @throws ExpectedError */
export async function migrationChart(
  to: string | undefined,
  source: string | undefined,
  deps: ChartDeps,
): Promise<ReadChart | undefined> {
  if (source === undefined) {
    const desired = to === undefined ? undefined : parseTarget('--to', to).target;
    return desired && readUnknownChart(desired.chart, desired.version, undefined, deps);
  }
  const [name = '', version = ''] = to?.split('@') ?? [];
  const read = await readChartFrom(source, {chart: name, version}, deps);
  const {target} = read;
  if (to === undefined || (target.chart === name && ['', target.version].includes(version)))
    return read;
  throw failed(
    'CONFLICTING_SETTINGS',
    `--to is ${to}, but the chart in --chart-source is ${target.chart} ${target.version}.`,
    ['Omit --to, or set --chart-source to another chart'],
  );
}

/** Findings about keys that have no confirmed effect in an unknown version. Files of other engines have no lines for them. */
export async function confirmMigrated(
  chart: ReadChart,
  {values}: MigratedFile,
  deps: ChartDeps,
): Promise<ValuesFinding[]> {
  if (!isUnknown(chart.target, true)) return [];
  const {unconfirmed, rejection} = await confirmKeysIn(chart, values, deps);
  return [
    ...unconfirmed.map(
      ({path, message}): ValuesFinding => ({
        severity: 'warning',
        code: 'UNCONFIRMED_KEY',
        path: dotted(path),
        message,
      }),
    ),
    ...(rejection
      ? [
          {
            severity: 'error' as const,
            code: 'REFUSED_BY_CHART',
            path: '',
            message: rejection.message,
          },
        ]
      : []),
  ];
}
