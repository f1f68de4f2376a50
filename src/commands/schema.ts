import type {SchemaNode} from '../charts/releases/schema.ts';
import type {Target} from '../charts/releases/target.ts';
import {chartOptions} from '../charts/releases/target.ts';
import {targetOf} from '../charts/target-of.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {type ClusterFlags, helmFlag} from '../cli/connection-flags.ts';
import {answersFlag, confirmFlags, outFlag} from '../cli/flags.ts';
import {checksOfConnection} from '../cli/local-inputs.ts';
import {readChartFrom, readUnknownChart} from '../cli/read-chart.ts';
import {settingFlags} from '../cli/setting-flags.ts';
import {ExpectedError} from '../ground/errors.ts';
import {url} from '../settings/agent.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {editorSchema, schemaText} from '../values/editor-schema.ts';

interface Result {
  chart: string;
  chartVersion: string;
  schema: SchemaNode;
  file?: string;
}

export default class Schema extends BaseCommand<Result> {
  static override summary = 'Print the JSON Schema of a values.yaml for editors.';
  static override description =
    'Editors complete keys, show descriptions and defaults, and mark unknown and deprecated keys. Requires no cluster. For a version that this program does not know, the chart is read with helm. Other versions require neither helm nor a network. "values --schema FILE" writes the schema together with the values.';
  static override usage = '<%= command.id %> --chart <NAME> [flags]';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --chart agent-job --chart-version 0.6.5 > schema.json',
    '<%= config.bin %> <%= command.id %> --chart agent-local --out values.schema.json',
  ];
  static override flags = {
    ...outFlag,
    ...confirmFlags,
    ...answersFlag,
    ...helmFlag,
    ...settingFlags([chart, chartVersion, chartSource]),
  };

  override async run(): Promise<Result> {
    const {flags} = await this.parse(Schema);
    await this.requireLocal(
      flags,
      {certain: checksOfConnection([], flags, this.app)},
      {optional: [url]},
    );
    const target = await this.#target(await this.settingsFrom(flags, {optional: [url]}), flags);
    const schema = editorSchema(target);
    const text = schemaText(schema);
    const file = await this.writeOut(text, flags);
    return {chart: target.chart, chartVersion: target.version, schema, ...file};
  }

  async #target(settings: Settings, flags: ClusterFlags): Promise<Target> {
    const source = settings.get(chartSource);
    const version = settings.get(chartVersion);
    const name = settings.get(chart);
    const deps = {app: this.app, flags};
    if (source !== undefined)
      return (await readChartFrom(source, {chart: name ?? '', version: version ?? ''}, deps))
        .target;
    const read =
      name && version ? await readUnknownChart(name, version, undefined, deps) : undefined;
    const {target, warnings} = targetOf(
      settings,
      () => {
        throw new ExpectedError('Missing chart: every chart has its own schema.', {
          code: 'MISSING_SETTING',
          options: chartOptions,
          suggestions: ['Add --chart agent-k8s, agent-local or agent-job'],
        });
      },
      read?.target,
    );
    this.report(warnings);
    return target;
  }
}
