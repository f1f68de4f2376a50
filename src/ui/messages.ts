import type {ClusterChoice, Reason, Recommendation} from '../charts/recommend.ts';
import {type ExpectedError, maskSecrets, type Warning} from '../ground/errors.ts';
import {few} from '../ground/text.ts';
import {spell} from '../settings/define.ts';
import type {Settings} from '../settings/settings.ts';
import type {Explained} from '../values/document.ts';
import type {Sizing} from '../values/sizing.ts';
import {nextStep, paragraph, type Screen, theme} from './theme.ts';

/** A failure with its next steps. */
export function errorText({code, message, suggestions}: Pick<ExpectedError, 'code' | 'message' | 'suggestions'>, screen: Screen): string {
  const {red, bold} = theme(screen);
  const label = code === 'CANCELLED' ? '' : `${red.bold('Error:')} `;
  const lines = message.split('\n').map((line, index) => paragraph('', `${index === 0 ? label : ''}${line}`, screen));
  const steps = suggestions.map((each) => nextStep('  - ', each, screen));
  return [...lines, ...(steps.length === 0 ? [] : [`${bold('Next steps:')}\n`, ...steps])].join('');
}

/** Version and links from package.json. */
export interface ProgramOrigin {
  version: string;
  repository: string;
  bugs: string;
}

/** The documentation of this version. */
export const docsOf = ({repository, version}: ProgramOrigin): string => `${repository}/blob/v${version}/docs`;

/** Failures caused by bugs of this program. */
const OURS: readonly ExpectedError['code'][] = ['BUG', 'BROKEN_PROMISE', 'SECRET_IN_BUNDLE'];

/** A failure that ends the program, with a link to its documentation for this version. */
export function failureText(failure: ExpectedError, origin: ProgramOrigin, screen: Screen): string {
  const text = errorText(failure, screen);
  // The user cancelled, so no documentation is needed.
  if (failure.code === 'CANCELLED') return text;
  const report = OURS.includes(failure.code) ? `  Report it: ${origin.bugs}\n` : '';
  // Not wrapped, so that the URL stays on one line.
  return `${text}${report}  More: ${docsOf(origin)}/errors.md#${failure.code.toLowerCase()}\n`;
}

export const warningText = ({message}: Warning, screen: Screen): string =>
  paragraph('', `${theme(screen).yellow.bold('Warning:')} ${message}`, screen);

/** How settings were read that were not spelled in full. */
export const notesText = (settings: Settings, screen: Screen): string[] =>
  settings
    .entries()
    .flatMap(({setting, answer}) => answer.notes?.map((note) => paragraph('', `Note: ${spell(setting)} ${note}.`, screen)) ?? []);

const MARKS: Readonly<Record<Reason['verdict'], string>> = {for: '+', against: '-', excluded: '×'};

const reasonLines = (reasons: readonly Reason[], screen: Screen): string =>
  reasons
    .map(({verdict, message, source}) => paragraph(`  ${MARKS[verdict]} `, `${message} ${theme(screen).dim(`[${source}]`)}`, screen))
    .join('');

/** The chosen chart and why. */
export const choiceText = ({chart, reasons}: Recommendation, screen: Screen): string =>
  `Recommended chart: ${theme(screen).bold(chart)}\n${reasonLines(reasons, screen)}`;

/** The chosen chart and the arguments about all three. */
export const recommendationText = (recommendation: Recommendation, screen: Screen): string =>
  [
    choiceText(recommendation, screen),
    ...recommendation.rejected.map(({chart, reasons}) => `${theme(screen).bold(chart)}\n${reasonLines(reasons, screen)}`),
  ].join('\n');

const CHARTS_BY_NAME = ['agent-k8s', 'agent-local', 'agent-job'] as const;

/** Which chart fits which of several clusters, and whether one chart can serve all. */
export function clusterChoicesText(choices: readonly ClusterChoice[], screen: Screen): string {
  const excluded = choices.flatMap((choice) => choice.excluded.map((each) => ({...each, cluster: choice.cluster})));
  const serving = CHARTS_BY_NAME.filter((chart) => !excluded.some((each) => each.chart === chart));
  const recommended = CHARTS_BY_NAME.flatMap((chart) => {
    const names = choices.filter((each) => each.chart === chart).map(({cluster}) => cluster);
    return names.length === 0 ? [] : [paragraph('  ', `${chart}: ${few(names)}`, screen)];
  });
  const reasons = [...new Set(excluded.map(({chart, message}) => `${chart}: ${message}`))].map((reason) => {
    const names = excluded.filter(({chart, message}) => `${chart}: ${message}` === reason).map(({cluster}) => cluster);
    return paragraph('  × ', `${reason} (${few(names)})`, screen);
  });
  const sum =
    serving.length === 0 ? 'No single chart can serve all clusters.' : `Charts that can serve all clusters: ${serving.join(', ')}`;
  return `${theme(screen).bold('Recommended chart of each cluster')}\n${recommended.join('')}${reasons.join('')}${sum}\n`;
}

/** Required resources of the cluster. */
export function sizingText({concurrency, cpuRequested, memoryRequested, memoryLimit, notes}: Sizing, screen: Screen): string {
  const runs = concurrency === 0 ? '1 agent' : `${concurrency} concurrent ${concurrency === 1 ? 'run' : 'runs'}`;
  const first = paragraph('', `${runs}: ${cpuRequested} CPU and ${memoryRequested} memory requested, memory limit ${memoryLimit}`, screen);
  return first + notes.map(({message, source}) => paragraph('  ', `${message} ${theme(screen).dim(`[${source}]`)}`, screen)).join('');
}

/** Settings with values and sources, in columns. */
export function explainText(settings: readonly Explained[]): string {
  const rows = settings.map(({id, value, source, because}) => [id, shown(value), because ? `${source}: ${because}` : source]);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => (row[column] as string).length)));
  return rows
    .map(([id, value, source]) => `${id?.padEnd(widths[0] as number)}  ${value?.padEnd(widths[1] as number)}  ${source}\n`)
    .join('');
}

const LONGEST = 60;

const hideSecrets = (_: string, value: unknown): unknown => (typeof value === 'string' ? maskSecrets(value) : value);

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, hideSecrets);
  const line = text.split('\n')[0] as string;
  return line.length > LONGEST || line !== text ? `${line.slice(0, LONGEST - 1)}…` : line;
}
