import {byVerdict, type Finding, remediesOf, type Verdict} from '../ground/finding.ts';
import {few} from '../ground/text.ts';
import type {Values} from '../ground/tree.ts';
import {catalog} from '../settings/catalog.ts';
import {floorOf, isBelow, isVersion} from './charts.ts';
import {pinnedAgents} from './images.ts';
import {KNOWN_PROBLEMS} from './known-problems.ts';
import type {ChartName} from './releases/chart-name.ts';
import {releasesOf, type Target} from './releases/target.ts';
import {compare, describeRange, within} from './releases/versions.ts';
import type {KnownProblem, KnownProblemFacts} from './shared/known-problem.ts';
import {hasKey} from './support.ts';

/** What an upgrade does, or why it cannot run. */
export interface UpgradeAdvice extends Finding {
  /** The range of versions that it is about. */
  versions: string;
  /** The plan of the upgrade applies the remedy. */
  automatic: boolean;
}

export interface UpgradeFacts extends KnownProblemFacts {
  /** Version of the control plane. */
  server: string;
  nodes: readonly {name: string; version: string}[];
}

/** Everything to know before an upgrade within one chart, the worst first. Pure. */
export const advise = (installed: Target, desired: Target, facts: UpgradeFacts): UpgradeAdvice[] =>
  [
    ...kubernetesAdvice(desired, facts),
    ...knownProblemsOf(installed, desired, facts).map(
      ({code, verdict, from, to, reason, remedy, isHandled}): UpgradeAdvice => ({
        ...upgradeFinding(verdict, code, {message: reason, remedy}),
        versions:
          from === '*' ? describeRange(to) : `${describeRange(from)} → ${describeRange(to)}`,
        automatic: isHandled ?? false,
      }),
    ),
  ].toSorted(byVerdict);

/** A finding about the upgrade as a whole. */
export const upgradeFinding = (
  verdict: Verdict,
  code: string,
  {message, remedy}: {message: string; remedy: string},
): Finding => ({code, verdict, subject: {}, message, remedies: remediesOf(remedy)});

/** The rows of a chart that apply; none if the version stays the same. */
export const knownProblemsOf = (
  {chart, version}: Target,
  desired: Target,
  facts: KnownProblemFacts,
): KnownProblem[] =>
  KNOWN_PROBLEMS[chart].filter(
    ({from, to, when}) =>
      compare(version, desired.version) !== 0 &&
      within(version, from) &&
      within(desired.version, to) &&
      (when?.(facts) ?? true),
  );

/** Control plane and nodes that are older than the chart version requires. Helm checks the control plane only. */
export function kubernetesAdvice(
  desired: Target,
  {server, nodes}: Pick<UpgradeFacts, 'server' | 'nodes'>,
): UpgradeAdvice[] {
  const floor = floorOf(desired);
  if (floor === undefined) return [];
  const isOld = (version: string): boolean => isVersion(version) && isBelow(version, floor.version);
  const old = [
    ...(isOld(server) ? [`the control plane (${server})`] : []),
    ...nodes
      .filter(({version}) => isOld(version))
      .map(({name, version}) => `node ${name} (${version})`),
  ];
  if (old.length === 0) return [];
  const fits = releasesOf(desired.chart).findLast(
    (version) => !(floorOf({...desired, version})?.isHard ?? false),
  );
  return [
    {
      ...upgradeFinding(floor.isHard ? 'error' : 'warning', 'KUBERNETES_TOO_OLD', {
        message: `${desired.chart} ${desired.version} requires Kubernetes ${floor.version} on all nodes (${floor.because}); too old: ${few(old)}`,
        remedy:
          floor.isHard && fits !== undefined
            ? `Upgrade Kubernetes first, or use --chart-version ${fits}`
            : 'Upgrade Kubernetes first',
      }),
      versions: desired.version,
      automatic: false,
    },
  ];
}

/** Agents that stay at their version. `values` are those of the upgrade, merged over the chart defaults. Pure. */
export const pinnedAdvice = (desired: Target, values: Values): UpgradeAdvice[] =>
  pinnedAgents(values, desired).map(({keys, message}) => ({
    ...upgradeFinding('warning', 'AGENT_VERSION', {
      message,
      remedy: `Remove ${keys}: set null in a file for --values`,
    }),
    versions: desired.version,
    automatic: false,
  }));

/** A setting that the desired version supports and the installed one does not. */
export interface NewSetting {
  setting: string;
  summary: string;
}

/** The settings that an upgrade adds. Pure. */
export function newSettingsOf(installed: Target, desired: Target): NewSetting[] {
  const added = catalog.filter(
    (setting) => hasKey(desired, setting) && !hasKey(installed, setting),
  );
  return added.map(({id, summary}) => ({setting: id, summary}));
}

/** What a change of the chart does to the agent and to runs in flight, by what makes it. */
export const CHART_CHANGES = {
  upgrade:
    'installs the new chart as a second release, waits until it is ready, and then drains and uninstalls the old one',
  install:
    'stops the installed agent, waits for its runs (inside agent-local only for its grace period), and replaces every object of the release. No agent runs in between',
  helm: 'replaces every object of the release at once; runs in flight are lost',
} as const;

/** The next step that keeps an agent running. */
export const changeWithUpgrade = (chart: ChartName, command = 'scalr-agent upgrade'): string =>
  `To install ${chart} beside it first: ${command} --chart ${chart}`;
