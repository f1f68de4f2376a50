import type {Target} from '../charts/define.ts';
import type {Values} from '../charts/tree.ts';
import type {ClusterFacts} from '../cluster/facts/cluster-facts.ts';
import type {Fact} from '../cluster/facts/fact.ts';
import type {Readings} from '../cluster/facts/readings.ts';
import type {InstallFacts, SecretObject} from '../cluster/install-facts.ts';
import type {Claim, KubernetesObject} from '../cluster/objects.ts';
import type {Probed} from '../cluster/probe.ts';
import type {ReleaseName} from '../ports/place.ts';
import type {Get} from '../settings/define.ts';
import type {ProbePlan} from './probe/plan-probe.ts';
import type {Unprobed} from './probe/prepare-probe.ts';

/** Everything checks look at: what is wanted, and what the cluster and the tools say. Plain data. */
export interface Situation {
  name: ReleaseName;
  target: Target;
  /** What holds: what was given, else what the values say, else the default. */
  get: Get;
  /** What the templates see: the values over the defaults of the chart. */
  values: Values;
  /** Secrets that the values name, with the keys that have to be in them; `isGiven` where install would make it. */
  wantedSecrets: readonly {name: string; keys: readonly string[]; isGiven: boolean}[];
  /** What the chart makes of the values, rendered by the operator's helm, its definitions included. */
  manifest: Fact<readonly KubernetesObject[]>;
  /** What helm says where this server is too old for the chart; the manifest is then that of a newer one. */
  refusal?: string;
  facts: ClusterFacts;
  /** Raw answers, where facts leave something out. Values of releases in it are not masked: never print them. */
  readings: Readings;
  /** The context that is in use, and where its API server is. */
  context: Fact<InstallFacts['context']>;
  tools: {helm: Fact<string>; kubectl: Fact<string>};
  /** What the API server says this account may do, for every object of the manifest and everything an install reads. */
  permissions: Fact<readonly Permission[]>;
  /** Secrets of the namespace by name, all that the values or the manifest name; a value of undefined is one that is not there. */
  secrets: ReadonlyMap<string, Fact<SecretObject | undefined>>;
  /** Claims of the namespace by name, in the same way. */
  claims: ReadonlyMap<string, Fact<Claim | undefined>>;
  /** The agent pool token itself, where it was given. */
  token: string | undefined;
  /** What a probe said, or why there is none; absent where nobody asked for one. */
  probe?: {plan: ProbePlan; seen: Probed} | Unprobed;
  now: Date;
}

export interface Permission {
  verb: string;
  /** As kubectl spells it, with its group: deployments.apps */
  resource: string;
  /** Undefined for what lies in no namespace. */
  namespace?: string;
  isAllowed: boolean;
  /** Without it the install still works, but says less. */
  isOptional: boolean;
}
