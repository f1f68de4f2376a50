import {KNOWN_PROBLEMS} from '../../src/charts/known-problems.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {describeRange} from '../../src/charts/releases/versions.ts';
import {table} from './markdown.ts';

const EFFECTS = {
  error: 'fails or loses data',
  warning: 'behavior',
  note: 'information',
} as const;

/** The known problems of one chart in docs/charts/upgrades.md. */
export const knownProblemsTable = (chart: ChartName): string =>
  table(
    ['From', 'To', 'Effect', 'Change', 'Remedy'],
    KNOWN_PROBLEMS[chart].map(({from, to, verdict, whose, reason, remedy, isHandled}) => [
      describeRange(from) + (whose === undefined ? '' : `, ${whose}`),
      describeRange(to),
      EFFECTS[verdict],
      reason,
      `${remedy}${isHandled ? ' (done by `upgrade`)' : ''}`,
    ]),
  );
