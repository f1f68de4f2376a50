import {copyFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {findKubectl} from './kubectl.ts';
import type {Workplace} from './workplace.ts';

/** A kubeconfig of an account that has one of Kubernetes' own roles in the namespace, and nothing outside of it. */
export async function accountWith(
  role: 'view' | 'edit' | 'admin',
  {kubeconfig, kubectl, namespace}: Workplace,
  folder: string,
): Promise<string> {
  const name = `${namespace}-${role}`;
  await kubectl('create', 'serviceaccount', name);
  await kubectl('create', 'rolebinding', name, `--clusterrole=${role}`, `--serviceaccount=${namespace}:${name}`);
  const path = join(folder, `${name}.kubeconfig`);
  await copyFile(kubeconfig, path);
  const config = async (...args: string[]) => execa(await findKubectl(), ['config', '--kubeconfig', path, ...args]);
  await config('set-credentials', name, `--token=${await kubectl('create', 'token', name)}`);
  await config('set-context', '--current', `--user=${name}`);
  return path;
}
