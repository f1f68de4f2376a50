import {parse} from 'yaml';
import type {ChartName} from '../charts/schema.ts';
import {isMap} from '../charts/tree.ts';
import {ExitCode, ExpectedError} from '../errors.ts';

/** What a chart says of itself in its Chart.yaml. */
export interface Metadata {
  name: ChartName;
  version: string;
  appVersion?: string;
  kubeVersion?: string;
}

/** @throws ExpectedError when it is none of the three charts */
export function readMetadata(source: string, text: string): Metadata {
  const metadata = readChartFile(source, 'Chart.yaml', () => parse(text, {logLevel: 'error'})) as Partial<Record<keyof Metadata, unknown>>;
  const {name, version} = metadata;
  if (!isChart(name) || typeof version !== 'string') {
    throw unreadable(`${source} is the chart ${JSON.stringify(name)}, and not agent-k8s, agent-local or agent-job`);
  }
  return metadata as Metadata;
}

const isChart = (name: unknown): name is ChartName => name === 'agent-k8s' || name === 'agent-local' || name === 'agent-job';

/** One file of a chart. @throws ExpectedError where it cannot be parsed */
export function readChartFile<T>(source: string, name: string, parsed: () => T): T {
  try {
    const found = parsed();
    if (name.endsWith('.yaml') && !isMap(found)) throw new Error('it is no mapping');
    return found;
  } catch (error) {
    throw unreadable(`${name} in ${source} cannot be read: ${(error as Error).message.split('\n')[0]}`);
  }
}

const unreadable = (message: string): ExpectedError =>
  new ExpectedError(`${message}.`, {
    code: 'NO_CHART',
    exit: ExitCode.usage,
    suggestions: ['Name the directory or .tgz of one of the three charts'],
  });
