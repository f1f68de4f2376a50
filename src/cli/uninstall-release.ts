import type {ReleaseName} from '../ground/command-line.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import {refText} from '../kubernetes/objects.ts';
import {removalText} from '../operations/removal.ts';
import {requirePermissions} from '../operations/step-permissions.ts';
import {planUninstall, requireOurChart, type UninstallChoices} from '../operations/uninstall.ts';
import type {KeptObject} from '../operations/uninstall-keeps.ts';
import {uninstallRelease} from '../operations/uninstall-release.ts';
import {inventoryOf} from '../release/inventory.ts';
import {requireKnownRelease} from '../release/known-release.ts';
import {readInventory} from '../release/read-inventory.ts';
import {readFacts} from '../release/read-release.ts';
import {accountText, notRemovedText, planText, runsText} from '../ui/plan.ts';
import {type CommandContext, type ConfirmFlags, type Operation, operate, stepsOf} from './operate.ts';

export interface UninstallResult {
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

/** Shows, confirms and runs the uninstall of a release, and lists what remains. @throws ExpectedError */
export async function uninstallFromCluster(
  name: ReleaseName,
  choices: UninstallChoices,
  flags: ConfirmFlags,
  access: ClusterAccess,
  context: CommandContext,
): Promise<UninstallResult> {
  const {screen, say, timeoutMs} = context;
  const read = async () => {
    const signal = AbortSignal.timeout(timeoutMs);
    const facts = await readFacts(name, [], access, signal);
    return {facts, readings: await readInventory(name, facts, access, signal)};
  };
  const {facts, readings} = await context.untilInterrupted(read);
  const inventory = inventoryOf(readings);
  requireOurChart(name, facts.release?.chart);
  requireKnownRelease(name, facts.release !== undefined, inventory, readings);
  const planned = planUninstall(name, inventory, choices);
  const {plan, keeps, warnings, needsConfirmation} = planned;
  const removes = planned.removals.map((each) => removalText(each));
  const result: UninstallResult = {
    release: name.release,
    namespace: name.kubeTarget.namespace,
    context: facts.context.name,
    changed: plan.steps.length > 0,
    runsInFlight: inventory.runs.map(refText),
    steps: stepsOf(plan.steps),
    removed: removes,
    notRemoved: [],
    kept: keeps,
    complete: true,
  };
  if (!result.changed) {
    const where = `${name.release} in namespace ${name.kubeTarget.namespace}`;
    const isGone = inventory.leftovers.length === 0;
    const state = isGone
      ? `Release ${where} is already uninstalled.`
      : `Helm has no record of release ${where}, but objects with its labels exist.`;
    say(`${state} Nothing was changed.\n`);
    say(accountText({removes, keeps}, true, screen));
    return result;
  }
  const shown = [planText(plan, name, facts, screen), runsText(inventory, screen), accountText({removes, keeps}, false, screen)];
  const isTyped = needsConfirmation || flags.confirm !== undefined;
  const operation: Operation<UninstallResult> = {
    steps: plan.steps,
    text: `${shown.filter((each) => each !== '').join('\n')}\n`,
    warnings: warnings.map((message) => ({code: 'DRAIN', message})),
    risk: isTyped ? {what: 'Some of these deletions cannot be undone.', release: name.release} : undefined,
    check: async () => {
      await requirePermissions(plan.steps, name, {...access, operation: 'uninstall'});
      return '';
    },
    run: async (deps) => {
      // Keeps objects that others started to use after the plan was created.
      const planAgain = async () => planUninstall(name, inventoryOf((await read()).readings), choices);
      const {removed, notRemoved, exit} = await uninstallRelease(planned, name.kubeTarget, {...access, ...deps, planAgain});
      say(accountText({removes: removed, notRemoved, keeps}, true, screen), notRemovedText(notRemoved, screen));
      context.exitWith(exit);
      return {...result, removed, notRemoved, complete: notRemoved.length === 0};
    },
  };
  return operate(operation, result, flags, context);
}
