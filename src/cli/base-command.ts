import {Command} from '@oclif/core/command';
import {parseAnswers} from '../answers/answers-file.ts';
import {fromChartSource} from '../answers/from-chart-source.ts';
import {findAnswers, type ResolveOptions, resolve, settle} from '../answers/resolve.ts';
import {ANSWERS_VARIABLE, fromAnswers, fromEnvironment, fromFlags, type Source, unknownVariables} from '../answers/sources.ts';
import type {ClusterAccess} from '../cluster/cluster-access.ts';
import {ExitCode, ExpectedError, interrupted, maskSecrets, type Warning} from '../errors.ts';
import type {KubernetesClient} from '../kubernetes/client.ts';
import type {Place} from '../ports/processes.ts';
import type {Prompter} from '../ports/prompter.ts';
import {valuesFile} from '../settings/escape-hatch.ts';
import {chart, chartVersion, namespace, release} from '../settings/release.ts';
import {Settings} from '../settings/settings.ts';
import {legible} from '../ui/legible.ts';
import {failureText, warningText} from '../ui/messages.ts';
import {type Screen, withoutColor} from '../ui/theme.ts';
import {type App, type Cluster, nodeApp, originOf} from './app.ts';
import {asExpected, failureDocument} from './failure.ts';
import {type ClusterFlags, sharedFlags, toolPaths} from './flags.ts';

export interface SharedFlags {
  answers?: string | undefined;
  'no-input'?: boolean | undefined;
  quiet?: boolean | undefined;
}

/** What every command does alike: find settings, speak, fail. */
export abstract class BaseCommand<Result extends object | undefined> extends Command {
  static override enableJsonFlag = true;
  static override baseFlags = sharedFlags;

  /** The outside world; called once, inside run(). */
  world: () => App = nodeApp;
  #app: App | undefined;
  #isQuiet = false;
  #said: Source[] | undefined;
  readonly #clients = new Map<string, Promise<KubernetesClient>>();

  abstract override run(): Promise<Result>;

  protected get app(): App {
    this.#app ??= this.world();
    return this.#app;
  }

  /** Settings named in `optional` may be missing; with `only` no other one is looked at; `cluster` answers what nobody said. */
  protected async settingsFrom(
    flags: SharedFlags,
    {cluster, ...wish}: ResolveOptions & {cluster?: Cluster | undefined} = {},
  ): Promise<Settings> {
    const settings = await this.#settle(flags, wish, cluster);
    this.report(cluster?.unread?.(settings) ?? []);
    return settings;
  }

  async #settle(flags: SharedFlags, wish: ResolveOptions, cluster: Cluster | undefined): Promise<Settings> {
    const said = await this.sourcesFrom(flags, wish);
    const {files, now} = this.app;
    const sources = cluster === undefined ? said : [...said, cluster.answers];
    const world = {files, now: now()};
    const prompter = this.jsonEnabled() ? undefined : this.prompter;
    if (prompter === undefined) return resolve(sources, world, wish);
    const {askMissing} = await import('../wizard/ask.ts');
    const {answers, problems} = await findAnswers(sources, world, wish);
    return settle({answers: problems.length > 0 ? answers : await askMissing(answers, wish, {prompter, files, now}), problems}, wish);
  }

  /** What a person said, in whatever way, and then the chart that they named. */
  protected async sourcesFrom(flags: SharedFlags, {only}: ResolveOptions = {}): Promise<readonly Source[]> {
    this.#isQuiet = flags.quiet ?? false;
    this.#said ??= await this.#readSources(flags);
    if (only?.includes(chart) === false) return this.#said;
    const {files, charts} = this.app;
    const readName = async (source: string) =>
      (await import('../values/chart-files.ts')).readMetadata(source, (await charts.read(source)).chart);
    const sources = [...this.#said, ...(await fromChartSource(this.#said, {files, readName}))];
    return [...sources, ...(await this.#fromValuesFiles(sources))];
  }

  async #fromValuesFiles(sources: readonly Source[]): Promise<Source[]> {
    const world = {files: this.app.files, now: this.app.now()};
    const {answers, problems} = await findAnswers(sources, world, {only: [valuesFile, chart, chartVersion]});
    const named = new Settings(answers);
    const files = named.get(valuesFile);
    // What is wrong is told later, together with all other problems.
    if (files === undefined || problems.length > 0) return [];
    const found = (await import('../values/values-files.ts')).settingsInFiles(files, named);
    return [{name: 'values-file', isParsed: true, answer: ({id}) => found.get(id)?.value, because: ({id}) => found.get(id)?.because}];
  }

  /** What the cluster says, where --from-cluster asks for it. @throws ExpectedError when it says nothing */
  protected async clusterOf(flags: SharedFlags & ClusterFlags & {'from-cluster'?: boolean}): Promise<Cluster | undefined> {
    if (!flags['from-cluster']) return undefined;
    const {clusterAt, releaseName} = await import('./app.ts');
    const settings = await this.settingsFrom(flags, {only: [namespace, release]});
    const {place} = releaseName(flags, settings);
    return clusterAt(place, await this.accessTo(place, flags));
  }

  /** A warning for each setting that a cluster would have answered. */
  protected async unaskedWarnings(settings: Settings, chosen: string): Promise<Warning[]> {
    return (await import('../answers/from-cluster.ts')).unaskedWarnings(settings, chosen);
  }

  /** Settings of an install that nobody gave, from its cluster; undefined with --no-from-cluster, or where the cluster does not answer. */
  protected async openAnswersOf(
    flags: SharedFlags & ClusterFlags & {'from-cluster'?: boolean},
    accessTo: (place: Place) => Promise<ClusterAccess>,
  ): Promise<Cluster | undefined> {
    if (flags['from-cluster'] === false) return undefined;
    const {ANSWERED_BY_CLUSTER, openAnswers, releaseName} = await import('./app.ts');
    const said = await this.settingsFrom(flags, {only: ANSWERED_BY_CLUSTER});
    const name = releaseName(flags, said);
    return openAnswers(name, said, await accessTo(name.place));
  }

  /** For work that changes nothing: Ctrl-C ends it at once, and says so. @throws ExpectedError */
  protected async untilInterrupted<T>(work: () => Promise<T>): Promise<T> {
    const {asked, release: leave} = this.app.takeInterrupts();
    const interruption = new Promise<never>((_, reject) => {
      asked.addEventListener('abort', () => reject(interrupted('Nothing was changed.', asked)), {once: true});
    });
    try {
      return await Promise.race([work(), interruption]);
    } finally {
      leave();
    }
  }

  /** The API server of that cluster; one client per run of the command, closed at its end. */
  protected kubernetes(place: Place, flags: ClusterFlags): Promise<KubernetesClient> {
    const key = JSON.stringify([place.kubeconfig, place.kubeContext]);
    const client = this.#clients.get(key) ?? this.app.kubernetes(place, toolPaths(flags));
    this.#clients.set(key, client);
    return client;
  }

  protected async accessTo(place: Place, flags: ClusterFlags): Promise<ClusterAccess> {
    return {kubernetes: await this.kubernetes(place, flags), processes: this.app.processes(toolPaths(flags))};
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    await Promise.all([...this.#clients.values()].map(async (client) => (await client).close()));
    return super.finally(error);
  }

  async #readSources(flags: SharedFlags): Promise<Source[]> {
    const {env, files} = this.app;
    const sources: Source[] = [fromFlags({...flags}), fromEnvironment(env)];
    const path = flags.answers ?? (env[ANSWERS_VARIABLE] || undefined);
    if (path === '')
      throw new ExpectedError('--answers names no file.', {
        code: 'UNREADABLE_FILE',
        exit: ExitCode.usage,
        suggestions: ['Name a file, or leave out --answers'],
      });
    if (path !== undefined) sources.push(fromAnswers(parseAnswers((await files.read(path)).toString('utf8'), path)));
    this.report(unknownVariables(env));
    return sources;
  }

  /** Warnings belong to standard error whatever the format of the result. */
  protected report(warnings: readonly Warning[]): void {
    for (const warning of warnings) this.app.stderr(warningText(warning, this.screen));
  }

  /** Asks the person at the terminal; undefined where nobody can answer. */
  protected get prompter(): Prompter | undefined {
    const {hasTerminal, prompter} = this.app;
    return hasTerminal && !this.argv.includes('--no-input') ? prompter(this.screen) : undefined;
  }

  /** With --quiet only what is said even then. */
  protected say(text: string, evenIfQuiet = ''): void {
    this.app.stderr(this.#isQuiet ? evenIfQuiet : text);
  }

  /** A result for people; other programs get theirs as it is. */
  protected show(text: string): void {
    this.app.stdout(legible(text, this.resultScreen));
  }

  override logJson(document: unknown): void {
    this.app.stdout(`${JSON.stringify(document, null, 2)}\n`);
  }

  protected override toSuccessJson(result: unknown): unknown {
    return {schemaVersion: 1, ...(result as object)};
  }

  protected override async catch(error: Error): Promise<void> {
    const flags = Object.keys({...this.ctor.flags, ...this.ctor.baseFlags});
    const failure = asExpected(error, {argv: this.argv, commands: this.config.commandIDs, flags});
    if (this.jsonEnabled()) this.logJson(failureDocument(failure));
    else this.app.stderr(`${this.#isAfterCtrlC(failure) ? '\n' : ''}${failureText(failure, originOf(this.config.pjson), this.screen)}`);
    if (this.argv.includes('--verbose') && failure.cause instanceof Error) this.app.stderr(`${maskSecrets(failure.cause.stack ?? '')}\n`);
    process.exitCode = failure.exit;
  }

  /** The terminal has written ^C, and the cursor stands behind it. */
  #isAfterCtrlC({code, exit}: ExpectedError): boolean {
    return code === 'INTERRUPTED' && exit === ExitCode.interrupted && this.screen.columns !== undefined;
  }

  /** Standard error as the operator wants it. */
  protected get screen(): Screen {
    return this.#asWanted(this.app.screen);
  }

  /** Standard output as the operator wants it. */
  protected get resultScreen(): Screen {
    return this.#asWanted(this.app.resultScreen);
  }

  #asWanted(screen: Screen): Screen {
    return this.argv.includes('--no-color') ? withoutColor(screen) : screen;
  }
}
