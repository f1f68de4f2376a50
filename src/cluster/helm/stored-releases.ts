import {scalrChart} from '../../charts/releases/chart-name.ts';

import {pooled} from '../../ground/async.ts';
import {
  type ClusterTarget,
  helmCommand,
  kubectlCommand,
  type ReleaseName,
} from '../../ground/command-line.ts';
import type {ReadError} from '../../ground/fact.ts';
import type {RequestOptions} from '../kubernetes/client.ts';
import {collectionPath} from '../kubernetes/kinds.ts';
import type {KubernetesObject, SecretObject} from '../kubernetes/objects.ts';
import {type Listing, listAll, type ObjectResult, type Reader} from '../kubernetes/resources.ts';
import {
  type ListedRelease,
  type ReleaseRecord,
  type Releases,
  type Revision,
  readRecord,
  type StoredRevision,
} from './release-record.ts';

/** Lists without the data of the Secrets. Where kubectl cannot pass it on, the API server returns everything. */
const METADATA_ONLY =
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json';

const MAX_RECORDS_AT_ONCE = 8;

type Options = RequestOptions & {namespace?: string | undefined};

/** Releases in the Secrets where Helm stores them. No process of helm is needed to read them. */
export class StoredReleases implements Releases {
  readonly #kubernetes: Reader;

  constructor(kubernetes: Reader) {
    this.#kubernetes = kubernetes;
  }

  newest: Releases['newest'] = async (name, options) => {
    const {items, error} = await this.#revisionsOf(name, options);
    if (error) return {error};
    const newest = items.at(-1);
    if (newest === undefined) return {object: undefined};
    const read = await this.#read(newest, name.kubeTarget, options);
    const lastFailure = failureIn(items.slice(0, -1));
    return read.object && lastFailure ? {object: {...read.object, lastFailure}} : read;
  };

  deployed: Releases['deployed'] = async (name, options) => {
    const {items, error} = await this.#revisionsOf(name, options);
    if (error) return {error};
    const found = items.findLast((each) => labelOf(each, 'status') === 'deployed');
    return found === undefined ? {object: undefined} : this.#read(found, name.kubeTarget, options);
  };

  history: Releases['history'] = async (name, options) => {
    const {items, error} = await this.#revisionsOf(name, options);
    const records = await this.#readAll(items, name.kubeTarget, options);
    const failed = error ?? records.find((each) => each.error)?.error;
    const found = records.flatMap(({object}) => object ?? []);
    return failed ? {items: found, error: failed} : {items: found};
  };

  revisions: Releases['revisions'] = (names, options) =>
    storedRevisions(this.#kubernetes, names, options);

  list: Releases['list'] = async (kubeTarget, {everywhere, ...options}) => {
    const {namespace} = kubeTarget;
    const where = {...options, namespace: everywhere ? undefined : namespace};
    const [secrets, ...labeled] = await Promise.all([
      this.#metadata('secrets', where, 'owner=helm,status!=superseded'),
      ...LABELED.map((kind) => this.#metadata(kind, where, CHART)),
    ]);
    if (secrets.error) return {items: [], error: secrets.error};
    const current = newestOf(secrets.items).filter(
      (each) => labelOf(each, 'status') !== 'uninstalled',
    );
    const charts = chartsOf(labeled.flatMap((each) => each.items));
    const isLabeled = labeled.every(({error}) => error === undefined);
    const desired = isLabeled ? current.filter(mayBeOurs(kubeTarget, charts)) : current;
    const records = await this.#readAll(desired, kubeTarget, options);
    // A record that Helm does not know either hides no other release.
    const failed = records.find(({error}) => error && error.kind !== 'refused')?.error;
    if (failed) return {items: [], error: failed};
    const recordOf = new Map(desired.map((each, index) => [each, records[index]?.object]));
    const labels = (each: KubernetesObject) => ({chart: charts.get(keyOf(each)) ?? ''});
    return {items: current.map((each) => lineOf(each, recordOf.get(each) ?? labels(each)))};
  };

  async #metadata(
    resource: string,
    {namespace, ...options}: Options,
    selector: string,
  ): Promise<Listing<KubernetesObject>> {
    const query = `?labelSelector=${encodeURIComponent(selector)}`;
    const path = `${collectionPath(resource, namespace)}${query}`;
    const listed = await listAll(this.#kubernetes, path, {...options, accept: METADATA_ONLY});
    const objects = listed.items as readonly KubernetesObject[];
    return {...listed, items: objects.filter(({metadata}) => typeof metadata?.name === 'string')};
  }

  async #revisionsOf(
    {release, kubeTarget: {namespace}}: ReleaseName,
    options: RequestOptions,
  ): Promise<Listing<KubernetesObject>> {
    const selector = `owner=helm,name=${release}`;
    const listed = await this.#metadata('secrets', {...options, namespace}, selector);
    return {
      ...listed,
      items: listed.items.toSorted((one, other) => revisionOf(one) - revisionOf(other)),
    };
  }

  #readAll(
    secrets: readonly KubernetesObject[],
    kubeTarget: ClusterTarget,
    options: RequestOptions,
  ): Promise<ObjectResult<ReleaseRecord>[]> {
    return pooled(secrets, MAX_RECORDS_AT_ONCE, (each) => this.#read(each, kubeTarget, options));
  }

  /** Listed by its name, because helm itself needs only the permission to list. */
  async #read(
    listed: KubernetesObject,
    kubeTarget: ClusterTarget,
    options: RequestOptions,
  ): Promise<ObjectResult<ReleaseRecord>> {
    const {name, namespace} = listed.metadata;
    const answer = await this.#kubernetes.get(
      `${collectionPath('secrets', namespace)}?fieldSelector=metadata.name%3D${name}`,
      options,
    );
    if (answer.error) return {error: answer.error};
    const [secret] = (answer.body as {items?: SecretObject[]} | null)?.items ?? [];
    const record = secret && readRecord({apiVersion: 'v1', kind: 'Secret', ...secret});
    return secret !== undefined && record === undefined
      ? {error: noRelease(listed, kubeTarget)}
      : {object: record};
  }
}

/** Helm skips such a Secret, so its owner may not notice it. */
function noRelease(secret: KubernetesObject, kubeTarget: ClusterTarget): ReadError {
  const {name, namespace = kubeTarget.namespace} = secret.metadata;
  const where = ['--namespace', namespace];
  return {
    kind: 'refused',
    message: `Secret ${name} has the labels of a Helm release, but contains none`,
    steps: [
      `Check whether Helm lists revision ${revisionOf(secret)}: ${helmCommand(kubeTarget, 'history', labelOf(secret, 'name'), ...where)}`,
      `If not, delete the Secret: ${kubectlCommand(kubeTarget, 'delete', 'secret', name, ...where)}`,
    ],
  };
}

/** Whether a release can have one of the three charts. One that is not deployed may have no object yet, and in the own namespace the chart of every release counts. */
const mayBeOurs =
  ({namespace}: ClusterTarget, charts: ReadonlyMap<string, string>) =>
  (secret: KubernetesObject): boolean =>
    charts.has(keyOf(secret)) ||
    labelOf(secret, 'status') !== 'deployed' ||
    secret.metadata.namespace === namespace;

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

function lineOf(
  secret: KubernetesObject,
  {chart, values}: Pick<ListedRelease, 'chart' | 'values'>,
): ListedRelease {
  const line = {
    name: labelOf(secret, 'name'),
    namespace: secret.metadata.namespace ?? '',
    status: labelOf(secret, 'status'),
    chart,
  };
  return values === undefined || scalrChart(chart) === undefined ? line : {...line, values};
}

/** The label has seconds. */
function failureIn(earlier: readonly KubernetesObject[]): Revision['lastFailure'] {
  const failed = earlier.findLast((each) => labelOf(each, 'status') === 'failed');
  const seconds = Number(failed && (labelOf(failed, 'modifiedAt') || labelOf(failed, 'createdAt')));
  return failed && seconds > 0
    ? {revision: revisionOf(failed), at: new Date(seconds * 1000).toISOString()}
    : undefined;
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

/** Charts of the releases with objects of the three charts. The records of all others can be large and are not read. */
const chartsOf = (objects: readonly KubernetesObject[]): ReadonlyMap<string, string> =>
  new Map(
    objects.flatMap(({metadata: {namespace, labels, annotations}}): [string, string][] => {
      const chart = labels?.[CHART] ?? '';
      const place = annotations?.['meta.helm.sh/release-namespace'] ?? namespace;
      return scalrChart(chart) === undefined
        ? []
        : [[`${place}/${annotations?.['meta.helm.sh/release-name']}`, chart]];
    }),
  );
