import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {refText} from '../cluster/kubernetes/object-refs.ts';
import {type Inventory, inventoryOf} from '../cluster/release/inventory.ts';
import type {InventoryReadings} from '../cluster/release/inventory-readings.ts';
import type {LeftObject} from '../cluster/release/left-objects.ts';
import {requireKnownRelease} from '../cluster/release/managers.ts';
import {readInventory} from '../cluster/release/read-inventory.ts';
import {type InstallFacts, readFacts} from '../cluster/release/read-release.ts';
import {isOfRelease} from '../cluster/release/release-objects.ts';
import {
  type AccountDeps,
  type AccountPlan,
  type AccountStep,
  runAccountSteps,
} from '../extensions/account/account-steps.ts';
import type {ScalrClient} from '../extensions/account/client.ts';
import {noAccountToken, planAccountRemoval} from '../extensions/account/delete-pool.ts';
import {accountPlanText} from '../extensions/account/plan-text.ts';
import {ownCommand, type ReleaseName} from '../ground/command-line.ts';
import {ExitCode, ExpectedError, onFailure} from '../ground/errors.ts';
import {type SettingFinding, warningOf} from '../ground/finding.ts';
import {requireHelmContext} from '../operations/helm-context.ts';
import {requireAborted} from '../operations/pending-operation.ts';
import {dryRunSteps, type PlanCheck} from '../operations/plan-dry-run.ts';
import {removalText} from '../operations/removal.ts';
import {requirePermissions} from '../operations/step-permissions.ts';
import {
  planUninstall,
  requireOurChart,
  type UninstallChoices,
  type UninstallPlan,
} from '../operations/uninstall.ts';
import type {KeptObject, LeftBehind} from '../operations/uninstall-keeps.ts';
import {type Uninstalled, uninstallRelease} from '../operations/uninstall-release.ts';
import {accountText, notRemovedText, planText, runsText} from '../ui/plan.ts';
import type {ConfirmFlags} from './flags.ts';
import {
  type CommandContext,
  type Operation,
  operate,
  type ReleaseHead,
  type RunDeps,
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
  notRemoved: readonly LeftBehind[];
  kept: readonly KeptObject[];
  warnings: readonly SettingFinding[];
  /** False if something could not be deleted, or objects of the release remain that nobody chose to keep. */
  complete: boolean;
}

interface UninstallRequest {
  name: ReleaseName;
  access: ClusterAccess;
  choices: UninstallChoices;
  /** A pending Helm operation counts as aborted, however new it is. */
  takesOver: boolean;
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
  {connect, ...removal}: UninstallRequest['account'],
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
  {name, planned, readAgain}: UninstallJob,
  deleted: Uninstalled,
): Promise<LeftBehind[]> {
  const known = new Set([...planned.keeps, ...deleted.notRemoved].map(({what}) => what));
  const how = ownCommand('uninstall', name, '--purge=leftovers');
  const left = await readAgain().catch(
    onFailure(({message}) => ({
      code: 'NOT_CHECKED' as const,
      what: 'Other objects of the release',
      why: `not checked after the last step: ${message}`,
      how,
    })),
  );
  if ('what' in left) return [left];
  return left.leftovers
    .filter((each) => !known.has(refText(each)) && !isEnding(each))
    .map((each) => ({
      code: 'NOT_REMOVED',
      what: refText(each),
      why: 'it still exists after the last step',
      how,
    }));
}

/** A run, or an object that Kubernetes is deleting. */
const isEnding = ({kind, object}: LeftObject): boolean =>
  object.metadata.deletionTimestamp !== undefined || ['Job', 'Pod', 'ReplicaSet'].includes(kind);

/** What an uninstall was planned from, and for whom. */
interface UninstallJob {
  name: ReleaseName;
  choices: UninstallChoices;
  inventory: Inventory;
  planned: UninstallPlan;
  inAccount: AccountPart;
  access: ClusterAccess;
  context: CommandContext;
  /** The result of a dry run. */
  result: UninstallResult;
  readAgain(): Promise<Inventory>;
}

/** Shows, confirms and runs the uninstall of a release, and lists what remains. @throws ExpectedError */
export async function uninstallFromCluster(
  {name, choices, takesOver, account, access}: UninstallRequest,
  flags: ConfirmFlags,
  context: CommandContext,
): Promise<UninstallResult> {
  const read = async () => {
    const signal = AbortSignal.timeout(context.timeoutMs);
    const facts = await readFacts(name, [], access, signal);
    const found = await readInventory(name, facts, access, signal);
    return {facts, readings: {...found, removesLeftovers: choices.purge.has('leftovers')}};
  };
  const {facts, readings} = await context.untilInterrupted(read);
  const inventory = inventoryOf(readings);
  requireOurChart(name, facts.release?.chart);
  requireKnownRelease(name, facts.release !== undefined, inventory, readings);
  const {app, timeoutMs} = context;
  // An interrupted uninstall is continued at once.
  if (facts.release?.status.startsWith('pending-'))
    requireAborted(name, facts.release, {takesOver, timeoutMs, now: app.now()});
  const planned = planUninstall(name, inventory, choices);
  const inAccount = await context.untilInterrupted(() =>
    planAccount(name, account, inventory, readings),
  );
  const job: UninstallJob = {
    name,
    choices,
    inventory,
    planned,
    inAccount,
    access,
    context,
    result: {...releaseHead(name, facts), ...resultOf(inventory, planned, inAccount)},
    readAgain: async () => inventoryOf((await read()).readings),
  };
  if (!job.result.changed) return unchanged(job);
  const operation: Operation<UninstallResult> = {
    title: `Uninstalling release ${name.release} from namespace ${name.kubeTarget.namespace}`,
    steps: [...planned.plan.steps, ...inAccount.steps],
    blocked: inAccount.blocked,
    text: textOf(job, facts),
    warnings: job.result.warnings,
    risk:
      planned.needsConfirmation || flags.confirm !== undefined
        ? {what: 'Some of these deletions cannot be undone.', release: name.release}
        : undefined,
    check: () => checkUninstall(job),
    run: (deps) => runUninstall(job, deps),
  };
  return operate(operation, job.result, flags, context);
}

function resultOf(
  inventory: Inventory,
  planned: UninstallPlan,
  inAccount: AccountPart,
): Omit<UninstallResult, keyof ReleaseHead> {
  const steps = [...planned.plan.steps, ...inAccount.steps];
  return {
    changed: steps.length > 0,
    ...(isBlindTo(inventory) ? {} : {runsInFlight: inventory.runs.map(refText)}),
    steps: stepsOf(steps),
    removed: planned.removals.map((each) => removalText(each)),
    notRemoved: [],
    kept: planned.keeps,
    warnings: [
      ...planned.warnings.map((message) => warningOf('RUNS', message)),
      ...inAccount.warnings,
    ],
    complete: isComplete(inventory),
  };
}

function unchanged({name, inventory, inAccount, context, result}: UninstallJob): UninstallResult {
  context.report(inAccount.warnings);
  const where = `${name.release} in namespace ${name.kubeTarget.namespace}`;
  const state =
    inventory.leftovers.length === 0
      ? `Release ${where} is already uninstalled.`
      : `Helm has no record of release ${where}, but objects of it exist.`;
  context.say(`${state} Nothing was changed.\n`);
  context.say(accountText({removes: result.removed, keeps: result.kept}, true, context.screen));
  return result;
}

function textOf(
  {name, inventory, planned, inAccount, context: {screen}, result}: UninstallJob,
  facts: Pick<InstallFacts, 'context' | 'serverVersion'>,
): string {
  const {client} = inAccount;
  const shown = [
    planned.plan.steps.length > 0 ? planText(planned.plan, name, facts, screen) : '',
    client && inAccount.steps.length > 0 ? accountPlanText(inAccount.steps, client, screen) : '',
    runsText(inventory, screen),
    accountText({removes: result.removed, keeps: result.kept}, false, screen),
  ];
  return `${shown.filter((each) => each !== '').join('\n')}\n`;
}

/** Tries every deletion before the first step. @throws ExpectedError */
async function checkUninstall({name, planned, access}: UninstallJob): Promise<PlanCheck> {
  const {steps} = planned.plan;
  // Other operations have rendered a chart before; here, the first steps would stop the agent before helm is missed.
  await requireHelmContext(steps, name.kubeTarget, access.processes);
  await requirePermissions(steps, name, {...access, operation: 'uninstall'});
  const notChecked = await dryRunSteps(steps, name.kubeTarget, access.processes);
  const all = notChecked.length > 0 ? 'all other' : 'all';
  const text = steps.length === 0 ? '' : `The API server accepts ${all} steps.\n`;
  return {text, notChecked, later: []};
}

async function runUninstall(job: UninstallJob, deps: RunDeps): Promise<UninstallResult> {
  const {name, planned, inAccount, access, context, result} = job;
  const deleted = await uninstallRelease(planned, name.kubeTarget, {
    ...access,
    ...deps,
    // Keeps objects that others started to use after the plan was created.
    planAgain: async () => planUninstall(name, await job.readAgain(), job.choices),
  });
  const {removed} = deleted;
  const found = await foundAgain(job, deleted);
  const notRemoved = [...deleted.notRemoved, ...found];
  const {client} = inAccount;
  try {
    if (client) await removeFromAccount(inAccount.steps, client, name, deps);
    deps.done(
      notRemoved.length === 0
        ? `Release ${name.release} is uninstalled`
        : `Not everything of release ${name.release} was removed`,
    );
  } finally {
    context.say(
      accountText({removes: removed, notRemoved, keeps: result.kept}, true, context.screen),
      notRemovedText(notRemoved, context.screen),
    );
  }
  context.exitWith(found.length > 0 ? ExitCode.failed : deleted.exit);
  return {
    ...result,
    removed,
    notRemoved,
    complete: result.complete && notRemoved.length === 0,
  };
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
