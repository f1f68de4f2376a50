import {readFileSync, writeFileSync} from 'node:fs';

/**
 * `npx tsx scripts/import-token-shapes.ts betterleaks.toml`: takes the prefixes of tokens, the characters after them and their least number
 * from the default rules of betterleaks (https://github.com/betterleaks/betterleaks, MIT License, Copyright (c) 2026 Zachary Rice).
 * Rules that need words around a token are left out: the redactor knows keys itself.
 */
const [file] = process.argv.slice(2);
if (file === undefined)
  throw new Error('Usage: npx tsx scripts/import-token-shapes.ts betterleaks.toml');
const TARGET = new URL('../src/ground/token-shapes.json', import.meta.url);

/** A beginning, and what follows it: the least number of characters, and which. */
interface Format {
  prefix: string;
  least: number;
  characters: string;
  /** False as long as nothing but literal characters was read. */
  hasRest: boolean;
}

const literal = (prefix: string): Format => ({prefix, least: 0, characters: '', hasRest: false});

/** A part of a regular expression that no format of a token has: any character, blanks, what is not in a class. */
class NoToken extends Error {}

/** Reads the few constructs of regular expressions that rules of tokens have. */
class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  formats(): Format[] {
    const found = this.#sequence();
    while (this.#take(/\|/y) !== '') found.push(...this.#sequence());
    return found;
  }

  #sequence(): Format[] {
    let formats = [literal('')];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source.charAt(this.#at))) {
      const next = this.#repeated(this.#atom());
      formats = formats.flatMap((one) => next.map((other) => joined(one, other)));
    }
    return formats;
  }

  #atom(): Format[] {
    if (this.#take(/\(\?-?i\)|\\b|\^|\$/y) !== '') return [literal('')];
    if (this.#take(/\((?:\?(?:-?i)?:)?(?!\?)/y) !== '') {
      const inner = this.formats();
      this.#take(/\)/y);
      return inner;
    }
    const ofClass = this.#take(/\[(?!\^)(?:\[:alnum:\]|\\.|[^\]])+\]|\\[wd]/y);
    if (ofClass !== '')
      return [{prefix: '', least: 1, characters: charactersOf(ofClass), hasRest: true}];
    const escaped = this.#take(/\\[^\w]|[^\\.[(]/y);
    if (escaped === '') throw new NoToken();
    return [literal(escaped.at(-1) as string)];
  }

  #repeated(formats: Format[]): Format[] {
    const quantifier = this.#take(/\{\d+(?:,\d*)?\}|[?*+]/y);
    if (quantifier === '') return formats;
    const least = Number(/\d+/.exec(quantifier)?.[0] ?? (quantifier === '+' ? 1 : 0));
    return formats.map((each) => ({
      prefix: '',
      least: least * (each.prefix.length + each.least),
      characters: least === 0 ? '' : each.prefix + each.characters,
      hasRest: true,
    }));
  }

  #take(expression: RegExp): string {
    expression.lastIndex = this.#at;
    const [found = ''] = expression.exec(this.#source) ?? [];
    this.#at += found.length;
    return found;
  }
}

const joined = (one: Format, other: Format): Format =>
  one.hasRest
    ? {
        ...one,
        least: one.least + other.prefix.length + other.least,
        characters: one.characters + other.prefix + other.characters,
      }
    : {...other, prefix: one.prefix + other.prefix};

const ASCII = Array.from({length: 95}, (_, index) => String.fromCharCode(32 + index));

function charactersOf(ofClass: string): string {
  const expression = new RegExp(ofClass.replace('[:alnum:]', 'A-Za-z0-9'));
  return ASCII.filter((each) => expression.test(each)).join('');
}

/** The smallest of a few classes that holds the characters. */
const CLASSES = ['A-Fa-f0-9', 'A-Za-z0-9', '\\w-', '\\w.+/=-'] as const;
const classOf = (characters: string): string | undefined =>
  CLASSES.find((each) => new RegExp(`^[${each}]*$`).test(characters));

/** What can stand before and after a token. */
const AROUND = [
  String.raw`(?:\\?['"\x60]|[\s;]|\\[nr]|$)`,
  String.raw`(?:[\x60'"\s;]|\\[nr]|$|\b)`,
  String.raw`(?:[^\w-]|\z)`,
  String.raw`(?:[^\w\/+=-]|\z)`,
  String.raw`(?:[^a-zA-Z0-9+/]|\z)`,
  '(?:$|[^A-Za-z0-9_-])',
];
/** Rules of what is not secret, and of keys that `token-shapes.ts` describes itself. */
const LEFT_OUT =
  /(?<!alibaba-access-key)-id$|-(?:url|host|public-key|client-sdk-key|public-api-token)$|^aws-access-token$|^authress/;

function formatsOf(rule: string): Format[] {
  const [, id = ''] = /^id = "(.*?)(?:\.\d)?"$/m.exec(rule) ?? [];
  const [, regex] = /^regex = '''(.*?)'''$/m.exec(rule) ?? [];
  if (regex === undefined || LEFT_OUT.test(id)) return [];
  const source = AROUND.reduce((left, each) => left.replaceAll(each, ''), regex);
  try {
    return new Reader(source).formats().filter(isDistinct);
  } catch (error) {
    if (error instanceof NoToken) return [];
    throw error;
  }
}

/** Nothing but a token begins so: with a separator after some characters, with four capitals, or with many characters after it. */
function isDistinct({prefix, least}: Format): boolean {
  if (prefix.length < 3 || least < 10 || prefix.startsWith('eyJ')) return false;
  return (
    /^[A-Za-z]\w.*[_.~:-]/.test(prefix) ||
    /^[A-Z]{4}|^AIza/.test(prefix) ||
    (prefix.length >= 4 && /[g-z]/i.test(prefix) && least >= 30)
  );
}

const least = new Map<string, number>();
const characters = new Map<string, string>();
for (const format of readFileSync(file, 'utf8').split('[[rules]]').flatMap(formatsOf)) {
  const {prefix} = format;
  least.set(prefix, Math.min(format.least, least.get(prefix) ?? format.least));
  characters.set(prefix, format.characters + (characters.get(prefix) ?? ''));
}

/** A log can cut a token off: after a longer prefix, these are enough. */
const ENOUGH = 20;
const isShort = (prefix: string): boolean =>
  prefix.length < 4 || (prefix.length < 6 && !/[_.~:-]/.test(prefix));

const rows: Record<string, string[]> = {};
for (const prefix of [...least.keys()].toSorted()) {
  const count = least.get(prefix) as number;
  const alphabet = classOf(characters.get(prefix) as string);
  if (alphabet === undefined) continue;
  rows[alphabet] ??= [];
  rows[alphabet].push(isShort(prefix) || count < ENOUGH ? `${prefix} ${count}` : prefix);
}
writeFileSync(TARGET, `${JSON.stringify(rows, null, 2)}\n`);
