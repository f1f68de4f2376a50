import type {ClusterFacts} from '../cluster/facts/cluster-facts.ts';
import {type Fact, isKnown} from '../cluster/facts/fact.ts';
import type {Warning} from '../errors.ts';
import {cloud, nodeOs} from '../settings/cluster.ts';
import {type Setting, spell} from '../settings/define.ts';
import {httpProxy, httpsProxy, noProxy} from '../settings/network.ts';
import {chart} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';

/** What the cluster was asked for and did not tell, where nobody else said it; what cannot be told by anybody is none of it. */
export function unreadIn({platform, nodeSystems, networks, versions, forbidsHostPath}: ClusterFacts, settings: Settings): Warning[] {
  const hasProxy = settings.isExplicit(httpProxy) || settings.isExplicit(httpsProxy);
  const asked: [Setting, string, Fact<unknown>][] = [
    [cloud, spell(cloud), platform.cloud],
    [nodeOs, spell(nodeOs), nodeSystems.ofWorkers],
    ...(hasProxy
      ? [networks.services, networks.pods].map((fact): [Setting, string, Fact<unknown>] => [noProxy, spell(noProxy), fact])
      : []),
    [chart, 'the choice of a chart', versions.oldest],
    [chart, 'the choice of a chart', forbidsHostPath],
  ];
  const open = new Map<string, Set<string>>();
  for (const [setting, what, fact] of asked) {
    if (settings.isExplicit(setting) || isKnown(fact) || !UNREAD.has(fact.unknown)) continue;
    open.set(fact.because, (open.get(fact.because) ?? new Set()).add(what));
  }
  return [...open].map(([because, whats]) => ({
    code: 'CLUSTER_UNREAD',
    message: `--from-cluster could not read everything: ${because.replace(/[.]?$/, '.')} Nothing of it went into ${[...whats].join(', ').replace(/, (?=[^,]*$)/, ' and ')}.`,
  }));
}

const UNREAD: ReadonlySet<string> = new Set(['forbidden', 'timed-out', 'failed']);
