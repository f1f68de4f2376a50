import * as Flags from '@oclif/core/flags';
import type {Target} from '../charts/define.ts';
import {commandLine, programOf} from '../ground/command-line.ts';
import {ExitCode} from '../ground/errors.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import {includesRef, refOf, refText} from '../kubernetes/objects.ts';
import {dryRun, type InstallReleaseDeps, installRelease} from '../operations/install-release.ts';
import {blockedBy, type ChartChange, type PreparedUpgrade} from '../operations/prepare-upgrade.ts';
import type {ChartSignature} from '../operations/read-chart.ts';
import {runSteps} from '../operations/run-steps.ts';
import {ofPhase, requirePermissions} from '../operations/step.ts';
import {planUninstall} from '../operations/uninstall.ts';
import {uninstallRelease} from '../operations/uninstall-release.ts';
import type {UpgradeChoices} from '../operations/upgrade.ts';
import type {Watched} from '../operations/watch-release.ts';
import type {InstalledRelease} from '../release/read-inventory.ts';
import {tokenSecret} from '../settings/agent.ts';
import {chart, chartSource, chartVersion, namespace, release} from '../settings/release.ts';
import {clientCertSecret} from '../settings/tls.ts';
import {manifestDiffText, upgradeText} from '../ui/changes.ts';
import {
  accountText,
  NOT_WAITED,
  nextSteps,
  nextStepsText,
  notRemovedText,
  planText,
  resultSentence,
  runsText,
} from '../ui/plan.ts';
import {
  answersFlag,
  confirmFlags,
  connectionFlags,
  type Parsed,
  repeated,
  settingFlags,
  takeOverFlag,
  verifyFlag,
} from './flags.ts';
import {
  type CommandContext,
  type Operation,
  operate,
  type RunDeps,
  releaseHead,
  stepsOf,
} from './operate.ts';
import {diagnosticsPath} from './user-files.ts';

/** `signature` only with --verify; `agent` is absent if the command did not wait. */
export type UpgradeResult = ReturnType<typeof resultOf> & {
  signature?: ChartSignature;
  agent?: Watched['agent'];
};

interface Upgrade {
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
  const {installed, to, prepared, access, signature} = upgrade;
  const {name, facts, desired, plan, change, cleanup, rollback} = prepared;
  const {screen, prompter} = context;
  const result: UpgradeResult = {
    ...resultOf(installed, to, prepared),
    ...(signature ? {signature} : {}),
  };
  const isAsked = prompter !== undefined && !flags.yes && !flags['no-wait'];
  let rollsBack = flags['rollback-on-failure'];
  let removes = flags['remove-obsolete'];
  const operation: Operation<UpgradeResult> = {
    title: result.changed
      ? `Upgrading release ${name.release} to ${to.chart} ${to.version}`
      : `Checking release ${name.release}`,
    steps: prepared.steps,
    text: result.changed
      ? `${planText(prepared, name, facts, screen)}\n${upgradeText(installed.target, to, prepared, screen)}${runsText(installed.inventory, screen)}\n`
      : '',
    warnings: result.changed ? result.warnings : [],
    risk: plan.risk === undefined ? undefined : {what: plan.risk, release: name.release},
    blocked: result.changed ? blockedBy(prepared.advice) : undefined,
    details: async () =>
      result.changed && change === undefined
        ? manifestDiffText(facts.installed, desired.manifest, context.resultScreen)
        : '',
    check: async () => {
      await requirePermissions(prepared.steps, name, {...access, operation: 'upgrade'});
      // What the plan deletes first cannot be validated.
      const deleted = ofPhase(plan.steps, 'replace').flatMap(({workloads = []}) => workloads);
      const manifest = desired.manifest.filter((object) => !includesRef(refOf(object), deleted));
      return dryRun(plan, manifest, name, facts, access);
    },
    ask: async () => {
      rollsBack ??=
        isAsked &&
        result.rollback.possible &&
        (await prompter.confirm('Roll back if the upgrade fails?'));
      removes ??=
        isAsked &&
        cleanup.length > 0 &&
        (await prompter.confirm(`${cleanup.map(({title}) => title).join('; ')}?`));
      if (!removes) return [];
      await context.untilInterrupted(() =>
        requirePermissions(cleanup, name, {...access, operation: 'upgrade'}),
      );
      return cleanup;
    },
    run: async (deps) => {
      const all = {...access, ...deps};
      const rollBackWith = rollsBack
        ? diagnosticsPath(undefined, name.release, deps.now())
        : undefined;
      const watched = await installRelease(
        plan,
        name,
        facts,
        {waits: !flags['no-wait'], rollBackWith, rollback},
        all,
      );
      if (change) await removeOld(change, upgrade, all, context);
      if (removes) await runSteps(cleanup, all);
      return finish(
        {...result, obsolete: removes ? [] : result.obsolete},
        prepared,
        watched,
        deps,
        context,
      );
    },
  };
  if (!result.changed)
    context.say(`Release ${name.release} already uses ${to.chart} ${to.version}.\n`);
  if (flags['exit-code'] && result.changed) context.exitWith(ExitCode.differences);
  return operate(operation, result, flags, context);
}

/** Uninstalls the release of the former chart; its data stays. */
async function removeOld(
  {removal, moves}: ChartChange,
  {installed: {name}, choices, access, readAgain}: Upgrade,
  deps: InstallReleaseDeps,
  {say, screen, exitWith}: CommandContext,
): Promise<void> {
  const planAgain = async () =>
    planUninstall(name, (await readAgain()).inventory, {...choices, purge: new Set()});
  await runSteps(moves, {...access, ...deps});
  const {removed, notRemoved, exit} = await uninstallRelease(removal, name.kubeTarget, {
    ...access,
    ...deps,
    planAgain,
  });
  say(
    accountText({removes: removed, notRemoved, keeps: removal.keeps}, true, screen),
    notRemovedText(notRemoved, screen),
  );
  exitWith(exit);
}

function finish(
  result: UpgradeResult,
  {name}: PreparedUpgrade,
  watched: Watched | undefined,
  {done}: Pick<RunDeps, 'done'>,
  {app: {env}, say, screen}: CommandContext,
): UpgradeResult {
  if (watched === undefined) done(`Release ${name.release} is upgraded`, NOT_WAITED);
  else
    done(
      ...resultSentence({
        what: `release ${name.release}`,
        hasChanged: result.changed,
        agent: watched.agent,
        url: undefined,
      }),
    );
  for (const {title, how} of result.obsolete) say(`${title}. ${how}\n`);
  if (watched === undefined) return result;
  say(
    nextStepsText(
      nextSteps({name, isForVcs: false, isLinked: true, program: programOf(env), env}),
      screen,
    ),
  );
  return {...result, agent: watched.agent};
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
    changes,
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
      how: `When no rollback is needed: ${commandLine(call)}`,
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
    summary: 'Release name for another chart (default: release name with the suffix of the chart).',
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
  ...settingFlags(UPGRADE_SETTINGS, {chart: 'Chart to change to (default: the installed one).'}),
  ...connectionFlags,
};

type UpgradeFlags = Parsed<typeof upgradeFlags>;
