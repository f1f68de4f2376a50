import type {ClusterFacts} from '../cluster/platform/cluster-facts.ts';
import {failed} from '../ground/errors.ts';
import {type Fact, isKnown} from '../ground/fact.ts';
import {type SettingFinding, warningOf} from '../ground/finding.ts';
import type {Files} from '../ground/system/system.ts';
import {isPrintable} from '../ground/yaml-text.ts';

import {cache, cachePath} from '../settings/cache.ts';
import {cloud, nodeOs} from '../settings/cluster.ts';
import {type Setting, spell} from '../settings/define.ts';
import {httpProxy, httpsProxy, noProxy} from '../settings/network.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {dataHome} from '../settings/storage.ts';
import type {SettingsSource} from './sources.ts';

interface ClusterAnswer {
  setting: Setting;
  value: unknown;
  /** Source of the value in the cluster. */
  because: string;
}

/** The settings that the facts determine, in the order of the catalog; unknown facts are omitted. */
export function answersFromFacts({platform, nodeSystems, networks}: ClusterFacts): ClusterAnswer[] {
  return [
    ...answerTo(cloud, platform.cloud),
    ...answerTo(nodeOs, nodeSystems.ofWorkers),
    ...answerTo(noProxy, together(networks.services, networks.pods)),
  ];
}

export function fromCluster(facts: ClusterFacts): SettingsSource {
  const found = new Map(answersFromFacts(facts).map((each) => [each.setting, each]));
  return {
    name: 'cluster',
    answer: (setting) => found.get(setting)?.value,
    because: (setting) => found.get(setting)?.because,
  };
}

const answerTo = (setting: Setting, fact: Fact<unknown>): ClusterAnswer[] =>
  isKnown(fact) ? [{setting, value: fact.value, because: fact.source}] : [];

/** Each network is useful without the other. */
function together(...networks: readonly Fact<readonly string[]>[]): Fact<readonly string[]> {
  const known = networks.filter(isKnown);
  const [first] = networks as [Fact<readonly string[]>];
  if (known.length === 0) return first;
  return {
    value: [...new Set(known.flatMap(({value}) => value))],
    source: known.map(({source}) => source).join('; '),
  };
}

/** Warnings about facts that could not be read and that no other source provides. */
export function unreadFacts(
  {platform, nodeSystems, networks, versions, forbidsHostPath}: ClusterFacts,
  settings: Settings,
): SettingFinding[] {
  const hasProxy = settings.isExplicit(httpProxy) || settings.isExplicit(httpsProxy);
  const desired: [Setting, string, Fact<unknown>][] = [
    [cloud, spell(cloud), platform.cloud],
    [nodeOs, spell(nodeOs), nodeSystems.ofWorkers],
    ...(hasProxy
      ? [networks.services, networks.pods].map((fact): [Setting, string, Fact<unknown>] => [
          noProxy,
          spell(noProxy),
          fact,
        ])
      : []),
    [chart, 'the chart recommendation', versions.oldest],
    [chart, 'the chart recommendation', forbidsHostPath],
  ];
  const byReason = new Map<string, Set<string>>();
  for (const [setting, what, fact] of desired) {
    if (settings.isExplicit(setting) || isKnown(fact) || !UNREAD.has(fact.unknown)) continue;
    byReason.set(fact.because, (byReason.get(fact.because) ?? new Set()).add(what));
  }
  return [...byReason].map(([because, whats]) =>
    warningOf(
      'CLUSTER_UNREAD',
      `Some cluster data could not be read: ${because.replace(/[.]?$/, '.')} It is not used for ${[...whats].join(', ').replace(/, (?=[^,]*$)/, ' and ')}.`,
    ),
  );
}

const UNREAD: ReadonlySet<string> = new Set(['forbidden', 'timed-out', 'failed']);

/** A warning about unset settings that affect the values and could be read from a cluster. */
export function unsetSettingWarnings(settings: Settings, chosen: string): SettingFinding[] {
  const isOpen = (setting: Setting): boolean =>
    !settings.isExplicit(setting) && settings.answer(setting)?.source !== 'values-file';
  const hasNodePath =
    (chosen === 'agent-k8s' && isOpen(dataHome)) ||
    (settings.get(cache) === 'hostpath' && isOpen(cachePath));
  const hasProxy = settings.isExplicit(httpProxy) || settings.isExplicit(httpsProxy);
  const isChartRead = settings.isExplicit(chartSource);
  const affecting = [
    ...(isChartRead ? [] : [chart]),
    ...(hasNodePath ? [cloud, nodeOs] : []),
    ...(hasProxy ? [noProxy] : []),
  ];
  const open = affecting.filter(isOpen).map((each) => spell(each));
  if (open.length === 0) return [];
  const message = `The cluster was not read, but it affects ${open.join(', ').replace(/, (?=[^,]*$)/, ' and ')}. Add --from-cluster, or set ${open.length === 1 ? 'the flag' : 'the flags'}.`;
  return [warningOf('NOT_FROM_CLUSTER', message)];
}

/** `oci://registry/agent-job:0.6.5`, `https://host/agent-job-0.6.5.tgz` */
const REFERENCE = /^[a-z]+:\/\/.*\/(agent-(?:k8s|local|job))(?:[:-](\d+\.\d+\.\d+))?(?:\.tgz)?$/i;

interface ChartId {
  name?: string | undefined;
  version?: string | undefined;
}

interface ChartSourceDeps {
  files: Pick<Files, 'kindOf'>;
  /** Reads a chart on this machine. @throws ExpectedError if it is not one of the three charts */
  readName(source: string): Promise<ChartId>;
  report(warnings: readonly SettingFinding[]): void;
}

/** Name and version of the chart in --chart-source, as a source of answers. @throws ExpectedError on a conflict with another source */
export async function fromChartSource(
  sources: readonly SettingsSource[],
  deps: ChartSourceDeps,
): Promise<SettingsSource[]> {
  // An invalid value is reported later, together with all other problems.
  const answerTo = (setting: Setting): string | undefined => {
    const raw = sources.map((each) => each.answer(setting)).find((each) => each !== undefined);
    return typeof raw === 'string' && raw !== '' && isPrintable(raw)
      ? (setting.meant?.(raw) ?? raw)
      : undefined;
  };
  const source = answerTo(chartSource);
  if (source === undefined) return [];
  const name = answerTo(chart);
  const version = answerTo(chartVersion);
  const own = await nameOf(source, deps, name !== undefined);
  refuseOther(chart, name, own);
  refuseOther(chartVersion, version, own);
  // Not its URL, which may contain a password.
  return [
    {
      name: 'default',
      answer: (setting) => ownOf(setting, own),
      because: () => 'read from --chart-source',
    },
  ];
}

async function nameOf(
  source: string,
  {files, readName, report}: ChartSourceDeps,
  isNamed: boolean,
): Promise<ChartId> {
  const [, name, version] = REFERENCE.exec(source) ?? [];
  if (name !== undefined || /^[a-z]+:\/\//i.test(source)) return {name, version};
  if (!isNamed || (await files.kindOf(source)) !== 'nothing') return readName(source);
  // The chart may exist only on the machine that uses the values.
  report([
    warningOf(
      'INVALID_CHART_SOURCE',
      `--chart-source ${source} does not exist on this machine, so its version was not read.`,
    ),
  ]);
  return {};
}

function ownOf(setting: Setting, {name, version}: ChartId): string | undefined {
  if (setting === chart) return name;
  return setting === chartVersion ? version : undefined;
}

function refuseOther(setting: Setting, answer: string | undefined, {name, version}: ChartId): void {
  const own = ownOf(setting, {name, version});
  if (answer === undefined || own === undefined || answer === own) return;
  throw failed(
    'CONFLICTING_SETTINGS',
    `--${setting.id} is ${answer}, but the chart in --chart-source is ${[name, version].filter(Boolean).join(' ')}.`,
    [`Remove --${setting.id}, or set it to ${own}`, 'Set --chart-source to another chart'],
  );
}
