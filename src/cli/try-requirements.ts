import {newestOf} from '../charts/target.ts';
import type {ClusterTarget} from '../ground/command-line.ts';
import {ExpectedError} from '../ground/errors.ts';
import {helmVersion, showChart} from '../helm/helm.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import {reviewAccess} from '../kubernetes/resources.ts';
import type {Missing} from '../wizard/requirements.ts';

interface TryOptions {
  kubeTarget: ClusterTarget;
  access: ClusterAccess;
  signal: AbortSignal;
  /** The chart is not in the public repository. */
  hasOwnChart: boolean;
}

/** What an install needs: to create these in the namespace. */
const CREATED = [
  {verb: 'create', resource: 'secrets'},
  {verb: 'create', group: 'apps', resource: 'deployments'},
];

/** Messages of helm about a repository that does not answer; other errors are left to the review. */
const UNREACHABLE = /cannot be reached|no such host|connection refused|i\/o timeout|Client\.Timeout|x509|proxyconnect|server misbehaving/i;

/** Tries what an install needs. An unknown fact is not reported as missing. */
export async function tryRequirements({kubeTarget, access, signal, hasOwnChart}: TryOptions): Promise<Missing[]> {
  const {processes, kubernetes} = access;
  try {
    await processes.run(helmVersion, {signal});
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return error.code === 'TOOL_NOT_FOUND' ? [{what: 'helm', text: error.message.replace(/\.$/, '')}] : [];
  }
  const repository = async (): Promise<Missing[]> => {
    if (hasOwnChart) return [];
    const {exitCode, stderr} = await processes.run(showChart({chart: 'agent-local', version: newestOf('agent-local')}), {signal});
    const reason = stderr
      .trim()
      .split(/: (?=[^:]*$)/)
      .at(-1);
    return exitCode !== 0 && UNREACHABLE.test(stderr) ? [{what: 'chart', text: `The chart repository cannot be reached: ${reason}`}] : [];
  };
  const permissions = async (): Promise<Missing[]> => {
    const {namespace} = kubeTarget;
    const reviews = await Promise.all(
      CREATED.map(async (attributes) => ({
        ...attributes,
        ...(await reviewAccess(kubernetes, {...attributes, namespace}, {signal})),
      })),
    );
    const refused = reviews.filter(({value}) => value === false).map(({resource}) => resource);
    return refused.length === 0
      ? []
      : [{what: 'permissions', text: `Your user cannot create ${refused.join(' and ')} in namespace ${namespace}`}];
  };
  const found = await Promise.allSettled([repository(), permissions()]);
  return found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
}
