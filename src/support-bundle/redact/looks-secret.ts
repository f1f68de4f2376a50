import {COLOUR} from './rule.ts';

/** Last words of secret keys, also in compounds: pgpassword, clientsecret. */
const SECRET =
  /(?:password|passwd|passphrase|passcode|passwort|pwd|secret|token|(?:api|access|private|secret|auth|encryption)key|credentials?)$/;
const SECRET_ALONE = new Set(['pass', 'pw', 'pat', 'jwt', 'dsn', 'sig', 'signature', 'authorization', 'cookie', 'auth', 'bearer', 'creds']);
/** The words before it decide whether a key is secret. */
const KEYS =
  'access account admin aes api auth authentication client decryption encryption hmac host jwt license master private rsa secret service shared signing ssh storage tls webhook';
const SECRET_KEYS = new Set(KEYS.split(' '));
const PAIRS = new Set(['connection string', 'conn string', 'connection str', 'conn str', 'shared signature', 'access signature']);
/** Words that can follow the secret word: DB_PASSWORD_PROD, tokenBase64. */
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

/** The working directory in a shell, but a password in a connection string. */
export const isPlace = (key: string, value: string): boolean => OF_PLACE.test(key) && /^(?:[/~.]|[A-Z]:\\)/i.test(value);

/** Splits a key into words: camel case, dots, dashes and underscores. */
const wordsOf = (key: string): string[] =>
  key
    .replace(/pass[-_]?(?:word|phrase|code)(?![a-z])/gi, 'password ')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');

/** Whether a key holds a secret, possibly only the name of one, is an ambiguous word, or none of these. */
export function keyHolds(key: string): 'secret' | 'name' | 'word' | 'other' {
  // Terraform reads the token of a host from TF_TOKEN_host_name; PWD is the working directory in a shell.
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

/** Every secret key ends in one of these words, apart from words that can follow. */
export const KEY_ANCHORS: readonly string[] = [
  ...['password', 'passwd', 'passphrase', 'passcode', 'passwort', 'pwd', 'pass', 'secret', 'token', 'key', 'credential', 'creds', 'pw'],
  ...['authorization', 'auth', 'bearer', 'cookie', 'dsn', 'signature', 'sig', 'pat', 'jwt', 'connection', 'conn'],
];

export interface Key {
  text: string;
  start: number;
  end: number;
  holds: ReturnType<typeof keyHolds>;
}

const OF_KEY = new Uint8Array(256);
for (const one of Buffer.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-')) OF_KEY[one] = 1;
const isOfKey = (text: string, place: number): boolean => OF_KEY[text.charCodeAt(place)] === 1;

const MOST = 128;
const COLOUR_BEFORE = new RegExp(`${COLOUR}([\\w.-]*)$`);
/** Logs repeat few keys. */
const remembered = new Map<string, Key['holds']>();

/** The key around a word, unless it holds nothing; longer ones are not keys. */
export function keyAround(text: string, start: number, end: number): Key | undefined {
  if (goesOn(text.charCodeAt(end - 1), text.charCodeAt(end))) return undefined;
  let last = end;
  while (last - end < MOST && isOfKey(text, last)) last += 1;
  const first = startOfKey(text, start);
  const key = text.slice(first, last);
  let holds = remembered.get(key);
  if (holds === undefined) {
    holds = keyHolds(key);
    if (remembered.size > 2000) remembered.clear();
    // A copy: a slice would keep the whole text in memory.
    remembered.set(Buffer.from(key, 'latin1').toString('latin1'), holds);
  }
  return holds === 'other' ? undefined : {text: key, start: first, end: last, holds};
}

/** `tokens` and `PASSIVE` contain neither a token nor a password. */
const goesOn = (last: number, next: number): boolean => (isSmall(last) && isSmall(next)) || (isCapital(last) && isCapital(next));
const isSmall = (code: number): boolean => code >= 97 && code <= 122;
const isCapital = (code: number): boolean => code >= 65 && code <= 90;

/** Escapes and colors end in a letter that is not part of the key: `\nTOKEN=`. */
function startOfKey(text: string, start: number): number {
  let place = start;
  while (place > 0 && start - place < MOST && isOfKey(text, place - 1)) place -= 1;
  const before = text.charAt(place - 1);
  if (before === '[' || before === ';') {
    const colour = COLOUR_BEFORE.exec(text.slice(Math.max(0, place - 24), start));
    return colour === null ? place : start - (colour[1] as string).length;
  }
  return before === '\\' && 'nrt'.includes(text.charAt(place)) && place < start ? place + 1 : place;
}

/** Values of secret keys that are not secret. */
const PLAIN = /^(?:true|false|yes|no|on|off|null|nil|none|undefined|unset|empty|missing|invalid|required|optional|~|-+|\|[-+]?|>[-+]?)$/i;
/** Already redacted, or a placeholder. */
const HIDDEN =
  /^(?:\(?sensitive(?: value)?\)?|\((?:known after apply|sensitive[^)]*)\)|\[?(?:hidden|masked|filtered)\]?|\[redacted[^\]]*\]|<?redacted>?|\*{3,}|x{6,}|\.{3}(?: .*)?|<[^<>]*>|<set to the key .*|&lt;.*&gt;|\[redacted.*)$/i;
/** References to values elsewhere. */
const REFERENCE = /^(?:\$\{[^}]*\}|\$\([^)]*\)|\$[A-Z_][A-Z0-9_]*|\$[a-z]+(?:[-.][a-zA-Z]+)+|\{\{.*\}\}|%[A-Za-z_]\w*%)$/;
const HCL_REFERENCE =
  /^(?:(?:var|local|data|module|each|self|path|count|run)\.|[a-z]+_\w+(?:\[[^\]]*\])?\.[\w-]+(?:\[[^\]]*\])?\.)[\w.[\]"*-]+$/;
const HCL_CALL = /^[A-Za-z_][\w.]*\((?:.*\)|[{["]?)$/;
const FILE =
  /^(?:~|\.{1,2})?\/(?:etc|var|tmp|opt|usr|home|root|run|mnt|data|app|secrets?|certs?|workspace|srv|dev|proc|vault|config)(?:\/[\w.@-]*)*$/;
/** Messages of Terraform about resources whose names look like keys: `random_password.password: Creating...`. */
const PROGRESS =
  /^(?:(?:Still )?(?:creating|refreshing|reading|modifying|destroying|opening|closing|importing|preparing|provisioning|renewing)\b|(?:Creation|Read|Modifications|Destruction|Opening|Closing|Import|Refresh) (?:complete|succeeded|prepared)|Drift detected|Plan to )/i;
/** An address without other content. */
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[\w.:-]+(?:\/[a-z_-]*)*$/;
const OBJECT_NAME = /^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?(?:\/[a-z0-9.-]+)?$/;
/** A key that references a key: `tokenSecretKey: token`, `key: client-secret`. */
const KEY_WORDS =
  /^(?:[a-z]+[._-])?(?:token|secret|password|passwd|key|name|value|tls\.(?:key|crt)|ca\.crt|bearer|basic|digest|jwt|auth)$/i;

export const isHarmless = (value: string): boolean =>
  value.length < 2 ||
  [PLAIN, HIDDEN, REFERENCE, FILE, PROGRESS, ADDRESS, KEY_WORDS].some((each) => each.test(value)) ||
  /^\d{1,3}$/.test(value) ||
  /^ssh-(?:rsa|ed25519|ecdsa) /.test(value) ||
  /^-----BEGIN (?:TRUSTED )?(?:CERTIFICATE|PUBLIC KEY)/.test(value);

/** An identifier in Terraform or in a traceback. */
export const isHclReference = (value: string): boolean => HCL_REFERENCE.test(value) || HCL_CALL.test(value);

/** A valid Kubernetes name. */
export const isObjectName = (value: string): boolean => OBJECT_NAME.test(value);

/** Words of a sentence: "token: expired", "Bearer authentication". */
export const isProse = (value: string): boolean => /^["'(]?[A-Za-z]?[a-z]*(?:[-_./'][a-z]+)*[)"'.,;:!?]*$/.test(value);
