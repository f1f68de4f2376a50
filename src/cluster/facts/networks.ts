import {type Fact, firstKnown, follow, known, unknown} from './fact.ts';
import type {ConfigMapObject, CustomObject, NodeObject, Readings} from './readings.ts';

export interface Networks {
  /** CIDRs that Services get their addresses from. */
  services: Fact<readonly string[]>;
  /** CIDRs that pods get their addresses from, all of them and for good. */
  pods: Fact<readonly string[]>;
  /** CIDRs of the pods on the nodes there are now; a node that joins brings another one. */
  podsOfNodes: Fact<readonly string[]>;
}

const isCidr = (text: unknown): text is string => typeof text === 'string' && /^[0-9a-f.:]+\/\d{1,3}$/i.test(text);

export function networksOf(readings: Readings): Networks {
  const {serviceCidrs, openshiftNetworks, kubeadmConfig, calicoPools, nodes} = readings;
  return {
    services: firstKnown(
      follow(serviceCidrs, (all, source) =>
        cidrs(
          all.flatMap((each) => texts(each.spec?.['cidrs'])),
          source,
        ),
      ),
      follow(openshiftNetworks, (all, source) =>
        cidrs(
          all.flatMap((each) => texts(each.status?.['serviceNetwork'])),
          source,
        ),
      ),
      ofKubeadm(kubeadmConfig, 'serviceSubnet'),
    ),
    pods: firstKnown(
      ofKubeadm(kubeadmConfig, 'podSubnet'),
      follow(openshiftNetworks, (all, source) => cidrs(all.flatMap(clusterNetworks), source)),
      follow(calicoPools, (all, source) =>
        cidrs(
          all.filter(({spec}) => spec?.['disabled'] !== true).map(({spec}) => spec?.['cidr']),
          source,
        ),
      ),
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
  return valid.length > 0 ? known(valid, source) : unknown('undetermined', `${source} names no network`);
}

/** The configuration is YAML inside a text; of it two lines count. */
const ofKubeadm = (config: Fact<ConfigMapObject | undefined>, key: 'serviceSubnet' | 'podSubnet'): Fact<string[]> =>
  follow(config, (found, source): Fact<string[]> => {
    if (found === undefined) return unknown('undetermined', `there is no ${source}`);
    const line = new RegExp(`^\\s*${key}:\\s*"?([^"\\s]+)"?\\s*$`, 'm').exec(found?.data?.['ClusterConfiguration'] ?? '');
    return cidrs(line?.[1]?.split(',') ?? [], `${source}, ${key}`);
  });
