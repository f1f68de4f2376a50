import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/base-command.ts';
import {answersFlag, confirmFlags, connectionFlags, fromClusterFlag, settingFlags} from '../cli/flags.ts';
import {generateFor} from '../cli/read-chart.ts';
import {writeResult} from '../cli/user-files.ts';
import type {Warning} from '../ground/errors.ts';
import type {Values as ValuesTree} from '../ground/tree.ts';
import {catalogue} from '../settings/catalogue.ts';
import {namespace, release} from '../settings/release.ts';
import {flagsOf, quote, type Settings} from '../settings/settings.ts';
import {choiceText, explainText} from '../ui/messages.ts';
import {type Explained, explainSettings, flagsToRepeat, isPrivate, valuesDocument} from '../values/document.ts';

interface Result {
  chart: string;
  chartVersion: string;
  values: ValuesTree;
  yaml: string;
  settings: Explained[];
  warnings: readonly Warning[];
  file?: string;
}

export default class Values extends BaseCommand<Result> {
  static override summary = 'Generate a values.yaml for one chart version.';
  static override description =
    'Requires no cluster, no helm and no network. Every setting is also a variable SCALR_AGENT_INSTALL_<FLAG> and a key of the answers file.';
  static override usage = '<%= command.id %> --url <URL> [flags]';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --url https://acme.scalr.io > values.yaml',
    '<%= config.bin %> <%= command.id %> --url https://acme.scalr.io --cache pvc --out values.yaml',
  ];
  static override flags = {
    out: Flags.string({char: 'o', summary: 'Output file (default: standard output).', helpValue: '<FILE>'}),
    explain: Flags.boolean({summary: 'Print every effective setting and its source on standard error.'}),
    ...fromClusterFlag,
    ...confirmFlags,
    ...answersFlag,
    ...settingFlags(catalogue),
    ...connectionFlags,
  };

  override async run(): Promise<Result> {
    const {flags} = await this.parse(Values);
    const cluster = await this.clusterOf(flags);
    const given = await this.settingsFrom(flags, {cluster});
    const generated = await generateFor(given, cluster?.facts, {app: this.app, flags});
    const {target, values, recommendation} = generated;
    const warnings = [...generated.warnings, ...(cluster ? [] : this.unaskedWarnings(given, target.chart))];
    const yaml = valuesDocument(generated);
    const settings = explainSettings(generated);

    if (recommendation) {
      const compare = ['scalr-agent recommend', ...flagsToRepeat(given), ...(cluster ? ['--from-cluster'] : [])].join(' ');
      this.say(`${choiceText(recommendation, this.screen)}Compare the charts with: ${compare}\n`);
    }
    this.report(warnings);
    if (flags.explain) this.app.stderr(explainText(settings));

    const file = await writeResult(
      {
        path: flags.out,
        text: yaml,
        isPrivate: isPrivate(generated),
        isDryRun: flags['dry-run'],
        isAccepted: flags.yes,
        confirm: this.prompter?.confirm,
      },
      this.app.files,
    );
    if (file) this.say(`${file.done}\n${flags['dry-run'] ? '' : `Next step: ${installCommand(file.path, given)}\n`}`);
    if (!this.jsonEnabled() && (!file || flags['dry-run'])) this.app.stdout(yaml);
    return {chart: target.chart, chartVersion: target.version, values, yaml, settings, warnings, ...(file ? {file: file.path} : {})};
  }
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
