import type {Interfaces} from '@oclif/core';
import {hostTools} from '../adapters/host-tools.ts';
import {nodeCharts} from '../adapters/node-charts.ts';
import {nodeFiles} from '../adapters/node-files.ts';
import {takeInterrupts} from '../adapters/node-interrupts.ts';
import {nodeProcesses, type ToolPaths} from '../adapters/node-processes.ts';
import {discoverCluster} from '../answers/discover-cluster.ts';
import {fromCluster, unreadFacts} from '../answers/from-cluster.ts';
import type {Environment, Source} from '../answers/sources.ts';
import {scalrChart} from '../charts/define.ts';
import type {ClusterTarget, ReleaseName} from '../ground/command-line.ts';
import {ExitCode, ExpectedError, type Warning} from '../ground/errors.ts';
import {isKnown} from '../ground/fact.ts';
import {sleep} from '../ground/signals.ts';
import {tryCluster} from '../ground/tool-errors.ts';
import type {KubernetesClient} from '../kubernetes/client.ts';
import type {ClusterAccess} from '../kubernetes/cluster-access.ts';
import {clusterFactsOf, recommendFactsOf} from '../platform/cluster-facts.ts';
import {readCluster} from '../platform/read-cluster.ts';
import type {Archives} from '../ports/archive.ts';
import type {Charts} from '../ports/charts.ts';
import type {Files} from '../ports/files.ts';
import type {HostTools} from '../ports/host-tools.ts';
import type {Interrupts} from '../ports/interrupts.ts';
import type {Processes} from '../ports/processes.ts';
import type {Prompter} from '../ports/prompter.ts';
import type {Registries} from '../ports/registries.ts';
import {releaseState} from '../release/read-release.ts';
import type {ReleaseState} from '../release/release-state.ts';
import {tokenSecret, tokenSecretKey} from '../settings/agent.ts';
import {cloud, nodeOs} from '../settings/cluster.ts';
import type {Setting} from '../settings/define.ts';
import {httpProxy, httpsProxy, noProxy} from '../settings/network.ts';
import {chart, namespace, release} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {clientCertFile, clientCertSecret, clientKeyFile} from '../settings/tls.ts';
import {inquirerPrompter} from '../ui/inquirer-prompter.ts';
import {linePrompter} from '../ui/line-prompter.ts';
import type {Origin} from '../ui/messages.ts';
import type {Screen} from '../ui/theme.ts';
import {isAsciiOnly, legible} from '../ui/theme.ts';

/** External dependencies of a command; tests replace them. */
export interface App {
  env: Environment;
  files: Files;
  charts: Charts;
  /** Prompts on this screen; the signal cancels them. */
  prompter: (screen: Screen, signal?: AbortSignal) => Prompter;
  /** helm and kubectl, with their paths if they are not on PATH. */
  processes: (paths: ToolPaths) => Processes;
  /** The API server, through kubectl at these paths. */
  kubernetes: (place: ClusterTarget, paths: ToolPaths) => Promise<KubernetesClient>;
  /** docker and systemd of this machine. */
  host: HostTools;
  /** Image registries, asked from this machine. */
  registries: Registries;
  archives: Archives;
  takeInterrupts: () => Interrupts;
  now: () => Date;
  /** Waits until the time is over or the signal is aborted. */
  sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Prompts are possible: input and output are terminals, and CI is not set. */
  hasTerminal: boolean;
  /** Standard error, which shows prompts and messages. */
  screen: Screen;
  /** Standard output, which shows results. */
  resultScreen: Screen;
  stdout: (text: string) => void;
  stderr: (text: string) => void;
  /** Sets the exit code of the process. */
  exit: (code: number) => void;
}

const screenOf = (stream: NodeJS.WriteStream): Screen => ({
  hasColor: stream.isTTY === true && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb',
  // The current width.
  get columns() {
    return stream.isTTY === true ? stream.columns : undefined;
  },
  isAscii: isAsciiOnly(process.env, stream.isTTY === true),
});

export function nodeApp(): App {
  const errorScreen = screenOf(process.stderr);
  return {
    env: process.env,
    files: nodeFiles,
    charts: nodeCharts(nodeFiles),
    prompter: (screen, signal) => {
      const streams = {input: process.stdin, output: process.stderr, ...(signal ? {signal} : {})};
      return process.env['TERM'] === 'dumb' ? linePrompter(screen, streams) : inquirerPrompter(screen, streams);
    },
    processes: nodeProcesses,
    kubernetes: async (...where) => (await import('../kubernetes/connect.ts')).kubernetesClient(...where),
    host: hostTools,
    registries: {manifest: async (...about) => (await import('../adapters/registries.ts')).registries.manifest(...about)},
    archives: {
      async create(path) {
        const {zipArchives} = await import('../adapters/zip-archive.ts');
        return zipArchives.create(path);
      },
      open: async (path) => (await import('../adapters/zip-archive.ts')).zipArchives.open(path),
    },
    takeInterrupts,
    now: () => new Date(),
    sleep,
    hasTerminal: process.stdin.isTTY === true && process.stderr.isTTY === true && !process.env['CI'],
    screen: errorScreen,
    resultScreen: screenOf(process.stdout),
    stdout: (text) => process.stdout.write(text),
    stderr: (text) => process.stderr.write(legible(text, errorScreen)),
    exit: (code) => {
      process.exitCode = code;
    },
  };
}

export {releaseName, toolPaths} from './flags.ts';

/** Facts of the cluster, as answers and for the chart recommendation. */
export interface Cluster {
  answers: Source;
  facts: ReturnType<typeof recommendFactsOf>;
  /** Requested facts that could not be read, as warnings. */
  unread?(settings: Settings): Warning[];
}

/** Settings that decide what is read from the cluster. */
export const ANSWERED_BY_CLUSTER = [
  ...[namespace, release, chart, cloud, nodeOs, httpProxy, httpsProxy, noProxy],
  ...[tokenSecret, tokenSecretKey, clientCertFile, clientKeyFile, clientCertSecret],
];

/** Values of unset settings from the cluster and the release; undefined if the cluster is unreachable. */
export async function openAnswers(name: ReleaseName, given: Settings, access: ClusterAccess): Promise<Cluster | undefined> {
  const hasProxy = given.isExplicit(httpProxy) || given.isExplicit(httpsProxy);
  const open = [chart, cloud, nodeOs, ...(hasProxy ? [noProxy] : [])].filter((setting) => !given.isExplicit(setting));
  const [{answers, facts}, installed] = await Promise.all([
    open.length === 0 ? {answers: {name: 'cluster', answer: () => undefined} as const, facts: {}} : discoverCluster(name.place, access),
    releaseState(name, access).catch(() => undefined),
  ]);
  return answers && {answers: await withInstalled(answers, name, given, installed), facts};
}

/** The chart of an installed release takes precedence over the recommendation, and the release keeps its Secrets. */
async function withInstalled(
  answers: Source,
  {release: releaseName}: ReleaseName,
  given: Settings,
  installed: ReleaseState | undefined,
): Promise<Source> {
  const found = scalrChart(installed?.chart ?? '');
  if (installed === undefined || found === undefined || installed.status === 'uninstalled') return answers;
  const {installedSettings} = await import('../release/installed-settings.ts');
  const written = installedSettings(installed, found);
  const kept: readonly Setting[] = [
    ...(given.isExplicit(tokenSecret) ? [] : [tokenSecret, tokenSecretKey]),
    ...(given.isExplicit(clientCertFile) ? [clientCertSecret] : []),
  ];
  // Answers that are the default need no mention.
  const ofRelease = new Map<Setting, unknown>([
    [chart, found.chart],
    ...kept.map((setting) => [setting, written.get(setting.id)] as const).filter(([setting, value]) => value !== given.get(setting)),
  ]);
  return {
    name: 'cluster',
    answer: (setting) => ofRelease.get(setting) ?? answers.answer(setting),
    because: (setting) => (ofRelease.get(setting) === undefined ? answers.because?.(setting) : `release ${releaseName}`),
  };
}

/** @throws ExpectedError if the cluster is unreachable */
export async function clusterAt(place: ClusterTarget, access: ClusterAccess): Promise<Cluster> {
  const facts = clusterFactsOf(await readCluster(place, access));
  const {server} = facts.versions;
  if (isKnown(server) || server.unknown === 'forbidden')
    return {answers: fromCluster(facts), facts: recommendFactsOf(facts), unread: (settings) => unreadFacts(facts, settings)};
  throw new ExpectedError(`Cannot read settings from the cluster: ${server.because}`, {
    code: 'CLUSTER_UNREACHABLE',
    exit: ExitCode.failed,
    suggestions: [tryCluster(place), 'Run the command without --from-cluster'],
  });
}

interface Addresses {
  repository: {url: string};
  bugs: {url: string};
}

/** The addresses of package.json as URLs for a browser. */
export function originOf(pjson: Interfaces.PJSON): Origin {
  const {repository, bugs} = pjson as unknown as Addresses;
  return {version: pjson.version, repository: repository.url.replace(/^git\+|\.git$/g, ''), bugs: bugs.url};
}
