import * as Flags from '@oclif/core/flags';
import {type OverlayFile, parseOverlay, parseRings, RINGS_FILE, type Ring, ringOf, withOverlays} from '../answers/overlay.ts';
import {type ResolveOptions, resolveAnswers} from '../answers/resolve.ts';
import type {SettingsSource} from '../answers/sources.ts';
import {type ClusterChoice, recommend} from '../charts/recommend.ts';
import {ExitCode, ExpectedError, usageError} from '../ground/errors.ts';
import {url} from '../settings/agent.ts';
import {catalog, Settings} from '../settings/settings.ts';
import type {Generated} from '../values/generate.ts';
import type {CheckedGroup} from '../values/validate/check-files.ts';
import type {App} from './app.ts';
import {type ChartDeps, confirmGenerated, generateUnconfirmed} from './read-chart.ts';
import {readTexts} from './user-files.ts';

export const overlayFlag = {
  overlay: Flags.string({
    summary: 'Directory with one answers file per cluster, merged over --answers, and rings.yaml.',
    helpValue: '<DIRECTORY>',
  }),
};

/** A cluster of --overlay, and what was made of its settings, or why that failed. */
export type OverlayCluster<T> = OverlayFile & {ring: string} & (
    | {made: T; failure?: undefined}
    | {made?: undefined; failure: ExpectedError}
  );

export interface Overlay<T> {
  clusters: OverlayCluster<T>[];
  rings: readonly string[];
}

/** The directory, and what its files extend. */
interface OverlaySource {
  directory: string;
  sources: readonly SettingsSource[];
  app: Pick<App, 'files' | 'now'>;
  /** Answers file, for errors. */
  answers?: string | undefined;
}

/** Resolves the settings of every cluster, and makes something of them, which may fail too. @throws ExpectedError for files that cannot be read */
export async function readOverlay<T>(
  {directory, sources, app: {files, now}, answers}: OverlaySource,
  make: (settings: Settings) => T | Promise<T>,
  options: ResolveOptions = {},
): Promise<Overlay<T>> {
  const names = (await files.list(directory || '.')).filter((name) => /^[a-z0-9][-a-z0-9.]*\.ya?ml$/i.test(name)).toSorted();
  const at = (name: string): string => `${directory.replace(/\/+$/, '') || '.'}/${name}`;
  const texts = await readTexts(names.map(at), files);
  const read = texts.map(({file, text}, index) => ({path: file, text, name: (names[index] as string).replace(/\.ya?ml$/i, '')}));
  const ringsFile = read.find(({path}) => path === at(RINGS_FILE));
  const rings: Ring[] = parseRings(ringsFile?.text ?? '[]', at(RINGS_FILE));
  const overlays = read.filter((each) => each !== ringsFile).map(({text, path, name}) => parseOverlay(text, path, name));
  if (overlays.length === 0)
    throw new ExpectedError(`No file of a cluster in ${directory || '.'}.`, {
      ...{code: 'UNREADABLE_FILE', exit: ExitCode.usage},
      suggestions: ['Write one file per cluster, for example clusters/eu-1.yaml with the answers that differ'],
    });
  const deps = {files, now: now()};
  const clusters: OverlayCluster<T>[] = [];
  for (const overlay of overlays) {
    const ring = ringOf(overlay.name, rings);
    try {
      const settings = await resolveAnswers(withOverlays(sources, [ring.answers, overlay.answers]), deps, options);
      clusters.push({...overlay, ring: ring.name, made: await make(settings)});
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      const over = [answers, ring.answers.size > 0 ? `${at(RINGS_FILE)} (${ring.name})` : undefined].filter((each) => each !== undefined);
      const place = [overlay.path, ...over].join(' over ');
      clusters.push({...overlay, ring: ring.name, failure: error.with(`${place}: ${error.message}`, error.suggestions)});
    }
  }
  return {clusters, rings: rings.map(({name}) => name)};
}

const SHOWN = 10;

/** The clusters, if nothing failed. @throws ExpectedError that lists the clusters with invalid settings */
export function requireValid<T>({clusters}: Overlay<T>): (OverlayFile & {ring: string; made: T})[] {
  const failures = clusters.flatMap(({failure}) => (failure === undefined ? [] : [failure]));
  const [first] = failures;
  if (first === undefined) return clusters as (OverlayFile & {ring: string; made: T})[];
  const shown = failures.slice(0, SHOWN);
  const more = failures.length > SHOWN ? [`The settings of ${failures.length - SHOWN} more clusters are invalid.`] : [];
  throw first.with([...shown.map(({message}) => message), ...more].join('\n'), [...new Set(shown.flatMap(({suggestions}) => suggestions))]);
}

/** The findings of every cluster, in its file. @throws ExpectedError if files to validate are given too */
export async function checkOverlay(source: OverlaySource, deps: ChartDeps, [file]: readonly string[] = []): Promise<CheckedGroup[]> {
  if (file !== undefined) throw usageError(`--overlay cannot be used with ${file}.`, ['Omit one of them']);
  const {clusters} = await readOverlay(source, (settings) => generateUnconfirmed(settings, undefined, deps));
  const confirmed = await confirmGenerated(
    clusters.flatMap(({made}) => made ?? []),
    deps,
  );
  return clusters.map(({path, made, failure}) => {
    const files = [{file: path, text: ''}];
    if (made !== undefined) {
      const {target, warnings} = confirmed.shift() as Generated;
      const findings = warnings.map(({code, message}) => ({severity: 'warning', code, path: '', message}) as const);
      return {files, areLayers: false, findings, target};
    }
    const {code, message, suggestions} = failure;
    const [suggestion] = suggestions;
    const error = {severity: 'error', code, path: '', message, ...(suggestion === undefined ? {} : {suggestion})} as const;
    return {files, areLayers: false, findings: [error]};
  });
}

/** Settings without those of clusters; invalid ones are reported for each cluster. */
export async function sharedSettings(sources: readonly SettingsSource[], {files, now}: Pick<App, 'files' | 'now'>): Promise<Settings> {
  const optional = catalog.filter(({required}) => required);
  try {
    return await resolveAnswers(sources, {files, now: now()}, {optional});
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return new Settings(new Map());
  }
}

/** The chart for each cluster. @throws ExpectedError for invalid settings */
export async function clusterChoices(source: OverlaySource): Promise<ClusterChoice[]> {
  const overlay = await readOverlay(source, recommend, {optional: [url]});
  return requireValid(overlay).map(({name: cluster, made: {chart, rejected}}) => ({
    ...{cluster, chart},
    excluded: rejected.flatMap((each) =>
      each.reasons.flatMap(({verdict, message}) => (verdict === 'excluded' ? [{chart: each.chart, message}] : [])),
    ),
  }));
}
