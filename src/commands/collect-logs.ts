import * as Flags from '@oclif/core/flags';
import {BaseCommand, type SharedFlags} from '../cli/base-command.ts';
import {type ClusterFlags, durationOf, releaseName, timeoutOf, toolPaths} from '../cli/cluster-flags.ts';
import {byteCount, since} from '../cli/log-flags.ts';
import {settingFlags} from '../cli/setting-flags.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import type {ClusterApi} from '../ports/cluster-api.ts';
import {firstOf} from '../ports/first-of.ts';
import type {Interrupts} from '../ports/interrupts.ts';
import {namespace, release} from '../settings/release.ts';
import {type Bundle, redactionFor, writeBundle} from '../support-bundle/bundle.ts';
import {type Damage, inspectBundle} from '../support-bundle/inspect.ts';
import {containersOf} from '../support-bundle/log-items.ts';
import {type Prepared, prepareBundle} from '../support-bundle/prepare.ts';
import type {Gap} from '../support-bundle/read-namespace.ts';
import {record} from '../support-bundle/record.ts';
import {refuseEmpty} from '../support-bundle/refuse-empty.ts';
import {isOfReleases} from '../support-bundle/scope.ts';
import {prepareDocker} from '../support-bundle/sources/docker.ts';
import {prepareJournal} from '../support-bundle/sources/journal.ts';
import {withRecording} from '../support-bundle/with-recording.ts';
import {bundleText, progressText, wantedText} from '../ui/bundle.ts';
import {damageText, inspectionText} from '../ui/bundle-inspection.ts';

interface Result {
  /** Absent with --dry-run. */
  file?: string;
  bytes?: number;
  containers: number;
  errors: readonly {what: string; kind: string; message: string}[];
  redactions?: Bundle['redactions'];
  findings?: Bundle['findings'];
  /** With --inspect: entries that are not as the manifest says. */
  damage?: readonly Damage[];
  /** Everything that was asked for is there; what a modest account may not see does not count. */
  complete: boolean;
}

type HereFlags = SharedFlags &
  ClusterFlags & {
    docker?: string | undefined;
    since?: string | undefined;
    'since-time'?: string | undefined;
    'max-size'?: string | undefined;
    out?: string | undefined;
    'dry-run'?: boolean | undefined;
  };

interface Watching {
  wish: Parameters<typeof prepareBundle>[0];
  maxBytes: number;
  recordingMs: number;
  flags: ClusterFlags;
  api: ClusterApi;
  interrupts: Interrupts;
}

/** Flags that only a cluster understands. */
const OF_CLUSTER = ['run', 'container', 'no-secret-seeds', 'namespace', 'release', 'kube-context', 'kubeconfig', 'watch'] as const;
const OF_COLLECTING = ['since', 'since-time', 'max-size', 'out', 'dry-run'] as const;

export default class CollectLogs extends BaseCommand<Result> {
  static override summary = 'Write a bundle for support: logs, events, objects, releases and what stands out, without secrets.';
  static override description =
    'Reads only, and what the account may not read is recorded. Logs of all containers go back 24 hours (--since) and share 100 MiB (--max-size): of a longer one the beginning and the end are kept, with a mark between them. Every byte is redacted before it is written, and the finished file is searched for the secrets of the namespace: with one in it, it is deleted (status 8). A bundle that lacks something ends with status 7. Of an agent outside of Kubernetes, --docker and --journal make the same bundle on its own machine.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent',
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --since 2h --run run-v0o1 --out bundle.zip',
    '<%= config.bin %> <%= command.id %> --docker scalr-agent',
    '<%= config.bin %> <%= command.id %> --watch --run run-v0o1',
    'sudo <%= config.bin %> <%= command.id %> --journal --since 2h',
    '<%= config.bin %> <%= command.id %> --inspect bundle.zip',
  ];
  static override flags = {
    since: Flags.string({summary: 'How far back logs are read, as 2h; 24h unless told otherwise.', helpValue: '<DURATION>'}),
    'since-time': Flags.string({
      summary: 'From when on logs are read, as 2026-11-21T08:00:00Z.',
      helpValue: '<TIME>',
      exclusive: ['since'],
    }),
    run: Flags.string({summary: 'Of runs only the one with this id.', helpValue: '<RUN-ID>'}),
    container: Flags.string({summary: 'Only logs of containers of this name.', helpValue: '<NAME>'}),
    'max-size': Flags.string({summary: 'How much all logs may have together; 100Mi unless told otherwise.', helpValue: '<SIZE>'}),
    'no-secret-seeds': Flags.boolean({summary: 'Do not read the Secrets of the namespace to find elsewhere what is in them.'}),
    out: Flags.string({
      char: 'o',
      summary: 'File to write; scalr-agent-<NAMESPACE>-<TIME>.zip unless told otherwise.',
      helpValue: '<FILE>',
    }),
    watch: Flags.boolean({
      summary: 'Follow the agent and every run from now on, until Ctrl-C, the end of --run or of --for, and then write the bundle.',
    }),
    for: Flags.string({summary: 'How long --watch follows; 20m unless told otherwise.', helpValue: '<DURATION>', dependsOn: ['watch']}),
    docker: Flags.string({
      summary: 'Collect from this container on this machine instead of a cluster.',
      helpValue: '<CONTAINER>',
    }),
    journal: Flags.boolean({
      summary: 'Collect from the service scalr-agent of systemd on this machine instead of a cluster.',
    }),
    inspect: Flags.string({
      summary: 'Check this bundle and print what it says; needs no cluster, and status 3 means that it was damaged or changed.',
      helpValue: '<FILE>',
    }),
    ...settingFlags([namespace, release]),
  };

  override async run(): Promise<Result> {
    const {flags} = await this.parse(CollectLogs);
    if (flags.inspect !== undefined) refuseWith('inspect', [...OF_CLUSTER, ...OF_COLLECTING, 'docker', 'journal'], flags);
    if (flags.docker !== undefined) refuseWith('docker', [...OF_CLUSTER, 'journal'], flags);
    if (flags.journal) refuseWith('journal', OF_CLUSTER, flags);
    if (flags.inspect !== undefined) return this.#inspect(flags.inspect);
    if (flags.docker !== undefined || flags.journal) return this.#collectHere(flags);
    const settings = await this.settingsFrom(flags, {only: [namespace, release]});
    const {place} = releaseName(flags, settings);
    const maxBytes = byteCount('--max-size', flags['max-size'] ?? '100Mi');
    const recordingMs = durationOf('--for', flags.for ?? '20m');
    const wish = {
      place,
      release: settings.isExplicit(release) ? settings.get(release) : undefined,
      since: since(flags['since-time'], durationOf('--since', flags.since ?? '24h') / 1000),
      run: flags.run,
      container: flags.container,
      ownVersion: this.config.version,
      readsSecrets: !flags['no-secret-seeds'],
    };
    const {clusterApi} = this.app;
    const interrupts = this.app.takeInterrupts();
    const over = firstOf(AbortSignal.timeout(timeoutOf(flags)), interrupts.asked);
    try {
      const api = await clusterApi(place, {over, paths: toolPaths(flags)});
      try {
        const prepared = await prepareBundle(wish, {api, processes: this.app.processes(toolPaths(flags)), over});
        if (interrupts.asked.aborted && !prepared.scope.objects.some(isOfReleases)) throw interrupted(interrupts.asked);
        refuseEmpty(prepared, place.namespace);
        if (flags['dry-run']) return this.#show(prepared);
        const file = flags.out ?? this.#fileFor(place.namespace);
        if (flags.watch) return await this.#watch(file, prepared, {wish, maxBytes, recordingMs, flags, api, interrupts});
        const bundle = await this.#write(file, prepared, place.namespace, {maxBytes, api, over, insisted: interrupts.insisted});
        return this.#tell(file, bundle, interrupts.asked);
      } finally {
        await api.close();
      }
    } finally {
      interrupts.release();
    }
  }

  /** Follows what happens until it is told to end, and then writes everything. */
  async #watch(file: string, prepared: Prepared, {wish, maxBytes, recordingMs, flags, api, interrupts}: Watching): Promise<Result> {
    const {asked, insisted} = interrupts;
    const {namespace: name} = wish.place;
    const redaction = redactionFor(prepared.seeds);
    const until = firstOf(AbortSignal.timeout(recordingMs), asked);
    const onLog = ({file: log}: {file: string}): void => this.say(`Following ${log}\n`);
    const {releases} = prepared;
    const recording = await record(
      {...wish, namespace: name, releases, maxBytes},
      {api, redactor: redaction.redact, until, sleep: this.app.sleep, onLog},
    );
    const over = firstOf(AbortSignal.timeout(timeoutOf(flags)), insisted);
    const fresh = await prepareBundle(wish, {api, processes: this.app.processes(toolPaths(flags)), over});
    const seen = withRecording(fresh, recording, redaction, api);
    return this.#tell(file, await this.#write(file, seen.prepared, name, {maxBytes, api: seen.api, over, insisted}), insisted);
  }

  #fileFor(name: string): string {
    const time = this.app.now().toISOString();
    return `scalr-agent-${name}-${time.replace(/\.\d+|[:-]/g, '')}.zip`;
  }

  #tell(file: string, bundle: Bundle, asked: AbortSignal): Result {
    const {bytes, containers, redactions, findings, gaps} = bundle;
    const complete = gaps.every(({isMinor}) => isMinor) && !asked.aborted;
    this.say(bundleText({file, ...bundle}, this.screen));
    if (!complete) process.exitCode = asked.aborted ? statusOf(asked) : ExitCode.incomplete;
    if (!this.jsonEnabled()) this.app.stdout(`${file}\n`);
    return {file, bytes, containers, errors: gaps.map(errorOf), redactions, findings, complete};
  }

  /** From docker or systemd of this machine. */
  async #collectHere(flags: HereFlags): Promise<Result> {
    await this.sourcesFrom(flags);
    const maxBytes = byteCount('--max-size', flags['max-size'] ?? '100Mi');
    const {host, files, now} = this.app;
    const wish = {since: since(flags['since-time'], durationOf('--since', flags.since ?? '24h') / 1000), now: now()};
    const interrupts = this.app.takeInterrupts();
    const over = firstOf(AbortSignal.timeout(timeoutOf(flags)), interrupts.asked);
    try {
      const world = {host, files, over};
      const prepared = flags.docker === undefined ? await prepareJournal(wish, world) : await prepareDocker(flags.docker, wish, world);
      if (flags['dry-run']) return this.#show(prepared);
      const {name, api} = prepared;
      const file = flags.out ?? this.#fileFor(name);
      const bundle = await this.#write(file, prepared, name, {maxBytes, api, over, insisted: interrupts.insisted});
      return this.#tell(file, bundle, interrupts.asked);
    } finally {
      interrupts.release();
    }
  }

  async #inspect(file: string): Promise<Result> {
    const archive = await this.app.archives.open(file);
    try {
      const {summary, errors, redactions, ...inspection} = await inspectBundle(archive);
      const {damage, findings, containers, complete} = inspection;
      if (!this.jsonEnabled()) this.show(inspectionText({summary, findings}, this.resultScreen));
      if (damage.length > 0) {
        this.app.stderr(damageText(file, damage, this.screen));
        process.exitCode = ExitCode.findings;
      }
      const known = errors.map(({what, kind, message}) => ({what, kind, message}));
      return {file, containers, errors: known, ...(redactions ? {redactions} : {}), findings, damage, complete};
    } finally {
      archive.close();
    }
  }

  #show({texts, logs, gaps}: Prepared): Result {
    if (!this.jsonEnabled()) this.show(wantedText([...texts(() => '').map(({name}) => name), ...logs.map(({file}) => file)]));
    return {containers: containersOf(logs), errors: gaps.map(errorOf), complete: gaps.every(({isMinor}) => isMinor)};
  }

  async #write(
    file: string,
    prepared: Prepared,
    name: string,
    {maxBytes, insisted, ...world}: Pick<Parameters<typeof writeBundle>[3], 'api' | 'over'> & {maxBytes: number; insisted: AbortSignal},
  ): Promise<Bundle> {
    const {archives, files, now} = this.app;
    if ((await files.kindOf(file)) !== 'nothing') throw taken(file);
    const archive = await archives.create(file);
    try {
      const onProgress = (done: number, all: number): void => this.say(progressText(done, all, this.screen));
      const writing = writeBundle(prepared, name, maxBytes, {archive, now, onProgress, ...world});
      return await Promise.race([writing, rejectedBy(insisted)]);
    } catch (error) {
      await archive.abort();
      throw error;
    }
  }
}

/** Not `exclusive` of the flags: --help would show every pair. @throws ExpectedError */
function refuseWith(flag: string, others: readonly string[], flags: Readonly<Record<string, unknown>>): void {
  const clash = others.filter((other) => flags[other] !== undefined && flags[other] !== false);
  if (clash.length === 0) return;
  throw new ExpectedError(`--${flag} does not go together with ${clash.map((other) => `--${other}`).join(', ')}.`, {
    code: 'USAGE',
    exit: ExitCode.usage,
    suggestions: ['Leave out one of them'],
  });
}

const errorOf = ({what, trouble: {kind, message}}: Gap) => ({what, kind, message});

/** Of a program that was ended by this. */
const statusOf = ({reason}: AbortSignal): ExitCode => (reason === 'SIGTERM' ? ExitCode.terminated : ExitCode.interrupted);

const interrupted = (by: AbortSignal): ExpectedError =>
  new ExpectedError('Interrupted. No bundle was written.', {
    code: 'INTERRUPTED',
    exit: statusOf(by),
    suggestions: ['Run the same command again', 'Ctrl-C once, while it reads logs, keeps what is there'],
  });

/** Who asks twice does not want the bundle any more. */
const rejectedBy = (insisted: AbortSignal): Promise<never> =>
  new Promise((_, reject) => insisted.addEventListener('abort', () => reject(interrupted(insisted)), {once: true}));

const taken = (file: string): ExpectedError =>
  new ExpectedError(`${file} exists.`, {code: 'FILE_EXISTS', exit: ExitCode.usage, suggestions: ['Name another file with --out']});
