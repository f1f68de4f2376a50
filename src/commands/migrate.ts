import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/base-command.ts';
import {
  type ClusterFlags,
  type ConfirmFlags,
  confirmFlags,
  helmFlag,
  outFlag,
  type SharedFlags,
  settingFlags,
} from '../cli/flags.ts';
import {checksOfConnection} from '../cli/local-inputs.ts';
import {confirmMigrated, migrationChart} from '../cli/read-chart.ts';
import {readTexts} from '../cli/user-files.ts';
import {ExitCode, type ExpectedError, failed} from '../ground/errors.ts';
import {migrateHostFile} from '../host/migrate/migrate-host.ts';
import {readHelmCommand} from '../host/migrate/pasted-command.ts';
import {readHost} from '../host/migrate/read-host.ts';
import {chartSource, TARGETS} from '../settings/release.ts';
import {changesSummary, changesText, diffText} from '../ui/changes.ts';
import {findingsText} from '../ui/findings.ts';
import type {Change} from '../values/migrate/change.ts';
import {type MigratedFile, migrateFile, spellTarget} from '../values/migrate/migrate-file.ts';
import type {ValuesFinding} from '../values/validate/finding.ts';

interface Result {
  from: string;
  to: string;
  yaml: string;
  changes: readonly Change[];
  findings: Omit<ValuesFinding, 'fix'>[];
  file?: string;
}

export default class Migrate extends BaseCommand<Result> {
  static override summary = 'Rewrite a values.yaml for another chart version or chart.';
  static override description =
    'Prints the new file. Lists renamed and dropped keys, changed defaults and new requirements on standard error. Defaults that restrict runs are kept. Also reads Argo CD, Flux and Helmfile files with inline values, and helm commands with --set. Agents in Docker or on virtual machines: reads environment files, "docker inspect" output, systemd units and "docker run" commands. Requires no cluster, and helm only for a chart version that this program does not know.';
  static override usage =
    '<%= command.id %> <FILE> [--from <CHART@VERSION>] --to <CHART@VERSION> [flags]';
  static override examples = [
    '<%= config.bin %> <%= command.id %> values.yaml --from agent-k8s@0.5.58 --to agent-job@0.6.5',
    '<%= config.bin %> <%= command.id %> values.yaml --to agent-local@0.6.5 --out values.yaml',
    '<%= config.bin %> <%= command.id %> agent.env --to agent-local@0.6.5 --out values.yaml',
  ];
  static override args = {
    file: Args.string({description: 'File to migrate; - reads standard input.', ignoreStdin: true}),
  };
  static override flags = {
    from: Flags.string({
      summary: 'Chart and version of the file, if the file does not specify them.',
      helpValue: '<CHART@VERSION>',
    }),
    to: Flags.string({
      summary: 'Chart and version to migrate to. Without a version: the newest.',
      helpValue: '<CHART@VERSION>',
    }),
    ...outFlag,
    'keep-defaults': Flags.boolean({
      summary: 'Write every default of the old version that the target has changed.',
    }),
    'exit-code': Flags.boolean({summary: 'Exit with 5 if the file changes.'}),
    ...confirmFlags,
    ...settingFlags([chartSource]),
    ...helmFlag,
  };

  protected override readonly targets = TARGETS;

  override async run(): Promise<Result> {
    const {args, flags} = await this.parse(Migrate);
    const {file: name} = args;
    if (name === undefined) throw noFile();
    const {file, text, source} = await this.#readInputs(name, flags);
    const helm = readHelmCommand(text, flags.from);
    const host = helm === undefined ? readHost(text) : undefined;
    const isPasted = (helm ?? host) !== undefined;
    const keepsDefaults = flags['keep-defaults'];
    const deps = {app: this.app, flags};
    const chart = await migrationChart(flags.to, source, deps);
    const read = {text: helm?.yaml ?? text, from: helm?.from ?? flags.from};
    const desired = {file, from: flags.from, to: chart ? spellTarget(chart.target) : flags.to};
    const migrated = host
      ? await migrateHostFile(
          host,
          {...desired, keepsDefaults, chart: chart?.target},
          this.app.files,
        )
      : migrateFile({
          ...desired,
          ...read,
          keeps: keepsDefaults ? 'all' : 'security',
          read: chart?.target,
        });
    const {from, to, yaml, changes} = migrated;
    const findings = [
      ...migrated.findings,
      ...(chart ? await confirmMigrated(chart, migrated, deps) : []),
    ];
    this.report(migrated.warnings);
    for (const note of [...(helm?.notes ?? []), ...migrated.notes]) this.say(`${note}\n`);
    this.say(changesText(changes, this.screen));
    if (findings.length > 0)
      this.app.stderr(
        this.#findings(
          {...migrated, findings},
          flags.out ?? (isPasted ? 'values.yaml' : `${file} (migrated)`),
        ),
      );
    this.say(`${changesSummary(from, to, changes)}\n`);
    const written = await this.#write(
      {
        text: isPasted ? '' : text,
        yaml,
        name: isPasted ? 'values.yaml' : file,
        isPrivate: isPasted,
      },
      flags,
    );
    if (findings.some(({severity}) => severity === 'error')) this.exitCode = ExitCode.findings;
    else if (flags['exit-code'] && yaml !== text) this.exitCode = ExitCode.differences;
    return {
      from,
      to,
      yaml,
      changes,
      findings: findings.map(({fix: _, ...shown}) => shown),
      ...(written === undefined ? {} : {file: written}),
    };
  }

  async #readInputs(
    name: string,
    flags: SharedFlags & ClusterFlags,
  ): Promise<{file: string; text: string; source: string | undefined}> {
    const reading = readTexts([name], this.app.files);
    const certain = [
      () => reading,
      () => this.requireChartSource(flags),
      ...checksOfConnection([], flags, this.app),
    ];
    await this.requireLocal(flags, {certain}, {only: [chartSource]});
    const source = (await this.settingsFrom(flags, {only: [chartSource]})).get(chartSource);
    const [{file, text} = {file: '-', text: ''}] = await reading;
    return {file, text, source};
  }

  #findings({target, findings, yaml}: MigratedFile, name: string): string {
    return findingsText(
      [{files: [{file: name, text: yaml}], areLayers: false, target, findings}],
      this.screen,
    );
  }

  /** The path of --out, if it was written. */
  async #write(
    {text, yaml, name, isPrivate}: {text: string; yaml: string; name: string; isPrivate: boolean},
    flags: ConfirmFlags & SharedFlags & {out?: string | undefined},
  ): Promise<string | undefined> {
    const isTerminal = this.resultScreen.columns !== undefined;
    const diff =
      isTerminal && !this.jsonEnabled()
        ? diffText(flags.out ?? name, text, yaml, this.resultScreen)
        : undefined;
    if (diff !== undefined && flags.out !== undefined && !flags.quiet) this.app.stderr(diff);
    const {file} = await this.writeOut(yaml, flags, {
      isPrivate,
      print: () => this.app.stdout(diff ?? yaml),
    });
    return file;
  }
}

const noFile = (): ExpectedError =>
  failed('USAGE', 'No file to migrate.', [
    'Migrate a file: scalr-agent migrate values.yaml --to agent-job@0.6.5',
    'Read standard input: scalr-agent migrate - --to agent-job@0.6.5',
  ]);
