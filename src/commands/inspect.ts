import {randomUUID} from 'node:crypto';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/base-command.ts';
import {emptyFlag} from '../cli/flag-values.ts';
import {damageText, decisionsText, inspectionText} from '../extensions/bundle/bundle-text.ts';
import {type Inspection, inspectBundle, traceText} from '../extensions/bundle/inspect.ts';
import type {RedactionDecision} from '../extensions/bundle/redact/redactor.ts';
import {verdictText} from '../extensions/bundle/report.ts';
import {reportHtml} from '../extensions/bundle/report-page.ts';
import {refuseExisting} from '../extensions/bundle/save-bundle.ts';
import {ExitCode, usageError} from '../ground/errors.ts';

/** What `collect-logs` makes of a line. */
interface Explained {
  /** The line as in a bundle. */
  redacted: string;
  decisions: readonly RedactionDecision[];
}

interface Inspected {
  file: string;
  /** Every file matches the manifest. */
  valid: boolean;
  problems: Inspection['damage'];
  /** The findings in one sentence. */
  verdict: string;
  findings: Inspection['findings'];
}

type Result = Inspected | Explained;

export default class Inspect extends BaseCommand<Result> {
  static override summary = 'Verify a support bundle and show its report.';
  static override description =
    'Compares every file of a bundle of "collect-logs" with its checksum, and prints the summary with the findings. --why LINE names the redaction rule that decides about a line, and a line that it decides in the same way. --open shows logs, timeline and objects in the browser. Requires no cluster and no network. Exit code 3 means that the bundle is damaged or was changed.';
  static override usage = '<%= command.id %> <FILE> [flags]';
  static override examples = [
    '<%= config.bin %> <%= command.id %> bundle.zip',
    '<%= config.bin %> <%= command.id %> bundle.zip --open',
    '<%= config.bin %> <%= command.id %> bundle.zip --trace trace.json',
    '<%= config.bin %> <%= command.id %> --why "token: expired"',
  ];
  static override args = {
    file: Args.string({description: 'Bundle written by collect-logs.', ignoreStdin: true}),
  };
  static override flags = {
    why: Flags.string({
      summary: 'Show which redaction rule decides about a line of text, instead of a bundle.',
      helpValue: '<LINE>',
      exclusive: ['open', 'report', 'trace'],
    }),
    open: Flags.boolean({summary: 'Open the report in the browser.'}),
    report: Flags.string({summary: 'Write the report to this HTML file.', helpValue: '<FILE>'}),
    trace: Flags.string({
      summary:
        'Write the timeline to this file, in the Trace Event format that ui.perfetto.dev opens.',
      helpValue: '<FILE>',
    }),
  };

  override async run(): Promise<Result> {
    const {args, flags} = await this.parse(Inspect);
    if (flags.why !== undefined) return this.#showWhy(flags.why);
    const {file} = args;
    if (file === undefined)
      throw usageError('No bundle to inspect.', [
        'Inspect a bundle: scalr-agent inspect bundle.zip',
      ]);
    const {archives, pageTemplate} = this.app;
    const archive = await archives.open(file);
    try {
      const inspection = await inspectBundle(archive, file);
      const {summary, findings, damage} = inspection;
      if (!this.jsonEnabled()) this.show(inspectionText({summary, findings}, this.resultScreen));
      if (damage.length > 0) {
        this.app.stderr(damageText(file, damage, this.screen));
        this.exitCode = ExitCode.findings;
      }
      const html =
        flags.open || flags.report !== undefined
          ? await reportHtml(archive, inspection, await pageTemplate(this.config.root))
          : '';
      if (flags.report !== undefined) await this.#write('--report', flags.report, html);
      if (flags.trace !== undefined)
        await this.#write('--trace', flags.trace, await traceText(archive, inspection));
      if (flags.open) await this.#open(flags.report, file, html);
      return {
        file,
        valid: damage.length === 0,
        problems: damage,
        verdict: verdictText(findings),
        findings,
      };
    } finally {
      archive.close();
    }
  }

  /** With the rules of --redact standard, or those that only strict has. */
  async #showWhy(line: string): Promise<Explained> {
    const {decisionsOf} = await import('../extensions/bundle/redact/redactor.ts');
    const found = decisionsOf(line, 'standard');
    if (!this.jsonEnabled()) this.show(decisionsText(found));
    return found;
  }

  async #write(flag: string, path: string, text: string): Promise<void> {
    const {files} = this.app;
    if (path === '') throw emptyFlag(flag.slice(2));
    await refuseExisting(path, files, flag);
    await files.write(path, text, {isPrivate: true});
    this.say(`Wrote ${path}\n`);
  }

  /** Without --report, the file is in the folder for temporary files. */
  async #open(report: string | undefined, file: string, html: string): Promise<void> {
    const {files, openInBrowser} = this.app;
    const path =
      report ??
      join(
        tmpdir(),
        `scalr-agent-report-${randomUUID()}`,
        `${basename(file).replace(/\.zip$/, '')}.html`,
      );
    if (report === undefined)
      await files.write(path, html, {isPrivate: true, makesDirectory: true});
    if (await openInBrowser(path)) this.say(`Opened ${path}\n`);
    else this.say(`No browser found. Open this file: ${path}\n`, `Open this file: ${path}\n`);
  }
}
