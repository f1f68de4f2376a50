import * as Flags from '@oclif/core/flags';
import {accountFlag} from '../cli/account.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {
  CONNECTION_FLAGS,
  connectionFlags,
  releaseName,
  timeoutOf,
  toolPaths,
} from '../cli/connection-flags.ts';
import {refuseWith} from '../cli/flag-values.ts';
import {answersFlag, repeated} from '../cli/flags.ts';
import {type HostStatusDocument, hostStatus} from '../cli/host-agents.ts';
import {settingFlags, targetFlag} from '../cli/setting-flags.ts';
import {showAllReleases, showContexts, showRelease} from '../cli/status-release.ts';
import {readValuesTexts} from '../cli/values-files.ts';
import {printStatusChanges, WATCH_GOALS, type WatchGoal} from '../cli/watch-status.ts';
import type {ClusterTarget} from '../ground/command-line.ts';
import {namespace, release, TARGETS, target as targetSetting} from '../settings/release.ts';
import type {ClustersDocument, StatusDocument} from '../ui/status-list.ts';
import {readLayers} from '../values/reading/source.ts';

const SETTINGS = [namespace, release];
/** A user waits for the result. */
const READ_TIMEOUT = '30s';
/** A script waits for an agent that starts, or for the end of runs. */
const UNTIL_TIMEOUT = '10m';

/** Flags that have no meaning without Kubernetes. */
const ONLY_KUBERNETES = [
  'values',
  'exit-code',
  'all-namespaces',
  'watch',
  'until',
  'newest',
  'contexts',
  'namespace',
  ...CONNECTION_FLAGS,
];

/** Undefined after --watch, which prints continuously. */
type Result =
  | StatusDocument
  | HostStatusDocument
  | {releases: readonly StatusDocument[]}
  | ClustersDocument
  | undefined;

export default class Status extends BaseCommand<Result> {
  static override summary = 'Show the status of an installed agent.';
  static override description =
    `Shows readiness and its causes, versions, runs in flight, and changes since the install. Read-only; skips what your Kubernetes user may not read. Exit codes: 0 (ready), 1 (not ready, or cluster not reachable), 2 (release or kubectl not found). --watch prints every change on a new line until Ctrl-C (exit code 130); on a terminal, the status below these lines is replaced in place. --timeout limits one query (default ${READ_TIMEOUT}). With --until, it limits the whole wait (default ${UNTIL_TIMEOUT}, exit code 6). --contexts lists the releases of several clusters; --namespace and --release select one release per cluster. It exits with 0 if every cluster has a release and all are ready. If a token for the Scalr account is found, pods are compared with the agents in Scalr. --no-account disables this. With --target docker or systemd, shows the agents of this machine.`;
  static override examples = [
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent',
    '<%= config.bin %> <%= command.id %> --values base.yaml --values production.yaml --exit-code',
    '<%= config.bin %> <%= command.id %> --watch',
    '<%= config.bin %> <%= command.id %> --watch --until ready --timeout 5m',
    "<%= config.bin %> <%= command.id %> --contexts 'prod-*'",
  ];
  static override flags = {
    values: Flags.string({
      char: 'f',
      summary:
        'Values file to compare with; files are merged, the last one wins. - reads standard input. Can be repeated.',
      helpValue: '<FILE>',
      ...repeated,
      delimiter: ',',
    }),
    'exit-code': Flags.boolean({
      summary:
        'Exit with 5 when a ready agent differs from its release or --values, with 1 when unknown.',
      exclusive: ['watch'],
    }),
    'all-namespaces': Flags.boolean({
      char: 'A',
      summary: 'List the agent releases of all namespaces.',
      exclusive: ['values', 'watch'],
    }),
    contexts: Flags.string({
      summary:
        'List the agent releases of several clusters: kubeconfig contexts, separated by commas. * matches any text.',
      helpValue: '<NAME,...>',
      ...repeated,
      delimiter: ',',
      exclusive: ['values', 'watch', 'kube-context'],
    }),
    ...accountFlag('Read the agents in the Scalr account too, if a token for it is found.'),
    watch: Flags.boolean({
      char: 'w',
      summary: 'Watch for changes; with --json prints one document per line.',
    }),
    until: Flags.string({
      summary: 'With --watch: exit with 0 when the release is ready, or when no run is in flight.',
      helpValue: `<${WATCH_GOALS.join('|')}>`,
      options: [...WATCH_GOALS],
      dependsOn: ['watch'],
    }),
    newest: Flags.boolean({
      summary: 'Ask the chart repository for the newest version.',
      exclusive: ['watch', 'all-namespaces'],
    }),
    ...targetFlag,
    ...answersFlag,
    ...settingFlags(SETTINGS),
    ...connectionFlags,
    timeout: {
      ...connectionFlags.timeout,
      summary: `Time for one query; with --until, for the whole wait. Default: ${READ_TIMEOUT}, with --until ${UNTIL_TIMEOUT}.`,
    },
  };

  protected override readonly targets = TARGETS;
  #isWatching = false;

  /** A pipe reads one document per line. */
  override logJson(document: unknown): void {
    if (this.#isWatching) this.app.stdout(`${JSON.stringify(document)}\n`);
    else super.logJson(document);
  }

  override async run(): Promise<Result> {
    const {flags} = await this.parse(Status);
    this.#isWatching = flags.watch ?? false;
    const files = flags.values ?? [];
    const tools = await this.clusterChecks(['kubectl'], flags);
    const reading = readValuesTexts(files, this.app.files).then(readLayers);
    await this.requireLocal(
      flags,
      {certain: [() => reading, ...tools]},
      {only: [targetSetting, ...SETTINGS]},
    );
    const until = flags.until as WatchGoal | undefined;
    const timeoutMs = timeoutOf({
      ...flags,
      timeout: flags.timeout ?? (until ? UNTIL_TIMEOUT : READ_TIMEOUT),
    });
    const settings = await this.settingsFrom(flags, {only: SETTINGS});
    const target = await this.targetFrom(flags);
    if (target !== 'kubernetes') {
      refuseWith(`target ${target}`, ONLY_KUBERNETES, flags);
      const name = settings.isExplicit(release) ? settings.get(release) : undefined;
      return hostStatus(target, name, {...this.context(flags), screen: this.resultScreen});
    }
    const desired = files.length === 0 ? undefined : await reading;
    const name = releaseName(
      flags.contexts === undefined ? await this.pinned(flags) : flags,
      settings,
    );
    const isNamed = settings.isExplicit(namespace) || settings.isExplicit(release);
    const request = {
      name,
      isNamed,
      files,
      desired,
      isStrict: flags['exit-code'] ?? false,
      usesAccount: flags.account,
      asksNewest: flags.newest ?? false,
    };
    const context = {...this.context(flags), timeoutMs};
    if (flags.contexts !== undefined) {
      const deps = {
        processes: this.app.processes(toolPaths(flags)),
        accessTo: (each: ClusterTarget) => this.accessTo(each, flags),
      };
      return showContexts(
        flags.contexts,
        {...request, isNamed: isNamed && !flags['all-namespaces']},
        deps,
        context,
      );
    }
    const access = await this.accessTo(name.kubeTarget, flags);
    if (flags['all-namespaces']) return showAllReleases(request, access, context);
    return flags.watch
      ? printStatusChanges(request, until, access, context)
      : showRelease(request, access, context);
  }
}
