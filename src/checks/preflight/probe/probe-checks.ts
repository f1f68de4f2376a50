import {policyMissesRuns} from '../../../charts/releases/target.ts';
import {kubectlCommand} from '../../../ground/command-line.ts';
import {changing, type Remedy, remediesOf} from '../../../ground/finding.ts';
import {few} from '../../../ground/text.ts';
import {url} from '../../../settings/agent.ts';
import {cache, cachePath, cacheSize} from '../../../settings/cache.ts';
import {imageRegistry} from '../../../settings/images.ts';
import {httpsProxy, metadataService, noProxy, workloadIdentity} from '../../../settings/network.ts';
import {otelEndpoint} from '../../../settings/observability.ts';
import {purpose} from '../../../settings/purpose.ts';
import {chart} from '../../../settings/release.ts';
import {withValue} from '../../../settings/spelling.ts';
import {dataHome} from '../../../settings/storage.ts';
import {caFile, caPublicRoots} from '../../../settings/tls.ts';
import {type Check, check} from '../checks/check.ts';
import {type CheckResult, fail, notChecked, pass, warn, worstOf} from '../checks/check-result.ts';
import {blocks} from '../checks/network.ts';
import type {PreflightContext} from '../facts/context.ts';
import type {ProbeOutcome, ProbePlan} from '../facts/probe.ts';
import {
  type ProbeAnswer,
  type ProbedVolume,
  type ProbeFindings,
  probeFindings,
} from './probe-log.ts';
import {SCALR_SECONDS} from './script.ts';

const probePod = check('Probe', 'probe-pod', 'Probe pod', {
  ref: 'https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/',
  run: ({probe}) => {
    if (probe === undefined) return undefined;
    if (!('plan' in probe)) {
      const message = `No probe pod was created: ${probe.because}`;
      return probe.isDry
        ? notChecked(message)
        : fail(message, probe.remedy ?? 'Run the command again without --probe');
    }
    const {plan, seen} = probe;
    const result = podResult(plan, seen);
    return seen.leftover === undefined ? result : withLeftover(result, plan, seen.leftover);
  },
});

/** A probe pod that could not be deleted is reported with any other result. */
function withLeftover(
  {verdict, message, remedies}: CheckResult,
  {pod}: ProbePlan,
  leftover: string,
): CheckResult {
  return {
    verdict: verdict === 'error' ? 'error' : 'warning',
    message: `${message}; cannot delete ${pod}`,
    remedies: [{text: `Delete it: ${leftover}`}, ...remedies],
  };
}

const LONGER = 'Increase the timeout: --timeout 5m';

function podResult({pod, image, notes}: ProbePlan, {log, node, causes}: ProbeOutcome): CheckResult {
  const where = node === undefined ? '' : ` on ${node}`;
  if (log !== undefined) return pass([`${pod} ran ${image}${where}`, ...notes].join('; '));
  const [cause] = causes;
  if (cause === undefined) return fail(`${pod}${where} did not complete within --timeout`, LONGER);
  const because = `${pod}${where} did not complete: ${causes.map(({reason}) => reason).join('; ')}`;
  const remedies = new Set(causes.map((each) => each.remedy));
  if (!cause.isPermanent) remedies.add(LONGER);
  return {verdict: 'error', message: because, remedies: remediesOf(...remedies)};
}

const probeScalr = check('Probe', 'probe-scalr', 'Scalr, from the probe pod', {
  ref: 'https://docs.scalr.io/docs/self-hosted-agents-pools',
  run: (context) =>
    withFindings(context, ({scalr}, plan) => {
      if (plan.url === undefined)
        return notChecked(
          'The Scalr URL is not set',
          changing`Set it, for example with ${withValue(url, 'https://acme.scalr.io')}`,
        );
      if (scalr === undefined) return NOT_REPORTED;
      return CONNECTIONS[scalr.state](scalr, {...plan, url: plan.url});
    }),
});

type PlanWithUrl = ProbePlan & {url: string};

const hostOf = (url: string): string => new URL(url).host;
const viaProxy = ({proxy}: ProbePlan): string =>
  proxy === undefined ? '' : ` through the proxy ${proxy}`;
/** What the pod connects to first. */
const firstHop = ({proxy, url}: PlanWithUrl): string =>
  proxy === undefined ? hostOf(url) : `The proxy ${proxy}`;
const PROXY_REMEDY = changing`Correct ${httpsProxy}, or exclude the host with ${noProxy}`;
const egress = ({proxy, url}: PlanWithUrl): Remedy =>
  changing`Allow egress to ${proxy ?? `${hostOf(url)}, port 443`} in the firewall and the network policies of the namespace${proxy === undefined ? changing`, or set a proxy with ${httpsProxy}` : ''}`;

const CONNECTIONS: Readonly<
  Record<ProbeAnswer['state'], (answer: ProbeAnswer, plan: PlanWithUrl) => CheckResult>
> = {
  ok: ({detail}, plan) => {
    const trust = plan.hasCertificates ? ', verified with the given certificates' : '';
    const text = `${plan.url} responded with ${detail}${viaProxy(plan)}${trust}`;
    return Number(detail) < 500
      ? pass(text)
      : warn(text, `Check the status of ${hostOf(plan.url)} and of proxies in front of it`);
  },
  proxy: ({detail}, plan) =>
    detail === '407'
      ? fail(
          `The proxy ${plan.proxy ?? ''} requires authentication (407)`,
          changing`Exempt the nodes from authentication, or set user and password: ${withValue(httpsProxy, 'http://USER:PASSWORD@HOST:PORT')}`,
        )
      : fail(
          `The proxy ${plan.proxy ?? ''} refused to connect to ${hostOf(plan.url)} (${detail})`,
          `Allow ${hostOf(plan.url)} in the proxy`,
        ),
  'proxy-dns': (_, plan) =>
    fail(`Cannot resolve the proxy ${plan.proxy ?? ''} in the pod`, PROXY_REMEDY),
  dns: (_, plan) =>
    fail(
      `Cannot resolve ${plan.proxy === undefined ? hostOf(plan.url) : `${hostOf(plan.url)} or the proxy ${plan.proxy}`} in the pod`,
      'Check that pods can reach the cluster DNS and that it resolves the name',
    ),
  refused: (_, plan) =>
    fail(
      `${firstHop(plan)} refused the connection`,
      plan.proxy === undefined ? egress(plan) : PROXY_REMEDY,
    ),
  timeout: (_, plan) =>
    fail(`${plan.url} did not respond within ${SCALR_SECONDS} s${viaProxy(plan)}`, egress(plan)),
  tls: (_, plan) =>
    fail(
      `TLS handshake with ${hostOf(plan.url)} failed${viaProxy(plan)}`,
      'Check for a TLS-inspecting proxy',
    ),
  untrusted: (_, plan) =>
    fail(
      `Cannot verify the certificate of ${hostOf(plan.url)}${viaProxy(plan)}: signed by an authority that ${plan.hasCertificates ? 'is not in the given certificates' : 'the image does not trust'}`,
      changing`Add the CA certificate of the proxy or firewall with ${caFile}${plan.hasCertificates ? changing`; add the public ones with ${caPublicRoots}` : ''}`,
    ),
  'no-ca': (_, plan) =>
    fail(
      `Cannot read the certificate file in ${plan.image}`,
      changing`Correct its path, or use ${caFile}`,
    ),
  'no-tool': (_, plan) => noTool(plan),
  failed: ({detail}, plan) =>
    warn(
      `Cannot reach ${plan.url}${viaProxy(plan)}: the HTTP client exited with ${detail}`,
      egress(plan),
    ),
};

const probeRegistries = check(
  'Probe',
  'probe-registries',
  'Relay, registries and downloads, from the probe pod',
  {
    ref: 'agent-local and agent-job 0.6.5, README; https://docs.scalr.io/docs/agent-pools',
    run: (context) =>
      withFindings(context, ({registries}) => {
        if (registries.length === 0) return NOT_REPORTED;
        const failed = registries.filter(({state}) => state !== 'ok');
        if (failed.length === 0) return pass(few(registries.map(({url}) => hostOf(url))));
        const names = failed.map(
          ({url, state, detail}) => `${hostOf(url)} (${[state, detail].filter(Boolean).join(' ')})`,
        );
        return warn(
          `Cannot reach ${few(names)}`,
          changing`Allow egress to these hosts on port 443, or use mirrors: ${imageRegistry} for images, a provider network mirror for providers`,
        );
      }),
  },
);

/** A collector speaks gRPC, so it ends an HTTP request with an error: any answer shows that it is reachable. */
const UNREACHABLE: readonly ProbeAnswer['state'][] = ['dns', 'refused', 'timeout'];

const probeTelemetry = check(
  'Probe',
  'probe-telemetry',
  'OpenTelemetry collector, from the probe pod',
  {
    ref: 'agent-local and agent-job 0.6.5, README',
    run: (context) =>
      withFindings(context, ({telemetry}) => {
        if (telemetry.length === 0)
          return context.get(otelEndpoint) === undefined ? undefined : NOT_REPORTED;
        const failed = telemetry.filter(({state}) => UNREACHABLE.includes(state));
        if (failed.length === 0) return pass(few(telemetry.map(({url}) => url)));
        return warn(
          `Cannot connect to ${few(failed.map(({url, state}) => `${url} (${state})`))}. Runs work, but metrics and traces are lost`,
          changing`Correct ${otelEndpoint}, and allow the connection in the network policies of both namespaces`,
        );
      }),
  },
);

const probeUrls = check('Probe', 'probe-urls', 'URLs given with --probe-url, from the probe pod', {
  ref: 'https://docs.scalr.io/docs/agent-pools',
  run: (context) =>
    withFindings(context, ({urls}, plan) =>
      urls.length === 0 && context.get(purpose) === 'vcs'
        ? notChecked(
            'The agent must reach the VCS server, but its URL is unknown',
            'Add --probe-url https://gitlab.example.com',
          )
        : worstOf(
            urls.map((answer) =>
              CONNECTIONS[answer.state](answer, {
                ...plan,
                url: answer.url,
                proxy: plan.urlProxies.get(answer.url),
              }),
            ),
          ),
    ),
});

const probeRunner = check('Probe', 'probe-runner', 'Runner image', {
  ref: 'agent-job 0.6.5, README',
  run: (context) =>
    withFindings(context, ({runner}) => {
      if (runner === undefined) return undefined;
      const missing = [
        ...(runner.missesUser ? ['a user with UID and GID 1000'] : []),
        ...(runner.missesCurl ? ['curl'] : []),
      ];
      if (missing.length === 0)
        return pass('The image contains a user with UID and GID 1000, a shell and curl');
      return fail(
        `The image does not contain ${missing.join(' and ')}`,
        'Add it to the image, or build the image from the Scalr runner image',
      );
    }),
});

const probeVolume = check('Probe', 'probe-volume', 'Run volumes', {
  ref: 'https://kubernetes.io/docs/tasks/configure-pod-container/security-context/',
  run: (context) =>
    withFindings(context, ({volumes}) => worstOf(volumes.map((each) => VOLUMES[each.state](each)))),
});

/** Terraform executes providers in the directory where it unpacks them. */
const VOLUMES: Readonly<Record<ProbedVolume['state'], (volume: ProbedVolume) => CheckResult>> = {
  ok: ({directory}) => pass(directory),
  noexec: ({directory}) =>
    fail(
      `${directory} is mounted with noexec, but Terraform must execute providers in it`,
      changing`Use a directory on a file system without noexec: ${dataHome}, ${cachePath}, or another ${cache}`,
    ),
  'read-only': ({directory}) =>
    fail(`${directory} is read-only`, changing`Use a writable volume: ${cache}, ${dataHome}`),
  full: ({directory}) =>
    fail(
      `No space left in ${directory}`,
      changing`Free space, or use a larger volume: ${cacheSize}`,
    ),
  denied: ({directory}) =>
    fail(
      `The container user cannot write to ${directory}`,
      'Change the owner of the directory to the user of the security context, or set podSecurityContext.fsGroup',
    ),
};

const ADDRESS = '169.254.169.254';

const probeMetadata = check('Probe', 'probe-metadata', 'Access to the metadata service', {
  ref: 'agent-job 0.6.5, README',
  run: (context) =>
    withFindings(context, ({metadata}, plan) => {
      if (metadata === undefined) return NOT_REPORTED;
      if (metadata.state === 'no-tool') return noTool(plan);
      if (metadata.state === 'failed')
        return notChecked(`Cannot test ${ADDRESS}: the HTTP client exited with ${metadata.detail}`);
      const isOpen = metadata.state === 'ok' || metadata.state === 'proxy';
      return blocks(context) ? blocked(context, isOpen) : open(context, isOpen);
    }),
});

function blocked(context: PreflightContext, isOpen: boolean): CheckResult {
  const {target} = context;
  if (!isOpen) return pass(`${ADDRESS} is not reachable`);
  const because = policyMissesRuns(target)
    ? `the NetworkPolicy of ${target.chart} ${target.version} does not cover runs`
    : 'the NetworkPolicy of the chart is not enforced';
  return warn(
    `${ADDRESS} is reachable although it should be blocked, which exposes the credentials of the node: ${because}`,
    policyMissesRuns(target)
      ? changing`Use ${withValue(chart, 'agent-job')} or ${withValue(chart, 'agent-local')}, whose NetworkPolicy covers runs`
      : changing`Enable a network policy engine, or allow the metadata service with ${withValue(metadataService, 'allow')}`,
  );
}

/** Only GKE hands out its identities there. */
function open({get, name: {kubeTarget}}: PreflightContext, isOpen: boolean): CheckResult {
  if (isOpen) return pass(`${ADDRESS} is reachable, as the settings allow`);
  if (get(workloadIdentity) !== 'gke')
    return pass(`${ADDRESS} is not reachable, and the settings do not require it`);
  return warn(
    `${ADDRESS} is not reachable, but runs require it with GKE Workload Identity`,
    `Check which network policy denies access: ${kubectlCommand(kubeTarget, 'get', 'networkpolicies', '--namespace', kubeTarget.namespace)}`,
  );
}

/** The result that follows from the findings of the probe; undefined without --probe. */
function withFindings(
  {probe}: PreflightContext,
  conclude: (findings: ProbeFindings, plan: ProbePlan) => CheckResult | undefined,
): CheckResult | undefined {
  if (probe === undefined) return undefined;
  if (!('plan' in probe) || probe.seen.log === undefined)
    return notChecked('The probe pod did not complete');
  return conclude(probeFindings(probe.seen.log), probe.plan);
}

const NOT_REPORTED = notChecked('The probe did not report a result');

/** No request could be made. */
const noTool = ({image}: ProbePlan): CheckResult =>
  notChecked(`${image} does not contain curl, GNU wget or python3`);

/** What the probe pod found where runs will be placed; none without --probe. */
export const probeChecks: readonly Check[] = [
  probePod,
  probeScalr,
  probeRegistries,
  probeTelemetry,
  probeUrls,
  probeRunner,
  probeVolume,
  probeMetadata,
];
