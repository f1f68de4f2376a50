import {request as requestOverHttp} from 'node:http';
import {Agent, type AgentOptions, type RequestOptions, request} from 'node:https';
import {BlockList, isIP} from 'node:net';
import type {Duplex} from 'node:stream';
import {type ConnectionOptions, connect, rootCertificates} from 'node:tls';

/** How this machine reaches Scalr. */
export interface ScalrRoute {
  /** URL of an HTTP proxy; it can contain a user name and a password. */
  proxy?: string | undefined;
  /** Hosts, domains and networks that bypass the proxy, as in NO_PROXY. */
  noProxy: readonly string[];
  /** PEM certificates that are trusted in addition to the public ones. */
  ca: readonly string[];
}

const PROXY_TIMEOUT_MS = 30_000;

/** Connections to one host. They are reused, and an idle one does not keep the program running. */
export function agentFor({hostname, port}: URL, {proxy, noProxy, ca}: ScalrRoute): Agent {
  // A list of CAs replaces the default one, which includes NODE_EXTRA_CA_CERTS.
  const options: AgentOptions = {keepAlive: true, ...(ca.length === 0 ? {} : {ca: [...rootCertificates, ...ca]})};
  const isDirect = proxy === undefined || bypassesProxy({hostname, port: port || '443'}, noProxy);
  return isDirect ? new Agent(options) : new TunnelAgent(new URL(proxy), options);
}

/** TLS inside a CONNECT tunnel. `Agent` of Node.js 20 has no option for a proxy. */
class TunnelAgent extends Agent {
  readonly #proxy: URL;

  constructor(proxy: URL, options: AgentOptions) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(options: RequestOptions, callback?: (error: Error | null, stream: Duplex) => void): undefined {
    const failed = callback as ((error: Error) => void) | undefined;
    this.#tunnel(`${options.host}:${options.port}`).then(
      (socket) => callback?.(null, connect({...options, socket} as ConnectionOptions)),
      failed,
    );
  }

  #tunnel(target: string): Promise<Duplex> {
    const {protocol, hostname, port, username, password} = this.#proxy;
    const credentials = [username, password].map(decodeURIComponent).join(':');
    const isSecure = protocol === 'https:';
    const {ca} = this.options;
    return new Promise((resolve, reject) => {
      const call = (isSecure ? request : requestOverHttp)({
        ...{method: 'CONNECT', path: target, timeout: PROXY_TIMEOUT_MS, ...(isSecure && ca ? {ca} : {})},
        hostname: hostname.replace(/^\[|\]$/g, ''),
        port: port || (isSecure ? 443 : 80),
        headers: {
          host: target,
          ...(username === '' ? {} : {'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`}),
        },
      });
      call.once('connect', ({statusCode}, socket) => {
        if (statusCode === 200) return resolve(socket);
        socket.destroy();
        reject(new ProxyError(`the proxy ${this.#proxy.host} responded with HTTP ${statusCode}`));
      });
      call.once('timeout', () => call.destroy(new ProxyError(`the proxy ${this.#proxy.host} did not respond`)));
      call.once('error', (error) =>
        reject(error instanceof ProxyError ? error : new ProxyError(`cannot connect to the proxy ${this.#proxy.host}: ${error.message}`)),
      );
      call.end();
    });
  }
}

/** The proxy failed, not Scalr. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
}

/** Whether an entry of NO_PROXY covers the host: a name, a domain with its subdomains, a network, `*`, each with or without a port. */
export function bypassesProxy({hostname, port}: {hostname: string; port: string}, noProxy: readonly string[]): boolean {
  const host = hostname.toLowerCase().replace(/^\[|\]$/g, '');
  return noProxy.some((entry) => {
    if (entry === '*') return true;
    if (entry.includes('/')) return isInNetwork(host, entry);
    const [, name = '', ofPort] = /^(.*?)(?::(\d+))?$/.exec(isIP(entry) === 6 ? entry : entry.toLowerCase()) ?? [];
    const domain = name.replace(/^\*?\./, '');
    return (ofPort === undefined || ofPort === port) && domain !== '' && (host === domain || host.endsWith(`.${domain}`));
  });
}

function isInNetwork(host: string, network: string): boolean {
  const [address = '', prefix = ''] = network.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(address) === 0 || isIP(host) !== isIP(address)) return false;
  const list = new BlockList();
  list.addSubnet(address, Number(prefix), family);
  return list.check(host, family);
}
