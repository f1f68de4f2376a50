import type {Secret} from '../../../ground/secret.ts';
import {anchorIn} from './anchors.ts';
import {canonicalTextOf} from './canonical.ts';

/** A known secret value. `kind` is the name in its pseudonym: token, proxy-password, client-key. */
export interface KnownSecret {
  kind: string;
  value: Secret;
  /** The text has one character per byte. */
  isBinary?: boolean;
  /** Where it comes from, for the list of values that cannot be searched: `secret/key`. */
  source?: string;
}

export interface KnownValue {
  kind: string;
  /** One character per byte. */
  whole: string;
}

export interface KnownSecretSet {
  known: readonly KnownValue[];
  /** Sources of values that are too short, common or public to search for. */
  notUsed: readonly string[];
}

const SHORTEST = 6;

/** Not secret although Secrets contain them; searching for them would redact too much. */
const COMMON = new Set(
  'administrator anonymous cluster.local development kubernetes localhost postgresql production scalr-agent terraform undefined kubernetes.default.svc 127.0.0.1 linux/amd64'.split(
    ' ',
  ),
);

/** Dates, times, durations, versions and sizes. */
const MEASURE =
  /^\d{4}-\d\d-\d\d(?:[T ][\d:.,]{4,18}(?:Z|[+-]\d\d:?\d\d)?)?$|^\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?$|^v?\d+(?:\.\d+){1,3}(?:-[a-z]+\.?\d*)?$|^\d+(?:\.\d+)?(?:[KMGTP]i?B?|m|ms|s|h|d)$|^(?:\d+[hms]){2,3}$/;

const PUBLIC =
  /^-----BEGIN (?:TRUSTED )?(?:CERTIFICATE|PUBLIC KEY|X509 CRL)|^ssh-(?:rsa|ed25519) |^https?:\/\/[\w.-]+(?::\d+)?\/?$/;

/** Prepares known values for the search; those that cannot be searched are listed. */
export function knownSecretSet(knownSecrets: readonly KnownSecret[]): KnownSecretSet {
  const known = new Map<string, KnownValue>();
  const notUsed = new Set<string>();
  for (const {kind, value, isBinary, source} of knownSecrets) {
    const bytes = Buffer.from(
      isBinary ? value.reveal() : value.reveal().trim(),
      isBinary ? 'latin1' : 'utf8',
    );
    const whole = bytes.toString('latin1');
    if (!isSearchable(whole)) notUsed.add(source ?? kind);
    else if (!known.has(whole)) known.set(whole, {kind: kind.replace(/[^\w-]/g, '-'), whole});
  }
  return {known: [...known.values()], notUsed: [...notUsed].toSorted()};
}

export function isSearchable(text: string): boolean {
  if (text.length < SHORTEST || COMMON.has(text.toLowerCase()) || new Set(text).size < 4)
    return false;
  const oneWord = text.length <= 8 && /^[A-Za-z]?[a-z]+$/.test(text);
  const shortNumber =
    (text.length < 8 && /^[\d.:-]+$/.test(text)) || /^[a-z]{2}-[a-z]+-\d$/.test(text);
  if (
    oneWord ||
    shortNumber ||
    MEASURE.test(text) ||
    (PUBLIC.test(text) && !text.includes('PRIVATE KEY'))
  )
    return false;
  return anchorIn(canonicalTextOf(Buffer.from(text, 'latin1')), 0, text.length) !== undefined;
}
