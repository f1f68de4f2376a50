import {resolveAnswers} from '../../src/answers/resolve.ts';
import {fromFlags} from '../../src/answers/sources.ts';
import {CHART_CHANGES} from '../../src/charts/advise.ts';
import {type EndpointOrigin, endpointsOf} from '../../src/charts/endpoints.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {newestOf, releasesOf} from '../../src/charts/releases/target.ts';
import {describeRange, rangeOf} from '../../src/charts/releases/versions.ts';
import {supports} from '../../src/charts/support.ts';
import {url} from '../../src/settings/agent.ts';
import {cache} from '../../src/settings/cache.ts';
import {generate} from '../../src/values/generate.ts';
import {effectiveGet, effectiveValues, readValues} from '../../src/values/reading/read-values.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {CHART_NAMES} from '../support/versions.ts';
import {table} from './markdown.ts';

/** What each kind of cache needs besides, and how the page calls it. */
const CACHES: Readonly<Record<string, {volume: string; flags?: Readonly<Record<string, string>>}>> =
  {
    ephemeral: {volume: 'an emptyDir that is deleted with the pod'},
    pvc: {volume: 'a new PersistentVolumeClaim'},
    'existing-pvc': {
      volume: 'the PersistentVolumeClaim of `--cache-claim`',
      flags: {'cache-claim': 'cache'},
    },
    hostpath: {volume: 'a directory on each node, `--cache-path`; for agent-k8s, `--data-home`'},
    efs: {
      volume: 'an Amazon EFS file system, `--efs-handle`',
      flags: {'efs-handle': 'fs-01234567'},
    },
  };

async function versionsThatTake(chart: ChartName, kind: string): Promise<string | undefined> {
  const flags = {url: 'https://acme.scalr.io', chart, cache: kind, ...CACHES[kind]?.flags};
  const settings = await resolveAnswers([fromFlags(flags)], {
    files: memoryFiles({}),
    now: new Date(),
  });
  const all = releasesOf(chart);
  const able = all.filter((version) => supports({chart, version}, cache, settings));
  if (able.length === 0) return undefined;
  const range = rangeOf(able, all);
  const mark =
    readValues({}, {chart, version: newestOf(chart)}).settings.get(cache.id) === kind
      ? ' (default)'
      : '';
  return `${chart}${range === '*' ? '' : ` ${describeRange(range)}`}${mark}`;
}

/** The kinds of cache, and the chart versions for which `values` accepts them. */
export async function cacheTable(): Promise<string> {
  const rows: string[][] = [];
  for (const kind of cache.kind.options ?? []) {
    const charts: string[] = [];
    for (const chart of CHART_NAMES)
      charts.push(...[await versionsThatTake(chart, kind)].filter((each) => each !== undefined));
    rows.push([`\`${kind}\``, CACHES[kind]?.volume ?? '', charts.join('; ')]);
  }
  return table(['`--cache`', 'Volume', 'Charts'], rows);
}

/** What a change of the chart does, in the words of the program. */
export const chartChangesTable = (): string =>
  table(
    ['Change', 'Effect'],
    [
      ['`upgrade --chart`', CHART_CHANGES.upgrade],
      ['`install --chart`', CHART_CHANGES.install],
      ['Helm alone', CHART_CHANGES.helm],
    ],
  );

const FROM: Readonly<Record<EndpointOrigin, string>> = {
  agent: 'agent',
  runs: 'runs',
  nodes: 'nodes',
  docker: 'Docker daemon',
  installer: 'your machine',
};

/** The endpoints of the newest chart with these flags, as the program lists them; hosts with the same use share a row. */
export async function hostsTable(flags: Readonly<Record<string, string>>): Promise<string> {
  const generated = generate(
    await resolveAnswers(
      [fromFlags(flags)],
      {files: memoryFiles({}), now: new Date()},
      {optional: [url]},
    ),
  );
  const {target, settings, effective, values} = generated;
  const chart = {...target, values: effectiveValues(values, target)};
  const endpoints = endpointsOf({
    target: 'kubernetes',
    get: effectiveGet(settings, effective),
    chart,
  });
  const rows = new Map<
    string,
    {from: string; hosts: Set<string>; ports: Set<string>; usage: string}
  >();
  for (const {host, port, protocol, from, usage, required} of endpoints) {
    const text = required ? usage : `${usage}; optional`;
    const row = rows.get(`${from} ${text}`) ?? {
      from: FROM[from],
      hosts: new Set(),
      ports: new Set(),
      usage: text,
    };
    row.hosts.add(`\`${host}\``);
    row.ports.add(protocol === 'UDP' ? `${port}/UDP` : String(port));
    rows.set(`${from} ${text}`, row);
  }
  return table(
    ['From', 'Host', 'Port', 'Used for'],
    [...rows.values()].map(({from, hosts, ports, usage}) => [
      from,
      [...hosts].join(', '),
      [...ports].join(', '),
      usage,
    ]),
  );
}
