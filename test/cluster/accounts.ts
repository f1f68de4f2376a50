import {randomUUID} from 'node:crypto';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import {until} from './api.ts';
import type {Workplace} from './workplace.ts';

/** One verb on one resource, named as in RBAC. */
export interface Permission {
  group: string;
  resource: string;
  verb: string;
}

export interface Account {
  /** Path of a kubeconfig with the permissions of this account only. */
  kubeconfig: string;
  /** Replaces the permissions of the account. */
  allow(permissions: readonly Permission[]): Promise<void>;
}

interface Config {
  users: {user: object}[];
}

/** Kubeconfig that impersonates a user; deleted after the test. */
async function kubeconfigAs(user: string, {kubectl}: Workplace): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'account-'));
  const config: Config = JSON.parse(await kubectl('config', 'view', '--raw', '--flatten', '--minify', '--output', 'json'));
  const users = config.users.map((each) => ({...each, user: {...each.user, as: user}}));
  const path = join(directory, 'kubeconfig');
  await writeFile(path, JSON.stringify({...config, users}), {mode: 0o600});
  onTestFinished(() => rm(directory, {recursive: true}));
  return path;
}

/** Kubeconfig of an account with a built-in role, or with these rules, in the namespace only. */
export async function accountWith(role: 'view' | 'edit' | 'admin' | readonly object[], place: Workplace): Promise<string> {
  const {kubectl, namespace} = place;
  const user = `${namespace}-${typeof role === 'string' ? role : 'own'}`;
  if (typeof role !== 'string')
    await kubectl.apply({apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: {name: user, namespace}, rules: role});
  await kubectl('create', 'rolebinding', user, typeof role === 'string' ? `--clusterrole=${role}` : `--role=${user}`, `--user=${user}`);
  await until('the role counts', async () => (await kubectl('auth', 'can-i', '--list', `--as=${user}`)).includes('pods'));
  return kubeconfigAs(user, place);
}

/** An account without admin permissions. Its permissions apply to all namespaces, including future ones. */
export async function account(place: Workplace, permissions: readonly Permission[]): Promise<Account> {
  const {kubectl, namespace: name} = place;
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const allow = async (now: readonly Permission[]): Promise<void> => {
    const rules = now.map(({group, resource, verb}) => ({apiGroups: [group], resources: [resource], verbs: [verb]}));
    // Changes with every call, to detect when the API server uses the new rules.
    const mark = `/mark/${randomUUID()}`;
    await kubectl.apply(
      {apiVersion, kind: 'ClusterRole', metadata: {name}, rules: [...rules, {nonResourceURLs: [mark], verbs: ['get']}]},
      {
        apiVersion,
        kind: 'ClusterRoleBinding',
        metadata: {name},
        roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name},
        subjects: [{apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name}],
      },
    );
    await until('the rules count', async () => (await kubectl('auth', 'can-i', 'get', mark, `--as=${name}`).catch(String)) === 'yes');
  };
  await allow(permissions);
  onTestFinished(async () => void (await kubectl('delete', 'clusterrole,clusterrolebinding', name)));
  return {kubeconfig: await kubeconfigAs(name, place), allow};
}
