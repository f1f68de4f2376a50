import {BaseCommand} from '../cli/base-command.ts';
import {type ClusterFlags, releaseName} from '../cli/connection-flags.ts';
import type {SharedFlags} from '../cli/flags.ts';
import {checksOfConnection} from '../cli/local-inputs.ts';
import {readUpgrade} from '../cli/read-upgrade.ts';
import {
  UPGRADE_SETTINGS,
  type UpgradeResult,
  upgradeFlags,
  upgradeInCluster,
} from '../cli/upgrade-release.ts';
import {readValuesTexts} from '../cli/values-files.ts';
import {refuseClearText} from '../values/clear-text.ts';
import {readLayers} from '../values/reading/source.ts';

export default class Upgrade extends BaseCommand<UpgradeResult> {
  static override summary = 'Upgrade an installed agent to another chart version or chart.';
  static override description =
    'Reads chart, version and values of the release, migrates the values, and lists what the upgrade changes. The plan applies new CRDs, and keeps PersistentVolumeClaims that Helm would delete. It waits for runs of agent-job and agent-k8s that the upgrade would interrupt, and verifies the agent. Runs of agent-local cannot be seen, and are interrupted by default. Without --chart-version, upgrades to the newest known version. Another --chart is installed as a new release; the old one is uninstalled after its runs have ended. A release of Argo CD or Flux is rejected: change "chart-version" in its answers, export again, and commit. In Docker, run "install --target docker" with --agent-image scalr/agent:VERSION.';
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
    const context = this.context(flags);
    const request = {name, settings, overlay, flags, access, context};
    const upgrade = await this.untilInterrupted(() => readUpgrade(request));
    return upgradeInCluster(upgrade, flags, context);
  }

  async #readInputs(flags: SharedFlags & ClusterFlags & {values?: string[] | undefined}) {
    const reading = readValuesTexts(flags.values ?? [], this.app.files).then(readLayers);
    const tools = checksOfConnection(['helm', 'kubectl'], flags, this.app);
    const options = {only: UPGRADE_SETTINGS};
    await this.requireLocal(flags, {certain: [() => reading, ...tools]}, options);
    return {settings: await this.settingsFrom(flags, options), overlay: await reading};
  }
}
