import {CHARTS} from '../../charts/charts.ts';
import type {Target} from '../../charts/define.ts';
import {within} from '../../charts/releases.ts';
import {floorOf, isBelow} from '../../charts/version-status.ts';
import {type Change, changeOf, nameOf} from './change.ts';

/** What the target requires and the old version did not. */
export function requirements(from: Target, to: Target): Change[] {
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
    ...(from.chart === to.chart ? traps(from, to) : anotherChart(from, to)),
  ];
}

const traps = ({chart, version}: Target, to: Target): Change[] =>
  CHARTS[chart].upgradeTraps
    .filter((trap) => !trap.isOfKeys && within(version, trap.from) && within(to.version, trap.to))
    .map(({text, release}) =>
      changeOf(
        'requirement',
        [],
        release === undefined ? `${text.charAt(0).toUpperCase()}${text.slice(1)}.` : `For a release named ${release}: ${text}.`,
      ),
    );

const anotherChart = (from: Target, to: Target): Change[] => [
  changeOf(
    'requirement',
    [],
    `${to.chart} cannot replace ${from.chart} in a release.`,
    `Install ${to.chart} as a new release, then uninstall the release of ${from.chart}`,
  ),
];
