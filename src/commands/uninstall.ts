import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/base-command.ts';
import {
  answersFlag,
  confirmFlags,
  connectionFlags,
  durationOf,
  explicitFlags,
  refuseWith,
  releaseName,
  settingFlags,
  targetFlag,
  timeoutOf,
} from '../cli/flags.ts';
import {type HostUninstallResult, uninstallFromHost} from '../cli/host-commands.ts';
import {type Operation, operate, stepsOf} from '../cli/operate.ts';
import {removalText} from '../operations/removal.ts';
import {requirePermissions} from '../operations/step-permissions.ts';
import {planUninstall, requireOurChart, type UninstallChoices, type UninstallPlan} from '../operations/uninstall.ts';
import {type KeptObject, PURGEABLE, purgeOf} from '../operations/uninstall-keeps.ts';
import {uninstallRelease} from '../operations/uninstall-release.ts';
import {inventoryOf} from '../release/inventory.ts';
import {requireKnownRelease} from '../release/known-release.ts';
import {readInventory} from '../release/read-inventory.ts';
import {readFacts} from '../release/read-release.ts';
import {namespace, release, TARGETS} from '../settings/release.ts';
import {accountText, notRemovedText, planText, runsText} from '../ui/plan.ts';

interface Result {
  release: string;
  namespace: string;
  context: string;
  /** False if there was nothing to delete. */
  changed: boolean;
  runsInFlight: string[];
  steps: {id: string; title: string}[];
  /** Verified, except with --dry-run. */
  removed: readonly string[];
  /** Objects that were not deleted, or whose deletion could not be verified. */
  notRemoved: readonly KeptObject[];
  kept: readonly KeptObject[];
  /** `notRemoved` is empty. */
  complete: boolean;
}

/** Only the release is required; Helm knows its chart and values. */
const SETTINGS = [namespace, release];

/** Flags that have no meaning without Kubernetes. */
const ONLY_KUBERNETES = [
  'purge',
  'confirm',
  'cleaner-image',
  'drain',
  'drain-timeout',
  'namespace',
  'kube-context',
  'kubeconfig',
  'helm',
  'kubectl',
] as const;

export default class Uninstall extends BaseCommand<Result | HostUninstallResult> {
  static override summary = 'Uninstall an agent and list what remains.';
  static override description =
    'Lists what is deleted and what remains. Stops the agent and waits for the runs in flight. Data, custom resource definitions, Secrets, the namespace and directories on nodes remain unless --purge names them (--purge=all deletes all of them). Deletions that cannot be undone ask for the release name; --confirm answers. Checks afterwards that everything is gone. With --target docker, removes the containers of the release; with --target systemd, stops the service of the Linux packages and removes its drop-ins.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --dry-run',
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --drain-timeout 2h --yes',
    '<%= config.bin %> <%= command.id %> --purge=claims,secrets --confirm scalr-agent',
  ];
  static override flags = {
    purge: Flags.option({
      summary: 'Classes of remaining objects to delete, separated by commas; all deletes every class.',
      helpValue: '<CLASSES>',
      options: [...PURGEABLE, 'all'] as const,
      multiple: true,
      delimiter: ',',
    })(),
    confirm: Flags.string({summary: 'Release name, to confirm deletions that cannot be undone.', helpValue: '<NAME>'}),
    drain: Flags.boolean({summary: 'Wait for the runs in flight.', default: true, allowNo: true}),
    'drain-timeout': Flags.string({summary: 'Time to wait for the runs in flight.', helpValue: '<DURATION>', default: '30m'}),
    'cleaner-image': Flags.string({summary: 'Image that deletes files in node directories; must contain find.', helpValue: '<IMAGE>'}),
    ...targetFlag,
    ...confirmFlags,
    ...answersFlag,
    ...settingFlags(SETTINGS),
    ...connectionFlags,
  };

  protected override readonly targets = TARGETS;

  override async run(): Promise<Result | HostUninstallResult> {
    const {flags, metadata} = await this.parse(Uninstall);
    const timeoutMs = timeoutOf(flags);
    const drainTimeoutMs = durationOf('--drain-timeout', flags['drain-timeout']);
    const settings = await this.settingsFrom(flags, {only: SETTINGS});
    const target = await this.targetFrom(flags);
    if (target !== 'kubernetes') {
      refuseWith(`target ${target}`, ONLY_KUBERNETES, explicitFlags(flags, metadata));
      return uninstallFromHost(target, settings.get(release) as string, flags, this.context(flags));
    }
    const name = releaseName(flags, settings);
    const access = await this.accessTo(name.place, flags);

    const signal = AbortSignal.timeout(timeoutMs);
    const {facts, readings} = await this.untilInterrupted(async () => {
      const facts = await readFacts(name, [], access, signal);
      return {facts, readings: await readInventory(name, facts, access, signal)};
    });
    const inventory = inventoryOf(readings);
    requireOurChart(name, facts.release?.chart);
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
      steps: stepsOf(plan.steps),
      removed: removes,
      notRemoved: [],
      kept: keeps,
      complete: true,
    };
    if (!result.changed) {
      const where = `${name.release} in namespace ${name.place.namespace}`;
      this.say(
        inventory.leftovers.length === 0
          ? `Release ${where} is already uninstalled. Nothing was changed.\n`
          : `Helm has no record of release ${where}, but objects with its labels exist. Nothing was changed.\n`,
      );
      this.say(accountText({removes, keeps}, true, this.screen));
      return result;
    }
    const shown = [
      planText(plan, name, facts, this.screen),
      runsText(inventory, this.screen),
      accountText({removes, keeps}, false, this.screen),
    ];
    const text = `${shown.filter((each) => each !== '').join('\n')}\n`;
    // Keeps objects that others started to use after the plan was created.
    const planAgain = async (): Promise<UninstallPlan> => {
      const soon = AbortSignal.timeout(timeoutMs);
      const factsNow = await readFacts(name, [], access, soon);
      return planUninstall(name, inventoryOf(await readInventory(name, factsNow, access, soon)), choices);
    };
    const isTyped = needsConfirmation || flags.confirm !== undefined;
    const operation: Operation<Result> = {
      steps: plan.steps,
      text,
      warnings: warnings.map((message) => ({code: 'DRAIN', message})),
      risk: isTyped ? {what: 'Some of these deletions cannot be undone.', release: name.release} : undefined,
      check: async () => {
        await requirePermissions(plan.steps, name, access);
        return '';
      },
      run: async (deps) => {
        const {removed, notRemoved, exit} = await uninstallRelease(planned, name.place, {...access, ...deps, planAgain});
        this.say(accountText({removes: removed, notRemoved, keeps}, true, this.screen), notRemovedText(notRemoved, this.screen));
        this.exitCode = exit;
        return {...result, removed, notRemoved, complete: notRemoved.length === 0};
      },
    };
    return operate(operation, result, flags, this.context(flags));
  }
}
