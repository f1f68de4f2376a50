import type {Container, KubernetesObject} from '../../cluster/objects.ts';
import {Secret} from '../../settings/secret.ts';
import {isCode, isErrorText, isHarmless, isProse} from './harmless.ts';
import {isPlace, keyKind} from './key-names.ts';
import type {KnownSecret} from './known-values.ts';

export interface SecretContent extends KubernetesObject {
  type?: string;
  data?: Readonly<Record<string, string>>;
}

/** Keys of Secrets whose values are names and addresses, which support has to read. */
const NO_SECRETS: ReadonlySet<string> = new Set(
  'namespace username user name email host hostname server port region type database dbname dialect engine project environment'.split(' '),
);

/** Secret values: contents of Secrets, and variables and arguments of commands. Helm release Secrets are too large and only repeat them. */
export const knownSecretsOf = (secrets: readonly SecretContent[], objects: readonly KubernetesObject[]): KnownSecret[] => [
  ...secrets
    .filter(({type = ''}) => !type.startsWith('helm.sh/'))
    .flatMap(({metadata, data = {}}) => Object.entries(data).map(([key, content]) => [metadata.name, key, content] as const))
    .filter(([, key]) => !NO_SECRETS.has(key))
    .flatMap(([secret, key, content]) => {
      const bytes = Buffer.from(content, 'base64');
      const text = bytes.toString('utf8');
      const isBinary = !Buffer.from(text).equals(bytes);
      return [
        {...knownSecret(key, isBinary ? bytes.toString('latin1') : text), isBinary, source: `${secret}/${key}`},
        ...knownSecretsWithin(text),
      ];
    }),
  ...containersIn(objects).flatMap(({env, command, args}) => [
    ...knownSecretsOfVariables((env ?? []).flatMap(({name, value}) => (value === undefined ? [] : [{name, value}]))),
    ...knownSecretsOfWords([...(command ?? []), ...(args ?? [])]),
  ]),
];

const CONTAINERS = new Set(['containers', 'initContainers', 'ephemeralContainers']);

/** Containers of pods, workloads and templates. */
function containersIn(value: unknown): Container[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    CONTAINERS.has(key) && Array.isArray(each) ? (each as Container[]) : containersIn(each),
  );
}

/** Maximum size of a file in a Secret; deeper nesting is not hand-written. */
const DEEPEST = 8;
const PASSWORD_OF_URL = /\/\/[^/\s:@]*:([^\s/]+)@/g;
/** `name=value` and `name: value`, in lines, connection strings and words; `//registry/:_authToken=value` is the npm format. */
const PAIR = /(?<=^|[\s;,&?{(]|\/:)["']?([\w.-]{2,64})["']?[ \t]{0,4}[:=][ \t]{0,4}("[^"\n]*"|'[^'\n]*'|[^\s;,&"']+)/gm;

/** Secrets inside a value that can also occur alone: passwords of URLs, and values of secret keys in files. */
export function knownSecretsWithin(text: string, kindOfUrl = 'password'): KnownSecret[] {
  const passwords = [...text.matchAll(PASSWORD_OF_URL)].flatMap(([, written = '']) => decoded(written));
  return [...passwords.map((password) => knownSecret(kindOfUrl, password)), ...(inJson(text) ?? inLines(text))];
}

export const knownSecret = (name: string, value: string): KnownSecret => ({
  kind: name.replace(/^-+/, '').toLowerCase().replaceAll('_', '-'),
  value: new Secret(value),
});

/** The text as written, and unescaped. */
function decoded(written: string): string[] {
  try {
    return [...new Set([written, decodeURIComponent(written)])];
  } catch {
    return [written];
  }
}

function inJson(text: string): KnownSecret[] | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return inFields('', JSON.parse(text), DEEPEST);
  } catch {
    return undefined;
  }
}

function inFields(key: string, value: unknown, depth: number): KnownSecret[] {
  if (typeof value === 'string') return ofField(key, value);
  if (typeof value !== 'object' || value === null || depth === 0) return [];
  return Object.entries(value).flatMap(([name, each]) => inFields(Array.isArray(value) ? key : name, each, depth - 1));
}

/** `auth` of a registry is user and password in base64. */
function ofField(key: string, value: string): KnownSecret[] {
  if (!isSecret(key, value)) return [];
  const [, password] = key === 'auth' ? (/^[\x20-\x7e]+?:([\x20-\x7e]+)$/.exec(Buffer.from(value, 'base64').toString('latin1')) ?? []) : [];
  return [knownSecret(key, value), ...(password === undefined ? [] : [knownSecret('password', password)])];
}

const inLines = (text: string): KnownSecret[] =>
  [...pairsIn(text), ...inCredentialFile(text)]
    .filter(([key, value]) => isSecret(key, value))
    .map(([key, value]) => knownSecret(key, value));

const pairsIn = (text: string): Named[] =>
  [...text.matchAll(PAIR)].map(([, key = '', value = '']) => [key, value.replace(/^(["'])(.*)\1$/, '$2')]);

/** Excludes references to a secret and its type, which would be redacted everywhere. */
export function isSecret(key: string, value: string): boolean {
  const kind = keyKind(key);
  if (isHarmless(value) || isCode(value) || isErrorText(value) || isPlace(key, value) || (kind === 'word' && /^[/~]/.test(value)))
    return false;
  return kind === 'secret' || (kind === 'word' && !isProse(value));
}

export interface Variable {
  name: string;
  value: string;
}

/** NAME=value; undefined for other text. */
export function variableIn(text: string): Variable | undefined {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
  return name === undefined || value === undefined ? undefined : {name, value};
}

export const looksSecret = ({name, value}: Variable): boolean => isSecret(name, value);

/** Values to redact everywhere: variables that look secret, and secrets inside of others. */
export const knownSecretsOfVariables = (variables: readonly Variable[]): KnownSecret[] =>
  variables.flatMap((variable) => [
    ...(looksSecret(variable) ? [knownSecret(variable.name, variable.value)] : []),
    ...knownSecretsWithin(variable.value, 'proxy-password'),
  ]);

/** `--token VALUE` and `--token=VALUE` in the words of a command, also inside a shell script argument. */
export function knownSecretsOfWords(words: readonly string[]): KnownSecret[] {
  const ofFlag = (flag: string, value: string): KnownSecret[] =>
    isSecret(flag.replace(/^-+/, ''), value) ? [knownSecret(flag, value)] : [];
  return words.flatMap((word, index) => {
    const [, flag, value = ''] = /^(--?[\w-]+)=(.+)$/s.exec(word) ?? [];
    if (flag !== undefined) return ofFlag(flag, value);
    const variable = variableIn(word);
    if (variable) return knownSecretsOfVariables([variable]);
    const before = words[index - 1] ?? '';
    const named = before.startsWith('-') && !before.includes('=') && !word.startsWith('-') ? ofFlag(before, word) : [];
    if (named.length > 0) return named;
    const parts = word.split(/[\s;|&]+/);
    return parts.length > 1 ? knownSecretsOfWords(parts.map((part) => part.replace(/(^|=)(["'])(.*)\2$/, '$1$3'))) : [];
  });
}

/** Value of a name in files that are neither JSON nor `name=value`. */
export type Named = readonly [name: string, value: string];

/** `machine` or `default` starts an entry of .netrc, as in ftp(1) and curl: words separated by whitespace, on any number of lines. */
const NETRC = /^[ \t]*(?:machine\s+\S+|default)\s/m;
const PASSWORD_OF_NETRC = /\spassword\s+("[^"\n]*"|\S+)/g;

/** `host:port:database:user:password`; a backslash escapes a colon. */
const LINE_OF_PGPASS = /^(?:(?:[^:\\\s]|\\.)+:)(?:\*|\d{1,5}):(?:(?:[^:\\\n]|\\.)+:){2}((?:[^:\\\r\n]|\\.)+)$/gm;

/** An element that contains only text, such as `<password>` in the settings of Maven and NuGet. */
const ELEMENT = /<([\w.-]{2,64})>([^<>\n]{1,4096})<\/\1>/g;

/** Names in .netrc, .pgpass and XML files. */
export const inCredentialFile = (text: string): Named[] => [...ofNetrc(text), ...ofPgpass(text), ...ofXml(text)];

const ofNetrc = (text: string): Named[] =>
  NETRC.test(text) ? [...text.matchAll(PASSWORD_OF_NETRC)].map(([, word = '']) => ['password', word.replace(/^"(.*)"$/, '$1')]) : [];

const ofPgpass = (text: string): Named[] =>
  [...text.matchAll(LINE_OF_PGPASS)].map(([, word = '']) => ['password', word.replace(/\\(.)/g, '$1')]);

const ofXml = (text: string): Named[] =>
  [...text.matchAll(ELEMENT)].map(([, name = '', value = '']) => [
    name,
    value.replace(
      /&(amp|lt|gt|quot|apos);/g,
      (_all, entity) => ({amp: '&', lt: '<', gt: '>', quot: '"', apos: "'"})[entity as string] as string,
    ),
  ]);
