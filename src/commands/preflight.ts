import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/base-command.ts';
import {durationOf, noFromClusterFlag, releaseName, settingFlags} from '../cli/flags.ts';
import type {ClusterFacts} from '../cluster/facts/cluster-facts.ts';
import {ExitCode} from '../errors.ts';
import {wantedRelease} from '../plan/wanted-release.ts';
import type {Place} from '../ports/processes.ts';
import {type Checked, runChecks} from '../preflight/check.ts';
import {CHECKS} from '../preflight/checks/index.ts';
import {cachedAccess} from '../preflight/permissions-of.ts';
import type {PreflightContext} from '../preflight/preflight-context.ts';
import {prepareProbe} from '../preflight/probe/prepare-probe.ts';
import {runProbe} from '../preflight/probe/run-probe.ts';
import {readSituation} from '../preflight/read-situation.ts';
import {url} from '../settings/agent.ts';
import {catalogue} from '../settings/catalogue.ts';
import {checksText, probeText} from '../ui/checks.ts';
import {knownText} from '../ui/conversation.ts';
import {valuesDocument} from '../values/document.ts';
import {generateChecked} from '../values/generate-checked.ts';

const LONGEST_LOOK_MS = 30_000;

type ReadingWorld = Parameters<typeof readSituation>[2];

interface Result {
  checks: Omit<Checked, 'group'>[];
  /** What the cluster says of itself; values of releases in it are masked. */
  facts: ClusterFacts;
}

export default class Preflight extends BaseCommand<Result> {
  static override summary = 'Check the cluster, the tools and the account before an install.';
  static override description =
    'Read-only, except for --probe, which creates a test pod and deletes it again, also after Ctrl-C (--dry-run prints the pod). Accepts every setting of "install"; none is required. Exits with 3 when the install would fail. Checks that need longer than --timeout (default 30s, with --probe 3m) are skipped.';
  static override usage = '<%= command.id %> [SETTINGS] [--strict] [--probe]';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --chart agent-job --namespace scalr-agent',
    '<%= config.bin %> <%= command.id %> --answers answers.yaml --strict --json',
    '<%= config.bin %> <%= command.id %> --answers answers.yaml --probe --timeout 5m',
  ];
  static override flags = {
    strict: Flags.boolean({summary: 'Exit with 4 when there are only warnings.'}),
    probe: Flags.boolean({
      summary: 'Create a test pod where runs will be scheduled, and check network access, the metadata service and volumes from it.',
    }),
    ...noFromClusterFlag,
    ...settingFlags(catalogue),
  };

  override async run(): Promise<Result> {
    const {flags} = await this.parse(Preflight);
    const timeoutMs = durationOf('--timeout', flags.timeout ?? (flags.probe ? '3m' : '30s'));
    const lookMs = Math.min(timeoutMs, LONGEST_LOOK_MS);
    const end = AbortSignal.timeout(timeoutMs);
    // What is asked before a probe leaves time for it.
    const over = flags.probe ? AbortSignal.timeout(lookMs) : end;
    // A cluster that does not answer leaves time for what needs none.
    const [early, silentAt] = [AbortSignal.timeout(lookMs / 4), AbortSignal.timeout(lookMs / 2)];
    const cached = async (place: Place) => cachedAccess(await this.accessTo(place, flags), {over: early, sleep: this.app.sleep});
    const cluster = await this.openAnswersOf(flags, cached);
    const settings = await this.settingsFrom(flags, {optional: [url], cluster});
    for (const {setting, answer} of settings.entries()) if (answer.source === 'cluster') this.say(knownText(setting, answer, this.screen));
    const generated = await generateChecked(settings, cluster?.facts);
    this.report(generated.warnings);
    const name = releaseName(flags, generated.settings);
    const world = {...(await this.accessTo(name.place, flags)), now: this.app.now, sleep: this.app.sleep, over, silentAt};
    const wanted = wantedRelease(generated, valuesDocument(generated), name);
    const read = await readSituation(generated, wanted, world);
    const situation = flags.probe
      ? {...read, probe: await this.#probe(read, {...world, end}, {seconds: timeoutMs / 1000, isDry: flags['dry-run'] ?? false})}
      : read;
    const checks = runChecks(CHECKS, situation);
    if (!this.jsonEnabled()) this.show(checksText(checks, this.resultScreen, flags.quiet ? 'problems' : flags.verbose ? 'all' : 'folded'));
    const has = (status: Checked['status']): boolean => checks.some((each) => each.status === status);
    if (has('fail')) process.exitCode = ExitCode.findings;
    else if (flags.strict && has('warn')) process.exitCode = ExitCode.onlyWarnings;
    return {checks: checks.map(({group: _, ...check}) => check), facts: situation.facts};
  }

  /** Makes the pod and removes it, unless it shall only be shown. */
  async #probe(
    situation: PreflightContext,
    {end, ...world}: ReadingWorld & {end: AbortSignal},
    {seconds, isDry}: {seconds: number; isDry: boolean},
  ): Promise<NonNullable<PreflightContext['probe']>> {
    const plan = await prepareProbe(situation, {...cachedAccess(world, world), over: world.over}, seconds);
    if (!('objects' in plan)) return plan;
    if (isDry) {
      const text = probeText(plan);
      if (this.jsonEnabled()) this.say(text);
      else this.app.stdout(text);
      return {because: `--dry-run only shows ${plan.pod}`, isDry: true};
    }
    this.say(`Makes the pod ${plan.pod} in ${situation.name.place.namespace}, and removes it again.\n`);
    const interrupts = this.app.takeInterrupts();
    try {
      return {plan, seen: await runProbe(plan, situation.name, {...world, interrupts, over: end})};
    } finally {
      interrupts.release();
    }
  }
}
