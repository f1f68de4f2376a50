import {
  checkMembers,
  type OverlayFile,
  parseOverlay,
  parseRings,
  RINGS_FILE,
  type Ring,
  ringOf,
  withOverlays,
} from '../answers/overlay.ts';
import {type ResolveOptions, resolveAnswers} from '../answers/resolve.ts';
import type {SettingsSource} from '../answers/sources.ts';
import {type ClusterChoice, recommend} from '../charts/recommend.ts';
import {problemsIn} from '../ground/combined-failures.ts';
import {ExpectedError, failed, onFailure, usageError} from '../ground/errors.ts';
import type {KeyFinding, SettingFinding} from '../ground/finding.ts';
import {url} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import {Settings} from '../settings/settings.ts';
import type {GeneratedValues} from '../values/generate.ts';
import {readSource} from '../values/reading/source.ts';
import type {CheckedGroup} from '../values/validate/check-files.ts';
import type {App} from './app.ts';
import {generateUnconfirmed, type UnconfirmedValues, withKeyReports} from './generate.ts';
import type {ChartDeps} from './read-chart.ts';
import {readTexts} from './read-texts.ts';

/** A cluster of --overlay, and what was made of its settings, or why that failed. */
type OverlayCluster<T> = Pick<OverlayFile, 'name' | 'path' | 'context'> & {
  ring: string;
  text: string;
  /** The files that it is merged over. */
  over: readonly string[];
} & ({made: T; failure?: undefined} | {made?: undefined; failure: ExpectedError});

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
  const names = (await files.list(directory || '.'))
    .filter((name) => /^[a-z0-9][-a-z0-9.]*\.ya?ml$/i.test(name))
    .toSorted();
  const at = (name: string): string => `${directory.replace(/\/+$/, '') || '.'}/${name}`;
  const texts = await readTexts(names.map(at), files);
  const read = texts.map(({file, text}, index) => ({
    path: file,
    text,
    name: (names[index] as string).replace(/\.ya?ml$/i, ''),
  }));
  const ringsFile = read.find(({path}) => path === at(RINGS_FILE));
  const rings: Ring[] = parseRings(ringsFile?.text ?? '[]', at(RINGS_FILE));
  const overlays = read.filter((each) => each !== ringsFile);
  if (overlays.length === 0)
    throw failed('UNREADABLE_FILE', `No cluster files found in ${directory || '.'}.`, [
      'Write one file per cluster, for example clusters/eu-1.yaml with the answers that differ',
    ]);
  checkMembers(
    rings,
    overlays.map(({name}) => name),
    at(RINGS_FILE),
  );
  const deps = {files, now: now()};
  const clusters: OverlayCluster<T>[] = [];
  for (const {name, path, text} of overlays) {
    const ring = ringOf(name, rings);
    const over = [
      answers,
      ring.answers.size > 0 ? `${at(RINGS_FILE)} (${ring.name})` : undefined,
    ].filter((each) => each !== undefined);
    const cluster = {name, path, text, context: name, ring: ring.name, over};
    try {
      const overlay = parseOverlay(text, path, name);
      const settings = await resolveAnswers(
        withOverlays(sources, [ring.answers, overlay.answers]),
        deps,
        options,
      );
      clusters.push({...cluster, context: overlay.context, made: await make(settings)});
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      clusters.push({...cluster, failure: error});
    }
  }
  return {clusters, rings: rings.map(({name}) => name)};
}

/** The values of every cluster. @throws ExpectedError for files that cannot be read */
export async function generateOverlay(
  source: OverlaySource,
  make: (settings: Settings) => Promise<UnconfirmedValues>,
  deps: ChartDeps,
): Promise<Overlay<GeneratedValues>> {
  const {clusters, rings} = await readOverlay(source, make);
  const confirmed = await withKeyReports(
    clusters.flatMap(({made}) => made ?? []),
    deps,
  );
  const withValues = ({
    made,
    failure,
    ...cluster
  }: (typeof clusters)[number]): OverlayCluster<GeneratedValues> => {
    const result =
      made === undefined ? failure : (confirmed.shift() as GeneratedValues | ExpectedError);
    return result instanceof ExpectedError
      ? {...cluster, failure: result}
      : {...cluster, made: result};
  };
  return {clusters: clusters.map(withValues), rings};
}

const SHOWN = 10;

/** The clusters, if nothing failed. @throws ExpectedError that lists the clusters with invalid settings */
export function requireValid<T>({clusters}: Overlay<T>): (OverlayCluster<T> & {made: T})[] {
  const wrong = clusters.flatMap(({failure, path, over}) =>
    failure === undefined ? [] : [{failure, place: [path, ...over].join(' over ')}],
  );
  const [first] = wrong;
  if (first === undefined) return clusters as (OverlayCluster<T> & {made: T})[];
  const shown = wrong.slice(0, SHOWN);
  const more =
    wrong.length > SHOWN
      ? [`The settings of ${wrong.length - SHOWN} more clusters are invalid.`]
      : [];
  throw first.failure.with(
    [
      // An invalid file names itself.
      ...shown.map(({place, failure: {code, message}}) =>
        code === 'INVALID_ANSWERS_FILE' ? message : `${place}: ${message}`,
      ),
      ...more,
    ].join('\n'),
    [...new Set(shown.flatMap(({failure: {suggestions}}) => suggestions))],
  );
}

/** The findings of every cluster, at their settings in its file. @throws ExpectedError if files to validate are given too */
export async function checkOverlay(
  source: OverlaySource,
  deps: ChartDeps,
  [file]: readonly string[] = [],
): Promise<CheckedGroup[]> {
  if (file !== undefined)
    throw usageError(`--overlay cannot be used with ${file}.`, ['Omit one of them']);
  const {clusters} = await generateOverlay(
    source,
    (settings) => generateUnconfirmed(settings, undefined, deps),
    deps,
  );
  return clusters.map(({path: file, text, over, made, failure}) => {
    const {source: read} = readSource(text);
    const findings = problemsOf(made ?? failure).map(
      ({subject: {setting = '', ...position}, message, ...finding}): KeyFinding => {
        const isHere = read !== undefined && Object.hasOwn(read.values, setting);
        const elsewhere =
          setting === '' || isHere || over.length === 0
            ? ''
            : ` This file does not set it; it is merged over ${over.join(' and ')}.`;
        return {
          ...finding,
          subject: {path: setting, ...(isHere ? read.locate([setting]) : {}), ...position},
          message: `${message}${elsewhere}`,
        };
      },
    );
    return {
      files: [{file, text}],
      areLayers: false,
      findings,
      ...(made === undefined ? {} : {target: made.target}),
    };
  });
}

/** The warnings of values, or the parts of a failure. */
const problemsOf = (result: GeneratedValues | ExpectedError): readonly SettingFinding[] =>
  result instanceof ExpectedError ? problemsIn(result) : result.warnings;

/** Settings without those of clusters; invalid ones are reported for each cluster. */
export async function sharedSettings(
  sources: readonly SettingsSource[],
  {files, now}: Pick<App, 'files' | 'now'>,
): Promise<Settings> {
  const optional = catalog.filter(({required}) => required);
  return resolveAnswers(sources, {files, now: now()}, {optional}).catch(
    onFailure(() => new Settings(new Map())),
  );
}

/** The chart for each cluster. @throws ExpectedError for invalid settings */
export async function clusterChoices(source: OverlaySource): Promise<ClusterChoice[]> {
  const overlay = await readOverlay(source, recommend, {optional: [url]});
  return requireValid(overlay).map(({name: cluster, made: {chart, rejected}}) => ({
    cluster,
    chart,
    excluded: rejected.flatMap((each) =>
      each.reasons.flatMap(({verdict, message}) =>
        verdict === 'excluded' ? [{chart: each.chart, message}] : [],
      ),
    ),
  }));
}
