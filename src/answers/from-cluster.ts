import type {ClusterFacts} from '../cluster/facts/cluster-facts.ts';
import {type Fact, isKnown} from '../cluster/facts/fact.ts';
import {cloud, nodeOs} from '../settings/cluster.ts';
import type {Setting} from '../settings/define.ts';
import {noProxy} from '../settings/network.ts';
import type {Source} from './sources.ts';

/** A setting that the cluster answers. */
export interface ClusterAnswer {
  setting: Setting;
  value: unknown;
  /** Where the cluster says so. */
  because: string;
}

/** The settings that the facts answer for sure, in the order of the catalogue; what is unknown stays to be asked for. */
export function answersIn({platform, nodeSystems, networks}: ClusterFacts): ClusterAnswer[] {
  return [
    ...answerTo(cloud, platform.cloud),
    ...answerTo(nodeOs, nodeSystems.ofWorkers),
    ...answerTo(noProxy, together(networks.services, networks.pods)),
  ];
}

/** What the cluster says, as one more place that answers come from. */
export function fromCluster(facts: ClusterFacts): Source {
  const found = new Map(answersIn(facts).map((each) => [each.setting, each]));
  return {
    name: 'cluster',
    answer: (setting) => found.get(setting)?.value,
    because: (setting) => found.get(setting)?.because,
  };
}

const answerTo = (setting: Setting, fact: Fact<unknown>): ClusterAnswer[] =>
  isKnown(fact) ? [{setting, value: fact.value, because: fact.source}] : [];

/** Either network is worth having without the other. */
function together(...networks: readonly Fact<readonly string[]>[]): Fact<readonly string[]> {
  const known = networks.filter(isKnown);
  const [first] = networks as [Fact<readonly string[]>];
  if (known.length === 0) return first;
  return {
    value: [...new Set(known.flatMap(({value}) => value))],
    source: known.map(({source}) => source).join('; '),
  };
}
