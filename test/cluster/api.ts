import {readFile} from 'node:fs/promises';
import {Agent, request} from 'node:https';
import type {Certificates} from './certificates.ts';

/** Sends one request to the Kubernetes API. Throws unless it succeeds. */
export type Api = <T = unknown>(method: 'GET' | 'POST', path: string, body?: object) => Promise<T>;

/** Requests that start a cluster, sent without kubectl. */
export async function connect(server: string, {ca, admin}: Certificates): Promise<Api> {
  const [authority, cert, key] = await Promise.all([ca.cert, admin.cert, admin.key].map((path) => readFile(path)));
  const agent = new Agent({ca: authority, cert, key, keepAlive: true});
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const call = request(`${server}${path}`, {agent, method, headers: {'content-type': 'application/json'}}, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(parts).toString();
          if ((response.statusCode ?? 500) >= 300) reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
          else resolve(text.startsWith('{') ? JSON.parse(text) : text);
        });
      });
      call.on('error', reject);
      call.end(body === undefined ? undefined : JSON.stringify(body));
    });
}

/** Polls until the condition is true. Errors count as false, because the server may not be listening yet. */
export async function until(what: string, isSo: () => Promise<boolean>, seconds = 60): Promise<void> {
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
