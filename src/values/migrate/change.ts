import type {Target} from '../../charts/releases/target.ts';
import {maskSecrets} from '../../ground/errors.ts';
import {keySoundsSecret, variableSoundsSecret} from '../../ground/secret.ts';
import {type Path, spellPath, type Tree} from '../../ground/tree.ts';

/** What happens to one key, or what the target requires or does differently. Contains no secrets. */
export interface Change {
  kind: 'renamed' | 'dropped' | 'default-changed' | 'requirement' | 'kept';
  /** The key in the old values; for a changed default, the key in the new ones; empty for the whole file. */
  path: string;
  message: string;
  /** The next step, or the line that keeps the old behavior. */
  remedy?: string;
}

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
): Change => ({
  kind,
  path: spellPath(path),
  message,
  ...(remedy === undefined ? {} : {remedy}),
});

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

/** A reason that applies to several keys is given once. */
export const withoutRepeats = (changes: readonly Change[]): Change[] =>
  changes.filter(
    ({message}, index) => changes.findIndex((each) => each.message === message) === index,
  );
