import {readFileSync, writeFileSync} from 'node:fs';

/**
 * `npx tsx scripts/import-token-shapes.ts gitleaks.toml`: takes the prefixes of tokens and their least length from the default rules of gitleaks
 * (https://github.com/gitleaks/gitleaks, MIT License, Copyright (c) 2019 Zachary Rice). Rules that need words around a token are left
 * out: the redactor knows keys itself.
 */
const [file] = process.argv.slice(2);
if (file === undefined)
  throw new Error('Usage: npx tsx scripts/import-token-shapes.ts gitleaks.toml');
const TARGET = new URL('../src/ground/token-shapes.json', import.meta.url);

/** What follows a token, and what does not count. */
const AROUND = [
  String.raw`(?:[\x60'"\s;]|\\[nr]|$)`,
  String.raw`(?:[\x60'"\s;]|\\[nr]|$|\b)`,
  '(?i)',
  '(?-i)',
  String.raw`\b`,
];
/** Tokens with a longer prefix are recognized after 20 characters. */
const SHORT = 4;

class Expression {
  readonly source: string;
  #at = 0;

  constructor(source: string) {
    this.source = source;
  }

  /** Literal characters at the beginning. */
  prefix(): string {
    return this.#take(/(?:[\w~-](?![?*{+])|\\[.-](?![?*{+]))*/y).replaceAll('\\', '');
  }

  /** Least number of characters that the rest can match. */
  least(): number {
    const branches = [0];
    while (this.#at < this.source.length && this.source[this.#at] !== ')') {
      if (this.#take(/\|/y) !== '') branches.push(0);
      else branches.push((branches.pop() as number) + this.#atom() * this.#repeats());
    }
    return Math.min(...branches);
  }

  #take(expression: RegExp): string {
    expression.lastIndex = this.#at;
    const [found = ''] = expression.exec(this.source) ?? [];
    this.#at += found.length;
    return found;
  }

  #atom(): number {
    if (this.#take(/\((?:\?P<\w+>|\?(?:-?i)?:|\?!)?/y) !== '') {
      const inner = this.least();
      this.#at += 1;
      return inner;
    }
    this.#take(/\[(?:\\.|[^\]])+\]|\\.|./y);
    return 1;
  }

  #repeats(): number {
    const quantifier = this.#take(/\{\d+(?:,\d*)?\}|[?*+]/y);
    const [count] = /\d+/.exec(quantifier) ?? [
      quantifier === '?' || quantifier === '*' ? '0' : '1',
    ];
    return Number(count);
  }
}

const shapes = new Map<string, number>();
for (const [, regex = ''] of readFileSync(file, 'utf8').matchAll(/^regex = '''(.*?)'''$/gm)) {
  const plain = AROUND.reduce((source, each) => source.replaceAll(each, ''), regex);
  const inner =
    /^\(+(?!\?)/.test(plain) && plain.endsWith(')')
      ? plain.replace(/^\(+/, '').replace(/\)+$/, '')
      : plain;
  const [, alternatives, rest = ''] = /^\(\?:([^()]*)\)(.*)$/.exec(inner) ?? [];
  for (const source of alternatives?.split('|').map((each) => each + rest) ?? [inner]) {
    const expression = new Expression(source);
    const prefix = expression.prefix();
    if (
      prefix.length < 3 ||
      !/[_.~-]|^[A-Z]{4}|^AIza$/.test(prefix) ||
      /^[-_]|^https?|PUB/.test(prefix)
    )
      continue;
    const least = Math.min(expression.least(), shapes.get(prefix) ?? Number.POSITIVE_INFINITY);
    if (least >= 10) shapes.set(prefix, least);
  }
}
const rows = [...shapes]
  .toSorted(([one], [other]) => (one < other ? -1 : 1))
  .map(([prefix, least]) =>
    [prefix, ...(prefix.length < SHORT || least < 20 ? [least] : [])].join(' '),
  );
writeFileSync(TARGET, `[\n${rows.map((row) => `  ${JSON.stringify(row)}`).join(',\n')}\n]\n`);
