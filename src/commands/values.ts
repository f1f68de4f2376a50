import {dirname, relative, resolve} from 'node:path';
import * as Flags from '@oclif/core/flags';
import type {Target} from '../charts/releases/target.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {fromClusterFlag, optionalClusterFlags} from '../cli/connection-flags.ts';
import {answersFlag, confirmFlags, outFlag} from '../cli/flags.ts';
import {generateConfirmed} from '../cli/generate.ts';
import {checksOfConnection} from '../cli/local-inputs.ts';
import {settingFlags} from '../cli/setting-flags.ts';
import {linesOf, writeResult} from '../cli/write-files.ts';
import {usageError} from '../ground/errors.ts';
import type {SettingFinding} from '../ground/finding.ts';
import type {Values as ValuesTree} from '../ground/tree.ts';
import {catalog} from '../settings/catalog.ts';
import {namespace, release} from '../settings/release.ts';
import {flagsOf, quote, recordedPath, type Settings} from '../settings/settings.ts';
import {explainText} from '../ui/messages.ts';
import {chosenText} from '../ui/requirements.ts';
import {
  type ExplainedSetting,
  explainSettings,
  flagsToRepeat,
  isPrivate,
  valuesDocument,
} from '../values/document.ts';

interface Result {
  chart: string;
  chartVersion: string;
  values: ValuesTree;
  yaml: string;
  settings: ExplainedSetting[];
  warnings: readonly SettingFinding[];
  file?: string;
  schemaFile?: string;
}

export default class Values extends BaseCommand<Result> {
  static override summary = 'Generate a values.yaml for one chart version.';
  static override description =
    'Requires no cluster, and no helm and no network for known chart versions. Every setting is also a variable SCALR_AGENT_INSTALL_<FLAG> and a key of the answers file.';
  static override usage = '<%= command.id %> --url <URL> [flags]';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --url https://acme.scalr.io > values.yaml',
    '<%= config.bin %> <%= command.id %> --url https://acme.scalr.io --cache pvc --out values.yaml',
  ];
  static override flags = {
    ...outFlag,
    schema: Flags.string({
      summary:
        'Write a JSON Schema for editors to this file, and add a reference to it to the values.',
      helpValue: '<FILE>',
    }),
    explain: Flags.boolean({
      summary: 'Print every effective setting and its source on standard error.',
    }),
    ...fromClusterFlag,
    ...confirmFlags,
    ...answersFlag,
    ...settingFlags(catalog),
    ...optionalClusterFlags,
  };

  override async run(): Promise<Result> {
    const {flags} = await this.parse(Values);
    const tools = flags['from-cluster'] ? (['kubectl'] as const) : [];
    await this.requireLocal(flags, {certain: checksOfConnection(tools, flags, this.app)});
    const cluster = await this.clusterOf(flags);
    const given = await this.settingsFrom(flags, {cluster});
    const generated = await generateConfirmed(given, cluster?.facts, {app: this.app, flags});
    const {target, values, recommendation} = generated;
    const warnings = [
      ...generated.warnings,
      ...(cluster ? [] : this.unaskedWarnings(given, target.chart)),
    ];
    const schema = flags.schema === undefined ? undefined : besideValues(flags.schema, flags.out);
    const yaml = valuesDocument(generated, schema);
    const settings = explainSettings(generated);

    const compared = [...flagsToRepeat(given), ...(cluster ? ['--from-cluster'] : [])];
    if (recommendation) this.say(chosenText(recommendation, compared, this.screen));
    this.report(warnings);
    if (flags.explain) this.app.stderr(explainText(settings));

    const {file, done} = await writeResult(
      {
        path: flags.out,
        text: yaml,
        isPrivate: isPrivate(generated),
        isDryRun: flags['dry-run'],
        isAccepted: flags.yes,
        prompter: this.prompter,
      },
      this.app.files,
      flags.schema === undefined ? [] : [await schemaFile(flags.schema, target)],
    );
    const next = file === undefined ? [] : [`Next step: ${installCommand(file, given)}`];
    this.say(linesOf([...done, ...next]));
    if (!this.jsonEnabled() && file === undefined) this.app.stdout(yaml);
    return {
      chart: target.chart,
      chartVersion: target.version,
      values,
      yaml,
      settings,
      warnings,
      ...(file ? {file} : {}),
      ...(flags.schema === undefined ? {} : {schemaFile: flags.schema}),
    };
  }
}

async function schemaFile(path: string, target: Target) {
  const {editorSchema, schemaText} = await import('../values/editor-schema.ts');
  const text = schemaText(editorSchema(target));
  return {path, text, isPrivate: false, flag: '--schema'} as const;
}

/** The path of the schema from the directory of the values. @throws ExpectedError */
function besideValues(schema: string, values = ''): string {
  if (/^-?$/.test(schema) || resolve(schema) === resolve(values))
    throw usageError('--schema requires a separate file.', [
      'Set a file name: --schema values.schema.json',
    ]);
  // Nobody knows where standard output is stored.
  const path =
    values === '' ? relative('', recordedPath(schema)) : relative(dirname(values), schema);
  return path.replaceAll('\\', '/');
}

/** The command that installs the file; its header contains the chart and the version. */
const installCommand = (path: string, settings: Settings): string =>
  [
    `scalr-agent install --values-file ${quote(path)}`,
    ...[namespace, release].flatMap((setting) => {
      const answer = settings.answer(setting);
      return answer !== undefined && settings.isExplicit(setting) ? flagsOf(setting, answer) : [];
    }),
  ].join(' ');
