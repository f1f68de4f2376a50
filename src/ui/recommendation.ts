import {CHARTS} from '../charts/charts.ts';
import type {Reason, Recommendation} from '../charts/recommend.ts';
import type {ChartName} from '../charts/schema.ts';
import type {Sizing} from '../values/sizing.ts';
import {paragraph, type Screen, theme} from './theme.ts';

const MARKS: Readonly<Record<Reason['verdict'], string>> = {for: '+', against: '-', excluded: '×'};

const reasonLines = (reasons: readonly Reason[], screen: Screen): string =>
  reasons
    .map(({verdict, message, source}) => paragraph(`  ${MARKS[verdict]} `, `${message} ${theme(screen).dim(`[${source}]`)}`, screen))
    .join('');

/** The chosen chart and why. */
export const choiceText = ({chart, reasons}: Recommendation, screen: Screen): string =>
  `Recommended chart: ${nameText(chart, screen)}\n${reasonLines(reasons, screen)}`;

/** A chart and its character. */
const nameText = (chart: ChartName, screen: Screen): string => `${theme(screen).bold(chart)} (${CHARTS[chart].character})`;

/** The chosen chart and the arguments about all three. */
export const recommendationText = (recommendation: Recommendation, screen: Screen): string =>
  [
    choiceText(recommendation, screen),
    ...recommendation.rejected.map(({chart, reasons}) => `${nameText(chart, screen)}\n${reasonLines(reasons, screen)}`),
  ].join('\n');

/** Required resources of the cluster. */
export function sizingText({concurrency, cpuRequested, memoryRequested, memoryLimit, notes}: Sizing, screen: Screen): string {
  const runs = concurrency === 0 ? '1 agent' : `${concurrency} concurrent ${concurrency === 1 ? 'run' : 'runs'}`;
  const first = paragraph('', `${runs}: ${cpuRequested} CPU and ${memoryRequested} memory requested, memory limit ${memoryLimit}`, screen);
  return first + notes.map(({message, source}) => paragraph('  ', `${message} ${theme(screen).dim(`[${source}]`)}`, screen)).join('');
}
