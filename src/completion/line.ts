/** A flag as the build wrote it down. */
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

/** What stands on the line before the cursor, and what the cursor is at. */
export interface Line {
  command: string | undefined;
  /** Every flag that is there, with its values. */
  given: ReadonlyMap<string, readonly string[]>;
  /** The flag whose value is being written. */
  flag: Flag | undefined;
  /** What of the word stands before that value: --cache= or claims, */
  prefix: string;
  /** What of the word is to be completed. */
  typed: string;
  /** After -- nothing is a flag. */
  hasEnded: boolean;
}

/** Reads words without the name of the program; the last one, which may be empty, is the one at the cursor. */
export function readLine(words: readonly string[], flagsOf: (command: string) => readonly Flag[]): Line {
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
  const at = pending === undefined ? valueIn(hasEnded ? '' : typed, flags) : {flag: pending, prefix: '', value: typed};
  if (at === undefined) return {...line, flag: undefined, prefix: '', typed};
  const {flag, value} = at;
  const comma = flag.delimiter === undefined ? 0 : value.lastIndexOf(flag.delimiter) + 1;
  if (comma > 0) note(given, flag, value.slice(0, comma - 1));
  return {...line, flag, prefix: at.prefix + value.slice(0, comma), typed: value.slice(comma)};
}

function note(given: Map<string, string[]>, {name, delimiter}: Flag, value?: string): void {
  const values = value === undefined ? [] : delimiter === undefined ? [value] : value.split(delimiter);
  given.set(name, [...(given.get(name) ?? []), ...values]);
}

/** Notes the flags of a word; the one that still waits for its value. */
function noteFlags(given: Map<string, string[]>, word: string, flags: readonly Flag[]): Flag | undefined {
  const inWord = valueIn(word, flags);
  if (inWord !== undefined) {
    note(given, inWord.flag, inWord.value);
    return undefined;
  }
  const named = word.startsWith('--')
    ? flags.filter(({name, allowNo}) => word === `--${name}` || (allowNo && word === `--no-${name}`))
    : flags.filter(({char}) => char !== undefined && word.startsWith('-') && word.includes(char));
  for (const flag of named) if (flag.type === 'boolean') note(given, flag);
  return named.find(({type}) => type === 'option');
}

/** A word that holds flag and value: --namespace=scalr, -n=scalr or -nscalr. */
function valueIn(word: string, flags: readonly Flag[]): {flag: Flag; prefix: string; value: string} | undefined {
  const [, prefix = '', name, value = ''] = /^(--([^=]+)=)(.*)$/s.exec(word) ?? [];
  const [, short = '', char, rest = ''] = /^(-([A-Za-z])=?)(.+)$/s.exec(word) ?? [];
  const flag = flags.find(
    (each) => each.type === 'option' && (name === undefined ? each.char === char && char !== undefined : each.name === name),
  );
  if (flag === undefined) return undefined;
  return name === undefined ? {flag, prefix: short, value: rest} : {flag, prefix, value};
}
