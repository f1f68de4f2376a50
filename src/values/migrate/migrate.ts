import type {Target} from '../../charts/define.ts';
import type {Values} from '../../charts/tree.ts';
import {withoutMethodNames} from '../read-values.ts';
import {carry} from './carry.ts';
import {type Change, type Move, withoutRepeats} from './change.ts';
import {changedDefaults} from './changed-defaults.ts';
import {extractSecrets} from './extract-secrets.ts';
import {requirements} from './requirements.ts';
import {settle} from './settle.ts';

export interface Migrated {
  values: Values;
  /** The settings that the old values express, by id, without chart defaults. */
  settings: ReadonlyMap<string, unknown>;
  changes: readonly Change[];
  /** Keys that have other places in the new values. */
  moves: readonly Move[];
}

/**
 * Values of one chart version for another version or chart. The rows of the charts read and write settings; keys without a setting are
 * kept where the target has them, and everything else is listed. The result contains no token: the target reads it from a Secret. Pure.
 */
export function migrateValues(given: Values, from: Target, to: Target): Migrated {
  const {values, settings: explicit, changes: secrets} = extractSecrets(withoutMethodNames(given), from);
  const carried = carry(values, explicit, from, to);
  const {values: after, changes, moves} = settle(values, carried, from, to);
  const settings = new Map(explicit.map(({setting, value}) => [setting.id, value]));
  const defaults = changedDefaults({before: values, after, settings}, from, to);
  return {
    values: after,
    settings,
    changes: withoutRepeats([...requirements(from, to), ...secrets, ...changes, ...defaults]),
    moves,
  };
}
