import {type DiscoveredCluster, discoverCluster} from '../answers/cluster-answers.ts';
import {runPreflight} from '../checks/preflight/run-preflight.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {cachedAccess} from '../cluster/kubernetes/with-retries.ts';
import {type DesiredRelease, desiredRelease} from '../cluster/release/desired-release.ts';
import {anySignal} from '../ground/async.ts';
import type {ClusterTarget, ReleaseName} from '../ground/command-line.ts';
import {onFailure} from '../ground/errors.ts';
import {prepareInstall} from '../operations/install.ts';
import {chartSource} from '../settings/release.ts';
import {valuesDocument} from '../values/document.ts';
import type {Generated} from '../values/generate.ts';
import {type Contexts, readContexts} from '../wizard/choose-target.ts';
import type {ReviewedInstall} from '../wizard/edit.ts';
import type {InstalledAgent} from '../wizard/installed-agent.ts';
import type {Missing} from '../wizard/requirements.ts';
import {releaseName, toolPaths, waitingOf} from './flags.ts';
import {planPool} from './install-pool.ts';
import {installedAgent, poolInstallOf, tryRequirements} from './wizard-readings.ts';
import {flagsAt, nameAt, type WizardSession} from './wizard-session.ts';

/** After this time, the wizard asks instead of waiting for the cluster. A credential plugin alone takes seconds. */
const DISCOVERY_TIMEOUT_MS = 5000;

/** Readings that are started once for each key. */
class Readings<T> {
  readonly #started = new Map<string, Promise<T>>();

  of(key: unknown, start: () => Promise<T>, again = false): Promise<T> {
    const id = JSON.stringify(key);
    const reading = (again ? undefined : this.#started.get(id)) ?? start();
    this.#started.set(id, reading);
    return reading;
  }
}

/** The clusters that the user selects; each is read once. */
export class WizardCluster {
  readonly #session: WizardSession;
  readonly #discovered = new Readings<DiscoveredCluster>();
  readonly #releases = new Readings<InstalledAgent | undefined>();
  readonly #missing = new Readings<readonly Missing[]>();
  /** Of the plan. */
  #access: {key: string; cached: ClusterAccess} | undefined;

  constructor(session: WizardSession) {
    this.#session = session;
  }

  contexts(): Promise<Contexts> {
    const {flags, context} = this.#session;
    const {kubeTarget} = nameAt(this.#session);
    return readContexts(kubeTarget, context.app.processes(toolPaths(flags)), this.#shortly());
  }

  installed(kubeContext: string | undefined): Promise<InstalledAgent | undefined> {
    const name = nameAt(this.#session, kubeContext);
    return this.#releases.of(name, async () => {
      const access = await this.#session.accessTo(name.kubeTarget);
      return installedAgent(name, {...access, now: this.#app.now}, this.#shortly());
    });
  }

  read(kubeContext: string | undefined): Promise<DiscoveredCluster> {
    const {kubeTarget} = nameAt(this.#session, kubeContext);
    return this.#discovered.of(kubeTarget, async () =>
      discoverCluster(kubeTarget, await this.#cached(kubeTarget, this.#shortly())),
    );
  }

  /** Without a cluster, there is nothing to try. */
  lacking(kubeContext: string | undefined, again?: boolean): Promise<readonly Missing[]> {
    const {store} = this.#session;
    const {kubeTarget} = nameAt(this.#session, kubeContext);
    const source = store.get(chartSource);
    const start = async (): Promise<Missing[]> => {
      const access = await this.#session.accessTo(kubeTarget);
      const signal = this.#shortly();
      return tryRequirements({kubeTarget, access, signal, hasOwnChart: source !== undefined});
    };
    const ignored = onFailure((): Missing[] => []);
    const trying = this.#missing.of([kubeTarget, source], () => start().catch(ignored), again);
    // Read in the background from the first question on, too.
    this.installed(kubeContext).catch(() => undefined);
    return trying;
  }

  desired = (generated: Generated): DesiredRelease => {
    const name = releaseName(flagsAt(this.#session), generated.settings);
    return desiredRelease(generated, valuesDocument(generated), name);
  };

  /** The plan of an install. An edit does not read the cluster again. @throws ExpectedError */
  async prepare(given: Generated): Promise<ReviewedInstall> {
    const {interrupt} = this.#session;
    const name = releaseName(flagsAt(this.#session), given.settings);
    const key = JSON.stringify(name.kubeTarget);
    if (this.#access?.key !== key)
      this.#access = {key, cached: await this.#cached(name.kubeTarget, interrupt)};
    try {
      return await this.#prepareWith(this.#access.cached, name, given);
    } catch (error) {
      interrupt.throwIfAborted();
      this.#access = undefined;
      throw error;
    }
  }

  async #prepareWith(
    access: ClusterAccess,
    name: ReleaseName,
    given: Generated,
  ): Promise<ReviewedInstall> {
    const {context, flags, store, account, interrupt} = this.#session;
    const pool = store.pool && (await poolInstallOf(store.pool, account));
    const planned = pool && (await planPool(pool, {generated: given, name, access, context}));
    const generated = planned?.generated ?? given;
    const desired = this.desired(generated);
    const {now, sleep, registries} = this.#app;
    const choices = {...waitingOf(flags), now: now()};
    const {timeoutMs} = choices;
    const signal = anySignal(AbortSignal.timeout(timeoutMs), interrupt);
    const prepared = await prepareInstall(generated, desired, access, signal, choices);
    const {facts, manifest, plan} = prepared;
    const deps = {...access, now, sleep, registries, timeoutMs};
    const isChecked = !flags['skip-preflight'] && plan.steps.length > 0;
    const already = {manifest, context: facts.context};
    const checks = isChecked ? await runPreflight(generated, desired, deps, already) : [];
    return {plan, facts, checks, ...(planned ? {accountSteps: planned.steps} : {})};
  }

  get #app() {
    return this.#session.context.app;
  }

  #shortly(): AbortSignal {
    return anySignal(AbortSignal.timeout(DISCOVERY_TIMEOUT_MS), this.#session.interrupt);
  }

  async #cached(kubeTarget: ClusterTarget, signal: AbortSignal): Promise<ClusterAccess> {
    return cachedAccess(await this.#session.accessTo(kubeTarget), {
      signal,
      sleep: this.#app.sleep,
    });
  }
}
