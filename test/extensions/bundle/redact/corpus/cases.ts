import {generateKeyPairSync, randomBytes} from 'node:crypto';
import {gzipSync} from 'node:zlib';
import {UNKNOWN} from './unknown-secrets.ts';

/** One text with a secret in it. `secrets` are the secrets as written in the text. */
export interface Case {
  class: string;
  line: string;
  wrap: string;
  isHeldOut: boolean;
  text: string;
  secrets: readonly string[];
}

/** Deterministic random numbers (mulberry32), so that a rate does not change between runs. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

type Random = ReturnType<typeof randomOf>;

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const BASE62 = `${LOWER}${LOWER.toUpperCase()}${DIGITS}`;
const WORDS =
  'hunter mellon correct horse battery staple dragon monkey summer winter sunshine shadow Welcome Letmein orange purple'.split(
    ' ',
  );

const string = (random: Random, length: number, of = BASE62): string =>
  Array.from({length}, () => of[random(of.length)] as string).join('');
/** Random text always has a digit, a capital and a small letter. */
const mixed = (random: Random, length: number): string =>
  `${string(random, length - 3)}${'k7Q'.slice(0, Math.min(3, length))}`.slice(-length);
const bytes = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({length}, () => random(256)));
const word = (random: Random): string => WORDS[random(WORDS.length)] as string;
const strong = (random: Random): string =>
  [
    () => `${word(random)}-${string(random, 4, DIGITS)}-${word(random)}9`,
    () => mixed(random, 12),
    () => `${mixed(random, 8)}!${string(random, 3)}`,
  ][random(3)]?.() as string;

/** A password as people and generators make them. `signs` can stand anywhere in it, also at its start. */
const password = (random: Random, signs: string): string => {
  const sign = (): string => string(random, 1, signs);
  return [
    () => `${word(random)}${random(100)}`,
    () => mixed(random, 20),
    () => `${sign()}${mixed(random, 9)}${sign()}${string(random, 4)}`,
    () => `${word(random)}${sign()}${word(random)}${sign()}${random(1000)}`,
    () => bytes(random, 16).toString('hex'),
    () => `${sign()}${sign()}${string(random, 8)}${sign()}`,
    () => `${string(random, 10, LOWER)}`,
  ][random(7)]?.() as string;
};

const SIGNS: Readonly<Record<string, string>> = {
  any: '!#$%&*+,-./:;<=>?@[]^_{|}~()',
  yaml: '!$%&*+-./=?@^_~;<>',
  variables: '!#$%*+,-./:=?@[]^_{}~',
  go: '!#$%&*+-./;<=>?@^_~',
  'any-xml': '!#$%*+,-./:;=?@[]^_{|}~()',
  'any-sql': '!#$%&*+,-./:;<=>?@[]^_{|}~()',
  arg: '!%+,-./:=?@^_~',
  url: '!$*+,-._~()',
};

const wrap = (text: string, width: number): string =>
  text.match(new RegExp(`.{1,${width}}`, 'g'))?.join('\n') as string;
const pemOf = (name: string, der: Buffer): string =>
  `-----BEGIN ${name}-----\n${wrap(der.toString('base64'), 64)}\n-----END ${name}-----`;

const {privateKey} = generateKeyPairSync('rsa', {modulusLength: 2048});
const PKCS8 = privateKey.export({type: 'pkcs8', format: 'pem'}).toString().trim();
const PKCS1 = privateKey.export({type: 'pkcs1', format: 'pem'}).toString().trim();
const EC = generateKeyPairSync('ec', {namedCurve: 'prime256v1'})
  .privateKey.export({type: 'sec1', format: 'pem'})
  .toString()
  .trim();
const OPENSSH = pemOf(
  'OPENSSH PRIVATE KEY',
  Buffer.concat([Buffer.from('openssh-key-v1\0'), randomBytes(420)]),
);
const lines = (pem: string): string[] => pem.split('\n');
const body = (pem: string): string[] => lines(pem).filter((line) => !line.startsWith('-----'));

const KEYS: Readonly<Record<string, () => {text: string; secrets: string[]}>> = {
  pem: () => ({text: PKCS8, secrets: body(PKCS8)}),
  'pem-rsa': () => ({text: PKCS1, secrets: body(PKCS1)}),
  'pem-ec': () => ({text: EC, secrets: body(EC)}),
  'pem-openssh': () => ({text: OPENSSH, secrets: body(OPENSSH)}),
  'pem-pgp': () => {
    const key = body(pemOf('X', randomBytes(300)));
    return {
      text: [
        '-----BEGIN PGP PRIVATE KEY BLOCK-----',
        'Version: GnuPG v2',
        '',
        ...key,
        '=aB3d',
        '-----END PGP PRIVATE KEY BLOCK-----',
      ].join('\n'),
      secrets: key,
    };
  },
  'pem-no-begin': () => ({text: lines(PKCS8).slice(5).join('\n'), secrets: body(PKCS8).slice(4)}),
  'pem-no-end': () => ({
    text: lines(PKCS1).slice(0, 9).join('\n'),
    secrets: lines(PKCS1).slice(1, 9),
  }),
  'pem-no-begin-end': () => ({
    text: body(PKCS8).slice(3, 12).join('\n'),
    secrets: body(PKCS8).slice(3, 12),
  }),
  'pem-prefixed': () => ({
    text: lines(PKCS8)
      .map((line, index) => `[scalr-agent] ${index} | ${line}`)
      .join('\n'),
    secrets: body(PKCS8),
  }),
  'pem-base64-0': () => base64At(PKCS8, 0),
  'pem-base64-1': () => base64At(PKCS1, 1),
  'pem-base64-2': () => base64At(PKCS8, 2),
  'pem-json': () => ({text: JSON.stringify({tls: `${PKCS8}\n`, n: 1}), secrets: body(PKCS8)}),
  'pem-one-line': () => ({text: `key ${lines(PKCS8).join('')} loaded`, secrets: body(PKCS8)}),
  putty: () => {
    const key = body(pemOf('X', randomBytes(300)));
    const text = [
      'PuTTY-User-Key-File-3: ssh-ed25519',
      'Encryption: none',
      'Comment: bob',
      'Public-Lines: 2',
      'AAAAC3NzaC1lZDI1NTE5',
      'AAAAIBoiT3',
      `Private-Lines: ${key.length}`,
      ...key,
      `Private-MAC: ${randomBytes(32).toString('hex')}`,
    ];
    return {text: text.join('\n'), secrets: key};
  },
  pkcs12: () => {
    const der = Buffer.concat([
      Buffer.from('30820a3c020103308209f506092a864886f70d010701', 'hex'),
      randomBytes(900),
    ]);
    return {text: `keystore: ${der.toString('base64')}`, secrets: [der.toString('base64')]};
  },
  'pem-encrypted': () => {
    const pem = pemOf('ENCRYPTED PRIVATE KEY', randomBytes(500));
    return {text: pem, secrets: body(pem)};
  },
  'pem-der': () => ({text: `der=${body(PKCS8).join('')}`, secrets: body(PKCS8)}),
  'pem-kubeconfig': () => ({
    text: `    client-key-data: ${Buffer.from(PKCS1).toString('base64')}`,
    secrets: [Buffer.from(PKCS1).toString('base64')],
  }),
  'pem-spaces': () => ({text: `tls_key: ${lines(PKCS8).join(' ')}`, secrets: body(PKCS8)}),
};

const base64At = (pem: string, before: number): {text: string; secrets: string[]} => {
  const written = Buffer.from(`${'x'.repeat(before)}${pem}\n`).toString('base64');
  return {text: `value ${written}`, secrets: [written.slice(40)]};
};

const jwt = (random: Random): string =>
  [
    JSON.stringify({alg: 'HS256', typ: 'JWT'}),
    JSON.stringify({sub: string(random, 12), iat: 1_700_000_000 + random(9999)}),
  ]
    .map((part) => Buffer.from(part).toString('base64url'))
    .concat(bytes(random, 32).toString('base64url'))
    .join('.');

const gzip = (random: Random): string =>
  gzipSync(`{"config":{"agent":{"token":"${string(random, 60)}"}}}`).toString('base64');

function written(
  kind: string,
  name: string,
  random: Random,
): {text: string; secrets: readonly string[]} {
  const key = KEYS[kind];
  if (key !== undefined) return key();
  const text = textOf(kind, name, random);
  return {text, secrets: [text]};
}

function textOf(kind: string, name: string, random: Random): string {
  const [, start = '', length = ''] = /^(b62x|hex|upper|lower|bech)(\d*)$/.exec(kind) ?? [];
  if (start === 'b62x') return mixed(random, Number(length));
  if (start === 'hex') return string(random, Number(length || 40), '0123456789abcdef');
  if (start === 'upper') return string(random, Number(length), `${LOWER.toUpperCase()}234567`);
  if (start === 'lower') return string(random, Number(length));
  if (start === 'bech') return string(random, Number(length), 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L');
  switch (kind) {
    case 'any':
      return password(
        random,
        (name === 'yaml' || name === 'variables' || name === 'go'
          ? SIGNS[name]
          : SIGNS['any']) as string,
      );
    case 'b62':
      return mixed(random, 24 + random(24));
    case 'b62long':
      return mixed(random, 32 + random(24));
    case 'b64':
      return bytes(random, 32 + random(16)).toString('base64');
    case 'b64url':
      return bytes(random, 32 + random(16)).toString('base64url');
    case 'b64pct':
      return encodeURIComponent(bytes(random, 32).toString('base64'));
    case 'basic':
      return Buffer.from(`bob:${password(random, SIGNS['any'] as string)}`).toString('base64');
    case 'digits':
      return string(random, 8, '123456789');
    case 'words':
      return `${word(random)} ${word(random)} ${word(random)}${random(10)}`;
    case 'strong':
      return strong(random);
    case 'jwt':
      return jwt(random);
    case 'gzip':
      return gzip(random);
    case 'gzip2':
      return Buffer.from(gzip(random)).toString('base64');
    default:
      return password(random, SIGNS[kind] as string);
  }
}

const inner = (text: string): string => JSON.stringify(text).slice(1, -1);
const eachLine = (text: string, write: (line: string, index: number) => string): string =>
  text.split('\n').map(write).join('\n');

/** What stands around a text in a log, and how that changes a secret. */
const WRAPS: Readonly<
  Record<string, {around(text: string): string; secret(secret: string): string}>
> = {
  plain: {around: (text) => `${text}\n`, secret: (secret) => secret},
  stamped: {
    around: (text) =>
      `${eachLine(text, (line, at) => `2026-11-21T10:00:0${at % 10}.123456789Z ${line}`)}\n`,
    secret: (secret) => secret,
  },
  'in JSON': {
    around: (text) =>
      `${JSON.stringify({event: text, level: 'info', logger_name: 'tacoagent.worker', timestamp: '2026-11-21 10:00:00.4'})}\n`,
    secret: inner,
  },
  'line by line in JSON': {
    around: (text) =>
      `${eachLine(text, (line) => JSON.stringify({log: `${line}\n`, stream: 'stderr', time: '2026-11-21T10:00:00.1Z'}))}\n`,
    secret: inner,
  },
  'in a sentence': {
    around: (text) => `before\n${text}\nand then the request failed with status 401\n`,
    secret: (secret) => secret,
  },
  'of a kubelet': {
    around: (text) =>
      `${eachLine(text, (line) => `2026-11-21T10:00:00.123456789Z stdout F ${line}`)}\n`,
    secret: (secret) => secret,
  },
  'in JSON twice': {
    around: (text) => `{"msg":${JSON.stringify(JSON.stringify({body: text}))},"n":1}\n`,
    secret: (secret) => inner(inner(secret)),
  },
};

/** The first value of every line is plain, the others have other surroundings. */
export function* casesOf(each = 6): Generator<Case> {
  const random = randomOf(20_261_121);
  const wraps = Object.entries(WRAPS);
  for (const [name, all] of Object.entries(UNKNOWN)) {
    for (const [index, line] of all.entries()) {
      for (let round = 0; round < each; round += 1) {
        const [wrapName, {around, secret}] = wraps[
          round === 0 ? 0 : (index + round) % wraps.length
        ] as (typeof wraps)[number];
        const secrets: string[] = [];
        const text = line.replace(/«([\w-]+)»/g, (_, kind: string) => {
          const value = written(kind, name, random);
          secrets.push(...value.secrets);
          return value.text;
        });
        yield {
          class: name,
          line,
          wrap: wrapName,
          isHeldOut: index % 2 === 1,
          text: around(text),
          secrets: secrets.map(secret),
        };
      }
    }
  }
}

/** A secret survives if half of it, or 24 characters, can be read. */
export function survivorsIn(output: string, secrets: readonly string[]): string[] {
  return secrets.filter((secret) => {
    const length = Math.min(24, Math.max(5, Math.ceil(secret.length / 2)));
    for (let at = 0; at + length <= secret.length; at += 1)
      if (output.includes(secret.slice(at, at + length))) return true;
    return false;
  });
}
