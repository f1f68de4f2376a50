import type {ObjectDrift} from '../diff/live-diff.ts';
import type {Values} from '../ground/tree.ts';
import type {KubernetesObject, SecretObject} from '../kubernetes/objects.ts';

/** The latest entry of a release's history. */
export interface Revision {
  revision: number;
  /** deployed, failed, pending-install, pending-upgrade, pending-rollback, uninstalling, superseded */
  status: string;
  /** Name and version together, as helm prints them: agent-job-0.6.5 */
  chart: string;
  /** When helm touched it last. */
  updated: string;
  /** Of the program in the chart, where the chart names one. */
  app_version?: string;
  /** The description by helm: "Install complete", or why it failed. */
  description?: string;
}

export interface ReleaseState extends Revision {
  /** What was given to helm, without the chart's own defaults. */
  values: Values;
  /** Where helm keeps it, when it is in the middle of something. */
  record?: SecretObject;
  /** The field manager of that Secret, such as helm or helm-controller. Kubernetes records no user. */
  operator?: string;
}

/** What the plan of an install depends on. */
export interface InstallFacts {
  context: {name: string; cluster: string; server: string};
  serverVersion: string;
  namespace: KubernetesObject | undefined;
  release: ReleaseState | undefined;
  /** Rendered objects of the release, from helm. */
  installed: readonly KubernetesObject[];
  /** Rendered objects that are missing or changed in the cluster. */
  drift: readonly ObjectDrift[];
  /** Rendered objects that exist, with the values of the cluster. */
  live: readonly KubernetesObject[];
  /** Helm 4 applies the release on the server, where fields that others changed are conflicts. */
  isServerSide: boolean;
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
