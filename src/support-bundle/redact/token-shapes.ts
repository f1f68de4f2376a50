import {beginsWord, type Extent, LIMITS, matchAt, NOTHING, type Rule, run} from './rule.ts';
import IMPORTED from './token-shapes.json' with {type: 'json'};

// token-shapes.json: facts from the rules of gitleaks (https://github.com/gitleaks/gitleaks), MIT License, Copyright (c) 2019 Zachary Rice.

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

/** Tokens with a documented prefix. */
const SHAPES = (
  [
    {name: 'jwt', anchors: ['eyJ'], head: 'eyJ', tail: '\\w.-', least: 13},
    // The same JSON in base64, as in Secrets.
    {name: 'jwt', anchors: ['ZXlK'], head: 'ZXlK', tail: 'A-Za-z0-9+/=_-', least: 28},
    {name: 'terraform', anchors: ['.atlasv1.'], head: '[A-Za-z0-9]{14}\\.atlasv1\\.', tail: '\\w-', least: 40, before: 14},
    {name: 'aws', anchors: ['AKIA', 'ASIA', 'ABIA', 'ACCA'], head: 'A(?:KI|SI|BI|CC)A[0-9A-Z]{16}(?![0-9A-Za-z])', tail: 'A-Z', least: 0},
    {name: 'github', anchors: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], head: 'gh[pousr]_', tail: '\\w', least: 20},
    {name: 'bitbucket', anchors: ['ATBB', 'ATCTT3', 'ATATT3'], head: 'AT(?:BB|CTT3|ATT3)', tail: '\\w=-', least: 24},
    {name: 'azure-devops', anchors: ['JQQJ99'], head: 'JQQJ99', tail: 'A-Za-z0-9', least: 40},
    {name: 'azure', anchors: ['Q~'], head: '[\\w.~-]{3}\\dQ~', tail: '\\w.~-', least: 31, before: 4},
    {name: 'google', anchors: ['AIza'], head: 'AIza', tail: '\\w-', least: 35},
    {name: 'google', anchors: ['ya29.'], head: 'ya29\\.', tail: '\\w.-', least: 20},
    {name: 'google', anchors: ['GOCSPX-'], head: 'GOCSPX-', tail: '\\w-', least: 20},
    {name: 'slack', anchors: ['xox'], head: 'xox[abeoprs](?:\\.xox[a-z])?-', tail: '\\w-', least: 10},
    {name: 'slack', anchors: ['xapp-'], head: 'xapp-', tail: '\\w-', least: 20},
    {
      name: 'slack',
      anchors: ['hooks.slack.com'],
      head: 'hooks\\.slack\\.com(?:\\\\?/|%2F)(?:services|workflows)',
      tail: '\\w/%\\\\',
      least: 20,
    },
    {name: 'vault', anchors: ['hvs.', 'hvb.', 'hvr.'], head: 'hv[sbr]\\.', tail: '\\w-', least: 20},
    {name: 'docker', anchors: ['dckr_pat_', 'dckr_oat_'], head: 'dckr_[po]at_', tail: '\\w-', least: 20},
    {name: 'stripe', anchors: ['sk_live_', 'rk_live_', 'sk_test_'], head: '[sr]k_(?:live|test)_', tail: 'A-Za-z0-9', least: 16},
    {name: 'ai', anchors: ['sk-ant-', 'sk-proj-'], head: 'sk-(?:ant|proj)-', tail: '\\w-', least: 20},
    {name: 'sendgrid', anchors: ['SG.'], head: 'SG\\.[\\w-]{16,64}\\.', tail: '\\w-', least: 16},
    {name: 'databricks', anchors: ['dapi'], head: 'dapi', tail: 'a-f0-9', least: 32},
    {name: 'facebook', anchors: ['EAA'], head: 'EAA[A-Z]', tail: 'A-Za-z0-9', least: 40},
    {name: 'newrelic', anchors: ['NRAK-', 'NRJS-', 'NRII-'], head: 'NR(?:AK|JS|II)-', tail: '\\w-', least: 19},
    {name: 'notion', anchors: ['secret_'], head: 'secret_', tail: 'A-Za-z0-9', least: 40},
    {name: 'figma', anchors: ['figd_'], head: 'figd_', tail: '\\w-', least: 20},
    {name: 'square', anchors: ['sq0atp-', 'sq0csp-', 'EAAA'], head: '(?:sq0[ac][ts]p-|EAAA)', tail: '\\w-', least: 22},
    {name: 'tailscale', anchors: ['tskey-'], head: 'tskey-(?:[a-z]+-)?', tail: '\\w-', least: 20},
    {name: 'fly', anchors: ['fo1_', 'fm1a_', 'fm1r_', 'fm2_'], head: 'f(?:o1|m1[ar]|m2)_', tail: '\\w+/=-', least: 30},
    {name: 'sentry', anchors: ['sntrys_'], head: 'sntrys_', tail: '\\w+/=-', least: 20},
    {name: 'maxmind', anchors: ['_mmk'], head: '[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk', tail: '\\w', least: 0, before: 36},
    // The rest is documented by gitleaks; prefixes of four characters and more are enough for a token that was cut off.
    ...IMPORTED.map(({name, prefix, tail, least}) => ({
      name,
      anchors: [prefix.slice(0, 5)],
      head: prefix.replace(/[.+~]/g, '\\$&'),
      tail,
      least: prefix.length < 4 ? least : Math.min(least, 20),
    })),
  ] satisfies readonly TokenShape[]
).map(({head, tail, least, before = 0, ...shape}: TokenShape) => ({
  ...shape,
  before,
  expression: new RegExp(`(?:${head})[${tail}]{${least},${LIMITS.value}}`, 'y'),
  stop: new RegExp(`[^${tail}]`, 'g'),
}));

export const tokenShapes: readonly Rule[] = SHAPES.map((each) => ({
  name: each.name,
  anchors: each.anchors,
  find: (text, anchor) => find(each, text, anchor - each.before),
}));

function find({expression, stop}: (typeof SHAPES)[number], text: string, start: number): readonly Extent[] {
  if (start < 0 || !beginsWord(text, start)) return NOTHING;
  const found = matchAt(expression, text, start);
  return found === undefined ? NOTHING : [run(start, start + found[0].length, stop)];
}

/** Kind of a value according to its format. */
export function shapeOf(value: string): string | undefined {
  if (/^-----BEGIN|^LS0tLS1CRUdJTi/.test(value)) return 'private-key';
  return SHAPES.find(({expression}) => matchAt(expression, value, 0) !== undefined)?.name;
}
