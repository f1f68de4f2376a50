import * as Flags from '@oclif/core/flags';
import {runSteps} from '../apply/run-steps.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {confirmPlan, confirmRelease} from '../cli/confirm-plan.ts';
import {durationOf, releaseName, settingFlags, timeoutOf} from '../cli/flags.ts';
import {inventoryOf} from '../cluster/inventory.ts';
import {readFacts} from '../cluster/read-facts.ts';
import {readInventory} from '../cluster/read-inventory.ts';
import {planUninstall, requireOurChart} from '../plan/uninstall.ts';
import {type Kept, PURGEABLE} from '../plan/uninstall-keeps.ts';
import {namespace, release} from '../settings/release.ts';
import {accountText, callsText, planText, runsText, stepText} from '../ui/plan.ts';

interface Result {
  release: string;
  namespace: string;
  context: string;
  /** False when there was nothing to take away. */
  changed: boolean;
  runsInFlight: string[];
  steps: {id: string; title: string}[];
  removed: readonly string[];
  kept: readonly Kept[];
}

/** What belongs to the release alone; the chart and everything it was given are known to Helm. */
const SETTINGS = [namespace, release];

export default class Uninstall extends BaseCommand<Result> {
  static override summary = 'Take an agent out of the cluster: let its runs end, uninstall it, and account for all that stays.';
  static override description =
    'Shows first what goes and what stays, by class. Stops the agent and waits for the runs in flight. Data, definitions, Secrets, the namespace and directories on nodes stay unless --purge names them; what cannot be undone asks for the name of the release, or takes it with --confirm.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --dry-run',
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --drain-timeout 2h --yes',
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --purge=claims,secrets --confirm scalr-agent',
  ];
  static override flags = {
    purge: Flags.option({
      summary: `What goes too: ${PURGEABLE.join(', ')}, with commas between them.`,
      helpValue: '<CLASSES>',
      options: PURGEABLE,
      multiple: true,
      delimiter: ',',
    })(),
    confirm: Flags.string({summary: 'Name of the release, for what cannot be undone.', helpValue: '<NAME>'}),
    drain: Flags.boolean({summary: 'Let the runs in flight end first.', default: true, allowNo: true}),
    'drain-timeout': Flags.string({summary: 'How long to wait for them.', helpValue: '<DURATION>', default: '30m'}),
    'cleaner-image': Flags.string({summary: 'Image with find that empties directories on nodes.', helpValue: '<IMAGE>'}),
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
    const facts = await readFacts(name, [], access, over);
    const inventory = inventoryOf(await readInventory(name, facts, access, over));
    requireOurChart(name, facts.release?.chart, inventory);
    const {plan, removes, keeps, warnings, needsConfirmation} = planUninstall(name, inventory, {
      purge: new Set(flags.purge),
      drain: flags.drain,
      drainTimeoutSeconds: drainTimeoutMs / 1000,
      timeoutSeconds: timeoutMs / 1000,
      ...(flags['cleaner-image'] === undefined ? {} : {cleanerImage: flags['cleaner-image']}),
    });
    const result: Result = {
      release: name.release,
      namespace: name.place.namespace,
      context: facts.context.name,
      changed: plan.steps.length > 0,
      runsInFlight: inventory.runs.map(({kind, name: run}) => `${kind} ${run}`),
      steps: plan.steps.map(({id, title}) => ({id, title})),
      removed: removes,
      kept: keeps,
    };
    this.report(warnings.map((message) => ({code: 'DRAIN', message})));
    if (!result.changed) {
      this.say(`There is no release ${name.release} in namespace ${name.place.namespace}, and nothing was to do.\n`);
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
    try {
      await runSteps(plan.steps, {...access, interrupts, now, sleep, timeoutMs, onStep: (...news) => this.say(stepText(...news))});
    } finally {
      interrupts.release();
    }
    this.say(accountText({removes, keeps}, true, this.screen));
    return result;
  }
}
