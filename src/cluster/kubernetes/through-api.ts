import type {ApiRequest, Call} from '../../ground/call.ts';
import type {ProcessResult} from '../../ground/command-line.ts';
import {ExitCode} from '../../ground/errors.ts';
import type {ReadError} from '../../ground/fact.ts';
import type {Processes} from '../../ground/system/system.ts';
import {errorLine} from './api-error.ts';
import type {ApiResult, KubernetesClient, RequestOptions} from './client.ts';
import {isUserManager} from './own-objects.ts';
import {REQUIRED_MS} from './resources.ts';

type Client = Pick<KubernetesClient, 'send'>;

const requestsOf = (call: Call): readonly ApiRequest[] | undefined =>
  call.tool === 'kubectl' ? call.requests : undefined;

/** Sends calls that are requests to the API server, and starts kubectl for them only where no proxy can run. */
export const throughApi = (processes: Processes, client: Client): Processes => ({
  async run(call, options) {
    const signal = options?.signal ?? new AbortController().signal;
    return (await outcomeOf(call, client, signal)) ?? processes.run(call, options);
  },
  start(call) {
    if (requestsOf(call) === undefined) return processes.start(call);
    const controller = new AbortController();
    const outcome = outcomeOf(call, client, controller.signal).then(
      (sent) => sent ?? processes.start(call).outcome,
    );
    return {
      outcome,
      interrupt: () => controller.abort('interrupted'),
      leave: () => controller.abort('interrupted'),
    };
  },
});

/** The responses as a list, and the errors as kubectl prints them; undefined if kubectl must make the call. */
async function outcomeOf(
  call: Call,
  client: Client,
  signal: AbortSignal,
): Promise<ProcessResult | undefined> {
  const requests = requestsOf(call);
  if (requests === undefined) return undefined;
  const results = await Promise.all(
    requests.map((each) => sendOne(each, client, {signal, idleMs: REQUIRED_MS})),
  );
  if (results.includes(undefined)) return undefined;
  const items: unknown[] = [];
  const errors: ReadError[] = [];
  for (const result of results as ApiResult[])
    result.error ? errors.push(result.error) : items.push(result.body);
  return {
    exitCode: errors.length === 0 ? ExitCode.ok : ExitCode.failed,
    stdout: JSON.stringify({apiVersion: 'v1', kind: 'List', items}),
    stderr: errors.map((each) => `${errorLine(each)}\n`).join(''),
  };
}

/** Repeats an apply with force if all fields in conflict were set by people or by Helm. */
async function sendOne(
  request: ApiRequest,
  client: Client,
  options: RequestOptions,
): Promise<ApiResult | undefined> {
  const result = await client.send(request, options);
  const managers = [...(result?.error?.message ?? '').matchAll(/\bconflicts? with "([^"]+)"/g)].map(
    ([, manager = '']) => manager,
  );
  return request.takesOver && managers.length > 0 && managers.every(isUserManager)
    ? client.send({...request, path: `${request.path}&force=true`}, options)
    : result;
}
