import {dirname, join, resolve} from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/base-command.ts';
import {type ClusterFlags, helmFlag} from '../cli/connection-flags.ts';
import {type ConfirmFlags, confirmFlags, outFlag, type SharedFlags} from '../cli/flags.ts';
import {checksOfConnection} from '../cli/local-inputs.ts';
import {migrationChart} from '../cli/migration-chart.ts';
import type {ChartDeps} from '../cli/read-chart.ts';
import {readTexts} from '../cli/read-texts.ts';
import {reportKeys} from '../cli/report-keys.ts';
import {settingFlags} from '../cli/setting-flags.ts';
import {migrateHostFile} from '../extensions/machine/migrate/migrate-host.ts';
import {readHost} from '../extensions/machine/migrate/read-host.ts';
import {ExitCode, type ExpectedError, failed} from '../ground/errors.ts';
import type {KeyFinding} from '../ground/finding.ts';
import {few} from '../ground/text.ts';
import type {ReadChart} from '../operations/read-chart.ts';
import {allowClearText} from '../settings/chart-values.ts';
import {chartSource, TARGETS} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {changeDocument, changesSummary, changesText, diffText} from '../ui/changes.ts';
import {type FindingDocument, findingDocument, findingsText} from '../ui/findings.ts';
import {type MigratedFile, migrateFile, spellTarget} from '../values/migrate/migrate-file.ts';
import {dotted} from '../values/reading/tree-path.ts';

interface Result {
  from: string;
  to: string;
  yaml: string;
  changes: ReturnType<typeof changeDocument>[];
  findings: FindingDocument[];
  file?: string;
}

export default class Migrate extends BaseCommand<Result> {
  static override summary = 'Rewrite a values.yaml for another chart version or chart.';
  static override description =
    'Prints the new file. Lists renamed and dropped keys, changed defaults and new requirements on standard error. Defaults that restrict runs are kept. Also reads Argo CD, Flux and Helmfile files with inline values. Agents in Docker and on VMs: reads the output of "docker inspect", "docker compose config --format json" and "systemctl show". Requires no cluster, and helm only for a chart version that this program does not know.';
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
    if (args.file === undefined) throw noFile();
    const given = await this.#readInputs(args.file, flags);
    const {migrated, before} = await this.#migrate(given, flags);
    if (isSameFile(given.file, flags.out)) refuseLoss(given.file, migrated);
    this.#report(migrated, flags.out ?? before.newName);
    const {from, to, yaml, changes, findings} = migrated;
    const written = await this.#write(before, yaml, flags);
    if (findings.some(({verdict}) => verdict === 'error')) this.exitCode = ExitCode.findings;
    else if (flags['exit-code'] && yaml !== given.text) this.exitCode = ExitCode.differences;
    return {
      from,
      to,
      yaml,
      changes: changes.map(changeDocument),
      findings: findings.map(findingDocument),
      ...written,
    };
  }

  async #readInputs(name: string, flags: SharedFlags & ClusterFlags): Promise<Inputs> {
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

  async #migrate(
    {file, text, settings}: Inputs,
    flags: MigrateFlags,
  ): Promise<{migrated: MigratedFile; before: OldFile}> {
    const host = readHost(text);
    const deps = {app: this.app, flags};
    const chart = await migrationChart(flags.to, settings.get(chartSource), deps);
    const read = chart?.target;
    const request = {
      file,
      from: flags.from,
      to: read ? spellTarget(read) : flags.to,
      allowsClearText: settings.get(allowClearText) === true,
    };
    const keepsDefaults = flags['keep-defaults'];
    if (host) {
      const options = {...request, keepsDefaults, chart: read};
      const migrated = await migrateHostFile(host, options, this.app.files);
      return {migrated: await withConfirmed(migrated, chart, deps), before: NEW_VALUES};
    }
    const migrated = migrateFile({
      ...request,
      text,
      parent: await this.#parentOf(file),
      keeps: keepsDefaults ? 'all' : 'security',
      read,
    });
    return {
      migrated: await withConfirmed(migrated, chart, deps),
      before: {name: file, newName: `${file} (migrated)`, text, isPrivate: false},
    };
  }

  /** The Chart.yaml beside a values file. */
  async #parentOf(file: string): Promise<string | undefined> {
    const path = join(dirname(file), 'Chart.yaml');
    if (file === '-' || (await this.app.files.kindOf(path)) !== 'file') return undefined;
    return (await this.app.files.read(path)).toString('utf8');
  }

  #report({from, to, changes, warnings, notes, ...migrated}: MigratedFile, newName: string): void {
    this.report(warnings);
    for (const note of notes) this.say(`${note}\n`);
    this.say(changesText(changes, this.screen));
    const {target, findings, yaml} = migrated;
    const checked = {files: [{file: newName, text: yaml}], areLayers: false, target, findings};
    if (findings.length > 0) this.app.stderr(findingsText([checked], this.screen));
    this.say(`${changesSummary(from, to, changes)}\n`);
  }

  /** On a terminal, the result is a diff. Returns the path of --out, if it was written. */
  async #write(
    {name, text, isPrivate}: OldFile,
    yaml: string,
    flags: ConfirmFlags & SharedFlags & {out?: string | undefined},
  ): Promise<{file?: string}> {
    const isTerminal = this.resultScreen.columns !== undefined && !this.jsonEnabled();
    const diff = isTerminal
      ? diffText(flags.out ?? name, text, yaml, this.resultScreen)
      : undefined;
    if (diff !== undefined && flags.out !== undefined && !flags.quiet) this.app.stderr(diff);
    const print = () => this.app.stdout(diff ?? yaml);
    return this.writeOut(yaml, flags, {isPrivate, print});
  }
}

interface Inputs {
  file: string;
  text: string;
  settings: Settings;
}

type MigrateFlags = ClusterFlags & {
  from?: string | undefined;
  to?: string | undefined;
  'keep-defaults': boolean;
};

/** What the diff compares the new values with. */
interface OldFile {
  name: string;
  /** In findings about the new values. */
  newName: string;
  text: string;
  isPrivate: boolean;
}

/** The configuration of a machine is no values file. */
const NEW_VALUES: OldFile = {
  name: 'values.yaml',
  newName: 'values.yaml',
  text: '',
  isPrivate: true,
};

/** With findings about keys that have no confirmed effect. Files of other engines have no lines for them. */
async function withConfirmed(
  migrated: MigratedFile,
  chart: ReadChart | undefined,
  deps: ChartDeps,
): Promise<MigratedFile> {
  const [confirmed] = await reportKeys([{chart, values: migrated.values}], deps);
  if (confirmed === undefined) return migrated;
  const {unconfirmed, rejection} = confirmed;
  const findings = unconfirmed.map(
    ({path, message}): KeyFinding => ({
      code: 'UNCONFIRMED_KEY',
      verdict: 'warning',
      subject: {path: dotted(path)},
      message,
      remedies: [],
    }),
  );
  if (rejection)
    findings.push({
      code: 'REFUSED_BY_CHART',
      verdict: 'error',
      subject: {path: ''},
      message: rejection.message,
      remedies: [],
    });
  return {...migrated, findings: [...migrated.findings, ...findings]};
}

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
  );
}

const noFile = (): ExpectedError =>
  failed('USAGE', 'No file to migrate.', [
    'Migrate a file: scalr-agent migrate values.yaml --to agent-job@0.6.5',
    'Read standard input: scalr-agent migrate - --to agent-job@0.6.5',
  ]);
