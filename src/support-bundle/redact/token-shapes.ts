import {beginsWord, type Extent, LIMITS, matchAt, NOTHING, type Rule, run} from './rule.ts';

interface Shape {
  name: string;
  anchors: readonly string[];
  expression: RegExp;
  stop: RegExp;
  /** Characters of the token before its anchor. */
  before: number;
}

const shape = (name: string, anchors: string | readonly string[], head: string, tail: string, least: number, before = 0): Shape => ({
  name,
  anchors: [anchors].flat(),
  expression: new RegExp(`(?:${head})[${tail}]{${least},${LIMITS.value}}`, 'y'),
  stop: new RegExp(`[^${tail}]`, 'g'),
  before,
});

const GITLAB = ['pat', 'ptt', 'dt', 'rt', 'rtr', 'cbt', 'ft', 'soat', 'agent', 'imt', 'oas'];

/** Tokens that say by their beginning what they are, as their makers document them. */
const SHAPES: readonly Shape[] = [
  shape('jwt', 'eyJ', 'eyJ', '\\w.-', 13),
  // The same JSON in base64, as Secrets hold it.
  shape('jwt', 'ZXlK', 'ZXlK', 'A-Za-z0-9+/=_-', 28),
  shape('terraform', '.atlasv1.', '[A-Za-z0-9]{14}\\.atlasv1\\.', '\\w-', 40, 14),
  shape('aws', ['AKIA', 'ASIA'], 'A[KS]IA[0-9A-Z]{16}(?![0-9A-Za-z])', 'A-Z', 0),
  shape('github', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], 'gh[pousr]_', '\\w', 20),
  shape('github', 'github_pat_', 'github_pat_', '\\w', 20),
  shape(
    'gitlab',
    GITLAB.map((each) => `gl${each}-`),
    `gl(?:${GITLAB.join('|')})-`,
    '\\w.-',
    16,
  ),
  shape('bitbucket', ['ATBB', 'ATCTT3', 'ATATT3'], 'AT(?:BB|CTT3|ATT3)', '\\w=-', 24),
  shape('azure-devops', 'JQQJ99', 'JQQJ99', 'A-Za-z0-9', 40),
  shape('azure', 'Q~', '[\\w.~-]{3}\\dQ~', '\\w.~-', 31, 4),
  shape('google', 'AIza', 'AIza', '\\w-', 35),
  shape('google', 'ya29.', 'ya29\\.', '\\w.-', 20),
  shape('google', 'GOCSPX-', 'GOCSPX-', '\\w-', 20),
  shape('slack', 'xox', 'xox[abeoprs](?:\\.xox[a-z])?-', '\\w-', 10),
  shape('slack', 'xapp-', 'xapp-', '\\w-', 20),
  shape('slack', 'hooks.slack.com', 'hooks\\.slack\\.com(?:\\\\?/|%2F)(?:services|workflows)', '\\w/%\\\\', 20),
  shape('vault', ['hvs.', 'hvb.', 'hvr.'], 'hv[sbr]\\.', '\\w-', 20),
  shape('npm', 'npm_', 'npm_', 'A-Za-z0-9', 36),
  shape('pypi', 'pypi-', 'pypi-', '\\w-', 50),
  shape('docker', ['dckr_pat_', 'dckr_oat_'], 'dckr_[po]at_', '\\w-', 20),
  shape('stripe', ['sk_live_', 'rk_live_', 'sk_test_'], '[sr]k_(?:live|test)_', 'A-Za-z0-9', 16),
  shape('ai', ['sk-ant-', 'sk-proj-'], 'sk-(?:ant|proj)-', '\\w-', 20),
  shape('sentry', ['sntrys_', 'sntryu_'], 'sntry[su]_', '\\w+/=-', 20),
  shape('grafana', ['glsa_', 'glc_'], 'gl(?:sa|c)_', '\\w+/=-', 20),
  shape('digitalocean', ['dop_v1_', 'doo_v1_'], 'do[op]_v1_', 'a-f0-9', 40),
  shape('sendgrid', 'SG.', 'SG\\.[\\w-]{16,64}\\.', '\\w-', 16),
  shape('pulumi', 'pul-', 'pul-', 'a-f0-9', 40),
  shape('age', 'AGE-SECRET-KEY-1', 'AGE-SECRET-KEY-1', 'A-Z0-9', 30),
];

export const tokenShapes: readonly Rule[] = SHAPES.map((each) => ({
  name: each.name,
  anchors: each.anchors,
  find: (text, anchor) => find(each, text, anchor - each.before),
}));

function find({expression, stop}: Shape, text: string, start: number): readonly Extent[] {
  if (start < 0 || !beginsWord(text, start)) return NOTHING;
  const found = matchAt(expression, text, start);
  return found === undefined ? NOTHING : [run(start, start + found[0].length, stop)];
}

/** What a value is by its looks. */
export function shapeOf(value: string): string | undefined {
  if (/^-----BEGIN|^LS0tLS1CRUdJTi/.test(value)) return 'private-key';
  return SHAPES.find(({expression}) => matchAt(expression, value, 0) !== undefined)?.name;
}
