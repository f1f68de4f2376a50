import type {Secret} from '../../settings/secret.ts';
import {LIMITS} from './rule.ts';

/** A known secret value. `kind` is the name in its pseudonym: token, proxy-password, client-key. */
export interface KnownSecret {
  kind: string;
  value: Secret;
}

export interface KnownValue {
  kind: string;
  /** Bytes as latin1 text. */
  whole: string;
  /** Texts that are searched in every encoding: the value, or parts of a long one. */
  texts: readonly string[];
  /** Parts that can occur alone: lines of a key, the two unique parts of a JSON Web Token. */
  parts: readonly string[];
}

export interface KnownSecretSet {
  known: readonly KnownValue[];
  /** Number of values that are too short, common or public to search for. */
  notUsed: number;
}

/** Not secret although Secrets contain them; searching for them would redact too much. */
const COMMON = new Set(
  ['admin administrator anonymous changeme cluster.local default development disabled docker enabled example false kubernetes localhost']
    .concat('master mysql none nobody password postgres postgresql production public redis registry release scalr scalr-agent secret')
    .concat('service staging system terraform token undefined unknown username us-east-1 us-east-2 us-west-1 us-west-2 eu-west-1')
    .concat('eu-central-1 application/json kubernetes.default.svc 127.0.0.1 0.0.0.0 x86_64 linux/amd64')
    .flatMap((words) => words.split(' ')),
);

const PUBLIC = /^-----BEGIN (?:TRUSTED )?(?:CERTIFICATE|PUBLIC KEY|X509 CRL)|^ssh-(?:rsa|ed25519) |^https?:\/\/[\w.-]+(?::\d+)?\/?$/;

/** Prepares known values for the search; unusable ones are only counted. */
export function knownSecretSet(knownSecrets: readonly KnownSecret[]): KnownSecretSet {
  const known = new Map<string, KnownValue>();
  let notUsed = 0;
  for (const {kind, value} of knownSecrets) {
    const whole = Buffer.from(value.reveal().trim(), 'utf8').toString('latin1');
    if (!useful(whole)) notUsed += 1;
    else if (!known.has(whole)) known.set(whole, {kind: kind.replace(/[^\w-]/g, '-'), whole, texts: pieces(whole), parts: partsOf(whole)});
  }
  return {known: [...known.values()], notUsed};
}

function useful(text: string): boolean {
  if (text.length < 6 || COMMON.has(text.toLowerCase()) || new Set(text).size < 4) return false;
  const oneWord = text.length <= 8 && /^[A-Za-z]?[a-z]+$/.test(text);
  const shortNumber = text.length < 8 && /^[\d.:-]+$/.test(text);
  return !oneWord && !shortNumber && !PUBLIC.test(text);
}

function pieces(text: string): string[] {
  const count = Math.ceil(text.length / LIMITS.piece);
  const length = Math.ceil(text.length / count);
  return Array.from({length: count}, (_, index) => text.slice(index * length, (index + 1) * length));
}

function partsOf(text: string): string[] {
  const segments = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(text) ? text.split('.').slice(1) : [];
  const lines = text.includes('\n') ? text.split(/\r?\n/).map((line) => line.trim()) : [];
  const own = [...segments, ...lines.filter((line) => !line.startsWith('-----'))];
  return [...new Set(own.filter((part) => part.length >= 12 && part.length <= LIMITS.piece && useful(part)))];
}

/** A text in every encoding that tools use; latin1, one character per byte. Short parts are omitted. */
export function formsOf(text: string): ReadonlyMap<string, string> {
  const bytes = Buffer.from(text, 'latin1');
  const forms: [string, string][] = [['raw', text], ...base64(bytes), ...percent(bytes), ...json(bytes.toString('utf8'))];
  forms.push(['shell', text.replaceAll("'", "'\\''")], ['shell double', text.replace(/["\\$`]/g, '\\$&')]);
  forms.push(
    ['yaml single', text.replaceAll("'", "''")],
    ['xml names', text.replace(/[&<>"]/g, (one) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[one] as string)],
  );
  forms.push(['xml', text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`)]);
  const seen = new Set<string>();
  return new Map(forms.filter(([, form]) => form.length >= 6 && !seen.has(form) && seen.add(form)));
}

/** Rare encodings, which are searched only for whole values, because every line of every key would be too much. */
export function rareFormsOf(text: string): ReadonlyMap<string, string> {
  const bytes = Buffer.from(text, 'latin1');
  const twice = ALIGNMENTS.flatMap((inner) =>
    base64(Buffer.from(base64Of(bytes, inner), 'latin1')).map(([name, form]): [string, string] => [`${name} of base64+${inner}`, form]),
  );
  return new Map([['hex', bytes.toString('hex')], ['hex upper', bytes.toString('hex').toUpperCase()], ...twice]);
}

export const ALIGNMENTS = [0, 1, 2] as const;

/** Base64 characters that depend only on these bytes, for each alignment. */
export function base64Of(bytes: Buffer, before: (typeof ALIGNMENTS)[number]): string {
  const first = Math.ceil((before * 8) / 6);
  const last = Math.floor(((before + bytes.length) * 8) / 6);
  return Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .slice(first, last);
}

const base64 = (bytes: Buffer): [string, string][] =>
  ALIGNMENTS.flatMap((before): [string, string][] => {
    const plain = base64Of(bytes, before);
    return [
      [`base64+${before}`, plain],
      [`base64url+${before}`, plain.replaceAll('+', '-').replaceAll('/', '_')],
    ];
  });

function percent(bytes: Buffer): [string, string][] {
  const encoded = (keeps: RegExp, letterCase: 'upper' | 'lower'): string =>
    [...bytes.toString('latin1')]
      .map((one) => (keeps.test(one) ? one : `%${letterCase === 'upper' ? hexOf(one).toUpperCase() : hexOf(one)}`))
      .join('');
  return (['upper', 'lower'] as const).flatMap((letterCase) => {
    const once: [string, string][] = [
      [`percent ${letterCase}`, encoded(/[\w.~-]/, letterCase)],
      [`percent of components ${letterCase}`, encoded(/[\w.~!*'()-]/, letterCase)],
      [`percent of forms ${letterCase}`, encoded(/[\w.~ -]/, letterCase).replaceAll(' ', '+')],
      [`percent full ${letterCase}`, encoded(/(?!)/, letterCase)],
    ];
    return [...once, ...once.map(([name, form]): [string, string] => [`${name} twice`, form.replaceAll('%', '%25')])];
  });
}

const hexOf = (one: string): string => one.charCodeAt(0).toString(16).padStart(2, '0');

function json(text: string): [string, string][] {
  const inner = (value: string): string => JSON.stringify(value).slice(1, -1);
  const escaped = (value: string, which: RegExp): string =>
    value.replace(which, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const once = inner(text);
  const forms = {
    json: once,
    'json of Go': escaped(once, /[<>&]/g),
    'json ascii': escaped(once, /[^\0-\x7f]/g),
    'json with slashes': once.replaceAll('/', '\\/'),
    'json twice': inner(once),
    'json thrice': inner(inner(once)),
    'json of Go twice': inner(escaped(once, /[<>&]/g)),
  };
  return Object.entries(forms).map(([name, form]) => [name, Buffer.from(form, 'utf8').toString('latin1')]);
}
