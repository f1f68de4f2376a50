import {CHARTS} from '../charts/charts.ts';
import type {ClusterChoice, Reason, Recommendation} from '../charts/recommend.ts';
import type {ChartName} from '../charts/releases/chart-name.ts';
import {few} from '../ground/text.ts';
import type {Sizing} from '../values/sizing.ts';
import {paragraph, type Screen, theme} from './theme.ts';

const MARKS: Readonly<Record<Reason['verdict'], string>> = {for: '+', against: '-', excluded: '×'};

const reasonLines = (reasons: readonly Reason[], screen: Screen): string =>
  reasons
    .map(({verdict, message, source}) =>
      paragraph(`  ${MARKS[verdict]} `, `${message} ${theme(screen).dim(`[${source}]`)}`, screen),
    )
    .join('');

/** The chosen chart in one line, with the command that explains the choice. */
export const chosenText = (
  {chart}: Recommendation,
  flags: readonly string[],
  screen: Screen,
): string =>
  `Recommended chart: ${nameText(chart, screen)}. Reasons: ${['scalr-agent recommend', ...flags].join(' ')}\n`;

/** The chosen chart and why. */
const choiceText = ({chart, reasons}: Recommendation, screen: Screen): string =>
  `Recommended chart: ${nameText(chart, screen)}\n${reasonLines(reasons, screen)}`;

/** A chart and its character. */
const nameText = (chart: ChartName, screen: Screen): string =>
  `${theme(screen).bold(chart)} (${CHARTS[chart].character})`;

/** The chosen chart and the arguments about all three. */
export const recommendationText = (recommendation: Recommendation, screen: Screen): string =>
  [
    choiceText(recommendation, screen),
    ...recommendation.rejected.map(
      ({chart, reasons}) => `${nameText(chart, screen)}\n${reasonLines(reasons, screen)}`,
    ),
  ].join('\n');

const CHARTS_BY_NAME = ['agent-k8s', 'agent-local', 'agent-job'] as const;

/** Which chart fits which of several clusters, and whether one chart can serve all. */
export function clusterChoicesText(choices: readonly ClusterChoice[], screen: Screen): string {
  const excluded = choices.flatMap((choice) =>
    choice.excluded.map((each) => ({...each, cluster: choice.cluster})),
  );
  const serving = CHARTS_BY_NAME.filter((chart) => !excluded.some((each) => each.chart === chart));
  const recommended = CHARTS_BY_NAME.flatMap((chart) => {
    const names = choices.filter((each) => each.chart === chart).map(({cluster}) => cluster);
    return names.length === 0 ? [] : [paragraph('  ', `${chart}: ${few(names)}`, screen)];
  });
  const reasons = [...new Set(excluded.map(({chart, message}) => `${chart}: ${message}`))].map(
    (reason) => {
      const names = excluded
        .filter(({chart, message}) => `${chart}: ${message}` === reason)
        .map(({cluster}) => cluster);
      return paragraph('  × ', `${reason} (${few(names)})`, screen);
    },
  );
  const sum =
    serving.length === 0
      ? 'No single chart can serve all clusters.'
      : `Charts that can serve all clusters: ${serving.join(', ')}`;
  return `${theme(screen).bold('Recommended chart of each cluster')}\n${recommended.join('')}${reasons.join('')}${sum}\n`;
}

/** Required resources of the cluster. */
export function sizingText(
  {concurrency, cpuRequested, memoryRequested, memoryLimit, notes}: Sizing,
  screen: Screen,
): string {
  const runs =
    concurrency === 0
      ? '1 agent'
      : `${concurrency} concurrent ${concurrency === 1 ? 'run' : 'runs'}`;
  const first = paragraph(
    '',
    `${runs}: ${cpuRequested} CPU and ${memoryRequested} memory requested, memory limit ${memoryLimit}`,
    screen,
  );
  return (
    first +
    notes
      .map(({message, source}) =>
        paragraph('  ', `${message} ${theme(screen).dim(`[${source}]`)}`, screen),
      )
      .join('')
  );
}
