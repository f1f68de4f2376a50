import type {ClusterFacts} from '../cluster/facts/cluster-facts.ts';
import {type Fact, isKnown} from '../cluster/facts/fact.ts';
import type {Warning} from '../errors.ts';
import {cloud, nodeOs} from '../settings/cluster.ts';
import {type Setting, spell} from '../settings/define.ts';
import {httpProxy, httpsProxy, noProxy} from '../settings/network.ts';
import {chart} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {cache, cachePath, dataHome} from '../settings/storage.ts';
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

/** Warnings about facts that no other source answers and that could not be read; facts that are not readable at all are left out. */
export function unreadFacts({platform, nodeSystems, networks, versions, forbidsHostPath}: ClusterFacts, settings: Settings): Warning[] {
  const hasProxy = settings.isExplicit(httpProxy) || settings.isExplicit(httpsProxy);
  const wanted: [Setting, string, Fact<unknown>][] = [
    [cloud, spell(cloud), platform.cloud],
    [nodeOs, spell(nodeOs), nodeSystems.ofWorkers],
    ...(hasProxy
      ? [networks.services, networks.pods].map((fact): [Setting, string, Fact<unknown>] => [noProxy, spell(noProxy), fact])
      : []),
    [chart, 'the choice of a chart', versions.oldest],
    [chart, 'the choice of a chart', forbidsHostPath],
  ];
  const byReason = new Map<string, Set<string>>();
  for (const [setting, what, fact] of wanted) {
    if (settings.isExplicit(setting) || isKnown(fact) || !UNREAD.has(fact.unknown)) continue;
    byReason.set(fact.because, (byReason.get(fact.because) ?? new Set()).add(what));
  }
  return [...byReason].map(([because, whats]) => ({
    code: 'CLUSTER_UNREAD',
    message: `--from-cluster could not read everything: ${because.replace(/[.]?$/, '.')} Nothing of it went into ${[...whats].join(', ').replace(/, (?=[^,]*$)/, ' and ')}.`,
  }));
}

const UNREAD: ReadonlySet<string> = new Set(['forbidden', 'timed-out', 'failed']);

/** A warning for each setting that affects the values and that a cluster would answer, where none was asked. */
export function unaskedWarnings(settings: Settings, chosen: string): Warning[] {
  const isOpen = (setting: Setting): boolean => !settings.isExplicit(setting) && settings.answer(setting)?.source !== 'values-file';
  const hasNodePath = (chosen === 'agent-k8s' && isOpen(dataHome)) || (settings.get(cache) === 'hostpath' && isOpen(cachePath));
  const hasProxy = settings.isExplicit(httpProxy) || settings.isExplicit(httpsProxy);
  const affecting = [chart, ...(hasNodePath ? [cloud, nodeOs] : []), ...(hasProxy ? [noProxy] : [])];
  return affecting.filter(isOpen).map((setting) => ({
    code: 'NOT_FROM_CLUSTER',
    setting: setting.id,
    message: `${spell(setting)} is not set. install reads it from the cluster, and so does this command with --from-cluster.`,
  }));
}
