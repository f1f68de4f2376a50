import {hazardsOf} from '../../charts/advise.ts';
import {CHART_CHANGES, changeWithUpgrade} from '../../charts/chart-change.ts';
import type {Target} from '../../charts/define.ts';
import {floorOf, isBelow} from '../../charts/version-status.ts';
import type {Values} from '../../ground/tree.ts';
import {effectiveValues} from '../read-values.ts';
import {type Change, changeOf, nameOf} from './change.ts';

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
            `${nameOf(to)} requires Kubernetes ${floor.version} or newer: ${floor.because}.`,
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
