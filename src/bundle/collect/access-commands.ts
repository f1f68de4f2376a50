import {kubectlCommand, subjectOf} from '../../ground/command-line.ts';
import type {KubernetesClient} from '../../kubernetes/client.ts';
import {currentUser} from '../../kubernetes/resources.ts';
import {type Gap, NAMESPACE_KINDS} from './read-namespace.ts';

const ROLE = 'collect-logs';
const USER_MS = 5000;

/** Commands for an administrator that grant this account the read access of a bundle; empty if nothing was forbidden. */
export async function accessCommands(
  gaps: readonly Gap[],
  namespace: string,
  {api, signal}: {api: Pick<KubernetesClient, 'post'>; signal: AbortSignal},
): Promise<string[]> {
  const refused = gaps.find(({trouble, isMinor}) => trouble.kind === 'forbidden' && !isMinor);
  if (refused === undefined) return [];
  const {user = userIn(gaps)} = await currentUser(api, {signal, idleMs: USER_MS});
  // kubectl would reject the command because of kinds that the cluster does not have.
  const kinds = NAMESPACE_KINDS.filter(({isOptional}) => !isOptional).map(({resource}) => resource);
  const resources = ['secrets', 'pods/log', ...kinds].join(',');
  // Without a context, because that would use the account that lacks the permission.
  const create = (...args: readonly string[]): string => kubectlCommand({}, 'create', ...args, '--namespace', namespace);
  return [
    create('role', ROLE, '--verb=get,list', `--resource=${resources}`),
    create('rolebinding', ROLE, `--role=${ROLE}`, subjectOf(user ?? 'USER')),
  ];
}

/** Older API servers name the account only in their error messages. */
const userIn = (gaps: readonly Gap[]): string | undefined =>
  gaps.map(({trouble}) => /\bUser "([^"]+)" cannot /.exec(trouble.message)?.[1]).find((user) => user !== undefined);
