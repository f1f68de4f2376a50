import {once} from 'node:events';
import type {IncomingMessage} from 'node:http';
import {Agent, request} from 'node:https';
import {pipeline} from 'node:stream/promises';
import {kubectlFor} from './kubectl.ts';

interface Config {
  clusters: {cluster: {server: string; 'certificate-authority-data': string}}[];
  users: {user: {'client-certificate-data'?: string; 'client-key-data'?: string}}[];
}

const decode = (text = ''): Buffer => Buffer.from(text, 'base64');

/** Forwards requests to the cluster of a kubeconfig with its client certificate. Resolves with the response. */
export async function forwarder(
  kubeconfig: string,
): Promise<(incoming: IncomingMessage) => Promise<IncomingMessage>> {
  const kubectl = await kubectlFor(kubeconfig);
  const config: Config = JSON.parse(
    await kubectl('config', 'view', '--raw', '--flatten', '--minify', '--output', 'json'),
  );
  const [{cluster}] = config.clusters as [Config['clusters'][0]];
  const [{user}] = config.users as [Config['users'][0]];
  const agent = new Agent({
    ca: decode(cluster['certificate-authority-data']),
    cert: decode(user['client-certificate-data']),
    key: decode(user['client-key-data']),
    keepAlive: true,
  });
  return async (incoming) => {
    const {method, url, headers} = incoming;
    const call = request(`${cluster.server}${url}`, {agent, method, headers});
    const answered = once(call, 'response') as Promise<[IncomingMessage]>;
    const [[answer]] = await Promise.all([answered, pipeline(incoming, call)]);
    return answer;
  };
}
