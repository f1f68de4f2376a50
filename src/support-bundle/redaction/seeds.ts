import type {Secret} from '../../settings/secret.ts';
import {LIMITS} from './limits.ts';

/** A value that is known to be secret. `kind` is what its pseudonym says of it: token, proxy-password, client-key. */
export interface Seed {
  kind: string;
  value: Secret;
}

export interface KnownValue {
  kind: string;
  /** The bytes as latin1 text. */
  whole: string;
  /** What is searched for, whole and in every encoding: the value, or its pieces where it is long. */
  texts: readonly string[];
  /** What may stand alone: lines of a key, the two parts of a JSON Web Token that are its own. */
  parts: readonly string[];
}

export interface SeedSet {
  known: readonly KnownValue[];
  /** How many values were not searched for because they are short, common or public. */
  notUsed: number;
}

/** Nobody's secret although Secrets hold it; searching for it would blacken every second line. */
const COMMON = new Set(
  ['admin administrator anonymous changeme cluster.local default development disabled docker enabled example false kubernetes localhost']
    .concat('master mysql none nobody password postgres postgresql production public redis registry release scalr scalr-agent secret')
    .concat('service staging system terraform token undefined unknown username us-east-1 us-east-2 us-west-1 us-west-2 eu-west-1')
    .concat('eu-central-1 application/json kubernetes.default.svc 127.0.0.1 0.0.0.0 x86_64 linux/amd64')
    .flatMap((words) => words.split(' ')),
);

const PUBLIC = /^-----BEGIN (?:TRUSTED )?(?:CERTIFICATE|PUBLIC KEY|X509 CRL)|^ssh-(?:rsa|ed25519) |^https?:\/\/[\w.-]+(?::\d+)?\/?$/;

/** Makes ready what is known; values that are no use as needles are counted, never named. */
export function seedSet(seeds: readonly Seed[]): SeedSet {
  const known = new Map<string, KnownValue>();
  let notUsed = 0;
  for (const {kind, value} of seeds) {
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
