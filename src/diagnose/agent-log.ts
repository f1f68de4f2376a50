import type {Pod, Snapshot} from '../cluster/objects.ts';
import {containersOf} from './snapshot-queries.ts';

/**
 * What the agent's own words mean. Upstream documents one line, the ready one (docs.scalr.io, "Logs"). The others are what the
 * Python libraries below it are known to say; they were not seen in a log of the agent.
 */
const MEANINGS = {
  READY: /agent is ready to receive tasks/i,
  PROXY_REFUSED:
    /proxy ?error|proxy authentication required|tunnel connection failed|connect to proxy|407 from (the )?proxy|proxyconnect /i,
  TLS_CERTIFICATE_INVALID:
    /certificate (has expired|is not yet valid|is valid for |is not valid for )|hostname mismatch|not valid for any names|doesn't match (either of )?'|IP address mismatch/i,
  TLS_UNKNOWN_AUTHORITY:
    /CERTIFICATE_VERIFY_FAILED|self[- ]signed certificate|local issuer certificate|unknown authority|SSLCertVerificationError/i,
  TLS_FAILED: /\bx509: |\bSSL(EOF)?Error\b|WRONG_VERSION_NUMBER|\btls: |tlsv1[23]? alert|TLS handshake timeout/,
  TOKEN_REJECTED:
    /\b401\b.{0,200}unauthori[sz]ed|unauthori[sz]ed.{0,200}\b401\b|(invalid|expired|revoked|wrong)( agent)? token|token (is |was |has been |has )?(invalid|rejected|refused|expired|revoked|not valid)/i,
  AGENT_FORBIDDEN: /User \\*"system:serviceaccount:[^"]*" cannot/i,
  DISK_FULL: /no space left on device|disk quota exceeded|Errno (28|122)\b|\bENOSPC\b/i,
  DATA_NOT_WRITABLE: /(permission denied|read-only file system).{0,400}\/|(Errno (13|30))\b/i,
  DNS_FAILED:
    /name or service not known|name resolution|NameResolutionError|getaddrinfo|no such host|no address associated with hostname|server misbehaving/i,
  SCALR_UNREACHABLE:
    /connection refused|cannot connect to host|connect ?timeout|connection timed out|network is unreachable|no route to host|max retries exceeded/i,
} as const;

export type Meaning = keyof typeof MEANINGS;

/** A line without any of these means nothing. Short ones, and those that begin with a digit, make searching for them slower. */
const TELLING_WORDS: readonly string[] = [
  ...[
    'ready to receive tasks',
    'proxyerror',
    'proxy error',
    'proxy authentication',
    'connect to proxy',
    'from proxy',
    'from the proxy',
    'proxyconnect',
  ],
  'tunnel connection failed',
  ...['certificate', 'hostname mismatch', 'ip address mismatch', "doesn't match", 'unknown authority', 'not valid for any names'],
  ...['x509: ', 'sslerror', 'ssleof', 'sslcert', 'wrong_version_number', 'tls: ', 'tlsv1', 'tls handshake timeout'],
  ...['unauthorised', 'unauthorized', 'agent token', 'invalid token', 'expired token', 'revoked token', 'wrong token'],
  ...['is', 'was', 'has', 'invalid', 'rejected', 'refused', 'expired', 'revoked', 'not valid'].map((word) => `token ${word}`),
  'system:serviceaccount:',
  ...['no space left', 'disk quota exceeded', 'errno ', 'enospc', 'permission denied', 'read-only file system'],
  ...['name or service not known', 'name resolution', 'nameresolution', 'getaddrinfo', 'no such host', 'no address associated'],
  'server misbehaving',
  ...['connection refused', 'cannot connect to host', 'connect timeout', 'connecttimeout', 'connection timed out'],
  ...['network is unreachable', 'no route to host', 'max retries exceeded'],
];

/** For text whose capitals were made small: a regular expression that has to mind them itself takes half as long again. */
export const TELLING = new RegExp(TELLING_WORDS.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'));

export interface Verdict {
  meaning: Meaning;
  /** The line, without format. */
  line: string;
  /** When it was first said without anything else in between, if the log has times. */
  since: string | undefined;
}

/** Names the three charts and this program's tests give; other containers were injected, and their words are about themselves. */
const AGENT_CONTAINERS = ['agent', 'agent-k8s', 'agent-local', 'agent-job', 'scalr-agent', 'controller', 'worker'];
/** Older words of an agent that runs say nothing of today. */
const FRESH_MS = 10 * 60_000;
/** Where a log has no times, what was said before these lines is past. */
const FRESH_LINES = 5;

export const isOfAgent = (container: string): boolean => AGENT_CONTAINERS.includes(container);

/** What one line means, if anything. */
export function meant(line: string): {meaning: Meaning; text: string; at: string | undefined} | undefined {
  const {meaning, text, at} = parse(line);
  return meaning && {meaning, text, at};
}

/** Some line says how the agent is. */
export const isTelling = (log: string): boolean => log.split('\n').some((line) => parse(line).meaning !== undefined);

/** What the newest telling line of each agent container means. */
export function verdicts(snapshot: Snapshot, pod: Pod, now?: Date): Verdict[] {
  const containers = containersOf(pod);
  const own = containers.filter(({name}) => isOfAgent(name));
  return (own.length > 0 ? own : containers.slice(0, 1)).flatMap(({name, ready = false}) => {
    const verdict = verdictIn(snapshot.logs[`${pod.metadata.name}/${name}`] ?? '', ready, now);
    return verdict === undefined ? [] : [verdict];
  });
}

/** What the newest telling line of one log means. Of one that is ready old words say nothing. */
export function verdictIn(log: string, isReady: boolean, now?: Date): Verdict | undefined {
  if (!TELLING.test(log.toLowerCase())) return undefined;
  const lines = log
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(parse)
    .reverse();
  const newest = lines.findIndex(({meaning}) => meaning !== undefined);
  const found = lines[newest];
  if (found?.meaning === undefined) return undefined;
  const {meaning, text, at} = found;
  const isOld = at === undefined ? newest >= FRESH_LINES : now !== undefined && now.getTime() - Date.parse(at) > FRESH_MS;
  if (isReady && isOld && meaning !== 'READY') return undefined;
  const telling = lines.filter((line) => line.meaning !== undefined);
  const change = telling.findIndex((line) => line.meaning !== meaning);
  return {meaning, line: text, since: telling.slice(0, change < 0 ? undefined : change).at(-1)?.at};
}

interface Line {
  text: string;
  at: string | undefined;
  meaning: Meaning | undefined;
}

const TIME = /^\W*(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,]\d+)?(Z| ?[+-]\d\d:?\d\d)?\W*/;

function parse(raw: string): Line {
  const fields = fieldsOf(raw);
  const stamp = TIME.exec(String(fields?.['timestamp'] ?? raw));
  // Without a zone it is that of the container, and images run in UTC.
  const at = stamp ? `${stamp[1]}T${stamp[2]}${stamp[3]?.trim() ?? 'Z'}` : undefined;
  const isChatter = /^(debug|info)$/i.test(String(fields?.['level'] ?? ''));
  const meanings = Object.keys(MEANINGS) as Meaning[];
  const meaning = meanings.find((each) => MEANINGS[each].test(raw) && (each === 'READY' || !isChatter));
  return {text: fields ? textOf(fields) : raw.replace(TIME, '').trim(), at, meaning};
}

/** The message, and the last line of a traceback. */
function textOf(fields: Readonly<Record<string, unknown>>): string {
  const message = fields['event'] ?? fields['message'] ?? fields['msg'] ?? '';
  const error = String(fields['exception'] ?? fields['error'] ?? '')
    .trim()
    .split('\n')
    .at(-1);
  return [String(message), error].filter(Boolean).join(': ');
}

function fieldsOf(line: string): Record<string, unknown> | undefined {
  if (!line.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** The last line of a log, without its time: that is another one with every try. */
export function lastWords(log: string | undefined): string | undefined {
  const line = log?.split('\n').findLast((each) => each.trim() !== '');
  return line === undefined ? undefined : parse(line).text;
}
