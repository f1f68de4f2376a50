import {gunzipSync, gzipSync} from 'node:zlib';
import {parseAllDocuments} from 'yaml';
import type {ClusterTarget, ReleaseName} from '../../ground/command-line.ts';
import {isFields} from '../../ground/json.ts';
import type {Values} from '../../ground/tree.ts';
import type {RequestOptions} from '../kubernetes/client.ts';
import type {KubernetesObject, SecretObject} from '../kubernetes/objects.ts';
import type {Listing, ObjectResult} from '../kubernetes/resources.ts';

/** One revision of a release, as `helm history` prints it. */
export interface Revision {
  revision: number;
  /** deployed, failed, pending-install, pending-upgrade, pending-rollback, uninstalling, uninstalled, superseded */
  status: string;
  /** Name and version together, as helm prints them: agent-job-0.6.5 */
  chart: string;
  /** When helm touched it last. */
  updated: string;
  /** Of the program in the chart, where the chart names one. */
  app_version?: string;
  /** The description by helm: "Install complete", or why it failed. */
  description?: string;
  /** The newest earlier revision that failed, if Helm still has its record. */
  lastFailure?: {revision: number; at: string};
}

/** What Helm stores of a revision. */
export interface ReleaseRecord extends Revision {
  /** What was given to helm, without the defaults of the chart. */
  values: Values;
  /** values.yaml of the chart. */
  defaults: Values;
  /** The rendered objects, which helm deletes when it uninstalls the release. */
  manifest: string;
  /** Helm 4 applies new releases on the server; those of Helm 3 stay on client-side apply. */
  isServerSide: boolean;
  /** The Secret with the record; undefined with another storage driver of Helm. */
  record?: SecretObject;
  /** The field manager that last wrote the Secret, such as helm or helm-controller. Kubernetes records no user. */
  operator?: string;
}

/** The newest revision of a release. */
export interface ListedRelease {
  name: string;
  namespace: string;
  status: string;
  /** Name and version together: agent-job-0.6.5, or what the objects of an unreadable record are labeled with. Empty for other charts. */
  chart: string;
  /** Of releases with a Scalr chart, if the record can be read. */
  values?: Values;
}

/** A revision that Helm stores with its objects, which a rollback creates again. */
export interface StoredRevision extends Pick<Revision, 'revision' | 'status' | 'chart'> {
  release: string;
  namespace: string;
  manifest: string;
}

/** Reads the releases that Helm stores. Errors are part of the result. */
export interface Releases {
  /** In every state except superseded and uninstalled; of all namespaces without one. */
  list(
    kubeTarget: ClusterTarget,
    options: RequestOptions & {everywhere: boolean},
  ): Promise<Listing<ListedRelease>>;
  /** Every revision, oldest first. */
  history(name: ReleaseName, options: RequestOptions): Promise<Listing<Revision>>;
  /** Every revision of several releases. */
  revisions(
    names: readonly ReleaseName[],
    options: RequestOptions,
  ): Promise<Listing<StoredRevision>>;
  newest(name: ReleaseName, options: RequestOptions): Promise<ObjectResult<ReleaseRecord>>;
  /** The deployed revision, which Helm compares the next upgrade with. */
  deployed(name: ReleaseName, options: RequestOptions): Promise<ObjectResult<ReleaseRecord>>;
}

/** Fields of Helm's JSON, of Helm 3 and 4: https://github.com/helm/helm/blob/main/pkg/release/v1/release.go */
interface StoredRelease {
  version: number;
  info?: {status?: string; last_deployed?: string; description?: string};
  chart?: {
    metadata?: {name?: string; version?: string; appVersion?: string};
    values?: Values | null;
  };
  config?: Values | null;
  manifest?: string;
  apply_method?: string;
}

/** Base64 of the API around base64 of helm around gzip around JSON. */
const unpacked = (written: string): StoredRelease =>
  JSON.parse(
    gunzipSync(Buffer.from(Buffer.from(written, 'base64').toString('utf8'), 'base64')).toString(
      'utf8',
    ),
  ) as StoredRelease;

/** Undefined if the Secret does not contain a release. */
export function readRecord(secret: SecretObject): ReleaseRecord | undefined {
  try {
    const {
      version,
      info = {},
      chart = {},
      config,
      manifest = '',
      apply_method = '',
    } = unpacked(secret.data?.['release'] ?? '');
    const {name = '', version: chartVersion = '', appVersion} = chart.metadata ?? {};
    const {managedFields = [], ...metadata} = secret.metadata;
    const operator = managedFields.at(-1)?.manager;
    return {
      revision: version,
      status: info.status ?? 'unknown',
      chart: `${name}-${chartVersion}`,
      updated: info.last_deployed ?? '',
      ...(appVersion ? {app_version: appVersion} : {}),
      ...(info.description ? {description: info.description} : {}),
      values: config ?? {},
      defaults: chart.values ?? {},
      manifest,
      isServerSide: isServerSide(apply_method),
      record: {...secret, metadata},
      ...(operator === undefined ? {} : {operator}),
    };
  } catch {
    return undefined;
  }
}

/** Helm 4 stores ssa, and prints server-side apply. */
export const isServerSide = (method: string): boolean => /^(ssa|server-side)/.test(method);

/**
 * The record of a revision that helm did not finish, as helm itself writes it when interrupted: failed. With it the next
 * upgrade compares against what this revision applied; without it, helm 3 would not delete obsolete objects.
 */
export function markedFailed(record: SecretObject): SecretObject {
  const written = record.data?.['release'];
  if (written === undefined)
    throw new Error(`Secret ${record.metadata.name} does not contain a release.`);
  const release = unpacked(written);
  release.info = {
    ...release.info,
    status: 'failed',
    description: 'Interrupted; marked as failed by scalr-agent',
  };
  const packed = gzipSync(JSON.stringify(release)).toString('base64');
  const {metadata} = record;
  return {
    ...record,
    metadata: {...metadata, labels: {...metadata.labels, status: 'failed'}},
    data: {...record.data, release: Buffer.from(packed, 'utf8').toString('base64')},
  };
}

export const objectsIn = (manifest: string): KubernetesObject[] =>
  parseAllDocuments(manifest, {logLevel: 'silent'}).flatMap((document) => {
    const object: unknown = 'toJS' in document ? document.toJS() : undefined;
    // A wrapper of helm can print lines that are YAML too.
    return isFields(object) && 'kind' in object ? [object as unknown as KubernetesObject] : [];
  });
