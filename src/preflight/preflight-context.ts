import type {Target} from '../charts/define.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import type {Fact} from '../ground/fact.ts';
import type {Values} from '../ground/tree.ts';
import type {Claim, KubernetesObject, Pod, SecretObject} from '../kubernetes/objects.ts';
import type {Permission} from '../kubernetes/permissions.ts';
import type {RenderedChart} from '../operations/render-chart.ts';
import type {ClusterFacts} from '../platform/cluster-facts.ts';
import type {PlatformReadings} from '../platform/readings.ts';
import type {ManifestAnswer} from '../ports/connections.ts';
import type {InstallFacts} from '../release/read-release.ts';
import type {Get} from '../settings/define.ts';
import type {Probed, ProbeObjects} from './probe/probe.ts';

/** Everything that checks read: the wanted release, and the state of the cluster and the tools. Plain data. */
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
  /** The agent pool token, if given. */
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
  /** Names of the agents of the account that are not offline. */
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
  /** The account, as the API server knows it: jane, system:serviceaccount:ci:deployer */
  user: Fact<string>;
}

type Quantities = Readonly<Record<string, string>>;

export interface ResourceQuota extends KubernetesObject {
  spec?: {
    hard?: Quantities;
    scopes?: readonly string[];
    scopeSelector?: {matchExpressions?: readonly {scopeName: string; operator: string; values?: readonly string[]}[]};
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
  /** Keys that must be in it. */
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
