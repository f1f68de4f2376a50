import type {ChartName} from '../charts/releases/chart-name.ts';
import type {Target} from '../charts/releases/target.ts';
import {newestOf} from '../charts/releases/target.ts';
import {scopeOf} from '../charts/support.ts';
import {count} from '../ground/text.ts';
import {at, getAt} from '../ground/tree.ts';
import type {Setting} from '../settings/define.ts';
import {canonicalQuantity, milliOf} from '../settings/kinds/quantities.ts';
import {concurrency, purpose} from '../settings/purpose.ts';
import type {Settings} from '../settings/settings.ts';
import {runSize} from '../settings/size.ts';
import {readValues} from './reading/read-values.ts';

/** The resources a cluster needs for this number of concurrent runs, as Kubernetes quantities. */
export interface Sizing {
  /** 0 for a VCS agent. */
  concurrency: number;
  /** Sum of the requests, which the scheduler reserves. */
  cpuRequested: string;
  memoryRequested: string;
  /** Sum of the limits. */
  cpuLimit: string;
  memoryLimit: string;
  notes: {message: string; source: string}[];
}

/** The containers that a chart adds to the runs themselves. */
const BESIDE: Readonly<Record<ChartName, {path: string; text: string} | undefined>> = {
  'agent-local': undefined,
  'agent-job': {
    path: 'task.worker.resources',
    text: 'The sum includes a worker container for each run',
  },
  'agent-k8s': {path: 'resources', text: 'Each node runs a worker, which the sum does not include'},
};

function noteOn(target: Target, runs: number): Sizing['notes'][number] {
  const {chart, version} = target;
  const beside = BESIDE[chart];
  if (beside === undefined) {
    const replicas = `${count(runs, 'replica')}`;
    return {
      message: `An agent executes one run at a time: ${runs === 1 ? '1 concurrent run requires' : `${runs} concurrent runs require`} ${replicas}.`,
      source: `${chart} ${version}, README`,
    };
  }
  const {defaults} = scopeOf(target);
  const amount = (key: string) => getAt(defaults, at(`${beside.path}.${key}`));
  const most = amount('limits.memory');
  const limit = most === undefined ? '' : `; memory limit: ${most}`;
  return {
    message: `${beside.text} (requests: ${amount('requests.cpu')} CPU, ${amount('requests.memory')} memory${limit}).`,
    source: `${chart} ${version}, values.yaml`,
  };
}

const VCS = {
  message:
    'A VCS agent executes no runs. To change the resources of its pod, use --set resources.limits.memory=1Gi.',
  source: 'agent-local 0.6.5, values.yaml (resources)',
};

/** Resources times concurrency for the newest version of the chart. Pure. */
export function sizing(settings: Settings, chart: ChartName): Sizing {
  const target = {chart, version: newestOf(chart)};
  const defaults = readValues({}, target).settings;
  const isForVcs = settings.get(purpose) === 'vcs';
  const runs = settings.get(concurrency) ?? 1;
  const worker = (key: string): string =>
    chart === 'agent-job'
      ? String(getAt(scopeOf(target).defaults, at(`task.worker.resources.${key}`)) ?? '0')
      : '0';
  const total = (setting: Setting<string>, key: string): string =>
    times(settings.get(setting) ?? String(defaults.get(setting.id)), runs, worker(key));
  return {
    concurrency: isForVcs ? 0 : runs,
    cpuRequested: total(runSize.cpuRequest, 'requests.cpu'),
    memoryRequested: total(runSize.memoryRequest, 'requests.memory'),
    cpuLimit: total(runSize.cpuLimit, 'limits.cpu'),
    memoryLimit: total(runSize.memoryLimit, 'limits.memory'),
    notes: isForVcs ? [VCS] : [noteOn(target, runs)],
  };
}

/** The quantity, and another one beside each, times the count. */
function times(quantity: string, count: number, beside: string): string {
  const milli = ((milliOf(quantity) ?? 0n) + (milliOf(beside) ?? 0n)) * BigInt(count);
  const isBinary = quantity.endsWith('i');
  return (
    (isBinary ? canonicalQuantity(`${milli / 1000n / 1024n}Ki`) : canonicalQuantity(`${milli}m`)) ??
    quantity
  );
}
