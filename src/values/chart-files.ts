import type {ErrorObject} from 'ajv';
import {parse} from 'yaml';
import {addRelease} from '../charts/add-release.ts';
import {ChartVersion} from '../charts/chart-version.ts';
import type {ChartName} from '../charts/releases/chart-name.ts';
import {isChart} from '../charts/releases/chart-name.ts';
import {chartSchema, defaultsOf, type SchemaNode} from '../charts/releases/schema.ts';
import type {Target, UpstreamChange} from '../charts/releases/target.ts';
import {ExpectedError} from '../ground/errors.ts';
import {isMap, mergeValues, type Values} from '../ground/tree.ts';
import {yamlProblem} from '../ground/yaml-text.ts';

/** Reads Chart.yaml, values.yaml and values.schema.json of a chart. @throws ExpectedError when it is not one of the three charts */
export async function targetOfChart(
  source: string,
  files: {chart: string; values: string; schema?: string; templates?: string},
): Promise<Target> {
  const metadata = readMetadata(source, files.chart);
  const {name, version, appVersion = '', kubeVersion} = metadata;
  const values = readChartFile(source, 'values.yaml', () =>
    parse(files.values, {logLevel: 'error'}),
  );
  const schema =
    files.schema === undefined
      ? undefined
      : readChartFile(source, 'values.schema.json', () => JSON.parse(files.schema as string));
  const known = addRelease(chartSchema(name), {
    metadata: {name, version, appVersion, ...(kubeVersion === undefined ? {} : {kubeVersion})},
    values,
    schema: schema as SchemaNode | undefined,
    templates: files.templates,
  });
  return new ChartVersion({
    chart: name,
    version,
    schema: known,
    changes: upstreamChangesOf(metadata),
    refusals:
      schema === undefined
        ? undefined
        : await refusalsOf(schema as Values, defaultsOf(known, version), source),
  });
}

/** The change list in the annotations of Chart.yaml; empty if there is none, or if it is invalid. */
export function upstreamChangesOf({annotations}: ChartMetadata): UpstreamChange[] {
  try {
    const list: unknown = parse(annotations?.['artifacthub.io/changes'] ?? '', {logLevel: 'error'});
    return (Array.isArray(list) ? list : []).flatMap((each: unknown): UpstreamChange[] => {
      if (typeof each === 'string') return [{description: each}];
      return isMap(each) && typeof each['description'] === 'string'
        ? [{kind: each['kind'] as string | undefined, description: each['description']}]
        : [];
    });
  } catch {
    return [];
  }
}

/** Checks values as Helm does: merged over the defaults, null deleting defaults. */
async function refusalsOf(
  schema: Values,
  defaults: Values,
  source: string,
): Promise<NonNullable<Target['refusals']>> {
  // The bundle has only the default export.
  const {Ajv} = (await import('ajv')).default;
  // Two of the charts name a JSON Schema draft that Ajv does not know.
  const {$schema: _, ...rules} = schema;
  const check = readChartFile(source, 'values.schema.json', () =>
    new Ajv({strict: false, allErrors: true, validateFormats: false}).compile(rules),
  );
  return (values) =>
    check(mergeValues(defaults, values))
      ? []
      : (check.errors ?? []).map((error) => ({
          path: keysOf(error.instancePath),
          message: schemaProblem(error),
        }));
}

/** An error of Ajv in our words. */
function schemaProblem({keyword, params}: Pick<ErrorObject, 'keyword' | 'params'>): string {
  const {type, allowedValues, additionalProperty, missingProperty, comparison, limit, pattern} =
    params as Readonly<Record<string, unknown>>;
  if (keyword === 'type') return `must be of type ${[type].flat().join(' or ')}`;
  if (keyword === 'enum')
    return `must be one of ${[allowedValues]
      .flat()
      .map((each) => JSON.stringify(each))
      .join(', ')}`;
  if (keyword === 'additionalProperties') return `must not have the key ${additionalProperty}`;
  if (keyword === 'required') return `must have the key ${missingProperty}`;
  if (comparison !== undefined) return `must be ${comparison} ${limit}`;
  return pattern === undefined ? `does not match its schema (${keyword})` : `must match ${pattern}`;
}

/** The keys of a JSON pointer. */
const keysOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((each) => each.replaceAll('~1', '/').replaceAll('~0', '~'));

/** The Chart.yaml of a chart. */
export interface ChartMetadata {
  name: ChartName;
  version: string;
  appVersion?: string;
  kubeVersion?: string;
  annotations?: Readonly<Record<string, string>>;
}

/** @throws ExpectedError when it is not one of the three charts */
export function readMetadata(source: string, text: string): ChartMetadata {
  const metadata = readChartFile(source, 'Chart.yaml', () =>
    parse(text, {logLevel: 'error'}),
  ) as Partial<Record<keyof ChartMetadata, unknown>>;
  const {name, version} = metadata;
  if (!isChart(name) || typeof version !== 'string') {
    throw unreadable(
      `Unsupported chart ${JSON.stringify(name)} in ${source}: must be agent-k8s, agent-local or agent-job`,
    );
  }
  return metadata as ChartMetadata;
}

/** Parses one file of a chart. @throws ExpectedError when it is invalid */
function readChartFile<T>(source: string, name: string, parsed: () => T): T {
  try {
    const found = parsed();
    if (name.endsWith('.yaml') && !isMap(found))
      throw unreadable(`Cannot read ${name} in ${source}: not a YAML mapping`);
    return found;
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    throw unreadable(`Cannot read ${name} in ${source}: ${chartFileProblem(name, error as Error)}`);
  }
}

function chartFileProblem(
  name: string,
  error: Error & {linePos?: readonly {line: number}[]},
): string {
  if (!name.endsWith('.yaml'))
    return error instanceof SyntaxError ? 'not valid JSON' : 'not a valid JSON Schema';
  const line = error.linePos?.[0]?.line;
  return `${line === undefined ? '' : `line ${line}: `}${yamlProblem(error.message).replace(/\.$/, '')}`;
}

const unreadable = (message: string): ExpectedError =>
  new ExpectedError(`${message}.`, {
    code: 'INVALID_CHART_SOURCE',
    suggestions: ['Specify the directory or .tgz file of a supported chart'],
  });
