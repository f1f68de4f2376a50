import type {ClusterTarget, ProcessResult} from '../../ground/command-line.ts';
import {
  type AccessProblem,
  type LoginAttempt,
  pluginOutput,
  pluginProblem,
  waitingProblem,
} from '../../ground/credential-plugin.ts';
import {type ExpectedError, type FailureCode, failed, onFailure} from '../../ground/errors.ts';
import type {ReadError} from '../../ground/fact.ts';
import {anonymousText, isAnonymousRefusal, loginSteps, userIn} from '../../ground/identity.ts';
import {jsonIn} from '../../ground/json.ts';
import {nodeProcesses} from '../../ground/system/node-processes.ts';
import {isMap} from '../../ground/tree.ts';
import {isDefaultAddress, unreachableSteps, unreachableText} from '../../ground/unreachable.ts';
import {UNNAMED_SERVER, webPageSteps} from '../../ground/web-page.ts';
import {accessIn, kubeconfigFiles, type SelectedAccess} from './kubeconfig.ts';
import {allContexts} from './kubectl.ts';

/** Adds to errors what only the kubeconfig and the output of a credential plugin show. */
export interface AccessExplainer {
  request(error: ReadError, seen: SeenSoFar): Promise<ReadError>;
  /** kubectl proxy did not start; undefined if its own message says it all. */
  start(outcome: ProcessResult): Promise<ExpectedError | undefined>;
}

export interface SeenSoFar {
  /** Of the credential plugin. */
  output: string;
  /** The API server has answered a request, so that there are credentials. */
  hasAnswered: boolean;
}

/** Reads the kubeconfig at most once, and only after an error. */
export function accessExplainer(kubeTarget: ClusterTarget, kubectl: string): AccessExplainer {
  let access: Promise<SelectedAccess | undefined> | undefined;
  const read = (): Promise<SelectedAccess | undefined> => {
    access ??= readAccess(kubeTarget, kubectl);
    return access;
  };
  return {
    async request(error, {output, hasAnswered}) {
      if (!isAboutAccess(error, {output, hasAnswered})) return withSteps(error, kubeTarget);
      const found = await read();
      const attempt = {cluster: kubeTarget, plugin: found?.plugin, output};
      return withSteps(explained(error, found, attempt), kubeTarget);
    },
    async start({stderr}) {
      const found = await read();
      const output = pluginOutput(stderr);
      const login = startProblem(stderr, found, {
        cluster: kubeTarget,
        plugin: found?.plugin,
        output,
      });
      if (login !== undefined) return failureOf(login, 'NOT_LOGGED_IN');
      return found?.withoutCluster && failureOf(found.withoutCluster, 'CLUSTER_UNREACHABLE');
    },
  };
}

const failureOf = ({text, steps}: AccessProblem, code: FailureCode): ExpectedError =>
  failed(code, `${text}.`, steps);

async function readAccess(
  kubeTarget: ClusterTarget,
  kubectl: string,
): Promise<SelectedAccess | undefined> {
  const {exitCode, stdout} = await nodeProcesses({kubectl})
    .run(allContexts(kubeTarget), {signal: AbortSignal.timeout(CONFIG_MS)})
    .catch(onFailure(() => NOT_READ));
  const config = exitCode === 0 ? jsonIn(stdout) : undefined;
  if (!isMap(config)) return undefined;
  const found = accessIn(config, kubeTarget, kubeconfigFiles(kubeTarget, process.env));
  // In a pod, kubectl uses the service account instead.
  return process.env['KUBERNETES_SERVICE_HOST'] && found.server === undefined ? undefined : found;
}

const CONFIG_MS = 5000;
const NOT_READ: ProcessResult = {exitCode: 1, stdout: '', stderr: ''};

/** A request without an answer can wait for a login. */
function isAboutAccess(
  {kind, message, steps, cause}: ReadError,
  {output, hasAnswered}: SeenSoFar,
): boolean {
  if (steps !== undefined || cause !== undefined) return false;
  if (kind === 'stalled') return !hasAnswered;
  if (kind === 'aborted') return !hasAnswered && output !== '';
  if (kind === 'unreachable') return isDefaultAddress(message);
  return kind === 'not-logged-in' || kind === 'web-page';
}

function explained(
  error: ReadError,
  access: SelectedAccess | undefined,
  attempt: LoginAttempt,
): ReadError {
  if (access?.withoutCluster) return withProblem(error, 'unreachable', access.withoutCluster);
  if (error.kind === 'web-page')
    return {
      ...error,
      message: error.message.replace(UNNAMED_SERVER, access?.server ?? UNNAMED_SERVER),
      steps: webPageSteps(access?.server),
    };
  if (error.kind === 'unreachable') return error;
  const problem =
    error.kind === 'not-logged-in' ? loginProblem(error, access, attempt) : waitingProblem(attempt);
  return problem === undefined ? error : withProblem(error, 'not-logged-in', problem);
}

/** The text and the steps of an unreachable server, while the message is still that of the tool. */
const withSteps = (error: ReadError, cluster: ClusterTarget): ReadError =>
  error.kind === 'unreachable' && error.steps === undefined
    ? withProblem(error, 'unreachable', {
        text: unreachableText(error.message),
        steps: unreachableSteps(error.message, cluster),
      })
    : error;

const withProblem = (
  error: ReadError,
  kind: ReadError['kind'],
  {text, steps}: AccessProblem,
): ReadError => ({...error, kind, message: text, steps});

/** The credentials were not accepted, or there are none. */
function loginProblem(
  {message}: ReadError,
  access: SelectedAccess | undefined,
  attempt: LoginAttempt,
): AccessProblem | undefined {
  const ofPlugin = pluginProblem(message, attempt);
  if (ofPlugin !== undefined || access === undefined) return ofPlugin;
  if (access.withoutCredentials) return access.withoutCredentials;
  const {file, user} = access;
  const whose = `the credentials of user ${user} in the kubeconfig ${file}`;
  return {
    text: isAnonymousRefusal(message)
      ? `${anonymousText(userIn(message))}. It rejected ${whose}`
      : `Not logged in to the cluster: the API server rejected ${whose} (${message})`,
    steps: loginSteps(attempt.cluster),
  };
}

function startProblem(
  stderr: string,
  access: SelectedAccess | undefined,
  attempt: LoginAttempt,
): AccessProblem | undefined {
  // kubectl asks for a name and a password on standard output.
  if (/^error: EOF$/m.test(stderr)) return access?.withoutCredentials;
  if (/timed out waiting for a response/.test(stderr)) return waitingProblem(attempt);
  return pluginProblem(stderr, attempt);
}
