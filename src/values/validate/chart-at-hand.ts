import {Ajv} from 'ajv';
import {parse} from 'yaml';
import {addRelease} from '../../charts/add-release.ts';
import type {Target} from '../../charts/define.ts';
import {chartSchema, defaultsOf, type SchemaNode} from '../../charts/schema.ts';
import {mergeValues, type Values} from '../../charts/tree.ts';
import {readChartFile, readMetadata} from '../chart-metadata.ts';

/** Reads a chart's own Chart.yaml, values.yaml and values.schema.json. @throws ExpectedError when it is none of the three charts */
export function chartAtHand(source: string, files: {chart: string; values: string; schema?: string}): Target {
  const {name, version, appVersion = '', kubeVersion} = readMetadata(source, files.chart);
  const values = readChartFile(source, 'values.yaml', () => parse(files.values, {logLevel: 'error'}));
  const schema =
    files.schema === undefined ? undefined : readChartFile(source, 'values.schema.json', () => JSON.parse(files.schema as string));
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
  const check = readChartFile(source, 'values.schema.json', () =>
    new Ajv({strict: false, allErrors: true, validateFormats: false}).compile(rules),
  );
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
