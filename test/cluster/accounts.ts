import {copyFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {findKubectl} from './kubectl.ts';
import type {Workplace} from './workplace.ts';

/** A kubeconfig of an account that has one of Kubernetes' own roles, or one of the test, in the namespace and nothing outside of it. */
export async function accountWith(
  role: 'view' | 'edit' | 'admin' | readonly object[],
  {kubeconfig, kubectl, namespace}: Workplace,
  folder: string,
): Promise<string> {
  const name = `${namespace}-${typeof role === 'string' ? role : 'own'}`;
  await kubectl('create', 'serviceaccount', name);
  if (typeof role !== 'string') {
    await kubectl.apply({apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: {name, namespace}, rules: role});
  }
  const given = typeof role === 'string' ? `--clusterrole=${role}` : `--role=${name}`;
  await kubectl('create', 'rolebinding', name, given, `--serviceaccount=${namespace}:${name}`);
  const path = join(folder, `${name}.kubeconfig`);
  await copyFile(kubeconfig, path);
  const config = async (...args: string[]) => execa(await findKubectl(), ['config', '--kubeconfig', path, ...args]);
  await config('set-credentials', name, `--token=${await kubectl('create', 'token', name)}`);
  await config('set-context', '--current', `--user=${name}`);
  return path;
}
