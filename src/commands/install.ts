import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/base-command.ts';
import {releaseName, timeoutOf, toolPaths} from '../cli/cluster-flags.ts';
import {confirmPlan} from '../cli/confirm-plan.ts';
import {evidencePath, saveFiles} from '../cli/save-files.ts';
import {settingFlags} from '../cli/setting-flags.ts';
import {driftOf} from '../cluster/drift.ts';
import {objectNames} from '../cluster/manifest.ts';
import {readFacts} from '../cluster/read-facts.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {bringUp} from '../execute/bring-up.ts';
import {dryRun} from '../execute/dry-run.ts';
import {planInstall} from '../plan/install.ts';
import {wantedRelease} from '../plan/wanted-release.ts';
import {checkRendering} from '../preflight/check-rendering.ts';
import {lookAhead} from '../preflight/look-ahead.ts';
import type {Already} from '../preflight/read-situation.ts';
import {catalogue} from '../settings/catalogue.ts';
import {checkText} from '../ui/checks.ts';
import {driftText} from '../ui/drift.ts';
import {callsText, planText, resultText, stepText} from '../ui/plan.ts';
import {progressReporter} from '../ui/progress.ts';
import {valuesDocument} from '../values/document.ts';
import {effectiveGet} from '../values/effective.ts';
import {generate} from '../values/generate.ts';

interface Result {
  release: string;
  namespace: string;
  context: string;
  chart: string;
  chartVersion: string;
  /** False when everything was in place already. */
  changed: boolean;
  steps: {id: string; title: string}[];
  /** What the release consists of. */
  objects: readonly string[];
  /** Files that were written. */
  saved?: readonly string[];
  /** What the agent's own log says; absent where nothing was watched. */
  agent?: 'registered' | 'unknown';
}

export default class Install extends BaseCommand<Result> {
  static override summary = 'Put an agent into the cluster, or bring an installed one to these settings.';
  static override description =
    'Looks whether the cluster is ready (see preflight), shows a plan and asks once; without a terminal --yes accepts it. Makes the namespace and the Secrets, runs helm with an exact chart version, and watches until the agent is ready or says why it cannot be. Run again, it goes on from where it broke off, or says that nothing is to do.';
  static override examples = [
    'SCALR_AGENT_TOKEN=… <%= config.bin %> <%= command.id %> --url https://acme.scalr.io --namespace scalr-agent',
    '<%= config.bin %> <%= command.id %> --answers answers.yaml --token-file token --yes',
    '<%= config.bin %> <%= command.id %> --answers answers.yaml --dry-run',
  ];
  static override flags = {
    diff: Flags.boolean({summary: 'Show what would change against what is installed, and do nothing.'}),
    'exit-code': Flags.boolean({summary: 'With --diff: end with status 5 when there are differences.', dependsOn: ['diff']}),
    'no-wait': Flags.boolean({summary: 'End when helm has ended, without waiting for the agent.'}),
    'rollback-on-failure': Flags.boolean({
      summary: 'Take the release back to what it was when it does not become ready, once what was seen is saved in a file.',
      exclusive: ['no-wait'],
    }),
    'skip-preflight': Flags.boolean({summary: 'Begin without looking whether the cluster and the account are ready for it.'}),
    save: Flags.string({summary: 'Directory for answers.yaml and values.yaml, without secrets.', helpValue: '<DIRECTORY>'}),
    ...settingFlags(catalogue),
  };

  override async run(): Promise<Result> {
    const {flags} = await this.parse(Install);
    const timeoutMs = timeoutOf(flags);
    const given = await this.settingsFrom(flags);
    const generated = generate(given);
    this.report(generated.warnings);
    const {files, now, sleep} = this.app;
    const processes = this.app.processes(toolPaths(flags));
    const name = releaseName(flags, generated.settings);
    const wanted = wantedRelease(generated, valuesDocument(generated), name);

    const look = async (already?: Already): Promise<void> => {
      if (flags['skip-preflight']) return;
      const warnings = await lookAhead(generated, wanted, {processes, now, sleep, timeoutMs}, already);
      for (const each of warnings) this.app.stderr(checkText(each, this.screen));
    };
    const facts = await readFacts(
      name,
      wanted.secrets.map((secret) => secret.name),
      processes,
      AbortSignal.timeout(timeoutMs),
    ).catch(async (error: unknown) => {
      // Who may not even read what a plan is made of is told all that is missing, not the first thing.
      if (error instanceof ExpectedError && error.code === 'FORBIDDEN') await look();
      throw error;
    });
    const manifest = await checkRendering(wanted, facts, effectiveGet(generated.settings, generated.effective), processes);
    const plan = planInstall({...wanted, manifest}, facts);
    const result: Result = {
      release: name.release,
      namespace: name.place.namespace,
      context: facts.context.name,
      chart: wanted.chart.chart,
      chartVersion: wanted.chart.version,
      changed: plan.steps.length > 0,
      steps: plan.steps.map(({id, title}) => ({id, title})),
      objects: objectNames(manifest),
    };
    if (flags.diff) {
      const drift = driftOf(facts.release?.values ?? {}, wanted.values);
      if (!this.jsonEnabled()) this.app.stdout(await driftText(drift, this.resultScreen));
      if (flags['exit-code'] && result.changed) process.exitCode = ExitCode.differences;
      return result;
    }
    if (flags['dry-run']) {
      this.say(planText(plan, name, facts, this.screen));
      if (!this.jsonEnabled()) this.app.stdout(callsText(plan));
      if (plan.steps.length > 0) await look({manifest, context: facts.context});
      this.say(await dryRun(plan, manifest, name, facts, processes));
      return result;
    }
    // Where nothing is to do nothing can fail.
    if (plan.steps.length > 0) {
      await look({manifest, context: facts.context});
      const text = `${planText(plan, name, facts, this.screen)}\n`;
      // Nobody says yes to what was not shown.
      if (flags.yes) this.say(text);
      else this.app.stderr(text);
      await confirmPlan({isAccepted: flags.yes ?? false, prompter: this.prompter});
    }
    const accepted = {isAccepted: flags.yes ?? false, confirm: this.prompter?.confirm};
    const saved = await saveFiles({directory: flags.save, settings: generated.settings, values: wanted.yaml, ...accepted}, files);
    const interrupts = this.app.takeInterrupts();
    try {
      const say = (text: string): void => this.say(text);
      const watched = await bringUp(
        plan,
        name,
        facts,
        {waits: !flags['no-wait'], rollBackWith: flags['rollback-on-failure'] ? evidencePath(flags.save, name.release, now()) : undefined},
        {
          processes,
          interrupts,
          files,
          now,
          sleep,
          timeoutMs,
          onStep: (...news) => say(stepText(...news)),
          onProgress: progressReporter(say, this.screen),
        },
      );
      if (watched === undefined) return {...result, saved};
      const {agent} = watched;
      say(resultText({name, hasChanged: result.changed, agent, objects: result.objects, saved}, this.screen));
      return {...result, saved, agent};
    } finally {
      interrupts.release();
    }
  }
}
