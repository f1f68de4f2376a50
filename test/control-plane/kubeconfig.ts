import {writeFile} from 'node:fs/promises';
import {stringify} from 'yaml';
import type {Certificate} from './certificates.ts';

/** Writes the kubeconfig of one client. */
export async function writeKubeconfig(
  path: string,
  server: string,
  ca: Certificate,
  client: Certificate,
): Promise<string> {
  const name = 'test-cluster';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{name, cluster: {server, 'certificate-authority': ca.cert}}],
    users: [{name, user: {'client-certificate': client.cert, 'client-key': client.key}}],
    contexts: [{name, context: {cluster: name, user: name}}],
    'current-context': name,
  };
  await writeFile(path, stringify(config), {mode: 0o600});
  return path;
}
