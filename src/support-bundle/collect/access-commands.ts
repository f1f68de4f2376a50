import {kubectlCommand, subjectOf} from '../../command-line.ts';
import type {KubernetesClient} from '../../kubernetes/client.ts';
import {currentUser} from '../../kubernetes/queries.ts';
import {type Gap, NAMESPACE_KINDS} from './read-namespace.ts';

const ROLE = 'collect-logs';
const USER_MS = 5000;

/** Commands for an administrator that let this account read all that a bundle needs; none where it was not refused anything. */
export async function accessCommands(
  gaps: readonly Gap[],
  namespace: string,
  {api, over}: {api: Pick<KubernetesClient, 'post'>; over: AbortSignal},
): Promise<string[]> {
  const refused = gaps.find(({trouble, isMinor}) => trouble.kind === 'forbidden' && !isMinor);
  if (refused === undefined) return [];
  const {user = userIn(gaps)} = await currentUser(api, {over, idleMs: USER_MS});
  // Kinds that not every cluster has would make kubectl refuse the command.
  const kinds = NAMESPACE_KINDS.filter(({isOptional}) => !isOptional).map(({resource}) => resource);
  const resources = ['secrets', 'pods/log', ...kinds].join(',');
  // Without a context: it would act as the account that lacks the permission.
  const create = (...args: readonly string[]): string => kubectlCommand({}, 'create', ...args, '--namespace', namespace);
  return [
    create('role', ROLE, '--verb=get,list', `--resource=${resources}`),
    create('rolebinding', ROLE, `--role=${ROLE}`, subjectOf(user ?? 'USER')),
  ];
}

/** Older API servers do not name the account when they are asked, but in what they refuse. */
const userIn = (gaps: readonly Gap[]): string | undefined =>
  gaps.map(({trouble}) => /\bUser "([^"]+)" cannot /.exec(trouble.message)?.[1]).find((user) => user !== undefined);
