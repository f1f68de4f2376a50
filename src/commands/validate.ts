import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/base-command.ts';
import {helmFlag} from '../cli/connection-flags.ts';
import {refuseFormat, refuseWith} from '../cli/flag-values.ts';
import {
  answersFlag,
  type ConfirmFlags,
  confirmFlags,
  formatFlag,
  overlayFlag,
  repeated,
} from '../cli/flags.ts';
import {areDirectories} from '../cli/list-files.ts';
import {checksOfConnection} from '../cli/local-inputs.ts';
import {rewriteFiles} from '../cli/rewrite-files.ts';
import {settingFlags} from '../cli/setting-flags.ts';
import {
  chartsToCheck,
  confirmGroups,
  readGroups,
  readValuesTexts,
  refuseStandardInput,
  refuseUnclear,
} from '../cli/values-files.ts';
import {ExitCode} from '../ground/errors.ts';
import {type SettingFinding, warningOf} from '../ground/finding.ts';
import {few} from '../ground/text.ts';
import {url} from '../settings/agent.ts';
import {chart, chartSource, chartVersion, TARGETS} from '../settings/release.ts';
import {inFormat, isSkipped, type Result, resultOf} from '../ui/findings.ts';
import {type CheckedGroup, checkGroups} from '../values/validate/check-files.ts';
import type {FileGroup} from '../values/validate/file-group.ts';

export default class Validate extends BaseCommand<Result> {
  static override summary = 'Validate values files, manifests and directories.';
  static override description =
    'Validates keys, types, and rules that the charts do not enforce. Each FILE is validated separately; -f files are merged as Helm merges them. Of a directory, only files about an agent are validated. Requires no cluster, and helm only for a chart version that this program does not know.';
  static override usage = '<%= command.id %> [FILE]... [flags]';
  static override examples = [
    '<%= config.bin %> <%= command.id %> values.yaml --chart agent-job --chart-version 0.6.5',
    '<%= config.bin %> <%= command.id %> -f base.yaml -f production.yaml',
    '<%= config.bin %> <%= command.id %> --answers answers.yaml --overlay clusters',
    '<%= config.bin %> <%= command.id %> . --format sarif > findings.sarif',
    'tofu show -json plan.tfplan | <%= config.bin %> <%= command.id %> -',
  ];
  static override args = {
    file: Args.string({
      description: 'Values file, manifest or directory to validate; - reads standard input.',
      multiple: true,
      ignoreStdin: true,
    }),
  };
  static override flags = {
    values: Flags.string({
      char: 'f',
      summary: 'Values file to merge; the last one wins. Can be repeated.',
      helpValue: '<FILE>',
      ...repeated,
      delimiter: ',',
    }),
    'no-ignore': Flags.boolean({summary: 'In a directory, validate files that Git ignores too.'}),
    fix: Flags.boolean({
      summary: 'Show and apply fixes for findings with exactly one possible fix.',
    }),
    ...formatFlag(['text', 'json', 'sarif', 'junit', 'github']),
    strict: Flags.boolean({
      summary: 'Exit with 4 when there are only warnings, or a file was not checked.',
    }),
    ...confirmFlags,
    ...answersFlag,
    ...overlayFlag,
    ...settingFlags([chart, chartVersion, chartSource], {
      chart: 'Chart of the file. Default: detected from the file or its keys.',
      'chart-version': 'Exact version. Default: detected from the file, else the newest known.',
    }),
    ...helmFlag,
  };

  protected override readonly targets = TARGETS;

  override async run(): Promise<Result> {
    const {args, flags} = await this.parse(Validate);
    if (flags.overlay !== undefined) {
      refuseWith('overlay', ['values', 'fix'], flags);
      const source = {
        directory: flags.overlay,
        answers: flags.answers,
        sources: await this.sourcesFrom(flags),
        app: this.app,
      };
      const {checkOverlay} = await import('../cli/overlay.ts');
      return this.#show(
        await checkOverlay(source, {app: this.app, flags, downloads: new Map()}, args.file),
        flags,
      );
    }
    const alone = [...new Set(args.file ?? [])];
    const layers = flags.values ?? [];
    refuseFormat(flags.format, this.jsonEnabled());
    refuseUnclear(args.file ?? [], layers);
    if (flags.fix) await refuseStandardInput([...alone, ...layers], this.app.files);
    const {files} = this.app;
    const reading =
      layers.length > 0
        ? this.#readLayers(layers)
        : readGroups(alone, this.app, {includesIgnored: flags['no-ignore']});
    const certain = [() => reading, ...checksOfConnection([], flags, this.app)];
    await this.requireLocal(flags, {certain}, {optional: [url]});
    const groups = await reading;
    const settings = await this.settingsFrom(flags, {optional: [url]});
    const deps = {app: this.app, flags};
    const charts = await chartsToCheck(groups, settings, deps);
    const {checked, warnings, notes} = checkGroups(groups, settings, {
      given: charts.given,
      read: charts.read.map(({target}) => target),
      unreadable: charts.unreadable ?? new Map(),
    });
    this.report(warnings);
    for (const note of notes) this.say(`${note}\n`);
    const isEmpty = checked.every(isSkipped) && (await areDirectories(alone, files));
    if (isEmpty) this.report([nothingToCheck(alone)]);
    const fixed = flags.fix ? await this.#fix(checked, flags) : checked;
    const result = await this.#show(await confirmGroups(fixed, charts, deps), flags);
    if (isEmpty && flags.strict) this.exitCode = ExitCode.onlyWarnings;
    return isEmpty ? {...result, valid: false} : result;
  }

  /** The files of -f, which Helm merges. */
  async #readLayers(names: readonly string[]): Promise<FileGroup[]> {
    return [{files: await readValuesTexts(names, this.app.files), areLayers: true}];
  }

  async #show(
    remaining: readonly CheckedGroup[],
    flags: {format?: string | undefined; strict?: boolean},
  ): Promise<Result> {
    if (!this.jsonEnabled())
      this.app.stdout(await inFormat(flags.format, remaining, this.config, this.resultScreen));
    const findings = remaining.flatMap((each) => each.findings);
    if (findings.some(({verdict}) => verdict === 'error')) this.exitCode = ExitCode.findings;
    else if (isUncheckedInput(remaining)) this.exitCode = ExitCode.usage;
    else if (findings.length > 0 && flags.strict) this.exitCode = ExitCode.onlyWarnings;
    return resultOf(remaining);
  }

  /** Findings after the fixes, or all findings if the files stay unchanged. */
  async #fix(
    checked: readonly CheckedGroup[],
    flags: ConfirmFlags & {quiet?: boolean},
  ): Promise<readonly CheckedGroup[]> {
    const {fixGroup} = await import('../values/validate/apply-fixes.ts');
    const results = checked.map(fixGroup);
    const rewrites = results.flatMap((each) => each.rewrites);
    const untouched = checked.map((each) => ({...each, fixed: 0}));
    if (rewrites.length === 0) {
      if (checked.some(({findings}) => findings.length > 0))
        this.say('Nothing was changed: no finding can be fixed automatically.\n');
      return untouched;
    }
    const {files, stderr} = this.app;
    if (!flags.quiet || !flags.yes) {
      const {diffText} = await import('../ui/changes.ts');
      for (const {path, before, after} of rewrites)
        stderr(diffText(path, before, after, this.screen));
    }
    const {isWritten, text} = await rewriteFiles(rewrites, files, {
      changes: results.reduce((sum, {fixed}) => sum + (fixed.fixed ?? 0), 0),
      isDryRun: flags['dry-run'] ?? false,
      isAccepted: flags.yes ?? false,
      prompter: this.prompter,
    });
    this.say(`${text}\n`);
    return isWritten ? results.map(({fixed}) => fixed) : untouched;
  }
}

/** The only input of a run could not be checked. */
/** A file that is given by itself, as by a hook, may be about anything. */
const nothingToCheck = (directories: readonly string[]): SettingFinding =>
  warningOf('NOTHING_TO_CHECK', `No file about an agent was found in ${few(directories)}.`);

const isUncheckedInput = (checked: readonly CheckedGroup[]): boolean =>
  checked.length === 1 &&
  checked[0]?.target === undefined &&
  checked[0]?.findings.some(({verdict}) => verdict === 'unknown') === true;
