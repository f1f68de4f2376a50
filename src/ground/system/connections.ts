import type {Socket} from 'node:net';
import {withTimeout} from '../async.ts';
import {networkError, networkReason, openTcp, openTls, openTunnel, ProxyError} from '../connect.ts';
import type {
  ConnectionAnswer,
  ConnectionRequest,
  Connections,
  ManifestAnswer,
  Registries,
} from './system.ts';

const TIMEOUT_MS = 5000;

/** Connects as far as TLS, because a firewall can accept the connection and end it at the name of the server. */
export const connections: Connections = {
  open: (request, signal) =>
    withTimeout(TIMEOUT_MS, signal, (either) => tryConnection(request, either)),
};

async function tryConnection(
  request: ConnectionRequest,
  signal: AbortSignal,
): Promise<ConnectionAnswer> {
  const {host, port, proxy, isTls, ca} = request;
  let socket: Socket;
  try {
    socket = await (proxy === undefined
      ? openTcp({host, port}, signal)
      : openTunnel({host, port, proxy, ca}, signal));
  } catch (error) {
    if (!(error instanceof ProxyError)) return answerTo(error, signal);
    if (error.refusal !== undefined) return {state: 'proxy', detail: error.refusal};
    const answer = answerTo(error.cause, signal);
    return {...answer, state: PROXY_STATES[answer.state] ?? 'proxy-failed'};
  }
  if (isTls) return handshake(request, socket, signal);
  socket.destroy();
  return {state: 'ok', detail: ''};
}

const PROXY_STATES: Partial<Record<ConnectionAnswer['state'], ConnectionAnswer['state']>> = {
  dns: 'proxy-dns',
  refused: 'proxy-refused',
  timeout: 'proxy-timeout',
};

/** TLS with the server; its certificate is checked afterwards, so that the answer can name its issuer. */
async function handshake(
  {host, ca, client}: ConnectionRequest,
  socket: Socket,
  signal: AbortSignal,
): Promise<ConnectionAnswer> {
  const options = {
    rejectUnauthorized: false,
    ...(ca === undefined ? {} : {ca}),
    ...(client === undefined ? {} : {cert: client.certificate, key: client.key}),
  };
  try {
    const server = await openTls(socket, host, options, signal);
    const {authorized: isTrusted} = server;
    const {CN, O} = server.getPeerCertificate().issuer ?? {};
    server.destroy();
    if (isTrusted) return {state: 'ok', detail: ''};
    return {
      state: 'untrusted',
      detail: [CN, O].flat().find((each) => typeof each === 'string' && each !== '') ?? '',
    };
  } catch (error) {
    const answer = answerTo(error, signal);
    return answer.state === 'failed' ? {...answer, state: 'tls'} : answer;
  }
}

const STATES: Readonly<Record<string, ConnectionAnswer['state']>> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timeout',
};

function answerTo(error: unknown, signal: AbortSignal): ConnectionAnswer {
  if (signal.aborted) return {state: 'timeout', detail: ''};
  const {code = '', message} = networkError(error);
  const state = STATES[code];
  return state === undefined ? {state: 'failed', detail: code || message} : {state, detail: ''};
}

/** Requests without credentials. Registries of public images hand out tokens for them. */
export const registries: Registries = {
  async manifest(url, types, signal) {
    try {
      return await withTimeout(TIMEOUT_MS, signal, async (either) => {
        const head = (more: Readonly<Record<string, string>> = {}) =>
          fetch(url, {
            method: 'HEAD',
            headers: {accept: types.join(', '), ...more},
            signal: either,
          });
        const answer = await head();
        const token =
          answer.status === 401
            ? await anonymousToken(answer.headers.get('www-authenticate') ?? '', either)
            : undefined;
        return answerOf(
          token === undefined ? answer : await head({authorization: `Bearer ${token}`}),
          types,
        );
      });
    } catch (error) {
      return {state: 'failed', because: networkReason(error)};
    }
  },
};

function answerOf({status, headers}: Response, types: readonly string[]): ManifestAnswer {
  if (status === 404) return {state: 'missing'};
  if (status === 401 || status === 403) return {state: 'denied'};
  const type = headers.get('content-type') ?? 'no content type';
  if (status !== 200) return {state: 'failed', because: `it responded with HTTP ${status}`};
  // A login page also answers with 200.
  if (!types.some((each) => type.includes(each)))
    return {state: 'failed', because: `it responded with ${type} instead of a manifest`};
  const digest = headers.get('docker-content-digest');
  return {
    state: 'found',
    ...(digest !== null && /^sha256:[0-9a-f]{64}$/.test(digest) ? {digest} : {}),
  };
}

/** https://distribution.github.io/distribution/spec/auth/token/ */
async function anonymousToken(challenge: string, signal: AbortSignal): Promise<string | undefined> {
  if (!/^Bearer /i.test(challenge)) return undefined;
  const {realm = '', ...query} = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]),
  );
  if (!URL.canParse(realm)) return undefined;
  const url = new URL(realm);
  for (const key of ['service', 'scope'])
    if (query[key] !== undefined) url.searchParams.set(key, query[key]);
  const answer = await fetch(url, {signal});
  if (!answer.ok) return undefined;
  const {token, access_token: other} = (await answer.json()) as {
    token?: string;
    access_token?: string;
  };
  return token ?? other;
}
