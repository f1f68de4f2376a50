import type {NodeObject} from './readings.ts';

/** What a distribution is known by. */
export interface Seen {
  nodes: readonly NodeObject[];
  resources: readonly string[];
  serverVersion: string;
}

export interface Distribution {
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
    nodes.some(({metadata}) => metadata.labels?.[key] !== undefined) ? `node label ${key}` : undefined;

const provider =
  (scheme: string): Sign =>
  ({nodes}) =>
    nodes.some(({spec}) => spec?.providerID?.startsWith(scheme)) ? `providerID ${scheme}` : undefined;

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
    seen.nodes.every(({spec}) => !spec?.providerID || schemes.some((scheme) => spec.providerID?.startsWith(scheme)))
      ? sign(seen)
      : undefined;

const osImage =
  (pattern: RegExp): Sign =>
  ({nodes}) => {
    const image = nodes.map(({status}) => status?.nodeInfo?.osImage ?? '').find((each) => pattern.test(each));
    return image && `osImage ${image}`;
  };

const nodeName =
  (name: string): Sign =>
  ({nodes}) =>
    nodes.some(({metadata}) => metadata.name === name) ? `node ${name}` : undefined;

/** The first that fits; OpenShift comes before the clouds it runs on. */
export const DISTRIBUTIONS: readonly Distribution[] = [
  {name: 'openshift', cloud: 'openshift', signs: [resource('clusterversions.config.openshift.io'), label('node.openshift.io/os_id')]},
  {name: 'gke', cloud: 'gke', signs: [label('cloud.google.com/gke-nodepool'), version(/-gke\.\d/)].map((sign) => onlyOn(['gce://'], sign))},
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
  {name: 'aks', cloud: 'aks', signs: [label('kubernetes.azure.com/cluster'), label('kubernetes.azure.com/agentpool')]},
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
export const INFRASTRUCTURES: ReadonlyMap<string, string> = new Map([
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
