import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import type {Workplace} from '../control-plane/workplace.ts';

interface Config {
  clusters: {cluster: {server: string; 'certificate-authority-data': string}}[];
}

/** Mounts the files of a service account where kubectl and helm look for them, for one process only. */
const MOUNT = `
set -e
mkdir -p /var/run/secrets
mount -t tmpfs tmpfs /var/run/secrets
mkdir -p /var/run/secrets/kubernetes.io
cp -r "$1" /var/run/secrets/kubernetes.io/serviceaccount
shift
exec "$@"
`;

export interface Pod {
  /** What runs a program with the service account. */
  command: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
}

/** A pod of a CI runner, as far as a program sees it: a service account with all permissions, and no kubeconfig. */
export async function podOf(place: Workplace, directory: string): Promise<Pod> {
  const {kubectl, namespace} = place;
  const name = `${namespace}-runner`;
  await kubectl('create', 'serviceaccount', name);
  await kubectl(
    'create',
    'clusterrolebinding',
    name,
    '--clusterrole=cluster-admin',
    `--serviceaccount=${namespace}:${name}`,
  );
  const config: Config = JSON.parse(
    await kubectl('config', 'view', '--raw', '--flatten', '--minify', '--output', 'json'),
  );
  const [{cluster}] = config.clusters as [Config['clusters'][0]];
  mkdirSync(directory, {recursive: true});
  writeFileSync(join(directory, 'token'), await kubectl('create', 'token', name));
  writeFileSync(join(directory, 'namespace'), namespace);
  writeFileSync(
    join(directory, 'ca.crt'),
    Buffer.from(cluster['certificate-authority-data'], 'base64'),
  );
  const {hostname, port} = new URL(cluster.server);
  return {
    command: ['unshare', '--mount', 'sh', '-c', MOUNT, 'sh', directory],
    env: {
      KUBECONFIG: undefined,
      HOME: directory,
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
    },
  };
}
