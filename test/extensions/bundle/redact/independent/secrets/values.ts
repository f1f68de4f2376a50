import {KEYS} from './keys.ts';
import {
  alnumPassword,
  hardPassword,
  humanPassword,
  passphrase,
  password,
  randomPassword,
  word,
} from './passwords.ts';
import type {Random} from './random.ts';
import {VENDOR_TOKENS} from './vendor-tokens.ts';

type Make = (random: Random) => string;

const hex =
  (length: number): Make =>
  (random) =>
    random.signs('hex', length);
const base64 =
  (bytes: number): Make =>
  (random) =>
    random.bytes(bytes).toString('base64');
const alnum =
  (length: number): Make =>
  (random) =>
    random.signs('alnum', length);

export const SECRETS: Readonly<Record<string, Make>> = {
  ...VENDOR_TOKENS,
  ...KEYS,
  password,
  randomPassword: (random) => randomPassword(random),
  humanPassword,
  hardPassword,
  passphrase,
  alnumPassword,
  word,
  hex16: hex(16),
  hex24: hex(24),
  hex32: hex(32),
  hex40: hex(40),
  hex48: hex(48),
  hex64: hex(64),
  hex128: hex(128),
  upperHex40: (random) => hex(40)(random).toUpperCase(),
  base64of16: base64(16),
  base64of24: base64(24),
  base64of32: base64(32),
  base64of48: base64(48),
  base64of64: base64(64),
  url32: (random) => random.bytes(32).toString('base64url'),
  url64: (random) => random.bytes(64).toString('base64url'),
  alnum8: alnum(8),
  alnum16: alnum(16),
  alnum20: alnum(20),
  alnum24: alnum(24),
  alnum32: alnum(32),
  alnum40: alnum(40),
  alnum48: alnum(48),
  alnum64: alnum(64),
  lower16: (random) => random.signs('lowerDigits', 16),
  lower32: (random) => random.signs('lowerDigits', 32),
  upper24: (random) => random.signs('upperDigits', 24),
  uuid: (random) => random.uuid(),
  totp: (random) => random.signs('base32', 32),
  pin: (random) => random.signs('digits', 6),
  license: (random) => Array.from({length: 5}, () => random.signs('upperDigits', 5)).join('-'),
  recovery: (random) => `${random.signs('lowerDigits', 5)}-${random.signs('lowerDigits', 5)}`,
  mnemonic: (random) => Array.from({length: 12}, () => word(random)).join(' '),
  appPassword: (random) => Array.from({length: 4}, () => random.signs('lower', 4)).join(' '),
  basic: (random) =>
    Buffer.from(
      `${random.pick(['admin', 'deploy', 'oauth2', 'x-access-token'])}:${password(random)}`,
    ).toString('base64'),
  dockerAuth: (random) => Buffer.from(`AWS:${random.signs('alnum', 60)}`).toString('base64'),
  sha512crypt: (random) => `$6$${random.signs('alnum', 16)}$${random.signs('alnum', 86)}`,
  bcrypt: (random) => `$2y$10$${random.signs('alnum', 53)}`,
  apr1: (random) => `$apr1$${random.signs('alnum', 8)}$${random.signs('alnum', 22)}`,
  mysqlHash: (random) => `*${random.signs('hex', 40).toUpperCase()}`,
  scram: (random) =>
    `SCRAM-SHA-256$4096:${random.bytes(16).toString('base64')}$${random.bytes(32).toString('base64')}:${random.bytes(32).toString('base64')}`,
  signature: (random) => random.signs('hex', 64),
  cookie: (random) => `s%3A${random.signs('url', 32)}.${random.signs('alnum', 43)}`,
  wireguard: base64(32),
  gzipped: (random) => `H4sIAAAAAAAC/${random.signs('base64', 600)}`,
  kubeconfigKey: (random) => Buffer.from(`${KEYS['rsaKey']?.(random)}\n`).toString('base64'),
};
