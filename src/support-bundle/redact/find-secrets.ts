import type {Container, KubernetesObject} from '../../cluster/objects.ts';
import {Secret} from '../../settings/secret.ts';
import type {Seed} from './known-values.ts';
import {isHarmless, isHclReference, isPlace, isProse, keyHolds} from './looks-secret.ts';
import {ENTITIES} from './needles.ts';

export interface SecretContent extends KubernetesObject {
  type?: string;
  data?: Readonly<Record<string, string>>;
}

/** What is in Secrets, and what stands as a variable or in a command where one would do; Helm's own records are too large and hold it all again. */
export const seedsOf = (secrets: readonly SecretContent[], objects: readonly KubernetesObject[]): Seed[] => [
  ...secrets
    .filter(({type = ''}) => !type.startsWith('helm.sh/'))
    .flatMap(({data = {}}) => Object.entries(data))
    .flatMap(([key, content]) => {
      const value = Buffer.from(content, 'base64').toString('utf8');
      return [seed(key, value), ...seedsWithin(value)];
    }),
  ...containersIn(objects).flatMap(({env, command, args}) => [
    ...seedsOfVariables((env ?? []).flatMap(({name, value}) => (value === undefined ? [] : [{name, value}]))),
    ...seedsOfWords([...(command ?? []), ...(args ?? [])]),
  ]),
];

const CONTAINERS = new Set(['containers', 'initContainers', 'ephemeralContainers']);

/** Of pods, of workloads and of templates of every sort. */
function containersIn(value: unknown): Container[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    CONTAINERS.has(key) && Array.isArray(each) ? (each as Container[]) : containersIn(each),
  );
}

/** A file in a Secret is at most so large, and what is deeper was not written by people. */
const DEEPEST = 8;
const PASSWORD_OF_URL = /\/\/[^/\s:@]*:([^\s/]+)@/g;
/** `name=value` and `name: value`, in lines, in connection strings and between blanks; `//registry/:_authToken=value` is one of npm. */
const PAIR = /(?<=^|[\s;,&?{(]|\/:)["']?([\w.-]{2,64})["']?[ \t]{0,4}[:=][ \t]{0,4}("[^"\n]*"|'[^'\n]*'|[^\s;,&"']+)/gm;

/** What is secret inside of a value and may stand elsewhere by itself: passwords of URLs, what files hold under keys that look secret. */
export function seedsWithin(text: string, kindOfUrl = 'password'): Seed[] {
  const passwords = [...text.matchAll(PASSWORD_OF_URL)].flatMap(([, written = '']) => decoded(written));
  return [...passwords.map((password) => seed(kindOfUrl, password)), ...(inJson(text) ?? inLines(text))];
}

export const seed = (name: string, value: string): Seed => ({
  kind: name.replace(/^-+/, '').toLowerCase().replaceAll('_', '-'),
  value: new Secret(value),
});

/** As it is written, and as it is meant where it holds escapes. */
function decoded(written: string): string[] {
  try {
    return [...new Set([written, decodeURIComponent(written)])];
  } catch {
    return [written];
  }
}

function inJson(text: string): Seed[] | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return inFields('', JSON.parse(text), DEEPEST);
  } catch {
    return undefined;
  }
}

function inFields(key: string, value: unknown, depth: number): Seed[] {
  if (typeof value === 'string') return ofField(key, value);
  if (typeof value !== 'object' || value === null || depth === 0) return [];
  return Object.entries(value).flatMap(([name, each]) => inFields(Array.isArray(value) ? key : name, each, depth - 1));
}

/** `auth` of a registry is user and password in base64. */
function ofField(key: string, value: string): Seed[] {
  if (!isSecret(key, value)) return [];
  const [, password] = key === 'auth' ? (/^[\x20-\x7e]+?:([\x20-\x7e]+)$/.exec(Buffer.from(value, 'base64').toString('latin1')) ?? []) : [];
  return [seed(key, value), ...(password === undefined ? [] : [seed('password', password)])];
}

const inLines = (text: string): Seed[] =>
  [...pairsIn(text), ...inCredentialFile(text)].filter(([key, value]) => isSecret(key, value)).map(([key, value]) => seed(key, value));

const pairsIn = (text: string): Named[] =>
  [...text.matchAll(PAIR)].map(([, key = '', value = '']) => [key, value.replace(/^(["'])(.*)\1$/, '$2')]);

/** Not what only points to the secret, or says of what kind it is: it would be hidden wherever it stands. */
export function isSecret(key: string, value: string): boolean {
  const holds = keyHolds(key);
  if (isHarmless(value) || isHclReference(value) || isPlace(key, value) || (holds === 'word' && /^[/~]/.test(value))) return false;
  return holds === 'secret' || (holds === 'word' && !isProse(value));
}

export interface Variable {
  name: string;
  value: string;
}

/** NAME=value; undefined for what is none. */
export function variableIn(text: string): Variable | undefined {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
  return name === undefined || value === undefined ? undefined : {name, value};
}

export const looksSecret = ({name, value}: Variable): boolean => isSecret(name, value);

/** What must not be found anywhere else: values of variables that look secret, and what is secret inside of others. */
export const seedsOfVariables = (variables: readonly Variable[]): Seed[] =>
  variables.flatMap((variable) => [
    ...(looksSecret(variable) ? [seed(variable.name, variable.value)] : []),
    ...seedsWithin(variable.value, 'proxy-password'),
  ]);

/** `--token VALUE` and `--token=VALUE` among the words of a command, also of one that a shell is given in a word. */
export function seedsOfWords(words: readonly string[]): Seed[] {
  const ofFlag = (flag: string, value: string): Seed[] => (isSecret(flag.replace(/^-+/, ''), value) ? [seed(flag, value)] : []);
  return words.flatMap((word, index) => {
    const [, flag, value = ''] = /^(--?[\w-]+)=(.+)$/s.exec(word) ?? [];
    if (flag !== undefined) return ofFlag(flag, value);
    const variable = variableIn(word);
    if (variable) return seedsOfVariables([variable]);
    const before = words[index - 1] ?? '';
    const named = before.startsWith('-') && !before.includes('=') && !word.startsWith('-') ? ofFlag(before, word) : [];
    if (named.length > 0) return named;
    const parts = word.split(/[\s;|&]+/);
    return parts.length > 1 ? seedsOfWords(parts.map((part) => part.replace(/(^|=)(["'])(.*)\2$/, '$1$3'))) : [];
  });
}

/** What a file says under a name, where it says neither JSON nor `name=value`. */
export type Named = readonly [name: string, value: string];

/** `machine` or `default` begin an entry of .netrc, as ftp(1) and curl read it: words between blanks, over as many lines as one likes. */
const NETRC = /^[ \t]*(?:machine\s+\S+|default)\s/m;
const PASSWORD_OF_NETRC = /\spassword\s+("[^"\n]*"|\S+)/g;

/** `host:port:database:user:password`; a backslash stands before a colon that is part of a word. */
const LINE_OF_PGPASS = /^(?:(?:[^:\\\s]|\\.)+:)(?:\*|\d{1,5}):(?:(?:[^:\\\n]|\\.)+:){2}((?:[^:\\\r\n]|\\.)+)$/gm;

/** An element that holds nothing but a text, as `<password>` in the settings of Maven and NuGet. */
const ELEMENT = /<([\w.-]{2,64})>([^<>\n]{1,4096})<\/\1>/g;

/** What .netrc, .pgpass and files of XML hold by name. */
export const inCredentialFile = (text: string): Named[] => [...ofNetrc(text), ...ofPgpass(text), ...ofXml(text)];

const ofNetrc = (text: string): Named[] =>
  NETRC.test(text) ? [...text.matchAll(PASSWORD_OF_NETRC)].map(([, word = '']) => ['password', word.replace(/^"(.*)"$/, '$1')]) : [];

const ofPgpass = (text: string): Named[] =>
  [...text.matchAll(LINE_OF_PGPASS)].map(([, word = '']) => ['password', word.replace(/\\(.)/g, '$1')]);

const ofXml = (text: string): Named[] =>
  [...text.matchAll(ELEMENT)].map(([, name = '', value = '']) => [
    name,
    value.replace(/&(amp|lt|gt|quot|apos);/g, (_all, entity) => ENTITIES[entity] as string),
  ]);
