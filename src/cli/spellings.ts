import {usageError} from '../ground/errors.ts';

/** What a command line can contain: flags by name, as oclif declares them. */
export type KnownFlags = Readonly<
  Record<
    string,
    {type: 'boolean' | 'option'; char?: string; allowNo?: boolean; helpValue?: unknown} | undefined
  >
>;

interface Spelling {
  /** How Helm, kubectl or Terraform spell it. */
  typed: readonly string[];
  /** Our flags; the first one that the command has is meant. */
  flags: readonly string[];
}

/** Flags of other tools that can only mean one flag of ours. */
const TAKEN: readonly Spelling[] = [
  {typed: ['-f', '--values'], flags: ['values', 'values-file']},
  {typed: ['--version'], flags: ['chart-version']},
  {typed: ['--context'], flags: ['kube-context']},
  {typed: ['--atomic'], flags: ['rollback-on-failure']},
];

/** Flags of other tools that are similar to ours, but not the same. */
const SIMILAR: readonly Spelling[] = [
  {typed: ['--name', '--release-name'], flags: ['release']},
  {typed: ['--repo'], flags: ['chart-source']},
  {typed: ['--cluster'], flags: ['kube-context']},
  {typed: ['--set-string', '--set-json', '--set-file', '--set-literal'], flags: ['set']},
  {typed: ['--auto-approve', '--force', '--assume-yes'], flags: ['yes']},
  {typed: ['-v', '-V', '--v', '--debug'], flags: ['verbose']},
  {typed: ['--output', '--output-file', '--out-file'], flags: ['out', 'json']},
  {typed: ['-c'], flags: ['container']},
  {typed: ['-l', '--selector'], flags: ['release']},
  {typed: ['--tail', '--limit-bytes'], flags: ['max-size']},
  {typed: ['--follow'], flags: ['watch']},
  {typed: ['--node-pool', '--nodepool'], flags: ['node-selector']},
  {typed: ['--pvc', '--existing-claim'], flags: ['cache-claim']},
  {typed: ['--replicas', '--replica-count'], flags: ['concurrency']},
];

/** Flags of Helm that name what these commands always do. */
const NEEDLESS: Readonly<Record<string, string>> = {
  '--wait': 'Omit --wait: the command waits unless you add --no-wait',
  '--create-namespace': 'Omit --create-namespace: a missing namespace is created',
  '--install': 'Use the command install, which also updates an existing release',
  ...Object.fromEntries(
    ['--reset-values', '--reuse-values', '--reset-then-reuse-values'].map((flag) => [
      flag,
      `Omit ${flag}: install uses only your settings, upgrade migrates the installed values`,
    ]),
  ),
};

/** Flags of other tools that mean one of this command, without dashes. */
export const otherSpellings = (flags: KnownFlags): string[] =>
  [...TAKEN, ...SIMILAR].flatMap(({typed, flags: ours}) =>
    ours.some((each) => flags[each] !== undefined)
      ? typed.flatMap((each) => /^--(.+)/.exec(each)?.[1] ?? [])
      : [],
  );

/** The flag of this command that another tool spells differently, as a suggestion. */
export function similarFlag(typed: string, flags: KnownFlags): string | undefined {
  const spelling = [...TAKEN, ...SIMILAR].find((each) => each.typed.includes(typed));
  const flag = spelling?.flags.find((each) => flags[each] !== undefined);
  return flag === undefined ? NEEDLESS[typed] : `Did you mean --${flag}?`;
}

/**
 * The command line in our spelling. Flags of the command itself and values of flags stay as they are.
 * @throws ExpectedError for an output format where -o is the output file
 */
export function normalizeArgv(argv: readonly string[], flags: KnownFlags): string[] {
  const rest = [...argv];
  const translated: string[] = [];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') return [...translated, word, ...rest];
    // kubectl and Helm have a client-side and a server-side dry run.
    if (flags['dry-run'] !== undefined)
      word = word.replace(/^--dry-run=(client|server|true)$/, '--dry-run');
    const own = ownFlag(word, flags);
    const output = own === undefined || own.name === 'out' ? outputOf(word, rest[0]) : undefined;
    if (output !== undefined && isOutputFormat(output, flags, own !== undefined)) {
      translated.push('--json');
      rest.splice(0, output.words - 1);
    } else {
      translated.push(own === undefined ? (translatedFlag(word, flags) ?? word) : word);
      // The value of a flag can look like a flag.
      if (own?.takesValue && !word.includes('=')) translated.push(...rest.splice(0, 1));
    }
  }
  return translated;
}

function ownFlag(word: string, flags: KnownFlags): {name: string; takesValue: boolean} | undefined {
  const [, long, short] = /^(?:--([^=]+)|-([A-Za-z]))/.exec(word) ?? [];
  const name =
    long ?? Object.keys(flags).find((each) => short !== undefined && flags[each]?.char === short);
  const flag = name === undefined ? undefined : flags[name];
  if (name === undefined || flag === undefined) return undefined;
  return {name, takesValue: flag.type === 'option' && (long !== undefined || word.length === 2)};
}

function translatedFlag(word: string, flags: KnownFlags): string | undefined {
  const [, typed = '', value = ''] = /^(--[^=]+|-[A-Za-z])(.*)$/s.exec(word) ?? [];
  const flag = TAKEN.find((each) => each.typed.includes(typed))?.flags.find(
    (each) => flags[each] !== undefined,
  );
  return flag === undefined
    ? undefined
    : `--${flag}${value === '' ? '' : `=${value.replace(/^=/, '')}`}`;
}

interface Output {
  /** -o or --output */
  typed: string;
  value: string;
  /** How many words it has on the command line. */
  words: number;
}

function outputOf(word: string, next: string | undefined): Output | undefined {
  const [, typed, value] = /^(--output|-o)(?:=?(.+))?$/s.exec(word) ?? [];
  const text = value ?? next;
  if (typed === undefined || text === undefined) return undefined;
  return {typed, value: text, words: value === undefined ? 2 : 1};
}

/** Output formats of kubectl and Helm. A file with such a name is `./json`. */
const FORMATS = /^(json|yaml|table|wide|name)$/;

/** True for JSON. @throws ExpectedError for other formats, and where -o is the output file */
function isOutputFormat({typed, value}: Output, flags: KnownFlags, isFile: boolean): boolean {
  if (!FORMATS.test(value)) return false;
  if (isFile && typed === '-o') {
    throw usageError(
      `-o ${value}: -o is the output file (--out), and ${value} is an output format.`,
      ['Print one JSON document: --json', `Write a file with this name: --out ./${value}`],
    );
  }
  if (value === 'json') return true;
  throw usageError(`${typed} ${value} is not supported.`, [
    flags['format'] === undefined
      ? 'Print one JSON document: --json'
      : 'Select the output format with --format',
  ]);
}

/** --format json is the same as --json, even if the arguments cannot be parsed. */
export function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  return words.some(
    (word, index) =>
      word === '--format=json' || (word === '--format' && words[index + 1] === 'json'),
  );
}
