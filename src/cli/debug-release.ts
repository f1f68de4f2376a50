import type {Target} from '../charts/define.ts';
import {ownCommand, type ReleaseName} from '../ground/command-line.ts';
import type {Warning} from '../ground/errors.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import type {PreparedDebug} from '../operations/debug.ts';
import {dryRun, installRelease} from '../operations/install-release.ts';
import {requirePermissions} from '../operations/step.ts';
import type {InstallFacts} from '../release/read-release.ts';
import {planText} from '../ui/plan.ts';
import type {ConfirmFlags} from './flags.ts';
import {type CommandContext, type Operation, operate, type ReleaseHead, releaseHead, stepsOf} from './operate.ts';

export interface DebugResult extends ReleaseHead {
  chart: string;
  chartVersion: string;
  debug: 'on' | 'off';
  /** False if debug logs were already in this state. */
  changed: boolean;
  /** Keys of values.yaml that control debug logs. */
  keys: readonly string[];
  /** Undefined if runs cannot be detected. */
  runsInFlight?: string[];
  steps: {id: string; title: string}[];
  warnings: readonly Warning[];
  /** State according to the agent log; absent if the command did not wait. */
  agent?: 'registered' | 'unknown';
}

interface Debugged {
  name: ReleaseName;
  facts: InstallFacts;
  target: Target;
  prepared: PreparedDebug;
  state: DebugResult['debug'];
  access: ClusterAccess;
}

/** Shows, confirms and runs a change of the debug logs. @throws ExpectedError */
export async function debugInCluster(
  {name, facts, target, prepared, state, access}: Debugged,
  flags: ConfirmFlags & {'no-wait'?: boolean},
  context: CommandContext,
): Promise<DebugResult> {
  const {plan, manifest} = prepared;
  const result: DebugResult = {
    ...releaseHead(name, facts),
    chart: target.chart,
    chartVersion: target.version,
    debug: state,
    changed: plan.steps.length > 0,
    ...resultOf(prepared),
  };
  if (!result.changed) {
    context.say(`Debug logs of release ${name.release} are already ${state}. Nothing was changed.\n`);
    return result;
  }
  const operation: Operation<DebugResult> = {
    title: `Switching debug logs of release ${name.release} ${state}`,
    steps: plan.steps,
    text: `${planText(plan, name, facts, context.screen)}\n`,
    warnings: result.warnings,
    check: async (isDryRun) => {
      await requirePermissions(plan.steps, name, {...access, operation: 'debug'});
      return isDryRun ? dryRun(plan, manifest, name, facts, access) : '';
    },
    run: async (deps) => {
      const watched = await installRelease(plan, name, facts, {waits: !flags['no-wait']}, {...access, ...deps});
      deps.done(`Debug logs of release ${name.release} are ${state}`);
      if (state === 'on') {
        const next = [ownCommand('collect-logs', name), ownCommand('debug', name, 'off')];
        context.say(`Next steps, after the problem has occurred again:\n${next.map((line) => `  - ${line}\n`).join('')}`);
      }
      return watched === undefined ? result : {...result, agent: watched.agent};
    },
  };
  return operate(operation, result, flags, context);
}

const resultOf = ({keys, plan, runs, warnings}: PreparedDebug): Pick<DebugResult, 'keys' | 'runsInFlight' | 'steps' | 'warnings'> => ({
  keys,
  ...(runs === undefined ? {} : {runsInFlight: runs.map(({kind, name}) => `${kind} ${name}`)}),
  steps: stepsOf(plan.steps),
  warnings: warnings.map((message) => ({code: 'RESTART', message})),
});
