import {existsSync} from 'node:fs';

const TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** Address of the API server for a process in a pod with a service account; undefined elsewhere. kubectl and helm use it if no kubeconfig selects a cluster. */
export function serverOfPod(
  {KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port}: NodeJS.ProcessEnv = process.env,
): string | undefined {
  if (!host || !port || !existsSync(TOKEN)) return undefined;
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
