/** A flag of the manifest that the build writes. */
export interface Flag {
  name: string;
  type: 'boolean' | 'option';
  char?: string;
  summary?: string;
  description?: string;
  helpValue?: string;
  options?: readonly string[];
  multiple?: boolean;
  delimiter?: string;
  allowNo?: boolean;
  hidden?: boolean;
}

/** The parsed command line up to the cursor. */
export interface Line {
  command: string | undefined;
  /** Every flag on the line, with its values. */
  given: ReadonlyMap<string, readonly string[]>;
  /** The flag whose value is being typed. */
  flag: Flag | undefined;
  /** The part of the word before that value: --cache= or secrets, */
  prefix: string;
  /** The part of the word to complete. */
  typed: string;
  /** True after --, where words are never flags. */
  hasEnded: boolean;
}

/** Joins the words of a command in a topic: `pool token list` becomes pool:token:list. The last word is at the cursor. */
export function withTopics(
  words: readonly string[],
  commands: readonly string[],
): readonly string[] {
  const [topic, next, ...rest] = words;
  return next !== undefined &&
    rest.length > 0 &&
    commands.some((each) => each.startsWith(`${topic}:`))
    ? withTopics([`${topic}:${next}`, ...rest], commands)
    : words;
}

/** Parses words without the program name; the last word, which may be empty, is at the cursor. */
export function readLine(
  words: readonly string[],
  flagsOf: (command: string) => readonly Flag[],
): Line {
  const typed = words.at(-1) ?? '';
  const [command, ...before] = words.slice(0, -1);
  const flags = command === undefined ? [] : flagsOf(command);
  const given = new Map<string, string[]>();
  let pending: Flag | undefined;
  let hasEnded = false;
  for (const word of before) {
    if (pending !== undefined) {
      note(given, pending, word);
      pending = undefined;
    } else if (word === '--') hasEnded = true;
    else if (!hasEnded) pending = noteFlags(given, word, flags);
  }
  const line = {command, given, hasEnded};
  const at =
    pending === undefined
      ? valueIn(hasEnded ? '' : typed, flags)
      : {flag: pending, prefix: '', value: typed};
  if (at === undefined) return {...line, flag: undefined, prefix: '', typed};
  const {flag, value} = at;
  const comma = flag.delimiter === undefined ? 0 : value.lastIndexOf(flag.delimiter) + 1;
  if (comma > 0) note(given, flag, value.slice(0, comma - 1));
  return {...line, flag, prefix: at.prefix + value.slice(0, comma), typed: value.slice(comma)};
}

function note(given: Map<string, string[]>, {name, delimiter}: Flag, value?: string): void {
  const earlier = given.get(name) ?? [];
  if (value === undefined) given.set(name, earlier);
  else {
    const values = delimiter === undefined ? [value] : value.split(delimiter);
    given.set(name, [...earlier, ...values]);
  }
}

/** Records the flags of a word; returns the flag that expects a value in the next word. */
function noteFlags(
  given: Map<string, string[]>,
  word: string,
  flags: readonly Flag[],
): Flag | undefined {
  const inWord = valueIn(word, flags);
  if (inWord !== undefined) {
    note(given, inWord.flag, inWord.value);
    return undefined;
  }
  const named = word.startsWith('--')
    ? flags.filter(
        ({name, allowNo}) => word === `--${name}` || (allowNo && word === `--no-${name}`),
      )
    : flags.filter(({char}) => char !== undefined && word.startsWith('-') && word.includes(char));
  for (const flag of named) if (flag.type === 'boolean') note(given, flag);
  return named.find(({type}) => type === 'option');
}

/** A word that contains flag and value: --namespace=scalr, -n=scalr or -nscalr. */
function valueIn(
  word: string,
  flags: readonly Flag[],
): {flag: Flag; prefix: string; value: string} | undefined {
  const [, prefix = '', name, value = ''] = /^(--([^=]+)=)(.*)$/s.exec(word) ?? [];
  const [, short = '', char, rest = ''] = /^(-([A-Za-z])=?)(.+)$/s.exec(word) ?? [];
  const flag = flags.find(
    (each) =>
      each.type === 'option' &&
      (name === undefined ? each.char === char && char !== undefined : each.name === name),
  );
  if (flag === undefined) return undefined;
  return name === undefined ? {flag, prefix: short, value: rest} : {flag, prefix, value};
}

/** Words of a line up to the cursor, split as bash does. */
export interface BashWords {
  /** Without quotes; the last word, which may be empty, is at the cursor. */
  words: readonly string[];
  /** The open quote in the last word. */
  quote: string;
  /** The unquoted part of the last word before the part that bash replaces. */
  kept: string;
  /** The last word is the file of a redirection. */
  isRedirected: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** In order of precedence: a quoted string, a variable, an escaped character, a plain character. */
const PIECES =
  /'([^']*)('?)|"((?:[^"\\]|\\.)*)("?)|\\(.?)|(\$\w+|\$\{\w+\})|([<>&|]+)|(\s+)|(\$\([^)]*\)?|`[^`]*`?|.)/gsu;

interface Word {
  text: string;
  isRedirected: boolean;
}

/**
 * Commands in the line are not run. `replaced` is the end of the line that bash would replace: bash also splits words at
 * = and :.
 */
export function bashWords(line: string, replaced: string, env: Environment): BashWords {
  const {words, quote} = split(line, env);
  const kept = split(line.slice(0, line.length - replaced.length), env).words.at(-1) as Word;
  const last = words.at(-1) as Word;
  return {
    words: words.filter((word) => word === last || !word.isRedirected).map(({text}) => text),
    quote,
    kept: kept.text,
    isRedirected: last.isRedirected,
  };
}

function split(line: string, env: Environment): {words: Word[]; quote: string} {
  const words: Word[] = [];
  let word: Word | undefined;
  let quote = '';
  let isRedirected = false;
  const add = (text: string): void => {
    word ??= {text: '', isRedirected};
    word.text += text;
  };
  const end = (): void => {
    if (word === undefined) return;
    words.push(word);
    isRedirected = false;
    word = undefined;
  };
  for (const match of line.matchAll(PIECES)) {
    const [, single, singleEnd, double, doubleEnd, escaped, variable, operator, blank, plain] =
      match;
    quote = '';
    if (singleEnd === '') quote = "'";
    else if (doubleEnd === '') quote = '"';
    if (single !== undefined) add(single);
    else if (double !== undefined) add(expanded(double, env));
    else if (escaped !== undefined) add(escaped);
    else if (variable !== undefined) add(expanded(variable, env));
    else if (operator !== undefined) {
      // The number in 2>file.
      if (/^\d+$/.test(word?.text ?? '')) word = undefined;
      end();
      isRedirected = true;
    } else if (blank !== undefined) end();
    else if (plain === '~' && word === undefined && /^(\/|\s|$)/.test(line.slice(match.index + 1)))
      add(env['HOME'] ?? '~');
    else add(plain as string);
  }
  return {words: [...words, word ?? {text: '', isRedirected}], quote};
}

const expanded = (text: string, env: Environment): string =>
  text.replace(
    /\\([$`"\\\n])|\$(\w+)|\$\{(\w+)\}/g,
    (_, escaped?: string, name?: string, braced?: string) =>
      escaped ?? env[name ?? (braced as string)] ?? '',
  );
