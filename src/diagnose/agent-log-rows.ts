import type {Pod, Snapshot} from '../cluster/objects.ts';
import {type Meaning, type Verdict, verdicts} from './agent-log.ts';
import type {CauseRecord} from './cause.ts';
import {oneLine} from './error-text.ts';
import {presentPods} from './readiness.ts';

interface Heard {
  now: Date;
  verdicts: readonly (Verdict & {pod: Pod})[];
}

const heardIn = new WeakMap<Snapshot, Heard>();

/** Each log is read once for all causes, not once for each: there may be hundreds. */
function hear(snapshot: Snapshot, now: Date): Heard['verdicts'] {
  const known = heardIn.get(snapshot);
  if (known?.now.getTime() === now.getTime()) return known.verdicts;
  const heard = presentPods(snapshot).flatMap((pod) => verdicts(snapshot, pod, now).map((verdict) => ({...verdict, pod})));
  heardIn.set(snapshot, {now, verdicts: heard});
  return heard;
}

/** Also for a pod that Kubernetes calls ready: the charts have no readiness probes. */
const said = (code: Meaning, hopelessAfter: number, remedy: string): CauseRecord => ({
  code,
  hopelessAfter,
  remedy,
  test: (snapshot, now) =>
    hear(snapshot, now)
      .filter(({meaning}) => meaning === code)
      .map(({pod, line, since}) => ({object: pod, reason: oneLine(`agent log: ${line}`), since: since ?? pod.status?.startTime})),
});

/** Read from the log of the agent, so each is a good guess. A side-car or a policy may need some seconds at the start. */
export const agentCauses: readonly CauseRecord[] = [
  said(
    'TOKEN_REJECTED',
    15,
    'Scalr seems to refuse the token: make a new one in the agent pool, and check that --url is of the same account',
  ),
  said(
    'TLS_UNKNOWN_AUTHORITY',
    30,
    'The agent does not trust the certificate it is shown: give the authority with --ca-file or --ca-secret, public roots included',
  ),
  said(
    'TLS_CERTIFICATE_INVALID',
    30,
    'The certificate that the agent is shown has expired or is of another name: renew it, or correct --url; also look at the clock of the node',
  ),
  said(
    'TLS_FAILED',
    60,
    'The agent and what answers it find no TLS in common: look at what stands between them, a proxy that opens TLS or --url',
  ),
  said('PROXY_REFUSED', 60, 'The proxy lets the agent not through: check --https-proxy, its user and --no-proxy'),
  said(
    'AGENT_FORBIDDEN',
    30,
    'The service account lacks rights: let the chart create Role and account, or bind them to --service-account-name',
  ),
  said('DISK_FULL', 60, 'The volume of the agent is full: enlarge --cache-size or the claim, or free the disk of the node'),
  said('DATA_NOT_WRITABLE', 30, 'The agent cannot write its data: check the owner of --data-home, --cache-path or the claim'),
  said(
    'DNS_FAILED',
    120,
    'The agent cannot resolve a name: check --url, the DNS of the cluster, and whether an egress policy lets port 53 through',
  ),
  said('SCALR_UNREACHABLE', 120, 'The agent does not reach Scalr: check --url, egress policies and whether it needs --https-proxy'),
];
