import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {onTestFinished} from 'vitest';
import {findKubectl} from '../control-plane/kubectl.ts';

export interface User {
  token?: string;
  username?: string;
  password?: string;
  exec?: object;
  'client-certificate-data'?: string;
  'client-key-data'?: string;
}

interface Config {
  clusters: {name: string; cluster: object}[];
  contexts: {name: string; context: {cluster: string; user: string}}[];
  users: {name: string; user: User}[];
  'current-context': string;
}

/** A directory that exists until the end of the test. */
export async function scratchDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'identity-'));
  onTestFinished(() => rm(directory, {recursive: true}));
  return directory;
}

/** A kubeconfig of the same cluster, changed. */
export async function kubeconfigWith(
  kubeconfig: string,
  change: (config: Config) => object,
  directory?: string,
): Promise<string> {
  const folder = directory ?? (await scratchDirectory());
  const {stdout} = await execa(await findKubectl(), [
    ...['config', 'view', '--raw', '--flatten', '--output', 'json', '--kubeconfig', kubeconfig],
  ]);
  const path = join(folder, 'kubeconfig');
  await writeFile(path, JSON.stringify(change(JSON.parse(stdout) as Config)), {mode: 0o600});
  return path;
}

/** The same with another user. */
export const asUser = (kubeconfig: string, user: User, directory?: string): Promise<string> =>
  kubeconfigWith(
    kubeconfig,
    (config) => ({...config, users: config.users.map(({name}) => ({name, user}))}),
    directory,
  );

/** A kubeconfig with a credential plugin that runs this script of sh. */
export async function withPlugin(
  kubeconfig: string,
  script: string,
  {version = 'v1beta1', isMissing = false} = {},
): Promise<{kubeconfig: string; directory: string}> {
  const directory = await scratchDirectory();
  if (!isMissing)
    await writeFile(join(directory, 'corp-login'), `#!/bin/sh\ncd "$(dirname "$0")"\n${script}\n`, {
      mode: 0o755,
    });
  const exec = {
    apiVersion: `client.authentication.k8s.io/${version}`,
    command: isMissing ? 'corp-login-of-this-test' : './corp-login',
    interactiveMode: 'IfAvailable',
    provideClusterInfo: false,
    installHint: 'Install corp-login from https://intranet.example.com/corp-login',
  };
  return {kubeconfig: await asUser(kubeconfig, {exec}, directory), directory};
}
