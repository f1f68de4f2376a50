import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/base-command.ts';
import {durationOf, releaseName, toolPaths} from '../cli/cluster-flags.ts';
import {fromClusterFlag} from '../cli/from-cluster-flag.ts';
import {settingFlags} from '../cli/setting-flags.ts';
import type {ClusterFacts} from '../cluster/facts/cluster-facts.ts';
import {ExitCode} from '../errors.ts';
import {wantedRelease} from '../plan/wanted-release.ts';
import type {Checked} from '../preflight/check.ts';
import {CHECKS} from '../preflight/checks/index.ts';
import {readSituation} from '../preflight/read-situation.ts';
import {runChecks} from '../preflight/run-checks.ts';
import {url} from '../settings/agent.ts';
import {catalogue} from '../settings/catalogue.ts';
import {checksText} from '../ui/checks.ts';
import {valuesDocument} from '../values/document.ts';
import {generate} from '../values/generate.ts';

interface Result {
  checks: Omit<Checked, 'group'>[];
  /** What the cluster says of itself; values of releases in it are masked. */
  facts: ClusterFacts;
}

export default class Preflight extends BaseCommand<Result> {
  static override summary = 'Say whether the cluster, the tools and the account are ready for an install with these settings.';
  static override description =
    'Changes nothing. Takes every setting of "install"; none is required. Ends with status 3 when something would make the install fail, and within --timeout (30s) with what it knows by then.';
  static override usage = '<%= command.id %> [SETTINGS] [--strict]';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --chart agent-job --namespace scalr-agent',
    '<%= config.bin %> <%= command.id %> --answers answers.yaml --strict --json',
  ];
  static override flags = {
    strict: Flags.boolean({summary: 'End with status 4 when there are only warnings.'}),
    ...fromClusterFlag,
    ...settingFlags(catalogue),
  };

  override async run(): Promise<Result> {
    const {flags} = await this.parse(Preflight);
    const over = AbortSignal.timeout(durationOf('--timeout', flags.timeout ?? '30s'));
    const cluster = await this.clusterOf(flags);
    const generated = generate(await this.settingsFrom(flags, {optional: [url], cluster}), cluster?.facts);
    this.report(generated.warnings);
    const {now, sleep} = this.app;
    const processes = this.app.processes(toolPaths(flags));
    const wanted = wantedRelease(generated, valuesDocument(generated), releaseName(flags, generated.settings));
    const situation = await readSituation(generated, wanted, {processes, now, sleep, over});
    const checks = runChecks(CHECKS, situation);
    if (!this.jsonEnabled()) this.show(checksText(checks, this.resultScreen));
    const has = (status: Checked['status']): boolean => checks.some((each) => each.status === status);
    if (has('fail')) process.exitCode = ExitCode.findings;
    else if (flags.strict && has('warn')) process.exitCode = ExitCode.onlyWarnings;
    return {checks: checks.map(({group: _, ...check}) => check), facts: situation.facts};
  }
}
