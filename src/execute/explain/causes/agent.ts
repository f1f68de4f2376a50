import {type Meaning, verdicts} from '../agent-log.ts';
import type {CauseRecord} from '../cause.ts';
import {presentPods} from '../readiness.ts';
import {oneLine} from '../words.ts';

/** Also for a pod that Kubernetes calls ready: the charts have no readiness probes. */
const said = (code: Meaning, hopelessAfter: number, remedy: string): CauseRecord => ({
  code,
  hopelessAfter,
  remedy,
  test: (snapshot, now) =>
    presentPods(snapshot).flatMap((pod) =>
      verdicts(snapshot, pod, now)
        .filter(({meaning}) => meaning === code)
        .map(({line, since}) => ({object: pod, reason: oneLine(`agent log: ${line}`), since: since ?? pod.status?.startTime})),
    ),
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
  said('PROXY_REFUSED', 60, 'The proxy lets the agent not through: check --https-proxy, its user and --no-proxy'),
  said(
    'AGENT_FORBIDDEN',
    30,
    'The service account lacks rights: let the chart create Role and account, or bind them to --service-account-name',
  ),
  said('DATA_NOT_WRITABLE', 30, 'The agent cannot write its data: check owner and space of --data-home, --cache-path or the claim'),
  said('SCALR_UNREACHABLE', 120, 'The agent does not reach Scalr: check --url, DNS, egress policies and whether it needs --https-proxy'),
];
