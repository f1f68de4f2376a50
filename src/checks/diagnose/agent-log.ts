import type {Pod} from '../../cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../cluster/kubernetes/snapshot.ts';
import {TOKEN_REJECTED} from '../../ground/errors.ts';
import {type Fields, isFields, jsonIn} from '../../ground/json.ts';
import {oneLine} from '../../ground/one-line.ts';

import type {CauseTable} from './cause.ts';
import {containersOf} from './pod-state.ts';
import {presentPods} from './rollout.ts';
import {rootOf} from './snapshot-queries.ts';

/** Platform of an agent: in a cluster, or on a machine with Docker or systemd. */
type AgentPlatform = 'kubernetes' | 'host';

/** Meaning of one kind of line in the agent log. */
interface AgentLogRow {
  code: string;
  pattern: RegExp;
  /** Seconds after which waiting longer does not help. A sidecar or a policy may need some seconds at the start. */
  permanentAfter?: number;
  /** Remedy by platform. The row does not apply to platforms without one. */
  remedy: Readonly<Partial<Record<AgentPlatform, string>>>;
  /** Often temporary, so a bundle reports it only if it occurred several times or still persists. */
  isTransient?: true;
  /** Has the same meaning in the log of a run, because it affects both the agent and its runs. */
  isAlsoOfRuns?: true;
  /** Applies regardless of the age of the line, because the agent logs it only when it needs the resource. */
  isLasting?: true;
}

/** The newest lines are errors that no row knows, and no line says that the agent is ready. */
const UNRECOGNIZED = 'AGENT_LOG_UNRECOGNIZED';

/**
 * The first matching row wins. The messages are those of the Python and Go libraries that the agent uses; Scalr documents
 * only the line of an agent that is ready.
 */
export const AGENT_LOG_ROWS: readonly AgentLogRow[] = [
  {
    code: 'DOCKER_UNREACHABLE',
    pattern:
      /(permission denied|cannot connect|connection refused|no such file).*docker(\.sock| daemon)/i,
    remedy: {
      host: 'The agent cannot reach Docker: mount /var/run/docker.sock into its container. On a VM, check scalr-docker',
    },
    isLasting: true,
  },
  {
    code: 'PROXY_REFUSED',
    pattern:
      /proxy ?error|proxy authentication required|tunnel connection failed|connect to proxy|407 from (the )?proxy|proxyconnect /i,
    permanentAfter: 60,
    remedy: {
      kubernetes:
        'The proxy rejects the agent: check --https-proxy, its credentials and --no-proxy',
      host: 'The proxy rejects the agent: check HTTPS_PROXY, its credentials and NO_PROXY',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'TLS_CERTIFICATE_INVALID',
    pattern:
      /certificate (has expired|is not yet valid|is valid for |is not valid for )|hostname mismatch|not valid for any names|doesn't match (either of )?'|IP address mismatch/i,
    permanentAfter: 30,
    remedy: {
      kubernetes:
        'The server certificate has expired or is for another host name: renew it, or correct --url. Also check the clock of the node',
      host: 'The server certificate has expired or is for another host name: renew it, or correct SCALR_URL. Also check the clock of this machine',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'TLS_UNKNOWN_AUTHORITY',
    pattern:
      /CERTIFICATE_VERIFY_FAILED|self[- ]signed certificate|local issuer certificate|unknown authority|SSLCertVerificationError/i,
    permanentAfter: 30,
    remedy: {
      kubernetes:
        'The agent does not trust the server certificate: add the CA with --ca-file or --ca-secret, and include the public roots',
      host: 'The agent does not trust the server certificate. Set SCALR_CA_CERT to the CA and the public roots: base64, or a path that the agent can read',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'TLS_FAILED',
    pattern:
      /\bx509: |\bSSL(EOF)?Error\b|WRONG_VERSION_NUMBER|\btls: |tlsv1[23]? alert|TLS handshake timeout/,
    permanentAfter: 60,
    remedy: {
      kubernetes:
        'The TLS handshake failed: check --url, and any proxy in between that intercepts TLS',
      host: 'The TLS handshake failed: check SCALR_URL, and any proxy in between that intercepts TLS',
    },
    isAlsoOfRuns: true,
  },
  {
    code: TOKEN_REJECTED,
    pattern:
      /\b401\b.{0,200}unauthori[sz]ed|unauthori[sz]ed.{0,200}\b401\b|(invalid|expired|revoked|wrong)( agent)? token|token (is |was |has been |has )?(invalid|rejected|refused|expired|revoked|not valid)/i,
    permanentAfter: 15,
    remedy: {
      kubernetes:
        'Scalr seems to reject the token. Create a new one in the agent pool, and replace the old one with rotate-token and --token-file. Check that --url belongs to the same account',
      host: 'Scalr seems to reject the token. Create a new one in the agent pool, and check that SCALR_URL belongs to the same account',
    },
  },
  {
    code: 'AGENT_FORBIDDEN',
    pattern: /User \\*"system:serviceaccount:[^"]*" cannot/i,
    permanentAfter: 30,
    remedy: {
      kubernetes:
        'The service account lacks permissions: let the chart create it and its Role, or bind a Role to --service-account-name',
    },
  },
  {
    code: 'DISK_FULL',
    pattern: /no space left on device|disk quota exceeded|Errno (28|122)\b|\bENOSPC\b/i,
    permanentAfter: 60,
    remedy: {
      kubernetes:
        'The agent volume is full: increase --cache-size or the size of the PVC, or free disk space on the node',
      host: 'The disk with the agent data is full: free space, or enlarge the disk',
    },
    isAlsoOfRuns: true,
  },
  {
    code: 'DATA_NOT_WRITABLE',
    pattern: /(permission denied|read-only file system).{0,400}\/|(Errno (13|30))\b/i,
    permanentAfter: 30,
    remedy: {
      kubernetes:
        'The agent cannot write its data: check the owner of --data-home, --cache-path or the volume of the PVC',
      host: 'The agent cannot write its data: check the owner of SCALR_DATA_HOME and of the volumes mounted there',
    },
  },
  {
    code: 'DNS_FAILED',
    pattern:
      /name or service not known|name resolution|NameResolutionError|getaddrinfo|no such host|no address associated with hostname|server misbehaving/i,
    permanentAfter: 120,
    remedy: {
      kubernetes:
        'The agent cannot resolve a host name: check --url, the cluster DNS, and whether egress policies allow port 53',
      host: 'The agent cannot resolve a host name: check SCALR_URL and the DNS settings of this machine',
    },
    isTransient: true,
  },
  {
    code: 'CONNECTION_FAILED',
    pattern:
      /connection refused|cannot connect to host|connect ?timeout|connection timed out|network is unreachable|no route to host|max retries exceeded/i,
    permanentAfter: 120,
    remedy: {
      kubernetes:
        'The agent cannot reach Scalr: check --url, egress policies, and whether --https-proxy is required',
      host: 'The agent cannot reach Scalr: check SCALR_URL, the firewall, and whether HTTPS_PROXY is required',
    },
    isTransient: true,
  },
  {
    code: UNRECOGNIZED,
    // Follows from several lines, never from one.
    pattern: /(?!)/,
    remedy: {
      kubernetes: 'Unknown cause. Check the log of the pod',
      host: 'Unknown cause. Check the log of the agent',
    },
  },
];

const READY_PATTERN = /agent is ready to receive tasks/i;

/** Matches lines with a meaning, and a few others. */
export const SIGNIFICANT_LINE = new RegExp(
  [READY_PATTERN, ...AGENT_LOG_ROWS.map(({pattern}) => pattern)]
    .map(({source}) => source)
    .join('|'),
  'i',
);

interface Verdict {
  /** `READY`, or the code of a row. */
  meaning: string;
  line: string;
  /** Time of the first of these lines without other lines in between, if the log has times. */
  since: string | undefined;
}

/** Container names of the three charts and of the tests. Other containers were injected, and their logs are not about the agent. */
const AGENT_CONTAINERS = [
  'agent',
  'agent-k8s',
  'agent-local',
  'agent-job',
  'scalr-agent',
  'controller',
  'worker',
];
/** Older lines of a running agent are outdated. */
const FRESH_MS = 10 * 60_000;
/** In a log without times, only this many lines at its end are used. */
const FRESH_LINES = 5;

export const isOfAgent = (container: string): boolean => AGENT_CONTAINERS.includes(container);

/** Meaning of one line on any platform. */
export function matchLine(
  raw: string,
): {meaning: string; text: string; at: string | undefined} | undefined {
  const line = parse(raw);
  const meaning = meaningOf(line, AGENT_LOG_ROWS);
  return meaning === undefined ? undefined : {meaning, text: line.text, at: line.at};
}

/** True if a line shows the state of an agent in Kubernetes. */
export const hasSignificantLine = (log: string): boolean =>
  log.split('\n').some((line) => meaningOf(parse(line), rowsFor('kubernetes')));

/** Meaning of the newest significant line of each agent container of a pod. */
function verdicts(snapshot: Snapshot, pod: Pod, now?: Date): Verdict[] {
  const containers = containersOf(pod);
  const own = containers.filter(({name}) => isOfAgent(name));
  return (own.length > 0 ? own : containers.slice(0, 1)).flatMap(
    ({name, ready = false}) =>
      verdictIn(snapshot.logs[`${pod.metadata.name}/${name}`] ?? '', 'kubernetes', ready, now) ??
      [],
  );
}

/** Meaning of the newest significant line of a log. Old lines of a ready agent are ignored. */
export function verdictIn(
  log: string,
  platform: AgentPlatform,
  isReady: boolean,
  now?: Date,
): Verdict | undefined {
  const rows = rowsFor(platform);
  const lines = log
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(parse)
    .map((line) => ({...line, meaning: meaningOf(line, rows)}))
    .reverse();
  const newest = lines.findIndex(({meaning}) => meaning !== undefined);
  const found = lines[newest];
  if (found?.meaning === undefined) return unrecognized(lines, now);
  const {meaning, text, at} = found;
  const isOld = at === undefined ? newest >= FRESH_LINES : isOutdated(at, now);
  const isLasting = meaning === 'READY' || rows.find(({code}) => code === meaning)?.isLasting;
  if (isReady && isOld && !isLasting) return undefined;
  const telling = lines.filter((line) => line.meaning !== undefined);
  const change = telling.findIndex((line) => line.meaning !== meaning);
  return {meaning, line: text, since: telling.slice(0, change < 0 ? undefined : change).at(-1)?.at};
}

const isOutdated = (at: string, now: Date | undefined): boolean =>
  now !== undefined && now.getTime() - Date.parse(at) > FRESH_MS;

/** So many errors in a row are no passing trouble. A log can be shorter. */
const FEW_LINES = 3;

/** The newest lines come first. */
function unrecognized(lines: readonly Line[], now: Date | undefined): Verdict | undefined {
  const newest = lines.slice(0, FEW_LINES);
  const [last] = newest;
  if (last === undefined || !newest.every(({isError}) => isError)) return undefined;
  if (last.at !== undefined && isOutdated(last.at, now)) return undefined;
  return {meaning: UNRECOGNIZED, line: last.text, since: newest.at(-1)?.at};
}

const rowsFor = (platform: AgentPlatform): AgentLogRow[] =>
  AGENT_LOG_ROWS.filter(({remedy}) => remedy[platform] !== undefined);

interface Line {
  raw: string;
  /** Message without time and format. */
  text: string;
  at: string | undefined;
  isChatter: boolean;
  isError: boolean;
}

function meaningOf({raw, isChatter}: Line, rows: readonly AgentLogRow[]): string | undefined {
  if (READY_PATTERN.test(raw)) return 'READY';
  return isChatter ? undefined : rows.find(({pattern}) => pattern.test(raw))?.code;
}

const TIME = /^\W*(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,]\d+)?(Z| ?[+-]\d\d:?\d\d)?\W*/;

function parse(raw: string): Line {
  const json = raw.trimStart().startsWith('{') ? jsonIn(raw) : undefined;
  const fields = isFields(json) ? json : undefined;
  const stamp = TIME.exec(String(fields?.['timestamp'] ?? raw));
  return {
    raw,
    text: fields ? textOf(fields) : raw.replace(TIME, '').trim(),
    // Times without a zone are local time of the container, and the images use UTC.
    at: stamp ? `${stamp[1]}T${stamp[2]}${stamp[3]?.trim() ?? 'Z'}` : undefined,
    isChatter: /^(debug|info)$/i.test(String(fields?.['level'] ?? '')),
    isError: fields
      ? ERROR_LEVEL.test(String(fields['level'] ?? ''))
      : ERROR_LEVEL.test(raw.replace(TIME, '').trimStart()),
  };
}

/** `error` of a JSON line; `[error] …`, `ERROR: …` at the start of a text. */
const ERROR_LEVEL = /^\W?(error|critical|fatal)\b/i;

/** The message, and the last line of a traceback. */
function textOf(fields: Fields): string {
  const message = fields['event'] ?? fields['message'] ?? fields['msg'] ?? '';
  const [error = ''] =
    /[^\n]*$/.exec(String(fields['exception'] ?? fields['error'] ?? '').trim()) ?? [];
  return [String(message), error].filter(Boolean).join(': ');
}

/** Message of the last line of a log. The time is removed, because it differs in every attempt. */
export function lastLogLine(log: string | undefined): string | undefined {
  const line = log?.split('\n').findLast((each) => each.trim() !== '');
  return line === undefined ? undefined : parse(line).text;
}

/** Also for pods that Kubernetes considers ready, because the charts have no readiness probes. */
export const agentLogCauses: CauseTable = {
  symptoms: (snapshot, now) =>
    presentPods(snapshot).flatMap((pod) =>
      verdicts(snapshot, pod, now).map(({meaning, line, since}) => ({
        object: pod,
        text: meaning,
        reason: oneLine(`agent log: ${line}`),
        since: since ?? pod.status?.startTime,
      })),
    ),
  rows: AGENT_LOG_ROWS.flatMap(({code, permanentAfter, remedy: {kubernetes: remedy}}) =>
    remedy === undefined ? [] : [{code, pattern: new RegExp(`^${code}$`), permanentAfter, remedy}],
  ),
};

/** State of the agents according to their logs: `unknown` if no line shows it. */
export function registered(snapshot: Snapshot, now?: Date): boolean | 'unknown' {
  const pods = presentPods(snapshot).map((pod) => ({
    root: rootOf(snapshot, pod),
    meanings: verdicts(snapshot, pod, now).map(({meaning}) => meaning),
  }));
  if (pods.some(({meanings}) => meanings.some((each) => each !== 'READY'))) return false;
  const ready = pods.filter(({meanings}) => meanings.includes('READY'));
  // Each replica logs only its own state, so all replicas of a workload must have logged it. Another workload can log other lines.
  const isComplete = ready.every(({root}) =>
    pods.filter((each) => each.root === root).every(({meanings}) => meanings.length > 0),
  );
  return ready.length > 0 && isComplete ? true : 'unknown';
}

export interface Agent {
  pod: string;
  /** `unknown` if the log has other lines, no longer has the line, or cannot be read. */
  state: 'registered' | 'unknown';
}

/** State of each agent according to the log of its pod. */
export function agentsOf(snapshot: Snapshot, now: Date): Agent[] {
  return presentPods(snapshot).map((pod) => {
    const found = verdicts(snapshot, pod, now);
    const isRegistered = found.length > 0 && found.every(({meaning}) => meaning === 'READY');
    return {pod: pod.metadata.name, state: isRegistered ? 'registered' : 'unknown'};
  });
}
