/** Last words that make a key one of a secret, also written together with others: pgpassword, clientsecret. */
const SECRET =
  /(?:password|passwd|passphrase|passcode|passwort|pwd|secret|token|(?:api|access|private|secret|auth|encryption)key|credentials?)$/;
const SECRET_ALONE = new Set(['pass', 'pw', 'pat', 'jwt', 'dsn', 'sig', 'signature', 'authorization', 'cookie', 'auth', 'bearer', 'creds']);
/** What a key is for decides whether it is secret. */
const KEYS =
  'access account admin aes api auth authentication client decryption encryption hmac host jwt license master private rsa secret service shared signing ssh storage tls webhook';
const SECRET_KEYS = new Set(KEYS.split(' '));
const PAIRS = new Set(['connection string', 'conn string', 'connection str', 'conn str', 'shared signature', 'access signature']);
/** Words after the secret one that leave it one: DB_PASSWORD_PROD, tokenBase64. */
const STILL = new Set(
  'value val text plain plaintext raw base64 b64 data encoded string prod production staging stage dev test old new current previous next primary secondary default'.split(
    ' ',
  ),
);
/** `<word> secret` is the name of a Secret, `<word> secret key` a key inside of one. */
const OF_OBJECTS = new Set(
  'existing image pull token ca cert certificate certs bundle tls registry volume kube kubernetes k8s cache claim proxy sa account credentials password auth key'.split(
    ' ',
  ),
);

const WORDS = new Set(['pass', 'pw', 'pat', 'sig', 'auth', 'bearer', 'signature', 'credential', 'credentials']);

const OF_PLACE = /^(?:OLD)?PWD$/;

/** Where a shell is; in a connection string the same key is that of a password. */
export const isPlace = (key: string, value: string): boolean => OF_PLACE.test(key) && /^(?:[/~.]|[A-Z]:\\)/i.test(value);

/** A key as words: camel case, dots, dashes and underscores come apart. */
const wordsOf = (key: string): string[] =>
  key
    .replace(/pass[-_]?(?:word|phrase|code)(?![a-z])/gi, 'password ')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');

/** Whether a key holds a secret, perhaps only the name of one, is a word that people also use for other things, or none of these. */
export function keyHolds(key: string): 'secret' | 'name' | 'word' | 'other' {
  // Terraform finds the token of a host in TF_TOKEN_host_name; a shell keeps where it is in PWD.
  if (/^TF_TOKEN_/.test(key)) return 'secret';
  if (OF_PLACE.test(key)) return 'word';
  const words = wordsOf(key);
  while (words.length > 1 && (STILL.has(words.at(-1) as string) || /^\d+$/.test(words.at(-1) as string))) words.pop();
  const [last = '', second = '', third = ''] = words.toReversed();
  if (last === 'key' && second === 'secret') return OF_OBJECTS.has(third) ? 'name' : 'secret';
  if (last === 'key') return SECRET_KEYS.has(second) ? 'secret' : 'other';
  if (PAIRS.has(`${second} ${last}`)) return 'secret';
  if (last === 'secret') return OF_OBJECTS.has(second) ? 'name' : 'secret';
  if (words.length === 1 && WORDS.has(last)) return 'word';
  return SECRET_ALONE.has(last) || SECRET.test(last) ? 'secret' : 'other';
}

/** Every key that can hold a secret ends in one of these, but for words that may follow. */
export const KEY_ANCHORS: readonly string[] = [
  ...['password', 'passwd', 'passphrase', 'passcode', 'passwort', 'pwd', 'pass', 'secret', 'token', 'key', 'credential', 'creds', 'pw'],
  ...['authorization', 'auth', 'bearer', 'cookie', 'dsn', 'signature', 'sig', 'pat', 'jwt', 'connection', 'conn'],
];
