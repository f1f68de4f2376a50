import {BaseCommand} from '../cli/base-command.ts';
import {
  accountFile,
  accountFiles,
  bundleSource,
  type CollectLogsFlags,
  type CollectResult,
  collectLogsFlags,
  collectOptions,
  showCollected,
  showFileList,
} from '../cli/collect-logs.ts';
import {releaseName, timeoutOf, toolPaths} from '../cli/connection-flags.ts';
import {durationOf} from '../cli/flag-values.ts';
import {onlyContainer} from '../cli/host-agents.ts';
import {storedTokens} from '../extensions/account/credentials.ts';
import {progressText, reviewText} from '../extensions/bundle/bundle-text.ts';
import type {PreparedBundle} from '../extensions/bundle/collect/prepare.ts';
import {collectFromCluster} from '../extensions/bundle/collect-from-cluster.ts';
import {collectFromHost} from '../extensions/bundle/collect-from-host.ts';
import type {Collected} from '../extensions/bundle/save-bundle.ts';
import type {Interrupts} from '../ground/system/system.ts';
import {namespace, release, TARGETS, target} from '../settings/release.ts';

/** The arguments are valid, so the collection can start. */
type Collect = (interrupts: Interrupts) => Promise<Collected>;

export default class CollectLogs extends BaseCommand<CollectResult> {
  static override summary = 'Collect a redacted support bundle.';
  static override description =
    'Collects logs, events, objects, Helm releases and findings into one file. Read-only; the bundle lists what your Kubernetes user may not read. Collects the last 24 hours of logs (--since), 100 MiB in total (--max-size); longer logs are cut in the middle. Secrets are redacted before anything is written. The finished bundle is searched for secrets of the namespace again. A secret that is found is masked, or its file is withheld. Exit code 7: the bundle is incomplete, or a file was withheld. Exit code 8: a secret could not be removed, so no bundle was written. If a token for the Scalr account is found, agent pool, agents and queue are added. --no-account disables this. For agents in Docker or systemd, use --target docker or --target systemd on their machine.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent',
    '<%= config.bin %> <%= command.id %> --since 2h --run run-v0o1 --out bundle.zip',
    '<%= config.bin %> <%= command.id %> --target docker',
    '<%= config.bin %> <%= command.id %> --watch --run run-v0o1',
    'sudo scalr-agent-install <%= command.id %> --target systemd --since 2h',
  ];
  static override flags = collectLogsFlags;

  protected override readonly targets = TARGETS;

  override async run(): Promise<CollectResult> {
    const {flags: given} = await this.parse(CollectLogs);
    if (/^\d+$/.test(given.since ?? ''))
      this.say(
        `--since ${given.since} means ${given.since} s. For hours, use --since ${given.since}h.\n`,
      );
    // These flags select the source without a target.
    const isSelected = given.docker !== undefined || given.journal;
    const tools = isSelected ? [] : await this.clusterChecks(['kubectl'], given);
    const certain = [() => collectOptions(given), ...tools];
    await this.requireLocal(given, {certain}, {only: [namespace, release, target]});
    const flags = isSelected ? given : {...given, target: await this.targetFrom(given)};
    const collect =
      bundleSource(flags) === 'host' ? await this.#fromHost(flags) : await this.#fromCluster(flags);
    const interrupts = this.app.handleInterrupts();
    try {
      const collected = await collect(interrupts);
      return collected.kind === 'listed'
        ? showFileList(collected.prepared, this.context(flags))
        : showCollected(collected, this.context(flags));
    } finally {
      interrupts.release();
    }
  }

  async #fromCluster(flags: CollectLogsFlags): Promise<Collect> {
    const settings = await this.settingsFrom(flags, {only: [namespace, release]});
    const {kubeTarget} = releaseName(await this.pinned(flags), settings);
    const options = {
      ...collectOptions(flags),
      userTokens: await storedTokens(this.app),
      kubeTarget,
      release: settings.isExplicit(release) ? settings.get(release) : undefined,
      run: flags.run,
      container: flags.container,
      ownVersion: this.config.version,
      readsSecrets: !flags['no-secret-seeds'],
      followingMs: flags.watch ? durationOf('--for', flags.for ?? '20m') : undefined,
    };
    const paths = toolPaths(flags);
    // A login takes none of the time of --timeout.
    await this.kubernetes(kubeTarget, flags);
    const {env, processes, sleep} = this.app;
    const deps = {
      ...this.#saving(),
      openApi: async (signal: AbortSignal) => {
        const client = await this.kubernetes(kubeTarget, flags);
        await client.connect(signal);
        return client;
      },
      processes: processes(paths),
      helmDriver: env['HELM_DRIVER'],
      sleep,
      ...(flags.account ? {readAccount: accountFiles(this.context(flags))} : {}),
      onPrepared: (prepared: PreparedBundle): void =>
        this.say(reviewText(prepared, this.screen), reviewText(prepared, this.screen)),
      onLog: ({file}: {file: string}): void => this.say(`Following ${file}\n`),
    };
    return (interrupts) => collectFromCluster(options, {...deps, interrupts});
  }

  async #fromHost(flags: CollectLogsFlags): Promise<Collect> {
    const settings = await this.settingsFrom(flags, {only: [release]});
    const name = settings.isExplicit(release) ? settings.get(release) : undefined;
    const container =
      flags.target === 'docker'
        ? await onlyContainer(name, this.app.host, timeoutOf(flags))
        : flags.docker;
    const options = {...collectOptions(flags), container, userTokens: await storedTokens(this.app)};
    const reading = flags.account ? {readAccount: accountFile(this.context(flags))} : {};
    const deps = {...this.#saving(), host: this.app.host, ...reading};
    return (interrupts) => collectFromHost(options, {...deps, interrupts});
  }

  #saving() {
    const {archives, files, now, pageTemplate} = this.app;
    return {
      archives,
      files,
      now,
      template: () => pageTemplate(this.config.root),
      onProgress: (done: number, all: number): void =>
        this.say(progressText(done, all, this.screen)),
    };
  }
}
