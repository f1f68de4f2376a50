import type {ClusterTarget} from './command-line.ts';
import type {Secret} from './secret.ts';

/**
 * One call of a tool, as data: it can be printed, compared and run, and its permissions follow from it. Its arguments are rendered last, by
 * `argumentsOf`, and never read again.
 */
export type Call = KubectlCall | HelmCall | MachineCall;

export interface KubectlCall {
  tool: 'kubectl';
  verb: KubectlVerb;
  kubeTarget: ClusterTarget;
  /** What the verb acts on: single objects, or all objects of kinds. */
  resources?: readonly CalledResource[];
  /** Limits `resources` to objects with these labels. */
  selector?: string;
  /** Limits `resources` to objects with these fields. */
  fields?: string;
  /** What `wait` waits for. */
  waitsFor?: 'delete' | 'condition=complete';
  /** Flags of the verb, and changes such as `key=value`. */
  flags?: readonly string[];
  /** Tried by the API server, which changes nothing. */
  isDryRun?: boolean;
  /** For each request of the call. */
  requestTimeout?: string;
  /** The objects in `input`. */
  objects?: readonly ObjectIdentity[];
  /** Objects as JSON, on standard input. */
  input?: Secret;
  /** The same as requests to the API server, where a connection makes the process of kubectl unnecessary. */
  requests?: readonly ApiRequest[];
}

type KubectlVerb =
  | 'annotate'
  | 'apply'
  | 'config view'
  | 'create'
  | 'delete'
  | 'describe'
  | 'get'
  | 'label'
  | 'patch'
  | 'proxy'
  | 'replace'
  | 'rollout restart'
  | 'scale'
  | 'version'
  | 'wait';

/** Objects of a kind: one, or all of them without a name. */
export interface CalledResource {
  /** deployment, jobs, or with its group: clusterroles.rbac.authorization.k8s.io */
  kind: string;
  name?: string;
}

/** What identifies an object of Kubernetes. */
export interface ObjectIdentity {
  apiVersion?: string;
  kind?: string;
  metadata: {name: string; namespace?: string};
}

/** A change of one object through the API server. */
export interface ApiRequest {
  method: 'POST' | 'PUT' | 'PATCH';
  /** The escaped API path with its query. */
  path: string;
  contentType: string;
  body: Secret;
  /** A server-side apply takes fields over from people and from Helm; those of other programs are conflicts. */
  takesOver?: boolean;
}

export interface HelmCall {
  tool: 'helm';
  verb: HelmVerb;
  /** Absent for calls without a request to the cluster. */
  kubeTarget?: ClusterTarget;
  release?: string;
  /** Default: the newest revision, or the previous one for a rollback. */
  revision?: number;
  chart?: ChartReference;
  flags?: readonly string[];
  /** Values as YAML, on standard input. */
  input?: string;
}

export type HelmVerb =
  | 'get manifest'
  | 'get metadata'
  | 'get values'
  | 'history'
  | 'list'
  | 'pull'
  | 'rollback'
  | 'show chart'
  | 'show crds'
  | 'template'
  | 'uninstall'
  | 'upgrade'
  | 'verify'
  | 'version';

/** A chart version, from the public repository or from a custom source. */
export interface ChartReference {
  chart: string;
  version: string;
  /** OCI reference, directory or archive. */
  source?: string | undefined;
  /** File with public keys, with which helm verifies the signature before it uses the chart. */
  keyring?: string | undefined;
}

/** Changes this machine. */
export interface MachineCall {
  tool: 'docker' | 'systemctl' | 'install' | 'rm';
  args: readonly string[];
  input?: Secret;
}

/** The cluster and namespace of a call; empty for a tool of this machine. */
export const clusterOf = (call: Call): Partial<ClusterTarget> =>
  ('kubeTarget' in call && call.kubeTarget) || {};

/** For a person: helm upgrade, docker start. */
export const callName = (call: Call): string => {
  const [command] = 'args' in call ? call.args : call.verb.split(' ');
  return `${call.tool} ${command}`;
};
