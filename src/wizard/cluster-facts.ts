import type {DiscoveredCluster} from '../answers/cluster-answers.ts';
import type {ChartRequirements} from '../charts/recommend.ts';
import type {Setting} from '../settings/define.ts';
import {chartSource, namespace, release} from '../settings/release.ts';
import type {OfferedPools} from './ask-pool.ts';
import type {Missing} from './ask-requirements.ts';
import type {InstalledAgent} from './installed-agent.ts';
import {contextOf, hasCluster} from './place.ts';
import type {WizardState} from './wizard-state.ts';

/** What answers can refer to: objects of the namespace, and the proxy of the cluster. */
export interface NamespaceObjects {
  claims: readonly {name: string; description: string}[];
  secrets: readonly string[];
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
}

/** The facts that have arrived. */
export type Known = Partial<Facts>;

/** How to read each fact; some depend on others. */
export type FactReaders = {
  readonly [F in keyof Facts]: (state: WizardState, facts: ClusterFacts) => Promise<Facts[F]>;
};

/** The answers that a fact depends on, besides the cluster. */
const DEPENDS_ON: Readonly<Record<keyof Facts, readonly Setting[]>> = {
  cluster: [namespace],
  installed: [namespace, release],
  lacking: [namespace, chartSource],
  pools: [],
  objects: [namespace],
};
export type Fact = keyof Facts;

const FACTS = Object.keys(DEPENDS_ON) as Fact[];

/** Reads each fact once for each cluster and the answers that it depends on. */
export class ClusterFacts {
  readonly #readers: FactReaders;
  readonly #started = new Map<string, Promise<unknown>>();
  readonly #arrived = new Map<string, unknown>();

  constructor(readers: FactReaders) {
    this.#readers = readers;
  }

  /** Reads it, or returns what was read before unless `again`. */
  read<F extends Fact>(fact: F, state: WizardState, again = false): Promise<Facts[F]> {
    const key = keyOf(fact, state);
    const started = again ? undefined : this.#started.get(key);
    if (started !== undefined) return started as Promise<Facts[F]>;
    const reading = this.#readers[fact](state, this).then((found) => {
      this.#arrived.set(key, found);
      return found;
    });
    this.#started.set(key, reading);
    return reading;
  }

  /** Starts to read everything about the cluster of the state, in the background. */
  start(state: WizardState): void {
    const facts = state.place?.kind === 'kubernetes' ? FACTS : (['cluster'] as const);
    if (hasCluster(state.place)) for (const fact of facts) this.read(fact, state).catch(ignore);
  }

  /** The same for states in which these facts are the same. */
  keyOf(state: WizardState, facts: readonly Fact[]): string {
    return facts.map((fact) => keyOf(fact, state)).join(' ');
  }

  isKnown(fact: Fact, state: WizardState): boolean {
    return this.#arrived.has(keyOf(fact, state));
  }

  known(state: WizardState): Known {
    if (!hasCluster(state.place)) return {};
    return Object.fromEntries(
      FACTS.map((fact) => [fact, this.#arrived.get(keyOf(fact, state))]).filter(
        ([fact]) => state.place?.kind === 'kubernetes' || fact === 'cluster',
      ),
    );
  }
}

const ignore = (): void => undefined;

function keyOf(fact: Fact, state: WizardState): string {
  const settings = DEPENDS_ON[fact];
  const where = fact === 'pools' ? [] : [contextOf(state)];
  return JSON.stringify([fact, ...where, ...settings.map(state.answers.get)]);
}

/** Facts that exclude charts. */
export const requirementsOf = ({cluster}: Known): ChartRequirements => cluster?.facts ?? {};
