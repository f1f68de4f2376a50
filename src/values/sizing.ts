import type {ChartName} from '../charts/schema.ts';
import {newestOf} from '../charts/target.ts';
import type {Setting} from '../settings/define.ts';
import {concurrency} from '../settings/purpose.ts';
import {canonicalQuantity, milliOf} from '../settings/quantity.ts';
import type {Settings} from '../settings/settings.ts';
import {runCpuRequest, runMemoryLimit, runMemoryRequest} from '../settings/size.ts';
import {readValues} from './read.ts';

/** What the cluster has to have for so many runs at the same time; Kubernetes quantities. */
export interface Sizing {
  concurrency: number;
  /** What the scheduler sets aside. */
  cpuRequested: string;
  memoryRequested: string;
  /** What the runs may use at most. */
  memoryLimit: string;
  notes: {message: string; source: string}[];
}

const NOTES: Readonly<Record<ChartName, (runs: number) => Sizing['notes'][number]>> = {
  'agent-local': (runs) => ({
    message: `An agent executes one run at a time, so ${runs} at the same time take ${runs} ${runs === 1 ? 'replica' : 'replicas'}.`,
    source: 'agent-local 0.6.5, README',
  }),
  'agent-job': () => ({
    message: 'Beside its runner every run has a worker container (250m and 256Mi requested, 1024Mi at most).',
    source: 'agent-job 0.6.5, values.yaml',
  }),
  'agent-k8s': () => ({
    message: 'Beside the runs every node has a worker (250m and 256Mi requested).',
    source: 'agent-k8s 0.6.5, values.yaml',
  }),
};

const HOSTS = {
  message: 'An agent in Docker or on a VM executes five runs at the same time at most; RAM times concurrency is what it needs.',
  source: 'docs.scalr.io, self-hosted agents',
};

/** RAM times concurrency for the newest version of the chart. Pure. */
export function sizing(settings: Settings, chart: ChartName): Sizing {
  const target = {chart, version: newestOf(chart)};
  const defaults = readValues({}, target).settings;
  const runs = settings.get(concurrency) ?? 1;
  const total = (setting: Setting<string>): string => times(settings.get(setting) ?? String(defaults.get(setting.id)), runs);
  return {
    concurrency: runs,
    cpuRequested: total(runCpuRequest),
    memoryRequested: total(runMemoryRequest),
    memoryLimit: total(runMemoryLimit),
    notes: [NOTES[chart](runs), HOSTS],
  };
}

function times(quantity: string, count: number): string {
  const milli = (milliOf(quantity) ?? 0n) * BigInt(count);
  const isBinary = quantity.endsWith('i');
  return (isBinary ? canonicalQuantity(`${milli / 1000n / 1024n}Ki`) : canonicalQuantity(`${milli}m`)) ?? quantity;
}
