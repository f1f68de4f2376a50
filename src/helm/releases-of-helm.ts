import {scalrChart} from '../charts/define.ts';
import type {Call, ReleaseName} from '../ground/command-line.ts';
import {ExpectedError} from '../ground/errors.ts';
import {isFields, isListOf, readJson} from '../ground/json.ts';
import {isForbidden, toolFailure} from '../ground/tool-errors.ts';
import type {Values} from '../ground/tree.ts';
import type {RequestOptions} from '../kubernetes/client.ts';
import type {ObjectResult} from '../kubernetes/resources.ts';
import type {Processes} from '../ports/processes.ts';
import {allValues, listReleases, releaseHistory, releaseManifest, releaseMetadata, releaseValues} from './helm.ts';
import {isServerSide, type ListedRelease, type ReleaseRecord, type Releases, type Revision} from './release-record.ts';

/** With another storage driver, such as sql, only helm can read its releases. */
export function releasesOfHelm(processes: Pick<Processes, 'run'>): Releases {
  const ask = async <T>(call: Call, {signal}: RequestOptions, read: (text: string) => T): Promise<ObjectResult<T>> => {
    try {
      const outcome = await processes.run(call, {signal});
      if (outcome.exitCode === 0) return {object: read(outcome.stdout)};
      if (/release: not found/.test(outcome.stderr)) return {object: undefined};
      const cause = toolFailure(call, outcome);
      return {
        error: {kind: isForbidden(outcome) ? 'forbidden' : 'refused', message: outcome.stderr.trim().replace(/^Error: /, ''), cause},
      };
    } catch (cause) {
      if (!(cause instanceof ExpectedError)) throw cause;
      return {error: {kind: 'refused', message: cause.message, cause}};
    }
  };
  const json = async <T>(call: Call, is: (value: unknown) => value is T, options: RequestOptions): Promise<ObjectResult<T>> => {
    const printed = await ask(call, options, (text) => text.trim());
    if (printed.error) return printed;
    if (printed.object === undefined) return {object: undefined};
    const {value, error} = readJson('helm', printed.object, is);
    return error ? {error} : {object: value};
  };
  const last = async (
    name: ReleaseName,
    options: RequestOptions,
    isWanted: (each: Revision) => boolean,
  ): Promise<ObjectResult<ReleaseRecord>> => {
    const history = await json(releaseHistory(name), isHistory, options);
    if (history.error) return history;
    const latest = history.object?.findLast(isWanted);
    if (latest === undefined) return {object: undefined};
    const [values, all, manifest, metadata] = await Promise.all([
      json(releaseValues(name, latest.revision), isValues, options),
      json(allValues(name, latest.revision), isValues, options),
      ask(releaseManifest(name, latest.revision), options, String),
      json(releaseMetadata(name), isFields, options),
    ]);
    const failed = values.error ?? all.error ?? manifest.error ?? metadata.error;
    if (failed) return {error: failed};
    return {
      object: {
        ...latest,
        values: values.object ?? {},
        defaults: all.object ?? {},
        manifest: manifest.object ?? '',
        isServerSide: isServerSide(String(metadata.object?.['applyMethod'])),
      },
    };
  };
  return {
    newest: (name, options) => last(name, options, () => true),
    deployed: (name, options) => last(name, options, ({status}) => status === 'deployed'),
    async history(name, options) {
      const {object = [], error} = await json(releaseHistory(name), isHistory, options);
      return {items: object, ...(error ? {error} : {})};
    },
    async list(kubeTarget, {everywhere, ...options}) {
      const {object, error} = await json(listReleases(kubeTarget, {everywhere}), isList, options);
      if (error) return {items: [], error};
      const read = (object ?? []).map(async (each): Promise<ListedRelease> => {
        if (scalrChart(each.chart) === undefined) return each;
        const name = {release: each.name, kubeTarget: {...kubeTarget, namespace: each.namespace}};
        const values = await json(releaseValues(name), isValues, options);
        return values.error ? each : {...each, values: values.object ?? {}};
      });
      return {items: await Promise.all(read)};
    },
  };
}

/** Helm prints null where nothing was given. */
const isValues = (value: unknown): value is Values | null => value === null || isFields(value);
const isRevisions = isListOf('status', 'chart', 'updated');
const isHistory = (value: unknown): value is Revision[] => isRevisions(value);
const isReleases = isListOf('name', 'namespace', 'status', 'chart');
const isList = (value: unknown): value is ListedRelease[] => isReleases(value);
