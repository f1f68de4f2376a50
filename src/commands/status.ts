import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/base-command.ts';
import {answersFlag, connectionFlags, refuseWith, releaseName, settingFlags, targetFlag, timeoutOf} from '../cli/flags.ts';
import {type HostStatusDocument, hostStatus} from '../cli/host-commands.ts';
import {readTexts} from '../cli/user-files.ts';
import type {ClusterTarget, ReleaseName} from '../ground/command-line.ts';
import {kubectlCommand} from '../ground/command-line.ts';
import {ExitCode, ExpectedError} from '../ground/errors.ts';
import type {Values} from '../ground/tree.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import {namespace, release, TARGETS} from '../settings/release.ts';
import {agentReleases, readStatus, watchStatus} from '../status/read-status.ts';
import type {Status as Found} from '../status/status.ts';
import {driftText} from '../ui/diff.ts';
import {type StatusDocument, statusDocument} from '../ui/formats/status.ts';
import {changesReporter, statusTable, statusText} from '../ui/status.ts';
import {readLayers} from '../values/validate/source.ts';

const SETTINGS = [namespace, release];
/** A user waits for the result. */
const READ_TIMEOUT = '30s';

/** Flags that have no meaning without Kubernetes. */
const ONLY_KUBERNETES = [
  'values',
  'exit-code',
  'all-namespaces',
  'watch',
  'namespace',
  'kube-context',
  'kubeconfig',
  'helm',
  'kubectl',
] as const;

/** Undefined after --watch, which prints continuously. */
type Result = StatusDocument | HostStatusDocument | {releases: readonly StatusDocument[]} | undefined;

export default class Status extends BaseCommand<Result> {
  static override summary = 'Show the status of an installed agent.';
  static override description =
    `Shows readiness and its causes, versions, runs in flight, and changes since the install. Read-only; skips what your Kubernetes user may not read. Exits with 0 when the agent is ready, 1 when it is not or the cluster cannot be reached, and 2 when the release, helm or kubectl is not found. --watch prints every change on a new line until Ctrl-C (exit code 130). --timeout limits one query (default ${READ_TIMEOUT}). With --target docker or systemd, shows the agents of this machine.`;
  static override examples = [
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent',
    '<%= config.bin %> <%= command.id %> --values base.yaml --values production.yaml --exit-code',
    '<%= config.bin %> <%= command.id %> --watch',
  ];
  static override flags = {
    values: Flags.string({
      char: 'f',
      summary: 'Values file to compare with; files are merged, the last one wins. - reads standard input. May be repeated.',
      helpValue: '<FILE>',
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
    }),
    'exit-code': Flags.boolean({
      summary: 'Exit with 5 when a ready agent differs from its release or from --values.',
      exclusive: ['watch'],
    }),
    'all-namespaces': Flags.boolean({
      char: 'A',
      summary: 'List the agent releases of all namespaces.',
      exclusive: ['values', 'watch'],
    }),
    watch: Flags.boolean({char: 'w', summary: 'Watch for changes; with --json prints one document per line.'}),
    ...targetFlag,
    ...answersFlag,
    ...settingFlags(SETTINGS),
    ...connectionFlags,
  };

  protected override readonly targets = TARGETS;

  override async run(): Promise<Result> {
    const {flags} = await this.parse(Status);
    const timeoutMs = timeoutOf({...flags, timeout: flags.timeout ?? READ_TIMEOUT});
    const settings = await this.settingsFrom(flags, {only: SETTINGS});
    const target = await this.targetFrom(flags);
    if (target !== 'kubernetes') {
      refuseWith(`target ${target}`, ONLY_KUBERNETES, flags);
      const name = settings.isExplicit(release) ? settings.get(release) : undefined;
      return hostStatus(target, name, {...this.context(flags), screen: this.resultScreen});
    }
    const files = flags.values ?? [];
    const wanted = files.length === 0 ? undefined : readLayers(await readTexts(files, this.app.files));
    const name = releaseName(flags, settings);
    const access = await this.accessTo(name.place, flags);
    const isStrict = flags['exit-code'] ?? false;
    if (flags['all-namespaces']) return this.#all(name.place, {...access, now: this.app.now}, AbortSignal.timeout(timeoutMs), isStrict);
    if (flags.watch) return this.#watch(name, {wanted, files, timeoutMs}, access);
    const signal = AbortSignal.timeout(timeoutMs);
    const deps = {...access, now: this.app.now};
    let found = name;
    const status = await readStatus(name, {wanted, signal}, deps).catch(async (error: unknown) => {
      const isNamed = settings.isExplicit(namespace) || settings.isExplicit(release);
      if (isNamed || !(error instanceof ExpectedError && error.code === 'RELEASE_NOT_FOUND')) throw error;
      const [only, ...others] = await agentReleases(name.place, access, signal);
      if (only === undefined || others.length > 0) throw error;
      this.say(`Using release ${only.release} in namespace ${only.place.namespace}, the only agent release of the cluster.\n`);
      found = only;
      return readStatus(only, {wanted, signal}, deps);
    });
    if (!this.jsonEnabled()) {
      this.show(statusText({name: found, status, files, now: this.app.now()}, this.resultScreen));
      const text = await driftText(status.drift, this.resultScreen);
      if (text !== '') this.show(`\n${text}`);
    }
    this.exitCode = exitOf(status, files, isStrict);
    return statusDocument(found, status, files);
  }

  /** All agent releases of the cluster. */
  async #all(
    place: ClusterTarget,
    deps: StatusDeps,
    signal: AbortSignal,
    isStrict: boolean,
  ): Promise<{releases: readonly StatusDocument[]}> {
    const names = await agentReleases(place, deps, signal);
    if (names.length === 0) throw noRelease(place);
    const all = await Promise.all(names.map(async (name) => ({name, status: await readStatus(name, {wanted: undefined, signal}, deps)})));
    if (!this.jsonEnabled()) this.show(statusTable(all, this.resultScreen));
    const exits = all.map(({status}) => exitOf(status, [], isStrict));
    this.exitCode = exits.find((exit) => exit === ExitCode.failed) ?? Math.max(...exits);
    return {releases: all.map(({name, status}) => statusDocument(name, status, []))};
  }

  /** Prints changes until it is interrupted; with --json, one document per line. */
  async #watch(
    name: ReleaseName,
    {wanted, files, timeoutMs}: {wanted: Values | undefined; files: readonly string[]; timeoutMs: number},
    access: ClusterAccess,
  ): Promise<undefined> {
    const {now, sleep} = this.app;
    const interrupts = this.app.takeInterrupts();
    const changes = changesReporter((text) => this.show(text), this.resultScreen);
    let last = '';
    const printLine = (status: Found): void => {
      const line = `${JSON.stringify({schemaVersion: 1, ...statusDocument(name, status, files)})}\n`;
      if (line !== last) this.app.stdout(line);
      last = line;
    };
    try {
      await watchStatus(name, wanted, {
        ...access,
        interrupts,
        now,
        sleep,
        timeoutMs,
        onStatus: (status) => (this.jsonEnabled() ? printLine(status) : changes.status({name, status, files, now: now()})),
        onTrouble: (trouble) => (this.jsonEnabled() ? this.say(`${trouble.message}\n`) : changes.trouble(trouble, now())),
      });
    } finally {
      interrupts.release();
    }
    this.exitCode = interrupts.interrupt.reason === 'SIGTERM' ? ExitCode.terminated : ExitCode.interrupted;
    return undefined;
  }
}

type StatusDeps = Parameters<typeof readStatus>[2];

/** With `isStrict`, differences and failed comparisons are failures. */
function exitOf({state, objects, drift}: Found, files: readonly string[], isStrict: boolean): ExitCode {
  if (state !== 'ready') return ExitCode.failed;
  if (!isStrict) return ExitCode.ok;
  if (objects === undefined || (files.length > 0 && drift === undefined)) return ExitCode.failed;
  return objects.length > 0 || (drift?.differences.length ?? 0) > 0 ? ExitCode.differences : ExitCode.ok;
}

const noRelease = (place: ClusterTarget): ExpectedError =>
  new ExpectedError('No agent release found in any namespace.', {
    code: 'RELEASE_NOT_FOUND',
    exit: ExitCode.usage,
    suggestions: [`Check the cluster: ${kubectlCommand(place, 'cluster-info')}`, 'Install an agent: scalr-agent install'],
  });
