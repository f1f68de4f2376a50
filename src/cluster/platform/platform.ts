import {type Fact, follow, isKnown, known, knownValue, mapped, unknown} from '../../ground/fact.ts';
import {workersIn} from './capacity.ts';
import {type NodeObject, type PlatformReadings, runsLinux} from './readings.ts';

export interface Platform {
  /** gke, eks, aks, openshift, kind, k3s, …; `unrecognized` if no known platform was found. */
  distribution: Fact<string>;
  /** Whose machines: google, aws, azure, docker, …; from the scheme of the providerIDs. */
  infrastructure: Fact<string>;
  /** gke: standard or autopilot; eks: standard, auto-mode, fargate or hybrid; of all others standard. */
  flavor: Fact<string>;
  /** The equivalent value of --cloud: gke, gke-autopilot, eks, aks, openshift or other. */
  cloud: Fact<string>;
}

export function platformOf(
  readings: Pick<PlatformReadings, 'nodes' | 'resources' | 'serverVersion'>,
): Platform {
  const found = recognize(readings);
  const distribution = mapped(found, ({name}) => name);
  const flavor = follow(found, ({name}) => flavorOf(name, readings));
  const cloud = follow(found, (each, source): Fact<string> => {
    if (each.cloud !== 'gke') return known(each.cloud, source);
    return follow(
      flavor,
      (is, how): Fact<string> =>
        known(is === 'autopilot' ? 'gke-autopilot' : 'gke', `${source}; ${how}`),
    );
  });
  return {distribution, infrastructure: follow(readings.nodes, infrastructureOf), flavor, cloud};
}

type Recognized = Pick<Distribution, 'name' | 'cloud'>;

function recognize({
  nodes,
  resources,
  serverVersion,
}: Pick<PlatformReadings, 'nodes' | 'resources' | 'serverVersion'>): Fact<Recognized> {
  const seen: Seen = {
    nodes: knownValue(nodes) ?? [],
    resources: knownValue(resources) ?? [],
    serverVersion: knownValue(serverVersion) ?? '',
  };
  for (const distribution of DISTRIBUTIONS) {
    for (const sign of distribution.signs) {
      const found = sign(seen);
      if (found) return known({name: distribution.name, cloud: distribution.cloud}, found);
    }
  }
  if (!isKnown(nodes)) return nodes;
  return nodes.value.length === 0
    ? unknown('undetermined', 'the cluster has no nodes to detect it from')
    : known(
        {name: 'unrecognized', cloud: 'other'},
        'no label, providerID or version of a known platform on the nodes',
      );
}

const infrastructureOf = (nodes: readonly NodeObject[]): Fact<string> => {
  const names = new Set(
    nodes.map(({spec}) =>
      INFRASTRUCTURES.get(/^([\w-]+):\/\//.exec(spec?.providerID ?? '')?.[1] ?? ''),
    ),
  );
  const [name] = names;
  if (names.size > 1)
    return unknown('undetermined', 'the nodes have providerIDs of several providers');
  return name
    ? known(name, 'nodes, spec.providerID')
    : unknown('undetermined', 'no node has the providerID of a known provider');
};

/** Only Autopilot clusters serve it: https://github.com/elastic/cloud-on-k8s/pull/6719 */
const AUTOPILOT_ONLY = 'allowlistedv2workloads.auto.gke.io';

function flavorOf(
  distribution: string,
  {nodes, resources}: Pick<PlatformReadings, 'nodes' | 'resources'>,
): Fact<string> {
  const linux = knownValue(nodes)?.filter(runsLinux) ?? [];
  // A Standard cluster can have some nodes in Autopilot mode, an Autopilot cluster has no others.
  const isAutopilot = linux.every(({metadata}) => metadata.name.startsWith('gk3-'));
  if (distribution === 'gke')
    return linux.length > 0
      ? known(isAutopilot ? 'autopilot' : 'standard', 'node names')
      : byResources(nodes, resources);
  if (distribution !== 'eks') return known('standard', 'only one flavor exists');
  return follow(nodes, (): Fact<string> => {
    const types = new Set(
      linux.map(({metadata}) => metadata.labels?.['eks.amazonaws.com/compute-type'] ?? 'ec2'),
    );
    return known(flavorOfTypes(types), 'node label eks.amazonaws.com/compute-type');
  });
}

/** From the compute types of the nodes. */
function flavorOfTypes(types: ReadonlySet<string>): string {
  const [type = 'ec2'] = types;
  if (types.size > 1 || type === 'ec2') return 'standard';
  return type === 'auto' ? 'auto-mode' : type;
}

/** An idle Autopilot cluster has no nodes. */
function byResources(
  nodes: PlatformReadings['nodes'],
  resources: PlatformReadings['resources'],
): Fact<string> {
  if (isKnown(resources) && resources.value.includes(AUTOPILOT_ONLY))
    return known('autopilot', `API resource ${AUTOPILOT_ONLY}`);
  if (!isKnown(nodes)) return nodes;
  return unknown('undetermined', 'the cluster has no nodes to distinguish Standard from Autopilot');
}

/** Operating systems by status.nodeInfo.osImage. */
const SYSTEMS: readonly [system: string, osImage: RegExp][] = [
  ['cos', /^Container-Optimized OS/],
  ['al2023', /^Amazon Linux 2023/],
  ['al2', /^Amazon Linux 2\b/],
  ['bottlerocket', /^Bottlerocket/],
  ['ubuntu', /^Ubuntu/],
  ['rhcos', /^Red Hat Enterprise Linux CoreOS/],
  ['azure-linux', /^(CBL-Mariner|(Microsoft )?Azure Linux)/],
  ['talos', /^Talos /],
  ['flatcar', /^Flatcar/],
  ['debian', /^Debian/],
  ['windows', /^Windows/],
];

const OF_SETTING: ReadonlySet<string> = new Set(['cos', 'al2', 'al2023', 'bottlerocket', 'ubuntu']);

/** The setting `node-os` for the nodes that take runs; unknown if these differ. */
export const workerSystemOf = ({nodes}: Pick<PlatformReadings, 'nodes'>): Fact<string> =>
  follow(nodes, (all): Fact<string> => {
    const images = workersIn(all).map(({status}) => status?.nodeInfo?.osImage ?? '');
    const systems = [
      ...new Set(
        images.map((image) => SYSTEMS.find(([, pattern]) => pattern.test(image))?.[0] ?? 'other'),
      ),
    ];
    const [system] = systems;
    if (system === undefined) return unknown('undetermined', 'the cluster has no nodes for runs');
    if (systems.length > 1)
      return unknown(
        'undetermined',
        `the nodes have different operating systems: ${systems.join(', ')}`,
      );
    return known(OF_SETTING.has(system) ? system : 'other', 'nodes, status.nodeInfo.osImage');
  });

/** What a distribution is known by. */
interface Seen {
  nodes: readonly NodeObject[];
  resources: readonly string[];
  serverVersion: string;
}

interface Distribution {
  name: string;
  /** What it is called in the setting `cloud`. */
  cloud: 'gke' | 'eks' | 'aks' | 'openshift' | 'other';
  /** Any one of these is enough. */
  signs: readonly Sign[];
}

/** The matching sign, or undefined. */
type Sign = (seen: Seen) => string | undefined;

const resource =
  (name: string): Sign =>
  ({resources}) =>
    resources.includes(name) ? `API resource ${name}` : undefined;

const label =
  (key: string): Sign =>
  ({nodes}) =>
    nodes.some(({metadata}) => metadata.labels?.[key] !== undefined)
      ? `node label ${key}`
      : undefined;

const provider =
  (scheme: string): Sign =>
  ({nodes}) =>
    nodes.some(({spec}) => spec?.providerID?.startsWith(scheme))
      ? `providerID ${scheme}`
      : undefined;

const version =
  (pattern: RegExp): Sign =>
  ({nodes, serverVersion}) => {
    const kubelets = nodes.map(({status}) => status?.nodeInfo?.kubeletVersion ?? '');
    const found = [serverVersion, ...kubelets].find((each) => pattern.test(each));
    return found && `version ${found}`;
  };

/** Label of the distribution, for machines outside clouds: distributions of clouds also run elsewhere. */
const onlyOn =
  (schemes: readonly string[], sign: Sign): Sign =>
  (seen) =>
    seen.nodes.every(
      ({spec}) =>
        !spec?.providerID || schemes.some((scheme) => spec.providerID?.startsWith(scheme)),
    )
      ? sign(seen)
      : undefined;

const osImage =
  (pattern: RegExp): Sign =>
  ({nodes}) => {
    const image = nodes
      .map(({status}) => status?.nodeInfo?.osImage ?? '')
      .find((each) => pattern.test(each));
    return image && `osImage ${image}`;
  };

const nodeName =
  (name: string): Sign =>
  ({nodes}) =>
    nodes.some(({metadata}) => metadata.name === name) ? `node ${name}` : undefined;

/** The first that fits; OpenShift comes before the clouds it runs on. */
const DISTRIBUTIONS: readonly Distribution[] = [
  {
    name: 'openshift',
    cloud: 'openshift',
    signs: [resource('clusterversions.config.openshift.io'), label('node.openshift.io/os_id')],
  },
  {
    name: 'gke',
    cloud: 'gke',
    signs: [label('cloud.google.com/gke-nodepool'), version(/-gke\.\d/)].map((sign) =>
      onlyOn(['gce://'], sign),
    ),
  },
  {
    name: 'eks',
    cloud: 'eks',
    signs: [
      label('eks.amazonaws.com/nodegroup'),
      label('eks.amazonaws.com/compute-type'),
      version(/-eks-/),
      resource('cninodes.vpcresources.k8s.aws'),
    ].map((sign) => onlyOn(['aws://', 'eks-hybrid://'], sign)),
  },
  {
    name: 'aks',
    cloud: 'aks',
    signs: [label('kubernetes.azure.com/cluster'), label('kubernetes.azure.com/agentpool')],
  },
  {name: 'kind', cloud: 'other', signs: [provider('kind://')]},
  {name: 'k3s', cloud: 'other', signs: [provider('k3s://'), version(/\+k3s\d/)]},
  {name: 'rke2', cloud: 'other', signs: [provider('rke2://'), version(/\+rke2/)]},
  {name: 'minikube', cloud: 'other', signs: [label('minikube.k8s.io/name')]},
  {name: 'docker-desktop', cloud: 'other', signs: [nodeName('docker-desktop')]},
  {name: 'microk8s', cloud: 'other', signs: [label('microk8s.io/cluster')]},
  {name: 'talos', cloud: 'other', signs: [osImage(/^Talos /)]},
  {name: 'digitalocean', cloud: 'other', signs: [label('doks.digitalocean.com/node-pool')]},
  {name: 'linode', cloud: 'other', signs: [label('lke.linode.com/pool-id')]},
  {name: 'oracle', cloud: 'other', signs: [label('oci.oraclecloud.com/fault-domain')]},
  {name: 'ibm', cloud: 'other', signs: [label('ibm-cloud.kubernetes.io/worker-id')]},
];

/** Scheme of a providerID -> whose machines these are. */
const INFRASTRUCTURES: ReadonlyMap<string, string> = new Map([
  ['gce', 'google'],
  ['aws', 'aws'],
  ['eks-hybrid', 'on-premises'],
  ['azure', 'azure'],
  ['digitalocean', 'digitalocean'],
  ['linode', 'linode'],
  ['hcloud', 'hetzner'],
  ['oci', 'oracle'],
  ['ibm', 'ibm'],
  ['openstack', 'openstack'],
  ['vsphere', 'vsphere'],
  ['baremetalhost', 'on-premises'],
  ['kind', 'docker'],
]);
