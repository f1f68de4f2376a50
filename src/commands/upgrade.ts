import {scalrChart} from '../charts/define.ts';
import {targetOf} from '../charts/target.ts';
import {notAnAgentRelease} from '../checks/status/read-status.ts';
import {notFound} from '../checks/status/release-causes.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {
  type ClusterFlags,
  releaseName,
  type SharedFlags,
  timeoutOf,
  waitingOf,
} from '../cli/flags.ts';
import {checksOfConnection} from '../cli/local-inputs.ts';
import {
  confirmKeysIn,
  readUnknownChart,
  signatureOf,
  signatureText,
  warningsOf,
} from '../cli/read-chart.ts';
import {
  UPGRADE_SETTINGS,
  type UpgradeResult,
  upgradeFlags,
  upgradeInCluster,
} from '../cli/upgrade-release.ts';
import {readValuesTexts} from '../cli/values-files.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {type InstalledRelease, readInstalled} from '../cluster/release/read-inventory.ts';
import {readFacts} from '../cluster/release/read-release.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {requireKnownVersion} from '../operations/debug.ts';
import {givenSecretNames, newestFor, prepare} from '../operations/prepare-upgrade.ts';
import {newestInRepository} from '../operations/read-chart.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import {newerText} from '../ui/status.ts';
import {refuseClearText} from '../values/clear-text.ts';
import {readLayers} from '../values/reading/source.ts';

export default class Upgrade extends BaseCommand<UpgradeResult> {
  static override summary = 'Upgrade an installed agent to another chart version or chart.';
  static override description =
    'Reads chart, version and values of the release, migrates the values, and lists what the upgrade changes. The plan applies new CRDs, and keeps PersistentVolumeClaims that Helm would delete. It waits for runs that the upgrade would interrupt, and verifies the agent. Without --chart-version, upgrades to the newest known version. Another --chart is installed as a new release; the old one is uninstalled after its runs have ended.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --dry-run',
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --yes --rollback-on-failure',
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --chart agent-job --dry-run',
  ];
  static override flags = upgradeFlags;

  override async run(): Promise<UpgradeResult> {
    const {flags} = await this.parse(Upgrade);
    const {settings, overlay} = await this.#readInputs(flags);
    const name = releaseName(await this.pinned(flags), settings);
    const access = await this.accessTo(name.kubeTarget, flags);
    refuseClearText(overlay, settings, () => undefined);
    const timeoutMs = timeoutOf(flags);
    const choices = {
      ...waitingOf(flags),
      timeoutSeconds: timeoutMs / 1000,
      now: this.app.now(),
      drain: flags.drain,
    };
    const {installed, to, prepared, signature} = await this.untilInterrupted(async () => {
      const signal = AbortSignal.timeout(timeoutMs);
      const installed = await readRelease(name, access, signal);
      const chartName = settings.get(chart) ?? installed.target.chart;
      const newest = newestFor(installed, chartName);
      const desired =
        settings.get(chartVersion) === undefined
          ? settings.with(chartVersion, {value: newest, source: 'default'})
          : settings;
      const source = settings.get(chartSource);
      const deps = {app: this.app, flags};
      const read = await readUnknownChart(
        chartName,
        desired.get(chartVersion) ?? newest,
        source,
        deps,
      );
      const {target: to, warnings} = targetOf(desired, () => chartName, read?.target);
      this.report(warnings);
      const keyring = flags.verify;
      const signature = await signatureOf(
        {...to, ...(source === undefined ? {} : {source})},
        keyring,
        deps,
      );
      this.say(signatureText(signature));
      const options = {
        source,
        keyring,
        overlay,
        newRelease: flags['new-release'],
        secretNames: givenSecretNames(settings),
      };
      const prepared = await prepare(installed, to, options, {choices, access, signal});
      if (source === undefined)
        this.say(newerText(await newestInRepository(chartName, access.processes, signal), to));
      if (read === undefined) return {installed, to, prepared, signature};
      const {unconfirmed} = await confirmKeysIn(read, prepared.desired.values, deps);
      return {
        installed,
        to,
        signature,
        prepared: {...prepared, warnings: [...prepared.warnings, ...warningsOf(unconfirmed)]},
      };
    });
    const readAgain = (): Promise<InstalledRelease> =>
      readRelease(name, access, AbortSignal.timeout(timeoutMs));
    return upgradeInCluster(
      {installed, to, prepared, signature, choices, access, readAgain},
      flags,
      this.context(flags),
    );
  }

  async #readInputs(flags: SharedFlags & ClusterFlags & {values?: string[] | undefined}) {
    const reading = readValuesTexts(flags.values ?? [], this.app.files).then(readLayers);
    const tools = checksOfConnection(['helm', 'kubectl'], flags, this.app);
    const options = {only: UPGRADE_SETTINGS};
    await this.requireLocal(flags, {certain: [() => reading, ...tools]}, options);
    return {settings: await this.settingsFrom(flags, options), overlay: await reading};
  }
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
