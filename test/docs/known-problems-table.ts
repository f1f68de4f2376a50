import {KNOWN_PROBLEMS} from '../../src/charts/known-problems.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {describeRange} from '../../src/charts/releases/versions.ts';
import {table} from './markdown.ts';

const EFFECTS = {
  error: 'fails or loses data',
  warning: 'behavior',
  note: 'information',
} as const;

/** Nobody could try what is only announced. */
const effectOf = (reason: string, effect: string): string =>
  reason.startsWith('According to') ? `announced: ${effect}` : effect;

/** The known problems of one chart in docs/charts/upgrades.md. */
export const knownProblemsTable = (chart: ChartName): string =>
  table(
    ['From', 'To', 'Effect', 'Change', 'Remedy'],
    KNOWN_PROBLEMS[chart].map(({from, to, verdict, whose, reason, remedy, isHandled}) => [
      describeRange(from) + (whose === undefined ? '' : `, ${whose}`),
      describeRange(to),
      effectOf(reason, EFFECTS[verdict]),
      reason,
      `${remedy}${isHandled ? ' (done by `upgrade`)' : ''}`,
    ]),
  );
