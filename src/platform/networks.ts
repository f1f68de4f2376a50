import {type Fact, firstKnown, follow, known, mapped, unknown} from '../ground/fact.ts';
import type {ConfigMapObject, CustomObject, NodeObject, PlatformReadings} from './readings.ts';

export interface Networks {
  /** CIDRs that Services get their addresses from. */
  services: Fact<readonly string[]>;
  /** CIDRs of all pods, also of future nodes. */
  pods: Fact<readonly string[]>;
  /** CIDRs of the pods on the current nodes; each new node adds another one. */
  podsOfNodes: Fact<readonly string[]>;
}

const isCidr = (text: unknown): text is string => typeof text === 'string' && /^[0-9a-f.:]+\/\d{1,3}$/i.test(text);

export function networksOf(readings: PlatformReadings): Networks {
  const {serviceCidrs, openshiftNetworks, kubeadmConfig, calicoPools, nodes} = readings;
  const from = (objects: Fact<readonly CustomObject[]>, cidrsIn: (object: CustomObject) => unknown[]): Fact<string[]> =>
    follow(objects, (all, source) => cidrs(all.flatMap(cidrsIn), source));
  return {
    services: firstKnown(
      from(serviceCidrs, ({spec}) => texts(spec?.['cidrs'])),
      from(openshiftNetworks, ({status}) => texts(status?.['serviceNetwork'])),
      ofKubeadm(kubeadmConfig, 'serviceSubnet'),
    ),
    pods: firstKnown(
      ofKubeadm(kubeadmConfig, 'podSubnet'),
      from(openshiftNetworks, clusterNetworks),
      from(calicoPools, ({spec}) => (spec?.['disabled'] === true ? [] : [spec?.['cidr']])),
    ),
    podsOfNodes: follow(nodes, (all) => cidrs(all.flatMap(podNetworks), 'nodes, spec.podCIDRs')),
  };
}

const podNetworks = ({spec}: NodeObject): unknown[] => [...(spec?.podCIDRs ?? [spec?.podCIDR])];

const texts = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const clusterNetworks = ({status}: CustomObject): unknown[] =>
  texts(status?.['clusterNetwork']).map((each) => (each as {cidr?: unknown} | null)?.cidr);

function cidrs(found: readonly unknown[], source: string): Fact<string[]> {
  const valid = [...new Set(found.filter(isCidr))];
  return valid.length > 0 ? known(valid, source) : unknown('undetermined', `${source} does not contain a network`);
}

/** The configuration is YAML inside a string; only two of its lines are used. */
const ofKubeadm = (config: Fact<ConfigMapObject | undefined>, key: 'serviceSubnet' | 'podSubnet'): Fact<string[]> =>
  follow(config, (found, source): Fact<string[]> => {
    if (found === undefined) return unknown('undetermined', `${source} not found`);
    const line = new RegExp(`^\\s*${key}:\\s*"?([^"\\s]+)"?\\s*$`, 'm').exec(found?.data?.['ClusterConfiguration'] ?? '');
    return cidrs(line?.[1]?.split(',') ?? [], `${source}, ${key}`);
  });

const METADATA_ADDRESS = '169.254.169.254';

/** Pods use 169.254.169.254 for DNS, so blocking the metadata service blocks DNS: https://github.com/tektoncd/operator/issues/4000 */
export const usesMetadataDns = ({kubeletDns}: Pick<PlatformReadings, 'kubeletDns'>, distribution: Fact<string>): Fact<boolean> =>
  follow(distribution, (name): Fact<boolean> => {
    if (name !== 'gke') return known(false, 'only Cloud DNS for GKE uses this address');
    return mapped(kubeletDns, (servers) => servers.includes(METADATA_ADDRESS));
  });
