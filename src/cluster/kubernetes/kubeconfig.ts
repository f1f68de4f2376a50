import {existsSync} from 'node:fs';
import {delimiter} from 'node:path';
import type {ClusterSelection} from '../../ground/command-line.ts';
import type {AccessProblem, CredentialPlugin} from '../../ground/credential-plugin.ts';
import {ANOTHER_FILE} from '../../ground/errors.ts';
import {few} from '../../ground/text.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Output of `kubectl config view`, with masked credentials. */
export interface Kubeconfig {
  'current-context'?: string;
  contexts?: readonly AccountObject<'context', {cluster?: string; user?: string}>[] | null;
  clusters?: readonly AccountObject<'cluster', {server?: string}>[] | null;
  users?: readonly AccountObject<'user', KubeconfigUser>[] | null;
}

type AccountObject<Key extends string, Value> = {name: string} & {[key in Key]?: Value};

interface KubeconfigUser {
  token?: string;
  tokenFile?: string;
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  username?: string;
  password?: string;
  'auth-provider'?: object;
  exec?: CredentialPlugin;
}

/** The context in use and its cluster; without a name in a pod, whose service account has no context. */
export interface SelectedCluster {
  name: string;
  cluster: string;
  server: string;
}

/** In the order of the kubeconfig. */
export const contextsIn = (config: Kubeconfig | undefined): {name: string; cluster?: string}[] =>
  (config?.contexts ?? []).map(({name, context}) => ({
    name,
    ...(context?.cluster ? {cluster: context.cluster} : {}),
  }));

/** What a kubeconfig selects for a command. */
export interface SelectedAccess {
  /** As the user gave it: work.yaml, ~/.kube/config */
  file: string;
  user?: string | undefined;
  server?: string | undefined;
  plugin?: CredentialPlugin | undefined;
  /** No cluster is selected, so that kubectl would try localhost. */
  withoutCluster?: AccessProblem;
  /** No credentials are selected, so that kubectl would ask for a password. */
  withoutCredentials?: AccessProblem;
}

const DEFAULT_FILE = '~/.kube/config';

/** The files that kubectl merges, as the user gave them. */
export function kubeconfigFiles(
  {kubeconfig}: ClusterSelection,
  {KUBECONFIG = ''}: Environment,
): string {
  if (kubeconfig !== undefined) return kubeconfig;
  const files = KUBECONFIG.split(delimiter).filter((path) => path !== '' && existsSync(path));
  return files.length === 0 ? DEFAULT_FILE : files.join(', ');
}

/** Pure. */
export function accessIn(
  config: Kubeconfig,
  {kubeContext}: ClusterSelection,
  file: string,
): SelectedAccess {
  const contexts = (config.contexts ?? []).map(({name}) => name);
  const name = kubeContext ?? (config['current-context'] || undefined);
  const problem = (text: string, steps: readonly string[]): AccessProblem => ({
    text: `The kubeconfig ${file} ${text}`,
    steps,
  });
  const another = anotherContext(contexts.filter((each) => each !== name));
  if (contexts.length === 0)
    return {file, withoutCluster: problem('does not exist or contains no context', [ANOTHER_FILE])};
  if (name === undefined)
    return {file, withoutCluster: problem('has no current context', [selectContext(contexts)])};
  const found = config.contexts?.find((each) => each.name === name);
  if (found === undefined)
    return {
      file,
      withoutCluster: problem(`has no context ${name}`, [selectContext(contexts)]),
    };
  const {cluster: clusterName = '', user: userName = ''} = found.context ?? {};
  const cluster = config.clusters?.find((each) => each.name === clusterName)?.cluster;
  const user = config.users?.find((each) => each.name === userName)?.user;
  const withoutCluster = cluster?.server
    ? undefined
    : clusterGap(cluster !== undefined, clusterName, name);
  const withoutCredentials = hasCredentials(user ?? {})
    ? undefined
    : userGap(user !== undefined, userName, name);
  return {
    file,
    user: userName || undefined,
    server: cluster?.server,
    plugin: user?.exec,
    ...(withoutCluster === undefined
      ? {}
      : {withoutCluster: problem(withoutCluster, [ADD_CLUSTER, ...another])}),
    ...(withoutCredentials === undefined
      ? {}
      : {withoutCredentials: problem(withoutCredentials, [ADD_CREDENTIALS, ...another])}),
  };
}

const ADD_CLUSTER =
  'Add the cluster with its server address to the kubeconfig, or create the file again';
const ADD_CREDENTIALS = 'Log in to the cluster, which writes credentials into the kubeconfig';

const selectContext = (contexts: readonly string[]): string =>
  contexts.length === 1
    ? `Select its context with --kube-context ${contexts[0]}`
    : `Select a context with --kube-context NAME: ${few(contexts)}`;

const anotherContext = (contexts: readonly string[]): string[] =>
  contexts.length === 0
    ? []
    : [`Or select another context with --kube-context NAME: ${few(contexts)}`];

function clusterGap(isThere: boolean, cluster: string, context: string): string {
  if (cluster === '') return `sets no cluster for context ${context}`;
  return isThere
    ? `has no server address for cluster ${cluster} of context ${context}`
    : `has no cluster ${cluster}, which context ${context} refers to`;
}

function userGap(isThere: boolean, user: string, context: string): string {
  if (user === '') return `sets no user for context ${context}`;
  return isThere
    ? `has no credentials for user ${user} of context ${context}`
    : `has no user ${user}, which context ${context} refers to`;
}

const hasCredentials = (user: KubeconfigUser): boolean =>
  Boolean(
    user.token ||
      user.tokenFile ||
      user['client-certificate'] ||
      user['client-certificate-data'] ||
      user['auth-provider'] ||
      user.exec ||
      (user.username && user.password),
  );
