import {CHART_REPOSITORY, type ClusterTarget, commandLine} from './command-line.ts';
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
  resources?: readonly Resource[];
  /** Limits `resources` to objects with these labels. */
  selector?: string;
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
export interface Resource {
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

type HelmVerb =
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

/** The arguments of the tool. */
export function argumentsOf(call: Call): readonly string[] {
  if ('args' in call) return call.args;
  return call.tool === 'helm' ? helmArguments(call) : kubectlArguments(call);
}

function kubectlArguments(call: KubectlCall): string[] {
  const {verb, resources = [], selector, waitsFor, flags = [], requestTimeout, kubeTarget} = call;
  return [
    ...verb.split(' '),
    ...(call.isDryRun ? ['--dry-run=server'] : []),
    ...(waitsFor ? [`--for=${waitsFor}`] : []),
    ...resourceArguments(resources),
    ...(selector === undefined ? [] : [`--selector=${selector}`]),
    ...flags,
    ...(requestTimeout === undefined ? [] : [`--request-timeout=${requestTimeout}`]),
    ...(call.input === undefined ? [] : ['--filename', '-']),
    ...targetFlags(kubeTarget, '--context').flat(),
  ];
}

/** `secret/token`, or `jobs,pods` for all objects of kinds. */
function resourceArguments(resources: readonly Resource[]): string[] {
  const kinds = resources.flatMap(({kind, name}) => (name === undefined ? [kind] : []));
  const objects = resources.flatMap(({kind, name}) =>
    name === undefined ? [] : [`${kind}/${name}`],
  );
  return kinds.length === 0 ? objects : [kinds.join(','), ...objects];
}

function helmArguments({verb, release, revision, chart, flags = [], input, kubeTarget}: HelmCall) {
  return [
    ...verb.split(' '),
    ...(release === undefined ? [] : [release]),
    ...(chart === undefined ? [] : [chartName(chart), ...chartFlags(chart).flat()]),
    ...revisionArguments(verb, revision),
    ...flags,
    ...(input === undefined ? [] : ['--values', '-']),
    ...(kubeTarget === undefined ? [] : targetFlags(kubeTarget, '--kube-context').flat()),
  ];
}

export const chartName = ({chart, source}: ChartReference): string => source ?? chart;

/** Flags of helm that select the version of a chart, each with its value. */
export function chartFlags({version, source, keyring}: ChartReference): string[][] {
  const isInRegistry = source?.startsWith('oci://') === true;
  return [
    ...(source === undefined ? [['--repo', CHART_REPOSITORY]] : []),
    ...(source === undefined || isInRegistry ? [['--version', version]] : []),
    ...(keyring === undefined ? [] : [['--verify'], ['--keyring', keyring]]),
  ];
}

function revisionArguments(verb: HelmVerb, revision: number | undefined): string[] {
  if (revision === undefined) return [];
  return verb === 'rollback' ? [String(revision)] : ['--revision', String(revision)];
}

/** Flags of kubectl (`--context`) or helm that select a namespace, each with its value. */
export const targetFlags = (
  {namespace, kubeContext, kubeconfig}: ClusterTarget,
  contextFlag: '--context' | '--kube-context',
): string[][] => [
  ['--namespace', namespace],
  ...(kubeContext ? [[contextFlag, kubeContext]] : []),
  ...(kubeconfig ? [['--kubeconfig', kubeconfig]] : []),
];

/** The cluster and namespace of a call; empty for a tool of this machine. */
export const targetOf = (call: Call): Partial<ClusterTarget> =>
  ('kubeTarget' in call && call.kubeTarget) || {};

/** For a person: helm upgrade, docker start. */
export const callName = (call: Call): string => {
  const [command] = 'args' in call ? call.args : call.verb.split(' ');
  return `${call.tool} ${command}`;
};

/** A call in shell syntax; standard input is only described, in a comment. */
export function callText(call: Call): string {
  const command = commandLine({tool: call.tool, args: argumentsOf(call)});
  if (call.input === undefined) return command;
  const what = call.tool === 'helm' ? 'values' : 'an object that may contain a secret';
  return `${command} # reads ${what} from standard input`;
}
