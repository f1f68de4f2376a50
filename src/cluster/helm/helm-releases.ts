import {scalrChart} from '../../charts/releases/chart-name.ts';
import {pooled} from '../../ground/async.ts';
import type {HelmCall} from '../../ground/call.ts';
import type {ReleaseName} from '../../ground/command-line.ts';
import {ExpectedError} from '../../ground/errors.ts';
import {isFields, isListOf, readJson} from '../../ground/json.ts';
import type {Processes} from '../../ground/system/system.ts';
import {isForbidden, toolFailure} from '../../ground/tool-errors.ts';
import type {Values} from '../../ground/tree.ts';
import type {RequestOptions} from '../kubernetes/client.ts';
import type {Listing, ObjectResult} from '../kubernetes/resources.ts';
import {
  listReleases,
  releaseHistory,
  releaseManifest,
  releaseMetadata,
  releaseValues,
} from './release-calls.ts';
import {
  isServerSide,
  type ListedRelease,
  type ReleaseRecord,
  type Releases,
  type Revision,
  type StoredRevision,
} from './release-record.ts';

const MAX_CALLS_AT_ONCE = 8;

/** Releases as helm prints them: with another storage driver, such as sql, only helm can read them. */
export class HelmReleases implements Releases {
  readonly #processes: Pick<Processes, 'run'>;

  constructor(processes: Pick<Processes, 'run'>) {
    this.#processes = processes;
  }

  newest: Releases['newest'] = (name, options) => this.#last(name, options, () => true);

  deployed: Releases['deployed'] = (name, options) =>
    this.#last(name, options, ({status}) => status === 'deployed');

  history: Releases['history'] = async (name, options) => {
    const {object = [], error} = await this.#historyOf(name, options);
    return error ? {items: [], error} : {items: object};
  };

  revisions: Releases['revisions'] = async (names, options) => {
    const found = await pooled(names, 1, (name) => this.#revisionsOf(name, options));
    const items = found.flatMap((each) => each.items);
    const error = found.find((each) => each.error)?.error;
    return error ? {items, error} : {items};
  };

  list: Releases['list'] = async (kubeTarget, {everywhere, ...options}) => {
    const call = listReleases(kubeTarget, {everywhere});
    const {object, error} = await this.#json(call, isList, options);
    if (error) return {items: [], error};
    const read = (object ?? []).map(async (each): Promise<ListedRelease> => {
      if (scalrChart(each.chart) === undefined) return each;
      const name = {release: each.name, kubeTarget: {...kubeTarget, namespace: each.namespace}};
      const values = await this.#json(releaseValues(name), isValues, options);
      return values.error ? each : {...each, values: values.object ?? {}};
    });
    return {items: await Promise.all(read)};
  };

  #historyOf(name: ReleaseName, options: RequestOptions): Promise<ObjectResult<Revision[]>> {
    return this.#json(releaseHistory(name), isHistory, options);
  }

  async #last(
    name: ReleaseName,
    options: RequestOptions,
    isDesired: (each: Revision) => boolean,
  ): Promise<ObjectResult<ReleaseRecord>> {
    const history = await this.#historyOf(name, options);
    if (history.error) return history;
    const latest = history.object?.findLast(isDesired);
    if (latest === undefined) return {object: undefined};
    const {revision} = latest;
    const [values, all, manifest, metadata] = await Promise.all([
      this.#json(releaseValues(name, revision), isValues, options),
      this.#json(releaseValues(name, revision, '--all'), isValues, options),
      this.#ask(releaseManifest(name, revision), options),
      this.#json(releaseMetadata(name), isFields, options),
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
  }

  /** All revisions of a release with their manifests. */
  async #revisionsOf(name: ReleaseName, options: RequestOptions): Promise<Listing<StoredRevision>> {
    const history = await this.#historyOf(name, options);
    if (history.error) return {items: [], error: history.error};
    const {object: revisions = []} = history;
    const manifests = await pooled(revisions, MAX_CALLS_AT_ONCE, ({revision}) =>
      this.#ask(releaseManifest(name, revision), options),
    );
    const error = manifests.find((each) => each.error)?.error;
    if (error) return {items: [], error};
    const {release, kubeTarget} = name;
    const items = revisions.map(
      ({revision, status, chart}, index): StoredRevision => ({
        release,
        namespace: kubeTarget.namespace,
        revision,
        status,
        chart,
        manifest: manifests[index]?.object ?? '',
      }),
    );
    return {items};
  }

  async #json<T>(
    call: HelmCall,
    is: (value: unknown) => value is T,
    options: RequestOptions,
  ): Promise<ObjectResult<T>> {
    const printed = await this.#ask(call, options);
    if (printed.object === undefined) return printed as ObjectResult<T>;
    const {value, error} = readJson('helm', printed.object.trim(), is);
    return error ? {error} : {object: value};
  }

  /** What helm prints; undefined without the release. */
  async #ask(call: HelmCall, {signal}: RequestOptions): Promise<ObjectResult<string>> {
    try {
      const outcome = await this.#processes.run(call, {signal});
      if (outcome.exitCode === 0) return {object: outcome.stdout};
      if (/release: not found/.test(outcome.stderr)) return {object: undefined};
      return {
        error: {
          kind: isForbidden(outcome) ? 'forbidden' : 'refused',
          message: outcome.stderr.trim().replace(/^Error: /, ''),
          cause: toolFailure(call, outcome),
        },
      };
    } catch (cause) {
      if (!(cause instanceof ExpectedError)) throw cause;
      return {error: {kind: 'refused', message: cause.message, cause}};
    }
  }
}

/** Helm prints null where nothing was given. */
const isValues = (value: unknown): value is Values | null => value === null || isFields(value);
const isRevisions = isListOf('status', 'chart', 'updated');
const isHistory = (value: unknown): value is Revision[] => isRevisions(value);
const isReleases = isListOf('name', 'namespace', 'status', 'chart');
const isList = (value: unknown): value is ListedRelease[] => isReleases(value);
