import {resolve} from 'node:path';
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
import {migrateHostFile} from '../extensions/machine/migrate/migrate-host.ts';
import {readHost} from '../extensions/machine/migrate/read-host.ts';
import {ExitCode, ExpectedError, failed} from '../ground/errors.ts';
import {few} from '../ground/text.ts';
import {allowClearText} from '../settings/clear-text.ts';
import {chartSource, TARGETS} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {changesSummary, changesText, diffText} from '../ui/changes.ts';
import {findingsText} from '../ui/findings.ts';
import type {Change} from '../values/migrate/change.ts';
import {
  type MigratedFile,
  type MigrationRequest,
  migrateFile,
  spellTarget,
} from '../values/migrate/migrate-file.ts';
import type {ValuesFinding} from '../values/reading/finding.ts';

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
    'Prints the new file. Lists renamed and dropped keys, changed defaults and new requirements on standard error. Defaults that restrict runs are kept. Also reads Argo CD, Flux and Helmfile files with inline values. Agents in Docker: reads the JSON of "docker inspect" and "docker compose config". Requires no cluster, and helm only for a chart version that this program does not know.';
  static override usage =
    '<%= command.id %> <FILE> [--from <CHART@VERSION>] --to <CHART@VERSION> [flags]';
  static override examples = [
    '<%= config.bin %> <%= command.id %> values.yaml --from agent-k8s@0.5.58 --to agent-job@0.6.5',
    '<%= config.bin %> <%= command.id %> values.yaml --to agent-local@0.6.5 --out values.yaml',
    '<%= config.bin %> <%= command.id %> agent.json --to agent-local@0.6.5 --out values.yaml',
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
    ...settingFlags([chartSource, allowClearText]),
    ...helmFlag,
  };

  protected override readonly targets = TARGETS;

  override async run(): Promise<Result> {
    const {args, flags} = await this.parse(Migrate);
    const {file: name} = args;
    if (name === undefined) throw noFile();
    const {file, text, settings} = await this.#readInputs(name, flags);
    const host = readHost(text);
    const keepsDefaults = flags['keep-defaults'];
    const deps = {app: this.app, flags};
    const chart = await migrationChart(flags.to, settings.get(chartSource), deps);
    const desired = {
      file,
      from: flags.from,
      to: chart ? spellTarget(chart.target) : flags.to,
      allowsClearText: settings.get(allowClearText) === true,
    };
    const migrated = host
      ? await migrateHostFile(
          host,
          {...desired, keepsDefaults, chart: chart?.target},
          this.app.files,
        )
      : migrateValues({
          ...desired,
          text,
          keeps: keepsDefaults ? 'all' : 'security',
          read: chart?.target,
        });
    if (isSameFile(file, flags.out)) refuseLoss(file, migrated);
    const {from, to, yaml, changes} = migrated;
    const findings = [
      ...migrated.findings,
      ...(chart ? await confirmMigrated(chart, migrated, deps) : []),
    ];
    this.report(migrated.warnings);
    for (const note of migrated.notes) this.say(`${note}\n`);
    this.say(changesText(changes, this.screen));
    if (findings.length > 0)
      this.app.stderr(
        this.#findings(
          {...migrated, findings},
          flags.out ?? (host ? 'values.yaml' : `${file} (migrated)`),
        ),
      );
    this.say(`${changesSummary(from, to, changes)}\n`);
    const written = await this.#write(
      {
        text: host ? '' : text,
        yaml,
        name: host ? 'values.yaml' : file,
        isPrivate: host !== undefined,
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
  ): Promise<{file: string; text: string; settings: Settings}> {
    const reading = readTexts([name], this.app.files);
    const certain = [
      () => reading,
      () => this.requireChartSource(flags),
      ...checksOfConnection([], flags, this.app),
    ];
    const options = {only: [chartSource, allowClearText]};
    await this.requireLocal(flags, {certain}, options);
    const [{file, text} = {file: '-', text: ''}] = await reading;
    return {file, text, settings: await this.settingsFrom(flags, options)};
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

/** @throws ExpectedError that names the other inputs, if the file is not YAML */
function migrateValues(request: MigrationRequest): MigratedFile {
  try {
    return migrateFile(request);
  } catch (error) {
    const isForeign =
      error instanceof ExpectedError &&
      error.code === 'UNREADABLE_FILE' &&
      error.exit === ExitCode.usage;
    if (!isForeign) throw error;
    throw error.with(error.message, [...error.suggestions, OTHER_INPUTS]);
  }
}

const OTHER_INPUTS =
  'For an agent in Docker: docker inspect CONTAINER | scalr-agent migrate - --to agent-job, or docker compose config --format json instead';

const isSameFile = (file: string, out: string | undefined): boolean =>
  out !== undefined && file !== '-' && resolve(out) === resolve(file);

/** A file is not replaced if parts of it would be lost that can belong to others. @throws ExpectedError */
function refuseLoss(file: string, {unknownSections, to}: MigratedFile): void {
  if (unknownSections.length === 0) return;
  const names = few(unknownSections);
  throw failed(
    'UNWRITABLE_FILE',
    `Cannot replace ${file}: the new file would not contain ${names}, which ${to} does not have.`,
    ['Write to another file: --out new.yaml', `Remove ${names} from ${file} if it is unused`],
    {exit: ExitCode.usage},
  );
}

const noFile = (): ExpectedError =>
  failed('USAGE', 'No file to migrate.', [
    'Migrate a file: scalr-agent migrate values.yaml --to agent-job@0.6.5',
    'Read standard input: scalr-agent migrate - --to agent-job@0.6.5',
  ]);
