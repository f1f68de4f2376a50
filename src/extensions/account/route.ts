import {Agent, type AgentOptions, type RequestOptions} from 'node:https';
import type {Duplex} from 'node:stream';
import {type ConnectionOptions, connect, rootCertificates} from 'node:tls';
import {openTunnel} from '../../ground/connect.ts';

/** How this machine reaches Scalr. */
export interface ScalrRoute {
  /** URL of an HTTP proxy; undefined for a direct connection. */
  proxy: string | undefined;
  /** PEM certificates that are trusted in addition to the public ones. */
  ca: readonly string[];
}

const PROXY_TIMEOUT_MS = 30_000;

/** Connections to one host. They are reused, and an idle one does not keep the program running. */
export function agentFor({proxy, ca}: ScalrRoute): Agent {
  // A list of CAs replaces the default one, which includes NODE_EXTRA_CA_CERTS.
  const options: AgentOptions = {
    keepAlive: true,
    ...(ca.length === 0 ? {} : {ca: [...rootCertificates, ...ca]}),
  };
  return proxy === undefined ? new Agent(options) : new TunnelAgent(proxy, options);
}

/** TLS inside a CONNECT tunnel. `Agent` of Node.js 20 has no option for a proxy. */
class TunnelAgent extends Agent {
  readonly #proxy: string;

  constructor(proxy: string, options: AgentOptions) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(
    options: RequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const failed = callback as ((error: Error) => void) | undefined;
    const {ca} = this.options;
    const to = {host: String(options.host), port: Number(options.port), proxy: this.#proxy, ca};
    openTunnel(to, AbortSignal.timeout(PROXY_TIMEOUT_MS)).then(
      (socket) => callback?.(null, connect({...options, socket} as ConnectionOptions)),
      failed,
    );
  }
}
