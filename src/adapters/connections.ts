import {once} from 'node:events';
import {connect, isIP, type Socket} from 'node:net';
import {type TLSSocket, connect as tlsConnect} from 'node:tls';
import {withTimeout} from '../ground/signals.ts';
import type {ConnectionAnswer, ConnectionRequest, Connections} from '../ports/connections.ts';

const TIMEOUT_MS = 5000;
/** The response of a proxy to CONNECT has a few headers. */
const MAX_RESPONSE_BYTES = 16 * 1024;

/** Connects as far as TLS, because a firewall can accept the connection and end it at the name of the server. */
export const connections: Connections = {
  async open(request, signal) {
    const sockets: Socket[] = [];
    try {
      return await withTimeout(TIMEOUT_MS, signal, (either) => tryConnection(request, sockets, either));
    } finally {
      // The last one ends those that it wraps; Node.js 20 crashes if they end first.
      sockets.at(-1)?.destroy();
    }
  },
};

async function tryConnection(request: ConnectionRequest, sockets: Socket[], signal: AbortSignal): Promise<ConnectionAnswer> {
  const {host, port, proxy, isTls, ca} = request;
  const keep = <T extends Socket>(socket: T): T => {
    // A socket that fails later must not end the process.
    sockets.push(socket.on('error', () => undefined));
    return socket;
  };
  let socket: Socket;
  try {
    socket = await dial(proxy === undefined ? {host, port} : addressOf(proxy), keep, signal);
    if (proxy?.startsWith('https:'))
      socket = await secured(keep(tlsConnect({socket, ...serverName(new URL(proxy).hostname), ...(ca === undefined ? {} : {ca})})), signal);
  } catch (error) {
    const answer = answerTo(error, signal);
    return proxy === undefined ? answer : {...answer, state: PROXY_STATES[answer.state] ?? 'proxy-failed'};
  }
  try {
    if (proxy !== undefined) {
      const status = await tunnel(socket, {host, port, proxy}, signal);
      if (!/^2/.test(status)) return {state: 'proxy', detail: status};
    }
    return isTls ? await handshake(request, keep, socket, signal) : {state: 'ok', detail: ''};
  } catch (error) {
    const answer = answerTo(error, signal);
    return isTls && answer.state === 'failed' ? {...answer, state: 'tls'} : answer;
  }
}

const PROXY_STATES: Partial<Record<ConnectionAnswer['state'], ConnectionAnswer['state']>> = {
  dns: 'proxy-dns',
  refused: 'proxy-refused',
  timeout: 'proxy-timeout',
};

type Keep = <T extends Socket>(socket: T) => T;

async function dial(to: {host: string; port: number}, keep: Keep, signal: AbortSignal): Promise<Socket> {
  const socket = keep(connect(to));
  await once(socket, 'connect', {signal});
  return socket;
}

async function secured(socket: TLSSocket, signal: AbortSignal): Promise<TLSSocket> {
  await once(socket, 'secureConnect', {signal});
  return socket;
}

/** Addresses are no server names. */
const serverName = (host: string): {servername?: string} => (isIP(host.replace(/^\[|\]$/g, '')) > 0 ? {} : {servername: host});

/** TLS with the server; its certificate is checked afterwards, so that the answer can name its issuer. */
async function handshake(
  {host, ca, client}: ConnectionRequest,
  keep: Keep,
  socket: Socket,
  signal: AbortSignal,
): Promise<ConnectionAnswer> {
  const server = await secured(
    keep(
      tlsConnect({
        socket,
        rejectUnauthorized: false,
        ...serverName(host),
        ...(ca === undefined ? {} : {ca}),
        ...(client === undefined ? {} : {cert: client.certificate, key: client.key}),
      }),
    ),
    signal,
  );
  if (server.authorized) return {state: 'ok', detail: ''};
  const {CN, O} = server.getPeerCertificate().issuer ?? {};
  return {state: 'untrusted', detail: [CN, O].flat().find((each) => typeof each === 'string' && each !== '') ?? ''};
}

function addressOf(proxy: string): {host: string; port: number} {
  const {hostname, port, protocol} = new URL(proxy);
  return {host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80)};
}

/** Asks the proxy for a connection; returns its status. https://www.rfc-editor.org/rfc/rfc9110#CONNECT */
async function tunnel(
  socket: Socket,
  {host, port, proxy}: {host: string; port: number; proxy: string},
  signal: AbortSignal,
): Promise<string> {
  const {username, password} = new URL(proxy);
  const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const lines = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`, ...(username === '' ? [] : [`Proxy-Authorization: Basic ${login}`])];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  let response = '';
  while (!response.includes('\r\n\r\n')) {
    // An end without a response is an error too.
    const [chunk] = (await Promise.race([once(socket, 'data', {signal}), once(socket, 'end', {signal}).then(() => [''])])) as [
      Buffer | string,
    ];
    if (chunk.length === 0 || response.length > MAX_RESPONSE_BYTES) throw new Error('the proxy closed the connection');
    response += chunk.toString('latin1');
  }
  return /^HTTP\/1\.\d (\d{3})/.exec(response)?.[1] ?? 'no HTTP response';
}

const STATES: Readonly<Record<string, ConnectionAnswer['state']>> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timeout',
};

function answerTo(error: unknown, signal: AbortSignal): ConnectionAnswer {
  if (signal.aborted) return {state: 'timeout', detail: ''};
  // Addresses of both families were tried.
  const {code = '', message = ''} = ((error as AggregateError).errors?.[0] ?? error) as {code?: string; message?: string};
  const state = STATES[code];
  return state === undefined ? {state: 'failed', detail: code || message} : {state, detail: ''};
}
