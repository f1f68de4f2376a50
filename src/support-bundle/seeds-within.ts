import {Secret} from '../settings/secret.ts';
import {inCredentialFile, type Named} from './credential-files.ts';
import {isHarmless, isHclReference, isProse} from './redaction/harmless.ts';
import {isPlace, keyHolds} from './redaction/key-names.ts';
import type {Seed} from './redaction/seeds.ts';

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
