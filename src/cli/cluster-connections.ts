import type {ClusterAccess} from '../cluster/helm/releases.ts';
import type {KubernetesClient} from '../cluster/kubernetes/client.ts';
import type {ClusterIdentity} from '../cluster/kubernetes/cluster-identity.ts';
import type {SelectedCluster} from '../cluster/kubernetes/kubeconfig.ts';
import type {ClusterTarget} from '../ground/command-line.ts';
import {onFailure} from '../ground/errors.ts';
import type {ReadErrorKind} from '../ground/fact.ts';
import {type SettingFinding, warningOf} from '../ground/finding.ts';
import type {Processes} from '../ground/system/system.ts';
import {ignoredVariables} from '../ground/system/tool-environment.ts';
import type {App} from './app.ts';
import {type ClusterFlags, toolPaths} from './connection-flags.ts';

interface ConnectionsDeps {
  /** Shows what a credential plugin prints to the person who logs in; undefined if nobody can. */
  login: {show(line: string): void} | undefined;
  report(warnings: readonly SettingFinding[]): void;
  /** Ends connections that an interrupted command has left. */
  signal: AbortSignal;
}

export interface AccessOptions {
  /** False while questions are asked, which a login of the cluster must not delay. */
  waitsForLogin?: boolean;
}

/** The clusters of one command. Context, client and identity of each are read once, whatever changes meanwhile. */
export class ClusterConnections {
  readonly #app: App;
  readonly #deps: ConnectionsDeps;
  readonly #clients = new Map<string, Promise<KubernetesClient>>();
  readonly #identities = new Map<string, ClusterIdentity>();
  /** By path of the kubeconfig. */
  readonly #current = new Map<string, Promise<SelectedCluster | undefined>>();

  constructor(app: App, deps: ConnectionsDeps) {
    this.#app = app;
    this.#deps = deps;
  }

  /** One client per cluster. A login of a person can take longer than the time limit of the command, which starts afterwards. */
  async kubernetes(
    kubeTarget: ClusterTarget,
    flags: ClusterFlags,
    {waitsForLogin = true}: AccessOptions = {},
  ): Promise<KubernetesClient> {
    const {login, report, signal} = this.#deps;
    report(ignoredVariableWarnings(this.#app.env));
    const key = clusterKey(kubeTarget);
    const opening =
      this.#clients.get(key) ?? this.#app.kubernetes(kubeTarget, {...toolPaths(flags), login});
    this.#clients.set(key, opening);
    const client = await opening;
    // The first request reports the failure.
    if (login && waitsForLogin) await client.connect(signal).catch(() => undefined);
    return client;
  }

  /**
   * The flags with the context that is current now, so that every call reaches the cluster of the plan.
   * Unchanged if no context is current, for example in a pod.
   */
  async pinned<F extends ClusterFlags>(flags: F): Promise<F> {
    if (flags['kube-context'] !== undefined) return flags;
    const current = await this.#currentContext(flags);
    return current?.name ? {...flags, 'kube-context': current.name} : flags;
  }

  /** How to read and change a cluster. A change fails if its kubeconfig selects another cluster by then. */
  async accessTo(
    kubeTarget: ClusterTarget,
    flags: ClusterFlags,
    options?: AccessOptions,
  ): Promise<ClusterAccess> {
    const {throughApi} = await import('../cluster/kubernetes/through-api.ts');
    const kubernetes = await this.kubernetes(kubeTarget, flags, options);
    const processes = this.#app.processes(toolPaths(flags));
    const identity = await this.#identityOf(kubeTarget, {kubernetes, processes});
    return {
      kubernetes,
      processes: identity.guard(throughApi(processes, kubernetes)),
      identity,
      context: await this.#contextOf(kubeTarget),
      helmDriver: this.#app.env['HELM_DRIVER'],
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map(async (client) => (await client).close()));
  }

  /** Undefined if it cannot be read: the first request to the cluster reports why. */
  #currentContext({kubeconfig, ...flags}: ClusterFlags): Promise<SelectedCluster | undefined> {
    const key = kubeconfig ?? '';
    const read = async (): Promise<SelectedCluster> => {
      const {selectedCluster} = await import('../cluster/release/read-release.ts');
      const kubeTarget = {namespace: 'default', ...(kubeconfig ? {kubeconfig} : {})};
      return selectedCluster(kubeTarget, this.#app.processes(toolPaths(flags)));
    };
    const current = this.#current.get(key) ?? read().catch(onFailure(() => undefined));
    this.#current.set(key, current);
    return current;
  }

  /** What was read to pin the context of this target. */
  async #contextOf({kubeconfig = '', kubeContext = ''}: ClusterTarget) {
    const current = await this.#current.get(kubeconfig);
    return current?.name === kubeContext ? current : undefined;
  }

  /** One per cluster, because a plan of the wizard is carried out by the install. */
  async #identityOf(
    kubeTarget: ClusterTarget,
    tools: {kubernetes: KubernetesClient; processes: Processes},
  ): Promise<ClusterIdentity> {
    const {ClusterIdentity} = await import('../cluster/kubernetes/cluster-identity.ts');
    const key = clusterKey(kubeTarget);
    const {now, sleep} = this.#app;
    const onUnknown = ({kind}: {kind: ReadErrorKind}): void =>
      this.#deps.report([unverifiedWarning(kind)]);
    const identity =
      this.#identities.get(key) ??
      new ClusterIdentity(kubeTarget, {...tools, now, sleep, onUnknown});
    this.#identities.set(key, identity);
    return identity;
  }
}

const clusterKey = ({kubeconfig, kubeContext}: ClusterTarget): string =>
  JSON.stringify([kubeconfig, kubeContext]);

/** Variables of helm and kubectl that select another cluster than the flags. */
function ignoredVariableWarnings(env: App['env']): SettingFinding[] {
  const names = ignoredVariables(env);
  if (names.length === 0) return [];
  const verb = names.length === 1 ? 'is' : 'are';
  const message = `${names.join(', ')} ${verb} ignored. Select the cluster with --kube-context or --kubeconfig, and the namespace with --namespace.`;
  return [warningOf('IGNORED_VARIABLE', message)];
}

const unverifiedWarning = (kind: ReadErrorKind): SettingFinding =>
  warningOf(
    'UNVERIFIED_TARGET',
    `Cannot read the UID of namespace kube-system (${kind}). If the kubeconfig changes to another cluster during this command, the change cannot be detected.`,
  );
