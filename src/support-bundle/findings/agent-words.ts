import {type Meaning, verdictIn} from '../../execute/explain/agent-log.ts';
import type {LogRecord} from '../collect/read-logs.ts';
import type {Finding} from './finding.ts';
import {withoutPrefix} from './log-words.ts';

type Remedies = Readonly<Record<Exclude<Meaning, 'READY' | 'AGENT_FORBIDDEN'>, string>>;

const REMEDIES: Remedies = {
  TOKEN_REJECTED: 'Scalr seems to refuse the token: make a new one in the agent pool, and check that SCALR_URL is of the same account',
  TLS_UNKNOWN_AUTHORITY:
    'The agent does not trust the certificate it is shown: give the authority with SCALR_CA_CERT, a path that the agent sees or base64, public roots included',
  TLS_CERTIFICATE_INVALID:
    'The certificate that the agent is shown has expired or is of another name: renew it, or correct SCALR_URL; also look at the clock of this machine',
  TLS_FAILED: 'The agent and what answers it find no TLS in common: look at what stands between them, a proxy that opens TLS or SCALR_URL',
  PROXY_REFUSED: 'The proxy lets the agent not through: check HTTPS_PROXY, its user and NO_PROXY',
  DISK_FULL: 'The disk is full where the agent keeps its data: free or enlarge it',
  DATA_NOT_WRITABLE: 'The agent cannot write its data: check the owner of SCALR_DATA_HOME and of what is mounted there',
  DNS_FAILED: 'The agent cannot resolve a name: check SCALR_URL and the DNS of this machine',
  SCALR_UNREACHABLE: 'The agent does not reach Scalr: check SCALR_URL, the firewall and whether it needs HTTPS_PROXY',
};
const NO_DOCKER = /(permission denied|cannot connect|connection refused|no such file).*docker(\.sock| daemon)/i;

/** What the newest telling line of a log means, and a log without a line. */
export function findingsInWords(record: LogRecord | undefined, object: string, isRunning: boolean, now: Date): Finding[] {
  if (record === undefined) return [];
  const evidence = record.file;
  const lines = record.tail
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('-- '))
    .map(withoutPrefix);
  if (lines.length === 0) {
    // It may have said much, which nobody could read.
    if (record.isPart) return [];
    const message = 'it said nothing in the time that was looked at';
    return [
      {
        severity: 'warning',
        code: 'NO_LOG',
        object,
        message,
        evidence,
        remedy: 'Look further back with --since, and whether it runs at all',
      },
    ];
  }
  const socket = lines.slice(-20).findLast((line) => NO_DOCKER.test(line));
  if (socket !== undefined) {
    const remedy = 'The agent does not reach docker: mount /var/run/docker.sock into its container, and on a VM check scalr-docker';
    return [{severity: 'error', code: 'DOCKER_UNREACHABLE', object, message: `agent log: ${socket}`, evidence, remedy}];
  }
  const verdict = verdictIn(lines.join('\n'), isRunning, now);
  const remedy = verdict && REMEDIES[verdict.meaning as keyof Remedies];
  if (verdict === undefined || remedy === undefined) return [];
  const {line} = record.said.find(({meaning}) => meaning === verdict.meaning) ?? {};
  return [
    {
      severity: 'error',
      code: verdict.meaning,
      object,
      message: `agent log: ${verdict.line}`,
      evidence,
      ...(line === undefined ? {} : {line}),
      remedy,
    },
  ];
}
