import {Agent, type AgentOptions, type RequestOptions} from 'node:https';
import type {Duplex} from 'node:stream';
import {type ConnectionOptions, connect, createSecureContext, rootCertificates} from 'node:tls';
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
  const trusted = ca.length === 0 ? undefined : [...rootCertificates, ...ca];
  // Reading the public certificates takes 20 ms, so the connections share them.
  const secureContext = trusted && createSecureContext({ca: trusted});
  const options: AgentOptions = {keepAlive: true, ...(secureContext && {secureContext})};
  return proxy === undefined ? new Agent(options) : new TunnelAgent({proxy, ca: trusted}, options);
}

interface Tunnel {
  proxy: string;
  /** PEM of the CAs of a proxy with https://. */
  ca: string[] | undefined;
}

/** TLS inside a CONNECT tunnel. `Agent` of Node.js 20 has no option for a proxy. */
class TunnelAgent extends Agent {
  readonly #tunnel: Tunnel;

  constructor(tunnel: Tunnel, options: AgentOptions) {
    super(options);
    this.#tunnel = tunnel;
  }

  override createConnection(
    options: RequestOptions,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const failed = callback as ((error: Error) => void) | undefined;
    const to = {...this.#tunnel, host: String(options.host), port: Number(options.port)};
    openTunnel(to, AbortSignal.timeout(PROXY_TIMEOUT_MS)).then(
      (socket) => callback?.(null, connect({...options, socket} as ConnectionOptions)),
      failed,
    );
  }
}
