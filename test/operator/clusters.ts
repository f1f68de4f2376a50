import {readFileSync, writeFileSync} from 'node:fs';
import {execa} from 'execa';
import {kubectlFor} from '../control-plane/kubectl.ts';

/** The context of the second cluster, in every kubeconfig of an operator. */
export const OTHER_CONTEXT = 'prod';
const OWN_CONTEXT = 'dev';

interface Config {
  clusters: {name: string; cluster: object}[];
  users: {name: string; user: object}[];
  contexts: {name: string; context: {cluster: string; user: string}}[];
  'current-context': string;
}

async function flattened(kubeconfig: string): Promise<Config> {
  const kubectl = await kubectlFor(kubeconfig);
  return JSON.parse(
    await kubectl('config', 'view', '--raw', '--flatten', '--minify', '--output', 'json'),
  );
}

/** Renames everything in a kubeconfig of one context. */
function named(config: Config, name: string): Config {
  const [cluster] = config.clusters;
  const [user] = config.users;
  return {
    ...config,
    clusters: [{name, cluster: cluster?.cluster ?? {}}],
    users: [{name, user: user?.user ?? {}}],
    contexts: [{name, context: {cluster: name, user: name}}],
    'current-context': name,
  };
}

/** Writes a kubeconfig with the contexts dev, which is current, and prod. */
export async function writeContexts(path: string, own: string, other?: string): Promise<string> {
  const dev = named(await flattened(own), OWN_CONTEXT);
  const prod = other === undefined ? undefined : named(await flattened(other), OTHER_CONTEXT);
  const merged: Config = {
    ...dev,
    clusters: [...dev.clusters, ...(prod?.clusters ?? [])],
    users: [...dev.users, ...(prod?.users ?? [])],
    contexts: [...dev.contexts, ...(prod?.contexts ?? [])],
  };
  writeFileSync(path, JSON.stringify(merged), {mode: 0o600});
  return path;
}

/** What somebody else does in another shell. */
export async function useOtherContext(kubectl: string, kubeconfig: string): Promise<void> {
  await execa(kubectl, ['config', 'use-context', OTHER_CONTEXT, '--kubeconfig', kubeconfig]);
}

/** Credentials that the API server does not accept: it takes the first for nobody, and rejects the second. */
const REJECTED: Readonly<Record<string, object>> = {
  anonymous: {username: 'jane', password: 'not-accepted'},
  expired: {token: 'expired.or.revoked'},
};
export const isRejectedIdentity = (role: string): boolean => role in REJECTED;

/** The kubeconfig with other credentials for its first context. */
export function writeRejected(path: string, kubeconfig: string, role: string): string {
  const config: Config = JSON.parse(readFileSync(kubeconfig, 'utf8'));
  const users = config.users.map((each, index) =>
    index === 0 ? {...each, user: REJECTED[role] ?? {}} : each,
  );
  writeFileSync(path, JSON.stringify({...config, users}), {mode: 0o600});
  return path;
}
