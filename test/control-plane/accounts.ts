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

interface Review {
  status: {allowed: boolean};
}

const AUTHORIZATION = '/apis/authorization.k8s.io/v1';
const RBAC = 'rbac.authorization.k8s.io';
const rbac = {apiVersion: `${RBAC}/v1`};
const userNamed = (name: string): object => ({apiGroup: RBAC, kind: 'User', name});

/** Kubeconfig that impersonates a user; deleted after the test. */
async function kubeconfigAs(user: string, {kubectl}: Workplace): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'account-'));
  const config: Config = JSON.parse(
    await kubectl('config', 'view', '--raw', '--flatten', '--minify', '--output', 'json'),
  );
  const users = config.users.map((each) => ({...each, user: {...each.user, as: user}}));
  const path = join(directory, 'kubeconfig');
  await writeFile(path, JSON.stringify({...config, users}), {mode: 0o600});
  onTestFinished(() => rm(directory, {recursive: true}));
  return path;
}

/** Kubeconfig of an account with a built-in role, or with these rules, in the namespace only. */
export async function accountWith(
  role: 'view' | 'edit' | 'admin' | readonly object[],
  place: Workplace,
): Promise<string> {
  const {kubectl, namespace} = place;
  const user = `${namespace}-${typeof role === 'string' ? role : 'own'}`;
  if (typeof role !== 'string')
    await kubectl.apply({...rbac, kind: 'Role', metadata: {name: user}, rules: role});
  const roleRef = {
    apiGroup: RBAC,
    ...(typeof role === 'string' ? {kind: 'ClusterRole', name: role} : {kind: 'Role', name: user}),
  };
  await kubectl.apply({
    ...rbac,
    kind: 'RoleBinding',
    metadata: {name: user},
    roleRef,
    subjects: [userNamed(user)],
  });
  await until('the role counts', async () => {
    const review = await kubectl.api(
      'POST',
      `${AUTHORIZATION}/selfsubjectrulesreviews`,
      {spec: {namespace}},
      user,
    );
    return JSON.stringify(review).includes('pods');
  });
  return kubeconfigAs(user, place);
}

/** An account without admin permissions. Its permissions apply to all namespaces, including future ones. */
export async function account(
  place: Workplace,
  permissions: readonly Permission[],
): Promise<Account> {
  const {kubectl, namespace: name} = place;
  const allow = async (now: readonly Permission[]): Promise<void> => {
    const rules = now.map(({group, resource, verb}) => ({
      apiGroups: [group],
      resources: [resource],
      verbs: [verb],
    }));
    // Changes with every call, to detect when the API server uses the new rules.
    const mark = `/mark/${randomUUID()}`;
    await kubectl.apply(
      {
        ...rbac,
        kind: 'ClusterRole',
        metadata: {name},
        rules: [...rules, {nonResourceURLs: [mark], verbs: ['get']}],
      },
      {
        ...rbac,
        kind: 'ClusterRoleBinding',
        metadata: {name},
        roleRef: {apiGroup: RBAC, kind: 'ClusterRole', name},
        subjects: [userNamed(name)],
      },
    );
    const spec = {nonResourceAttributes: {path: mark, verb: 'get'}};
    await until('the rules count', async () => {
      const {status} = await kubectl.api<Review>(
        'POST',
        `${AUTHORIZATION}/selfsubjectaccessreviews`,
        {spec},
        name,
      );
      return status.allowed;
    });
  };
  await allow(permissions);
  onTestFinished(async () => {
    for (const kind of ['clusterroles', 'clusterrolebindings'])
      await kubectl.api('DELETE', `/apis/${RBAC}/v1/${kind}/${name}`);
  });
  return {kubeconfig: await kubeconfigAs(name, place), allow};
}
