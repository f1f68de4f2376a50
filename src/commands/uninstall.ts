import * as Flags from '@oclif/core/flags';
import {uninstallRelease} from '../apply/uninstall-release.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {confirmPlan, confirmRelease} from '../cli/confirm-plan.ts';
import {durationOf, releaseName, settingFlags, timeoutOf} from '../cli/flags.ts';
import {inventoryOf} from '../cluster/inventory.ts';
import {readFacts} from '../cluster/read-facts.ts';
import {readInventory} from '../cluster/read-inventory.ts';
import {ExitCode} from '../errors.ts';
import {requireKnownRelease} from '../plan/known-release.ts';
import {removalText} from '../plan/removal.ts';
import {planUninstall, requireOurChart, type UninstallChoices, type UninstallPlan} from '../plan/uninstall.ts';
import {type Kept, PURGEABLE, purgeOf} from '../plan/uninstall-keeps.ts';
import {namespace, release} from '../settings/release.ts';
import {accountText, callsText, notRemovedText, planText, runsText, stepText} from '../ui/plan.ts';

interface Result {
  release: string;
  namespace: string;
  context: string;
  /** False when there was nothing to take away. */
  changed: boolean;
  runsInFlight: string[];
  steps: {id: string; title: string}[];
  /** Verified, except with --dry-run. */
  removed: readonly string[];
  /** What should have been removed and was not, or could not be verified. */
  notRemoved: readonly Kept[];
  kept: readonly Kept[];
  /** Nothing is in `notRemoved`. */
  complete: boolean;
}

/** What belongs to the release alone; the chart and everything it was given are known to Helm. */
const SETTINGS = [namespace, release];

export default class Uninstall extends BaseCommand<Result> {
  static override summary = 'Uninstall an agent and list what remains.';
  static override description =
    'Lists what is deleted and what remains. Stops the agent and waits for the runs in flight. Data, custom resource definitions, Secrets, the namespace and directories on nodes remain unless --purge names them (--purge=all deletes all of them). Deletions that cannot be undone ask for the release name; --confirm answers. Checks afterwards that everything is gone.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --dry-run',
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --drain-timeout 2h --yes',
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --purge=claims,secrets --confirm scalr-agent',
  ];
  static override flags = {
    purge: Flags.option({
      summary: 'Comma-separated classes of remaining objects to delete; all selects every class.',
      helpValue: '<CLASSES>',
      options: [...PURGEABLE, 'all'] as const,
      multiple: true,
      delimiter: ',',
    })(),
    confirm: Flags.string({summary: 'Confirm deletions that cannot be undone with the release name.', helpValue: '<NAME>'}),
    drain: Flags.boolean({summary: 'Wait for the runs in flight.', default: true, allowNo: true}),
    'drain-timeout': Flags.string({summary: 'Time to wait for the runs in flight.', helpValue: '<DURATION>', default: '30m'}),
    'cleaner-image': Flags.string({summary: 'Image that deletes files in node directories; must contain find.', helpValue: '<IMAGE>'}),
    ...settingFlags(SETTINGS),
  };

  override async run(): Promise<Result> {
    const {flags} = await this.parse(Uninstall);
    const timeoutMs = timeoutOf(flags);
    const drainTimeoutMs = durationOf('--drain-timeout', flags['drain-timeout']);
    const settings = await this.settingsFrom(flags, {only: SETTINGS});
    const {now, sleep} = this.app;
    const name = releaseName(flags, settings);
    const access = await this.accessTo(name.place, flags);

    const over = AbortSignal.timeout(timeoutMs);
    const {facts, readings} = await this.untilInterrupted(async () => {
      const facts = await readFacts(name, [], access, over);
      return {facts, readings: await readInventory(name, facts, access, over)};
    });
    const inventory = inventoryOf(readings);
    requireOurChart(name, facts.release?.chart, inventory);
    requireKnownRelease(name, facts.release !== undefined, inventory, readings);
    const choices: UninstallChoices = {
      purge: purgeOf(flags.purge),
      drain: flags.drain,
      drainTimeoutSeconds: drainTimeoutMs / 1000,
      timeoutSeconds: timeoutMs / 1000,
      ...(flags['cleaner-image'] === undefined ? {} : {cleanerImage: flags['cleaner-image']}),
    };
    const planned = planUninstall(name, inventory, choices);
    const {plan, keeps, warnings, needsConfirmation} = planned;
    const removes = planned.removals.map((each) => removalText(each));
    const result: Result = {
      release: name.release,
      namespace: name.place.namespace,
      context: facts.context.name,
      changed: plan.steps.length > 0,
      runsInFlight: inventory.runs.map(({kind, name: run}) => `${kind} ${run}`),
      steps: plan.steps.map(({id, title}) => ({id, title})),
      removed: removes,
      notRemoved: [],
      kept: keeps,
      complete: true,
    };
    this.report(warnings.map((message) => ({code: 'DRAIN', message})));
    if (!result.changed) {
      this.say(`Release ${name.release} is already uninstalled from namespace ${name.place.namespace}. Nothing was changed.\n`);
      this.say(accountText({removes, keeps}, true, this.screen));
      return result;
    }
    const shown = [
      planText(plan, name, facts, this.screen),
      runsText(inventory, this.screen),
      accountText({removes, keeps}, false, this.screen),
    ];
    const text = `${shown.filter((each) => each !== '').join('\n')}\n`;
    if (flags['dry-run']) {
      this.say(text);
      if (!this.jsonEnabled()) this.app.stdout(callsText(plan));
      return result;
    }
    const isAccepted = flags.yes ?? false;
    // Nobody says yes to what was not shown.
    if (isAccepted || flags.confirm !== undefined) this.say(text);
    else this.app.stderr(text);
    if (needsConfirmation || flags.confirm !== undefined)
      await confirmRelease(name.release, {risk: 'Some of this cannot be undone.', typed: flags.confirm, prompter: this.prompter});
    else await confirmPlan({isAccepted, prompter: this.prompter});

    const interrupts = this.app.takeInterrupts();
    // What others began to use since the plan was made stays.
    const planAgain = async (): Promise<UninstallPlan> => {
      const soon = AbortSignal.timeout(timeoutMs);
      const factsNow = await readFacts(name, [], access, soon);
      return planUninstall(name, inventoryOf(await readInventory(name, factsNow, access, soon)), choices);
    };
    try {
      const onStep = (...news: Parameters<typeof stepText>): void => this.say(stepText(...news));
      const deps = {...access, interrupts, now, sleep, timeoutMs, onStep, planAgain};
      const {removed, notRemoved, exit} = await uninstallRelease(planned, name.place, deps);
      this.say(accountText({removes: removed, notRemoved, keeps}, true, this.screen), notRemovedText(notRemoved, this.screen));
      if (exit !== ExitCode.ok) process.exitCode = exit;
      return {...result, removed, notRemoved, complete: notRemoved.length === 0};
    } finally {
      interrupts.release();
    }
  }
}
