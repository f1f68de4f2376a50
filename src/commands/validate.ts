import {Args, Flags} from '@oclif/core';
import {targetOf} from '../charts/target.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {settingFlags} from '../cli/setting-flags.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {url} from '../settings/agent.ts';
import {chart, chartVersion} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {findingsText} from '../ui/findings.ts';
import type {Finding} from '../values/validate/finding.ts';
import {chartByKeys, namedInHeader} from '../values/validate/recognise.ts';
import {readSource} from '../values/validate/source.ts';
import {validate} from '../values/validate/validate.ts';

interface Result {
  chart: string;
  chartVersion: string;
  valid: boolean;
  findings: Finding[];
}

export default class Validate extends BaseCommand<Result> {
  static override summary = 'Find every mistake in a values.yaml before the cluster does.';
  static override description =
    'Checks a file, hand-written ones too, against one exact chart version: keys, types, and the rules the charts do not check. Needs no cluster and no helm.';
  static override usage = '<%= command.id %> <FILE> [--chart <CHART>] [--chart-version <VERSION>] [--strict]';
  static override examples = ['<%= config.bin %> <%= command.id %> values.yaml --chart agent-job --chart-version 0.6.5'];
  static override args = {
    file: Args.string({description: 'values.yaml to check; - reads standard input.', required: true, ignoreStdin: true}),
  };
  static override flags = {
    strict: Flags.boolean({summary: 'Fail on warnings too (exit status 4).'}),
    ...settingFlags([chart, chartVersion]),
  };

  override async run(): Promise<Result> {
    const {args, flags} = await this.parse(Validate);
    const {files} = this.app;
    const text = (args.file === '-' ? await files.readStdin() : await files.read(args.file)).toString('utf8');
    const {target, warnings} = this.#target(text, await this.settingsFrom(flags, [url]));
    this.report(warnings);
    const findings = validate(text, target);
    const valid = findings.every(({severity}) => severity !== 'error');
    if (!this.jsonEnabled()) this.app.stdout(findingsText(args.file, text, findings, target, this.resultScreen));
    if (!valid) process.exitCode = ExitCode.findings;
    else if (findings.length > 0 && flags.strict) process.exitCode = ExitCode.onlyWarnings;
    return {chart: target.chart, chartVersion: target.version, valid, findings};
  }

  /** From the settings, else from the first lines of the file, else from keys that only one chart has. */
  #target(text: string, settings: Settings): ReturnType<typeof targetOf> {
    const header = namedInHeader(text);
    const name = settings.get(chart) ?? header?.chart ?? chartByKeys(readSource(text).source?.values ?? {});
    const version = settings.get(chartVersion) ?? (header?.chart === name ? header?.version : undefined);
    const found = targetOf(version === undefined ? settings : settings.with(chartVersion, {value: version, source: 'default'}), () => {
      if (name === undefined) throw chartUnknown();
      return name;
    });
    if (settings.get(chart) === undefined) {
      this.say(
        `Checked as ${found.target.chart} ${found.target.version}, according to ${header ? 'the first lines of the file' : 'its keys'}.\n`,
      );
    }
    return found;
  }
}

const chartUnknown = (): ExpectedError =>
  new ExpectedError('The file does not say which chart it is for.', {
    code: 'MISSING_SETTING',
    exit: ExitCode.usage,
    suggestions: ['Add --chart agent-k8s, agent-local or agent-job'],
  });
