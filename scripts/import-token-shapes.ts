import {readFileSync, writeFileSync} from 'node:fs';

/**
 * `npm run import-token-shapes -- gitleaks.toml`: takes the prefixes of tokens, their characters and their least length from the default
 * rules of gitleaks (https://github.com/gitleaks/gitleaks, MIT License, Copyright (c) 2019 Zachary Rice). Rules that need words around a
 * token are left out: the redactor knows keys itself.
 */
const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('Usage: npm run import-token-shapes -- gitleaks.toml');
const TARGET = new URL('../src/support-bundle/redact/token-shapes.json', import.meta.url);

/** What follows a token, and what does not count. */
const AROUND = [String.raw`(?:[\x60'"\s;]|\\[nr]|$)`, String.raw`(?:[\x60'"\s;]|\\[nr]|$|\b)`, '(?i)', '(?-i)', String.raw`\b`];

/** What a part of an expression can match: the characters, and the least number of them. */
interface Body {
  characters: string;
  least: number;
}

class Expression {
  readonly source: string;
  #at = 0;

  constructor(source: string) {
    this.source = source;
  }

  /** Literal characters at the beginning. */
  prefix(): string {
    const [literal = ''] = /^(?:[\w~-](?![?*{+])|\\[.-](?![?*{+]))*/.exec(this.source) ?? [];
    this.#at = literal.length;
    return literal.replaceAll('\\', '');
  }

  body(): Body {
    const branches: Body[] = [{characters: '', least: 0}];
    while (this.#at < this.source.length && this.source[this.#at] !== ')') {
      if (this.source[this.#at] === '|') {
        this.#at += 1;
        branches.push({characters: '', least: 0});
      } else {
        const {characters, least} = this.#repeated(this.#atom());
        const branch = branches.at(-1) as Body;
        branch.characters += characters;
        branch.least += least;
      }
    }
    return {characters: branches.map(({characters}) => characters).join(''), least: Math.min(...branches.map(({least}) => least))};
  }

  #take(expression: RegExp): string {
    expression.lastIndex = this.#at;
    const [found = ''] = expression.exec(this.source) ?? [];
    this.#at += found.length;
    return found;
  }

  #atom(): Body {
    if (this.#take(/\((?:\?P<\w+>|\?(?:-?i)?:|\?!)?/y) !== '') {
      const inner = this.body();
      this.#at += 1;
      return inner;
    }
    const set = this.#take(/\[(?:\\.|[^\]])+\]/y);
    if (set !== '') return {characters: set.slice(1, -1), least: 1};
    return {characters: this.#take(/\\.|./y), least: 1};
  }

  #repeated({characters, least}: Body): Body {
    const quantifier = this.#take(/\{\d+(?:,\d*)?\}|[?*+]/y);
    if (quantifier === '') return {characters, least};
    const [count] = /\d+/.exec(quantifier) ?? [quantifier === '+' ? '1' : '0'];
    return {characters, least: least * Number(count)};
  }
}

/** Only what a token can hold: word characters, and each of `.~+/=-` that occurs. */
const alphabet = (characters: string): string =>
  `\\w${[...'.~+/=-'].filter((one) => characters.replace(/\\w|[a-z0-9]-[a-z0-9]/gi, '').includes(one)).join('')}`;

const shapes: {name: string; prefix: string; tail: string; least: number}[] = [];
for (const [, id = '', regex = ''] of readFileSync(file, 'utf8').matchAll(/^id = "([\w-]+)"[\s\S]*?^regex = '''(.*?)'''$/gm)) {
  const plain = AROUND.reduce((source, each) => source.replaceAll(each, ''), regex);
  const inner = /^\(+(?!\?)/.test(plain) && plain.endsWith(')') ? plain.replace(/^\(+/, '').replace(/\)+$/, '') : plain;
  const [, alternatives, rest = ''] = /^\(\?:([^()]*)\)(.*)$/.exec(inner) ?? [];
  for (const source of alternatives?.split('|').map((each) => each + rest) ?? [inner]) {
    const expression = new Expression(source);
    const prefix = expression.prefix();
    if (prefix.length < 3 || !/[_.~-]|^[A-Z]{4}|^AIza$/.test(prefix) || /^[-_]|^https?|PUB/.test(prefix)) continue;
    const {characters, least} = expression.body();
    if (least >= 10) shapes.push({name: id.split('-')[0] as string, prefix, tail: alphabet(characters), least});
  }
}
const rows = shapes.toSorted((one, other) => (one.prefix < other.prefix ? -1 : 1)).map((each) => `  ${JSON.stringify(each)}`);
writeFileSync(TARGET, `[\n${rows.join(',\n')}\n]\n`);
