import type {Advice, Gain} from '../charts/advise.ts';
import type {Target} from '../charts/define.ts';
import {scalrChart} from '../charts/define.ts';
import {targetOf} from '../charts/target.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {confirmPlan, confirmRelease} from '../cli/confirm-plan.ts';
import {durationOf, releaseName, timeoutOf} from '../cli/flags.ts';
import {UPGRADE_SETTINGS, type UpgradeFlags, upgradeFlags} from '../cli/upgrade-flags.ts';
import {evidencePath, readTexts} from '../cli/user-files.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {commandLine, programOf} from '../ground/command-line.ts';
import {ExitCode, type Warning} from '../ground/errors.ts';
import type {ClusterAccess} from '../kubernetes/cluster-access.ts';
import {isAmong, kindAndName, refOf} from '../kubernetes/objects.ts';
import type {ChartChange} from '../operations/change-chart.ts';
import {requireKnownVersion} from '../operations/debug.ts';
import {dryRun} from '../operations/dry-run.ts';
import {installRelease} from '../operations/install-release.ts';
import {givenSecretNames, newestFor, type Prepared, prepare, requireUnblocked} from '../operations/prepare-upgrade.ts';
import {requirePermissions} from '../operations/require-permissions.ts';
import {runSteps} from '../operations/run-steps.ts';
import {ofPhase} from '../operations/step.ts';
import {planUninstall} from '../operations/uninstall.ts';
import {uninstallRelease} from '../operations/uninstall-release.ts';
import type {UpgradeChoices} from '../operations/upgrade.ts';
import type {Watched} from '../operations/watch-release.ts';
import {type InstalledRelease, readInstalled} from '../release/installed-release.ts';
import {readFacts} from '../release/read-release.ts';
import {chart, chartSource, chartVersion} from '../settings/release.ts';
import {ofAnother} from '../status/read-status.ts';
import {notFound} from '../status/release-causes.ts';
import {manifestDiffText} from '../ui/diff.ts';
import {accountText, callsText, notRemovedText, planText, resultText, runsText, stepText} from '../ui/plan.ts';
import {progressReporter} from '../ui/progress.ts';
import {upgradeText} from '../ui/upgrade.ts';
import type {Change} from '../values/migrate/change.ts';
import {readLayers} from '../values/validate/source.ts';

interface Result {
  release: string;
  namespace: string;
  context: string;
  from: {chart: string; chartVersion: string};
  /** `release` is another one if the chart changes. */
  to: {chart: string; chartVersion: string; release: string};
  /** False if the release was already up to date. */
  changed: boolean;
  advice: readonly Advice[];
  gains: readonly Gain[];
  changes: readonly Change[];
  /** Undefined if runs cannot be detected. */
  runsInFlight?: string[];
  steps: {id: string; title: string}[];
  rollback: {possible: boolean; limits: readonly string[]};
  /** PVCs that Helm would have deleted. */
  keptClaims: readonly string[];
  /** Objects that nothing uses after the upgrade, and that were not deleted. */
  obsolete: readonly {title: string; how: string}[];
  warnings: readonly Warning[];
  agent?: 'registered' | 'unknown';
}

export default class Upgrade extends BaseCommand<Result> {
  static override summary = 'Upgrade an installed agent to another chart version or chart.';
  static override description =
    'Reads chart, version and values of the release, migrates the values, and lists what the upgrade changes. The plan applies new CRDs, keeps PersistentVolumeClaims that Helm would delete, waits for runs that the upgrade would interrupt, and verifies the agent. Without --chart-version, upgrades to the newest known version. Another --chart is installed as a new release; the old one is uninstalled after its runs have ended.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --dry-run',
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --yes --rollback-on-failure',
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --chart agent-job --dry-run',
  ];
  static override flags = upgradeFlags;

  override async run(): Promise<Result> {
    const {flags} = await this.parse(Upgrade);
    const settings = await this.settingsFrom(flags, {only: UPGRADE_SETTINGS});
    const name = releaseName(flags, settings);
    const access = await this.accessTo(name.place, flags);
    const overlay = readLayers(await readTexts(flags.values ?? [], this.app.files));
    const timeoutMs = timeoutOf(flags);
    const choices: UpgradeChoices = {
      takesOver: flags['take-over'] ?? false,
      timeoutMs,
      timeoutSeconds: timeoutMs / 1000,
      now: this.app.now(),
      drain: flags.drain,
      drainTimeoutSeconds: durationOf('--drain-timeout', flags['drain-timeout']) / 1000,
    };
    const {installed, to, prepared} = await this.untilInterrupted(async () => {
      const signal = AbortSignal.timeout(timeoutMs);
      const installed = await readRelease(name, access, signal);
      const newest = newestFor(installed, settings.get(chart) ?? installed.target.chart);
      const wanted = settings.get(chartVersion) === undefined ? settings.with(chartVersion, {value: newest, source: 'default'}) : settings;
      const {target: to, warnings} = targetOf(wanted, () => installed.target.chart);
      this.report(warnings);
      const options = {
        source: settings.get(chartSource),
        overlay,
        newRelease: flags['new-release'],
        secretNames: givenSecretNames(settings),
      };
      return {installed, to, prepared: await prepare(installed, to, options, choices, access, signal)};
    });
    const result = resultOf(installed, to, prepared);
    await this.#explain(installed, to, prepared, result, flags);
    if (result.changed) requireUnblocked(prepared.advice);
    await this.untilInterrupted(() => requirePermissions(prepared.steps, name, access));
    if (flags['dry-run']) {
      if (!this.jsonEnabled()) this.app.stdout(callsText(prepared));
      this.say(await this.#validated(prepared, access));
      if (flags['exit-code'] && result.changed) this.exitCode = ExitCode.differences;
      return result;
    }
    await this.#validated(prepared, access);
    return this.#carryOut(prepared, installed, result, choices, flags);
  }

  async #explain(installed: InstalledRelease, to: Target, prepared: Prepared, result: Result, flags: UpgradeFlags): Promise<void> {
    const {name, facts, wanted} = prepared;
    if (!result.changed) {
      this.say(`Release ${name.release} already uses ${to.chart} ${to.version}.\n`);
      return;
    }
    const own = upgradeText(installed.target, to, prepared, this.screen);
    const text = `${planText(prepared, name, facts, this.screen)}\n${own}${runsText(installed.inventory, this.screen)}\n`;
    // Only a plan that was shown can be confirmed.
    if (flags.yes || flags['dry-run']) this.say(text);
    else this.app.stderr(text);
    this.report(result.warnings);
    if (flags['dry-run'] && !this.jsonEnabled() && prepared.change === undefined)
      this.show(await manifestDiffText(facts.installed, wanted.manifest, this.resultScreen));
  }

  /** Asks the API server whether it accepts the objects; those that the plan deletes first cannot be validated. @throws ExpectedError */
  #validated({plan, wanted, name, facts}: Prepared, access: ClusterAccess): Promise<string> {
    const deleted = ofPhase(plan.steps, 'replace').flatMap(({workloads = []}) => workloads);
    const manifest = wanted.manifest.filter((object) => !isAmong(refOf(object), deleted));
    return this.untilInterrupted(() => dryRun(plan, manifest, name, facts, access));
  }

  async #carryOut(
    prepared: Prepared,
    installed: InstalledRelease,
    result: Result,
    choices: UpgradeChoices,
    flags: UpgradeFlags,
  ): Promise<Result> {
    const {name, facts, plan, change, cleanup, rollback} = prepared;
    const {prompter} = this;
    const isAsked = prompter !== undefined && !flags.yes;
    // Every question comes before the first step.
    const rollsBack =
      flags['rollback-on-failure'] ??
      (isAsked && !flags['no-wait'] && result.rollback.possible && (await prompter.confirm('Roll back if the upgrade fails?')));
    const removes =
      flags['remove-obsolete'] ??
      (isAsked && !flags['no-wait'] && cleanup.length > 0 && (await prompter.confirm(`${cleanup.map(({title}) => title).join('; ')}?`)));
    const access = await this.accessTo(name.place, flags);
    if (removes) await this.untilInterrupted(() => requirePermissions(cleanup, name, access));
    if (plan.risk !== undefined) await confirmRelease(name.release, {risk: plan.risk, typed: flags.confirm, prompter});
    else if (result.changed || removes) await confirmPlan({isAccepted: flags.yes ?? false, prompter});

    const {files, now, sleep} = this.app;
    const interrupts = this.app.takeInterrupts();
    try {
      const say = (text: string): void => this.say(text);
      const deps = {
        ...access,
        ...{interrupts, files, now, sleep, timeoutMs: choices.timeoutMs},
        onStep: (...news: Parameters<typeof stepText>) => say(stepText(...news)),
        onProgress: progressReporter(say, this.screen),
      };
      const rollBackWith = rollsBack ? evidencePath(undefined, name.release, now()) : undefined;
      const watched = await installRelease(plan, name, facts, {waits: !flags['no-wait'], rollBackWith, rollback}, deps);
      if (change) await this.#removeOld(change, installed, choices, deps);
      if (removes) await runSteps(cleanup, deps);
      return this.#done(result, prepared, watched, removes);
    } finally {
      interrupts.release();
    }
  }

  async #removeOld(
    {removal, moves}: ChartChange,
    {name}: InstalledRelease,
    choices: UpgradeChoices,
    deps: Omit<Parameters<typeof uninstallRelease>[2], 'planAgain'>,
  ): Promise<void> {
    const planAgain = async () => {
      const again = await readRelease(name, deps, AbortSignal.timeout(choices.timeoutMs));
      return planUninstall(name, again.inventory, {...choices, purge: new Set()});
    };
    await runSteps(moves, deps);
    const {removed, notRemoved, exit} = await uninstallRelease(removal, name.place, {...deps, planAgain});
    this.say(accountText({removes: removed, notRemoved, keeps: removal.keeps}, true, this.screen), notRemovedText(notRemoved, this.screen));
    if (exit !== ExitCode.ok) this.exitCode = exit;
  }

  #done(result: Result, {name, wanted}: Prepared, watched: Watched | undefined, isClean: boolean): Result {
    const obsolete = isClean ? [] : result.obsolete;
    const shown = {
      name,
      hasChanged: result.changed,
      objects: wanted.manifest.map(kindAndName),
      saved: [],
      program: programOf(this.app.env),
      isForVcs: false,
    };
    if (watched !== undefined) this.say(resultText({...shown, agent: watched.agent}, this.screen));
    for (const {title, how} of obsolete) this.say(`${title}: ${how}\n`);
    return {...result, obsolete, ...(watched === undefined ? {} : {agent: watched.agent})};
  }
}

/** @throws ExpectedError for a release that cannot be upgraded */
async function readRelease(name: ReleaseName, access: ClusterAccess, signal: AbortSignal): Promise<InstalledRelease> {
  const facts = await readFacts(name, [], access, signal);
  const {release: found} = facts;
  if (found === undefined || found.status === 'uninstalled') throw await notFound(name, found, access, signal);
  const target = scalrChart(found.chart);
  if (target === undefined) throw ofAnother(name, found.chart);
  requireKnownVersion(name, target);
  return readInstalled(name, {...facts, release: found}, access, signal);
}

/** The result before the upgrade. */
function resultOf({name, facts, target, inventory}: InstalledRelease, to: Target, prepared: Prepared): Result {
  const {steps, warnings, advice, gains, changes, rollback, keptClaims, cleanup} = prepared;
  const {runs, runsOf} = inventory;
  return {
    release: name.release,
    namespace: name.place.namespace,
    context: facts.context.name,
    from: {chart: target.chart, chartVersion: target.version},
    to: {chart: to.chart, chartVersion: to.version, release: prepared.name.release},
    changed: steps.length > 0,
    ...{advice, gains, changes},
    ...(runsOf === undefined ? {} : {runsInFlight: runs.map(({kind, name: run}) => `${kind} ${run}`)}),
    steps: steps.map(({id, title}) => ({id, title})),
    rollback: {possible: rollback === undefined || rollback.steps.length > 0, limits: rollback?.limits ?? []},
    keptClaims,
    obsolete: cleanup.map(({title, call}) => ({title, how: commandLine(call)})),
    warnings,
  };
}
