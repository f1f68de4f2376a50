import type {Target} from '../../charts/releases/target.ts';
import {maskSecrets} from '../../ground/errors.ts';
import {findingSentence, type KeyFinding, remediesOf} from '../../ground/finding.ts';
import {keySoundsSecret, variableSoundsSecret} from '../../ground/secret.ts';
import {type Path, spellPath, type Tree} from '../../ground/tree.ts';

/**
 * What happens to one key, or what the target requires or does differently. Contains no secrets. Its path is the key in the old values; for a
 * changed default, the key in the new ones; empty for the whole file.
 */
export interface Change extends KeyFinding {
  kind: keyof typeof CODES;
}

const CODES = {
  renamed: ['KEY_RENAMED', 'note'],
  dropped: ['KEY_DROPPED', 'warning'],
  'default-changed': ['DEFAULT_CHANGED', 'warning'],
  requirement: ['TARGET_REQUIRES', 'warning'],
  kept: ['VALUE_KEPT', 'note'],
} as const;

/** A key of the old values and its places in the new ones. */
export interface Move {
  from: Path;
  to: readonly Path[];
}

export const changeOf = (
  kind: Change['kind'],
  path: Path,
  message: string,
  remedy?: string,
): Change => {
  const [code, verdict] = CODES[kind];
  return {
    kind,
    code,
    verdict,
    subject: {path: spellPath(path)},
    message,
    remedies: remediesOf(remedy),
  };
};

export const targetName = ({chart, version}: Target): string => `${chart} ${version}`;

/** True if the value at the path can be a secret, which messages must not show. */
export const isSecretPath = (path: Path): boolean =>
  path.some((key) => keySoundsSecret(key) || variableSoundsSecret(key));

/** A value for a message; undefined for secrets and for values that are too long. */
export function shownValue(path: Path, value: Tree): string | undefined {
  const text = JSON.stringify(value);
  return isSecretPath(path) || text.length > 60 ? undefined : maskSecrets(text);
}

/** The line of values.yaml that sets the key: `a.b: "value"`. */
export function lineOf(path: Path, value: Tree): string {
  const text = shownValue(path, value);
  return text === undefined ? spellPath(path) : `${spellPath(path)}: ${text}`;
}

/** Each change once. */
export const withoutRepeats = (changes: readonly Change[]): Change[] => [
  ...new Map(changes.map((each) => [findingSentence(each), each])).values(),
];
