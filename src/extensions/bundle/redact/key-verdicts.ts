import {
  isCode,
  isErrorText,
  isHarmless,
  isHexOrUuid,
  isObjectName,
  isOtherWord,
  isPhrase,
  isProse,
  looksMemorable,
  looksStrong,
} from './harmless.ts';
import {isPlace, type KeyKind, keyKind, SECRET_IDS} from './key-names.ts';
import type {KeyPosition} from './read-value.ts';
import type {Extent, RedactionPass} from './rule.ts';

/** A value and what decides whether it is secret. */
interface Candidate extends KeyPosition {
  kind: KeyKind;
  isStrict: boolean;
  value: string;
  /** The line from the value on. */
  rest: string;
  /** Not in quotes. */
  isBare: boolean;
}

/** One kind of value. The first row that applies decides. */
interface Verdict {
  example: string;
  applies: (candidate: Candidate) => boolean;
  isSecret: (candidate: Candidate) => boolean;
}

/** Secrets that can be a short number. */
const NUMERIC = /pass|pwd|pin|otp|secret|psk|api|auth|access|private|account|license/i;

/** A variable, an option or a header is no count. */
const COUNTS_NOTHING = /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$|^-|^[A-Z]\w*-/;

const never = (): boolean => false;
const always = (): boolean => true;

/** A sentence goes on, and not with another key. */
const ANY_WORDS = /^,? +[\w"'(/\\*-]/;
const MORE_WORDS = /^,? +(?![\w.-]+[:=])[\w"'(/\\*-]/;

export const VERDICTS: readonly Verdict[] = [
  {
    example: 'ssh-privatekey: 1704 bytes',
    applies: ({rest}) => /^\d+ bytes\b/.test(rest),
    isSecret: never,
  },
  {
    example: 'password: null',
    applies: ({value, key}) => isHarmless(value) || isPlace(key, value),
    isSecret: never,
  },
  {
    example: 'existingSecret: scalr-agent-token',
    applies: (candidate) => {
      const {kind, value} = candidate;
      return (
        kind === 'name' && isObjectName(value) && refersToObject(candidate) && !isHexOrUuid(value)
      );
    },
    isSecret: never,
  },
  {
    example: 'session_id=8f14e45fceea167a5a36dedd4bea2543',
    applies: ({key}) => SECRET_IDS.test(key),
    isSecret: ({value, key}) => isLikelySecret(value, 'secret', key) || isHexOrUuid(value),
  },
  {
    example: 'token: 4096',
    applies: ({value, key, isBare}) =>
      /^\d{1,7}$/.test(value) && isBare && !NUMERIC.test(key) && !COUNTS_NOTHING.test(key),
    isSecret: never,
  },
  {
    example: 'host_key: rotated',
    applies: ({kind}) => kind === 'maybe',
    isSecret: ({value, kind, key, isStrict}) =>
      isLikelySecret(value, kind, key) ||
      (isStrict && !isErrorText(value) && keyKind(value) !== 'secret'),
  },
  {
    example: 'using --password via the CLI is insecure',
    applies: ({separator, isBare, value, rest}) =>
      separator === ' ' &&
      isBare &&
      isProse(value) &&
      !isOtherWord(value) &&
      !looksMemorable(value) &&
      /^ [a-z]+(?!\.?[\w:/-])/i.test(rest.slice(value.length)),
    isSecret: never,
  },
  {
    example: 'SENTRY_DSN=https://public@sentry.example.com/1',
    applies: ({value, key}) => /dsn$/i.test(key) && /^https?:\/\/\w+@/.test(value),
    isSecret: never,
  },
  {
    example: 'auth: enabled',
    applies: ({kind, separator, key, value, isBare}) =>
      kind === 'word' &&
      !((separator === '=' || !isBare || key.startsWith('-')) && /^-*(?:pa|pw|pin)/i.test(key)) &&
      isProse(value),
    isSecret: never,
  },
  {
    example: '"password": String',
    applies: ({keyQuoted, isBare, value}) =>
      keyQuoted && isBare && isProse(value) && !isPhrase(value),
    isSecret: never,
  },
  {
    example: 'token: "not found"',
    applies: ({isBare}) => !isBare,
    isSecret: ({value}) => !isErrorText(value) || !/\s/.test(value),
  },
  {
    example: 'auth: 10.0.0.1',
    applies: ({kind, separator, keyQuoted, value, key}) =>
      kind === 'word' &&
      separator !== '=' &&
      !keyQuoted &&
      !isLikelySecret(value, kind, key) &&
      !looksMemorable(value) &&
      !(/pass|pw|pin|otp/i.test(key) && (key.startsWith('-') || /^\d{4,}$/.test(value))),
    isSecret: never,
  },
  {
    example: 'password = var.password',
    applies: ({value, separator, rest}) =>
      isCode(value) || (separator !== ' ' && isCode(rest.trim().replace(/[,;]$/, ''))),
    isSecret: never,
  },
  {
    example: 'password: [',
    applies: ({value}) => /^(?:[[{]$|map\[\]|\[\]|\{\})/.test(value),
    isSecret: never,
  },
  {
    example: '"password": 83kd72hs',
    applies: ({keyQuoted}) => keyQuoted,
    isSecret: always,
  },
  {
    example: 'cannot read token: permission denied for this user',
    applies: ({separator, beginsLine, value, key, rest}) =>
      separator === ':' &&
      beginsLine === false &&
      isProse(value) &&
      !(/pass|pwd/i.test(key) && (isOtherWord(value) || looksMemorable(value))) &&
      (/pass|pwd/i.test(key) ? MORE_WORDS : ANY_WORDS).test(rest.slice(value.length)),
    isSecret: never,
  },
  {
    example: 'password=denied',
    applies: always,
    isSecret: ({separator, value, rest}) =>
      !isErrorText(separator === ':' ? sentence(rest, value) : (value.split(/\s/, 1)[0] as string)),
  },
];

/** Whether the value of a key is secret. */
export function isSecret(
  text: string,
  {start, end}: Extent,
  place: KeyPosition,
  {kind, isStrict, onVerdict}: Pick<RedactionPass, 'isStrict' | 'onVerdict'> & {kind: KeyKind},
): boolean {
  const candidate: Candidate = {
    ...place,
    kind,
    isStrict,
    value: text.slice(start, end).replace(/^`|[`,;]+$/g, ''),
    rest: text.slice(start, end + 160).split(/\n|\\+n|","|"}|", "/, 1)[0] as string,
    isBare: !IN_QUOTES.test(text.slice(Math.max(0, start - 6), start)),
  };
  const row = VERDICTS.find(({applies}) => applies(candidate));
  const found = row?.isSecret(candidate) === true;
  if (row !== undefined) onVerdict?.(row.example, found);
  return found;
}

const IN_QUOTES = /(?:["']|&quot;|&#3[49];|%2[27]|u002[27])$/;

/** `existingSecret: name`, `--token-secret name`; a variable holds the secret itself. */
const refersToObject = ({key, separator}: KeyPosition): boolean =>
  /[a-z]/.test(key) && (separator !== '=' || key.startsWith('-'));

/** Hex digits of a key or a signature alone look like those of a file. */
export const isLikelySecret = (value: string, kind: KeyKind, key: string): boolean =>
  looksStrong(value) ||
  ((kind !== 'maybe' || !/^keys?$/i.test(key)) &&
    (/^(?=.*\d)(?=.*[a-f])[0-9a-f]{20,}$/i.test(value) ||
      (/key|secret|token|pass/i.test(key) && isHexOrUuid(value))));

/** The words up to the end of the line, as far as they belong together. */
const sentence = (rest: string, value: string): string =>
  rest.startsWith(value)
    ? (rest.split(/[,;)}\]]\s|\s[\w.-]+=|\s+\(|\\*",\s*\\*"|\\*"}/, 1)[0] as string)
    : value;
