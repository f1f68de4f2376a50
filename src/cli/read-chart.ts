import {type ChartRequirements, recommend} from '../charts/recommend.ts';
import {oncePerVersion} from '../charts/releases.ts';
import type {ChartName} from '../charts/schema.ts';
import {isUnknown} from '../charts/target.ts';
import {ExitCode, ExpectedError, type Warning} from '../ground/errors.ts';
import {mergeValues, type Values} from '../ground/tree.ts';
import type {ChartReference} from '../helm/helm.ts';
import type {Unconfirmed} from '../operations/confirm-keys.ts';
import type {ChartSignature, ReadChart} from '../operations/read-chart.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import type {Generated} from '../values/generate.ts';
import {type MigratedFile, parseTarget} from '../values/migrate/migrate-file.ts';
import {dotted, type ValuesFinding} from '../values/validate/finding.ts';
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
  return source === undefined ? downloaded(deps, `${name}@${version}`) : readChartFrom(source, {chart: name, version}, deps);
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
  return readChart(desired, {charts: app.charts, processes: {run: (call) => app.processes(toolPaths(flags)).run(call)}});
}

/** The chart that the settings name, read if its version is unknown. @throws ExpectedError */
export async function readChartOfSettings(
  settings: Settings,
  facts: ChartRequirements | undefined,
  deps: ChartDeps,
): Promise<ReadChart | undefined> {
  const version = settings.get(chartVersion);
  if (version === undefined) return undefined;
  return readUnknownChart(settings.get(chart) ?? recommend(settings, facts).chart, version, settings.get(chartSource), deps);
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

/** Generates and validates the values. Keys for an unknown chart version are confirmed by rendering it. @throws ExpectedError */
export async function generateFor(settings: Settings, facts: ChartRequirements | undefined, deps: ChartDeps): Promise<Generated> {
  return (await confirmGenerated([await generateUnconfirmed(settings, facts, deps)], deps))[0] as Generated;
}

/** Warns about keys of unknown chart versions that have no confirmed effect; the values for one version are rendered together. @throws ExpectedError */
export async function confirmGenerated(all: readonly GeneratedFor[], deps: ChartDeps): Promise<Generated[]> {
  const charts = [...new Set(all.flatMap(({read}) => read ?? []))];
  const warnings = new Map<ReadChart | undefined, Warning[]>();
  for (const chart of charts) {
    const values = all.flatMap(({generated, read}) => (read === chart ? [generated.values] : []));
    const {unconfirmed, rejection} = await confirmKeysIn(chart, values.reduce(mergeValues), deps, charts.length);
    if (rejection !== undefined && values.length === 1) throw rejection;
    // Values of several clusters can contradict each other.
    const together = rejection && {message: `The effect of the keys is not confirmed. All clusters merged: ${rejection.message}`};
    warnings.set(chart, warningsOf(together ? [together] : unconfirmed));
  }
  return all.map(({generated, read}) => ({...generated, warnings: [...generated.warnings, ...(warnings.get(read) ?? [])]}));
}

export const warningsOf = (found: readonly Pick<Unconfirmed, 'message'>[]): Warning[] =>
  found.map(({message}) => ({code: 'UNCONFIRMED_KEY', message}));

/** Keys without a confirmed effect in a chart of an unknown version, or why it rejects the values. `charts` share the renders of a command. */
export async function confirmKeysIn(
  read: ReadChart,
  values: Values,
  {app, flags}: ChartDeps,
  charts = 1,
): Promise<{unconfirmed: Unconfirmed[]; rejection?: ExpectedError}> {
  const {confirmKeys, MAX_RENDERS} = await import('../operations/confirm-keys.ts');
  try {
    return {unconfirmed: await confirmKeys(values, read, app.processes(toolPaths(flags)), Math.max(2, Math.floor(MAX_RENDERS / charts)))};
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    const {chart: name, version} = read.target;
    if (error.code === 'TOOL_NOT_FOUND')
      return {unconfirmed: [{path: [], message: `helm not found, so the effect of the keys in ${name} ${version} is not confirmed.`}]};
    const rejection = new ExpectedError(`${name} ${version} rejects the values.\n${error.message}`, {
      code: 'INVALID_SETTING',
      suggestions: ['Change the settings in the message'],
    });
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
  return verifyChart(chart, {charts: app.charts, processes: {run: (call) => app.processes(toolPaths(flags)).run(call)}});
}

export const signatureText = (signature: ChartSignature | undefined): string =>
  signature === undefined
    ? ''
    : `Chart signature verified: ${signature.signer}, key ${signature.fingerprint}, SHA-256 ${signature.digest}.\n`;

/** The target of a migration, if it is read from a chart: --chart-source, or an unknown version in --to. @throws ExpectedError */
export async function migrationChart(to: string | undefined, source: string | undefined, deps: ChartDeps): Promise<ReadChart | undefined> {
  if (source === undefined) {
    const desired = to === undefined ? undefined : parseTarget('--to', to).target;
    return desired && readUnknownChart(desired.chart, desired.version, undefined, deps);
  }
  const [name = '', version = ''] = to?.split('@') ?? [];
  const read = await readChartFrom(source, {chart: name, version}, deps);
  const {target} = read;
  if (to === undefined || (target.chart === name && ['', target.version].includes(version))) return read;
  throw new ExpectedError(`--to is ${to}, but the chart in --chart-source is ${target.chart} ${target.version}.`, {
    code: 'CONFLICTING_SETTINGS',
    exit: ExitCode.usage,
    suggestions: ['Omit --to, or set --chart-source to another chart'],
  });
}

/** Findings about keys that have no confirmed effect in an unknown version. Files of other engines have no lines for them. */
export async function confirmMigrated(chart: ReadChart, {values}: MigratedFile, deps: ChartDeps): Promise<ValuesFinding[]> {
  if (!isUnknown(chart.target, true)) return [];
  const {unconfirmed, rejection} = await confirmKeysIn(chart, values, deps);
  return [
    ...unconfirmed.map(({path, message}): ValuesFinding => ({severity: 'warning', code: 'UNCONFIRMED_KEY', path: dotted(path), message})),
    ...(rejection ? [{severity: 'error' as const, code: 'REFUSED_BY_CHART', path: '', message: rejection.message}] : []),
  ];
}
