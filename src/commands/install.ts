import {isVerifiable} from '../checks/preflight/run-preflight.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {resumable} from '../cli/failure.ts';
import {explicitFlags, refuseWith, releaseName, timeoutOf} from '../cli/flags.ts';
import {generateFor} from '../cli/generate.ts';
import {type HostInstallResult, installInDocker} from '../cli/host.ts';
import {
  EXIT_TEXTS,
  type InstallFlags,
  installFlags,
  isNonInteractive,
  KUBERNETES_ONLY_FLAGS,
  packagesNotSupported,
} from '../cli/install-flags.ts';
import {type PoolInstall, withAccountUrl} from '../cli/install-pool.ts';
import {type InstallResult, installInCluster} from '../cli/install-release.ts';
import {checksOfConnection} from '../cli/local-inputs.ts';
import type {FollowUpCommand, WizardDecision} from '../cli/wizard.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {cachedAccess} from '../cluster/kubernetes/with-retries.ts';
import type {ClusterTarget} from '../ground/command-line.ts';
import {url} from '../settings/agent.ts';
import {TARGETS, type TargetName} from '../settings/release.ts';
import {knownText} from '../ui/prompt-text.ts';
import type {Generated} from '../values/generate.ts';

export default class Install extends BaseCommand<InstallResult | HostInstallResult | undefined> {
  static override summary = 'Install an agent, or update an existing release.';
  static override description =
    'Runs the preflight checks, shows a plan and asks for confirmation; without a terminal, --yes confirms. Creates the namespace and the Secrets, and runs helm with an exact chart version. Waits until the agent is ready, or explains why it is not. Safe to repeat: continues an interrupted install, and changes nothing when the release is up to date. With --target docker, starts the agent in Docker on this machine. The files of "export docker" are written to the directory given with --save (default: the release name).';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --answers answers.yaml --token-file token --yes',
    'SCALR_AGENT_TOKEN=… <%= config.bin %> <%= command.id %> --url https://acme.scalr.io',
    '<%= config.bin %> <%= command.id %> --answers answers.yaml --dry-run',
    '<%= config.bin %> <%= command.id %> --target docker --answers answers.yaml --yes',
  ];
  static override flags = installFlags;

  #cached: ClusterAccess | undefined;

  protected override readonly targets = TARGETS;

  override async run(): Promise<InstallResult | HostInstallResult | undefined> {
    const {flags, metadata} = await this.parse(Install);
    const isConversation = this.#isConversation(flags);
    const platform = await this.givenTarget(flags);
    if (platform !== 'kubernetes')
      refuseWith(`target ${platform}`, KUBERNETES_ONLY_FLAGS, explicitFlags(flags, metadata));
    if (platform === 'systemd' && !isConversation) throw packagesNotSupported();
    if (isConversation) await this.targetFrom(flags);
    else await this.#requireInputs(flags, platform);
    if (platform === 'docker' && !isConversation)
      return installInDocker(await this.settingsFrom(flags), flags, this.context(flags));
    const decided = isConversation ? await this.#runWizard(flags) : undefined;
    if (typeof decided === 'string') {
      this.say(EXIT_TEXTS[decided]);
      return undefined;
    }
    if (decided !== undefined && 'command' in decided)
      return this.runOther(decided.command, decided.argv);
    if (decided === undefined) {
      const {pool: named, 'create-pool': creates = false} = flags;
      const pool =
        named === undefined ? undefined : {client: await this.account(flags), pool: named, creates};
      const generated = await this.untilInterrupted(() => this.#generate(flags, pool));
      this.report(generated.warnings.filter((each) => !isVerifiable(each)));
      return this.#installInCluster(generated, flags, {pool});
    }
    try {
      const result =
        'onHost' in decided
          ? await installInDocker(decided.onHost, flags, this.context(flags), decided.plan)
          : await this.#installInCluster(
              decided.generated,
              {...flags, ...decided.flags},
              {wizard: decided, pool: decided.pool},
            );
      await decided.resumeStore.forget();
      return result;
    } catch (error) {
      throw decided.resumeStore.isKept ? resumable(error) : error;
    }
  }

  async #requireInputs(flags: InstallFlags, platform: TargetName): Promise<void> {
    const {pool} = flags;
    const isInCluster = platform === 'kubernetes';
    const tools = isInCluster
      ? checksOfConnection(['helm', 'kubectl'], flags, this.app)
      : [() => this.app.requireTool('docker')];
    await this.requireLocal(
      flags,
      {
        certain: [...(pool === undefined ? [] : [() => this.account(flags)]), ...tools],
        possible: [() => this.requireToken(flags, {target: platform, pool})],
      },
      {optional: pool === undefined ? [] : [url]},
    );
  }

  /** The cluster provides values of unset settings, because an install requires it anyway. */
  async #generate(flags: InstallFlags, pool: PoolInstall | undefined): Promise<Generated> {
    const cluster = await this.openAnswersOf(flags, (kubeTarget) =>
      this.#cachedAccess(kubeTarget, flags),
    );
    const given = await this.settingsFrom(flags, {cluster, optional: pool ? [url] : []});
    const settings = pool ? withAccountUrl(given, pool) : given;
    for (const {setting, answer} of settings.entries())
      if (answer.source === 'cluster') this.say(knownText(setting, answer, this.screen));
    return generateFor(settings, cluster?.facts, {app: this.app, flags});
  }

  /** All queries before the plan are sent only once. */
  async #cachedAccess(kubeTarget: ClusterTarget, flags: InstallFlags): Promise<ClusterAccess> {
    this.#cached ??= cachedAccess(await this.accessTo(kubeTarget, flags), {
      signal: AbortSignal.timeout(askingMs(flags)),
      sleep: this.app.sleep,
    });
    return this.#cached;
  }

  /** On a terminal, unless prompts are disabled. */
  #isConversation(flags: InstallFlags): boolean {
    const isSettled = flags.yes || flags.diff || flags['dry-run'] || this.jsonEnabled();
    if (flags.resume && (isSettled || this.prompter === undefined)) throw isNonInteractive();
    return this.prompter !== undefined && !isSettled;
  }

  async #runWizard(
    flags: InstallFlags,
  ): Promise<WizardDecision | FollowUpCommand | keyof typeof EXIT_TEXTS> {
    const {decideWithOperator} = await import('../cli/wizard.ts');
    const accessTo = (kubeTarget: ClusterTarget) =>
      this.accessTo(kubeTarget, flags, {waitsForLogin: false});
    const access = {accessTo, account: (host?: string) => this.account(flags, host)};
    const decided = await decideWithOperator(
      flags,
      await this.sourcesFrom(flags),
      this.context(flags),
      access,
    );
    this.app.stderr('\n');
    return decided;
  }

  async #installInCluster(
    generated: Generated,
    given: InstallFlags,
    more: Parameters<typeof installInCluster>[4],
  ): Promise<InstallResult> {
    const flags = await this.pinned(given);
    const {kubeTarget} = releaseName(flags, generated.settings);
    const access = await this.accessTo(kubeTarget, flags);
    const cached = (): Promise<ClusterAccess> => this.#cachedAccess(kubeTarget, flags);
    return installInCluster(generated, flags, {access, cached}, this.context(flags), more);
  }
}

/** Timeout for queries before the install, in milliseconds. */
const askingMs = (flags: InstallFlags): number => Math.min(timeoutOf(flags), 30_000);
