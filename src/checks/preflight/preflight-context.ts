import type {Target} from '../../charts/releases/target.ts';
import type {StoredRevision} from '../../cluster/helm/release-record.ts';
import type {Claim, KubernetesObject, Pod, SecretObject} from '../../cluster/kubernetes/objects.ts';
import type {Permission} from '../../cluster/kubernetes/permissions.ts';
import type {ClusterFacts} from '../../cluster/platform/cluster-facts.ts';
import type {PlatformReadings} from '../../cluster/platform/readings.ts';
import type {RenderedChart} from '../../cluster/release/desired-release.ts';
import type {InstallFacts} from '../../cluster/release/read-release.ts';
import type {ReleaseName} from '../../ground/command-line.ts';
import {type Fact, isKnown, type Unknown} from '../../ground/fact.ts';
import type {ManifestAnswer} from '../../ground/system/system.ts';
import type {Values} from '../../ground/tree.ts';
import type {Get} from '../../settings/define.ts';
import type {Probed, ProbeObjects} from './probe/script.ts';

/** Everything that checks read: the desired release, and the state of the cluster and the tools. Plain data. */
export interface PreflightContext extends RenderedChart {
  name: ReleaseName;
  target: Target;
  /** Effective settings: given, otherwise from the values, otherwise the default. */
  get: Get;
  /** What the templates see: the values merged over the defaults of the chart. */
  values: Values;
  wantedSecrets: readonly RequiredSecret[];
  facts: ClusterFacts;
  /** Raw answers, where facts leave something out. Values of releases in it are not masked: never print them. */
  readings: PlatformReadings;
  /** The kubeconfig context in use, and the address of its API server. */
  context: Fact<InstallFacts['context']>;
  tools: {helm: Fact<string>; kubectl: Fact<string>};
  /** Whether this account has the permissions for all objects of the manifest and all reads of an install. */
  permissions: Fact<readonly ReviewedPermission[]>;
  /** Secrets that the values or the manifest reference, by name; undefined if not found. */
  secrets: ReadonlyMap<string, Fact<SecretObject | undefined>>;
  /** PersistentVolumeClaims of the namespace by name, in the same way. */
  claims: ReadonlyMap<string, Fact<Claim | undefined>>;
  live: LiveState;
  /** Absent without --image-registry. */
  mirror?: Mirror;
  token: string | undefined;
  /** What the probe pod found, or why there was none; absent without --probe. */
  probe?: {plan: ProbePlan; seen: Probed} | SkippedProbe;
  /** Absent without a token for the Scalr account. */
  account?: AccountFacts | undefined;
  now: Date;
}

/** The Scalr account that the agent connects to. */
export interface AccountFacts {
  host: string;
  /** Undefined where Scalr reports none. */
  limits: Fact<{agents: number | undefined; hasRelay: boolean | undefined}>;
  agents: Fact<readonly string[]>;
  /** Only with --pool. */
  pool?: Fact<{name: string; isForVcs: boolean}> | undefined;
}

/** The images of the install in --image-registry. */
export interface Mirror {
  /** With the answers of the registry to this machine. */
  images: readonly {image: string; answer: ManifestAnswer}[];
  /** Flags that select them, besides the chart; quoted for a shell. */
  flags: readonly string[];
}

/** What exists in the cluster and namespace of the release. */
export interface LiveState {
  /** The live object of each object of the manifest, by kind and name; undefined if not found. */
  objects: ReadonlyMap<string, Fact<KubernetesObject | undefined>>;
  /** Kind and name of the objects of the installed release; only read if an object does not belong to the release. */
  installed: ReadonlySet<string>;
  /** Of the namespace. */
  quotas: Fact<readonly ResourceQuota[]>;
  limitRanges: Fact<readonly LimitRange[]>;
  /** Pods of the namespace; only read if there is a ResourceQuota. */
  pods: Fact<readonly Pod[]>;
  /** Of all namespaces, and revisions of all agent releases; only read if there is a CRD of another version of agent-job. */
  customResources: Fact<readonly KubernetesObject[]>;
  revisions: Fact<readonly StoredRevision[]>;
  /** The account, as the API server knows it: jane, system:serviceaccount:ci:deployer */
  user: Fact<string>;
}

type Quantities = Readonly<Record<string, string>>;

export interface ResourceQuota extends KubernetesObject {
  spec?: {
    hard?: Quantities;
    scopes?: readonly string[];
    scopeSelector?: {
      matchExpressions?: readonly {
        scopeName: string;
        operator: string;
        values?: readonly string[];
      }[];
    };
  };
  status?: {hard?: Quantities; used?: Quantities};
}

export interface LimitRange extends KubernetesObject {
  spec?: {limits?: readonly LimitRangeItem[]};
}

export interface LimitRangeItem {
  /** Container, Pod or PersistentVolumeClaim. */
  type: string;
  max?: Quantities;
  min?: Quantities;
  default?: Quantities;
  defaultRequest?: Quantities;
  maxLimitRequestRatio?: Quantities;
}

/** A Secret that pods or settings reference. */
export interface RequiredSecret {
  name: string;
  keys: readonly string[];
  /** An install creates it, with the content that was given. */
  isGiven: boolean;
}

export interface NeededPermission extends Permission {
  /** The install works without it, but finds fewer causes. */
  isOptional: boolean;
}

export interface ReviewedPermission extends NeededPermission {
  isAllowed: boolean;
}

/** A planned probe, with the expectations for its findings. */
export interface ProbePlan extends ProbeObjects {
  image: string;
  url: string | undefined;
  /** Without user and password. */
  proxy: string | undefined;
  /** The same for each URL of --probe-url. */
  urlProxies: ReadonlyMap<string, string | undefined>;
  hasCertificates: boolean;
  /** What replaces objects that do not exist yet. */
  notes: readonly string[];
}

/** Why no probe was created. */
export interface SkippedProbe {
  because: string;
  remedy?: string;
  /** Only its manifests were requested. */
  isDry?: boolean;
}

/** The headings of checks, in the order in which they are printed. */
export const GROUPS = [
  ...(['Tools', 'Cluster', 'Permissions', 'Namespace', 'Release'] as const),
  ...(['Secrets', 'Storage', 'Network', 'Nodes', 'Scalr account', 'Probe'] as const),
  ...(['Machine', 'Docker', 'Agents', 'Hosts'] as const),
];

const STATUSES = ['fail', 'warn', 'skip', 'pass'] as const;

export type CheckStatus = (typeof STATUSES)[number];

/** `fail`: the install or its runs would fail, or a setting would be ignored; `skip`: the check could not run. */
export interface CheckResult {
  status: CheckStatus;
  /** What was found, with names and numbers; for a skipped check, the reason. */
  message: string;
  /** What to do about it, as a command or flag if possible. */
  remedy?: string;
}

/** One requirement of an install: in a cluster, or with another context on this machine. */
export interface Check<Context = PreflightContext> {
  /** Stable and unique, such as node-versions. */
  id: string;
  group: (typeof GROUPS)[number];
  /** A noun, so that it can stand before any result: Node readiness */
  title: string;
  /** Where to read more: an address, or the chart, version and file a fact comes from. */
  ref: string;
  /** Pure. Undefined if the check does not apply to these settings. */
  run(context: Context): CheckResult | undefined;
}

/** A check by its heading, its id and what is true when it passes. */
export const check = <Context = PreflightContext>(
  group: Check['group'],
  id: string,
  title: string,
  rest: Pick<Check<Context>, 'ref' | 'run'>,
): Check<Context> => ({id, group, title, ...rest});

/** A check with its result, as `preflight --json` prints it. */
export type Checked = Omit<Check, 'run'> & CheckResult;

/** Runs every check that applies to these settings. Pure. */
export const runChecks = <Context>(
  checks: readonly Check<Context>[],
  context: Context,
): Checked[] =>
  checks.flatMap(({run, ...check}) => {
    const result = run(context);
    return result === undefined ? [] : [{...check, ...result}];
  });

export const pass = (message: string): CheckResult => ({status: 'pass', message});
export const warn = (message: string, remedy: string): CheckResult => ({
  status: 'warn',
  message,
  remedy,
});
export const fail = (message: string, remedy: string): CheckResult => ({
  status: 'fail',
  message,
  remedy,
});
export const skip = (message: string, remedy?: string): CheckResult => ({
  status: 'skip',
  message,
  ...(remedy ? {remedy} : {}),
});

/** The result that follows from a fact. If it is unknown, the check is skipped; `task` completes its message "Cannot …": list nodes */
export const ifKnown = <T, R extends CheckResult | undefined>(
  fact: Fact<T>,
  task: string,
  conclude: (value: T, source: string) => R,
): R | CheckResult => (isKnown(fact) ? conclude(fact.value, fact.source) : skipUnknown(fact, task));

export function skipUnknown({unknown, because}: Unknown, task: string): CheckResult {
  return skip(
    `Cannot ${task}: ${because}`,
    unknown === 'forbidden'
      ? 'Run the command again with a user that has this permission'
      : undefined,
  );
}

/** Why a check was skipped, without its task: many checks may have the same reason. */
export const skipReason = ({message}: CheckResult): string => message.replace(/^Cannot .*?: /s, '');

/** The worst status of several results, with all messages of that status; undefined for no results. */
export function worstOf(results: readonly (CheckResult | undefined)[]): CheckResult | undefined {
  const status = STATUSES.find((each) => results.some((result) => result?.status === each));
  if (status === undefined) return undefined;
  const worst = results.filter((each) => each?.status === status);
  const joined = (key: 'message' | 'remedy'): string =>
    [...new Set(worst.flatMap((each) => each?.[key] ?? []))].join('; ');
  const remedy = joined('remedy');
  return {status, message: joined('message'), ...(remedy === '' ? {} : {remedy})};
}
