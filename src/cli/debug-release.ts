import type {Target} from '../charts/releases/target.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import {ownCommand, type ReleaseName} from '../ground/command-line.ts';
import {warningOf} from '../ground/finding.ts';
import type {PreparedDebug} from '../operations/debug.ts';
import {installRelease} from '../operations/install-release.ts';
import {dryRunPlan} from '../operations/plan-dry-run.ts';
import {requirePermissions} from '../operations/step-permissions.ts';
import type {WatchResult} from '../operations/watch-release.ts';
import {planText} from '../ui/plan.ts';
import type {ConfirmFlags} from './flags.ts';
import {type CommandContext, type Operation, operate, releaseHead, stepsOf} from './operate.ts';

/** `agent` is the state according to its log; absent if the command did not wait. */
export type DebugResult = ReturnType<typeof resultOf> & {agent?: WatchResult['agent']};

interface Debugged {
  name: ReleaseName;
  facts: InstallFacts;
  target: Target;
  prepared: PreparedDebug;
  state: 'on' | 'off';
  access: ClusterAccess;
}

/** Shows, confirms and runs a change of the debug logs. @throws ExpectedError */
export async function debugInCluster(
  debugged: Debugged,
  flags: ConfirmFlags & {'no-wait'?: boolean},
  context: CommandContext,
): Promise<DebugResult> {
  const {name, facts, prepared, state, access} = debugged;
  const {plan, manifest} = prepared;
  const result: DebugResult = resultOf(debugged);
  if (!result.changed) {
    context.say(
      `Debug logs of release ${name.release} are already ${state}. Nothing was changed.\n`,
    );
    return result;
  }
  const operation: Operation<DebugResult> = {
    title: `Switching debug logs of release ${name.release} ${state}`,
    steps: plan.steps,
    text: `${planText(plan, name, facts, context.screen)}\n`,
    warnings: result.warnings,
    check: async () => {
      await requirePermissions(plan.steps, name, {...access, operation: 'debug'});
      return dryRunPlan({steps: plan.steps, name, objects: manifest, facts}, access);
    },
    run: async (deps) => {
      const watched = await installRelease(
        {plan, name, facts},
        {waits: !flags['no-wait']},
        {...access, ...deps},
      );
      deps.done(`Debug logs of release ${name.release} are ${state}`);
      if (state === 'on') {
        const next = [ownCommand('collect-logs', name), ownCommand('debug', name, 'off')];
        context.say(
          `Next steps, after the problem has occurred again:\n${next.map((line) => `  - ${line}\n`).join('')}`,
        );
      }
      return watched === undefined ? result : {...result, agent: watched.agent};
    },
  };
  return operate(operation, result, flags, context);
}

/** The result before the change; without `runsInFlight` if runs cannot be detected. */
const resultOf = ({
  name,
  facts,
  target,
  state,
  prepared: {keys, plan, runs, warnings},
}: Debugged) => ({
  ...releaseHead(name, facts),

  chart: target.chart,
  chartVersion: target.version,
  debug: state,
  changed: plan.steps.length > 0,
  keys,
  ...(runs === undefined ? {} : {runsInFlight: runs.map(({kind, name: run}) => `${kind} ${run}`)}),
  steps: stepsOf(plan.steps),
  warnings: warnings.map((message) => warningOf('RESTART', message)),
});
