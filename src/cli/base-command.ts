import {Command} from '@oclif/core/command';
import type {ClusterAnswers} from '../answers/cluster-answers.ts';
import {unsetSettingWarnings} from '../answers/discovered.ts';
import {missingIn, type ResolveOptions, settleAnswers} from '../answers/resolve.ts';
import {type SettingsSource, unknownVariables} from '../answers/sources.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import type {KubernetesClient} from '../cluster/kubernetes/client.ts';
import type {ScalrClient} from '../extensions/account/client.ts';
import {combined} from '../ground/combined-failures.ts';
import type {ClusterTarget} from '../ground/command-line.ts';
import {
  ExitCode,
  type ExpectedError,
  interrupted,
  maskSecrets,
  onFailure,
} from '../ground/errors.ts';
import type {SettingFinding} from '../ground/finding.ts';
import {programOf, withInvokedName} from '../ground/program.ts';
import type {Prompter} from '../ground/system/system.ts';
import {catalog} from '../settings/catalog.ts';
import {
  chart,
  chartSource,
  namespace,
  release,
  type TargetName,
  target,
} from '../settings/release.ts';
import {Settings} from '../settings/settings.ts';
import {docsOf, failureText, notesText, warningText} from '../ui/messages.ts';
import {knownText} from '../ui/prompt-text.ts';
import {asciiFallback, type Screen, withoutColor} from '../ui/theme.ts';
import {type App, nodeApp, originOf} from './app.ts';
import {type AccessOptions, ClusterConnections} from './cluster-connections.ts';
import {type ClusterFlags, releaseName, timeoutOf} from './connection-flags.ts';
import {decisionSteps} from './decisions.ts';
import {failureDocument, toExpectedError, withTargets} from './failure.ts';
import {type ConfirmFlags, generalFlags, type SharedFlags} from './flags.ts';
import {
  checksOfConnection,
  failuresOf,
  type LocalCheck,
  type LocalInputs,
  requireToken,
  TOKEN_SECRET,
  type TokenPlace,
  type Tool,
  throwAll,
} from './local-inputs.ts';
import type {CommandContext} from './operate.ts';
import {
  type CollectedSources,
  findIn,
  userSources,
  withFiles,
  withName,
} from './settings-sources.ts';
import {asksForJson, type KnownFlags, normalizeArgv} from './spellings.ts';
import {linesOf, writeResult} from './write-files.ts';

/** Where an error occurred in this program or in Node.js: the names of its own files look like secrets. */
const FRAMES =
  /(?:\n {4}at (?:async )?(?:[\w$.#<>[\] ]+ \()?(?:file:\/\/|node:)[^\s()]+:\d+:\d+\)?)+$/;

/** What another program printed can hold secrets, also in the message of a failure. */
async function withoutSecrets(failure: ExpectedError): Promise<ExpectedError> {
  const {redactText} = await import('../extensions/bundle/redact/redactor.ts');
  const {cause} = failure;
  if (cause instanceof Error && cause.stack !== undefined) {
    const frames = FRAMES.exec(cause.stack)?.[0] ?? '';
    const message = cause.stack.slice(0, cause.stack.length - frames.length);
    cause.stack = `${redactText(message)}${frames}`;
  }
  return failure.with(redactText(failure.message), failure.suggestions.map(redactText));
}

/** Base class of all commands: resolves settings, prints messages and reports errors. */
export abstract class BaseCommand<Result extends object | undefined> extends Command {
  static override enableJsonFlag = true;
  static override baseFlags = generalFlags;

  /** Platforms of the agent that the command supports. */
  protected readonly targets: readonly TargetName[] = ['kubernetes'];
  /** External dependencies; called once, inside run(). */
  createApp: (options: {isAccessible: boolean}) => App = nodeApp;
  protected readonly unaskedWarnings = unsetSettingWarnings;
  /** The user has declined the plan of the last command of this process. */
  protected static hasDeclined = false;

  protected exitCode: number = ExitCode.ok;
  #app: App | undefined;
  #isQuiet = false;
  /** Flags, variables and the answers file, and then with the files that they refer to: read once. */
  #given: Promise<CollectedSources> | undefined;
  #sources: Promise<CollectedSources> | undefined;
  /** Problems that only the cluster can solve. */
  #possible: readonly ExpectedError[] = [];
  /** Ends requests to the Scalr account that an interrupted command has left. */
  readonly #closing = new AbortController();
  /** Notes and warnings that were printed. */
  readonly #noted = new Set<string>();
  #opened: ClusterConnections | undefined;

  abstract override run(): Promise<Result>;

  get #knownFlags(): KnownFlags {
    return {...this.ctor.flags, ...this.ctor.baseFlags};
  }

  override jsonEnabled(): boolean {
    return (
      super.jsonEnabled() || (this.#knownFlags['format'] !== undefined && asksForJson(this.argv))
    );
  }

  protected override async init(): Promise<void> {
    await super.init();
    this.argv = normalizeArgv(this.argv, this.#knownFlags);
  }

  protected get app(): App {
    this.#app ??= this.createApp({isAccessible: this.argv.includes('--accessible')});
    return this.#app;
  }

  /** Settings in `optional` may be missing; with `only`, all others are ignored; `cluster` provides values of unset settings. */
  protected async settingsFrom(
    flags: SharedFlags,
    {cluster, ...options}: ResolveOptions & {cluster?: ClusterAnswers | undefined} = {},
  ): Promise<Settings> {
    const {sources, ...wrong} = await this.#collectSources(flags, options);
    const found = await findIn(
      cluster === undefined ? sources : [...sources, cluster.answers],
      this.app,
      options,
    );
    const {prompter} = this;
    const missing = missingIn(found.answers, options);
    const isAsked =
      missing.length > 0 && found.problems.length === 0 && wrong.failures.length === 0;
    const answers =
      prompter !== undefined && isAsked
        ? await (await import('../wizard/ask.ts')).askMissing(found.answers, missing, {
            ...this.app,
            prompter,
          })
        : found.answers;
    const settings = settleAnswers({...found, answers}, {...options, ...wrong});
    for (const note of this.#once(notesText(settings, this.screen))) this.say(note);
    this.report(cluster?.unread?.(settings) ?? []);
    return settings;
  }

  /** Says which settings an install takes from its cluster. */
  protected sayFromCluster(settings: Settings): void {
    for (const {setting, answer} of settings.entries())
      if (answer.source === 'cluster') this.say(knownText(setting, answer, this.screen));
  }

  /** The texts that were not printed yet. */
  #once = (texts: readonly string[]): string[] =>
    texts.filter((text) => !this.#noted.has(text) && this.#noted.add(text));

  /** Platform of the agent, from all sources. @throws ExpectedError if it is invalid */
  protected async targetFrom(flags: SharedFlags): Promise<TargetName> {
    return (await this.settingsFrom(flags, {only: [target]})).get(target) ?? 'kubernetes';
  }

  /** The same for checks of local inputs, where an invalid one is reported with all other problems. */
  protected async givenTarget(flags: SharedFlags): Promise<TargetName> {
    const {sources} = await this.#collectSources(flags, {only: [target]});
    const {answers} = await findIn(sources, this.app, {only: [target]});
    return new Settings(answers).get(target) ?? 'kubernetes';
  }

  /** Values set by the user from all sources, and then the selected chart. @throws ExpectedError that lists what cannot be read */
  protected async sourcesFrom(flags: SharedFlags): Promise<readonly SettingsSource[]> {
    const {sources, failures} = await this.#collectSources(flags, {});
    throwAll(failures);
    return sources;
  }

  async #collectSources(flags: SharedFlags, {only}: ResolveOptions): Promise<CollectedSources> {
    this.#isQuiet = flags.quiet ?? false;
    this.report(unknownVariables(this.app.env));
    const command = {
      id: this.id ?? '',
      targets: this.targets,
      app: this.app,
      report: this.report.bind(this),
    };
    this.#given ??= userSources(flags, command);
    if (only?.includes(chart) === false) return this.#given;
    this.#sources ??= this.#given.then((given) => withFiles(given, command));
    return this.#sources;
  }

  /** Checks all local inputs, before the first request. Of the settings, only those in `only` matter. @throws ExpectedError that lists every problem */
  protected async requireLocal(
    flags: SharedFlags,
    {certain, possible = []}: LocalInputs,
    options: ResolveOptions = {},
  ): Promise<void> {
    // What is missing can still be asked for on a terminal.
    const optional = this.prompter === undefined ? (options.optional ?? []) : catalog;
    const settings = async (): Promise<void> => {
      const {sources, ...wrong} = await this.#collectSources(flags, options);
      settleAnswers(await findIn(sources, this.app, options), {...options, optional, ...wrong});
    };
    const found = await failuresOf([settings, ...certain]);
    this.#possible = await failuresOf(possible);
    if (found.length > 0) throwAll([...found, ...this.#possible]);
  }

  /** For `requireLocal`: flags that only a release in a cluster has. */
  protected async clusterChecks(
    tools: readonly Tool[],
    flags: SharedFlags & ClusterFlags,
  ): Promise<LocalCheck[]> {
    const isInCluster = (await this.givenTarget(flags)) === 'kubernetes';
    return isInCluster ? checksOfConnection(tools, flags, this.app) : [];
  }

  /** For `requireLocal`, where the chart is no setting of the command. */
  protected async requireChartSource(flags: SharedFlags): Promise<void> {
    const source = (await this.settingsFrom(flags, {only: [chartSource]})).get(chartSource);
    if (source === undefined || /^[a-z]+:\/\//i.test(source)) return;
    await this.app.charts.read(source).catch(onFailure(withName('--chart-source')));
  }

  /** For `requireLocal`: the agent pool token, which a Secret in the cluster can contain. */
  protected async requireToken(flags: SharedFlags, where: TokenPlace): Promise<void> {
    const {sources} = await this.#collectSources(flags, {});
    const names = await findIn(sources, this.app, {only: TOKEN_SECRET});
    requireToken(sources, settleAnswers({...names, problems: []}, {only: TOKEN_SECRET}), where);
  }

  /** Facts of the cluster with --from-cluster. @throws ExpectedError if the cluster is unreachable */
  protected async clusterOf(
    flags: SharedFlags & ClusterFlags & {'from-cluster'?: boolean},
  ): Promise<ClusterAnswers | undefined> {
    if (!flags['from-cluster']) return undefined;
    const {clusterAt} = await import('../answers/cluster-answers.ts');
    const {kubeTarget} = releaseName(
      await this.pinned(flags),
      await this.settingsFrom(flags, {only: [namespace, release]}),
    );
    return clusterAt(kubeTarget, await this.accessTo(kubeTarget, flags));
  }

  /** Unset settings of an install, read from its cluster; undefined with --no-from-cluster, or if the cluster is unreachable. */
  protected async openAnswersOf(
    flags: SharedFlags & ClusterFlags & {'from-cluster'?: boolean},
    accessTo: (kubeTarget: ClusterTarget) => Promise<ClusterAccess>,
  ): Promise<ClusterAnswers | undefined> {
    if (flags['from-cluster'] === false) return undefined;
    const {ANSWERED_BY_CLUSTER, openAnswers} = await import('../answers/cluster-answers.ts');
    const given = await this.settingsFrom(flags, {only: ANSWERED_BY_CLUSTER});
    const name = releaseName(await this.pinned(flags), given);
    return openAnswers(name, given, await accessTo(name.kubeTarget));
  }

  /** For read-only work: Ctrl-C stops it at once. @throws ExpectedError */
  protected async untilInterrupted<T>(work: () => Promise<T>): Promise<T> {
    const {interrupt, release: leave} = this.app.handleInterrupts();
    const interruption = new Promise<never>((_, reject) => {
      interrupt.addEventListener(
        'abort',
        () => reject(interrupted('Nothing was changed.', interrupt)),
        {once: true},
      );
    });
    return Promise.race([work(), interruption])
      .catch(
        onFailure((failure) => {
          throw failure.code === 'CLUSTER_UNREACHABLE'
            ? combined([failure, ...this.#possible])
            : failure;
        }),
      )
      .finally(leave);
  }

  /** The API server of the cluster. One client per run of the command, closed at its end. */
  protected kubernetes(kubeTarget: ClusterTarget, flags: ClusterFlags): Promise<KubernetesClient> {
    return this.#connections.kubernetes(kubeTarget, flags);
  }

  protected accessTo(
    kubeTarget: ClusterTarget,
    flags: ClusterFlags,
    options?: AccessOptions,
  ): Promise<ClusterAccess> {
    return this.#connections.accessTo(kubeTarget, flags, options);
  }

  /** The flags with the context that is current now: see `ClusterConnections`. */
  protected pinned<F extends ClusterFlags>(flags: F): Promise<F> {
    return this.#connections.pinned(flags);
  }

  get #connections(): ClusterConnections {
    const show = (line: string): void => this.app.stderr(`${line}\n`);
    const hasPerson = this.app.hasTerminal && !this.argv.includes('--no-input');
    this.#opened ??= new ClusterConnections(this.app, {
      login: hasPerson ? {show} : undefined,
      report: (warnings) => this.report(warnings),
      signal: this.#closing.signal,
    });
    return this.#opened;
  }

  /** The Scalr account, or the one of a host that was read from a cluster. @throws ExpectedError if there is no credential */
  protected async account(flags: SharedFlags, host?: string): Promise<ScalrClient> {
    const {ACCOUNT_SETTINGS, connectAccount, requireCredential} = await import('./account.ts');
    const options = {only: ACCOUNT_SETTINGS, optional: ACCOUNT_SETTINGS};
    const withCredential = async (failure: ExpectedError): Promise<never> => {
      throw combined([failure, ...(await failuresOf([() => requireCredential(this.app)]))]);
    };
    const settings = await this.settingsFrom(flags, options).catch(onFailure(withCredential));
    return connectAccount(
      settings,
      {app: this.app, version: this.config.pjson.version, signal: this.#closing.signal},
      host,
    );
  }

  /** Runs another command instead, with the same general flags; its exit code is the one of this command. */
  protected async runOther(id: string, argv: readonly string[]): Promise<undefined> {
    const general = this.argv.filter((each) =>
      ['-q', ...Object.keys(generalFlags).map((name) => `--${name}`)].includes(each),
    );
    BaseCommand.hasDeclined = false;
    this.exitCode = await this.config.runCommand(id, [...argv, ...general]).then(this.app.exitCode);
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    this.#closing.abort('closed');
    await this.#opened?.close();
    this.app.exit(this.exitCode);
    return super.finally(error);
  }

  /** What code outside of the command needs from it. */
  protected context(flags: ClusterFlags): CommandContext {
    return {
      app: this.app,
      screen: this.screen,
      resultScreen: this.resultScreen,
      prompter: this.prompter,
      timeoutMs: timeoutOf(flags),
      version: this.config.pjson.version,
      docs: docsOf(originOf(this.config.pjson)),
      isJson: this.jsonEnabled(),
      say: (text, evenIfQuiet) => this.say(text, evenIfQuiet),
      draw: (text) => (this.#isQuiet ? undefined : this.app.draw(text)),
      show: (text) => this.show(text),
      report: (warnings) => this.report(warnings),
      untilInterrupted: (work) => this.untilInterrupted(work),
      exitWith: (code) => {
        this.exitCode = code;
      },
    };
  }

  /** Warnings are printed on standard error in every output format. */
  protected report(warnings: readonly SettingFinding[]): void {
    for (const text of this.#once(warnings.map((warning) => warningText(warning, this.screen))))
      this.app.stderr(text);
  }

  /** Prompts on the terminal; undefined if prompts are disabled. A program that reads JSON cannot answer. */
  protected get prompter(): Prompter | undefined {
    const {hasTerminal, prompter} = this.app;
    return hasTerminal && !this.argv.includes('--no-input') && !this.jsonEnabled()
      ? prompter(this.screen)
      : undefined;
  }

  /** With --quiet, prints only the second text. */
  protected say(text: string, evenIfQuiet = ''): void {
    this.app.stderr(this.#isQuiet ? evenIfQuiet : text);
  }

  /** Prints a result for a terminal; pipes get it unchanged. */
  protected show(text: string): void {
    const {env, stdout} = this.app;
    const shown = asciiFallback(text, this.resultScreen);
    stdout(this.resultScreen.columns === undefined ? shown : withInvokedName(shown, env));
  }

  /** Writes a result to the file of --out, or prints it. Returns the written file as --json prints it. @throws ExpectedError */
  protected async writeOut(
    text: string,
    {
      out,
      'dry-run': isDryRun = false,
      yes: isAccepted = false,
    }: ConfirmFlags & {out?: string | undefined},
    {isPrivate = false, print = () => this.app.stdout(text)} = {},
  ): Promise<{file?: string}> {
    const options = {
      path: out,
      text,
      isPrivate,
      isDryRun,
      isAccepted,
      prompter: this.prompter,
    };
    const {file, done} = await writeResult(options, this.app.files);
    this.say(linesOf(done));
    if (file !== undefined) return {file};
    if (!this.jsonEnabled()) print();
    return {};
  }

  override logJson(document: unknown): void {
    this.app.stdout(`${JSON.stringify(document, null, 2)}\n`);
  }

  protected override toSuccessJson(result: unknown): unknown {
    return {schemaVersion: 1, ...(result as object)};
  }

  protected override async catch(error: Error): Promise<void> {
    const expected = toExpectedError(error, {
      argv: this.argv,
      commands: this.config.commandIDs,
      flags: this.#knownFlags,
    });
    const given = expected.cause === undefined ? expected : await withoutSecrets(expected);
    const command = (this.id ?? 'install').replaceAll(':', ' ');
    const failure = this.targets.length > 1 ? withTargets(given, command) : given;
    const line = {
      command,
      argv: this.argv,
      program: programOf(this.app.env),
    };
    const shown = failure.with(failure.message, decisionSteps(failure, line));
    // The terminal has printed ^C, and the cursor is behind it.
    const isAfterCtrlC = failure.code === 'INTERRUPTED' && this.screen.columns !== undefined;
    if (this.jsonEnabled()) this.logJson(failureDocument(failure, line));
    else
      this.app.stderr(
        `${isAfterCtrlC ? '\n' : ''}${failureText(shown, originOf(this.config.pjson), this.screen)}`,
      );
    if (this.argv.includes('--verbose') && failure.cause instanceof Error)
      this.app.stderr(`${maskSecrets(failure.cause.stack ?? '')}\n`);
    this.exitCode = failure.exit;
    BaseCommand.hasDeclined = failure.code === 'DECLINED';
  }

  /** Properties of standard error. */
  protected get screen(): Screen {
    return this.#asWanted(this.app.screen);
  }

  /** Properties of standard output. */
  protected get resultScreen(): Screen {
    return this.#asWanted(this.app.resultScreen);
  }

  #asWanted = (screen: Screen): Screen =>
    this.argv.includes('--no-color') ? withoutColor(screen) : screen;
}
