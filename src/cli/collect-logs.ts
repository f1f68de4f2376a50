import * as Flags from '@oclif/core/flags';
import type {Pod} from '../cluster/kubernetes/objects.ts';
import {linksOf, listAgents, queueOf} from '../extensions/account/account.ts';
import {poolOfPods} from '../extensions/account/account-status.ts';
import {findPool} from '../extensions/account/find-object.ts';
import {
  accessText,
  bundleText,
  fileListText,
  missingText,
  withheldText,
} from '../extensions/bundle/bundle-text.ts';
import type {AgentsInAccount} from '../extensions/bundle/collect/docker.ts';
import {type Gap, gapDocument} from '../extensions/bundle/collect/gap.ts';
import {logContainers, type Since} from '../extensions/bundle/collect/log-items.ts';
import type {PreparedBundle} from '../extensions/bundle/collect/prepare.ts';
import type {TextFile} from '../extensions/bundle/collect/read-objects.ts';
import {type BundledRelease, helmReleaseOf} from '../extensions/bundle/collect/scope.ts';
import {MIN_SHARE_BYTES} from '../extensions/bundle/collect/shares.ts';
import {type CollectedBundle, signalExitCode} from '../extensions/bundle/save-bundle.ts';
import type {Bundle} from '../extensions/bundle/write-bundle.ts';
import {ExitCode, type ExpectedError, failed, onFailure} from '../ground/errors.ts';
import {jsonText} from '../ground/json.ts';
import type {Values} from '../ground/tree.ts';
import {bytes, milliOf} from '../settings/kinds/quantities.ts';
import {namespace, release} from '../settings/release.ts';
import {Settings} from '../settings/settings.ts';
import {accountFlag, optionalAccount} from './account.ts';
import {connectionFlags, timeoutOf} from './connection-flags.ts';
import {durationOf, emptyFlag, refuseWith} from './flag-values.ts';
import {answersFlag, type Parsed} from './flags.ts';
import type {CommandContext} from './operate.ts';
import {addressIn} from './release-address.ts';
import {settingFlags, targetFlag} from './setting-flags.ts';

/** Minimum size of each log, so that a smaller total could not be guaranteed. */
const MIN_SIZE = `${MIN_SHARE_BYTES / 1024}Ki`;

export const collectLogsFlags = {
  since: Flags.string({
    summary: 'Age of the oldest logs. Default: 24h.',
    helpValue: '<DURATION>',
  }),
  'since-time': Flags.string({
    summary: 'Time of the oldest logs, for example 2026-11-21T08:00:00Z.',
    helpValue: '<TIME>',
    exclusive: ['since'],
  }),
  run: Flags.string({summary: 'Collect only the run with this ID.', helpValue: '<RUN-ID>'}),
  container: Flags.string({
    summary: 'Collect only logs of containers with this name.',
    helpValue: '<NAME>',
  }),
  'max-size': Flags.string({
    summary: `Maximum total size of logs. Must be at least ${MIN_SIZE}; each log keeps at least ${MIN_SIZE}. Default: 100Mi.`,
    helpValue: '<SIZE>',
  }),
  redact: Flags.option({
    summary:
      'Redaction level. `strict` also hides uncertain values, hosts and addresses. Default: standard.',
    helpValue: '<standard|strict>',
    options: ['standard', 'strict'] as const,
  })(),
  'no-secret-seeds': Flags.boolean({
    summary: 'Do not read Secrets; the bundle is then not searched for their values.',
  }),
  out: Flags.string({
    char: 'o',
    summary: 'Output file. The default is scalr-agent-<NAMESPACE>-<TIME>.zip.',
    helpValue: '<FILE>',
  }),
  watch: Flags.boolean({
    summary:
      'Follow the agent and its runs. The bundle is written after Ctrl-C, after the run given with --run, or after --for.',
  }),
  for: Flags.string({
    summary: 'Duration of --watch. Default: 20m.',
    helpValue: '<DURATION>',
    dependsOn: ['watch'],
  }),
  ...targetFlag,
  docker: Flags.string({
    summary: 'Collect from a local Docker container. Requires no cluster.',
    helpValue: '<CONTAINER>',
  }),
  journal: Flags.boolean({
    summary: 'Collect from the local systemd unit scalr-agent. Requires no cluster.',
  }),
  ...accountFlag(
    'Add the agent pool, its agents and its queue from the Scalr account, if a token for it is found.',
  ),
  'dry-run': Flags.boolean({summary: 'List what would be collected, without writing a bundle.'}),
  ...answersFlag,
  ...settingFlags([namespace, release]),
  ...connectionFlags,
};

export type CollectLogsFlags = Parsed<typeof collectLogsFlags>;

/** Flags that require a cluster. */
const OF_CLUSTER = [
  'run',
  'container',
  'no-secret-seeds',
  'namespace',
  'release',
  'kube-context',
  'kubeconfig',
  'watch',
] as const;
const NAMES = ['run', 'container', 'docker', 'out'] as const;

/** Source of a bundle. @throws ExpectedError for flags of another source */
export function bundleSource(flags: Partial<CollectLogsFlags>): 'host' | 'cluster' {
  refuseNothing(flags);
  const {docker, journal, target} = flags;
  if (docker !== undefined) refuseWith('docker', [...OF_CLUSTER, 'journal', 'target'], flags);
  if (journal) refuseWith('journal', [...OF_CLUSTER, 'target'], flags);
  const isHost = target === 'docker' || target === 'systemd';
  if (isHost)
    refuseWith(
      `target ${target}`,
      OF_CLUSTER.filter((flag) => flag !== 'release' || target === 'systemd'),
      flags,
    );
  return docker !== undefined || journal || isHost ? 'host' : 'cluster';
}

/** Rejects empty values. @throws ExpectedError */
function refuseNothing(flags: Readonly<Record<string, unknown>>): void {
  const flag = NAMES.find((name) => flags[name] === '');
  if (flag !== undefined) throw emptyFlag(flag);
}

/** In seconds; older logs require --since-time. */
const MAX_SINCE_SECONDS = 30 * 86_400;

/** Options of every source. @throws ExpectedError */
export const collectOptions = (flags: Partial<CollectLogsFlags>) => ({
  since: since(
    flags['since-time'],
    durationOf('--since', flags.since ?? '24h', {max: MAX_SINCE_SECONDS}) / 1000,
  ),
  maxBytes: byteCount('--max-size', flags['max-size'] ?? '100Mi'),
  level: flags.redact ?? 'standard',
  out: flags.out,
  isDryRun: flags['dry-run'] ?? false,
  timeoutMs: timeoutOf(flags),
});

const AS_TIME = 'Use the format 2026-11-21T08:00:00Z';

/** Start of the logs: a time, or a number of seconds ago. @throws ExpectedError */
export function since(time: string | undefined, seconds: number): Since {
  if (time === undefined) return {seconds};
  const [date] = /^\d{4}-\d\d-\d\d(?=T\d\d:\d\d)/.exec(time) ?? [];
  if (date !== undefined && !isDay(date))
    throw wrong(`Invalid --since-time ${time}: ${date} does not exist.`, AS_TIME);
  if (date !== undefined && !Number.isNaN(Date.parse(time)))
    return {time: new Date(time).toISOString()};
  throw wrong(`Invalid --since-time ${time}.`, AS_TIME);
}

/** JavaScript parses February 30 as March 2. */
function isDay(date: string): boolean {
  const time = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}

/** Bytes of a Kubernetes quantity. @throws ExpectedError */
function byteCount(flag: string, text: string): number {
  let count: number;
  try {
    count = Number(milliOf(bytes().parse(text, {now: new Date()})) ?? 0n) / 1000;
  } catch (error) {
    throw wrong(`Invalid ${flag} ${text}: ${(error as Error).message}.`, 'Use the format 100Mi');
  }
  if (count < MIN_SHARE_BYTES)
    throw wrong(
      `Invalid ${flag} ${text}: the minimum is ${MIN_SIZE}.`,
      `Use ${flag} ${MIN_SIZE} or more`,
    );
  return count;
}

const wrong = (message: string, suggestion: string): ExpectedError =>
  failed('INVALID_SETTING', message, [suggestion]);

export interface CollectResult {
  /** Absent with --dry-run. */
  file?: string;
  bytes?: number;
  containers: number;
  errors: readonly ReturnType<typeof gapDocument>[];
  /** Files in which the final check found a secret: they were masked or left out. */
  withheld?: Bundle['withheld'];
  redactions?: Bundle['redactions'];
  findings?: Bundle['findings'];
  /** True if all requested parts were collected and Secrets were searched. Optional parts that your Kubernetes user cannot read do not count. */
  complete: boolean;
}

/** What a dry run would collect. */
export function showFileList(
  {texts, logs, gaps}: PreparedBundle,
  {isJson, show}: CommandContext,
): CollectResult {
  if (!isJson)
    show(
      fileListText([...texts(() => () => '').map(({name}) => name), ...logs.map(({file}) => file)]),
    );
  return {
    containers: logContainers(logs),
    errors: gaps.map(gapDocument),
    complete: gaps.every(({isMinor}) => isMinor),
  };
}

/** A bundle that was written. */
export function showCollected(
  {file, bundle, interrupt, access}: CollectedBundle,
  {app, isJson, screen, say, exitWith}: CommandContext,
): CollectResult {
  const {bytes, containers, redactions, findings, gaps, withheld} = bundle;
  const serious = gaps.filter(({isMinor}) => !isMinor);
  const complete = serious.length === 0 && withheld.length === 0 && !interrupt.aborted;
  const incomplete =
    missingText(serious, screen) + withheldText(withheld, screen) + accessText(access, screen);
  say(bundleText({file, ...bundle}, screen) + accessText(access, screen), incomplete);
  if (!complete) exitWith(interrupt.aborted ? signalExitCode(interrupt) : ExitCode.incomplete);
  if (!isJson) app.stdout(`${file}\n`);
  return {
    file,
    bytes,
    containers,
    errors: gaps.map(gapDocument),
    withheld,
    redactions,
    findings,
    complete,
  };
}

type Release = BundledRelease & {values: Values | undefined};
type AccountFiles = {texts: TextFile[]; gaps: Gap[]};
type AccountContext = Pick<CommandContext, 'app' | 'version' | 'timeoutMs'>;

/** The agent pool of each release in its Scalr account: one file per release. */
export const accountFiles =
  (context: AccountContext) =>
  async (releases: readonly Release[], pods: readonly Pod[]): Promise<AccountFiles> => {
    // Pods of runs belong to a Job, or to nothing.
    const agents = pods.filter(({metadata}) =>
      /Set$/.test(metadata.ownerReferences?.[0]?.kind ?? ''),
    );
    const isOf = (pod: Pod, {name}: Release): boolean =>
      releases.length === 1 || helmReleaseOf(pod) === name;
    const read = accountFile(context);
    const all = await Promise.all(
      releases.map((each) => {
        const {name, chart, version, values} = each;
        const names = agents
          .filter((pod) => isOf(pod, each))
          .map(({metadata}) => String(metadata.name));
        return read({name, address: addressIn(values, `${chart}-${version}`), agents: names});
      }),
    );
    return {texts: all.flatMap(({texts}) => texts), gaps: all.flatMap(({gaps}) => gaps)};
  };

/** The agent pool of agents, if there is a token for exactly the host that they connect to. */
export const accountFile =
  (context: AccountContext) =>
  async ({name, address, agents: pods}: AgentsInAccount): Promise<AccountFiles> => {
    const file = `scalr/${name}.json`;
    const gaps: Gap[] = [];
    const readable = <T>(what: string, reading: Promise<T>): Promise<T | null> =>
      reading.catch(
        onFailure(({message}) => {
          gaps.push({what: `${file} (${what})`, error: {kind: 'server', message}, isMinor: true});
          return null;
        }),
      );
    if (address === undefined || !URL.canParse(address)) return {texts: [], gaps};
    const client = await readable(
      'Scalr account',
      optionalAccount(address, new Settings(new Map()), context),
    );
    if (!client) return {texts: [], gaps};
    const {host} = client;
    const id = await readable('agent pool', poolOfPods(client, pods));
    if (!id)
      return {
        texts: id === null ? [] : [{name: file, text: jsonText({host, pods, pool: null})}],
        gaps,
      };
    const [pool, agents, links] = await Promise.all([
      readable('agent pool', findPool(client, id)),
      readable('agents', listAgents(client, id)),
      readable('links', linksOf(client, {id, name: id})),
    ]);
    const queue =
      links === null ? null : await readable('run queue', queueOf(client, links.workspaces));
    return {texts: [{name: file, text: jsonText({host, pods, pool, agents, links, queue})}], gaps};
  };
