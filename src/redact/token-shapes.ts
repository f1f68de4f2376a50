import {beginsWord, type Extent, LIMITS, matchAt, NOTHING, type RedactionRule, run} from './rule.ts';
import IMPORTED from './token-shapes.json' with {type: 'json'};

// token-shapes.json: facts from the rules of gitleaks (https://github.com/gitleaks/gitleaks), MIT License, Copyright (c) 2019
// Zachary Rice. Each row is a prefix, and for a short one the number of characters after it.

/** Format of a token: `head`, then at least `least` characters of the class `tail`. */
interface TokenShape {
  name: string;
  /** Text in every such token; the expression is tried only around it. */
  anchors: readonly string[];
  /** A regular expression. */
  head: string;
  /** Characters between the brackets of a regular expression. */
  tail: string;
  least: number;
  /** Characters of the token before its anchor. */
  before?: number;
}

/** Prefixes that gitleaks does not list, in the same format. */
const OWN =
  'ya29.,GOCSPX-,xapp-,dckr_pat_,dckr_oat_,sk-ant-,sk-proj-,figd_,sq0atp-,sq0csp-,NRAK-,tskey-,fo1_,sntrys_,hvs.,hvr.,sk_live_,rk_live_,sk_test_,ATBB,ATCTT3,ATATT3,JQQJ99,squ_,sqp_,sqa_,bkua_,sbp_,npg_ 12,pat-na1-,pat-eu1-,whsec_,shpit_,cfat_';
/** Enough of a token that was cut off. */
const LEAST = 20;

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

/** Tokens with a documented prefix. */
const SHAPES = (
  [
    {name: 'jwt', anchors: ['eyJ'], head: 'eyJ', tail: '\\w.-', least: 13},
    // The same JSON in base64, as in Secrets.
    {name: 'jwt', anchors: ['ZXlK'], head: 'ZXlK', tail: 'A-Za-z0-9+/=_-', least: 28},
    {name: 'terraform', anchors: ['.atlasv1.'], head: '[A-Za-z0-9]{14}\\.atlasv1\\.', tail: '\\w-', least: 40, before: 14},
    {name: 'aws', anchors: ['AKIA', 'ASIA', 'ABIA', 'ACCA'], head: 'A(?:KI|SI|BI|CC)A[0-9A-Z]{16}(?![0-9A-Za-z])', tail: 'A-Z', least: 0},
    {name: 'azure', anchors: ['Q~'], head: '[\\w.~-]{3}\\dQ~', tail: '\\w.~-', least: 31, before: 4},
    {name: 'slack', anchors: ['xox'], head: 'xox[abeoprs](?:\\.xox[a-z])?-', tail: '\\w-', least: 10},
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
      anchors: ['$6$', '$5$', '$y$', '$2a$', '$2b$', '$2y$', '$argon2', '$apr1$', '{ssha'],
      head: '(?:\\$(?:6|5|y|2[aby]|argon2id?|apr1)\\$|\\{SSHA\\d{0,3}\\})',
      tail: '\\w./$=,+',
      least: 20,
    },
    {name: 'mailgun', anchors: ['key-'], head: 'key-', tail: 'a-f0-9', least: 32},
    {name: 'databricks', anchors: ['dapi'], head: 'dapi', tail: 'a-f0-9', least: 32},
    {name: 'notion', anchors: ['secret_'], head: 'secret_', tail: 'A-Za-z0-9', least: 40},
    ...[...IMPORTED, ...OWN.split(',')].map((row) => {
      const [prefix = '', least = LEAST] = row.split(' ');
      const [name = ''] = /^[A-Za-z0-9]+/.exec(prefix) ?? [];
      return {name, anchors: [prefix.slice(0, 5)], head: prefix.replace(/[.+~]/g, '\\$&'), tail: '\\w.+/=-', least: Number(least)};
    }),
  ] satisfies readonly TokenShape[]
).map(({head, tail, least, before = 0, ...shape}: TokenShape) => ({
  ...shape,
  before,
  expression: new RegExp(`(?:${head})[${tail}]{${least},${LIMITS.value}}`, 'y'),
  stop: new RegExp(`[^${tail}]`, 'g'),
}));

export const tokenShapes: readonly RedactionRule[] = SHAPES.map((each) => ({
  name: each.name,
  anchors: each.anchors,
  find: (text, anchor) => find(each, text, anchor - each.before),
}));

/** Of documentation, and private data of Terraform: `{"schema_version":…`, `{"e2bfb730-…`. */
const EXAMPLES = /EXAMPLE$|^eyJ(?:zY2hlbWFfdmVyc2lvb|lMmJmYjcz)/;
/** `npm_config_registry_prefix` is no token. */
const MANY_WORDS = /^(?:[a-z]+[_.-]){8,}[a-z]*$/;
const WORDS = /^[a-z]+(?:[_.-][a-z]+)+$/;

function find({expression, stop}: (typeof SHAPES)[number], text: string, start: number): readonly Extent[] {
  if (start < 0 || (text.charAt(start) !== '/' && !beginsWord(text, start))) return NOTHING;
  // A long run of words is no token, and is not read to its end.
  if (MANY_WORDS.test(text.slice(start, start + 96))) return NOTHING;
  const found = matchAt(expression, text, start);
  return found === undefined || WORDS.test(found[0]) || EXAMPLES.test(found[0]) ? NOTHING : [run(start, start + found[0].length, stop)];
}

/** Kind of a value according to its format. */
export function shapeOf(value: string): string | undefined {
  if (/^-----BEGIN|^LS0tLS1CRUdJTi/.test(value)) return 'private-key';
  return SHAPES.find(({expression}) => matchAt(expression, value, 0) !== undefined)?.name;
}
