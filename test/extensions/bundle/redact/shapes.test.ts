import {expect, test} from 'vitest';
import IMPORTED from '../../../../src/ground/token-shapes.json' with {type: 'json'};
import {seen} from './helpers.ts';
import {PLACES, VALUES} from './known-secrets.ts';

const abc = (length: number): string =>
  'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYz'.repeat(4).slice(0, length);
const hex = (length: number): string =>
  '9f86d081884c7d659a2feaa0c55ad015'.repeat(4).slice(0, length);

/** Made up, and put together here so that no scanner of repositories takes them for real. */
const SHAPES: Readonly<Record<string, string>> = {
  jwt: VALUES['token'] as string,
  'jwt without signature': (VALUES['token'] as string).split('.').slice(0, 2).join('.'),
  'jwt in base64': Buffer.from(VALUES['token'] as string).toString('base64'),
  'private key': VALUES['key'] as string,
  'private key of RSA': (VALUES['key'] as string).replaceAll('PRIVATE', 'RSA PRIVATE'),
  'private key in base64': Buffer.from(VALUES['key'] as string).toString('base64'),
  'key id of AWS': `AKIA${abc(16).toUpperCase()}`,
  'session key id of AWS': `ASIA${abc(16).toUpperCase()}`,
  'token of Terraform': `${abc(14)}.atlasv1.${abc(67)}`,
  'token of GitHub': `ghp_${abc(36)}`,
  'app token of GitHub': `ghs_${abc(36)}`,
  'fine-grained token of GitHub': `github_pat_${abc(22)}_${abc(59)}`,
  'token of GitLab': `glpat-${abc(20)}`,
  'runner token of GitLab': `glrt-${abc(20)}`,
  'app password of Bitbucket': `ATBB${abc(32)}`,
  'token of Azure DevOps': `${abc(0)}JQQJ99${abc(70)}`,
  'client secret of Azure': `${abc(3)}8Q~${abc(34)}`,
  'key of Google': `AIza${abc(35)}`,
  'access token of Google': `ya29.${abc(60)}`,
  'client secret of Google': `GOCSPX-${abc(28)}`,
  'token of Slack': `xoxb-${'123456789012'}-${abc(24)}`,
  'hook of Slack': `hooks.slack.com/services/T00000000/B00000000/${abc(24)}`,
  'token of Vault': `hvs.${abc(90)}`,
  'token of npm': `npm_${abc(36)}`,
  'token of PyPI': `pypi-${abc(120)}`,
  'token of Docker Hub': `dckr_pat_${abc(27)}`,
  'key of Stripe': `sk_live_${abc(24)}`,
  'token of Sentry': `sntrys_${abc(80)}`,
  'token of Grafana': `glsa_${abc(32)}_${hex(8)}`,
  'token of DigitalOcean': `dop_v1_${hex(64)}`,
  'key of SendGrid': `SG.${abc(22)}.${abc(43)}`,
  'DSN of Sentry': `https://${hex(32)}@o123456.ingest.us.sentry.io/4501`,
  'token of Airtable': `pat${abc(14)}.${hex(64)}`,
  'key of DeepSeek': `sk-${hex(32)}`,
  'key of LangSmith': `lsv2_pt_${hex(32)}_${hex(10)}`,
  'join token of Swarm': `SWMTKN-1-${abc(49)}-${abc(25)}`,
  bearer: `Bearer ${abc(40)}`,
  basic: `Basic ${Buffer.from('bob:Tr0ub4dor').toString('base64')}`,
};

/** The part of it that nobody else could know. */
const core = (secret: string): string[] =>
  secret
    .replace(
      /^(?:https:\/\/|https%3A%2F%2F|bearer |basic |hooks\.slack\.com(?:\/|%2F)services(?:\/|%2F))|(?:@|%40).*|-----[A-Z ]+-----/gi,
      '',
    )
    .split(/[\n.]|\\+n/)
    .filter((part) => part.length >= 8);

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
const WRITINGS: Readonly<Record<string, (secret: string) => string>> = {
  'as it is': (secret) => secret,
  'in JSON': escaped,
  'in JSON in JSON': (secret) => escaped(escaped(secret)),
  'in a URL': (secret) => encodeURIComponent(secret).replaceAll('%2B', '+'),
  'after an escape': (secret) => `x:\\n${escaped(secret)}\\n`,
  'in color': (secret) => `\u001b[31m${secret}\u001b[0m`,
};

test('no secret of a known shape survives, although nobody knew it', () => {
  const survivors: string[] = [];
  let planted = 0;
  for (const [shape, secret] of Object.entries(SHAPES)) {
    for (const [writing, write] of Object.entries(WRITINGS)) {
      for (const [place, around] of Object.entries(PLACES)) {
        // In the middle of a word nobody can tell where a value begins that nobody knows.
        if (place === 'side by side') continue;
        planted += 1;
        const output = seen(around.replaceAll('@', () => write(secret)));
        const left = core(write(secret)).filter((part) => output.includes(part));
        if (left.length > 0) survivors.push(`${shape} ${writing} at ${place}: ${left[0]}`);
      }
    }
  }
  expect(survivors).toEqual([]);
  expect(planted).toBeGreaterThan(2000);
});

/** What gzip makes of a=1: too short to look random. */
const COMPRESSED = 'H4sIAAAAAAAAA0u0NQQAgTBijQMAAAA=';

test.each([
  ['got # back'],
  ['release=#'],
  ['{"release":"#"}'],
  ['--release=#,'],
])('compressed data is hidden, and what stands around it stays: %s', (around) => {
  for (const data of [COMPRESSED, Buffer.from(COMPRESSED).toString('base64')])
    expect(seen(around.replace('#', data)).replace(/\[redacted:secret:\w+\]/, '#')).toBe(around);
});

test('compressed data over several lines has one pseudonym', () => {
  const data = `H4sI${'A3b/'.repeat(52)}`;
  expect(seen(data.replace(/.{76}/g, '$&\n  '))).toMatch(/^\[redacted:secret:\w+\]$/);
});

test.each([
  'H4sIAAAAAAAAA0u0NQQAgTBijQMAAA=',
  'the word AAAAAH4sIAAAAAAAAA0u0NQQAgTBijQMAAAA',
])('too little, or the middle of other data, is not compressed data: %s', (text) => {
  expect(seen(text)).toBe(text);
});

test('a private key that is cut off goes as far as it is there', () => {
  const lines = (VALUES['key'] as string).split('\n');
  const cut = `${lines.slice(0, 3).join('\n')}\nthe next line of the log\n`;
  expect(seen(cut)).toMatch(/^\[redacted:private-key:\w+\]\nthe next line of the log\n$/);
  expect(seen(lines.map((line) => `2026-11-21T10:00:00.1Z ${line}`).join('\n'))).toMatch(
    /^2026-11-21T10:00:00.1Z \[redacted:private-key:\w+\]$/,
  );
});

test('certificates and public keys stay', () => {
  const text = (VALUES['key'] as string).replaceAll('PRIVATE KEY', 'CERTIFICATE');
  for (const each of [
    text,
    Buffer.from(text).toString('base64'),
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBoiT3',
  ])
    expect(seen(each)).toBe(each);
});

const ROWS = Object.entries(IMPORTED).flatMap(([characters, rows]) =>
  rows.map((row) => {
    const [prefix = '', least = '20'] = row.split(' ');
    return {prefix, least: Number(least), text: characters.startsWith('A-F') ? hex : abc};
  }),
);

test.each(ROWS)('hides a token that begins with $prefix', ({prefix, least, text: of}) => {
  const token = `${prefix}${of(25).repeat(12).slice(0, least)}`;
  for (const text of [`got ${token}\n`, `{"m":"${token}"}`, `x=${token};`])
    expect(seen(text)).not.toContain(token.slice(0, prefix.length + 8));
});

test('hides a token that says that it was cut off', () => {
  for (const token of ['glpat-7ookIGWqt', 'dapi0348b8', 'hf_kQwXzNmbP', 'NRAK-7KQ2M9'])
    for (const end of ['...', '…'])
      expect(seen(`token is invalid: ${token}${end}\n`)).not.toContain(token);
});

test.each([
  'API-gateway-integration-v2-production',
  'persona_production_database_subnet_1',
  'cog_settings_for_region_eu_2',
  'tss_server_configuration_v2',
  'lip_reading_model_weights',
  'npm_config_registry_prefix_2',
])('a name that begins like a token stays: %s', (name) => {
  expect(seen(`  module.${name} created, see ${name}\n`)).toContain(`see ${name}`);
});
