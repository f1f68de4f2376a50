/**
 * What a key name indicates about its value: a secret; perhaps the name of a Kubernetes Secret; a word that has other meanings, too;
 * maybe a secret, if it looks like one; or nothing.
 */
export type KeyKind = 'secret' | 'name' | 'word' | 'maybe' | 'other';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** A word that names a secret, also in compounds: pgpassword, clientsecret, secretkeybase. */
const SECRET =
  /ssword$|pass(?:word|wd|phrase|code|wort)s?$|(?:secret|token|credential|cred)s?$|pwd$|^[a-z]{2,8}pw$|tok$|(?<!^by|com|sur|tres|over|under)pass$|(?:api|access|private|secret|auth|signing|encryption|master|session|account|license)_?keys?(?:$|base)|conn(?:ection)?str(?:ing)?$/;
/** Words of other languages. */
const FOREIGN = words(
  'kennwort contraseña contrasena senha heslo haslo hasło jelszó motdepasse wachtwoord lösenord losenord passord adgangskode salasana parola parolă lozinka пароль 密码 密碼 パスワード 비밀번호 סיסמה şifre κωδικός geslo zaporka slaptažodis parool пароля รหัสผ่าน',
);
export const isForeignPassword = (key: string): boolean => FOREIGN.has(key.toLowerCase());
const FOREIGN_PHRASES = ['mot de passe', 'كلمة المرور', 'كلمة السر', 'mật khẩu', 'kata sandi'];
const CODES = ['one-time', 'verification', 'recovery', 'backup', 'unlock', 'mfa', 'security'].map(
  (kind) => `${kind} code`,
);
const PHRASES = [...FOREIGN_PHRASES, ...CODES];
const asBytes = (word: string): string => Buffer.from(word).toString('latin1');
const asJson = (word: string): string =>
  word.replace(/[^\0-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
/** Those that are no word of ASCII, as bytes of UTF-8, in JSON and in JSON in a string; letters of ASCII have any case. */
const SPELLINGS = [...FOREIGN, ...PHRASES]
  .flatMap((word) => [word, word.toUpperCase(), word.charAt(0).toUpperCase() + word.slice(1)])
  .flatMap((word) => [asBytes(word), asJson(word), asJson(word).replaceAll('\\', '\\\\')])
  .filter((word) => /\W/.test(word));
const IS_SPELLING = new Set(SPELLINGS.map((word) => word.toLowerCase()));
const SECRET_ALONE = words(
  'pass pw pat pin psk pepper jwt dsn sig signature authorization cookie auth bearer creds sas otp totp mnemonic',
);
/** Meant as a secret only after `=`, in quotes or with a random value. */
const WORDS = words('pass pw pin pat sig auth bearer signature credential credentials creds otp');
const MAYBE = words(
  'key session sid sessionid sess csrf xsrf hmac salt seed mac signature sig code license extraheader plaintext',
);
/** `<word> key` is a secret. */
const SECRET_KEYS = words(
  'access account admin aes api app application certificate auth authentication client decryption encryption hmac host instrumentation integration jwt license master private rsa secret service shared signing ssh storage subscription tls webhook',
);
/** `writekey`, but not `pubkey`. */
const COMPOUND_KEY =
  /(?<!mon|tur|hot|don|joc|whis|pub|public|foreign|primary|sort|partition|cache)keys?$/;
const CONNECTION = /conn(?:ection)?[_-]?str(?:ing)?$/i;
/** Before `key`, in a sentence. */
const SECRET_KEY =
  /(?:access|account|activation|admin|aes|api|app|de?cryption|deploy|encryption|function|hmac|license|master|product|recovery|secret|service|shared|signing|storage|subscription|unseal) $/i;
const PUBLIC_KEYS = words(
  'gpg foreign sort partition cache pub object kms idempotency dedup row group id resource state registry lock index map message',
);
const PAIRS = new Set([
  'shared signature',
  'access signature',
  'auth header',
  'auth ident',
  'otp seed',
  'totp seed',
  'admin pin',
  'device code',
  'code verifier',
  'client assertion',
  'honeycomb team',
]);
/** Words that can follow the secret word: DB_PASSWORD_PROD, tokenBase64. */
const STILL = words(
  'wo base value val text plain plaintext raw base64 b64 hex data encoded string pem prod production staging stage dev test old new current previous next primary secondary default',
);
/** Words after a secret word that make it something else: token_type, password_policy. */
const METADATA = words(
  'id ids name names ref refs arn type types kind count counts len length size limit limits max min ttl age expiry expires expiration duration timeout at date time version path file files filename dir directory url uri endpoint host source provider issuer audience scope scopes policy policies rule rules format algorithm alg method mode enabled disabled required optional set changed updated created status state error errors failures rate requests refresh rotation store manager service server header prefix table index checks set auth used env variable',
);
/** Words before it that do the same: max_token, has_password. */
const COUNTS = words('max min num total count has is no prompt completion stop input output');
/** `<word> secret` is the name of a Secret, `<word> secret key` a key inside of one. */
const OF_OBJECTS = words(
  'existing image pull token ca cert certificate certs bundle tls registry volume kube kubernetes k8s cache claim proxy sa account credentials password auth key',
);

/** The second half of a credential, in spite of its name. */
export const SECRET_IDS = /secret[_-]?id$|sess(?:ion)?[_-]?id$|private_key_id$/i;
/** Keys next to a secret or below it whose values are none. */
const DESCRIBING = words(
  'user username login host hostname port region namespace email description category sensitive owner role key action actions references expires_in kid kty n e x y use alg x5t valuefrom resource',
);
export const isDescription = (key: string): boolean => {
  const last = wordsOf(key).at(-1) ?? '';
  return METADATA.has(last) || DESCRIBING.has(last);
};

const OF_PLACE = /^(?:OLD)?PWD$/;

/** The working directory in a shell, but a password in a connection string. */
export const isPlace = (key: string, value: string): boolean =>
  OF_PLACE.test(key) && /^(?:[/~.]|[A-Z]:\\)/i.test(value);

/** Splits a key into words: camel case, dots, dashes and underscores. */
const wordsOf = (key: string): string[] =>
  key
    .replace(/pass[-_]?(?:word|phrase|code)(?![a-z])/gi, 'password ')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9\x80-\xff]+/)
    .filter((word) => word !== '');

export function keyKind(key: string): KeyKind {
  // Terraform reads the token of a host from TF_TOKEN_host_name.
  if (/^TF_TOKEN_/.test(key)) return 'secret';
  if (OF_PLACE.test(key)) return 'word';
  // A rule of checkov.
  if (/^CKV2?_/.test(key)) return 'other';
  const all = wordsOf(key);
  const end = all.findLastIndex((word) => !STILL.has(word) && !/^\d+$/.test(word)) + 1;
  const [last = '', second = '', third = ''] = all.slice(0, end || all.length).toReversed();
  if (SECRET_IDS.test(key)) return 'secret';
  if (FOREIGN.has(last) || PAIRS.has(`${second} ${last}`)) return 'secret';
  if ((METADATA.has(last) && last !== 'auth') || /^(?:is|has|should|can|needs)$/.test(all[0] ?? ''))
    return 'other';
  if (/^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_KEY$/.test(key) && !PUBLIC_KEYS.has(second)) return 'secret';
  if (last === 'key' || last === 'keys') {
    if (second === 'secret') return OF_OBJECTS.has(third) ? 'name' : 'secret';
    if (SECRET_KEYS.has(second) && last === 'key') return 'secret';
    return PUBLIC_KEYS.has(second) ? 'other' : 'maybe';
  }
  if (last === 'secret') return OF_OBJECTS.has(second) ? 'name' : 'secret';
  if (all.length === 1 && WORDS.has(last)) return 'word';
  if (/token$/.test(last) && COUNTS.has(second)) return 'other';
  if (/(?:secret|token|password|cred)s$/.test(last)) return last === 'creds' ? 'secret' : 'maybe';
  if (SECRET_ALONE.has(last) || SECRET.test(last)) return 'secret';
  const isMaybe = MAYBE.has(last) || COMPOUND_KEY.test(last) || CONNECTION.test(key);
  return isMaybe || all.some((word) => SECRET.test(word)) ? 'maybe' : 'other';
}

/** Short words are parts of many others: `pat` of every path. */
const SHORT = ['pass', 'pin', 'pat', 'sid', 'sas', 'otp', 'pw', 'sig'].flatMap((word) => [
  `_${word}`,
  `-${word}`,
  ...[...`=:,_- "'\\\n`].map((next) => word + next),
]);
/** Every key that is not `other` holds one of these. */
export const KEY_ANCHORS: readonly string[] = [
  ...words(
    'ssword passwd passphrase passcode passwort pwd secret token key cred auth bearer cookie dsn signature jwt mnemonic session pepper',
  ),
  ...words(
    'csrf xsrf hmac salt seed connstr conn_str conn-str connectionstr connection_str connection-str extraheader psk sessid authtok otp_seed plaintext device_code verifier client_assertion honeycomb',
  ),
  ...SHORT,
  ...[...FOREIGN].filter((word) => /^\w+$/.test(word)),
  ...SPELLINGS,
];

export interface Key {
  text: string;
  start: number;
  end: number;
  kind: KeyKind;
}

const OF_KEY = new Uint8Array(256);
for (const one of Buffer.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-'))
  OF_KEY[one] = 1;
OF_KEY.fill(1, 0x80);
const isOfKey = (text: string, position: number): boolean =>
  OF_KEY[text.charCodeAt(position)] === 1;

const MOST = 128;
const MOST_REMEMBERED = 2000;

/** The key around a word, unless it is too generic. Longer words are not keys. `keyKinds` remembers what was read before. */
export function keyAround(
  text: string,
  {start, end}: {start: number; end: number},
  keyKinds: Map<string, KeyKind>,
): Key | undefined {
  if (IS_SPELLING.has(text.slice(start, end).toLowerCase()))
    return {text: 'password', start, end, kind: 'secret'};
  let last = end;
  while (last > start && !isOfKey(text, last - 1)) last -= 1;
  while (last - end < MOST && isOfKey(text, last)) last += 1;
  if (last - start > MOST) return undefined;
  const first = startOfKey(text, start);
  if (last - first > MOST) return undefined;
  const [phrase] = /^keys?$/i.test(text.slice(first, last))
    ? (SECRET_KEY.exec(text.slice(Math.max(0, first - 21), first)) ?? [])
    : [];
  const key = (phrase ?? '') + text.slice(first, last);
  let kind = keyKinds.get(key);
  if (kind === undefined) {
    kind = keyKind(key);
    if (keyKinds.size > MOST_REMEMBERED) keyKinds.clear();
    // A copy: a slice would keep the whole text in memory.
    keyKinds.set(Buffer.from(key, 'latin1').toString('latin1'), kind);
  }
  return kind === 'other' ? undefined : {text: key, start: first, end: last, kind};
}

/** Escapes end in a letter that is not part of the key: `\nTOKEN=`. */
function startOfKey(text: string, start: number): number {
  let position = start;
  while (position > 0 && start - position < MOST && isOfKey(text, position - 1)) position -= 1;
  const before = text.charAt(position - 1);
  const [encoded = ''] =
    before === '%' ? (/^(?:25)*[0-9A-F]{2}/i.exec(text.slice(position, start)) ?? []) : [];
  if (encoded !== '') return position + encoded.length;
  if (before !== '\\' || position >= start) return position;
  const [letters = ''] = /^(?:[nrt]|u00[0-9a-f]{2})/i.exec(text.slice(position, start)) ?? [];
  return position + letters.length;
}
