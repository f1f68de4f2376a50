import {PRIVATE_KEY, TOKEN_SHAPES, tokenAt} from './token-shapes.ts';

/** A credential in a text, recognized by its value. */
export interface RecognizedCredential {
  /** What it is, without its value. */
  kind: string;
  start: number;
  end: number;
}

/** Paths with `/hooks/` are also names of scripts. */
const SHAPES = TOKEN_SHAPES.filter(({anchors}) => !anchors.includes('/hooks/'));
const ANCHORS = new RegExp(
  [...new Set(SHAPES.flatMap(({anchors}) => anchors))]
    .map((anchor) => anchor.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('|'),
  'gi',
);

export const JSON_WEB_TOKEN = 'a JSON Web Token';

const KINDS: Readonly<Record<string, string>> = {
  jwt: JSON_WEB_TOKEN,
  aws: 'an AWS access key',
  hash: 'a password hash',
  webhook: 'a webhook address',
  slack: 'a Slack token or webhook address',
};

/** User info of a URL with a password, and the same without a scheme before a host. */
const USER_INFO =
  /\/\/[^\s/?#"'<>@:]*:([^\s/?#"'<>@]+)@|(?<![\w./:@-])[\w.%+-]+:([^\s/?#"'<>@]+)@(?!sha\d)(?=[\w.-]+:\d)/g;
/** A reference to a password, or what stands for one. */
const NO_PASSWORD =
  /^(?:\$\(\w+\)|\$\{[^}]*\}|\$\w+|%\w+%|\{\{.*\}\}|\*+|\.{3}|…|x{3,}|\[(?:hidden|redacted)\]|redacted)$/i;

/** To its last line, or to the end of its base64. */
const KEY = new RegExp(
  `${PRIVATE_KEY}(?:[\\s\\S]{0,16384}?-----END[^-]{1,60}-----|[A-Za-z0-9+/=\\s]*)`,
  'gi',
);
/** Base64 of a PEM block that is a private key: its first words at each of three offsets. */
const KEY_IN_BASE64 =
  /LS0tLS1CRUdJTi[A-Za-z0-9+/=]{0,60}(?:UFJJVkFURSBLRVkt|BSSVZBVEUgS0VZL|QUklWQVRFIEtFWS)[A-Za-z0-9+/=]*/g;
/** Certificates and public keys: long random text without a secret. */
const PUBLIC_BLOCK =
  /-----BEGIN (?:[A-Z0-9]+ ){0,3}(?:CERTIFICATE|PUBLIC KEY|CRL)-----[^-]*-----END [A-Z0-9 ]+-----|LS0tLS1CRUdJTi[A-Za-z0-9+/=]{80,}/g;

/** Every credential in a text that its form gives away: tokens with a known format, passwords in URLs, private keys. */
export function credentialsIn(text: string): RecognizedCredential[] {
  const keys = [...matches(KEY, text), ...matches(KEY_IN_BASE64, text)].map((each) => ({
    ...each,
    kind: 'a private key',
  }));
  const searched = text.replaceAll(PUBLIC_BLOCK, (block) => ' '.repeat(block.length));
  return withoutOverlaps([...keys, ...passwordsIn(searched), ...tokensIn(searched)]);
}

const matches = (expression: RegExp, text: string): {start: number; end: number}[] =>
  [...text.matchAll(expression)].map(({0: found, index}) => ({
    start: index,
    end: index + found.length,
  }));

function passwordsIn(text: string): RecognizedCredential[] {
  return [...text.matchAll(USER_INFO)].flatMap(({0: found, 1: password, 2: bare, index}) => {
    const value = password ?? bare ?? '';
    if (NO_PASSWORD.test(value)) return [];
    const end = index + found.length - 1;
    return [{kind: 'a password in a URL', start: end - value.length, end}];
  });
}

function tokensIn(text: string): RecognizedCredential[] {
  const found: RecognizedCredential[] = [];
  ANCHORS.lastIndex = 0;
  for (let match = ANCHORS.exec(text); match !== null; match = ANCHORS.exec(text)) {
    const {index} = match;
    ANCHORS.lastIndex = index + 1;
    for (const shape of SHAPES) {
      const start = index - shape.before;
      const token = tokenAt(shape, text, start);
      if (token === undefined) continue;
      const kind = KINDS[shape.name] ?? `a token (${shape.name}…)`;
      found.push({kind, start, end: start + token.length});
      break;
    }
  }
  return found;
}

/** In the order of the text, each character at most once. */
function withoutOverlaps(found: readonly RecognizedCredential[]): RecognizedCredential[] {
  const kept: RecognizedCredential[] = [];
  for (const each of found.toSorted((one, other) => one.start - other.start))
    if (each.start >= (kept.at(-1)?.end ?? 0)) kept.push(each);
  return kept;
}

const HIDDEN = '[hidden]';

/** The text with its credentials replaced. */
export const hideCredentials = (text: string): string =>
  credentialsIn(text).reduceRight(
    (shown, {start, end}) => `${shown.slice(0, start)}${HIDDEN}${shown.slice(end)}`,
    text,
  );
