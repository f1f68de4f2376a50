import {join} from 'node:path';
import type {DesiredRelease, DesiredSecret} from '../cluster/release/desired-release.ts';
import {chartFlags, chartName, targetFlags} from '../ground/call-arguments.ts';
import {type ClusterTarget, commandLine, kubectlCommand} from '../ground/command-line.ts';
import {token, tokenFile, tokenSecret} from '../settings/agent.ts';
import type {Setting} from '../settings/define.ts';
import {httpsProxy, noProxy} from '../settings/network.ts';
import {flagsOf, holdsSecret, quote} from '../settings/settings.ts';
import {caFile, clientCertFile, clientKeyFile} from '../settings/tls.ts';
import {commandOf, type Entry, type PrintOptions} from './review.ts';
import {type Screen, theme} from './theme.ts';

/** The agent pool that gives the token. */
export interface PrintedPool {
  name: string;
  url: string;
  isNew: boolean;
  isForVcs: boolean;
}

type HelmCommands = Pick<DesiredRelease, 'name' | 'chart' | 'secrets'> &
  PrintOptions & {pool?: PrintedPool | undefined};

/** Commands for Helm alone, for example on another machine. They can be repeated. */
export function helmCommandsText(given: HelmCommands, screen: Screen): string {
  const {name, chart, secrets, entries, target, program, directory = ''} = given;
  const {kubeTarget} = name;
  const namespace = ['create', 'namespace', kubeTarget.namespace];
  const values = commandOf(`${program.other} values`, [], entries, target).trimEnd();
  const lines = [
    ...(directory === '' ? [`${values} > values.yaml`] : []),
    applied(kubeTarget, kubectlCommand(kubeTarget, ...namespace, ...DRY_RUN)),
    ...secrets.flatMap((secret) => secretCommands(secret, given)),
    helmText(name, chart, join(directory, 'values.yaml')),
  ];
  return `${theme(screen).bold('With Helm only:')}\n${lines.join('\n')}\n`;
}

const DRY_RUN = ['--dry-run=client', '--output=yaml'];

/** The command as users of Helm type it, with one flag per line. */
function helmText(
  {release, kubeTarget}: DesiredRelease['name'],
  chart: DesiredRelease['chart'],
  path: string,
): string {
  const flags = [...chartFlags(chart), ...targetFlags(kubeTarget, '--kube-context')];
  return [
    commandLine({tool: 'helm', args: ['upgrade', '--install', release, chartName(chart)]}),
    ...flags.map((each) => each.map(quote).join(' ')),
    `--values ${quote(path)}`,
  ].join(' \\\n  ');
}

/** Applies what a dry run prints, so that the command can be repeated. */
const applied = (kubeTarget: ClusterTarget, command: string): string =>
  `${command} |\n  ${kubectlCommand(kubeTarget, 'apply', '--namespace', kubeTarget.namespace, '--filename', '-')}`;

/** Creates the Secret, or says that it must exist. */
function secretCommands(secret: DesiredSecret, given: HelmCommands): string[] {
  const {kubeTarget} = given.name;
  const {name, type, data} = secret;
  const isGiven = Object.values(data).every((each) => each !== undefined);
  if (isGiven && type === 'kubernetes.io/tls')
    return [certificateCommand(secret, given), ...marksOf(secret, kubeTarget)];
  const source = isGiven ? sourceOfToken(given) : tokenOfPool(secret, given);
  if (source === undefined) {
    const keys = Object.keys(data).join(' and ');
    return [`# Secret ${name} with ${keys} must exist in namespace ${kubeTarget.namespace}`];
  }
  const files = Object.keys(data).map((key) => `--from-file=${key}=/dev/stdin`);
  const where = ['--namespace', kubeTarget.namespace];
  const create = ['create', 'secret', 'generic', name, ...files, ...where, ...DRY_RUN];
  return [
    ...source.before,
    applied(kubeTarget, `${source.text} | ${kubectlCommand(kubeTarget, ...create)}`),
    ...marksOf(secret, kubeTarget),
  ];
}

/** Commands that write the token to standard output; it is never an argument. Without a token, none of the commands after them runs. */
interface TokenSource {
  before: readonly string[];
  text: string;
}

function sourceOfToken({entries, directory}: HelmCommands): TokenSource {
  const path = pathOf(tokenFile, entries);
  if (path !== undefined)
    return {before: [], text: `test -s ${quote(path)} && tr -d '\\r\\n' < ${quote(path)}`};
  return {
    // Otherwise the command for values.yaml says it.
    before: directory === undefined ? [] : [`# Requires the environment variable ${token.env}`],
    text: `: "\${${token.env}:?}" && printf %s "$${token.env}"`,
  };
}

/** Undefined if the user has an own Secret. */
function tokenOfPool(
  {setting}: DesiredSecret,
  {pool, program, entries}: HelmCommands,
): TokenSource | undefined {
  if (pool === undefined || setting !== tokenSecret) return undefined;
  const {name, url, isNew, isForVcs} = pool;
  const account = [`--url ${quote(url)}`, ...flagsOfAccount(entries), '--yes'].join(' ');
  const create = `${program.other} pool create ${quote(name)}${isForVcs ? ' --vcs' : ''} ${account}`;
  return {
    before: [
      `# Requires your Scalr API token. Each run creates another token in agent pool ${name}`,
      ...(isNew ? [create] : []),
    ],
    text: `token=$(${program.other} pool token create ${quote(name)} ${account}) &&\n  printf %s "$token"`,
  };
}

/** How the account was reached. */
const flagsOfAccount = (entries: readonly Entry[]): string[] =>
  entries
    .filter(
      ({setting, answer}) =>
        OF_ACCOUNT.includes(setting) && answer.source === 'flag' && !holdsSecret(setting, answer),
    )
    .flatMap(({setting, answer}) => flagsOf(setting, answer));

const OF_ACCOUNT: readonly Setting[] = [caFile, httpsProxy, noProxy];

/** Reads the files that were given. */
function certificateCommand({name}: DesiredSecret, {entries, name: release}: HelmCommands): string {
  const {kubeTarget} = release;
  const files = [
    `--cert=${pathOf(clientCertFile, entries) ?? 'tls.crt'}`,
    `--key=${pathOf(clientKeyFile, entries) ?? 'tls.key'}`,
  ];
  const where = ['--namespace', kubeTarget.namespace];
  const create = ['create', 'secret', 'tls', name, ...files, ...where, ...DRY_RUN];
  return applied(kubeTarget, kubectlCommand(kubeTarget, ...create));
}

/** The path that was typed; undefined for standard input. */
function pathOf(setting: Setting, entries: readonly Entry[]): string | undefined {
  const path = entries.find((each) => each.setting === setting)?.answer.given;
  return path === '-' ? undefined : path;
}

/** Labels and annotations of a Secret. */
function marksOf({name, metadata}: DesiredSecret, kubeTarget: ClusterTarget): string[] {
  const where = ['--overwrite', '--namespace', kubeTarget.namespace];
  const labels = assignmentsOf(metadata?.labels);
  const annotations = assignmentsOf(metadata?.annotations);
  const label = kubectlCommand(kubeTarget, 'label', 'secret', name, ...labels, ...where);
  const annotate = kubectlCommand(kubeTarget, 'annotate', 'secret', name, ...annotations, ...where);
  return [...(labels.length > 0 ? [label] : []), ...(annotations.length > 0 ? [annotate] : [])];
}

const assignmentsOf = (pairs: object = {}): string[] =>
  Object.entries(pairs).map(([key, value]) => `${key}=${value}`);
