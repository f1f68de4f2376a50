import type {KubernetesClient} from '../cluster/kubernetes/client.ts';
import type {ProcessResult} from '../ground/command-line.ts';
import type {ReadError} from '../ground/fact.ts';
import type {HostAnswer, HostError, HostTools, Processes} from '../ground/system/system.ts';

/*
 * What other programs say when they fail is part of messages and findings, and can hold secrets: it passes the redactor here, once.
 */

async function redacted(text: string): Promise<string> {
  const {redactText} = await import('../extensions/bundle/redact/redactor.ts');
  return redactText(text);
}

const resultWithoutSecrets = async (result: ProcessResult): Promise<ProcessResult> =>
  result.exitCode === 0 ? result : {...result, stderr: await redacted(result.stderr)};

const errorWithoutSecrets = async (error: HostError): Promise<HostError> => ({
  ...error,
  message: await redacted(error.message),
});

/** A missing tool has printed nothing. */
async function answerWithoutSecrets(answer: HostAnswer): Promise<HostAnswer> {
  const {error} = answer;
  if (error === undefined || error.isToolMissing) return answer;
  return {...answer, error: await errorWithoutSecrets(error)};
}

/** Failures of calls with changes are redacted where they are reported. */
export const withoutSecretsOf = (processes: Processes): Processes => ({
  run: async (call, options) => resultWithoutSecrets(await processes.run(call, options)),
  start: (call) => processes.start(call),
});

export const withoutSecretsOfHost = (host: HostTools): HostTools => ({
  run: async (call, options) => answerWithoutSecrets(await host.run(call, options)),
  async stream(call, options) {
    const log = await host.stream(call, options);
    return log.error === undefined ? log : {error: await errorWithoutSecrets(log.error)};
  },
});

/** An error can contain output of a credential plugin; `not-found` cannot. */
async function readWithoutSecrets<A extends {error?: ReadError | undefined} | undefined>(
  answer: A,
): Promise<A> {
  const error = answer?.error;
  if (error === undefined || error.kind === 'not-found') return answer;
  return {...answer, error: {...error, message: await redacted(error.message)}};
}

export const withoutSecretsOfClient = (client: KubernetesClient): KubernetesClient => ({
  connect: (signal) => client.connect(signal),
  close: () => client.close(),
  get: async (path, options) => readWithoutSecrets(await client.get(path, options)),
  post: async (path, body, options) => readWithoutSecrets(await client.post(path, body, options)),
  stream: async (path, options) => readWithoutSecrets(await client.stream(path, options)),
  send: async (request, options) => readWithoutSecrets(await client.send(request, options)),
});
