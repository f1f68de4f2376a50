import {missesRuns} from '../../cluster/facts/policies.ts';
import type {Probed} from '../../cluster/probe.ts';
import {kubectlCommand} from '../../command-line.ts';
import {workloadIdentity} from '../../settings/network.ts';
import {type Check, type CheckResult, fail, few, pass, skip, warn, worstOf} from '../check.ts';
import type {PreflightContext, ProbePlan} from '../preflight-context.ts';
import {type Answer, type Findings, findingsIn, type Volume} from '../probe/findings.ts';
import {SCALR_SECONDS} from '../probe/script.ts';
import {blocks} from './network.ts';

const probePod: Check = {
  id: 'probe-pod',
  group: 'Probe',
  title: 'a pod with the placement of runs comes to its end',
  ref: 'https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/',
  run: ({probe}) => {
    if (probe === undefined) return undefined;
    if (!('plan' in probe)) {
      const message = `There was no probe: ${probe.because}`;
      return probe.isDry ? skip(message) : fail(message, probe.remedy ?? 'Run it again without --probe');
    }
    const {plan, seen} = probe;
    const result = podResult(plan, seen);
    return seen.leftover === undefined ? result : withLeftover(result, plan, seen.leftover);
  },
};

/** What was left in the cluster is reported with any other result. */
function withLeftover({status, message, remedy}: CheckResult, {pod}: ProbePlan, leftover: string): CheckResult {
  const steps = [`Remove it: ${leftover}`, ...(remedy === undefined ? [] : [remedy])];
  return {status: status === 'fail' ? 'fail' : 'warn', message: `${message}; ${pod} could not be removed`, remedy: steps.join('; ')};
}

function podResult({pod, image, notes}: ProbePlan, {log, node, causes}: Probed): CheckResult {
  const where = node === undefined ? '' : ` on ${node}`;
  if (log !== undefined) return pass([`${pod} ran ${image}${where}`, ...notes].join('; '));
  const [cause] = causes;
  if (cause === undefined) return fail(`${pod}${where} did not come to its end within --timeout`, 'Give it more time: --timeout 5m');
  const because = `${pod}${where} did not come to its end: ${causes.map(({reason}) => reason).join('; ')}`;
  const remedies = [...causes.map((each) => each.remedy), ...(cause.isHopeless ? [] : ['Or give it more time: --timeout 5m'])];
  return fail(because, [...new Set(remedies)].join('; '));
}

const probeScalr: Check = {
  id: 'probe-scalr',
  group: 'Probe',
  title: 'a pod where runs are reaches Scalr',
  ref: 'https://docs.scalr.io/docs/self-hosted-agents-pools',
  run: (context) =>
    withFindings(context, ({scalr}, plan) => {
      if (plan.url === undefined) return skip('No address was given', 'Name it: --url https://<account>.scalr.io');
      if (scalr === undefined) return NO_ANSWER;
      return CONNECTIONS[scalr.state](scalr, {...plan, url: plan.url});
    }),
};

type PlanWithUrl = ProbePlan & {url: string};

const hostOf = (url: string): string => new URL(url).host;
const viaProxy = ({proxy}: ProbePlan): string => (proxy === undefined ? '' : ` through the proxy ${proxy}`);
/** What the pod connects to first. */
const firstHop = ({proxy, url}: PlanWithUrl): string => (proxy === undefined ? hostOf(url) : `The proxy ${proxy}`);
const PROXY_REMEDY = 'Correct --https-proxy, or name what is reached without it with --no-proxy';
const egress = ({proxy, url}: PlanWithUrl): string =>
  `Let pods reach ${proxy ?? `${hostOf(url)}, port 443`}: firewall, egress rules, network policies of the namespace${proxy === undefined ? '; or name a proxy with --https-proxy' : ''}`;

const CONNECTIONS: Readonly<Record<Answer['state'], (answer: Answer, plan: PlanWithUrl) => CheckResult>> = {
  ok: ({detail}, plan) => {
    const trust = plan.hasCertificates ? ', with the certificates that were given' : '';
    const text = `${plan.url} answers ${detail}${viaProxy(plan)}${trust}`;
    return Number(detail) < 500 ? pass(text) : warn(text, 'See whether Scalr, or what stands before it, has trouble');
  },
  proxy: ({detail}, plan) =>
    detail === '407'
      ? fail(
          `The proxy ${plan.proxy ?? ''} wants to know who asks (407)`,
          'Let it trust the nodes, or give user and password: --https-proxy http://USER:PASSWORD@HOST:PORT',
        )
      : fail(
          `The proxy ${plan.proxy ?? ''} does not connect to ${hostOf(plan.url)}: it answers ${detail}`,
          `Let the proxy reach ${hostOf(plan.url)}`,
        ),
  'proxy-dns': (_, plan) => fail(`The name of the proxy ${plan.proxy ?? ''} is not known in the pod`, PROXY_REMEDY),
  dns: (_, plan) =>
    fail(
      `${plan.proxy === undefined ? hostOf(plan.url) : `${hostOf(plan.url)} or the proxy ${plan.proxy}`} is not known in the pod`,
      'See whether pods may ask the DNS of the cluster, and whether it knows the name',
    ),
  refused: (_, plan) => fail(`${firstHop(plan)} refuses connections from the pod`, plan.proxy === undefined ? egress(plan) : PROXY_REMEDY),
  timeout: (_, plan) => fail(`${plan.url} does not answer within ${SCALR_SECONDS} s${viaProxy(plan)}`, egress(plan)),
  tls: (_, plan) =>
    fail(`No TLS connection comes about with ${hostOf(plan.url)}${viaProxy(plan)}`, 'See what stands between: a proxy that looks into TLS'),
  untrusted: (_, plan) =>
    fail(
      `The certificate of ${hostOf(plan.url)}${viaProxy(plan)} is of an authority that ${plan.hasCertificates ? 'is not among those that were given' : 'the image does not know'}`,
      `Give that of what stands between with --ca-file${plan.hasCertificates ? '; the public ones come with --ca-public-roots' : ''}`,
    ),
  'no-ca': (_, plan) => fail(`The file of the certificates cannot be read in ${plan.image}`, 'Correct its path, or use --ca-file'),
  'no-tool': (_, plan) => noTool(plan),
  failed: ({detail}, plan) => warn(`${plan.url} cannot be reached${viaProxy(plan)}: the tool ended with ${detail}`, egress(plan)),
};

const probeRegistries: Check = {
  id: 'probe-registries',
  group: 'Probe',
  title: 'a pod where runs are reaches docker.io and the provider registries',
  ref: 'agent-local and agent-job 0.6.5, README; https://docs.scalr.io/docs/agent-pools',
  run: (context) =>
    withFindings(context, ({registries}) => {
      if (registries.length === 0) return NO_ANSWER;
      const failed = registries.filter(({state}) => state !== 'ok');
      if (failed.length === 0) return pass(few(registries.map(({url}) => hostOf(url))));
      const names = failed.map(({url, state, detail}) => `${hostOf(url)} (${[state, detail].filter(Boolean).join(' ')})`);
      return warn(
        `The pod cannot reach ${few(names)}`,
        'Allow egress to these hosts on port 443, or use mirrors: --image-registry for images, a provider network mirror for providers',
      );
    }),
};

const probeVolume: Check = {
  id: 'probe-volume',
  group: 'Probe',
  title: 'a run can write to its volumes and execute what lies there',
  ref: 'https://kubernetes.io/docs/tasks/configure-pod-container/security-context/',
  run: (context) => withFindings(context, ({volumes}) => worstOf(volumes.map((each) => VOLUMES[each.state](each)))),
};

/** Terraform executes providers where it unpacks them. */
const VOLUMES: Readonly<Record<Volume['state'], (volume: Volume) => CheckResult>> = {
  ok: ({directory}) => pass(directory),
  noexec: ({directory}) =>
    fail(
      `${directory} is mounted so that nothing in it can be executed, and providers lie there`,
      'Use a directory on a file system without noexec: --data-home, --cache-path, or another --cache',
    ),
  'read-only': ({directory}) => fail(`${directory} can only be read`, 'Use a volume that can be written: --cache, --data-home'),
  full: ({directory}) => fail(`There is no room left in ${directory}`, 'Make room, or use a larger volume: --cache-size'),
  denied: ({directory}) =>
    fail(
      `The user of the container may not write to ${directory}`,
      'Give the directory to the user of the security context, or set podSecurityContext.fsGroup',
    ),
};

const ADDRESS = '169.254.169.254';

const probeMetadata: Check = {
  id: 'probe-metadata',
  group: 'Probe',
  title: 'a pod where runs are finds the metadata service as the settings want it',
  ref: 'agent-job 0.6.5, README',
  run: (context) =>
    withFindings(context, ({metadata}, plan) => {
      if (metadata === undefined) return NO_ANSWER;
      if (metadata.state === 'no-tool') return noTool(plan);
      if (metadata.state === 'failed') return skip(`Nothing can be said of ${ADDRESS}: the tool ended with ${metadata.detail}`);
      const isOpen = metadata.state === 'ok' || metadata.state === 'proxy';
      return blocks(context) ? blocked(context, isOpen) : open(context, isOpen);
    }),
};

function blocked(context: PreflightContext, isOpen: boolean): CheckResult {
  const {chart, version} = context.target;
  if (!isOpen) return pass(`${ADDRESS} does not answer`);
  const because = missesRuns(context.target)
    ? `the policy of ${chart} ${version} does not cover runs`
    : 'nothing enforces the policy of the chart';
  return warn(
    `${ADDRESS} answers although it should be blocked, and gives away the credentials of the node: ${because}`,
    missesRuns(context.target)
      ? 'Use --chart agent-job or --chart agent-local, whose policy covers runs'
      : 'Switch on a network policy engine; or say that it is open: --metadata-service allow',
  );
}

/** Only GKE hands out its identities there. */
function open({get, name: {place}}: PreflightContext, isOpen: boolean): CheckResult {
  if (isOpen) return pass(`${ADDRESS} answers, as the settings leave it`);
  if (get(workloadIdentity) !== 'gke') return pass(`${ADDRESS} does not answer, and the settings need nothing of it`);
  return warn(
    `${ADDRESS} does not answer, and runs get their credentials there with --workload-identity gke`,
    `See which network policy of the namespace keeps pods from it: ${kubectlCommand(place, 'get', 'networkpolicies', '--namespace', place.namespace)}`,
  );
}

/** The result that follows from the findings of the probe; undefined without --probe. */
function withFindings(
  {probe}: PreflightContext,
  conclude: (findings: Findings, plan: ProbePlan) => CheckResult | undefined,
): CheckResult | undefined {
  if (probe === undefined) return undefined;
  if (!('plan' in probe) || probe.seen.log === undefined) return skip('There is no probe that came to its end');
  return conclude(findingsIn(probe.seen.log), probe.plan);
}

const NO_ANSWER = skip('The probe says nothing of it');

/** No request could be made. */
const noTool = ({image}: ProbePlan): CheckResult => skip(`${image} has neither curl nor GNU wget nor python3 to ask with`);

/** What the probe pod found where runs will be placed; none without --probe. */
export const probeChecks: readonly Check[] = [probePod, probeScalr, probeRegistries, probeVolume, probeMetadata];
