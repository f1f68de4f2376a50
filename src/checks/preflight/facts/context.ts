import type {Target} from '../../../charts/releases/target.ts';
import type {StoredRevision} from '../../../cluster/helm/release-record.ts';
import type {
  Claim,
  KubernetesObject,
  Pod,
  SecretObject,
} from '../../../cluster/kubernetes/objects.ts';
import type {Permission} from '../../../cluster/kubernetes/permissions.ts';
import type {ClusterFacts} from '../../../cluster/platform/cluster-facts.ts';
import type {PlatformReadings} from '../../../cluster/platform/readings.ts';
import type {RenderedChart} from '../../../cluster/release/desired-release.ts';
import type {InstallFacts} from '../../../cluster/release/read-release.ts';
import type {ReleaseName} from '../../../ground/command-line.ts';
import type {Fact} from '../../../ground/fact.ts';
import type {ManifestAnswer} from '../../../ground/system/system.ts';
import type {Values} from '../../../ground/tree.ts';
import type {Get} from '../../../settings/define.ts';
import type {LimitRange, ResourceQuota} from './namespace-limits.ts';
import type {ProbeOutcome, ProbePlan, SkippedProbe} from './probe.ts';

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
  /** Service accounts of the pods that the chart does not create, in the same way. */
  accounts: ReadonlyMap<string, Fact<KubernetesObject | undefined>>;
  live: LiveState;
  /** What the API server answered to every object and pod, without storing them. */
  admission: Fact<readonly AdmissionTrial[]>;
  /** Absent without --image-registry. */
  mirror?: Mirror;
  token: string | undefined;
  /** What the probe pod found, or why there was none; absent without --probe. */
  probe?: {plan: ProbePlan; seen: ProbeOutcome} | SkippedProbe;
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
  /** Of all namespaces, without finished ones; only read if nothing adds nodes. */
  podsOnNodes: Fact<readonly Pod[]>;
  /** Of all namespaces, and revisions of all agent releases; only read if there is a CRD of another version of agent-job. */
  customResources: Fact<readonly KubernetesObject[]>;
  revisions: Fact<readonly StoredRevision[]>;
  /** The account, as the API server knows it: jane, system:serviceaccount:ci:deployer */
  user: Fact<string>;
  /** SCCs of OpenShift that every service account of the pods may use, restricted-v2 left out. */
  sccs: Fact<readonly string[]>;
}

/** An object that the API server was asked to admit, or a pod of it. */
export interface AdmissionTrial {
  /** Pod of Deployment scalr-agent */
  what: string;
  object: KubernetesObject;
  /** Whose template the pod has. */
  owner?: KubernetesObject;
  /** Containers that webhooks add to the pod. */
  injected?: readonly string[];
  /** Why it was rejected, in the words of the API server. */
  rejection?: string;
  /** Why it could not be tried. */
  untried?: string;
}

/** Why nothing could be tried in it. */
export const NO_NAMESPACE = 'its namespace does not exist yet';

export type RejectedTrial = AdmissionTrial & {rejection: string};

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
