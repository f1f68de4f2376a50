import {type Check, fail, type Outcome, pass, skip, warn} from '../../check.ts';
import type {Answer} from '../../probe/findings.ts';
import type {ProbePlan} from '../../probe/plan-probe.ts';
import {SCALR_SECONDS} from '../../probe/script.ts';
import {ifSaid, NO_ANSWER, noTool} from './said.ts';

/** Status from which on a server has trouble of its own. */
const TROUBLE = 500;

export const probeScalr: Check = {
  id: 'probe-scalr',
  group: 'Probe',
  title: 'a pod where runs are reaches Scalr',
  ref: 'https://docs.scalr.io/docs/self-hosted-agents-pools',
  test: (situation) =>
    ifSaid(situation, ({scalr}, plan) => {
      if (plan.url === undefined) return skip('No address was given', 'Name it: --url https://<account>.scalr.io');
      if (scalr === undefined) return NO_ANSWER;
      return MEANINGS[scalr.state](scalr, {...plan, url: plan.url});
    }),
};

type Meaning = (answer: Answer, plan: ProbePlan & {url: string}) => Outcome;

const hostOf = (url: string): string => new URL(url).host;
const way = ({proxy}: ProbePlan): string => (proxy === undefined ? '' : ` through the proxy ${proxy}`);
/** Who the pod speaks to first. */
const door = ({proxy, url}: ProbePlan & {url: string}): string => (proxy === undefined ? hostOf(url) : `The proxy ${proxy}`);
const PROXY = 'Correct --https-proxy, or name what is reached without it with --no-proxy';
const egress = ({proxy, url}: ProbePlan & {url: string}): string =>
  `Let pods reach ${proxy ?? `${hostOf(url)}, port 443`}: firewall, egress rules, network policies of the namespace${proxy === undefined ? '; or name a proxy with --https-proxy' : ''}`;

const MEANINGS: Readonly<Record<Answer['state'], Meaning>> = {
  ok: ({detail}, plan) => {
    const trust = plan.hasCertificates ? ', with the certificates that were given' : '';
    const said = `${plan.url} answers ${detail}${way(plan)}${trust}`;
    return Number(detail) < TROUBLE ? pass(said) : warn(said, 'See whether Scalr, or what stands before it, has trouble');
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
  'proxy-dns': (_, plan) => fail(`The name of the proxy ${plan.proxy ?? ''} is not known in the pod`, PROXY),
  dns: (_, plan) =>
    fail(
      `${plan.proxy === undefined ? hostOf(plan.url) : `${hostOf(plan.url)} or the proxy ${plan.proxy}`} is not known in the pod`,
      'See whether pods may ask the DNS of the cluster, and whether it knows the name',
    ),
  refused: (_, plan) => fail(`${door(plan)} refuses connections from the pod`, plan.proxy === undefined ? egress(plan) : PROXY),
  timeout: (_, plan) => fail(`${plan.url} does not answer within ${SCALR_SECONDS} s${way(plan)}`, egress(plan)),
  tls: (_, plan) =>
    fail(`No TLS connection comes about with ${hostOf(plan.url)}${way(plan)}`, 'See what stands between: a proxy that looks into TLS'),
  untrusted: (_, plan) =>
    fail(
      `The certificate of ${hostOf(plan.url)}${way(plan)} is of an authority that ${plan.hasCertificates ? 'is not among those that were given' : 'the image does not know'}`,
      `Give that of what stands between with --ca-file${plan.hasCertificates ? '; the public ones come with --ca-public-roots' : ''}`,
    ),
  'no-ca': (_, plan) => fail(`The file of the certificates cannot be read in ${plan.image}`, 'Correct its path, or use --ca-file'),
  'no-tool': (_, plan) => noTool(plan),
  failed: ({detail}, plan) => warn(`${plan.url} cannot be reached${way(plan)}: the tool ended with ${detail}`, egress(plan)),
};
