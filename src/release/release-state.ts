import type {ObjectDrift} from '../diff/live-drift.ts';
import type {ReleaseRecord, Revision} from '../helm/release-record.ts';
import type {KubernetesObject, SecretObject} from '../kubernetes/objects.ts';

/** What the plan of an install depends on. */
export interface InstallFacts {
  context: {name: string; cluster: string; server: string};
  serverVersion: string;
  namespace: KubernetesObject | undefined;
  /** The newest revision. */
  release: ReleaseRecord | undefined;
  /** Rendered objects of the release, from helm. */
  installed: readonly KubernetesObject[];
  /** Rendered objects that are missing or changed in the cluster. */
  drift: readonly ObjectDrift[];
  /** Rendered objects that exist, with the values of the cluster. */
  live: readonly KubernetesObject[];
  /** Deployments of the namespace that were scaled to nothing, as "Deployment scalr-agent"; no chart makes anything else that can be. */
  stopped: ReadonlySet<string>;
  /** Secrets that the values reference, by name; undefined if not found. */
  secrets: ReadonlyMap<string, SecretObject | undefined>;
  /** Workloads and pods of others that read a Secret, by its name; only for Secrets that the plan would change. */
  secretUsers?: ReadonlyMap<string, readonly string[]>;
  /** Kinds of workloads that this user may not list, such as cronjobs; `secretUsers` lacks them. */
  unlistedUsers?: readonly string[];
}

/** True if a Helm operation of the release is pending, possibly without a running helm. */
export const isPending = ({status}: Pick<Revision, 'status'>): boolean => status.startsWith('pending-') || status === 'uninstalling';
