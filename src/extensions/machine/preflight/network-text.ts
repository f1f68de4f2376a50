import type {Endpoint, EndpointOrigin} from '../../../charts/endpoints.ts';
import {type Screen, theme} from '../../../ui/theme.ts';
import type {ListedEndpoint} from './try-endpoints.ts';

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
  const others = endpoints.some(({from}) => from === 'runs')
    ? ' Runs also connect to what their configuration uses, such as the APIs of cloud providers.'
    : '';
  return [...lines, `All connections are outbound.${others}\n`].join('\n');
}
