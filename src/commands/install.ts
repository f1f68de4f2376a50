import {BaseCommand} from '../cli/base-command.ts';
import {releaseName, timeoutOf} from '../cli/connection-flags.ts';
import {resumable} from '../cli/failure.ts';
import {explicitFlags, refuseWith} from '../cli/flag-values.ts';
import type {HostInstallResult} from '../cli/install-docker.ts';
import {
  type InstallFlags,
  installFlags,
  isNonInteractive,
  KUBERNETES_ONLY_FLAGS,
  packagesNotSupported,
} from '../cli/install-flags.ts';
import type {PoolInstall} from '../cli/install-pool.ts';
import {checksOfConnection} from '../cli/local-inputs.ts';
import type {InstallRequest, InstallResult} from '../cli/plan-cluster-install.ts';
import type {DecidedInstall, WizardOutcome, WizardStart} from '../cli/wizard.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import type {ClusterTarget} from '../ground/command-line.ts';
import {ExitCode, ExpectedError} from '../ground/errors.ts';
import {url} from '../settings/agent.ts';
import {TARGETS, type TargetName} from '../settings/release.ts';
import type {GeneratedValues} from '../values/generate.ts';

export default class Install extends BaseCommand<InstallResult | HostInstallResult | undefined> {
  static override summary = 'Install an agent, or update an existing release.';
  static override description =
    'Runs the preflight checks, shows a plan and asks for confirmation; without a terminal, --yes confirms. Creates the namespace and the Secrets, and runs helm with an exact chart version. Waits until the agent is ready, or explains why it is not. Safe to repeat: continues an interrupted install, and changes nothing when the release is up to date. An installed release keeps its chart version: use upgrade to move it to a newer one. With --target docker, starts the agent in Docker on this machine. The files of "export docker" are written to the directory given with --save (default: the release name).';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --answers answers.yaml --token-file token --yes',
    '<%= config.bin %> <%= command.id %> --url https://acme.scalr.io --token-file token',
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
    if (!isConversation) return this.#installGiven(flags, platform);
    await this.targetFrom(flags);
    return this.#converse(flags);
  }

  /** The wizard continues after another command that has changed nothing. */
  async #converse(flags: InstallFlags): Promise<InstallResult | HostInstallResult | undefined> {
    for (let state: WizardStart['state']; ; ) {
      const outcome = await this.#runWizard(flags, state);
      if (outcome.kind === 'left') {
        this.say(outcome.text);
        return undefined;
      }
      if (outcome.kind === 'docker') return this.#installDecided(outcome, flags);
      if (outcome.kind === 'cluster') {
        const result = await this.#installDecided(outcome, flags).catch(unlessDeclined);
        if (result !== undefined) return result;
      } else {
        await this.runOther(outcome.command, outcome.argv);
        if (outcome.command !== 'status' && !BaseCommand.hasDeclined) return undefined;
        this.exitCode = ExitCode.ok;
      }
      this.app.stderr('\n');
      // The next plan can be for another cluster.
      this.#cached = undefined;
      state = outcome.state;
    }
  }

  /** With the settings of flags, variables, files and the cluster. */
  async #installGiven(
    flags: InstallFlags,
    platform: TargetName,
  ): Promise<InstallResult | HostInstallResult> {
    if (platform === 'systemd') throw packagesNotSupported();
    await this.#requireInputs(flags, platform);
    if (platform === 'docker') {
      const {installInDocker} = await import('../cli/install-docker.ts');
      return installInDocker(await this.settingsFrom(flags), flags, this.context(flags));
    }
    const {pool: named, 'create-pool': creates = false} = flags;
    const pool =
      named === undefined ? undefined : {client: await this.account(flags), pool: named, creates};
    const generated = await this.untilInterrupted(() => this.#generate(flags, pool));
    const {isVerifiable} = await import('../checks/preflight/run-preflight.ts');
    this.report(generated.warnings.filter((each) => !isVerifiable(each)));
    return this.#installInCluster({generated, flags, pool, wizard: undefined});
  }

  async #installDecided(
    decided: DecidedInstall,
    flags: InstallFlags,
  ): Promise<InstallResult | HostInstallResult> {
    const {resumeStore} = decided;
    const {installInDocker} = await import('../cli/install-docker.ts');
    try {
      const result =
        decided.kind === 'docker'
          ? await installInDocker(decided.settings, flags, this.context(flags), decided.plan)
          : await this.#installInCluster(decided);
      await resumeStore.forget();
      return result;
    } catch (error) {
      const name =
        decided.kind === 'cluster'
          ? releaseName(decided.flags, decided.generated.settings)
          : undefined;
      throw resumeStore.isKept ? resumable(error, name, !flags.quiet) : error;
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
  async #generate(flags: InstallFlags, pool: PoolInstall | undefined): Promise<GeneratedValues> {
    const cluster = await this.openAnswersOf(flags, (kubeTarget) =>
      this.#cachedAccess(kubeTarget, flags),
    );
    const given = await this.settingsFrom(flags, {cluster, optional: pool ? [url] : []});
    const {withAccountUrl} = await import('../cli/install-pool.ts');
    const {generateConfirmed} = await import('../cli/generate.ts');
    const settings = pool ? withAccountUrl(given, pool) : given;
    this.sayFromCluster(settings);
    return generateConfirmed(settings, cluster?.facts, {app: this.app, flags});
  }

  /** All queries before the plan are sent only once. */
  async #cachedAccess(kubeTarget: ClusterTarget, flags: InstallFlags): Promise<ClusterAccess> {
    const {cachedAccess} = await import('../cluster/kubernetes/with-retries.ts');
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

  async #runWizard(flags: InstallFlags, state?: WizardStart['state']): Promise<WizardOutcome> {
    const {decideWithOperator} = await import('../cli/wizard.ts');
    const access = {
      accessTo: (kubeTarget: ClusterTarget) =>
        this.accessTo(kubeTarget, flags, {waitsForLogin: false}),
      account: (host?: string) => this.account(flags, host),
    };
    const sources = await this.sourcesFrom(flags);
    const start = {flags: state ? {...flags, resume: false} : flags, sources, state};
    const outcome = await decideWithOperator(start, this.context(flags), access);
    this.app.stderr('\n');
    return outcome;
  }

  async #installInCluster({
    generated,
    flags: given,
    pool,
    wizard,
  }: Pick<InstallRequest, 'generated' | 'flags' | 'pool' | 'wizard'>): Promise<InstallResult> {
    const flags = await this.pinned(given);
    const {kubeTarget} = releaseName(flags, generated.settings);
    const {planClusterInstall} = await import('../cli/plan-cluster-install.ts');
    const {applyInstall, showInstallDiff} = await import('../cli/apply-install.ts');
    const context = this.context(flags);
    const planning = planClusterInstall({
      generated,
      flags,
      access: await this.accessTo(kubeTarget, flags),
      cached: () => this.#cachedAccess(kubeTarget, flags),
      context,
      pool,
      wizard,
    });
    const {afterWizard} = await import('../cli/operate.ts');
    const plan = await (wizard === undefined ? planning : afterWizard(planning, context));
    return flags.diff ? showInstallDiff(plan) : applyInstall(plan);
  }
}

/** Nothing was changed, and the user may change an answer. */
function unlessDeclined(error: unknown): undefined {
  if (error instanceof ExpectedError && error.code === 'DECLINED') return undefined;
  throw error;
}

/** Timeout for queries before the install, in milliseconds. */
const askingMs = (flags: InstallFlags): number => Math.min(timeoutOf(flags), 30_000);
