import * as Flags from '@oclif/core/flags';
import {ExitCode, ExpectedError} from '../errors.ts';
import {bytes, milliOf} from '../settings/quantity.ts';
import {namespace, release} from '../settings/release.ts';
import type {Since} from '../support-bundle/collect/log-items.ts';
import {SMALLEST_SHARE} from '../support-bundle/collect/retain.ts';
import {type ClusterFlags, durationOf, settingFlags, timeoutOf} from './flags.ts';

/** No log is cut to less, so that less for all of them could not be kept to. */
const MIN_SIZE = `${SMALLEST_SHARE / 1024}Ki`;

export const collectLogsFlags = {
  since: Flags.string({summary: 'Age of the oldest logs, for example 2h (default: 24h).', helpValue: '<DURATION>'}),
  'since-time': Flags.string({
    summary: 'Time of the oldest logs, for example 2026-11-21T08:00:00Z.',
    helpValue: '<TIME>',
    exclusive: ['since'],
  }),
  run: Flags.string({summary: 'Collect only the run with this ID.', helpValue: '<RUN-ID>'}),
  container: Flags.string({summary: 'Collect only logs of containers with this name.', helpValue: '<NAME>'}),
  'max-size': Flags.string({
    summary: `Maximum total size of logs, at least ${MIN_SIZE}; each log keeps at least ${MIN_SIZE} (default: 100Mi).`,
    helpValue: '<SIZE>',
  }),
  'no-secret-seeds': Flags.boolean({summary: 'Do not read Secrets; their values are then not searched for in the bundle.'}),
  out: Flags.string({
    char: 'o',
    summary: 'Output file (default: scalr-agent-<NAMESPACE>-<TIME>.zip).',
    helpValue: '<FILE>',
  }),
  watch: Flags.boolean({
    summary: 'Follow the agent and its runs until Ctrl-C, the end of --run or the end of --for, then write the bundle.',
  }),
  for: Flags.string({summary: 'Duration of --watch (default: 20m).', helpValue: '<DURATION>', dependsOn: ['watch']}),
  docker: Flags.string({
    summary: 'Collect from a Docker container on this machine instead of a cluster.',
    helpValue: '<CONTAINER>',
  }),
  journal: Flags.boolean({
    summary: 'Collect from the systemd service scalr-agent on this machine instead of a cluster.',
  }),
  inspect: Flags.string({
    summary: 'Verify a bundle and print its summary; needs no cluster. Exit code 3 means that the bundle was damaged or changed.',
    helpValue: '<FILE>',
  }),
  ...settingFlags([namespace, release]),
};

/** Flags that only a cluster understands. */
const OF_CLUSTER = ['run', 'container', 'no-secret-seeds', 'namespace', 'release', 'kube-context', 'kubeconfig', 'watch'] as const;
const NAMES = ['run', 'container', 'docker', 'inspect', 'out'] as const;
const OF_COLLECTING = ['since', 'since-time', 'max-size', 'out', 'dry-run'] as const;

/** Where a bundle comes from. @throws ExpectedError for flags of another place */
export function sourceOf(flags: {
  docker?: string | undefined;
  journal?: boolean;
  inspect?: string | undefined;
}): 'inspect' | 'host' | 'cluster' {
  refuseNothing(flags);
  const {inspect, docker, journal} = flags;
  if (inspect !== undefined) refuseWith('inspect', [...OF_CLUSTER, ...OF_COLLECTING, 'docker', 'journal'], flags);
  if (docker !== undefined) refuseWith('docker', [...OF_CLUSTER, 'journal'], flags);
  if (journal) refuseWith('journal', OF_CLUSTER, flags);
  return inspect !== undefined ? 'inspect' : docker !== undefined || journal ? 'host' : 'cluster';
}

/** As where a variable of a script is empty. @throws ExpectedError */
function refuseNothing(flags: Readonly<Record<string, unknown>>): void {
  const flag = NAMES.find((name) => flags[name] === '');
  if (flag === undefined) return;
  throw new ExpectedError(`--${flag} names nothing.`, {
    code: 'INVALID_SETTING',
    exit: ExitCode.usage,
    suggestions: ['Give it a value, or leave it out'],
  });
}

interface CollectFlags extends ClusterFlags {
  since?: string | undefined;
  'since-time'?: string | undefined;
  'max-size'?: string | undefined;
  out?: string | undefined;
  'dry-run'?: boolean | undefined;
}

/** In seconds; what is older is asked for with --since-time. */
const LONGEST_AGO = 30 * 86_400;

/** Options that every source has. @throws ExpectedError */
export const collectOptions = (flags: CollectFlags) => ({
  since: since(flags['since-time'], durationOf('--since', flags.since ?? '24h', {max: LONGEST_AGO}) / 1000),
  maxBytes: byteCount('--max-size', flags['max-size'] ?? '100Mi'),
  out: flags.out,
  isDryRun: flags['dry-run'] ?? false,
  timeoutMs: timeoutOf(flags),
});

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

const AS_TIME = 'Write it like 2026-11-21T08:00:00Z';

/** From when on logs are read: a time, or so many seconds ago. @throws ExpectedError */
export function since(time: string | undefined, seconds: number): Since {
  if (time === undefined) return {seconds};
  const [date] = /^\d{4}-\d\d-\d\d(?=T\d\d:\d\d)/.exec(time) ?? [];
  if (date !== undefined && !isDay(date)) throw wrong(`--since-time ${time}: there is no day ${date}.`, AS_TIME);
  if (date !== undefined && !Number.isNaN(Date.parse(time))) return {time: new Date(time).toISOString()};
  throw wrong(`--since-time ${time} is no time.`, AS_TIME);
}

/** JavaScript takes the 30th of February for the 2nd of March. */
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
    throw wrong(`${flag} ${text}: ${(error as Error).message}.`, 'Write it like 100Mi');
  }
  if (count < SMALLEST_SHARE) throw wrong(`${flag} ${text} is less than the minimum of ${MIN_SIZE}.`, `Use ${flag} ${MIN_SIZE} or more`);
  return count;
}

const wrong = (message: string, suggestion: string): ExpectedError =>
  new ExpectedError(message, {code: 'INVALID_SETTING', exit: ExitCode.usage, suggestions: [suggestion]});
