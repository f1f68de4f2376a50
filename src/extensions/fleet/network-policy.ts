import {type Endpoint, type EndpointScope, isInside} from '../../charts/endpoints.ts';
import {policyMissesRuns, releaseLabels} from '../../charts/releases/target.ts';
import {ExpectedError} from '../../ground/errors.ts';
import {groupsOf} from '../../ground/text.ts';
import type {Values} from '../../ground/tree.ts';
import {metadataService} from '../../settings/network.ts';
import {podLabel} from '../../settings/placement.ts';
import {namespace, release} from '../../settings/release.ts';
import {toYaml} from '../../values/document.ts';

type ClusterScope = EndpointScope & {chart: NonNullable<EndpointScope['chart']>};
type Labels = Readonly<Record<string, string>>;

/** Nodes, Docker and the machine that installs are not subject to policies of pods. */
const ofPods = (endpoints: readonly Endpoint[]): Endpoint[] =>
  endpoints.filter(({from}) => from === 'agent' || from === 'runs');

const METADATA_BLOCK = '169.254.169.254/32';
const blockOf = (host: string): string => (host.includes(':') ? `${host}/128` : `${host}/32`);
const isAddress = (host: string): boolean => /^[\d.]+$|:/.test(host);
const isLinkLocal = ({host}: Endpoint): boolean => host.startsWith('169.254.');

/** Ports without repetition, in order. */
function portsOf(endpoints: readonly Endpoint[]): {port: number; protocol: string}[] {
  const ports = new Map(
    endpoints.map(({port, protocol}) => [`${protocol} ${port}`, {port, protocol}]),
  );
  return [...ports.values()].toSorted(
    (one, other) => one.port - other.port || other.protocol.localeCompare(one.protocol),
  );
}

/** One policy per selector: run pods of some charts carry no labels of the chart, but those of --pod-label. */
function policies(
  scope: ClusterScope,
  kind: Values,
  header: readonly string[],
  spec: (labels: Labels) => Values,
): string {
  const {chart, get} = scope;
  const name = get(release) as string;
  const ofRuns = policyMissesRuns(chart) ? get(podLabel) : undefined;
  const selectors: Record<string, Labels> = {
    [`${name}-egress`]: releaseLabels(name),
    ...(ofRuns && {[`${name}-runs-egress`]: ofRuns}),
  };
  return Object.entries(selectors)
    .map(([each, labels], index) => {
      const object = {
        ...kind,
        metadata: {name: each, namespace: get(namespace) as string},
        spec: spec(labels),
      };
      return toYaml(object, index === 0 ? {header} : {});
    })
    .join('---\n');
}

/** What both kinds of policies do not do. */
function cautions(scope: ClusterScope): string[] {
  const {chart, get} = scope;
  const unselected = `Runs of ${chart.chart} ${chart.version} carry no labels of the chart, so no policy selects them${chart.chart === 'agent-k8s' ? ': add --pod-label' : ''}.`;
  return [
    ...(policyMissesRuns(chart)
      ? [
          get(podLabel) === undefined
            ? unselected
            : 'The second policy selects run pods by the labels given with --pod-label.',
        ]
      : []),
    ...(get(metadataService) === 'block'
      ? [
          'Policies add up: the one of the chart (--metadata-service block) allows every other address to the pods that it selects.',
          'To restrict them, install with --metadata-service allow: this policy does not allow 169.254.169.254 either.',
        ]
      : [
          '169.254.169.254 is allowed, because runs may use the credentials of the node. To exclude it, add --metadata-service block.',
        ]),
    'Runs also connect to what their configuration uses, such as the APIs of cloud providers: add them.',
  ];
}

/** A NetworkPolicy with the ports of all endpoints; it cannot name hosts. */
function networkPolicyText(endpoints: readonly Endpoint[], scope: ClusterScope): string {
  const own = ofPods(endpoints);
  const linkLocal = own.filter(isLinkLocal);
  const others = own.filter((each) => !isLinkLocal(each));
  const dns = others.filter(({purpose}) => purpose === 'dns');
  const rest = others.filter(({purpose}) => purpose !== 'dns');
  const names = [...new Set(rest.map(({host, port}) => `${host}:${port}`))];
  const addresses = [...new Set(linkLocal.map(({host}) => host))];
  const header = [
    'Allows the agent and its runs only these ports. A NetworkPolicy cannot name hosts: every host is allowed on the ports below.',
    'To restrict hosts, use a firewall or a proxy with --format allow-list, or Cilium with --format cilium.',
    ...cautions(scope),
    '',
    'The ports are those of:',
    ...names.map((each) => `- ${each}`),
  ];
  const egress = [
    // DNS may be a pod, an address of the node or of the cloud.
    {ports: portsOf(dns)},
    {
      // An ipBlock does not match pods in Cilium, so pods have a selector of their own.
      to: [
        {namespaceSelector: {}},
        {ipBlock: {cidr: '0.0.0.0/0', except: [METADATA_BLOCK]}},
        {ipBlock: {cidr: '::/0'}},
      ],
      ports: portsOf(rest),
    },
    ...addresses.map((host) => ({
      to: [{ipBlock: {cidr: blockOf(host)}}],
      ports: portsOf(linkLocal.filter((each) => each.host === host)),
    })),
  ];
  return policies(
    scope,
    {apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy'},
    header,
    (labels) => ({
      podSelector: {matchLabels: {...labels}},
      policyTypes: ['Egress'],
      egress: egress as unknown as Values[],
    }),
  );
}

/** Cilium matches a * with the characters of one label: https://docs.cilium.io/en/stable/security/policy/language/#dns-based */
const fqdnsOf = (host: string): Values[] => {
  if (!host.includes('*')) return [{matchName: host}];
  return [{matchPattern: host}, ...(host.startsWith('*.') ? [{matchPattern: `*.${host}`}] : [])];
};

const toPorts = (endpoints: readonly Endpoint[], rules: Values = {}): Values[] => [
  {ports: portsOf(endpoints).map(({port, protocol}) => ({port: String(port), protocol})), ...rules},
];

/** Endpoints with the same ports, so that a rule lists several hosts. */
const byPort = (endpoints: readonly Endpoint[]): Endpoint[][] =>
  groupsOf(endpoints, ({protocol, port}) => `${protocol} ${port}`);

/** `name.namespace.svc` -> namespace */
const namespaceIn = (host: string): string | undefined =>
  /^[^.]+\.([^.]+)\.svc(\.|$)/.exec(host)?.[1];

/** A CiliumNetworkPolicy that names the hosts. */
function ciliumPolicyText(endpoints: readonly Endpoint[], scope: ClusterScope): string {
  const own = ofPods(endpoints);
  const of = (...purposes: readonly Endpoint['purpose'][]): Endpoint[] =>
    own.filter(({purpose}) => purposes.includes(purpose));
  const rest = own.filter(({purpose}) => purpose !== 'dns' && purpose !== 'kubernetes-api');
  const addresses = rest.filter(({host}) => isAddress(host));
  const inCluster = rest.filter(
    ({host}) => !isAddress(host) && (namespaceIn(host) !== undefined || !host.includes('.')),
  );
  const names = rest.filter((each) => !addresses.includes(each) && !inCluster.includes(each));
  const pods = (where: string): Values => ({
    matchLabels: {'k8s:io.kubernetes.pod.namespace': where},
  });
  const api = of('kubernetes-api');
  const egress: Values[] = [
    // Cilium learns the addresses of names from the DNS answers that this rule lets it read.
    {
      toEndpoints: [pods(namespaceIn(of('dns')[0]?.host ?? '') ?? 'kube-system')],
      toPorts: toPorts(of('dns'), {rules: {dns: [{matchPattern: '*'}]}}),
    },
    ...byPort(names).map((group) => ({
      toFQDNs: [...new Set(group.map(({host}) => host))].flatMap(fqdnsOf),
      toPorts: toPorts(group),
    })),
    ...byPort(addresses).map((group) => ({
      toCIDR: [...new Set(group.map(({host}) => blockOf(host)))],
      toPorts: toPorts(group),
    })),
    ...byPort(inCluster).map((group) => ({
      toEndpoints: [
        ...new Set(group.map(({host}) => namespaceIn(host) ?? (scope.get(namespace) as string))),
      ].map(pods),
      toPorts: toPorts(group),
    })),
    ...(api.length === 0 ? [] : [{toEntities: ['kube-apiserver'], toPorts: toPorts(api)}]),
  ];
  const header = [
    'Allows the agent and its runs only these hosts. Requires Cilium with its DNS proxy.',
    ...(inCluster.length === 0
      ? []
      : [
          'Names inside the cluster are allowed by their namespace. The port must be the pod port, which can differ from the Service port.',
        ]),
    ...cautions(scope),
  ];
  return policies(
    scope,
    {apiVersion: 'cilium.io/v2', kind: 'CiliumNetworkPolicy'},
    header,
    (labels) => ({
      endpointSelector: {matchLabels: {...labels}},
      egress,
    }),
  );
}

/** One host per line for a firewall or a proxy, as Squid (dstdomain) and AWS Network Firewall read it: a dot at its start includes every subdomain. */
function allowListText(endpoints: readonly Endpoint[]): string {
  const outside = endpoints.filter((each) => !isInside(each));
  const required = domainsOf(outside.filter((each) => each.required));
  const optional = domainsOf(outside.filter((each) => !each.required)).filter(
    ({domain}) => !required.some((each) => covers(each.domain, domain)),
  );
  const ports = [...new Set(outside.map(({port}) => port))].toSorted((one, other) => one - other);
  return [
    `# Hosts that an agent connects to, outbound, TCP port ${ports.join(', ')}. Optional hosts are commented out.`,
    ...required.map(({domain}) => domain),
    ...optional.map(({domain, usage}) => `#${domain}  (${usage})`),
    '',
  ].join('\n');
}

interface Domain {
  domain: string;
  usage: string;
}

/** Without domains that another one includes: Squid rejects them. */
function domainsOf(endpoints: readonly Endpoint[]): Domain[] {
  const all = new Map(
    endpoints.map(({host, usage}) => [domainOf(host), {domain: domainOf(host), usage}]),
  );
  return [...all.values()].filter(
    ({domain}) => ![...all.keys()].some((other) => other !== domain && covers(other, domain)),
  );
}

/** What comes after the last * is a domain: sts.*.amazonaws.com -> .amazonaws.com */
const domainOf = (host: string): string =>
  host.includes('*') ? host.slice(host.lastIndexOf('*') + 1) : host;

const covers = (domain: string, other: string): boolean =>
  domain === other ||
  (domain.startsWith('.') && (other.endsWith(domain) || other === domain.slice(1)));

const POLICIES = {'network-policy': networkPolicyText, cilium: ciliumPolicyText};
type PolicyFormat = keyof typeof POLICIES;

/** Formats that other tools read. */
export const NETWORK_FILES = ['allow-list', ...(Object.keys(POLICIES) as PolicyFormat[])] as const;

/** The endpoints in one of these formats; undefined for any other. Pure. @throws ExpectedError for a policy outside Kubernetes */
export function networkFileText(
  format: string,
  endpoints: readonly Endpoint[],
  {chart, ...scope}: EndpointScope,
): string | undefined {
  if (format === 'allow-list') return allowListText(endpoints);
  if (!(format in POLICIES)) return undefined;
  if (chart !== undefined) return POLICIES[format as PolicyFormat](endpoints, {...scope, chart});
  throw new ExpectedError(`--format ${format} is only for --target kubernetes.`, {
    code: 'USAGE',
    suggestions: ['Use --format allow-list'],
  });
}
