import {ownCommand, type ReleaseName} from '../ground/command-line.ts';
import {ExitCode, ExpectedError, type Warning} from '../ground/errors.ts';
import {helmVersion} from '../helm/helm.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import {refText} from '../kubernetes/objects.ts';
import {
  type AccountDeps,
  type AccountPlan,
  type AccountStep,
  runAccountSteps,
} from '../operations/account-steps.ts';
import {noAccountToken, planAccountRemoval} from '../operations/pool.ts';
import {removalText} from '../operations/release-data.ts';
import {notCheckedWarning, requireDeletable} from '../operations/server-dry-run.ts';
import {requirePermissions} from '../operations/step.ts';
import {
  deletedObjects,
  planUninstall,
  requireOurChart,
  type UninstallChoices,
  type UninstallPlan,
} from '../operations/uninstall.ts';
import type {KeptObject} from '../operations/uninstall-keeps.ts';
import {type Uninstalled, uninstallRelease} from '../operations/uninstall-release.ts';
import {type Inventory, inventoryOf} from '../release/inventory.ts';
import type {LeftObject} from '../release/left-objects.ts';
import {requireKnownRelease} from '../release/managers.ts';
import type {InventoryReadings} from '../release/namespace.ts';
import {readInventory} from '../release/read-inventory.ts';
import {readFacts} from '../release/read-release.ts';
import {isOfRelease} from '../release/release-objects.ts';
import type {ScalrClient} from '../scalr/client.ts';
import {accountPlanText, accountText, notRemovedText, planText, runsText} from '../ui/plan.ts';
import type {ConfirmFlags} from './flags.ts';
import {
  type CommandContext,
  type Operation,
  operate,
  type ReleaseHead,
  releaseHead,
  stepsOf,
} from './operate.ts';

export interface UninstallResult extends ReleaseHead {
  /** False if there was nothing to delete. */
  changed: boolean;
  /** Absent if runs execute inside the agent, where they cannot be seen. */
  runsInFlight?: string[];
  steps: {id: string; title: string}[];
  /** Verified, except with --dry-run. */
  removed: readonly string[];
  /** Objects that were not deleted, or whose deletion could not be verified. */
  notRemoved: readonly KeptObject[];
  kept: readonly KeptObject[];
  warnings: readonly Warning[];
  /** False if something could not be deleted, or objects of the release remain that nobody chose to keep. */
  complete: boolean;
}

interface UninstallOptions {
  choices: UninstallChoices;
  /** What else is removed from the Scalr account. */
  account: {
    revokesToken: boolean;
    deletesPool: boolean;
    connect(host: string): Promise<ScalrClient>;
  };
}

/** The plan for the account; `client` is absent if nothing is removed from it. */
type AccountPart = AccountPlan & {client?: ScalrClient};

/** Only with the flags for it, because a token and a pool can be used elsewhere. @throws ExpectedError */
async function planAccount(
  {release}: ReleaseName,
  {connect, ...removal}: UninstallOptions['account'],
  {secrets}: Inventory,
  {objects, ...own}: InventoryReadings,
): Promise<AccountPart> {
  if (!removal.revokesToken && !removal.deletesPool) return {steps: [], warnings: []};
  const [token] = secrets.flatMap(({accountToken, usedBy}) =>
    accountToken && usedBy?.length === 0 ? [accountToken] : [],
  );
  if (token === undefined) throw noAccountToken(release);
  const client = await connect(token.host);
  const pods = objects
    .filter((each) => each.kind === 'Pod' && isOfRelease(each, own))
    .map(({metadata}) => metadata.name);
  return {client, ...(await planAccountRemoval(client, token, {...removal, pods}))};
}

/** Runs execute inside the agent. */
const isBlindTo = ({release, runsOf}: Inventory): boolean =>
  release !== undefined && runsOf === undefined;

const isComplete = ({leftovers, isWideKnown}: Inventory): boolean =>
  isWideKnown && leftovers.every(({isDeleted}) => isDeleted);

/** Objects of the release that exist after the last step, although neither the plan keeps them nor a failure explains them. */
async function foundAgain(
  name: ReleaseName,
  {planned, deleted}: {planned: UninstallPlan; deleted: Uninstalled},
  readAgain: () => Promise<Inventory>,
): Promise<KeptObject[]> {
  const known = new Set([...planned.keeps, ...deleted.notRemoved].map(({what}) => what));
  const {leftovers} = await readAgain();
  return leftovers
    .filter((each) => !known.has(refText(each)) && !isEnding(each))
    .map((each) => ({
      what: refText(each),
      why: 'it still exists after the last step',
      how: ownCommand('uninstall', name, '--purge=leftovers'),
    }));
}

/** A run, or an object that Kubernetes is deleting. */
const isEnding = ({kind, object}: LeftObject): boolean =>
  object.metadata.deletionTimestamp !== undefined || ['Job', 'Pod', 'ReplicaSet'].includes(kind);

/** Shows, confirms and runs the uninstall of a release, and lists what remains. @throws ExpectedError */
export async function uninstallFromCluster(
  name: ReleaseName,
  {choices, account}: UninstallOptions,
  flags: ConfirmFlags,
  access: ClusterAccess,
  context: CommandContext,
): Promise<UninstallResult> {
  const {screen, say, timeoutMs} = context;
  const read = async () => {
    const signal = AbortSignal.timeout(timeoutMs);
    const facts = await readFacts(name, [], access, signal);
    const found = await readInventory(name, facts, access, signal);
    return {facts, readings: {...found, removesLeftovers: choices.purge.has('leftovers')}};
  };
  const {facts, readings} = await context.untilInterrupted(read);
  const inventory = inventoryOf(readings);
  requireOurChart(name, facts.release?.chart);
  requireKnownRelease(name, facts.release !== undefined, inventory, readings);
  const planned = planUninstall(name, inventory, choices);
  const {plan, keeps, needsConfirmation} = planned;
  const inAccount = await context.untilInterrupted(() =>
    planAccount(name, account, inventory, readings),
  );
  const steps = [...plan.steps, ...inAccount.steps];
  const warnings = [
    ...planned.warnings.map((message) => ({code: 'DRAIN', message})),
    ...inAccount.warnings,
  ];
  const removes = planned.removals.map((each) => removalText(each));
  const result: UninstallResult = {
    ...releaseHead(name, facts),
    changed: steps.length > 0,
    ...(isBlindTo(inventory) ? {} : {runsInFlight: inventory.runs.map(refText)}),
    steps: stepsOf(steps),
    removed: removes,
    notRemoved: [],
    kept: keeps,
    warnings,
    complete: isComplete(inventory),
  };
  if (!result.changed) {
    context.report(inAccount.warnings);
    const where = `${name.release} in namespace ${name.kubeTarget.namespace}`;
    const isGone = inventory.leftovers.length === 0;
    const state = isGone
      ? `Release ${where} is already uninstalled.`
      : `Helm has no record of release ${where}, but objects of it exist.`;
    say(`${state} Nothing was changed.\n`);
    say(accountText({removes, keeps}, true, screen));
    return result;
  }
  const {client} = inAccount;
  const shown = [
    plan.steps.length > 0 ? planText(plan, name, facts, screen) : '',
    client && inAccount.steps.length > 0 ? accountPlanText(inAccount.steps, client, screen) : '',
    runsText(inventory, screen),
    accountText({removes, keeps}, false, screen),
  ];
  // Deletions that the API server cannot try.
  const untried: Warning[] = [];
  const isTyped = needsConfirmation || flags.confirm !== undefined;
  const operation: Operation<UninstallResult> = {
    title: `Uninstalling release ${name.release} from namespace ${name.kubeTarget.namespace}`,
    steps,
    blocked: inAccount.blocked,
    text: `${shown.filter((each) => each !== '').join('\n')}\n`,
    warnings,
    risk: isTyped
      ? {what: 'Some of these deletions cannot be undone.', release: name.release}
      : undefined,
    check: async () => {
      // Other operations have rendered a chart before; here, the first steps would stop the agent before helm is missed.
      if (plan.steps.some(({call}) => call.tool === 'helm'))
        await access.processes.run(helmVersion);
      await requirePermissions(plan.steps, name, {...access, operation: 'uninstall'});
      const going = deletedObjects(name, inventory, planned);
      untried.push(
        ...notCheckedWarning(await requireDeletable(going, name.kubeTarget, access.processes)),
      );
      context.report(untried);
      return going.length === 0 ? '' : 'The API server accepts all deletions.\n';
    },
    run: async (deps) => {
      // Keeps objects that others started to use after the plan was created.
      const planAgain = async () =>
        planUninstall(name, inventoryOf((await read()).readings), choices);
      const deleted = await uninstallRelease(planned, name.kubeTarget, {
        ...access,
        ...deps,
        planAgain,
      });
      const {removed} = deleted;
      const found = await foundAgain(name, {planned, deleted}, async () =>
        inventoryOf((await read()).readings),
      );
      const notRemoved = [...deleted.notRemoved, ...found];
      const exit = found.length > 0 ? ExitCode.failed : deleted.exit;
      const shown = () =>
        say(
          accountText({removes: removed, notRemoved, keeps}, true, screen),
          notRemovedText(notRemoved, screen),
        );
      try {
        if (client) await removeFromAccount(inAccount.steps, client, name, deps);
        deps.done(
          notRemoved.length === 0
            ? `Release ${name.release} is uninstalled`
            : `Not everything of release ${name.release} was removed`,
        );
      } finally {
        shown();
      }
      context.exitWith(exit);
      return {
        ...result,
        warnings: [...warnings, ...untried],
        removed,
        notRemoved,
        complete: result.complete && notRemoved.length === 0,
      };
    },
  };
  return operate(operation, result, flags, context);
}

/** @throws ExpectedError that lists what is left */
async function removeFromAccount(
  steps: readonly AccountStep[],
  client: ScalrClient,
  {release}: ReleaseName,
  deps: AccountDeps,
): Promise<void> {
  try {
    await runAccountSteps(steps, client, deps);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    const left = steps.map(({request}) =>
      request.path
        .replace(/^\/access-tokens\//, 'token ')
        .replace(/^\/agent-pools\//, 'agent pool '),
    );
    throw error.with(`Release ${release} is uninstalled. ${error.message}`, [
      `Check ${left.join(' and ')} in Scalr: scalr-agent pool list`,
      ...error.suggestions,
    ]);
  }
}
