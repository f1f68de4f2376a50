import {expect, test} from 'vitest';
import type {PreflightContext} from '../../../../src/checks/preflight/facts/context.ts';
import type {ProbeOutcome, ProbePlan} from '../../../../src/checks/preflight/facts/probe.ts';
import {probeChecks} from '../../../../src/checks/preflight/probe/probe-checks.ts';
import {type Case, prove} from '../checks/prove.ts';
import {preflightContext, saidBy} from '../context.ts';

const PLAN: ProbePlan = {
  pod: 'scalr-agent-probe-1',
  objects: [],
  image: 'scalr/agent:1.4.0',
  url: 'https://acme.scalr.io',
  proxy: undefined,
  urlProxies: new Map([['https://gitlab.example.com/', undefined]]),
  hasCertificates: false,
  notes: [],
};
const PROXIED = {proxy: 'proxy.example.com:3128'};
const TRUSTING = {hasCertificates: true};

const seen = (
  seen: Partial<ProbeOutcome>,
  plan: Partial<ProbePlan> = {},
): Partial<PreflightContext> => ({
  probe: {plan: {...PLAN, ...plan}, seen: {causes: [], ...seen}},
});
/** A probe that came to its end on node one. */
const log = (lines: readonly string[], plan: Partial<ProbePlan> = {}): Partial<PreflightContext> =>
  seen(
    {node: 'one', log: [...lines.map((line) => `probe ${line}`), 'probe done', ''].join('\n')},
    plan,
  );
const because = (reason: string, isPermanent: boolean) => ({
  reason,
  remedy: 'Mend it',
  isPermanent,
});

const scalr = (
  is: Case['is'],
  when: string,
  line: string,
  plan: Partial<ProbePlan> = {},
): Case => ({
  id: 'probe-scalr',
  is,
  when,
  but: log([`scalr-url ${line}`], plan),
});
const volume = (is: Case['is'], when: string, ...lines: string[]): Case => ({
  id: 'probe-volume',
  is,
  when,
  but: log(lines.map((line) => `volume ${line}`)),
});
const metadata = (is: Case['is'], when: string, line: string, flags: Case['flags']): Case => ({
  id: 'probe-metadata',
  is,
  when,
  but: log([`metadata ${line}`]),
  ...(flags ? {flags} : {}),
});

const BLOCK = {'metadata-service': 'block'};
const ALLOW = {'metadata-service': 'allow'};
const GKE = {...ALLOW, cloud: 'other', 'workload-identity': 'gke'};
const UNPROBED = {
  probe: {because: 'namespace scalr-agent does not exist yet', remedy: 'Create it first'},
};

const TOFU = 'registry https://registry.opentofu.org/';
const DOCKER = 'registry https://registry-1.docker.io/';
const RELAY = 'registry https://relay.acme.scalr.io/';
const OTEL = {'otel-endpoint': 'otel.obs.svc:4317'};

const VCS = {chart: 'agent-local', purpose: 'vcs'};
const GITLAB = 'url https://gitlab.example.com/';

prove('probe', probeChecks, [
  {id: 'probe-urls', is: 'nothing', when: '--probe-url is not given', but: log([])},
  {id: 'probe-urls', is: 'skip', when: 'the VCS server is not given', but: log([]), flags: VCS},
  {
    id: 'probe-urls',
    is: 'pass',
    when: 'the VCS server answers',
    but: log([`${GITLAB} ok 302`]),
    flags: VCS,
  },
  {id: 'probe-urls', is: 'pass', when: 'the URL answers', but: log([`${GITLAB} ok 302`])},
  {id: 'probe-urls', is: 'fail', when: 'the URL times out', but: log([`${GITLAB} timeout`])},
  {
    id: 'probe-urls',
    is: 'fail',
    when: 'the certificate is not trusted',
    but: log([`${GITLAB} untrusted`]),
  },
  {
    id: 'probe-urls',
    is: 'warn',
    when: 'the server reports an error',
    but: log([`${GITLAB} ok 503`]),
  },
  {id: 'probe-urls', is: 'skip', when: 'there was no probe', but: UNPROBED},
  {id: 'probe-runner', is: 'skip', when: 'there was no probe', but: UNPROBED},
  {id: 'probe-runner', is: 'nothing', when: 'run pods have no runner image', but: log([])},
  {
    id: 'probe-runner',
    is: 'pass',
    when: 'the image is complete',
    but: log(['runner-user ok', 'runner-curl ok']),
  },
  {
    id: 'probe-runner',
    is: 'fail',
    when: 'the image has no user 1000',
    but: log(['runner-user missing', 'runner-curl ok']),
  },
  {
    id: 'probe-runner',
    is: 'fail',
    when: 'the image has no curl',
    but: log(['runner-user ok', 'runner-curl missing']),
  },
  {id: 'probe-registries', is: 'nothing', when: 'nobody asked for it'},
  {
    id: 'probe-registries',
    is: 'pass',
    when: 'a VCS agent reaches the relay',
    but: log([`${RELAY} ok 200`]),
    flags: VCS,
  },
  {id: 'probe-registries', is: 'skip', when: 'none was requested', but: log([])},
  {
    id: 'probe-registries',
    is: 'pass',
    when: 'all answer',
    but: log([`${TOFU} ok 200`, `${DOCKER} ok 401`]),
  },
  {
    id: 'probe-registries',
    is: 'warn',
    when: 'one is blocked',
    but: log([`${TOFU} ok 200`, `${DOCKER} timeout`]),
  },
  {
    id: 'probe-registries',
    is: 'warn',
    when: 'the proxy refuses one',
    but: log([`${TOFU} proxy 403`]),
  },
  {id: 'probe-telemetry', is: 'nothing', when: 'there is no collector', but: log([])},
  {
    id: 'probe-telemetry',
    is: 'pass',
    when: 'it closes the connection',
    but: log(['telemetry otel.obs.svc:4317 failed 52']),
    flags: OTEL,
  },
  {
    id: 'probe-telemetry',
    is: 'pass',
    when: 'it answers',
    but: log(['telemetry otel.obs.svc:4317 ok 200']),
    flags: OTEL,
  },
  {
    id: 'probe-telemetry',
    is: 'warn',
    when: 'nobody listens',
    but: log(['telemetry otel.obs.svc:4317 refused']),
    flags: OTEL,
  },
  {
    id: 'probe-telemetry',
    is: 'warn',
    when: 'a policy blocks it',
    but: log(['telemetry otel.obs.svc:4317 timeout']),
    flags: OTEL,
  },
  {id: 'probe-telemetry', is: 'skip', when: 'it was not reported', but: log([]), flags: OTEL},
  {id: 'probe-telemetry', is: 'skip', when: 'there was no probe', but: UNPROBED, flags: OTEL},
  {id: 'probe-pod', is: 'nothing', when: 'nobody asked for it'},
  {id: 'probe-pod', is: 'fail', when: 'it could not be made', but: UNPROBED},
  {
    id: 'probe-pod',
    is: 'skip',
    when: 'it was only shown',
    but: {probe: {because: '--dry-run only shows it', isDry: true}},
  },
  {id: 'probe-pod', is: 'pass', when: 'it came to its end', but: log([])},
  {
    id: 'probe-pod',
    is: 'pass',
    when: 'something stood in',
    but: log([], {notes: ['uses an emptyDir instead of PVC cache, which cannot be mounted yet']}),
  },
  {id: 'probe-pod', is: 'fail', when: 'time was over', but: seen({node: 'one'})},
  {
    id: 'probe-pod',
    is: 'fail',
    when: 'it might still have come',
    but: seen({causes: [because('0/3 nodes are available', false)]}),
  },
  {
    id: 'probe-pod',
    is: 'fail',
    when: 'it never comes',
    but: seen({causes: [because('ImagePullBackOff: not found', true)]}),
  },
  {
    id: 'probe-pod',
    is: 'warn',
    when: 'it could not be removed',
    but: seen({log: 'probe done', leftover: 'kubectl delete pod/x --namespace scalr-agent'}),
  },
  {
    id: 'probe-pod',
    is: 'fail',
    when: 'it did not come and could not be removed',
    but: seen({
      causes: [because('Unschedulable', false)],
      leftover: 'kubectl delete pod/x --namespace scalr-agent',
    }),
  },
  {
    id: 'probe-pod',
    is: 'fail',
    when: 'it never comes and could not be removed',
    but: seen({
      causes: [because('ImagePullBackOff: not found', true)],
      leftover: 'kubectl delete pod/x --namespace scalr-agent',
    }),
  },

  scalr('pass', 'it answers', 'ok 200'),
  scalr('pass', 'it answers through the proxy', 'ok 302', {...PROXIED, ...TRUSTING}),
  scalr('warn', 'it has trouble', 'ok 503'),
  scalr('fail', 'the proxy wants a password', 'proxy 407', PROXIED),
  scalr('fail', 'the proxy refuses', 'proxy 403', PROXIED),
  scalr('fail', 'the proxy has no address', 'proxy-dns', PROXIED),
  scalr('fail', 'it has no address', 'dns'),
  scalr('fail', 'one of both has no address', 'dns', PROXIED),
  scalr('fail', 'nobody listens', 'refused'),
  scalr('fail', 'no proxy listens', 'refused', PROXIED),
  scalr('fail', 'nobody answers', 'timeout'),
  scalr('fail', 'no proxy answers', 'timeout', PROXIED),
  scalr('fail', 'TLS breaks off', 'tls', PROXIED),
  scalr('fail', 'a private authority', 'untrusted', PROXIED),
  scalr('fail', 'another authority', 'untrusted', TRUSTING),
  scalr('fail', 'the file of certificates is not there', 'no-ca', TRUSTING),
  scalr('warn', 'something else', 'failed 92'),
  scalr('skip', 'there is no tool', 'no-tool'),
  scalr('skip', 'there is no address', 'ok 200', {url: undefined}),
  {id: 'probe-scalr', is: 'skip', when: 'it is not said', but: log([])},
  {id: 'probe-scalr', is: 'skip', when: 'there was no probe', but: UNPROBED},
  {id: 'probe-scalr', is: 'nothing', when: 'nobody asked for it'},

  volume('pass', 'all of them can be used', 'ok /var/lib/data', 'ok /var/lib/cache'),
  volume('fail', 'one is noexec', 'ok /var/lib/data', 'noexec /var/lib/cache'),
  volume('fail', 'one can only be read', 'read-only /var/lib/cache'),
  volume('fail', 'one is full', 'full /var/lib/cache'),
  volume('fail', 'one is of somebody else', 'denied /var/lib/cache'),
  volume('nothing', 'the pod has none'),
  {id: 'probe-volume', is: 'skip', when: 'the probe did not come to its end', but: seen({})},

  metadata('pass', 'it is blocked', 'timeout', BLOCK),
  metadata('warn', 'it is not', 'ok 200', BLOCK),
  metadata('warn', 'the policy misses runs', 'ok 401', {...BLOCK, chart: 'agent-k8s'}),
  metadata('pass', 'it is left open', 'ok 200', ALLOW),
  metadata('pass', 'it is left open and not there', 'refused', ALLOW),
  metadata('warn', 'it is needed and not there', 'timeout', GKE),
  metadata('skip', 'nobody knows', 'failed 52', BLOCK),
  metadata('skip', 'there is no tool', 'no-tool', BLOCK),
  {id: 'probe-metadata', is: 'skip', when: 'it is not said', but: log([])},
]);

test('ignores other output of the pod, and removes control characters from proxy responses', async () => {
  const noise = [
    'probe',
    'probe volume',
    'probe volume strange /x',
    'hello',
    'probe scalr-url nonsense',
    'probe scalr-url ok 200',
  ];
  const said = async (id: string, lines: readonly string[]) =>
    saidBy(
      probeChecks,
      id,
      await preflightContext({}, undefined, seen({log: lines.join('\r\n')}, PROXIED)),
    );
  expect(await said('probe-scalr', noise)).toMatch(/^pass: /);
  expect(await said('probe-volume', noise)).toBeUndefined();
  expect(await said('probe-scalr', ['probe scalr-url proxy \u001b[31mNo'])).toContain('(31mNo)');
});
