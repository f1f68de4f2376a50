import {scalrChart} from '../../charts/define.ts';
import {pooled} from '../../ground/async.ts';
import type {Call} from '../../ground/call.ts';
import type {ReleaseName} from '../../ground/command-line.ts';
import {ExpectedError} from '../../ground/errors.ts';
import type {Processes} from '../../ground/system/system.ts';
import {isForbidden, toolFailure} from '../../ground/tool-errors.ts';
import {isFields, isListOf, readJson, type Values} from '../../ground/tree.ts';
import type {KubernetesClient, RequestOptions} from '../kubernetes/client.ts';
import type {ClusterIdentity} from '../kubernetes/cluster-identity.ts';
import {collectionPath} from '../kubernetes/kinds.ts';
import type {SelectedCluster} from '../kubernetes/kubeconfig.ts';
import type {KubernetesObject, SecretObject} from '../kubernetes/objects.ts';
import {type Listing, listAll, type ObjectResult, type Reader} from '../kubernetes/resources.ts';
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
  readRecord,
  type StoredRevision,
} from './release-record.ts';

/** How a command reads and changes a cluster. */
export interface ClusterAccess {
  kubernetes: KubernetesClient;
  processes: Processes;
  /** What the target selects, if it was read before. */
  context?: SelectedCluster | undefined;
  /** Read with a plan, and compared before changes. */
  identity?: Pick<ClusterIdentity, 'planned'>;
  /** HELM_DRIVER: where Helm keeps its releases, by default in Secrets. */
  helmDriver?: string | undefined;
}

type ReadAccess = Pick<ClusterAccess, 'helmDriver'> & {
  kubernetes: Reader;
  processes: Pick<Processes, 'run'>;
};

/** Secrets need no process of helm to be read. */
export const releasesIn = ({kubernetes, processes, helmDriver = ''}: ReadAccess): Releases =>
  /^(secrets?)?$/.test(helmDriver) ? releasesInSecrets(kubernetes) : releasesOfHelm(processes);

/** Lists without the data of the Secrets. Where kubectl cannot pass it on, the API server returns everything. */
const METADATA_ONLY =
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json';

const MAX_RECORDS_AT_ONCE = 8;

export function releasesInSecrets(kubernetes: Reader): Releases {
  const metadata = async (
    resource: string,
    {namespace, ...options}: RequestOptions & {namespace?: string | undefined},
    selector = '',
  ) => {
    const query = selector === '' ? '' : `?labelSelector=${encodeURIComponent(selector)}`;
    const listed = await listAll(kubernetes, `${collectionPath(resource, namespace)}${query}`, {
      ...options,
      accept: METADATA_ONLY,
    });
    return {
      ...listed,
      items: (listed.items as readonly KubernetesObject[]).filter(
        ({metadata: found}) => typeof found?.name === 'string',
      ),
    };
  };
  const revisionsOf = async (
    {release, kubeTarget: {namespace}}: ReleaseName,
    options: RequestOptions,
  ): Promise<Listing<KubernetesObject>> => {
    const listed = await metadata('secrets', {...options, namespace}, `owner=helm,name=${release}`);
    return {
      ...listed,
      items: listed.items.toSorted((one, other) => revisionOf(one) - revisionOf(other)),
    };
  };
  /** Listed by its name, because helm itself needs only the permission to list. */
  const read = async (
    {metadata: {name, namespace}}: KubernetesObject,
    options: RequestOptions,
  ): Promise<ObjectResult<ReleaseRecord>> => {
    const answer = await kubernetes.get(
      `${collectionPath('secrets', namespace)}?fieldSelector=metadata.name%3D${name}`,
      options,
    );
    if (answer.error) return {error: answer.error};
    const [secret] = (answer.body as {items?: SecretObject[]} | null)?.items ?? [];
    const record = secret && readRecord({apiVersion: 'v1', kind: 'Secret', ...secret});
    if (secret !== undefined && record === undefined)
      return {error: {kind: 'refused', message: `Secret ${name} contains no Helm release`}};
    return {object: record};
  };
  const readAll = (secrets: readonly KubernetesObject[], options: RequestOptions) =>
    pooled(secrets, MAX_RECORDS_AT_ONCE, (each) => read(each, options));
  const last = async (
    name: ReleaseName,
    options: RequestOptions,
    isDesired: (status: string) => boolean,
  ) => {
    const {items, error} = await revisionsOf(name, options);
    if (error) return {error};
    const found = items.findLast((each) => isDesired(labelOf(each, 'status')));
    return found === undefined ? {object: undefined} : read(found, options);
  };
  return {
    newest: (name, options) => last(name, options, () => true),
    deployed: (name, options) => last(name, options, (status) => status === 'deployed'),
    async history(name, options) {
      const {items, error} = await revisionsOf(name, options);
      const records = await readAll(items, options);
      const failed = error ?? records.find((each) => each.error)?.error;
      return {
        items: records.flatMap(({object}) => object ?? []),
        ...(failed ? {error: failed} : {}),
      };
    },
    revisions: (names, options) => storedRevisions(kubernetes, names, options),
    async list({namespace}, {everywhere, ...rest}) {
      const options = {...rest, namespace: everywhere ? undefined : namespace};
      const [secrets, ...labeled] = await Promise.all([
        metadata('secrets', options, 'owner=helm,status!=superseded'),
        ...LABELED.map((kind) => metadata(kind, options, CHART)),
      ]);
      if (secrets.error) return {items: [], error: secrets.error};
      const ours = labeled.some(({error}) => error)
        ? undefined
        : scalrReleases(labeled.flatMap(({items}) => items));
      const current = newestOf(secrets.items).filter(
        (each) => labelOf(each, 'status') !== 'uninstalled',
      );
      // A release that is not deployed may have no object yet, and in the own namespace the chart of every release counts.
      const isOpen = (each: KubernetesObject): boolean =>
        labelOf(each, 'status') !== 'deployed' || each.metadata.namespace === namespace;
      const desired = current.filter((each) => ours?.has(keyOf(each)) !== false || isOpen(each));
      const records = await readAll(desired, rest);
      // What is no release of Helm is not ours.
      const failed = records.find(({error}) => error && error.kind !== 'refused')?.error;
      if (failed) return {items: [], error: failed};
      const recordOf = new Map(desired.map((each, index) => [each, records[index]?.object]));
      return {items: current.map((each) => lineOf(each, recordOf.get(each)))};
    },
  };
}

/** The records of a release are large. */
const RECORDS_AT_ONCE = 25;

/** One list, whatever the number of releases. */
async function storedRevisions(
  kubernetes: Reader,
  names: readonly ReleaseName[],
  options: RequestOptions,
): Promise<Listing<StoredRevision>> {
  const [first] = names;
  if (first === undefined) return {items: []};
  const spaces = new Set(names.map(({kubeTarget}) => kubeTarget.namespace));
  const releases = [...new Set(names.map(({release}) => release))];
  const selector = `owner=helm,name in (${releases.join(',')})`;
  const path = collectionPath('secrets', spaces.size === 1 ? [...spaces][0] : undefined);
  const {items, error} = await listAll(
    kubernetes,
    `${path}?labelSelector=${encodeURIComponent(selector)}`,
    options,
    RECORDS_AT_ONCE,
  );
  const wanted = new Set(
    names.map(({release, kubeTarget}) => `${kubeTarget.namespace}/${release}`),
  );
  const found = (items as readonly SecretObject[]).filter((each) => wanted.has(keyOf(each)));
  const revisions = found.flatMap((secret): StoredRevision[] => {
    const record = readRecord(secret);
    if (record === undefined) return [];
    const {revision, status, chart, manifest} = record;
    const release = labelOf(secret, 'name');
    return [
      {release, namespace: secret.metadata.namespace ?? '', revision, status, chart, manifest},
    ];
  });
  return error ? {items: revisions, error} : {items: revisions};
}

function lineOf(secret: KubernetesObject, record: ReleaseRecord | undefined): ListedRelease {
  const {chart = '', values} = record ?? {};
  const line = {
    name: labelOf(secret, 'name'),
    namespace: secret.metadata.namespace ?? '',
    status: labelOf(secret, 'status'),
    chart,
  };
  return values === undefined || scalrChart(chart) === undefined ? line : {...line, values};
}

const labelOf = ({metadata: {labels}}: KubernetesObject, label: string): string =>
  labels?.[label] ?? '';
const revisionOf = (secret: KubernetesObject): number => Number(labelOf(secret, 'version'));
const keyOf = (secret: KubernetesObject): string =>
  `${secret.metadata.namespace}/${labelOf(secret, 'name')}`;

function newestOf(secrets: readonly KubernetesObject[]): KubernetesObject[] {
  const newest = new Map<string, KubernetesObject>();
  for (const each of secrets) {
    const known = newest.get(keyOf(each));
    if (known === undefined || revisionOf(known) < revisionOf(each)) newest.set(keyOf(each), each);
  }
  return [...newest.values()];
}

/** Every released version of the three charts labels its objects with it (templates/_helpers.tpl). */
const CHART = 'helm.sh/chart';

const LABELED = ['deployments.apps', 'daemonsets.apps', 'serviceaccounts'] as const;

/** Releases with objects of the three charts. The records of all others can be large and are not read. */
const scalrReleases = (objects: readonly KubernetesObject[]): ReadonlySet<string> =>
  new Set(
    objects.flatMap(({metadata: {namespace, labels, annotations}}) =>
      scalrChart(labels?.[CHART] ?? '') === undefined
        ? []
        : [
            `${annotations?.['meta.helm.sh/release-namespace'] ?? namespace}/${annotations?.['meta.helm.sh/release-name']}`,
          ],
    ),
  );

/** With another storage driver, such as sql, only helm can read its releases. */
export function releasesOfHelm(processes: Pick<Processes, 'run'>): Releases {
  const ask = async <T>(
    call: Call,
    {signal}: RequestOptions,
    read: (text: string) => T,
  ): Promise<ObjectResult<T>> => {
    try {
      const outcome = await processes.run(call, {signal});
      if (outcome.exitCode === 0) return {object: read(outcome.stdout)};
      if (/release: not found/.test(outcome.stderr)) return {object: undefined};
      const cause = toolFailure(call, outcome);
      return {
        error: {
          kind: isForbidden(outcome) ? 'forbidden' : 'refused',
          message: outcome.stderr.trim().replace(/^Error: /, ''),
          cause,
        },
      };
    } catch (cause) {
      if (!(cause instanceof ExpectedError)) throw cause;
      return {error: {kind: 'refused', message: cause.message, cause}};
    }
  };
  const json = async <T>(
    call: Call,
    is: (value: unknown) => value is T,
    options: RequestOptions,
  ): Promise<ObjectResult<T>> => {
    const printed = await ask(call, options, (text) => text.trim());
    if (printed.object === undefined) return printed as ObjectResult<T>;
    const {value, error} = readJson('helm', printed.object, is);
    return error ? {error} : {object: value};
  };
  const last = async (
    name: ReleaseName,
    options: RequestOptions,
    isDesired: (each: Revision) => boolean,
  ): Promise<ObjectResult<ReleaseRecord>> => {
    const history = await json(releaseHistory(name), isHistory, options);
    if (history.error) return history;
    const latest = history.object?.findLast(isDesired);
    if (latest === undefined) return {object: undefined};
    const [values, all, manifest, metadata] = await Promise.all([
      json(releaseValues(name, latest.revision), isValues, options),
      json(releaseValues(name, latest.revision, '--all'), isValues, options),
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
    async revisions(names, options) {
      const found = await pooled(names, 1, async (name) => {
        const {object = [], error} = await json(releaseHistory(name), isHistory, options);
        if (error) return {items: [], error};
        return storedRevisionsOf(name, object, (revision) =>
          ask(releaseManifest(name, revision), options, String),
        );
      });
      const error = found.find((each) => each.error)?.error;
      return {items: found.flatMap(({items}) => items), ...(error ? {error} : {})};
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

async function storedRevisionsOf(
  {release, kubeTarget: {namespace}}: ReleaseName,
  history: readonly Revision[],
  manifestOf: (revision: number) => Promise<ObjectResult<string>>,
): Promise<Listing<StoredRevision>> {
  const manifests = await pooled(history, MAX_RECORDS_AT_ONCE, (each) => manifestOf(each.revision));
  const error = manifests.find((each) => each.error)?.error;
  if (error) return {items: [], error};
  const items = history.map(({revision, status, chart}, index): StoredRevision => {
    const manifest = manifests[index]?.object ?? '';
    return {release, namespace, revision, status, chart, manifest};
  });
  return {items};
}

/** Helm prints null where nothing was given. */
const isValues = (value: unknown): value is Values | null => value === null || isFields(value);
const isRevisions = isListOf('status', 'chart', 'updated');
const isHistory = (value: unknown): value is Revision[] => isRevisions(value);
const isReleases = isListOf('name', 'namespace', 'status', 'chart');
const isList = (value: unknown): value is ListedRelease[] => isReleases(value);
