import {type Fact, isKnown} from '../../../cluster/facts/fact.ts';
import type {Networks} from '../../../cluster/facts/networks.ts';
import {httpProxy, httpsProxy, noProxy} from '../../../settings/network.ts';
import {type Check, pass, warn} from '../../check.ts';
import {few, ifKnown} from '../outcomes.ts';
import {covers} from './cidrs.ts';

interface Found {
  networks: Fact<readonly string[]>;
  /** What else there is to say where something is left out. */
  note?: string;
}

const outsideProxy = (what: 'service' | 'pod', networksOf: (networks: Networks) => Found): Check => ({
  id: `no-proxy-${what}s`,
  group: 'Network',
  title: `${what} addresses are reached without the proxy`,
  ref: 'agent-job 0.6.5, README',
  test: ({get, facts}) => {
    if ((get(httpsProxy) ?? get(httpProxy)) === undefined) return undefined;
    const found = networksOf(facts.networks);
    return ifKnown(found.networks, `The ${what} network is`, (networks, source) => {
      const entries = get(noProxy) ?? [];
      const missing = networks.filter((network) => !entries.some((entry) => entry === '*' || covers(entry, network)));
      if (missing.length === 0) return pass(`${few(networks)} (${source})`);
      return warn(
        `NO_PROXY leaves out ${few(missing)} (${source}): what is asked for by address there goes to the proxy${found.note ?? ''}`,
        `Add --no-proxy ${[...entries, ...missing].join(',')}`,
      );
    });
  },
});

export const servicesOutsideProxy = outsideProxy('service', ({services}) => ({networks: services}));

/** Where only the networks of the nodes are known, those of the nodes there are now. */
export const podsOutsideProxy = outsideProxy('pod', ({pods, podsOfNodes}) =>
  isKnown(pods) || !isKnown(podsOfNodes)
    ? {networks: pods}
    : {networks: podsOfNodes, note: '; every node that joins brings another network'},
);
