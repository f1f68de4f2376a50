import type {DiscoveredCluster} from '../answers/cluster-answers.ts';
import type {ChartRequirements} from '../charts/recommend.ts';
import type {Amounts} from '../checks/preflight/facts/amounts.ts';
import type {RequestedOn} from '../checks/preflight/facts/node-load.ts';
import type {ObjectFinding} from '../ground/finding.ts';
import type {Secret} from '../ground/secret.ts';
import {tokenSecret, tokenSecretKey} from '../settings/agent.ts';
import type {Setting} from '../settings/define.ts';
import {chartSource, namespace, release} from '../settings/release.ts';
import {hasCluster, placeContext} from './place.ts';
import type {WizardState} from './wizard-state.ts';

/** An agent pool as the wizard offers it. */
export interface OfferedPool {
  id: string;
  name: string;
  isForVcs: boolean;
  /** Its agents, and what is linked to it. */
  description: string;
}

/** The account whose token of a user is on this machine. */
export interface OfferedPools {
  host: string;
  pools: readonly OfferedPool[];
  /** Why they cannot be read. */
  problem?: string | undefined;
}

/** Something that an install needs and this machine or the cluster lacks. */
export interface Missing {
  what: 'helm' | 'chart' | 'permissions' | 'cluster';
  /** A sentence without its full stop. */
  text: string;
}

/** A release of the selected cluster, as the wizard opens it. */
export interface InstalledAgent {
  release: string;
  namespace: string;
  chart: string;
  version: string;
  /** Of the newest revision, as Helm stores it. */
  status: string;
  /** What runs now; undefined if it cannot be read. */
  live: string | undefined;
  /** Why it is not ready. */
  cause?: ObjectFinding | undefined;
  /** The log of the agent says so. */
  isTokenRejected: boolean;
  /** The Secret that a new token is written to; undefined if it is not known. */
  newTokenSecret?: string | undefined;
  /** The settings in its values, by ID; with the token if the values contain it. */
  settings: ReadonlyMap<string, unknown>;
}

/** What the chosen Secret holds. */
export interface HeldToken {
  keys: readonly string[];
  /** The key with the token; undefined if no key has one. */
  key?: string;
  token?: Secret;
}

/** What answers can refer to: objects of the namespace, and the proxy of the cluster. */
export interface NamespaceObjects {
  claims: readonly {name: string; description: string}[];
  secrets: readonly string[];
  serviceAccounts: readonly string[];
  /** What its quotas of all pods leave, each by resource. */
  quotas: readonly Amounts[];
  /** Annotations of service accounts with a cloud identity, by key. */
  identities: readonly {account: string; key: string; value: string}[];
  /** The proxy that an OpenShift cluster uses. */
  proxy?: {https: string; bypass: readonly string[]};
}

/** What is known of the cluster and the account. */
interface Facts {
  cluster: DiscoveredCluster;
  /** The release of the chosen name. */
  installed: InstalledAgent | undefined;
  /** What an install lacks. */
  lacking: readonly Missing[];
  /** The pools of the account, if there is a token of a user for it. */
  pools: OfferedPools | undefined;
  objects: NamespaceObjects;
  /** What other pods have requested; undefined if that cannot be read. */
  requested: RequestedOn | undefined;
  /** Undefined if no Secret is chosen, or if it does not exist or cannot be read. */
  held: HeldToken | undefined;
}

/** The facts that have arrived. */
export type KnownFacts = Partial<Facts>;

/** How to read each fact; some depend on others. */
export type FactReaders = {
  readonly [F in keyof Facts]: (state: WizardState, facts: GatheredFacts) => Promise<Facts[F]>;
};

/** The answers that a fact depends on, besides the cluster. */
const DEPENDS_ON: Readonly<Record<keyof Facts, readonly Setting[]>> = {
  cluster: [namespace],
  installed: [namespace, release],
  lacking: [namespace, chartSource],
  pools: [],
  objects: [namespace],
  requested: [namespace, release],
  held: [namespace, tokenSecret, tokenSecretKey],
};
export type FactName = keyof Facts;

const FACTS = Object.keys(DEPENDS_ON) as FactName[];

/** Reads each fact once for each cluster and the answers that it depends on. */
export class GatheredFacts {
  readonly #readers: () => Promise<FactReaders>;
  readonly #started = new Map<string, Promise<unknown>>();
  readonly #arrived = new Map<string, unknown>();

  /** The readers are loaded with the first fact. */
  constructor(readers: () => Promise<FactReaders>) {
    this.#readers = readers;
  }

  /** Reads it, or returns what was read before unless `again`. */
  read<F extends FactName>(fact: F, state: WizardState, again = false): Promise<Facts[F]> {
    const key = keyOf(fact, state);
    const started = again ? undefined : this.#started.get(key);
    if (started !== undefined) return started as Promise<Facts[F]>;
    const reading = this.#read(fact, state, key);
    this.#started.set(key, reading);
    return reading;
  }

  async #read<F extends FactName>(fact: F, state: WizardState, key: string): Promise<Facts[F]> {
    const readers = await this.#readers();
    const found = await readers[fact](state, this);
    this.#arrived.set(key, found);
    return found;
  }

  /** Starts to read everything about the cluster of the state, in the background. */
  start(state: WizardState): void {
    const facts = state.place?.kind === 'kubernetes' ? FACTS : (['cluster'] as const);
    if (hasCluster(state.place)) for (const fact of facts) this.read(fact, state).catch(ignore);
  }

  /** The same for states in which these facts are the same. */
  keyOf(state: WizardState, facts: readonly FactName[]): string {
    return facts.map((fact) => keyOf(fact, state)).join(' ');
  }

  isKnown(fact: FactName, state: WizardState): boolean {
    return this.#arrived.has(keyOf(fact, state));
  }

  known(state: WizardState): KnownFacts {
    if (!hasCluster(state.place)) return {};
    return Object.fromEntries(
      FACTS.map((fact) => [fact, this.#arrived.get(keyOf(fact, state))]).filter(
        ([fact]) => state.place?.kind === 'kubernetes' || fact === 'cluster',
      ),
    );
  }
}

const ignore = (): void => undefined;

function keyOf(fact: FactName, state: WizardState): string {
  const settings = DEPENDS_ON[fact];
  const where = fact === 'pools' ? [] : [placeContext(state)];
  // A Secret that is chosen can have the name that a new one would have.
  const chosen = fact === 'held' ? [state.answers.isGiven(tokenSecret)] : [];
  return JSON.stringify([fact, ...where, ...settings.map(state.answers.get), ...chosen]);
}

/** Facts that exclude charts. */
export const requirementsOf = ({cluster}: KnownFacts): ChartRequirements => cluster?.facts ?? {};

/** A cluster that does not answer, and everything else that an install lacks. */
export function missingOf({cluster, lacking = []}: KnownFacts): readonly Missing[] {
  return cluster === undefined || cluster.isRead
    ? lacking
    : [{what: 'cluster', text: cluster.summary}, ...lacking];
}
