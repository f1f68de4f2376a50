import {matchAt} from '../../../ground/token-shapes.ts';
import {isHarmless, isOtherWord, looksMemorable, looksStrong} from './harmless.ts';
import {type Extent, NOTHING, type RedactionRule} from './rule.ts';

const BASIC = /basic(?:[ \t]+|%20|\\u0020)((?:[A-Za-z0-9+/]|%2[bf]){6,4096}(?:=|%3d){0,2})/iy;

/** User and password in base64; an unrelated word contains no colon. */
const basic: RedactionRule = {
  name: 'basic',
  anchors: ['basic'],
  find(text, {start}) {
    const found = matchAt(BASIC, text, start);
    const value = found?.[1] ?? '';
    if (
      found === undefined ||
      !/^[\x20-\x7e]*:/.test(Buffer.from(value, 'base64').toString('latin1'))
    )
      return NOTHING;
    const end = start + found[0].length;
    return [{start: end - value.length, end}];
  },
};

const ENCODED_USER =
  /((?:(?!%3a|%40|%2f)[^ \t\r\n"'<>`\\&]){1,256})(?:%3a((?:(?!%40|%2f)[^ \t\r\n"'<>`\\&]){0,256}))?%40/iy;

/** User and password of a URL, separately: other places repeat only the password. */
const url: RedactionRule = {
  name: 'url',
  anchors: ['://', ':\\/\\/', '%3A%2F%2F'],
  find(text, {start, end}) {
    const login = text.charAt(start) === '%' ? encodedLogin(text, end) : loginIn(text, end);
    return login === undefined ? NOTHING : secretsOfLogin(text, login);
  },
};

/** What stands before the `@` of a URL. */
interface Login {
  user: Extent;
  password: Extent | undefined;
}

function encodedLogin(text: string, start: number): Login | undefined {
  const [all, user, password] = matchAt(ENCODED_USER, text, start) ?? [];
  if (all === undefined || user === undefined) return undefined;
  const end = start + all.length - '%40'.length;
  const userEnd = start + user.length;
  if (password === undefined) return {user: {start, end}, password};
  return {user: {start, end: userEnd}, password: {start: userEnd + '%3a'.length, end}};
}

/** Up to the end of a URL, or to the next one. */
const AUTHORITY = /(?:[^\s"'<>`\\:]|\\(?!\\*["'nrt])|:(?!\/\/)){0,512}/y;

function loginIn(text: string, start: number): Login | undefined {
  const [authority = ''] = matchAt(AUTHORITY, text, start) ?? [];
  const visible = authority.replace(/\[redacted:[\w-]+:\w+\]/g, (name) => '*'.repeat(name.length));
  const length = visible.slice(0, hostEnd(visible)).lastIndexOf('@');
  if (length === -1) return undefined;
  const end = start + length;
  const colon = visible.slice(0, length).indexOf(':');
  if (colon === -1) return {user: {start, end}, password: undefined};
  const userEnd = start + colon;
  return {user: {start, end: userEnd}, password: {start: userEnd + 1, end}};
}

/** An unescaped slash in a password ends the host too early; only a port is followed by one. */
function hostEnd(authority: string): number {
  const end = authority.search(/[/?#]/);
  const colon = authority.indexOf(':');
  const isInPassword = colon !== -1 && colon < end && !/^:\d*$/.test(authority.slice(colon, end));
  return end === -1 || isInPassword ? authority.length : end;
}

const HIDDEN_LOGIN = /^(?:\*+|<[^>]*>|\[redacted.*|\$[{(]?[\w.]+[)}]?|\{\{.*\}\}|\[hidden\])$/;

/** A short name is not a token; a password can be any word. */
function secretsOfLogin(text: string, {user, password}: Login): readonly Extent[] {
  const isName = password === undefined ? /^[a-z][a-z._-]*$/i : /^[a-z][a-z0-9._-]{0,11}$/i;
  const isSecret = ({start, end}: Extent): boolean =>
    end > start && !HIDDEN_LOGIN.test(text.slice(start, end));
  return [
    ...(isName.test(text.slice(user.start, user.end)) ? [] : [user]),
    ...(password === undefined ? [] : [password]),
  ].filter(isSecret);
}

const HOST = /(?:[\w.-]{1,253}:\d{2,5}(?![\w@])|(?:tcp|unix)\()/y;
const NAME = /[a-z][\w.-]{0,253}(?=[\s"'/:\\\0]|$)/iy;
const ENDS_CREDENTIALS = new Set(' \t\r\n"\'@/\0');

/** `user:password@host:port` without a scheme, or without a port if the password is unmistakable. */
const bareCredentials: RedactionRule = {
  name: 'url',
  anchors: ['@'],
  find(text, {start, end}) {
    const isHost = matchAt(HOST, text, end) !== undefined;
    if (!isHost && matchAt(NAME, text, end) === undefined) return NOTHING;
    let first = start;
    while (first > 0 && start - first < 340 && !ENDS_CREDENTIALS.has(text.charAt(first - 1)))
      first -= 1;
    const password = /(?:^|[^\w.%+-])[\w.%+-]{1,64}:(.{2,256})$/.exec(
      text.slice(first, start),
    )?.[1];
    return password === undefined || isHarmless(password) || !(isHost || looksStrong(password))
      ? NOTHING
      : [{start: start - password.length, end: start}];
  },
};

const ACCOUNT =
  /(?:\r?\n|\\+n)(?:[ \t]*list: \|(?:\r?\n|\\+n)|[^\n:]{0,40}\n?)[ \t]*[\w.$-]{1,64}:([^\s:"'\\]{4,256})(?=\s|\\+n|$)/dy;

/** `user:password` on the lines below `chpasswd`. */
const accounts: RedactionRule = {
  name: 'account',
  anchors: ['chpasswd', "'random' passwords"],
  find(text, {end}) {
    const found: Extent[] = [];
    let line = matchAt(/[^\n\\]{0,80}/y, text, end);
    for (let at = end + (line?.[0].length ?? 0); found.length < 50; at += line[0].length) {
      line = matchAt(ACCOUNT, text, at);
      const [start = 0, stop = 0] = line?.indices?.[1] ?? [];
      if (line === undefined) break;
      if (!isHarmless(text.slice(start, stop))) found.push({start, end: stop});
    }
    return found;
  },
};

const CALL = /[\w.:]{0,40}\(([^\n()]{0,240})/dy;
const LITERAL = /["']([^"'\n]{0,128})["']/g;

/** Literals that look like passwords in a call that logs in or encrypts. */
const callArguments: RedactionRule = {
  name: 'command',
  anchors:
    'auth login connect mysqli pdo password_ jwt credential crypt hmac _construct sign bind kinit basic user( _user keyspec keystore cipher aes.new hash'.split(
      ' ',
    ),
  onlyOutside: true,
  find(text, {start}) {
    const [from = 0, to = 0] = matchAt(CALL, text, start)?.indices?.[1] ?? [];
    const all = text.slice(from, to);
    const literals = [...all.matchAll(LITERAL)];
    const argumentsBefore = (index: number): number => all.slice(0, index).split(',').length - 1;
    return literals
      .filter(({1: value = '', index}) => {
        // The first argument of several is a user or a host, the second one can be a name.
        const before = argumentsBefore(index);
        const isFirst = before === 0 && literals.length > 1;
        return !isFirst && (looksMemorable(value) || (before > 1 && isOtherWord(value)));
      })
      .map(({1: value = '', index}) => ({
        start: from + index + 1,
        end: from + index + 1 + value.length,
      }));
  },
};

export const textRules: readonly RedactionRule[] = [
  basic,
  url,
  bareCredentials,
  accounts,
  callArguments,
];

/** The secret key of AWS next to the id of its access key. */
export const awsPair: RedactionRule = {
  name: 'aws',
  anchors: ['AKIA', 'ASIA'],
  find(text, {start}) {
    const [all = '', value = ''] =
      matchAt(
        /A[KS]IA[0-9A-Z]{16}[:,|/ \t"'\\]{1,6}([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/])/y,
        text,
        start,
      ) ?? [];
    return value === ''
      ? NOTHING
      : [{start: start + all.length - value.length, end: start + all.length}];
  },
};

const TOP =
  'com|net|org|io|dev|app|cloud|internal|local|lan|corp|svc|co|eu|de|uk|us|ai|tech|info|gov|edu';
/** An IPv4 address, an IPv6 address or a host name. */
const ADDRESS = new RegExp(
  String.raw`\d{1,3}(?:\.\d{1,3}){3}(?![\w.])|(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{1,4}(?![\w:])|(?:[a-z0-9][a-z0-9-]{0,62}\.){1,8}(?:${TOP})(?![\w-]|\.\w)`,
  'iy',
);

/** Hosts of software that everybody uses, and places of this machine. */
const PUBLIC =
  /(?:^|\.)(?:github\.com|gitlab\.com|golang\.org|terraform\.io|opentofu\.org|hashicorp\.com|k8s\.io|kubernetes\.io|docker\.(?:io|com)|ghcr\.io|quay\.io|npmjs\.org|pypi\.org|ubuntu\.com|debian\.org|iana\.org|w3\.org|example\.(?:com|net|org)|opentelemetry\.io|sigstore\.dev)$|^(?:www|docs|lists|support|releases|help)\.|^(?:kubernetes\.default\.svc|127\.0\.0\.1|0\.0\.0\.0|169\.254\.169\.254)/i;

/** Only with `--redact strict`: host names and addresses around a dot or a colon. */
export const addressRules: readonly RedactionRule[] = [/[\w.-]/, /[0-9a-f:]/i].map(
  (characters, index) => ({
    name: 'address',
    anchors: ['.:'.charAt(index)],
    onlyOutside: true,
    find(text, {start: at}) {
      let start = at;
      while (start > 0 && at - start < 128 && characters.test(text.charAt(start - 1))) start -= 1;
      const found = matchAt(ADDRESS, text, start);
      return found === undefined || PUBLIC.test(found[0])
        ? NOTHING
        : [{start, end: start + found[0].length}];
    },
  }),
);
