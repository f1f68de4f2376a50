import {CHARTS} from '../charts/charts.ts';
import type {Endpoint, EndpointOrigin} from '../charts/endpoints.ts';
import type {ClusterChoice, Reason, Recommendation} from '../charts/recommend.ts';
import type {ChartName} from '../charts/releases/chart-name.ts';
import {COPY_TOOLS, type CopyTool} from '../extensions/fleet/mirror.ts';
import type {ListedEndpoint} from '../extensions/machine/preflight/try-endpoints.ts';
import {few} from '../ground/text.ts';
import type {InstallImages} from '../values/images.ts';
import type {Sizing} from '../values/sizing.ts';
import {paragraph, type Screen, theme} from './theme.ts';

const MARKS: Readonly<Record<Reason['verdict'], string>> = {for: '+', against: '-', excluded: '×'};

const reasonLines = (reasons: readonly Reason[], screen: Screen): string =>
  reasons
    .map(({verdict, message, source}) =>
      paragraph(`  ${MARKS[verdict]} `, `${message} ${theme(screen).dim(`[${source}]`)}`, screen),
    )
    .join('');

/** The chosen chart and why. */
export const choiceText = ({chart, reasons}: Recommendation, screen: Screen): string =>
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

const ORIGINS: Readonly<Record<EndpointOrigin, string>> = {
  agent: 'From the agent',
  runs: 'From runs',
  nodes: 'From the nodes',
  docker: 'From the Docker daemon',
  installer: 'From the machine that installs the agent',
};

/** The endpoints by who connects to them; with their results, if they were tried. */
export function networkText(endpoints: readonly ListedEndpoint[], screen: Screen): string {
  const {bold, dim, green, red, yellow} = theme(screen);
  const spelled = ({host, port, protocol}: Endpoint): string =>
    `${host}:${port}${protocol === 'UDP' ? '/udp' : ''}`;
  const width = Math.min(48, Math.max(...endpoints.map((each) => spelled(each).length)));
  const markOf = (each: ListedEndpoint): string => {
    const status = each.probe?.status;
    if (status === undefined) return ' ';
    if (status === 'skipped') return dim('-');
    if (status === 'reachable') return green('✓');
    return each.required ? red('×') : yellow('!');
  };
  const resultOf = ({probe}: ListedEndpoint): string =>
    probe && probe.status !== 'reachable' ? `\n      ${probe.message}` : '';
  const lines = (Object.keys(ORIGINS) as EndpointOrigin[]).flatMap((origin) => {
    const own = endpoints.filter(({from}) => from === origin);
    if (own.length === 0) return [];
    return [
      bold(ORIGINS[origin]),
      ...own.map(
        (each) =>
          `${markOf(each)} ${spelled(each).padEnd(width)}  ${dim(`${each.usage}${each.required ? '' : ' (optional)'}`)}${resultOf(each)}`,
      ),
      '',
    ];
  });
  return [
    ...lines,
    `All connections are outbound. Runs also connect to what their configuration uses, such as the APIs of cloud providers.\n`,
  ].join('\n');
}

/** The images of an install, the commands that copy them, and the install with these flags, which uses the copies. */
export function imagesText(
  {chart, chartVersion, agentVersion, registry, images}: InstallImages,
  commands: Record<CopyTool, string[]> | undefined,
  use: {steps: readonly string[]; notes: readonly string[]},
  screen: Screen,
): string {
  const {bold, dim} = theme(screen);
  const width = Math.max(...images.map(({image}) => image.length));
  const list = [
    bold(`Images of ${chart} ${chartVersion} (agent ${agentVersion})`),
    ...images.map(({image, used}) => `  ${image.padEnd(width)}  ${dim(used.join(', '))}`),
  ];
  if (registry === undefined || commands === undefined) return `${list.join('\n')}\n`;
  const copies = COPY_TOOLS.flatMap((tool) =>
    commands[tool].length === 0
      ? []
      : [
          '',
          bold(
            `Copy them to ${registry} with ${tool}${tool === 'docker' ? ' (only the platform of this machine, and no digests)' : ''}`,
          ),
          ...commands[tool].map((each) => `  ${each}`),
        ],
  );
  const {steps, notes} = use;
  const used =
    notes.length > 0 ? notes : [bold('Use the copies'), ...steps.map((each) => `  ${each}`)];
  return `${[...list, ...copies, '', ...used].join('\n')}\n`;
}
