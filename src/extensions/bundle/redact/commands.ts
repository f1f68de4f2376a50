import {matchAt} from '../../../ground/token-shapes.ts';
import {isHarmless, looksChosen, looksMemorable} from './harmless.ts';
import {NOTHING, type RedactionRule} from './rule.ts';
import {NEXT_LINE, WORD_GAP} from './separators.ts';

const QUOTE = String.raw`(?:\\*["'])?`;
/** Between two words, in a shell or in a list of strings. */
const GAP = `(?:(?:${WORD_GAP}|(?:${NEXT_LINE})[ \\t]*)${QUOTE})`;
const WORD = String.raw`[^\s"'\\|;&\0]`;
/** Other words of the same command. */
const MORE = String.raw`(?:(?!&&)[^\n|;]|\n(?=[ \t]+|[ \t]*(?:- |\\*["']))){0,300}?`;
const BLANK = String.raw`(?:[ \t]|\\+[rt]|${NEXT_LINE}){1,40}`;
const REGISTRIES = `(?<=(?:docker|podman|nerdctl|buildah|registry|oras|skopeo|crane|acr)(?:${GAP}|${BLANK})(?:auth${GAP})?)`;

/** A value in quotes to their end, or a word. */
const VALUE = `(?<=["'])[^"'\\\\\\n]{2,256}(?=\\\\*["'])|${WORD}{2,1024}`;
/** The only word of a line. */
const LINE = String.raw`[^\s"'\\]{4,1024}(?=(?:\\*["'])?[ \t]*(?:\r?\n|\\+n|$))`;
/** The last word of a command in brackets. */
const PRINTED = `(?:(?<=["'])[^"'\\\\\\n]{2,1024}|[^\\s"'\\\\()]{2,1024})(?=\\\\*["']?[ \\t]*\\))`;
const NAME = '(?:[^\\s"\'\\\\]|\\\\+(?=\\w)){1,128}';
/** A flag that names a user. */
const USER = String.raw`(?:[\s"'](?:-[uUl]|--?(?:user(?:name)?|login)|/ru|/user)(?![\w-])|[ \t][\w.$-]{1,64}@[\w.-]{1,253}(?=[ \t]))`;
const LOGIN = String.raw`[\w.@$\\-]{1,64}`;

/** A flag with a value, somewhere behind the name of a command. */
const flag = (flags: string, gap = `(?:${GAP}|=)`): string =>
  `\\w{2,20}\\b(?:\\.exe)?${MORE}${GAP}${flags}${gap}`;
/** Names and words between a command and its password. */
const after = (...texts: readonly string[]): string =>
  texts.map((text) => `${text}${GAP}`).join('');
/** A flag alone is the beginning of many words. */
const flags = (...names: readonly string[]): string[] =>
  names.flatMap((name) => [' ', '"', "'", '\0'].map((before) => before + name));
const READS = `(?:-stdin|passwd|\\bsudo${GAP}-S|--passphrase-fd|\\b(?:kinit|ktutil|cryptsetup|base64|kubeseal|secret|secrets|secret-tool|login|auth|realm|pass|keepassxc-cli|sshfs|su)\\b|keystore|(?:_PASSWORD|_TOKEN|_KEY|_SECRET)\\b)`;
const STDIN = `[^\\n]{0,200}${READS}`;
/** The beginning of a command that prints its last word. */
const PRINTS = `(?:echo|printf)${GAP}(?:-[neE]{1,2}${GAP}|["'][^"'\\n]{0,200}%s[^"'\\n]{0,200}["']${GAP}|%s${GAP})?`;
/** A word that ends in the name of a secret: `db_password`, `github.token`, `//password`. */
const SECRET_NAME = `[\\w:./@\\[\\]-]{0,64}(?:pass|password|passwd|passphrase|secret|token|key|pw)(?:_value|-value)?(?:${QUOTE}){0,2}\\]?`;

/** What stands before a password, from an anchor on, and how the password looks if it is no word. */
type CommandRow = readonly [anchors: readonly string[], before: string, value?: string];

/** A password in a place where other values stand, too. It is one only if it looks chosen. */
const UNSURE: readonly CommandRow[] = [
  [
    flags('-p', '-w', '-n', '-a', '-hp', '/p', '/rp'),
    `.(?:-(?:[pPN]|pw|hp)(?:${GAP}|=)?|-[aw]${GAP}|/r?p${GAP})`,
  ],
  [flags('-k', '-t'), `.-[kt]${GAP}`],
  // user / password
  [
    ['login', 'log in', 'sign in', 'credential', 'creds'],
    `(?:[lL]ogin|[lL]og in|[sS]ign in|[cC]redentials?|[cC]reds)[^\\n/:]{0,40}?[ :=]{1,3}${LOGIN} ?[/:] ?`,
  ],
  // A user and a password alone on a line.
  [
    ['" "', '" \\"'],
    `["] \\\\*"(?<=(?:^|\\n)[ \\t]*\\\\*"[\\w.@-]{1,64}\\\\*" \\\\*")`,
    `[^"\\s\\\\]{6,256}(?=\\\\*"[ \\t]*(?:\\n|$))`,
  ],
  [
    ['admin:', 'administrator:', 'root:', 'postgres:', 'elastic:'],
    `(?:admin(?:istrator)?|root|postgres|elastic):`,
  ],
  [['invalid port'], `invalid port \\\\*":`, `[^"\\\\\\n]{4,256}(?=\\\\*" after host)`],
];

/** The same where less else stands. */
const LIKELY: readonly CommandRow[] = [
  // What a login answers with, and exchanges for a token.
  [['?code=', '&code='], `[?&]code=`, '[\\w.~/%-]{16,512}'],
  [flags('-a'), `.-[aA]${GAP}${LOGIN}:`],
  // The output of a command with the name of a secret, below a prompt or in a trace.
  [
    ['password', 'passwd', 'secret', 'token', 'key', 'credential'],
    `[a-zA-Z]{3,12}(?<=(?:^|\\n)[ \\t]*(?:[$#>+%]{1,3}|\\(\\w+\\)|\\w+>) [^\\n]{0,200})[^\\n]{0,200}\\n[ \\t]*(?:=> |\\$\\d+ = (?:0x\\w+ )?)?`,
    LINE,
  ],
  [
    ['user', 'login', 'digest'],
    `(?:[uU]ser|[lL]ogin|digest)${GAP}(?:(?:is|as|with|add)${GAP})?${LOGIN}:`,
  ],
  [['passwd -'], `passwd${GAP}-${MORE}${GAP}`, LINE],
  [['<<<'], `<<<[ \\t]*`],
  [
    ['echo', 'printf'],
    `(?:echo|printf)${GAP}(?:-n${GAP}|${QUOTE}%s(?:\\\\*n)?${QUOTE}${GAP})?`,
    `${WORD}{6,256}(?=${QUOTE}[ \\t]*\\|)`,
  ],
  [['secret(', 'password(', 'token('], `\\w{5,8}\\(${QUOTE}`],
  [
    ['login', 'unlock', 'unseal', 'obscure'],
    `(?:login|unlock|unseal|obscure)${GAP}(?:[\\w.-]{1,64}@[\\w.-]{1,64}${GAP})?`,
    LINE,
  ],
];

/** Shapes that many commands share, and commands that accept a password in a form of their own. */
const COMMANDS: readonly CommandRow[] = [
  // Behind a flag, if another one names a user.
  ...[`(?<=${USER}(?:[^\\n|;]|\\n(?=[ \\t])){0,200}.)`, `(?=[^\\n|;]{0,200}?${USER})`].map(
    (near): CommandRow => [
      flags('-p', '-w', '/p', '/rp'),
      `.(?<!(?:mysql|mariadb|mkdir|docker)[^\\n|;]{0,200})${near}(?:-(?:pw?|P|w|pass)|/r?p)(?:${GAP}|=)`,
      `(?!\\d{1,5}(?![\\w-])|-|[./~]*/|[%$]|[\\w.]*:[\\d/])(?:${VALUE})`,
    ],
  ),
  [
    [...flags('-u', '-auth', '--user', '--proxy-user', '--cert'), '--creds', '--basic-auth'],
    `.?(?:-[A-Za-z]{0,8}[uU]|-?-[a-z-]{4,12})(?:${GAP}|=)?(${LOGIN})[:,](?!\\1(?![\\w-])|\\d{1,5}(?![\\w-])|[/\\\\])`,
  ],
  [['user'], `user[ \\t]*=[ \\t]*"${LOGIN}:`, `(?!/)[^"\\\\\\n]{2,256}(?=")`],
  [['user_'], `user_\\w{1,32}=${QUOTE}`],
  [['user'], `user${GAP}${LOGIN}${GAP}(?:using|identified by|insecure-password|password)${GAP}`],
  // In a pipe, or in a trace, which prints the commands of a pipe one after the other.
  [
    ['echo', 'printf'],
    `${PRINTS}${QUOTE}(?:[\\w.-]{1,64}:)?`,
    `(?:(?<=["'])[^"'\\n]{2,256}|${WORD}{2,256})(?=${QUOTE}[ \\t]*(?:\\||(?:${NEXT_LINE})\\++ )${STDIN})`,
  ],
  // Into a file with the name of a secret.
  [
    ['echo', 'printf'],
    `${PRINTS}${QUOTE}`,
    `${WORD}{4,256}(?=${QUOTE}[ \\t]*(?:>{1,2}|\\|[ \\t]*tee)[ \\t]*[^\\n;|]{0,100}(?:pass|secret|token|[/_]pw|cred))`,
  ],
  [['<(echo', '<(printf'], `<\\(${PRINTS}`, PRINTED],
  [
    ['$(echo', '$(printf'],
    `[$]\\((?<=(?:[Pp]ass(?:word|wd)?|PASS(?:WORD)?|[Ss]ecret|SECRET|[Tt]oken|TOKEN|KEY)=["']?\\$\\()${PRINTS}`,
    PRINTED,
  ],
  [['<<<'], `(?<=${READS}[^\\n|;]{0,120})<<<[ \\t]*`],
  // The word behind a name in a command that sets something.
  [
    ['set', 'put', 'config', 'write', 'env ', 'arg ', 'add'],
    `(?<![/.])(?:set|set_header|put|config|write|ENV|ARG|add|add-authtoken|authtoken)${GAP}(?:[^\\n|;=]{0,100}?[ \\t])??${QUOTE}(?=[\\w:/\\[-]*[A-Z_:./[-])${SECRET_NAME}${GAP}`,
    `(?!-|=)(?:(?<=["'])[^"'\\\\\\n]{4,256}(?=["'])|${LINE})`,
  ],
  [['-v '], `(?<=(?:[Pp]assword|[Ss]ecret|[Tt]oken)(?:\\\\*["'])?[ \\t])-v${GAP}`],
  // Of a router or a switch; the digit is the kind of its hash.
  [['password ', 'secret ', 'key ', 'ascii '], `\\w{3,8} [0-9]{1,2} `, `${WORD}{6,256}`],
  [['snmp-server'], `snmp-server community `],
  [['-server'], `-server [^\\n]{0,80}\\bkey `, `${WORD}{4,256}`],
  [['isakmp key'], `isakmp key `],
  [['snmp'], `snmp\\w{3,12}\\b${MORE}${GAP}-[AXc]${GAP}`],
  [[' -u'], `.-U${GAP}?${QUOTE}[\\w.\\\\/@-]{1,64}%`],
  [[' /p:', ' /pass'], `./(?:p:|pass(?::|${GAP}))`],
  [['-pw'], `-pw${GAP}`],
  [['security', 'certutil', 'knife', 'conan'], flag('-[pPw]', GAP)],
  [['http'], `(?:https?|xh)${GAP}${MORE}-(?:a|-auth)(?:${GAP}|=)${QUOTE}${LOGIN}:`],
  [
    ['curl'],
    `curl\\b${MORE}${GAP}-u${GAP}?${QUOTE}`,
    `[^\\s:"'\\\\]{6,256}(?=:(?:X|x|x-oauth-basic)?(?:["']|[ \\t]|$))`,
  ],
  // A name and a password between blanks.
  [
    ['login', 'log in', 'sign in', 'cred'],
    `(?:[lL]ogin|[lL]og in|[sS]ign in|[cC]red(?:ential)?s?)[^\\n/:]{0,20}?[ :=]{1,3}${LOGIN} / `,
    LINE,
  ],
  [['setpassword(', 'withpassword(', 'setsecret('], `\\w{4,8}\\w{0,20}\\(${QUOTE}`],
  [['hashpw(', 'fernet(', 'jwt.encode('], `[\\w.]{6,10}\\((?:[\\w.]{1,40},[ ]*)?[bu]?${QUOTE}`],
  // The output of a command that prints a secret.
  [
    [
      'base64 -d',
      'pwgen',
      'openssl rand',
      'base64 --decode',
      'secrets versions access',
      'nonsensitive(',
      '-field=',
      'get-secret-value',
      'keyvault secret show',
      'op read',
      'output -raw',
    ],
    `[\\w=(-][^\\n]{0,300}\\n[ \\t]*`,
    LINE,
  ],
  [['send'], `send(?:: sending)?${GAP}`, `[^"\\\\\\n]{4,256}(?=\\\\+r)`],
  [['setuser'], `(?:setuser|SETUSER)${GAP}[^\\n]{0,200}?[ "]>`],
  [['--body'], `--body(?:${GAP}|=)`],
  [
    ['setenv', 'set -gx', 'printf -v'],
    `(?:setenv|set${GAP}-gx|printf${GAP}-v)${GAP}\\w{0,40}(?:TOKEN|SECRET|PASS|PASSWORD|PASSWD|KEY|PW)${GAP}(?:%s${QUOTE}${GAP})?`,
  ],
  [
    ['convertto-securestring'],
    `ConvertTo-SecureString(?:${GAP}-(?:String|AsPlainText|Force))*${GAP}`,
    `(?!-|\\$)(?:${VALUE})`,
  ],
  [
    ['openssl'],
    `openssl${GAP}passwd(?:${GAP}-(?:salt${GAP}${WORD}{1,32}${QUOTE}|\\w{1,8}))*${GAP}`,
    `(?!-)(?:${VALUE})`,
  ],
  [['auth'], `AUTH${GAP}(?:default${GAP})?`, `(?![A-Z]+(?![\\w-]))(?:${VALUE})`],
  [['signtool'], flag('/p', GAP)],
  [['smbpasswd'], flag('-w', GAP)],
  [
    ['config set'],
    `config set${GAP}(?:--secret${GAP})?[\\w:.-]{1,64}${GAP}`,
    `(?=\\S*[\\d!#$%&*?@^~])${WORD}{6,256}`,
  ],
  [['user-secrets'], after('user-secrets', 'set', '[\\w:.-]{1,64}')],
  [['crypt('], `crypt\\(${QUOTE}`, `(?<=["'])[^"'\\n]{4,256}(?=["'])`],
  [['auth("', "auth('"], `auth\\(${QUOTE}`, `[^"'\\n]{4,256}(?=["']\\))`],
  [['pgp_sym_'], `pgp_sym_\\w{7}\\([^,\\n]{1,64},[ ]*'`, `[^'\\n]{4,256}`],
  [
    ['.login(', '__construct('],
    `[._]\\w{5,12}\\((?:[ ]*["'][^"'\\n]{1,200}["'],){1,2}[ ]*["']`,
    `[^"'\\n]{4,256}(?=["']\\))`,
  ],
  [['snyk'], `snyk${GAP}auth${GAP}`],
  [['encrypt_string'], `encrypt_string${GAP}`],
  // Terraform asks for a variable, or for the token of a host.
  [
    ['enter a value:'],
    `Enter a value:(?<=(?:[Pp]assword|[Ss]ecret|[Tt]oken|[Kk]ey|[Cc]redential)[^\\n]{0,100}(?:\\n[^\\n]{0,200}){0,4})[ \\t]*`,
    LINE,
  ],
  [['.login='], `.login=`],
  [[':587', ':465', ':25'], `:\\d{2,3}[ \\t]+${LOGIN}:`],
  [
    ['curl'],
    `curl\\b${MORE}${GAP}(?:-[A-Za-z]{0,8}[uU]|--user|--proxy-user|--cert)(?:${GAP}|=)?[^\\s:"'\\\\]{1,64}:`,
  ],
  [['login'], `${REGISTRIES}login\\b${MORE}${GAP}-p(?:${GAP}|=)`],
  [['sshpass'], `sshpass${GAP}-p${GAP}?`],
  [
    ['mysql', 'mariadb'],
    `(?:mysql|mariadb)(?:-?dump|-?admin|import|sh)?\\b${MORE}${GAP}-p(?!rotocol|ort|rint|ipe|ager|lugin)`,
  ],
  [['redis-cli'], flag('-a', GAP)],
  [
    ['-storepass', '-keypass', '-srcstorepass', '-deststorepass', '-new'],
    `-\\w{0,12}(?:store|key)?pass${GAP}`,
  ],
  [['sqlcmd', 'bcp', 'osql', 'zip', 'ipmitool'], flag('-P', `(?:${GAP}|=)?`)],
  [
    ['mongo', 'twine', 'nuget', 'rabbitmqadmin', 'beeline', 'cqlsh', 'psexec', 'etcdctl'],
    flag('-p'),
  ],
  [['az'], `az${GAP}(?:login|acr|ad|keyvault)\\b${MORE}${GAP}(?:-p|--value)(?:${GAP}|=)`],
  [
    ['aws'],
    `aws${GAP}(?:ssm|secretsmanager|rds|cognito-idp|iam)\\b${MORE}${GAP}--(?:value|secret-string|password)(?:${GAP}|=)`,
  ],
  [['openssl'], `openssl${GAP}\\w+\\b${MORE}${GAP}-[kK]${GAP}`],
  [['7z', 'unrar', 'unzip'], `(?:7z|un)\\w{0,4}\\b${MORE}${GAP}-[pP]${GAP}?`],
  [['rabbitmqctl'], after('rabbitmqctl', '(?:add_user|change_password)', NAME)],
  [
    ['sqlplus', 'expdp', 'impdp', 'rman', 'sqlldr'],
    `\\w{4,7}\\b${MORE}${GAP}[\\w.$-]{1,64}/`,
    `[^\\s"'@/]{2,256}(?=[@\\s"'])`,
  ],
  [['mc'], after('mc', 'alias', 'set', NAME, NAME, NAME), `${WORD}{4,256}`],
  [['http-basic'], after('http-basic\\.[\\w-]{1,64}', NAME)],
  [['net user'], after('net user', NAME), `(?!/)${WORD}{2,256}`],
  [['secret id'], `Secret ID[ \\t]*[:=|][ \\t]*`, '[^\\s"\']{8,64}'],
  [['--from-literal'], `--from-literal(?:${GAP}|=)${QUOTE}[\\w.-]{1,128}=`],
  [
    ['machine', 'default'],
    `(?:machine${BLANK}${NAME}|default)${BLANK}login${BLANK}${NAME}${BLANK}(?:account${BLANK}${NAME}${BLANK})?password${BLANK}`,
    '[^\\s"\'\\\\]{2,256}',
  ],
  [['-pass'], `-pass(?:in|out)?(?:${GAP}|=)${QUOTE}pass:`],
  [['ldap'], `ldap(?:search|modify|add|passwd|delete|whoami)\\b${MORE}${GAP}-w${GAP}?`],
  [['ldappasswd'], flag('-s', GAP)],
  [['net use'], `net use\\b[^\\n]{0,300}?/user:${NAME}${GAP}`],
  [['net use'], `net use${GAP}\\S{1,3}${GAP}\\\\\\\\\\S{1,256}${GAP}`, `(?!/)${WORD}{2,256}`],
  [
    ['htpasswd'],
    `htpasswd\\b${MORE}${GAP}-[A-Za-z]{0,6}b[A-Za-z]{0,6}${GAP}(?:${NAME}${GAP})?${NAME}${GAP}`,
  ],
  [['vault'], `vault${GAP}login${GAP}(?!-)`, `${WORD}{8,1024}`],
  [
    ['_authtoken', '_auth', '_password', 'aws_secret_access_key', 'aws_session_token'],
    `\\w{5,24}[ \\t]+${QUOTE}(?!=)`,
    `${WORD}{8,1024}`,
  ],
  [['requirepass', 'masterauth', 'bindpw'], `\\w{6,11}${GAP}`],
  [['--with-token'], `--with-token[ \\t]*<<<[ \\t]*`],
  [
    ['identified'],
    `(?:identified|IDENTIFIED)[ \\t]+(?:(?:with|WITH)[ \\t]+\\S{1,64}[ \\t]+)?(?:by|BY|as|AS)[ \\t]+(?:(?:password|PASSWORD)[ \\t]+)?`,
    `(?<=["'])(?:[^"'\\\\\\n]|''){2,256}|(?=\\S*[\\d!#$%&*?@^~])[^\\s"';,()]{6,256}`,
  ],
  // The account is in quotes of its own: `FOR 'bob'@'%'`.
  [
    ['set password'],
    `(?:set|SET)[ \\t]+(?:password|PASSWORD)[ \\t]+(?:for|FOR)[ \\t]+[^\\n=;]{1,200}?[ \\t]*=[ \\t]*(?:(?:password|PASSWORD)\\()?`,
    `(?<=')(?:[^'\\\\\\n]|''){2,256}|(?<=")[^"\\\\\\n]{2,256}`,
  ],
  // .pgpass
  [
    [':5432:', ':*:'],
    `:(?:5432|\\*):(?!\\d{12}:)[^\\s:]{1,64}:[^\\s:]{1,64}:`,
    `(?:\\\\[:\\\\]|[^\\s:"'\\\\]){3,256}`,
  ],
  [['unseal key'], `Unseal Key(?: \\d{1,2})?:\\s{1,4}`, `${WORD}{20,128}`],
  [
    ['replace'],
    `(?:replace|REPLACE)[ \\t]+`,
    `(?<=(?:identified|IDENTIFIED)[^\\n]{0,200}["'])[^"'\\\\\\n]{2,256}(?=["'])`,
  ],
];

const rulesFor = (
  rows: readonly CommandRow[],
  isPassword: (value: string) => boolean,
): readonly RedactionRule[] =>
  rows.map(([anchors, before, value = VALUE]) => {
    const start = /^[-.:/[<]/.test(before) ? '' : '(?:(?<![\\w-])|(?<=\\\\[nrt]))';
    // A word before a colon is another key.
    const end = value.endsWith(')') ? '' : `(?!${WORD}|\\\\*["'][ \\t]*:[ \\t]*["'{[\\d])`;
    const expression = new RegExp(`${start}${before}${QUOTE}(?<value>${value})${end}`, 'dy');
    return {
      name: 'command',
      anchors,
      onlyOutside: true,
      find(text, {start: at}) {
        const [from = 0, to = 0] = matchAt(expression, text, at)?.indices?.groups?.['value'] ?? [];
        const found = text.slice(from, to);
        return found === '' || found.endsWith(':') || isHarmless(found) || !isPassword(found)
          ? NOTHING
          : [{start: from, end: to}];
      },
    };
  });

export const commandRules: readonly RedactionRule[] = [
  ...rulesFor(COMMANDS, () => true),
  ...rulesFor(LIKELY, looksMemorable),
  ...rulesFor(UNSURE, looksChosen),
];
