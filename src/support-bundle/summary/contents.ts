import type {Summary} from './summary.ts';

/** One line for each kind of file that is there. Pure. */
export function contentsText({logs, files}: Pick<Summary, 'logs' | 'files'>): string {
  const count = (pattern: RegExp): number => files.filter((file) => pattern.test(file)).length;
  const [lines, bytes] = [logs.reduce((sum, log) => sum + log.lines, 0), logs.reduce((sum, log) => sum + log.bytes, 0)];
  const previous = logs.some(({file}) => file.endsWith('.previous.log'));
  const rows: readonly (readonly [file: string, text: string, isThere: boolean])[] = [
    ['findings.json, errors.json', 'what stands out and what is not in here, for programs', true],
    [
      'logs/',
      `${number(logs.length, 'log')}, ${number(lines, 'line')}, ${sizeOf(bytes)}${previous ? '; .previous.log is what was said before a restart' : ''}`,
      logs.length > 0,
    ],
    ['events.txt', 'events, the newest last', files.includes('events.txt')],
    ['objects/', `${number(count(/^objects\//), 'object')} as the cluster has them, without Secrets`, count(/^objects\//) > 0],
    ['gone/', `${number(count(/^gone\//), 'object')} as last seen before they went`, count(/^gone\//) > 0],
    ['releases/', 'history, values and manifest as helm has them', count(/^releases\//) > 0],
    ['network.json', 'what runs the network, and whether it enforces policies', files.includes('network.json')],
    ['docker/', 'container and daemon as docker has them', count(/^docker\//) > 0],
    ['systemd/', 'units and their properties', count(/^systemd\//) > 0],
    ['host/', 'which system the machine has', count(/^host\//) > 0],
    ['tools.json, version.json', 'versions of the tools and of the cluster', files.includes('tools.json')],
    ['redactions.json', 'how often which rule hid something in which file', true],
    ['manifest.json', 'size and checksum of every file: scalr-agent collect-logs --inspect compares them', true],
  ];
  return `${rows.map(([file, text, isThere]) => (isThere ? `- ${file}: ${text}\n` : '')).join('')}`;
}

const sizeOf = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

export const number = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
