import IMPORTED from './token-shapes.json' with {type: 'json'};

// token-shapes.json: facts from the rules of betterleaks (https://github.com/betterleaks/betterleaks), MIT License, Copyright (c) 2026
// Zachary Rice. Below the characters of a token, each row is a prefix, and for a short one the number of characters after it.

/** Longest token whose end is searched, in characters. */
export const LONGEST_TOKEN = 8192;

/** Format of a token: `head`, then at least `least` characters of the class `tail`. */
interface TokenShape {
  name: string;
  /** One of them is in every such token; the expression is tried only around it. */
  anchors: readonly string[];
  /** A regular expression. */
  head: string;
  /** Characters between the brackets of a regular expression. */
  tail: string;
  least: number;
  /** Characters of the token before its anchor. */
  before?: number;
}

/** Characters of any token: a format can grow, so everything that follows belongs to it. */
const ANY = '\\w.+/=-';
/** Prefixes that betterleaks does not list without words around them, in the same format. */
const OWN: Readonly<Record<string, string>> = {
  'a-f0-9': 'key- 32,sk- 32,sk_ 32',
  'A-Za-z0-9': 'secret_ 40',
  [ANY]:
    'ya29.,GOCSPX-,xapp-,sk-ant-,sq0csp-,NRAK-,tskey-,fo1_,sntrys_,hvr.,ATBB,ATCTT3,JQQJ99,squ_,sqp_,sqa_,npg_ 12,pat-na1-,pat-eu1-,whsec_,shpit_,cfat_,xaat-,xapt-',
};
/** Least length of a truncated token, without and with an ellipsis at its end. */
const LEAST = 20;
const CUT = 6;
/** The second is UTF-8, a character for each byte. */
const ELLIPSIS = '\\.{3}|…|\xe2\x80\xa6';

/** Addresses that are secrets: what is before their path, and its beginning. */
const WEBHOOKS: readonly (readonly string[])[] = [
  ['webhook.office.com', '/webhookb2/'],
  ['logic.azure.com', '[^\\s"]{0,40}/workflows/'],
  ['events.pagerduty.com', '/integration/'],
  ['discord.com', '/api/webhooks/'],
  ['discordapp.com', '/api/webhooks/'],
  ['hooks.zapier.com', '/hooks/'],
  ['api.telegram.org', '/bot'],
  ['/hooks/', ''],
];

const prefixed = (rows: readonly string[], characters: string): TokenShape[] =>
  rows.map((row) => {
    const [prefix = '', least = LEAST] = row.split(' ');
    const [name = ''] = /[A-Za-z0-9]+/.exec(prefix) ?? [];
    const head = prefix.replace(/[.+~]/g, '\\$&');
    return {
      name,
      anchors: [prefix.slice(0, 5)],
      head: `${head}(?:[${characters}]{${least}}|[${characters}]{${CUT},}(?=${ELLIPSIS}))`,
      tail: ANY,
      least: 0,
    };
  });

/** Tokens with a documented prefix. */
export const TOKEN_SHAPES = (
  [
    {name: 'jwt', anchors: ['eyJ'], head: 'eyJ', tail: '\\w.-', least: 13},
    // The same JSON in base64, as in Secrets.
    {name: 'jwt', anchors: ['ZXlK'], head: 'ZXlK', tail: 'A-Za-z0-9+/=_-', least: 28},
    {
      name: 'terraform',
      anchors: ['.atlasv1.'],
      head: '[A-Za-z0-9]{14}\\.atlasv1\\.',
      tail: '\\w-',
      least: 40,
      before: 14,
    },
    {
      name: 'aws',
      anchors: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
      head: 'A(?:KI|SI|BI|CC)A[0-9A-Z]{16}(?![0-9A-Za-z])',
      tail: 'A-Z',
      least: 0,
    },
    {
      name: 'azure',
      anchors: ['Q~'],
      head: '[\\w.~-]{3}\\dQ~',
      tail: '\\w.~-',
      least: 31,
      before: 4,
    },
    {
      name: 'slack',
      anchors: ['xox'],
      head: 'xox[abeoprs](?:\\.xox[a-z])?-',
      tail: '\\w-',
      least: 10,
    },
    {
      name: 'slack',
      anchors: ['hooks.slack.com'],
      head: 'hooks\\.slack\\.com(?:\\\\?/|%2F)(?:services|workflows|triggers)',
      tail: '\\w/%\\\\',
      least: 20,
    },
    ...WEBHOOKS.map(([host = '', path]) => ({
      name: 'webhook',
      anchors: [host],
      head: `${host.replaceAll('.', '\\.')}${path}`,
      tail: '\\w/@:%.-',
      least: 20,
    })),
    {name: 'facebook', anchors: ['EAA'], head: 'EAA[A-Z]', tail: 'A-Za-z0-9', least: 40},
    {
      name: 'hash',
      anchors: ['$6$', '$5$', '$y$', '$2a$', '$2b$', '$2y$', '$argon2', '$apr1$', '{SSHA'],
      head: '(?:\\$(?:6|5|y|2[aby]|argon2id?|apr1)\\$|\\{SSHA\\d{0,3}\\})',
      tail: '\\w./$=,+',
      least: 20,
    },
    {
      name: 'airtable',
      anchors: ['pat'],
      head: 'pat[A-Za-z0-9]{14}\\.',
      tail: 'a-f0-9',
      least: 32,
    },
    ...Object.entries(IMPORTED).flatMap(([characters, rows]) => prefixed(rows, characters)),
    ...Object.entries(OWN).flatMap(([characters, rows]) => prefixed(rows.split(','), characters)),
  ] satisfies readonly TokenShape[]
).map(({head, tail, least, before = 0, ...shape}: TokenShape) => ({
  ...shape,
  before,
  expression: new RegExp(`(?:${head})[${tail}]{${least},${LONGEST_TOKEN}}`, 'y'),
  stop: new RegExp(`[^${tail}]`, 'g'),
}));

/** Of documentation, and private data of Terraform: `{"schema_version":…`, `{"e2bfb730-…`. */
const EXAMPLES = /EXAMPLE$|^eyJ(?:zY2hlbWFfdmVyc2lvb|lMmJmYjcz)/;
/** `npm_config_registry_prefix` is no token. */
const MANY_WORDS = /^(?:[a-z]+[_.-]){8,}[a-z]*$/;
/** A token can consist of letters only, but a word is not that long. Names of things have short numbers. */
const WORDS = /^[a-z]{1,19}(?:[_.-](?:[a-z]{1,19}\d{0,3}|\d{1,3}))+$/;

/** The token of this format that starts here; undefined for documented examples and words. */
export function tokenAt(
  {expression}: (typeof TOKEN_SHAPES)[number],
  text: string,
  start: number,
): string | undefined {
  if (start < 0 || (text.charAt(start) !== '/' && !beginsWord(text, start))) return undefined;
  // A long run of words is no token, and is not read to its end.
  if (MANY_WORDS.test(text.slice(start, start + 96))) return undefined;
  const found = matchAt(expression, text, start)?.[0];
  return found === undefined || WORDS.test(found) || EXAMPLES.test(found) ? undefined : found;
}

/** True at a word start: after anything but a letter or digit, or after an escape sequence. */
export function beginsWord(text: string, at: number): boolean {
  if (at === 0 || !/[A-Za-z0-9]/.test(text.charAt(at - 1))) return true;
  return /(?:\\[nrtbf]|%[0-9a-f]{2}|\\u[0-9a-f]{4}|\[[\d;]*m)$/i.test(
    text.slice(Math.max(0, at - 12), at),
  );
}

export function matchAt(expression: RegExp, text: string, at: number): RegExpExecArray | undefined {
  expression.lastIndex = at;
  return expression.exec(text) ?? undefined;
}

const SPACE = '(?:[ +_]|%20)';
/** The first line of a private key. */
export const PRIVATE_KEY = `-----BEGIN${SPACE}(?:[A-Z0-9]+${SPACE}){0,3}PRIVATE${SPACE}KEY(?:${SPACE}BLOCK)?-----`;
