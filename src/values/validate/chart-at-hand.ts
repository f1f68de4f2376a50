import {Ajv} from 'ajv';
import {parse} from 'yaml';
import {addRelease} from '../../charts/add-release.ts';
import type {Target} from '../../charts/define.ts';
import {type ChartName, chartSchema, defaultsOf, type SchemaNode} from '../../charts/schema.ts';
import {isMap, mergeValues, type Values} from '../../charts/tree.ts';
import {ExitCode, ExpectedError} from '../../errors.ts';

/** Reads a chart's own Chart.yaml, values.yaml and values.schema.json. @throws ExpectedError when it is none of the three charts */
export function chartAtHand(source: string, files: {chart: string; values: string; schema?: string}): Target {
  const metadata = read(source, 'Chart.yaml', () => parse(files.chart, {logLevel: 'error'}));
  const values = read(source, 'values.yaml', () => parse(files.values, {logLevel: 'error'}));
  const schema = files.schema === undefined ? undefined : read(source, 'values.schema.json', () => JSON.parse(files.schema as string));
  const {name, version} = metadata as {name?: unknown; version?: unknown};
  if (!isChart(name) || typeof version !== 'string') {
    throw unreadable(`${source} is the chart ${JSON.stringify(name)}, and not agent-k8s, agent-local or agent-job`);
  }
  const {appVersion = '', kubeVersion} = metadata as {appVersion?: string; kubeVersion?: string};
  const known = addRelease(chartSchema(name), {
    metadata: {name, version, appVersion, ...(kubeVersion === undefined ? {} : {kubeVersion})},
    values,
    ...(schema === undefined ? {} : {schema: schema as SchemaNode}),
  });
  const target: Target = {chart: name, version, schema: known};
  return schema === undefined ? target : {...target, refusals: refusalsOf(schema as Values, defaultsOf(known, version), source)};
}

/** As Helm checks them: values and defaults together, null deleting defaults. */
function refusalsOf(schema: Values, defaults: Values, source: string): NonNullable<Target['refusals']> {
  // Two of the charts name the draft by an address that Ajv does not know.
  const {$schema: _, ...rules} = schema;
  const check = read(source, 'values.schema.json', () => new Ajv({strict: false, allErrors: true, validateFormats: false}).compile(rules));
  return (values) =>
    check(mergeValues(defaults, values))
      ? []
      : (check.errors ?? []).map(({instancePath, message = 'is wrong'}) => ({path: keysOf(instancePath), message}));
}

/** The keys of a JSON pointer. */
const keysOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((each) => each.replaceAll('~1', '/').replaceAll('~0', '~'));

const isChart = (name: unknown): name is ChartName => name === 'agent-k8s' || name === 'agent-local' || name === 'agent-job';

function read<T>(source: string, name: string, parsed: () => T): T {
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
