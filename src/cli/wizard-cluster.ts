import {type DiscoveredCluster, discoverCluster} from '../answers/cluster-answers.ts';
import {type RequestedOn, requestedBesides} from '../checks/preflight/facts/node-load.ts';
import {readPodsOnNodes} from '../checks/preflight/read-live-state.ts';
import {readChecks} from '../checks/preflight/run-preflight.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import type {SecretObject} from '../cluster/kubernetes/objects.ts';
import {getObject, REQUEST_MS} from '../cluster/kubernetes/resources.ts';
import {cachedAccess} from '../cluster/kubernetes/with-retries.ts';
import {type DesiredRelease, desiredRelease} from '../cluster/release/desired-release.ts';
import {anySignal} from '../ground/async.ts';
import type {ClusterTarget, ReleaseName} from '../ground/command-line.ts';
import {onFailure} from '../ground/errors.ts';
import {knownValue} from '../ground/fact.ts';
import {Secret, tokenClaims} from '../ground/secret.ts';
import {prepareInstall} from '../operations/install.ts';
import {token, tokenFile, tokenSecret, tokenSecretKey} from '../settings/agent.ts';
import {cloud} from '../settings/cluster.ts';
import {chartSource} from '../settings/release.ts';
import {valuesDocument} from '../values/document.ts';
import type {GeneratedValues} from '../values/generate.ts';
import type {
  FactReaders,
  GatheredFacts,
  HeldToken,
  InstalledAgent,
  Missing,
  NamespaceObjects,
  OfferedPools,
} from '../wizard/gathered-facts.ts';
import type {ReviewedInstall} from '../wizard/prepare-review.ts';
import type {WizardState} from '../wizard/wizard-state.ts';
import {releaseName, waitingOf} from './connection-flags.ts';
import {planPool} from './install-pool.ts';
import {NO_OBJECTS, readNamespaceObjects} from './namespace-objects.ts';
import {installedAgent, offeredPools, poolInstallOf, tryRequirements} from './wizard-readings.ts';
import {discoverySignal, flagsAt, nameAt, type WizardSession} from './wizard-session.ts';

/** Reads the clusters that the user selects. */
export class WizardCluster {
  readonly #session: WizardSession;
  /** Of the plan. */
  #access: {key: string; cached: ClusterAccess} | undefined;

  constructor(session: WizardSession) {
    this.#session = session;
  }

  /** Readings for the facts of the wizard. */
  readers(): FactReaders {
    return {
      pools: async () => poolsToOffer(this.#session),
      cluster: (state) => this.#discover(state),
      installed: (state) => this.#installed(state).catch(onFailure(() => undefined)),
      lacking: (state) => this.#lacking(state).catch(onFailure(() => [])),
      objects: (state, facts) => this.#objects(state, facts).catch(onFailure(() => NO_OBJECTS)),
      requested: (state, facts) => this.#requested(state, facts).catch(onFailure(() => undefined)),
      held: (state) => this.#held(state).catch(onFailure(() => undefined)),
    };
  }

  async #installed(state: WizardState): Promise<InstalledAgent | undefined> {
    const name = nameAt(this.#session, state);
    const access = await this.#session.accessTo(name.kubeTarget);
    return installedAgent(name, {...access, now: this.#app.now}, this.#shortly());
  }

  async #discover(state: WizardState): Promise<DiscoveredCluster> {
    const {kubeTarget} = nameAt(this.#session, state);
    return discoverCluster(kubeTarget, await this.#cached(kubeTarget, this.#shortly()));
  }

  async #lacking(state: WizardState): Promise<Missing[]> {
    const {kubeTarget} = nameAt(this.#session, state);
    return tryRequirements({
      kubeTarget,
      access: await this.#session.accessTo(kubeTarget),
      signal: this.#shortly(),
      hasOwnChart: state.answers.get(chartSource) !== undefined,
    });
  }

  async #objects(state: WizardState, facts: GatheredFacts): Promise<NamespaceObjects> {
    const {kubeTarget} = nameAt(this.#session, state);
    const {kubernetes} = await this.#session.accessTo(kubeTarget);
    const cluster = await facts.read('cluster', state);
    if (!cluster.isRead) return NO_OBJECTS;
    const isOpenShift = cluster.answers?.answer(cloud) === 'openshift';
    const where = {namespace: kubeTarget.namespace, isOpenShift};
    return readNamespaceObjects(where, kubernetes, this.#shortly());
  }

  /** Not read where nodes are added for pods. */
  async #requested(state: WizardState, facts: GatheredFacts): Promise<RequestedOn | undefined> {
    const name = nameAt(this.#session, state);
    const {kubernetes} = await this.#session.accessTo(name.kubeTarget);
    const {nodes, addsNodes} = await facts.read('cluster', state);
    if (nodes === undefined || addsNodes !== undefined) return undefined;
    const options = {signal: this.#shortly(), idleMs: REQUEST_MS};
    const pods = knownValue(await readPodsOnNodes({kubernetes, options}));
    return pods && requestedBesides(name, pods);
  }

  async #held(state: WizardState): Promise<HeldToken | undefined> {
    const {get, isGiven} = state.answers;
    if (!isGiven(tokenSecret)) return undefined;
    const {kubeTarget} = nameAt(this.#session, state);
    const {kubernetes} = await this.#session.accessTo(kubeTarget);
    const {namespace} = kubeTarget;
    const options = {signal: this.#shortly(), idleMs: REQUEST_MS, namespace};
    const name = get(tokenSecret) ?? '';
    const {object} = await getObject<SecretObject>(kubernetes, 'secrets', name, options);
    return object && heldIn(object, get(tokenSecretKey));
  }

  desired = (state: WizardState, generated: GeneratedValues): DesiredRelease => {
    const name = releaseName(flagsAt(this.#session, state), generated.settings);
    return desiredRelease(generated, valuesDocument(generated), name);
  };

  /** The plan of an install. An edit does not read the cluster again. @throws ExpectedError */
  async prepare(state: WizardState, given: GeneratedValues): Promise<ReviewedInstall> {
    const {interrupt} = this.#session;
    const name = releaseName(flagsAt(this.#session, state), given.settings);
    const key = JSON.stringify(name.kubeTarget);
    if (this.#access?.key !== key)
      this.#access = {key, cached: await this.#cached(name.kubeTarget, interrupt)};
    try {
      return await this.#prepareWith(this.#access.cached, name, {state, given});
    } catch (error) {
      interrupt.throwIfAborted();
      this.#access = undefined;
      throw error;
    }
  }

  async #prepareWith(
    access: ClusterAccess,
    name: ReleaseName,
    {state, given}: {state: WizardState; given: GeneratedValues},
  ): Promise<ReviewedInstall> {
    const {context, flags, account, interrupt} = this.#session;
    const pool = state.pool && (await poolInstallOf(state.pool, account));
    const planned = pool && (await planPool(pool, {generated: given, name, access, context}));
    const generated = planned?.generated ?? given;
    const desired = this.desired(state, generated);
    const {now, sleep, registries} = this.#app;
    const choices = {...waitingOf(flags), now: now()};
    const {timeoutMs} = choices;
    const signal = anySignal(AbortSignal.timeout(timeoutMs), interrupt);
    const prepared = await prepareInstall(generated, desired, access, {...choices, signal});
    const {facts, manifest, plan} = prepared;
    const deps = {...access, now, sleep, registries, timeoutMs};
    // An installed agent may lack something, even if its settings remain.
    const isChecked =
      !flags['skip-preflight'] && (plan.steps.length > 0 || state.installed !== undefined);
    const already = {manifest, context: facts.context};
    const checks = isChecked ? await readChecks(generated, desired, deps, already) : [];
    return {plan, facts, checks, ...(planned ? {accountSteps: planned.steps} : {})};
  }

  get #app() {
    return this.#session.context.app;
  }

  #shortly(): AbortSignal {
    return discoverySignal(this.#session);
  }

  async #cached(kubeTarget: ClusterTarget, signal: AbortSignal): Promise<ClusterAccess> {
    return cachedAccess(await this.#session.accessTo(kubeTarget), {
      signal,
      sleep: this.#app.sleep,
    });
  }
}

/** The content of the usual key, or the only token in another one. */
function heldIn({data = {}}: SecretObject, usual: string | undefined): HeldToken {
  const keys = Object.keys(data);
  const textOf = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  const others = keys.filter((each) => tokenClaims(textOf(each)) !== undefined);
  const only = others.length === 1 ? others[0] : undefined;
  const key = keys.find((each) => each === usual) ?? only;
  return key === undefined ? {keys} : {keys, key, token: new Secret(textOf(key))};
}

/** A token, or the Secret that contains it, needs no pool. */
const NO_POOL = [token, tokenFile, tokenSecret];

async function poolsToOffer({
  flags,
  given,
  context,
}: WizardSession): Promise<OfferedPools | undefined> {
  const isSettled =
    flags.account === false ||
    flags.pool !== undefined ||
    NO_POOL.some((setting) => given.isExplicit(setting));
  return isSettled ? undefined : offeredPools(given, context);
}
