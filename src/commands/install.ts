import {BaseCommand} from '../cli/base-command.ts';
import {confirmPlan, confirmRelease} from '../cli/confirm-plan.ts';
import {durationOf, explicitFlags, refuseWith, releaseName, timeoutOf} from '../cli/flags.ts';
import {type HostInstallResult, installInDocker} from '../cli/host-install.ts';
import {type InstallFlags, installFlags, ONLY_KUBERNETES} from '../cli/install-flags.ts';
import {evidencePath, saveFiles} from '../cli/user-files.ts';
import type {Decided} from '../cli/wizard.ts';
import type {ClusterTarget} from '../ground/command-line.ts';
import {programOf} from '../ground/command-line.ts';
import {ExitCode, ExpectedError, type Warning} from '../ground/errors.ts';
import type {ClusterAccess} from '../kubernetes/cluster-access.ts';
import {kindAndName} from '../kubernetes/objects.ts';
import {dryRun} from '../operations/dry-run.ts';
import {type PreparedInstall, prepareInstall} from '../operations/install.ts';
import {installRelease} from '../operations/install-release.ts';
import {rollbackSteps} from '../operations/kept-claims.ts';
import {requirePermissions} from '../operations/require-permissions.ts';
import type {Plan} from '../operations/step.ts';
import {wantedRelease} from '../operations/wanted-release.ts';
import {cachedAccess} from '../preflight/cached-access.ts';
import type {Already} from '../preflight/read-context.ts';
import {runPreflight} from '../preflight/run-preflight.ts';
import {isVerifiable, unverified} from '../preflight/verified.ts';
import {purpose} from '../settings/purpose.ts';
import {TARGETS, target} from '../settings/release.ts';
import {checkText} from '../ui/checks.ts';
import {installDiffText} from '../ui/diff.ts';
import {callsText, planText, resultText, stepText} from '../ui/plan.ts';
import {progressReporter} from '../ui/progress.ts';
import {knownText} from '../ui/prompt-text.ts';
import {planWarnings} from '../ui/review.ts';
import {valuesDocument} from '../values/document.ts';
import type {Generated} from '../values/generate.ts';
import {generateChecked} from '../values/generate-checked.ts';

interface Result {
  release: string;
  namespace: string;
  context: string;
  chart: string;
  chartVersion: string;
  /** False if the release was already up to date. */
  changed: boolean;
  steps: {id: string; title: string}[];
  /** Objects of the release. */
  objects: readonly string[];
  /** Installed values and objects that the change removes. */
  warnings: readonly Warning[];
  /** Written files. */
  saved?: readonly string[];
  /** State according to the agent log; absent if the install did not wait. */
  agent?: 'registered' | 'unknown';
}

export default class Install extends BaseCommand<Result | HostInstallResult | undefined> {
  static override summary = 'Install an agent, or update an existing release.';
  static override description =
    'Runs the preflight checks, shows a plan and asks for confirmation; without a terminal, --yes confirms. Creates the namespace and the Secrets, runs helm with an exact chart version, and waits until the agent is ready or explains why it is not. Safe to repeat: continues an interrupted install, and changes nothing when the release is up to date. With --target docker, starts the agent in Docker on this machine, with the files of "export docker" in the directory of --save (default: the release name).';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --answers answers.yaml --token-file token --yes',
    'SCALR_AGENT_TOKEN=… <%= config.bin %> <%= command.id %> --url https://acme.scalr.io',
    '<%= config.bin %> <%= command.id %> --answers answers.yaml --dry-run',
    '<%= config.bin %> <%= command.id %> --target docker --answers answers.yaml --yes',
  ];
  static override flags = installFlags;

  #cached: ClusterAccess | undefined;

  protected override readonly targets = TARGETS;

  override async run(): Promise<Result | HostInstallResult | undefined> {
    const {flags, metadata} = await this.parse(Install);
    const platform = await this.targetFrom(flags);
    if (platform !== 'kubernetes') refuseWith(`target ${platform}`, ONLY_KUBERNETES, explicitFlags(flags, metadata));
    const isConversation = this.#isConversation(flags);
    if (platform === 'systemd' && !isConversation) throw noPackages();
    if (platform === 'docker' && !isConversation) return installInDocker(await this.settingsFrom(flags), flags, this.hostContext(flags));
    const decided = isConversation ? await this.#runWizard(flags) : undefined;
    if (decided === 'saved' || decided === 'quit') {
      this.say(
        decided === 'saved'
          ? 'No agent was installed or changed.\n'
          : 'Nothing was changed. To continue, run the command again with --resume.\n',
      );
      return undefined;
    }
    if (decided === undefined) {
      const generated = await this.untilInterrupted(() => this.#generate(flags));
      this.report(generated.warnings.filter((each) => !isVerifiable(each)));
      return this.#bringTo(generated, flags, undefined);
    }
    try {
      const result =
        'onHost' in decided
          ? await installInDocker(decided.onHost, flags, this.hostContext(flags), decided.plan)
          : await this.#bringTo(decided.generated, {...flags, ...decided.flags}, decided.plan);
      await decided.resumeStore.forget();
      return result;
    } catch (error) {
      if (decided.resumeStore.isKept) this.say('Your answers are saved. To continue, run the command again with --resume.\n');
      throw error;
    }
  }

  /** The cluster provides values of unset settings, because an install requires it anyway. */
  async #generate(flags: InstallFlags): Promise<Generated> {
    const cluster = await this.openAnswersOf(flags, (place) => this.#cachedAccess(place, flags));
    const settings = await this.settingsFrom(flags, {cluster});
    for (const {setting, answer} of settings.entries()) if (answer.source === 'cluster') this.say(knownText(setting, answer, this.screen));
    return generateChecked(settings, cluster?.facts);
  }

  /** All queries before the plan are sent only once. */
  async #cachedAccess(place: ClusterTarget, flags: InstallFlags): Promise<ClusterAccess> {
    this.#cached ??= cachedAccess(await this.accessTo(place, flags), {
      signal: AbortSignal.timeout(askingMs(flags)),
      sleep: this.app.sleep,
    });
    return this.#cached;
  }

  /** On a terminal, unless prompts are disabled. */
  #isConversation(flags: InstallFlags): boolean {
    const isSettled = flags.yes || flags.diff || flags['dry-run'] || this.jsonEnabled();
    if (flags.resume && (isSettled || this.prompter === undefined)) throw nobodyToAsk();
    return this.prompter !== undefined && !isSettled;
  }

  async #runWizard(flags: InstallFlags): Promise<Decided | 'saved' | 'quit'> {
    const {decideWithOperator} = await import('../cli/wizard.ts');
    const accessTo = (place: ClusterTarget) => this.accessTo(place, flags);
    const context = {app: this.app, screen: this.screen, accessTo, version: this.config.version};
    const decided = await decideWithOperator(flags, await this.sourcesFrom(flags), context);
    this.app.stderr('\n');
    return decided;
  }

  /** `shown` is the plan that the user has confirmed, with its warnings. */
  async #bringTo(generated: Generated, flags: InstallFlags, shown: Plan | undefined): Promise<Result> {
    const timeoutMs = timeoutOf(flags);
    const {now, sleep, registries} = this.app;
    const name = releaseName(flags, generated.settings);
    const access = await this.accessTo(name.place, flags);
    const wanted = wantedRelease(generated, valuesDocument(generated), name);

    const open = shown === undefined ? generated.warnings.filter(isVerifiable) : [];
    const look = async (already?: Already): Promise<void> => {
      if (flags['skip-preflight']) return this.report(open);
      const checks = await runPreflight(
        generated,
        wanted,
        {...(await this.#cachedAccess(name.place, flags)), now, sleep, registries, timeoutMs},
        already,
      );
      this.report(unverified(open, checks));
      for (const each of checks) if (each.status === 'warn') this.app.stderr(checkText(each, this.screen));
    };
    const choices = {
      takesOver: flags['take-over'] ?? false,
      timeoutMs,
      now: now(),
      drainTimeoutSeconds: durationOf('--drain-timeout', flags['drain-timeout']) / 1000,
    };
    const {facts, manifest, plan} = await this.untilInterrupted(() =>
      prepareInstall(generated, wanted, access, AbortSignal.timeout(timeoutMs), choices),
    ).catch(async (error: unknown) => {
      // An account without read access gets the list of all missing permissions, not only the first one.
      if (error instanceof ExpectedError && error.code === 'FORBIDDEN') await look();
      throw error;
    });
    const result: Result = {
      release: name.release,
      namespace: name.place.namespace,
      context: facts.context.name,
      chart: wanted.chart.chart,
      chartVersion: wanted.chart.version,
      changed: plan.steps.length > 0,
      steps: plan.steps.map(({id, title}) => ({id, title})),
      objects: manifest.map(kindAndName),
      warnings: planWarnings(plan),
    };
    const review = (): Promise<void> => this.untilInterrupted(() => requirePermissions(plan.steps, name, access));
    if (flags.diff) {
      this.report(open);
      if (!this.jsonEnabled()) this.show(await installDiffText({plan, facts, values: wanted.values, manifest}, this.resultScreen));
      if (flags['exit-code'] && result.changed) this.exitCode = ExitCode.differences;
      return result;
    }
    if (flags['dry-run']) {
      this.say(planText(plan, name, facts, this.screen));
      this.report(result.warnings);
      if (!this.jsonEnabled()) this.app.stdout(callsText(plan));
      if (plan.steps.length > 0) await look({manifest, context: facts.context});
      await review();
      this.say(await dryRun(plan, manifest, name, facts, access));
      return result;
    }
    const isShown = isSame(plan, shown);
    // Without changes, no check can fail.
    if (plan.steps.length > 0 && !isShown) await look({manifest, context: facts.context});
    await review();
    if (plan.steps.length > 0 && !isShown) {
      const text = `${planText(plan, name, facts, this.screen)}\n`;
      // Only a plan that was shown can be confirmed.
      if (flags.yes) this.say(text);
      else this.app.stderr(text);
      this.report(result.warnings);
      if (plan.risk === undefined) await confirmPlan({isAccepted: flags.yes ?? false, prompter: this.prompter});
    }
    if (plan.risk !== undefined) await confirmRelease(name.release, {risk: plan.risk, typed: flags.confirm, prompter: this.prompter});
    return this.#carryOut(generated, {wanted, facts, plan}, flags, result);
  }

  async #carryOut(
    {settings}: Generated,
    {wanted, facts, plan}: Omit<PreparedInstall, 'manifest'> & {wanted: ReturnType<typeof wantedRelease>},
    flags: InstallFlags,
    result: Result,
  ): Promise<Result> {
    const {files, now, sleep} = this.app;
    const {name} = wanted;
    const accepted = {isAccepted: flags.yes ?? false, confirm: this.prompter?.confirm};
    const saved = await saveFiles(
      {
        directory: flags.save,
        settings: settings.with(target, {value: 'kubernetes', source: 'prompt'}),
        context: facts.context.name,
        texts: [{path: 'values.yaml', text: wanted.yaml}],
        ...accepted,
      },
      files,
    );
    const interrupts = this.app.takeInterrupts();
    try {
      const say = (text: string): void => this.say(text);
      const watched = await installRelease(
        plan,
        name,
        facts,
        {
          waits: !flags['no-wait'],
          rollBackWith: flags['rollback-on-failure'] ? evidencePath(flags.save, name.release, now()) : undefined,
          ...(facts.release === undefined ? {} : {rollback: {steps: rollbackSteps(name, facts.release.revision, plan.keptClaims ?? [])}}),
        },
        {
          ...(await this.accessTo(name.place, flags)),
          interrupts,
          files,
          now,
          sleep,
          timeoutMs: timeoutOf(flags),
          onStep: (...news) => say(stepText(...news)),
          onProgress: progressReporter(say, this.screen),
        },
      );
      if (watched === undefined) return {...result, saved};
      const {agent} = watched;
      const isForVcs = settings.get(purpose) === 'vcs';
      const program = programOf(this.app.env);
      say(resultText({name, hasChanged: result.changed, agent, objects: result.objects, saved, program, isForVcs}, this.screen));
      return {...result, saved, agent};
    } finally {
      interrupts.release();
    }
  }
}

/** Timeout for queries before the install, in milliseconds. */
const askingMs = (flags: InstallFlags): number => Math.min(timeoutOf(flags), 30_000);

/** True if the steps and removals are the same. */
const isSame = (plan: Plan, shown: Plan | undefined): boolean => shown !== undefined && fingerprint(plan) === fingerprint(shown);
const fingerprint = (plan: Plan): string => JSON.stringify([plan.steps.map(({title}) => title), planWarnings(plan)]);

const nobodyToAsk = (): ExpectedError =>
  new ExpectedError('--resume requires prompts, but prompts are disabled.', {
    code: 'USAGE',
    exit: ExitCode.usage,
    suggestions: ['Run the command on a terminal, without --yes, --json, --diff and --dry-run'],
  });

const noPackages = (): ExpectedError =>
  new ExpectedError('install does not support --target systemd, because the Linux packages of the agent are deprecated.', {
    code: 'USAGE',
    exit: ExitCode.usage,
    suggestions: [
      'Use Docker: scalr-agent-install install --target docker',
      'Configure an installed package: scalr-agent-install export systemd',
    ],
  });
