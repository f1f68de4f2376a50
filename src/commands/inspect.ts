import * as Args from '@oclif/core/args';
import {type DamagedEntry, inspectBundle} from '../bundle/inspect.ts';
import {verdictText} from '../bundle/report.ts';
import {BaseCommand} from '../cli/base-command.ts';
import type {Finding} from '../diagnose/finding.ts';
import {ExitCode} from '../ground/errors.ts';
import {damageText, inspectionText} from '../ui/bundle.ts';

interface Result {
  file: string;
  /** Every file matches the manifest. */
  valid: boolean;
  problems: readonly DamagedEntry[];
  /** The findings in one sentence. */
  verdict: string;
  findings: readonly Finding[];
}

export default class Inspect extends BaseCommand<Result> {
  static override summary = 'Verify a support bundle and show its summary.';
  static override description =
    'Compares every file of a bundle of "collect-logs" with its checksum, and prints the summary with the findings. Requires no cluster and no network. Exit code 3 means that the bundle is damaged or was changed.';
  static override usage = '<%= command.id %> <FILE> [flags]';
  static override examples = ['<%= config.bin %> <%= command.id %> bundle.zip'];
  static override args = {file: Args.string({description: 'Bundle written by collect-logs.', required: true, ignoreStdin: true})};

  override async run(): Promise<Result> {
    const {
      args: {file},
    } = await this.parse(Inspect);
    const archive = await this.app.archives.open(file);
    try {
      const {summary, findings, damage} = await inspectBundle(archive, file);
      if (!this.jsonEnabled()) this.show(inspectionText({summary, findings}, this.resultScreen));
      if (damage.length > 0) {
        this.app.stderr(damageText(file, damage, this.screen));
        this.exitCode = ExitCode.findings;
      }
      return {file, valid: damage.length === 0, problems: damage, verdict: verdictText(findings), findings};
    } finally {
      archive.close();
    }
  }
}
