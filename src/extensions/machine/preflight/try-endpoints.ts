import {rootCertificates} from 'node:tls';
import {type Endpoint, isInside, isPattern} from '../../../charts/endpoints.ts';
import {pooled} from '../../../ground/async.ts';
import type {
  ConnectionAnswer,
  ConnectionRequest,
  Connections,
} from '../../../ground/system/system.ts';
import type {Get} from '../../../settings/define.ts';
import {proxyFor} from '../../../settings/kinds/no-proxy.ts';
import {httpProxy, httpsProxy, IN_CLUSTER, noProxy} from '../../../settings/network.ts';
import type {TargetName} from '../../../settings/release.ts';
import {
  caFile,
  caPublicRoots,
  caSecret,
  clientCertFile,
  clientKeyFile,
} from '../../../settings/tls.ts';

/** An endpoint, and what this machine found if it was tried. */
export interface ListedEndpoint extends Endpoint {
  probe?: {status: 'reachable' | 'unreachable' | 'skipped'; message: string};
}

/** Connections at the same time. */
const WIDTH = 16;

/** Tries every endpoint that this machine can try, through the proxy and with the CAs of the settings; each host and port once. */
export async function tryEndpoints(
  endpoints: readonly Endpoint[],
  {get, target}: {get: Get; target: TargetName},
  {connections, signal}: {connections: Connections; signal: AbortSignal},
): Promise<Required<ListedEndpoint>[]> {
  const planned = endpoints.map((endpoint) => ({endpoint, plan: planFor(endpoint, get, target)}));
  const requests = new Map(
    planned.flatMap(({plan}) => ('because' in plan ? [] : [[keyOf(plan), plan] as const])),
  );
  const answers = new Map(
    await pooled(
      [...requests],
      WIDTH,
      async ([key, request]) => [key, await connections.open(request, signal)] as const,
    ),
  );
  return planned.map(({endpoint, plan}) => {
    if ('because' in plan)
      return {...endpoint, probe: {status: 'skipped' as const, message: plan.because}};
    const answer = answers.get(keyOf(plan)) as ConnectionAnswer;
    return {
      ...endpoint,
      probe: {
        status: answer.state === 'ok' ? ('reachable' as const) : ('unreachable' as const),
        message: connectionText(answer, plan, get),
      },
    };
  });
}

const keyOf = ({host, port, isTls, proxy, ca}: ConnectionRequest): string =>
  JSON.stringify([host, port, isTls, proxy, ca]);

/** The connection to try, or why there is none. */
function planFor(
  endpoint: Endpoint,
  get: Get,
  target: TargetName,
): ConnectionRequest | {because: string} {
  const {host, port, protocol, purpose, from} = endpoint;
  if (isPattern(endpoint))
    return {
      because: host.startsWith('<') ? 'its address is not known here' : 'a pattern, not a host',
    };
  if (protocol === 'UDP') return {because: 'UDP has no connections'};
  if (target === 'kubernetes' && isInside(endpoint) && purpose !== 'proxy')
    return {because: 'only reachable from the cluster: scalr-agent preflight --probe'};
  // Cloud providers alert on connections to it.
  if (purpose === 'metadata') return {because: 'only runs connect to it'};
  const isTls = port === 443 || (ALWAYS_TLS.includes(purpose) && port !== 80);
  // gRPC reads only proxy variables in lower case, which neither the charts nor this program set.
  const isDirect = isInside(endpoint) || purpose === 'telemetry';
  const url = new URL(
    `${isTls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
  );
  const excluded = [...(get(noProxy) ?? []), ...IN_CLUSTER];
  const proxy = isDirect
    ? undefined
    : proxyFor(url, {https: get(httpsProxy), http: get(httpProxy), excluded});
  if (proxy !== undefined && !isTls) return {because: 'plain HTTP through a proxy is not tried'};
  const certificate = get(clientCertFile);
  const key = get(clientKeyFile);
  const isAgent = from === 'agent' || from === 'runs';
  return {
    host,
    port,
    isTls,
    proxy,
    ca: trusted(get, isAgent),
    client:
      purpose === 'scalr' && certificate && key
        ? {certificate: certificate.reveal(), key: key.reveal()}
        : undefined,
  };
}

const ALWAYS_TLS: readonly string[] = ['scalr', 'state', 'images', 'providers', 'vcs'];

/** The bundle replaces the public roots of the agent; nodes and other tools have public roots of their own. */
function trusted(get: Get, isAgent: boolean): string | undefined {
  const bundle = get(caFile);
  if (bundle === undefined) return undefined;
  return isAgent && !get(caPublicRoots) ? bundle : [bundle, ...rootCertificates].join('\n');
}

/** What happened, for a person: a part of a sentence. */
export function connectionText(
  {state, detail}: ConnectionAnswer,
  {host, proxy}: ConnectionRequest,
  get: Get,
): string {
  const via = proxy === undefined ? undefined : new URL(proxy).host;
  const texts: Readonly<Record<ConnectionAnswer['state'], string>> = {
    ok: via === undefined ? 'connected' : `connected through the proxy ${via}`,
    dns: 'host name not found',
    refused: 'connection refused',
    timeout:
      via === undefined ? 'no response in time' : `no response in time through the proxy ${via}`,
    tls: `TLS handshake failed${detail === '' ? '' : ` (${detail})`}`,
    untrusted: `certificate signed by ${detail || 'an unknown authority'}, which ${trustOf(get)}`,
    proxy:
      detail === '407'
        ? `the proxy ${via} requires authentication (407)`
        : `the proxy ${via} refused to connect to ${host} (${detail})`,
    'proxy-dns': `host name of the proxy ${via} not found`,
    'proxy-refused': `the proxy ${via} refused the connection`,
    'proxy-timeout': `the proxy ${via} did not respond in time`,
    'proxy-failed': `cannot connect to the proxy ${via} (${detail})`,
    failed: `connection failed (${detail})`,
  };
  return texts[state];
}

function trustOf(get: Get): string {
  if (get(caFile) !== undefined) return 'is not in --ca-file';
  return get(caSecret) === undefined
    ? 'is not a public CA: set --ca-file'
    : 'this machine does not trust; Secrets are not read';
}
