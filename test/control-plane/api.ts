import {readFile} from 'node:fs/promises';
import {Agent, request} from 'node:https';
import {parse} from 'yaml';
import type {Certificates} from './certificates.ts';

/** Sends one request to the Kubernetes API, as another user if `as` is given. Throws unless it succeeds. */
export type Api = <T = unknown>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
  as?: string,
) => Promise<T>;

/** Requests that start a cluster, sent without kubectl. */
export async function connect(server: string, {ca, admin}: Certificates): Promise<Api> {
  return apiAt(
    server,
    await Promise.all([ca.cert, admin.cert, admin.key].map((path) => readFile(path))),
  );
}

/** What a user of a kubeconfig file has instead of a path: the file itself in base64. */
type Credentials = Readonly<Record<string, string>>;

interface Kubeconfig {
  clusters: readonly {cluster: Credentials}[];
  users: readonly {user: Credentials}[];
}

/** Requests to the only cluster of a kubeconfig, whose user has a client certificate. A kubectl process takes far longer. */
export async function connectWith(kubeconfig: string): Promise<Api> {
  const {clusters, users} = parse(await readFile(kubeconfig, 'utf8')) as Kubeconfig;
  const [cluster = {}, user = {}] = [clusters[0]?.cluster, users[0]?.user];
  const read = async (from: Credentials, key: string): Promise<Buffer> =>
    from[key] === undefined
      ? Buffer.from(from[`${key}-data`] as string, 'base64')
      : readFile(from[key]);
  const files = [
    read(cluster, 'certificate-authority'),
    read(user, 'client-certificate'),
    read(user, 'client-key'),
  ];
  return apiAt(cluster['server'] as string, await Promise.all(files));
}

function apiAt(server: string, [ca, cert, key]: readonly Buffer[]): Api {
  const agent = new Agent({ca, cert, key, keepAlive: true});
  return (method, path, body, as) =>
    new Promise((resolve, reject) => {
      const headers = {
        'content-type': 'application/json',
        ...(as === undefined ? {} : {'impersonate-user': as}),
      };
      const call = request(`${server}${path}`, {agent, method, headers}, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(parts).toString();
          if ((response.statusCode ?? 500) >= 300)
            reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
          else resolve(text.startsWith('{') ? JSON.parse(text) : text);
        });
      });
      call.on('error', reject);
      call.end(body === undefined ? undefined : JSON.stringify(body));
    });
}

/** Polls until the condition is true. Errors count as false, because the server may not be listening yet. */
export async function until(
  what: string,
  isSo: () => Promise<boolean>,
  seconds = 60,
): Promise<void> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    let reason = 'it is not so';
    try {
      if (await isSo()) return;
    } catch (error) {
      reason = String(error);
    }
    if (Date.now() > end) throw new Error(`Waited ${seconds} s until ${what}: ${reason}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
