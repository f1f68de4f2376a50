import {scalrChart} from '../charts/releases/chart-name.ts';
import type {Target} from '../charts/releases/target.ts';
import {targetOf} from '../charts/target-of.ts';
import {notAnAgentRelease} from '../checks/status/read-status.ts';
import {notFound} from '../checks/status/release-causes.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {type InstalledRelease, readInstalled} from '../cluster/release/read-inventory.ts';
import {readFacts} from '../cluster/release/read-release.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import type {Values} from '../ground/tree.ts';
import {requireKnownVersion} from '../operations/debug.ts';
import {givenSecretNames, newestFor, prepareUpgrade} from '../operations/prepare-upgrade.ts';
import {newestInRepository, type ReadChart} from '../operations/read-chart.ts';
import type {PreparedUpgrade, UpgradeChoices} from '../operations/upgrade.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {newerText} from '../ui/status.ts';
import {signatureOf, signatureText} from './chart-signature.ts';
import {waitingOf} from './connection-flags.ts';
import type {CommandContext} from './operate.ts';
import {readUnknownChart} from './read-chart.ts';
import {reportKeys, unconfirmedWarnings} from './report-keys.ts';
import type {Upgrade, UpgradeFlags} from './upgrade-release.ts';

/** What the user asks for, and the cluster of the release. */
interface UpgradeRequest {
  name: ReleaseName;
  settings: Settings;
  /** Values files to merge over the migrated values. */
  overlay: Values;
  flags: UpgradeFlags;
  access: ClusterAccess;
  context: CommandContext;
}

/** Reads the release and its new chart, and plans the upgrade; changes nothing. @throws ExpectedError */
export async function readUpgrade(request: UpgradeRequest): Promise<Upgrade> {
  const {name, settings, overlay, flags, access, context} = request;
  const signal = AbortSignal.timeout(context.timeoutMs);
  const installed = await readRelease(name, access, signal);
  const {to, read} = await readTarget(request, installed);
  const source = settings.get(chartSource);
  const keyring = flags.verify;
  const signature = await signatureOf({...to, source}, keyring, {app: context.app, flags});
  context.say(signatureText(signature));
  const secretNames = givenSecretNames(settings);
  const newRelease = flags['new-release'];
  const options = {to, source, keyring, overlay, newRelease, secretNames};
  const choices = choicesOf(flags, context);
  const prepared = await prepareUpgrade(installed, options, {choices, access, signal});
  if (source === undefined)
    context.say(newerText(await newestInRepository(to.chart, access.processes, signal), to));
  return {
    installed,
    to,
    prepared: await withUnconfirmed(prepared, read, request),
    signature,
    choices,
    access,
    readAgain: () => readRelease(name, access, AbortSignal.timeout(context.timeoutMs)),
  };
}

/** @throws ExpectedError for a release that cannot be upgraded */
async function readRelease(
  name: ReleaseName,
  access: ClusterAccess,
  signal: AbortSignal,
): Promise<InstalledRelease> {
  const facts = await readFacts(name, [], access, signal);
  const {release: found} = facts;
  if (found === undefined || found.status === 'uninstalled')
    throw await notFound(name, found, access, signal);
  const target = scalrChart(found.chart);
  if (target === undefined) throw notAnAgentRelease(name, found.chart);
  requireKnownVersion(name, target);
  return readInstalled(name, {...facts, release: found}, access, signal);
}

/** The chart to upgrade to, read if its version is unknown; by default the newest known version. @throws ExpectedError */
async function readTarget(
  {settings, flags, context}: UpgradeRequest,
  installed: InstalledRelease,
): Promise<{to: Target; read: ReadChart | undefined}> {
  const chartName = settings.get(chart) ?? installed.target.chart;
  const version = settings.get(chartVersion) ?? newestFor(installed, chartName);
  const source = settings.get(chartSource);
  const read = await readUnknownChart(chartName, version, source, {app: context.app, flags});
  const desired = settings.with(chartVersion, {value: version, source: 'default'});
  const {target, warnings} = targetOf(desired, () => chartName, read?.target);
  context.report(warnings);
  return {to: target, read};
}

const choicesOf = (flags: UpgradeFlags, {app, timeoutMs}: CommandContext): UpgradeChoices => ({
  ...waitingOf(flags),
  timeoutSeconds: timeoutMs / 1000,
  now: app.now(),
  drain: flags.drain,
});

async function withUnconfirmed(
  prepared: PreparedUpgrade,
  read: ReadChart | undefined,
  {flags, context}: UpgradeRequest,
): Promise<PreparedUpgrade> {
  const {values} = prepared.desired;
  const [confirmed] = await reportKeys([{chart: read, values}], {app: context.app, flags});
  return {...prepared, warnings: [...prepared.warnings, ...unconfirmedWarnings(confirmed)]};
}
