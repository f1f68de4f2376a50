import {type ClusterSelection, kubectlCommand} from './command-line.ts';

export const REJECTED_LOGIN = 'The API server rejected your credentials (401 Unauthorized)';

/** Whom the API server takes for the user of a request whose credentials it did not accept. */
export const ANONYMOUS = 'system:anonymous';

/** Its group, whatever its name is. */
export const UNAUTHENTICATED = 'system:unauthenticated';

export const isAnonymous = (user: string | undefined): boolean =>
  user === ANONYMOUS || user === UNAUTHENTICATED;

/** The user in a refusal of the API server; before 1.28, only this names it. */
export const userIn = (message: string): string | undefined =>
  /\bUser "([^"]+)" cannot /.exec(message)?.[1];

/** The API server refused a request because it did not accept the credentials. */
export const isAnonymousRefusal = (message: string): boolean => isAnonymous(userIn(message));

/** Without a full stop. */
export const anonymousText = (user: string = ANONYMOUS): string =>
  `Not logged in to the cluster: the API server treats you as ${user}`;

export const LOG_IN = 'Log in to the cluster, then run the command again';

/** What to do if the API server did not accept the credentials of the kubeconfig. */
export const loginSteps = (cluster: ClusterSelection): string[] => [
  LOG_IN,
  `Check your identity: ${kubectlCommand(cluster, 'auth', 'whoami')}`,
];
