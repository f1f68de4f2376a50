import type {ClusterApi, Trouble} from '../ports/cluster-api.ts';
import type {Place} from '../ports/place.ts';
import {toolFailure} from '../ports/tool-failure.ts';
import {httpApi} from './http-api.ts';
import {type NoProxy, startProxy} from './kubectl-proxy.ts';
import {rawApi} from './kubectl-raw.ts';
import {notThere, type ToolPaths} from './node-processes.ts';
import {isUnknownToWindows} from './unknown-to-windows.ts';

/** Exit statuses of a shell whose command is not there, or may not be run. */
const NOT_THERE = 127;
const NOT_RUNNABLE = 126;

/**
 * The API server, by the operator's own kubectl: one `kubectl proxy` for all requests; a kubectl for each where that cannot be, or once
 * it is no more. @throws ExpectedError when there is no kubectl, or no such cluster
 */
export async function openClusterApi(place: Place, {over, paths = {}}: {over: AbortSignal; paths?: ToolPaths}): Promise<ClusterApi> {
  const kubectl = paths.kubectl ?? 'kubectl';
  const proxy = await startProxy(place, kubectl, over);
  const spawning = rawApi(place, kubectl);
  if ('call' in proxy) {
    refuse(proxy, kubectl);
    if (await isUnknownToWindows(kubectl)) throw notThere('kubectl', kubectl, false);
    return spawning;
  }
  const {socketPath, isAlive, stop} = proxy;
  const proxied = httpApi(socketPath);
  const ask = async <R extends {trouble?: Trouble | undefined}>(question: (api: ClusterApi) => Promise<R>): Promise<R> => {
    const answer = isAlive() ? await question(proxied) : undefined;
    return answer === undefined || (answer.trouble?.kind === 'unreachable' && !isAlive()) ? question(spawning) : answer;
  };
  let closing: Promise<unknown> | undefined;
  return {
    get: (path, wish) => ask((api) => api.get(path, wish)),
    stream: (path, wish) => ask((api) => api.stream(path, wish)),
    async close() {
      closing ??= Promise.all([proxied.close(), spawning.close(), stop()]);
      await closing;
    },
  };
}

/** What would be refused to every kubectl is said at once; for anything else there is the other way. */
function refuse({call, outcome}: NoProxy, kubectl: string): void {
  if (outcome === undefined) return;
  const {exitCode} = outcome;
  if (exitCode === NOT_THERE || exitCode === NOT_RUNNABLE) throw notThere('kubectl', kubectl, exitCode === NOT_RUNNABLE);
  const failure = toolFailure(call, outcome);
  if (failure.code !== 'TOOL_FAILED' && !/no answer in time/.test(outcome.stderr)) throw failure;
}
