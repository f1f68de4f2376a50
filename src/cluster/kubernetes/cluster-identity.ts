import type {Call} from '../../ground/call.ts';
import {type ClusterTarget, kubectlCommand, type ProcessResult} from '../../ground/command-line.ts';
import {ExitCode, type ExpectedError, failed} from '../../ground/errors.ts';
import type {ReadError} from '../../ground/fact.ts';
import type {Processes} from '../../ground/system/system.ts';
import {VerifiedCall} from '../../ground/system/verified-call.ts';
import {isForbidden, isRetryable, jsonFrom} from '../../ground/tool-errors.ts';
import type {KubernetesClient} from './client.ts';
import {getRaw} from './kubectl.ts';
import type {KubernetesObject} from './objects.ts';
import {REQUIRED_MS} from './resources.ts';

/** Its UID identifies a cluster: the namespace is created with the cluster, and never again. */
const NAMESPACE = 'kube-system';
const PATH = `/api/v1/namespaces/${NAMESPACE}`;

/** How often a change through the connection of the plan, which cannot reach another cluster, is verified. */
const VERIFIED_MS = 1000;
const PAUSES_MS = [500, 1500];

interface IdentityDeps {
  kubernetes: Pick<KubernetesClient, 'get'>;
  /** Starts a process of kubectl for each call, which reads the kubeconfig again. */
  processes: Processes;
  now(): Date;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Called if the UID cannot be read, so that a change of the cluster is not noticed. */
  onUnknown(reason: ReadError): void;
}

/** The cluster of a plan: whether the kubeconfig still selects it when something changes. */
export class ClusterIdentity {
  #planned: Promise<string | undefined> | undefined;
  /** Why the UID could not be read the last time, other than for a missing permission. */
  #unread: ReadError | undefined;
  #verifiedAt = 0;
  readonly #kubeTarget: ClusterTarget;
  readonly #deps: IdentityDeps;

  constructor(kubeTarget: ClusterTarget, deps: IdentityDeps) {
    this.#kubeTarget = kubeTarget;
    this.#deps = deps;
  }

  /** The UID of the cluster that the plan is made for, read once; undefined if it is unknown. */
  planned(signal: AbortSignal): Promise<string | undefined> {
    this.#planned ??= this.#readPlanned(signal);
    return this.#planned;
  }

  /** The same calls, but one that changes something fails if the kubeconfig selects another cluster now. */
  guard(processes: Processes): Processes {
    return {
      run: (call, options) => processes.run(call, options),
      start: (call) => new VerifiedCall(processes, (signal) => this.#verified(call, signal)),
    };
  }

  async #readPlanned(signal: AbortSignal): Promise<string | undefined> {
    const {kubernetes, onUnknown} = this.#deps;
    const answer = await kubernetes.get(PATH, {signal, idleMs: REQUIRED_MS});
    if (answer.error === undefined) return uidOf(answer.body);
    if (answer.error.kind === 'forbidden') onUnknown(answer.error);
    else {
      // Read again before a change; until then, the command itself reports what is wrong.
      this.#planned = undefined;
      this.#unread = answer.error;
    }
    return undefined;
  }

  /** @throws ExpectedError for another cluster */
  async #verified(
    call: Call,
    signal: AbortSignal,
  ): Promise<{call: Call} | {failure: ProcessResult}> {
    const age = this.#deps.now().getTime() - this.#verifiedAt;
    if (isRequest(call) && age < VERIFIED_MS) return {call};
    const planned = await this.planned(signal);
    if (planned === undefined && this.#unread !== undefined) this.#deps.onUnknown(this.#unread);
    const failure = planned === undefined ? undefined : await this.#compare(planned, signal);
    if (failure !== undefined) return {failure};
    this.#verifiedAt = this.#deps.now().getTime();
    return {call};
  }

  /** What kubectl reported if it could not read the UID. @throws ExpectedError for another one */
  async #compare(planned: string, signal: AbortSignal): Promise<ProcessResult | undefined> {
    const call = getRaw(this.#kubeTarget, PATH);
    const outcome = await this.#read(call, signal);
    if (isForbidden(outcome))
      throw clusterChanged(this.#kubeTarget, planned, 'cannot be read anymore');
    if (outcome.exitCode !== ExitCode.ok) return outcome;
    const found = uidOf(jsonFrom<KubernetesObject>(call, outcome.stdout));
    if (found !== planned) throw clusterChanged(this.#kubeTarget, planned, `has the UID ${found}`);
    return undefined;
  }

  async #read(call: Call, signal: AbortSignal): Promise<ProcessResult> {
    const {processes, sleep} = this.#deps;
    for (const pause of PAUSES_MS) {
      const outcome = await processes.run(call, {signal});
      if (outcome.exitCode === ExitCode.ok || !isRetryable(outcome) || signal.aborted)
        return outcome;
      await sleep(pause, signal);
    }
    return processes.run(call, {signal});
  }
}

/** Sent through the connection of the plan. */
const isRequest = (call: Call): boolean => call.tool === 'kubectl' && call.requests !== undefined;

const uidOf = (namespace: unknown): string | undefined =>
  (namespace as Partial<KubernetesObject> | undefined)?.metadata?.uid;

function clusterChanged(
  {kubeContext, kubeconfig}: ClusterTarget,
  planned: string,
  found: string,
): ExpectedError {
  const cluster = {...(kubeContext && {kubeContext}), ...(kubeconfig && {kubeconfig})};
  const selection = kubeContext === undefined ? 'The kubeconfig' : `Context ${kubeContext}`;
  return failed(
    'TARGET_CHANGED',
    `${selection} no longer selects the cluster of the plan. Namespace ${NAMESPACE} had the UID ${planned}, and now it ${found}. Nothing more was changed.`,
    [
      `Check which cluster is selected: ${kubectlCommand(cluster, 'cluster-info')}`,
      'Select the cluster of the plan again, then run the same command',
    ],
  );
}
