import {hazardsOf} from '../../charts/advise.ts';
import {CHART_CHANGES, changeWithUpgrade} from '../../charts/chart-change.ts';
import type {Target} from '../../charts/define.ts';
import {floorOf, isBelow} from '../../charts/version-status.ts';
import {sameTree, spellPath, type Values} from '../../ground/tree.ts';
import {type SecretNames, secretNamesOf} from '../../settings/release.ts';
import {effectiveValues, readEffective, withoutMethodNames} from '../read-values.ts';
import {mapKeys} from './carry.ts';
import {type Change, changeOf, type Move, targetName, withoutRepeats} from './change.ts';
import {changedDefaults} from './changed-defaults.ts';
import {extractSecrets} from './extract-secrets.ts';
import type {SettingEntries} from './read-explicit.ts';
import {settleValues} from './settle.ts';

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
 * kept where the target has them, and everything else is listed. The result contains no token: the target reads it from a Secret of these names. Pure.
 */
export function migrateValues(given: Values, from: Target, to: Target, names: SecretNames = secretNamesOf()): Migrated {
  const {values, settings: explicit, changes: secrets} = extractSecrets(withoutMethodNames(given), from, names);
  const carried = mapKeys(values, explicit, from, to);
  const {values: after, changes, moves} = settleValues(values, carried, from, to);
  const settings = new Map(explicit.map(({setting, value}) => [setting.id, value]));
  const lost = withoutEffect(explicit, after, changes, to);
  const defaults = changedDefaults({before: values, after, settings}, from, to);
  return {
    values: after,
    settings,
    changes: withoutRepeats([...requirements(values, from, to), ...secrets, ...changes, ...lost, ...defaults]),
    moves,
  };
}

/** Settings that the new values do not express, because a key they require is not carried over. */
function withoutEffect(explicit: readonly SettingEntries[], after: Values, changes: readonly Change[], to: Target): Change[] {
  const read = readEffective(effectiveValues(after, to), to).settings;
  const listed = new Set(changes.map(({path}) => path));
  return explicit.flatMap(({setting, value, leaves}) => {
    const [path] = leaves;
    const isKnown = path === undefined || sameTree(read.get(setting.id), value) || leaves.some((each) => listed.has(spellPath(each)));
    return isKnown
      ? []
      : [changeOf('dropped', path, `${spellPath(path)} has no effect in ${targetName(to)} without the keys that are not carried over.`)];
  });
}

/** What the target requires and the old version did not. */
export function requirements(given: Values, from: Target, to: Target): Change[] {
  const [old, floor] = [floorOf(from), floorOf(to)];
  const isHigher = floor !== undefined && (old === undefined || isBelow(old.version, floor.version) || (floor.isHard && !old.isHard));
  return [
    ...(isHigher
      ? [
          changeOf(
            'requirement',
            [],
            `${targetName(to)} requires Kubernetes ${floor.version} or newer: ${floor.because}.`,
            'Check the cluster: scalr-agent preflight',
          ),
        ]
      : []),
    ...(from.chart === to.chart ? hazards(given, from, to) : anotherChart(from, to)),
  ];
}

/** Without the effects that the migrated values avoid. The name of the release is unknown, so the default name is assumed. */
const hazards = (given: Values, from: Target, to: Target): Change[] =>
  hazardsOf(from, to, {release: 'scalr-agent', values: effectiveValues(given, from)})
    .filter(({code, level}) => level !== 'info' && code !== 'KEYS_RENAMED')
    .map(({reason, remedy}) => changeOf('requirement', [], `${reason}.`, remedy));

const anotherChart = (from: Target, to: Target): Change[] => [
  changeOf(
    'requirement',
    [],
    `A change from ${from.chart} to ${to.chart} with Helm alone ${CHART_CHANGES.helm}.`,
    changeWithUpgrade(to.chart),
  ),
];
