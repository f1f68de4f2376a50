import type {ChartName} from '../../charts/releases/chart-name.ts';
import {compare} from '../../charts/releases/versions.ts';
import {listReleases} from '../../cluster/helm/release-calls.ts';
import {contextsIn, type Kubeconfig} from '../../cluster/kubernetes/kubeconfig.ts';
import {allContexts, listNamespaces} from '../../cluster/kubernetes/kubectl.ts';
import type {Call} from '../../ground/call.ts';
import type {ClusterTarget} from '../../ground/command-line.ts';
import {groupsOf} from '../../ground/text.ts';
import {chart, namespace} from '../../settings/release.ts';
import type {BashWords, Flag, Line} from './line.ts';

/**
 * The format that the scripts in templates/completion parse. Installed scripts outlive program versions, so it must not change:
 * a line with the type (values, files, directories), a line with the part of the word before the completion, and a line per
 * value: the value, a tab, its description.
 */
export function reply(
  offer: Offer,
  {prefix, typed}: Line,
  {isFiltered}: {isFiltered: boolean},
): string {
  if (typeof offer === 'string') return `${offer}\n${prefix}\n`;
  const fitting = printable(offer).filter(({value}) => !isFiltered || value.startsWith(typed));
  return `values\n${prefix}\n${fitting.map(({value, description}) => `${value}\t${description}\n`).join('')}`;
}

/** Completion variables of bash. */
interface Asking {
  /** COMP_TYPE: 63 ("?") after a second Tab, 33 and 64 where the first one lists as well. */
  type: string;
  /** Width of the terminal, if known. */
  columns: number;
}

const LISTS = ['33', '63', '64'];

/**
 * For bash: options for compopt, the part of the word before a file, and the replacements of the word. bash does not support
 * descriptions; in a list, where nothing is inserted, they follow the values.
 */
export function bashReply(
  offer: Offer,
  {prefix, typed}: Line,
  {kept, quote}: BashWords,
  {type, columns}: Asking,
): string {
  if (typeof offer === 'string')
    return `-o ${offer === 'files' ? 'default' : 'dirnames'}\n${prefix.slice(kept.length)}\n`;
  const fitting = printable(offer).filter(({value}) => value.startsWith(typed));
  const texts = fitting.map(({value, description}) => ({
    value: inQuotes((prefix + value).slice(kept.length), quote),
    description,
  }));
  const isList = texts.length > 1 && LISTS.includes(type);
  return `-o nosort\n\n${(isList ? listed(texts, columns) : texts.map(({value}) => value)).map((text) => `${text}\n`).join('')}`;
}

function inQuotes(text: string, quote: string): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  return text.replace(quote === '"' ? /["$`\\]/g : /[^\w@%+=:,./-]/gu, '\\$&');
}

function listed(candidates: readonly Candidate[], columns: number): string[] {
  const width = Math.max(...candidates.map(({value}) => value.length));
  const left = columns - width - 5;
  return candidates.map(({value, description}) => {
    if (description === '' || left < 10) return value;
    return `${value.padEnd(width)}  (${description.length > left ? `${description.slice(0, left - 1)}…` : description})`;
  });
}

/** Names are untrusted: names with control characters are omitted. */
const printable = (candidates: readonly Candidate[]): Candidate[] =>
  candidates
    .filter(({value}) => !/\p{Cc}/u.test(value))
    .map(({value, description}) => ({value, description: description.replace(/\p{Cc}/gu, ' ')}));

/** Supported shells: the script in templates/completion, the command that loads it and the startup file. */
export const SHELLS = {
  bash: {
    file: 'scalr-agent.bash',
    load: 'source <(scalr-agent completion bash)',
    startup: '~/.bashrc',
  },
  zsh: {file: 'scalr-agent.zsh', load: 'source <(scalr-agent completion zsh)', startup: '~/.zshrc'},
  fish: {
    file: 'scalr-agent.fish',
    load: 'scalr-agent completion fish | source',
    startup: '~/.config/fish/config.fish',
  },
  powershell: {
    file: 'scalr-agent.ps1',
    load: 'scalr-agent completion powershell | Out-String | Invoke-Expression',
    startup: '$PROFILE',
  },
} as const;
export type Shell = keyof typeof SHELLS;

interface Candidate {
  value: string;
  description: string;
}

/** What can be completed at the cursor. Shells complete files and directories themselves. */
export type Offer = 'files' | 'directories' | readonly Candidate[];

/** A command of the manifest that the build writes. */
interface KnownCommand {
  summary?: string;
  hidden?: boolean;
  args?: Readonly<Record<string, {options?: readonly string[]; description?: string}>>;
}

export interface CompletionProgram {
  commands: Readonly<Record<string, KnownCommand>>;
  flagsOf(command: string): readonly Flag[];
  /** Values that are read from the cluster, the kubeconfig or the charts. */
  live(flag: LiveFlag, line: Line): Promise<readonly Candidate[]>;
}

/** Flags whose values are read from the cluster, the kubeconfig or the charts. */
const LIVE = [
  'namespace',
  'release',
  'kube-context',
  'contexts',
  'chart-version',
  'from',
  'to',
] as const;
type LiveFlag = (typeof LIVE)[number];

const HELP: Candidate = {value: '--help', description: 'Show help.'};
const VERSION: Candidate = {value: '--version', description: 'Show the version.'};
const HELP_COMMAND: Candidate = {value: 'help', description: 'Show help for a command.'};
/** Placeholders of values that are files on this machine. */
const FILES = ['<FILE>', '<PATH>', '<SOURCE>'];
/** Flags with a local directory; other directories are on nodes and in containers. */
const DIRECTORIES = ['save'];

export async function offerFor(
  line: Line,
  {commands, flagsOf, live}: CompletionProgram,
): Promise<Offer> {
  const {command, flag, typed, hasEnded} = line;
  const isFlag = typed.startsWith('-') && !hasEnded;
  if (command === undefined)
    return isFlag ? [HELP, VERSION] : [...commandsAmong(commands), HELP_COMMAND];
  if (command === 'help') return commandsAmong(commands);
  const known = commands[command];
  if (known === undefined) return isFlag ? [] : commandsAmong(commands, command);
  if (flag !== undefined) {
    const isLive = LIVE.find((name) => name === flag.name);
    return isLive === undefined ? valuesOf(flag, line) : live(isLive, line);
  }
  const [[name, argument] = []] = Object.entries(known.args ?? {});
  if (isFlag || (argument === undefined && !hasEnded))
    return [...flagsOf(command).flatMap((each) => spellings(each, line)), HELP];
  if (argument?.options === undefined) return name === 'file' ? 'files' : [];
  return argument.options.map((value) => ({value, description: ''}));
}

/** The words that can come next: commands, and topics with several of them. Nothing for an unknown topic. */
function commandsAmong(commands: CompletionProgram['commands'], topic?: string): Candidate[] {
  const start = topic === undefined ? '' : `${topic}:`;
  const ids = Object.entries(commands).filter(([id, {hidden}]) => !hidden && id.startsWith(start));
  const words = [...new Set(ids.map(([id]) => id.slice(start.length).split(':')[0] as string))];
  return words.map((value) => ({
    value,
    description:
      commands[start + value]?.summary ??
      `Commands: ${ids.flatMap(([id]) => (id.startsWith(`${start}${value}:`) ? [id.slice(start.length + value.length + 1).replaceAll(':', ' ')] : [])).join(', ')}`,
  }));
}

function valuesOf({name, helpValue = '', options, multiple}: Flag, {given}: Line): Offer {
  if (FILES.includes(helpValue)) return 'files';
  if (DIRECTORIES.includes(name)) return 'directories';
  const [, spelled] = /^<([^<>|]+(?:\|[^<>|]+)+)>$/.exec(helpValue) ?? [];
  return (options ?? spelled?.split('|') ?? [])
    .filter((value) => !multiple || !given.get(name)?.includes(value))
    .map((value) => ({value, description: ''}));
}

/** A flag that is already set is not offered again, unless it can be repeated. */
function spellings(
  {name, char, summary, description, allowNo, multiple, hidden}: Flag,
  {given, typed}: Line,
): Candidate[] {
  if (hidden || (given.has(name) && !multiple)) return [];
  const about = summary ?? description ?? '';
  return [
    {value: `--${name}`, description: about},
    ...(allowNo ? [{value: `--no-${name}`, description: `Set --${name} to false.`}] : []),
    ...(char !== undefined && /^-[^-]?$/.test(typed)
      ? [{value: `-${char}`, description: about}]
      : []),
  ];
}

/** The output of a tool, run from `path` if given; undefined on failure or timeout. */
export type Ask = (call: Call, path: string | undefined) => Promise<string | undefined>;
type Environment = Readonly<Record<string, string | undefined>>;

export function liveValues(
  ask: Ask,
  env: Environment,
): Readonly<Record<LiveFlag, (line: Line) => Promise<readonly Candidate[]>>> {
  const answer = (call: Call, line: Line) => ask(call, lastValue(line, call.tool));
  const contextsOf = async (line: Line): Promise<Candidate[]> => {
    const config = parsed<Kubeconfig>(await answer(allContexts(placeOf(line, env)), line));
    return contextsIn(config).map(({name, cluster}) => ({
      value: name,
      description: cluster ? `Cluster ${cluster}` : '',
    }));
  };
  return {
    namespace: async (line) => {
      const names = await answer(listNamespaces(placeOf(line, env)), line);
      return lines(names).map((name) => ({
        value: name.replace(/^namespace\//, ''),
        description: '',
      }));
    },
    'kube-context': contextsOf,
    contexts: contextsOf,
    release: async (line) => {
      const releases = parsed<Release[]>(
        await answer(listReleases(placeOf(line, env), {everywhere: false}), line),
      );
      return (releases ?? []).map(({name, chart: of, status}) => ({
        value: name,
        description: `${of}, ${status}`,
      }));
    },
    'chart-version': async (line) => versions(lastValue(line, chart.id) ?? env[chart.env]),
    from: chartVersions,
    to: chartVersions,
  };
}

interface Release {
  name: string;
  chart: string;
  status: string;
}

const lastValue = ({given}: Line, flag: string): string | undefined => given.get(flag)?.at(-1);

function placeOf(line: Line, env: Environment): ClusterTarget {
  const kubeContext = lastValue(line, 'kube-context');
  const kubeconfig = lastValue(line, 'kubeconfig');
  return {
    namespace:
      lastValue(line, namespace.id) ??
      env[namespace.env] ??
      (namespace.fallback?.(() => undefined) as string),
    ...(kubeContext ? {kubeContext} : {}),
    ...(kubeconfig ? {kubeconfig} : {}),
  };
}

const lines = (text = ''): string[] => text.split('\n').filter((line) => line !== '');

function parsed<T>(text: string | undefined): T | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as T);
  } catch {
    // Other programs can be installed as helm and kubectl.
    return undefined;
  }
}

/** The releases of all charts, the newest ones of each chart first. */
async function released(): Promise<{name: ChartName; version: string}[]> {
  const {releasesOf} = await import('../../charts/releases/target.ts');
  const names = (chart.kind.options ?? []) as readonly ChartName[];
  return names.flatMap((name) =>
    releasesOf(name)
      .map((version) => ({name, version}))
      .toReversed(),
  );
}

/** Newest first; of all charts if no chart is set. */
async function versions(desired: string | undefined): Promise<Candidate[]> {
  const fitting = (await released()).filter(({name}) => desired === undefined || name === desired);
  return groupsOf(fitting, ({version}) => version)
    .map((same) => ({value: same[0].version, description: same.map(({name}) => name).join(', ')}))
    .toSorted((one, other) => compare(other.value, one.value));
}

/** CHART@VERSION, newest first. */
const chartVersions = async (): Promise<Candidate[]> =>
  (await released()).map(({name, version}) => ({value: `${name}@${version}`, description: ''}));
