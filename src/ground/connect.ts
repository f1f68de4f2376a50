import {once} from 'node:events';
import {connect, isIP, type Socket} from 'node:net';
import {type ConnectionOptions, type TLSSocket, connect as tlsConnect} from 'node:tls';
import {bareHost} from './text.ts';

/** The response of a proxy to CONNECT has a few headers. */
const MAX_RESPONSE_BYTES = 16 * 1024;

/** A connection through a proxy. */
interface TunnelRequest {
  host: string;
  port: number;
  /** URL of an HTTP proxy; it can contain a user name and a password. */
  proxy: string;
  /** PEM of the CAs that a proxy with https:// is checked against, instead of the public ones. */
  ca?: ConnectionOptions['ca'];
}

/** The proxy failed, not the host behind it. `cause` is why it could not be reached. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  /** What the proxy responded instead of a connection: an HTTP status or a short text; undefined if it could not be reached. */
  readonly refusal: string | undefined;

  constructor(message: string, {refusal, cause}: {refusal?: string; cause?: unknown}) {
    super(message, {cause});
    this.refusal = refusal;
  }
}

/** A TCP connection; it ends with the signal until it is open. Later errors close it and do not end the process. */
export const openTcp = (to: {host: string; port: number}, signal: AbortSignal): Promise<Socket> =>
  opened(connect(to), 'connect', signal);

/** TLS over an open connection. The caller closes only the result: Node.js 20 crashes if the inner connection ends first. */
export const openTls = (
  socket: Socket,
  host: string,
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<TLSSocket> =>
  opened(tlsConnect({...options, socket, ...serverName(host)}), 'secureConnect', signal);

async function opened<T extends Socket>(socket: T, event: string, signal: AbortSignal): Promise<T> {
  socket.on('error', () => undefined);
  try {
    await once(socket, event, {signal});
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Addresses are no server names. */
const serverName = (host: string): {servername?: string} =>
  isIP(host) > 0 ? {} : {servername: host};

/** Asks a proxy for a connection to a host. https://www.rfc-editor.org/rfc/rfc9110#CONNECT @throws ProxyError */
export async function openTunnel(
  {host, port, proxy, ca}: TunnelRequest,
  signal: AbortSignal,
): Promise<Socket> {
  const {hostname, port: proxyPort, protocol, host: shown} = new URL(proxy);
  const at = {
    host: bareHost(hostname),
    port: Number(proxyPort) || (protocol === 'https:' ? 443 : 80),
  };
  let socket: Socket;
  try {
    const plain = await openTcp(at, signal);
    socket =
      protocol === 'https:'
        ? await openTls(plain, at.host, ca === undefined ? {} : {ca}, signal)
        : plain;
  } catch (cause) {
    throw new ProxyError(`cannot connect to the proxy ${shown}: ${networkReason(cause)}`, {cause});
  }
  try {
    const refusal = await askForTunnel(socket, {host, port, proxy}, signal);
    if (refusal === undefined) return socket;
    throw new ProxyError(
      `the proxy ${shown} responded with ${/^\d/.test(refusal) ? `HTTP ${refusal}` : refusal}`,
      {refusal},
    );
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** What the proxy responded; undefined if it is connected. */
async function askForTunnel(
  socket: Socket,
  {host, port, proxy}: TunnelRequest,
  signal: AbortSignal,
): Promise<string | undefined> {
  const {username, password} = new URL(proxy);
  const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const login = Buffer.from(
    `${decodeURIComponent(username)}:${decodeURIComponent(password)}`,
  ).toString('base64');
  const lines = [
    `CONNECT ${target} HTTP/1.1`,
    `Host: ${target}`,
    ...(username === '' ? [] : [`Proxy-Authorization: Basic ${login}`]),
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  let response = '';
  while (!response.includes('\r\n\r\n')) {
    const [chunk] = (await Promise.race([
      once(socket, 'data', {signal}),
      once(socket, 'end', {signal}).then(() => ['']),
    ])) as [Buffer | string];
    if (chunk.length === 0 || response.length > MAX_RESPONSE_BYTES) return 'no complete response';
    response += chunk.toString('latin1');
  }
  const status = /^HTTP\/1\.\d (\d{3})/.exec(response)?.[1] ?? 'no HTTP response';
  return status.startsWith('2') ? undefined : status;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name not found',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed before the response was complete',
  ETIMEDOUT: 'timed out',
  UND_ERR_CONNECT_TIMEOUT: 'timed out',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
  CERT_HAS_EXPIRED: 'the certificate has expired',
};

/** The error behind another one: `fetch` hides it in `cause`, and a host with several addresses has one for each. */
export function networkError(error: unknown): NodeJS.ErrnoException {
  const {cause, errors} = error as {cause?: unknown; errors?: readonly unknown[]};
  const inner = errors?.[0] ?? cause;
  return inner instanceof Error ? networkError(inner) : (error as NodeJS.ErrnoException);
}

/** Why a connection or request failed, for a person: a part of a sentence. */
export function networkReason(error: unknown): string {
  const {code = '', message, name} = networkError(error);
  if (name === 'TimeoutError') return 'timed out';
  return REASONS[message === 'aborted' ? 'ECONNRESET' : code] ?? message;
}
