import * as Flags from '@oclif/core/flags';
import type {Target} from '../charts/releases/target.ts';
import {checksWith} from '../checks/preflight/checks/check.ts';
import {runPreflight} from '../checks/preflight/run-preflight.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {refText} from '../cluster/kubernetes/object-refs.ts';
import type {InstalledRelease} from '../cluster/release/read-inventory.ts';
import {callText} from '../ground/call-arguments.ts';
import {ownCommand, type ReleaseName} from '../ground/command-line.ts';
import {ExitCode, type ExpectedError, onFailure, RUN_AGAIN} from '../ground/errors.ts';
import {programOf} from '../ground/program.ts';
import {installRelease} from '../operations/install-release.ts';
import {dryRunPlan} from '../operations/plan-dry-run.ts';
import {blockedBy} from '../operations/prepare-upgrade.ts';
import type {ChartSignature} from '../operations/read-chart.ts';
import {runSteps} from '../operations/run-steps.ts';
import {notCheckedWarnings, requireDeletable} from '../operations/server-dry-run.ts';
import type {Step} from '../operations/step.ts';
import {requirePermissions} from '../operations/step-permissions.ts';
import {planUninstall} from '../operations/uninstall.ts';
import {uninstallRelease} from '../operations/uninstall-release.ts';
import type {ChartChange, PreparedUpgrade, UpgradeChoices} from '../operations/upgrade.ts';
import type {WatchResult} from '../operations/watch-release.ts';
import {tokenSecret} from '../settings/agent.ts';
import {cacheClaim} from '../settings/cache.ts';
import {allowClearText} from '../settings/chart-values.ts';
import {spell} from '../settings/define.ts';
import {chart, chartSource, chartVersion, namespace, release} from '../settings/release.ts';
import {Settings} from '../settings/settings.ts';
import {clientCertSecret} from '../settings/tls.ts';
import {changeDocument, manifestDiffText, upgradeText} from '../ui/changes.ts';
import {checkText} from '../ui/checks.ts';
import {NOT_WAITED, nextSteps, nextStepsText, resultSentence} from '../ui/next-steps.ts';
import {accountText, notRemovedText, planText, runsText} from '../ui/plan.ts';
import {readValues} from '../values/reading/read-values.ts';
import {connectionFlags, takeOverFlag} from './connection-flags.ts';
import {answersFlag, confirmFlags, type Parsed, repeated, verifyFlag} from './flags.ts';
import {
  agreed,
  type CommandContext,
  type Operation,
  operate,
  type RunDeps,
  releaseHead,
  stepsOf,
} from './operate.ts';
import {diagnosticsPath} from './save-files.ts';
import {settingFlags} from './setting-flags.ts';

/** `signature` only with --verify; `agent` is absent if the command did not wait. */
export type UpgradeResult = ReturnType<typeof resultOf> & {
  signature?: ChartSignature;
  agent?: WatchResult['agent'];
};

/** An upgrade that was read and planned. */
export interface Upgrade {
  installed: InstalledRelease;
  to: Target;
  prepared: PreparedUpgrade;
  choices: UpgradeChoices;
  access: ClusterAccess;
  readAgain(): Promise<InstalledRelease>;
  signature: ChartSignature | undefined;
}

/** Shows, confirms and runs an upgrade, within one chart or to another one. @throws ExpectedError */
export async function upgradeInCluster(
  upgrade: Upgrade,
  flags: UpgradeFlags,
  context: CommandContext,
): Promise<UpgradeResult> {
  const {installed, to, prepared, signature} = upgrade;
  const result: UpgradeResult = {
    ...resultOf(installed, to, prepared),
    ...(signature ? {signature} : {}),
  };
  if (!result.changed)
    context.say(`Release ${prepared.name.release} already uses ${to.chart} ${to.version}.\n`);
  if (flags['exit-code'] && result.changed) context.exitWith(ExitCode.differences);
  const operation = operationOf({...upgrade, result, flags, context});
  return operate(operation, result, flags, context);
}

interface Shown extends Upgrade {
  result: UpgradeResult;
  flags: UpgradeFlags;
  context: CommandContext;
}

/** What the flags do not say is asked before the confirmation. */
interface Choice {
  rollsBack: boolean | undefined;
  removes: boolean | undefined;
}

function operationOf(shown: Shown): Operation<UpgradeResult> {
  const {installed, to, prepared, access, result, flags, context} = shown;
  const {name, facts, desired, plan, change, cleanup} = prepared;
  const {changed} = result;
  const {screen, resultScreen} = context;
  const choice: Choice = {
    rollsBack: flags['rollback-on-failure'],
    removes: flags['remove-obsolete'],
  };
  return {
    title: changed
      ? `Upgrading release ${name.release} to ${to.chart} ${to.version}`
      : `Checking release ${name.release}`,
    steps: prepared.steps,
    text: changed
      ? `${planText(prepared, name, facts, screen)}\n${upgradeText(installed.target, to, prepared, screen)}${runsText(installed.inventory, screen)}\n`
      : '',
    warnings: changed ? result.warnings : [],
    risk: plan.risk === undefined ? undefined : {what: plan.risk, release: name.release},
    blocked: changed ? blockedBy(prepared.advice) : undefined,
    details: async () =>
      changed && change === undefined
        ? manifestDiffText(facts.installed, desired.manifest, resultScreen)
        : '',
    check: async () => {
      if (changed && !flags['skip-preflight']) await preflight(shown);
      await requirePermissions(prepared.steps, name, {...access, operation: 'upgrade'});
      const steps = choice.removes ? [...prepared.steps, ...cleanup] : prepared.steps;
      return dryRunPlan({steps, name, objects: desired.manifest, facts}, access);
    },
    ask: () => ask(choice, shown),
    run: (deps) => run(choice, shown, deps),
  };
}

/** Runs the checks of an install with the migrated values. @throws ExpectedError if the upgrade would fail */
async function preflight({to, prepared, access, context}: Shown): Promise<void> {
  const {desired, facts} = prepared;
  const {app, timeoutMs, screen} = context;
  const {now, sleep, registries} = app;
  const {values} = desired;
  const generated = {
    target: to,
    settings: new Settings(new Map()),
    effective: readValues(values, to).settings,
    values,
    origins: [],
    warnings: [],
  };
  const deps = {...access, now, sleep, registries, timeoutMs};
  const already = {manifest: desired.manifest, context: facts.context};
  const checks = await runPreflight(generated, desired, deps, already);
  for (const each of checksWith(checks, 'warning')) app.stderr(checkText(each, screen));
}

/** Returns the steps that the user has added. @throws ExpectedError */
async function ask(
  choice: Choice,
  {prepared: {name, cleanup}, access, result, flags, context}: Shown,
): Promise<readonly Step[]> {
  const {prompter} = context;
  const isAsked = prompter !== undefined && !flags.yes && !flags['no-wait'];
  choice.rollsBack ??=
    isAsked &&
    result.changed &&
    result.rollback.possible &&
    (await agreed(prompter, 'Roll back if the upgrade fails?'));
  choice.removes ??=
    isAsked &&
    cleanup.length > 0 &&
    (await agreed(prompter, `${cleanup.map(({title}) => title).join('; ')}?`));
  if (!choice.removes) return [];
  await context.untilInterrupted(async () => {
    await requirePermissions(cleanup, name, {...access, operation: 'upgrade'});
    const deleted = cleanup.flatMap(({deletes = []}) => deletes);
    const notChecked = await requireDeletable(deleted, name.kubeTarget, access.processes);
    context.report(notCheckedWarnings(notChecked));
  });
  return cleanup;
}

/** Upgrades, removes the release of the former chart, and then what nothing uses. @throws ExpectedError */
async function run(
  {rollsBack, removes}: Choice,
  shown: Shown,
  deps: RunDeps,
): Promise<UpgradeResult> {
  const {prepared, access, result, flags, context} = shown;
  const {name, facts, plan, change, cleanup, rollback} = prepared;
  const all = {...access, ...deps};
  const rollBackWith = rollsBack ? diagnosticsPath(undefined, name.release, deps.now()) : undefined;
  const options = {waits: !flags['no-wait'], rollBackWith, rollback};
  const watched = await installRelease({plan, name, facts}, options, all);
  if (change) await removeOld(change, shown, all, context);
  if (removes) await runSteps(cleanup, all);
  const done = {...result, obsolete: removes ? [] : result.obsolete};
  showResult(done, watched, shown, deps);
  return watched === undefined ? done : {...done, agent: watched.agent};
}

/** Uninstalls the release of the former chart; its data stays. */
async function removeOld(
  {removal, moves}: ChartChange,
  {installed: {name}, choices, access, readAgain}: Upgrade,
  deps: RunDeps,
  {say, screen, exitWith}: CommandContext,
): Promise<void> {
  const planAgain = async () =>
    planUninstall(name, (await readAgain()).inventory, {...choices, purge: new Set()});
  await runSteps(moves, {...access, ...deps});
  const {removed, notRemoved, exit} = await uninstallRelease(removal, name.kubeTarget, {
    ...access,
    ...deps,
    planAgain,
  }).catch(onFailure(atRemoval(name, choices)));
  say(
    accountText({removes: removed, notRemoved, keeps: removal.keeps}, true, screen),
    notRemovedText(notRemoved, screen),
  );
  exitWith(exit);
}

/** The same upgrade would not find the old release any more. */
const atRemoval =
  (name: ReleaseName, {drain}: UpgradeChoices) =>
  (failure: ExpectedError): never => {
    const uninstall = ownCommand('uninstall', name, ...(drain ? [] : ['--no-drain']));
    throw failure.with(
      `The new release is ready. Release ${name.release} is not completely uninstalled. ${failure.message}`,
      [
        `Continue the uninstall: ${uninstall}`,
        ...failure.suggestions.filter((each) => each !== RUN_AGAIN),
      ],
    );
  };

function showResult(
  result: UpgradeResult,
  watched: WatchResult | undefined,
  {prepared, to, context}: Shown,
  {done}: RunDeps,
): void {
  const {app, say, screen} = context;
  const {env} = app;
  const {name} = prepared;
  const what = `release ${name.release}`;
  const hasChanged = result.changed;
  if (watched === undefined) done(`Release ${name.release} is upgraded`, NOT_WAITED);
  else done(...resultSentence({what, hasChanged, agent: watched.agent, url: undefined}));
  for (const {title, how} of result.obsolete) say(`${title}. ${how}\n`);
  say(keptClaimText(prepared, to));
  if (watched === undefined) return;
  const next = nextSteps({name, isForVcs: false, isLinked: true, program: programOf(env), env});
  say(nextStepsText(next, screen));
}

/** A PVC that the new version no longer creates is part of the settings from now on. */
function keptClaimText({keptClaims, desired}: PreparedUpgrade, to: Target): string {
  const claim = readValues(desired.values, to).settings.get(cacheClaim.id);
  return keptClaims.some((each) => each === claim)
    ? `The release uses PVC ${claim} from now on. For the next install, add ${spell(cacheClaim)} ${claim} (in an answers file, ${cacheClaim.id}: ${claim}); without it, a new PVC is created.\n`
    : '';
}

/** The result before the upgrade; without `runsInFlight` if runs cannot be detected. */
function resultOf(
  {name, facts, target, inventory}: InstalledRelease,
  to: Target,
  prepared: PreparedUpgrade,
) {
  const {steps, warnings, advice, newSettings, changes, rollback, keptClaims, cleanup} = prepared;
  const {runs, runsOf} = inventory;
  return {
    ...releaseHead(name, facts),
    from: {chart: target.chart, chartVersion: target.version},
    // Another release if the chart changes.
    to: {chart: to.chart, chartVersion: to.version, release: prepared.name.release},
    changed: steps.length > 0,
    advice,
    newSettings,
    changes: changes.map(changeDocument),
    ...(runsOf === undefined ? {} : {runsInFlight: runs.map(refText)}),
    steps: stepsOf(steps),
    rollback: {
      possible: rollback === undefined || rollback.steps.length > 0,
      limits: rollback?.limits ?? [],
    },
    keptPersistentVolumeClaims: keptClaims,
    // Only a rollback uses them after the upgrade, and they were not deleted.
    obsolete: cleanup.map(({title, call}) => ({
      title,
      how: `When no rollback is needed: ${callText(call)}`,
    })),
    warnings,
  };
}

/** The release knows all others. */
export const UPGRADE_SETTINGS = [
  namespace,
  release,
  chart,
  chartVersion,
  chartSource,
  tokenSecret,
  clientCertSecret,
  allowClearText,
];

export const upgradeFlags = {
  'exit-code': Flags.boolean({
    summary: 'With --dry-run: exit with 5 when there are changes.',
    dependsOn: ['dry-run'],
  }),
  drain: Flags.boolean({
    summary: 'Wait for runs that the upgrade would interrupt.',
    default: true,
    allowNo: true,
  }),
  'drain-timeout': Flags.string({
    summary: 'Time to wait for the runs in flight.',
    helpValue: '<DURATION>',
    default: '30m',
  }),
  'no-wait': Flags.boolean({summary: 'Do not wait for the agent to become ready.'}),
  'skip-preflight': Flags.boolean({summary: 'Skip the preflight checks.'}),
  'rollback-on-failure': Flags.boolean({
    summary: 'Roll back when the upgrade fails; saves logs, events and objects to a file first.',
    exclusive: ['no-wait'],
  }),
  'remove-obsolete': Flags.boolean({
    summary:
      'Delete CRDs that nothing uses after the upgrade. A rollback is not possible afterwards.',
    exclusive: ['no-wait'],
  }),
  ...takeOverFlag,
  ...verifyFlag,
  'new-release': Flags.string({
    summary: 'Release name for another chart. Default: release name with the suffix of the chart.',
    helpValue: '<NAME>',
  }),
  values: Flags.string({
    summary: 'Values file to merge over the migrated values. Can be repeated.',
    helpValue: '<FILE>',
    ...repeated,
  }),
  confirm: Flags.string({summary: 'Release name, to confirm a downgrade.', helpValue: '<NAME>'}),
  ...confirmFlags,
  ...answersFlag,
  ...settingFlags(UPGRADE_SETTINGS, {chart: 'Chart to change to. Default: the installed one.'}),
  ...connectionFlags,
};

export type UpgradeFlags = Parsed<typeof upgradeFlags>;
