import * as Flags from '@oclif/core/flags';
import {bringUp} from '../apply/bring-up.ts';
import {dryRun} from '../apply/dry-run.ts';
import {BaseCommand, type SharedFlags} from '../cli/base-command.ts';
import {confirmPlan, confirmRelease} from '../cli/confirm-plan.ts';
import {type ClusterFlags, durationOf, noFromClusterFlag, releaseName, settingFlags, timeoutOf} from '../cli/flags.ts';
import {evidencePath, saveFiles} from '../cli/user-files.ts';
import type {Decided} from '../cli/wizard.ts';
import type {ClusterAccess} from '../cluster/cluster-access.ts';
import {objectNames} from '../cluster/manifest.ts';
import {ExitCode, ExpectedError, type Warning} from '../errors.ts';
import {type PreparedInstall, prepareInstall} from '../plan/install.ts';
import type {Plan} from '../plan/step.ts';
import {wantedRelease} from '../plan/wanted-release.ts';
import type {Place} from '../ports/processes.ts';
import {cachedAccess} from '../preflight/permissions-of.ts';
import type {Already} from '../preflight/read-situation.ts';
import {runPreflight} from '../preflight/run-preflight.ts';
import {catalogue} from '../settings/catalogue.ts';
import {checkText} from '../ui/checks.ts';
import {knownText} from '../ui/conversation.ts';
import {installDiffText} from '../ui/diff.ts';
import {callsText, planText, resultText, stepText} from '../ui/plan.ts';
import {progressReporter} from '../ui/progress.ts';
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
  /** False when everything was in place already. */
  changed: boolean;
  steps: {id: string; title: string}[];
  /** What the release consists of. */
  objects: readonly string[];
  /** What goes with the change, because it is not asked for any more. */
  warnings: readonly Warning[];
  /** Files that were written. */
  saved?: readonly string[];
  /** What the agent's own log says; absent where nothing was watched. */
  agent?: 'registered' | 'unknown';
}

interface InstallFlags extends ClusterFlags, SharedFlags {
  'from-cluster'?: boolean;
  yes?: boolean;
  diff?: boolean;
  'exit-code'?: boolean;
  'dry-run'?: boolean;
  'no-wait'?: boolean;
  'rollback-on-failure'?: boolean;
  'skip-preflight'?: boolean;
  'take-over'?: boolean;
  'drain-timeout': string;
  confirm?: string | undefined;
  resume?: boolean;
  save?: string | undefined;
}

type Wanted = ReturnType<typeof wantedRelease>;

export default class Install extends BaseCommand<Result | undefined> {
  static override summary = 'Install an agent, or update an existing release.';
  static override description =
    'Runs the preflight checks, shows a plan and asks for confirmation; without a terminal, --yes confirms. Creates the namespace and the Secrets, runs helm with an exact chart version, and waits until the agent is ready or explains why it is not. Safe to repeat: continues an interrupted install, and changes nothing when the release is up to date.';
  static override examples = [
    'SCALR_AGENT_TOKEN=… <%= config.bin %> <%= command.id %> --url https://acme.scalr.io --namespace scalr-agent',
    '<%= config.bin %> <%= command.id %> --answers answers.yaml --token-file token --yes',
    '<%= config.bin %> <%= command.id %> --answers answers.yaml --dry-run',
  ];
  static override flags = {
    diff: Flags.boolean({summary: 'Show the difference from the installed release, without changing anything.'}),
    'exit-code': Flags.boolean({summary: 'With --diff: exit with 5 when there are differences.', dependsOn: ['diff']}),
    'no-wait': Flags.boolean({summary: 'Do not wait for the agent to become ready.'}),
    'rollback-on-failure': Flags.boolean({
      summary: 'Roll back when the release does not become ready; saves the evidence to a file first.',
      exclusive: ['no-wait'],
    }),
    'skip-preflight': Flags.boolean({summary: 'Skip the preflight checks.'}),
    'take-over': Flags.boolean({
      summary: 'Continue while a Helm operation is pending. By default, a pending operation counts as aborted after --timeout.',
    }),
    confirm: Flags.string({summary: 'Confirm a chart replacement or a downgrade with the release name.', helpValue: '<NAME>'}),
    'drain-timeout': Flags.string({
      summary: 'Time to wait for runs in flight before another chart replaces the installed one.',
      helpValue: '<DURATION>',
      default: '30m',
    }),
    resume: Flags.boolean({summary: 'Resume an interrupted wizard; asks for secrets again.'}),
    save: Flags.string({
      summary: 'Directory to save answers.yaml (without secrets) and values.yaml in; created if missing.',
      helpValue: '<DIRECTORY>',
    }),
    ...noFromClusterFlag,
    ...settingFlags(catalogue),
  };

  #cached: ClusterAccess | undefined;

  override async run(): Promise<Result | undefined> {
    const {flags} = await this.parse(Install);
    const decided = this.#isConversation(flags) ? await this.#converse(flags) : undefined;
    if (decided === 'left') {
      this.say('Nothing was changed.\n');
      return undefined;
    }
    if (decided === undefined) {
      const generated = await this.untilInterrupted(() => this.#generate(flags));
      this.report(generated.warnings);
      return this.#bringTo(generated, flags, undefined);
    }
    try {
      const result = await this.#bringTo(decided.generated, {...flags, ...decided.flags}, decided.plan);
      await decided.keeper.forget();
      return result;
    } catch (error) {
      if (decided.keeper.isKept) this.say('What you said is kept: run it again with --resume.\n');
      throw error;
    }
  }

  /** What nobody said and the cluster knows, it answers: an install needs it anyway. */
  async #generate(flags: InstallFlags): Promise<Generated> {
    const cluster = await this.openAnswersOf(flags, (place) => this.#cachedAccess(place, flags));
    const settings = await this.settingsFrom(flags, {cluster});
    for (const {setting, answer} of settings.entries()) if (answer.source === 'cluster') this.say(knownText(setting, answer, this.screen));
    return generateChecked(settings, cluster?.facts);
  }

  /** Everything that is only looked at before the plan is made is asked once. */
  async #cachedAccess(place: Place, flags: InstallFlags): Promise<ClusterAccess> {
    this.#cached ??= cachedAccess(await this.accessTo(place, flags), {
      over: AbortSignal.timeout(askingMs(flags)),
      sleep: this.app.sleep,
    });
    return this.#cached;
  }

  /** On a terminal, where nothing says that nobody wants to be asked. */
  #isConversation(flags: InstallFlags): boolean {
    const isSettled = flags.yes || flags.diff || flags['dry-run'] || this.jsonEnabled();
    if (flags.resume && (isSettled || this.prompter === undefined)) throw nobodyToAsk();
    return this.prompter !== undefined && !isSettled;
  }

  async #converse(flags: InstallFlags): Promise<Decided | 'left'> {
    const {decideWithOperator} = await import('../cli/wizard.ts');
    const decided = await decideWithOperator(flags, await this.sourcesFrom(flags), {
      app: this.app,
      screen: this.screen,
      accessTo: (place) => this.accessTo(place, flags),
    });
    this.app.stderr('\n');
    return decided ?? 'left';
  }

  /** `shown` is the plan that the operator has seen and accepted, with what speaks against it. */
  async #bringTo(generated: Generated, flags: InstallFlags, shown: Plan | undefined): Promise<Result> {
    const timeoutMs = timeoutOf(flags);
    const {now, sleep} = this.app;
    const name = releaseName(flags, generated.settings);
    const access = await this.accessTo(name.place, flags);
    const wanted = wantedRelease(generated, valuesDocument(generated), name);

    const look = async (already?: Already): Promise<void> => {
      if (flags['skip-preflight']) return;
      const warnings = await runPreflight(
        generated,
        wanted,
        {...(await this.#cachedAccess(name.place, flags)), now, sleep, timeoutMs},
        already,
      );
      for (const each of warnings) this.app.stderr(checkText(each, this.screen));
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
      // Who may not even read what a plan is made of is told all that is missing, not the first thing.
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
      objects: objectNames(manifest),
      warnings: planWarnings(plan),
    };
    if (flags.diff) {
      if (!this.jsonEnabled()) this.show(await installDiffText({plan, facts, values: wanted.values, manifest}, this.resultScreen));
      if (flags['exit-code'] && result.changed) process.exitCode = ExitCode.differences;
      return result;
    }
    if (flags['dry-run']) {
      this.say(planText(plan, name, facts, this.screen));
      this.report(result.warnings);
      if (!this.jsonEnabled()) this.app.stdout(callsText(plan));
      if (plan.steps.length > 0) await look({manifest, context: facts.context});
      this.say(await dryRun(plan, manifest, name, facts, access));
      return result;
    }
    // Where nothing is to do nothing can fail.
    if (plan.steps.length > 0 && !isSame(plan, shown)) {
      await look({manifest, context: facts.context});
      const text = `${planText(plan, name, facts, this.screen)}\n`;
      // Nobody says yes to what was not shown.
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
    {wanted, facts, plan}: Omit<PreparedInstall, 'manifest'> & {wanted: Wanted},
    flags: InstallFlags,
    result: Result,
  ): Promise<Result> {
    const {files, now, sleep} = this.app;
    const {name} = wanted;
    const accepted = {isAccepted: flags.yes ?? false, confirm: this.prompter?.confirm};
    const saved = await saveFiles({directory: flags.save, settings, values: wanted.yaml, ...accepted}, files);
    const interrupts = this.app.takeInterrupts();
    try {
      const say = (text: string): void => this.say(text);
      const watched = await bringUp(
        plan,
        name,
        facts,
        {waits: !flags['no-wait'], rollBackWith: flags['rollback-on-failure'] ? evidencePath(flags.save, name.release, now()) : undefined},
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
      say(resultText({name, hasChanged: result.changed, agent, objects: result.objects, saved}, this.screen));
      return {...result, saved, agent};
    } finally {
      interrupts.release();
    }
  }
}

/** Milliseconds that looking may take before anything begins. */
const askingMs = (flags: InstallFlags): number => Math.min(timeoutOf(flags), 30_000);

/** The same steps in the same order, and nothing else goes with them. */
const isSame = (plan: Plan, shown: Plan | undefined): boolean => shown !== undefined && said(plan) === said(shown);
const said = (plan: Plan): string => JSON.stringify([plan.steps.map(({title}) => title), planWarnings(plan)]);

const nobodyToAsk = (): ExpectedError =>
  new ExpectedError('--resume goes on with a conversation, and nobody can be asked here.', {
    code: 'USAGE',
    exit: ExitCode.usage,
    suggestions: ['Run it on a terminal, without --yes, --json, --diff and --dry-run'],
  });
