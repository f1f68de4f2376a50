import type {Flag, Line} from './line.ts';

export interface Candidate {
  value: string;
  description: string;
}

/** What can stand at the cursor. Files and directories a shell finds by itself. */
export type Offer = 'files' | 'directories' | readonly Candidate[];

/** A command as the build wrote it down. */
export interface Known {
  summary?: string;
  hidden?: boolean;
  args?: Readonly<Record<string, {options?: readonly string[]; description?: string}>>;
}

export interface Program {
  commands: Readonly<Record<string, Known>>;
  flagsOf(command: string): readonly Flag[];
  /** Values that somebody has to be asked for. */
  live(flag: LiveFlag, line: Line): Promise<readonly Candidate[]>;
}

/** Their values only the cluster, the kubeconfig or the charts know. */
const LIVE = ['namespace', 'release', 'kube-context', 'chart-version'] as const;
export type LiveFlag = (typeof LIVE)[number];

const HELP: Candidate = {value: '--help', description: 'Say what can be done.'};
const VERSION: Candidate = {value: '--version', description: 'Say which version this is.'};
/** What help writes for a value that is a file of this machine. */
const FILES = ['<FILE>', '<PATH>', '<SOURCE>'];
/** Other directories are those of nodes and containers. */
const DIRECTORIES = ['save'];

export async function offerFor(line: Line, {commands, flagsOf, live}: Program): Promise<Offer> {
  const {command, flag, typed, hasEnded} = line;
  const isFlag = typed.startsWith('-') && !hasEnded;
  if (command === undefined) return isFlag ? [HELP, VERSION] : commandsAmong(commands);
  const known = commands[command];
  if (known === undefined) return [];
  if (flag !== undefined) {
    const isLive = LIVE.find((name) => name === flag.name);
    return isLive === undefined ? valuesOf(flag, line) : live(isLive, line);
  }
  const [argument] = Object.values(known.args ?? {});
  if (isFlag || (argument === undefined && !hasEnded)) return [...flagsOf(command).flatMap((each) => spellings(each, line)), HELP];
  if (argument?.options === undefined) return argument === undefined ? [] : 'files';
  return argument.options.map((value) => ({value, description: ''}));
}

const commandsAmong = (commands: Program['commands']): Candidate[] =>
  Object.entries(commands)
    .filter(([, {hidden}]) => !hidden)
    .map(([value, {summary = ''}]) => ({value, description: summary}));

function valuesOf({name, helpValue = '', options, multiple}: Flag, {given}: Line): Offer {
  if (FILES.includes(helpValue)) return 'files';
  if (DIRECTORIES.includes(name)) return 'directories';
  const [, spelled] = /^<([^<>|]+(?:\|[^<>|]+)+)>$/.exec(helpValue) ?? [];
  return (options ?? spelled?.split('|') ?? [])
    .filter((value) => !multiple || !given.get(name)?.includes(value))
    .map((value) => ({value, description: ''}));
}

/** A flag that is there already is not offered again, unless it may be repeated. */
function spellings({name, char, summary, description, allowNo, multiple, hidden}: Flag, {given, typed}: Line): Candidate[] {
  if (hidden || (given.has(name) && !multiple)) return [];
  const about = summary ?? description ?? '';
  return [
    {value: `--${name}`, description: about},
    ...(allowNo ? [{value: `--no-${name}`, description: `The opposite of --${name}.`}] : []),
    ...(char !== undefined && /^-[^-]?$/.test(typed) ? [{value: `-${char}`, description: about}] : []),
  ];
}
