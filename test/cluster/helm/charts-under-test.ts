import {existsSync} from 'node:fs';
import {cp, mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {stringify} from 'yaml';
import type {ChartName} from '../../../src/charts/releases/chart-name.ts';
import {chartSchema, defaultsOf} from '../../../src/charts/releases/schema.ts';
import type {Target} from '../../../src/charts/releases/target.ts';
import {releasesOf} from '../../../src/charts/releases/target.ts';
import {within} from '../../../src/charts/releases/versions.ts';
import {definition} from './definition.ts';

const NAMES: readonly ChartName[] = ['agent-k8s', 'agent-local', 'agent-job'];
const SMALL = fileURLToPath(new URL('charts', import.meta.url));

/** Templates of versions that only differ in what an upgrade breaks; other tests do not use them. */
const HAZARDS: Readonly<Record<string, string>> = {
  'agent-job/0.5.67': fileURLToPath(new URL('hazards/agent-job-0.5.67', import.meta.url)),
  'agent-local/0.5.74': fileURLToPath(new URL('hazards/agent-local-0.5.74', import.meta.url)),
  // Cut from the branch of 0.5.72.
  'agent-local/0.5.75': join(SMALL, 'agent-local/0.5.72'),
};

/** Directory `<chart>/<version>` of released charts; by default, the small stand-in charts of this folder. */
export const REAL = process.env['SCALR_CHARTS'];

/** All supported versions in the directory. */
export const targets: readonly Target[] = NAMES.flatMap((chart) =>
  releasesOf(chart)
    .map((version) => ({chart, version}))
    .filter((target) => existsSync(join(REAL ?? SMALL, target.chart, target.version))),
);

/** The first of consecutive versions with the same templates and values. */
const FIRST_OF_ALIKE = {
  'agent-k8s': ['0.5.58', '0.5.66', '0.5.67'],
  'agent-local': [
    '0.5.63',
    '0.5.64',
    '0.5.65',
    '0.5.67',
    '0.5.73',
    '0.5.74',
    '0.6.1',
    '0.6.2',
    '0.6.4',
  ],
  'agent-job': [
    '0.5.59',
    '0.5.63',
    '0.5.64',
    '0.5.65',
    '0.5.66',
    '0.5.67',
    '0.5.68',
    '0.5.69',
    '0.5.72',
    '0.5.74',
    '0.5.76',
    '0.5.77',
    '0.6.1',
    '0.6.2',
    '0.6.4',
  ],
} as const;
export const DISTINCT: readonly Target[] = NAMES.flatMap((chart) =>
  FIRST_OF_ALIKE[chart].map((version) => ({chart, version})),
);

/** Chart directory for helm; generated files go to `scratch`. */
export async function directoryOf(target: Target, scratch: string): Promise<string> {
  if (REAL !== undefined) return join(REAL, target.chart, target.version);
  const directory = join(scratch, target.chart, target.version);
  await complete(target, directory);
  return directory;
}

const definitionOf = (version: string): [plural: string, kind: string] => {
  if (within(version, '<0.5.64')) return ['agentworkers', 'AgentWorker'];
  return within(version, '<0.5.68')
    ? ['atasks', 'AgentTask']
    : ['agenttasktemplates', 'AgentTaskTemplate'];
};

/** The stand-in charts contain only templates; their values come from the chart schemas of this program. */
async function complete({chart, version}: Target, directory: string): Promise<void> {
  const schema = chartSchema(chart);
  const release = schema['x-releases'].find((each) => each.version === version);
  const templates = join(directory, 'templates');
  await cp(HAZARDS[`${chart}/${version}`] ?? join(SMALL, chart, version), templates, {
    recursive: true,
  });
  for (const shared of ['_shared.tpl', '_volumes.tpl'])
    await cp(join(SMALL, shared), join(templates, shared));
  await writeFile(
    join(directory, 'Chart.yaml'),
    stringify({apiVersion: 'v2', name: chart, ...release}),
  );
  if (chart === 'agent-job') {
    const [plural, kind] = definitionOf(version);
    await mkdir(join(directory, 'crds'), {recursive: true});
    await writeFile(join(directory, 'crds/definition.yaml'), stringify(definition(plural, kind)));
  }
  await writeFile(join(directory, 'values.yaml'), stringify(defaultsOf(schema, version)));
}
