import {isHarmless, isProse} from './harmless.ts';
import {type Extent, matchAt, NEXT_LINE, NOTHING, type Rule, run} from './rule.ts';

const BEARER = /bearer(?:[ \t]+|%20|\+|\\u0020)((?:[\w.~+/-]|%2[bf]){8,8192}=*)/iy;

const bearer: Rule = {
  name: 'bearer',
  anchors: ['bearer'],
  find(text, start) {
    const found = matchAt(BEARER, text, start);
    const value = found?.[1] ?? '';
    if (found === undefined || isProse(value) || isHarmless(value)) return NOTHING;
    const end = start + found[0].length;
    return [run(end - value.length, end, /[^\w.~+/-]/g)];
  },
};

const BASIC = /basic(?:[ \t]+|%20|\\u0020)((?:[A-Za-z0-9+/]|%2[bf]){6,4096}(?:=|%3d){0,2})/iy;

/** User and password in base64; an unrelated word contains no colon. */
const basic: Rule = {
  name: 'basic',
  anchors: ['basic'],
  find(text, start) {
    const found = matchAt(BASIC, text, start);
    const value = found?.[1] ?? '';
    if (found === undefined || !/^[\x20-\x7e]*:/.test(Buffer.from(value, 'base64').toString('latin1'))) return NOTHING;
    const end = start + found[0].length;
    return [{start: end - value.length, end}];
  },
};

const ENCODED_USER = /((?:(?!%3a|%40|%2f)[^ \t\r\n"'<>`\\&]){1,256})(?:%3a((?:(?!%40|%2f)[^ \t\r\n"'<>`\\&]){0,256}))?%40/iy;

/** User and password of a URL, separately: other places repeat only the password. */
const url: Rule = {
  name: 'url',
  anchors: ['://', ':\\/\\/', '%3A%2F%2F'],
  find(text, start, end) {
    if (text.charAt(start) === '%') {
      const [all, user, password] = matchAt(ENCODED_USER, text, end) ?? [];
      return all === undefined ? NOTHING : credentials(text, end, all.length - 3, password === undefined ? undefined : user?.length, 3);
    }
    const length = lengthOfAuthority(text, end);
    if (!text.slice(end, end + length).includes('@')) return NOTHING;
    const authority = text.slice(end, end + length).replace(/\[redacted:[\w-]+:\w+\]/g, (name) => '*'.repeat(name.length));
    const at = authority.lastIndexOf('@');
    const host = authority.search(/[/?#]/);
    const colon = authority.indexOf(':');
    const inside = host === -1 || at < host;
    // An unescaped slash ends the password too early; only a port is followed by one.
    const broken = !inside && colon !== -1 && colon < host && !/^:\d*$/.test(authority.slice(colon, host));
    const last = inside || broken ? at : authority.slice(0, host).lastIndexOf('@');
    return last === -1 ? NOTHING : credentials(text, end, last, colon !== -1 && colon < last ? colon : undefined, 1);
  },
};

const ENDS_URL = new Uint8Array(256);
for (const one of Buffer.from(' \t\r\n"\'<>`')) ENDS_URL[one] = 1;
const [SLASH, COLON, BACKSLASH] = [47, 58, 92];

function lengthOfAuthority(text: string, start: number): number {
  let place = start;
  for (; place < start + 512 && place < text.length; place += 1) {
    const one = text.charCodeAt(place);
    // Another URL begins.
    if (one === SLASH && text.charCodeAt(place - 1) === SLASH && text.charCodeAt(place - 2) === COLON) break;
    if (ENDS_URL[one] === 1 || (one === BACKSLASH && /^\\+["'nrt]/.test(text.slice(place, place + 18)))) break;
  }
  return place - start;
}

function credentials(text: string, start: number, length: number, colon: number | undefined, width: number): readonly Extent[] {
  const user = {start, end: start + (colon ?? length)};
  const parts = colon === undefined ? [user] : [user, {start: user.end + width, end: start + length}];
  return parts.filter(({start: from, end}, index) => {
    const value = text.slice(from, end);
    // A short name is not a token; a password can be any word.
    const user = index === 0 && (colon === undefined ? /^[a-z][a-z._-]*$/i : /^[a-z][a-z0-9._-]{0,11}$/i).test(value);
    return value !== '' && !user && !/^(?:\*+|<[^>]*>|\[redacted.*|\$\{?[\w.]+\}?|\[hidden\])$/.test(value);
  });
}

const HOST = /(?:[\w.-]{1,253}:\d{2,5}(?![\w@])|(?:tcp|unix)\()/y;

const ENDS_CREDENTIALS = new Set(' \t\r\n"\'@/');

/** `user:password@host:port` without a scheme. */
const bareCredentials: Rule = {
  name: 'url',
  anchors: ['@'],
  find(text, start, end) {
    if (matchAt(HOST, text, end) === undefined) return NOTHING;
    let first = start;
    while (first > 0 && start - first < 340 && !ENDS_CREDENTIALS.has(text.charAt(first - 1))) first -= 1;
    const password = /(?:^|[^\w.%+-])[\w.%+-]{1,64}:(.{2,256})$/.exec(text.slice(first, start))?.[1];
    return password === undefined || isHarmless(password) ? NOTHING : [{start: start - password.length, end: start}];
  },
};

export const textRules: readonly Rule[] = [bearer, basic, url, bareCredentials];

/** Separator between two words of a command, in a shell or in a list of strings. */
const GAP = String.raw`(?:[ \t]+|\\*["'],[ \t]*\\*["'])`;
const WORD = String.raw`[^\s"'\\|;&]`;
const QUOTE = String.raw`(?:\\*["'])?`;
/** Other words of the same command. */
const MORE = '(?:(?!&&)[^\\n|;]){0,300}?';
const BLANK = String.raw`(?:[ \t]|\\+[rt]|${NEXT_LINE}){1,40}`;
const REGISTRIES = `(?<=(?:docker|podman|nerdctl|buildah|registry|oras|skopeo|crane|acr)(?:${GAP}|${BLANK}))`;

/** Commands that accept a password without a key; the first group is the password. */
const COMMANDS: readonly (readonly [anchors: readonly string[], expression: string])[] = [
  [['curl'], `curl\\b${MORE}${GAP}(?:-[A-Za-z]{0,8}[uU]|--user|--proxy-user)(?:${GAP}|=)?${QUOTE}[^\\s:"'\\\\]{1,64}:(${WORD}{2,256})`],
  [['login'], `${REGISTRIES}login\\b${MORE}${GAP}-p(?:${GAP}|=)${QUOTE}(${WORD}{2,256})`],
  [['sshpass'], `sshpass${GAP}-p${GAP}?${QUOTE}(${WORD}{2,256})`],
  [
    ['mysql', 'mariadb'],
    `(?:mysql|mariadb)(?:-?dump|-?admin|import|sh)?\\b${MORE}${GAP}-p(?!rotocol|ort|rint|ipe|ager|lugin)${QUOTE}(${WORD}{2,256})`,
  ],
  [['redis-cli'], `redis-cli${MORE}${GAP}-a${GAP}${QUOTE}(${WORD}{2,256})`],
  [['--from-literal'], `--from-literal(?:${GAP}|=)${QUOTE}[\\w.-]{1,128}=(${WORD}{2,1024})`],
  [
    ['machine', 'default'],
    `(?:machine${BLANK}[^\\s\\\\]{1,128}|default)${BLANK}login${BLANK}[^\\s\\\\]{1,128}${BLANK}(?:account${BLANK}[^\\s\\\\]{1,128}${BLANK})?password${BLANK}([^\\s"'\\\\]{2,256})`,
  ],
  [['az'], `az${GAP}(?:login|acr|ad)\\b${MORE}${GAP}-p(?:${GAP}|=)${QUOTE}(${WORD}{2,256})`],
  [['-pass'], `-pass(?:in|out)?(?:${GAP}|=)${QUOTE}pass:(${WORD}{2,256})`],
  [['ldap'], `ldap(?:search|modify|add|passwd|delete|whoami)\\b${MORE}${GAP}-w${GAP}?${QUOTE}(${WORD}{2,256})`],
  [['psexec'], `psexec\\b${MORE}${GAP}-p${GAP}${QUOTE}(${WORD}{2,256})`],
  [['htpasswd'], `htpasswd\\b${MORE}${GAP}-[A-Za-z]{0,6}b[A-Za-z]{0,6}${GAP}[^\\s]{1,256}${GAP}[^\\s]{1,64}${GAP}${QUOTE}(${WORD}{2,256})`],
  [['net use'], `net use\\b(?:[^\\n]{0,300}?)/user:[^\\s]{1,64}${GAP}${QUOTE}(${WORD}{2,256})`],
  [['smbclient'], `smbclient\\b${MORE}${GAP}-U${GAP}?${QUOTE}[^\\s%]{1,64}%(${WORD}{2,256})`],
  [['vault'], `vault${GAP}login${GAP}(?!-)${QUOTE}(${WORD}{8,256})`],
  [['echo'], `echo${GAP}(?:-n${GAP})?${QUOTE}(${WORD}{2,256})(?=${QUOTE}[ \\t]*\\|[^\\n]{0,200}--(?:password|token)-stdin)`],
  [['_authtoken', '_auth', '_password', 'aws_secret_access_key', 'aws_session_token'], `\\w{5,24}${GAP}(?!=)${QUOTE}(${WORD}{8,1024})`],
  [['requirepass', 'masterauth'], `(?:requirepass|masterauth)${GAP}${QUOTE}(${WORD}{2,256})`],
  [['--with-token'], `--with-token[ \\t]*<<<[ \\t]*${QUOTE}(${WORD}{8,256})`],
  [['jdbc:oracle'], `jdbc:oracle:\\w{2,8}:[\\w.-]{1,64}/([^\\s"'@]{2,256}(?=@))`],
  [
    ['identified'],
    `(?:identified|IDENTIFIED)[ \\t]+(?:(?:with|WITH)[ \\t]+\\S{1,64}[ \\t]+)?(?:by|BY|as|AS)[ \\t]+(?:(?:password|PASSWORD)[ \\t]+)?\\\\*["']((?:[^"'\\\\\\n]|''){2,256})`,
  ],
  // .pgpass
  [[':5432:', ':*:'], `:(?:5432|\\*):[^\\s:]{1,64}:[^\\s:]{1,64}:([^\\s:"'\\\\]{3,256})`],
  [['unseal key'], `Unseal Key(?: \\d{1,2})?:\\s{1,4}(${WORD}{20,128})`],
];

export const commandRules: readonly Rule[] = COMMANDS.map(([anchors, source]) => {
  // A word before a colon is another key.
  const expression = new RegExp(`${source}(?!${WORD}|\\\\*["'][ \\t]*:)`, 'dy');
  return {
    name: 'command',
    anchors,
    onlyOutside: true,
    find(text, start) {
      const [from = 0, to = 0] = matchAt(expression, text, start)?.indices?.[1] ?? [];
      return from === to || isHarmless(text.slice(from, to)) ? NOTHING : [{start: from, end: to}];
    },
  };
});
