import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {scalrChart} from '../charts/define.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {answersFlag, confirmFlags, connectionFlags, releaseName, settingFlags, timeoutOf} from '../cli/flags.ts';
import {type Operation, operate, stepsOf} from '../cli/operate.ts';
import {ownCommand} from '../ground/command-line.ts';
import {ExitCode, ExpectedError, type Warning} from '../ground/errors.ts';
import {type PreparedDebug, prepareDebug} from '../operations/debug.ts';
import {dryRun} from '../operations/dry-run.ts';
import {installRelease} from '../operations/install-release.ts';
import {requirePermissions} from '../operations/step-permissions.ts';
import {readFacts} from '../release/read-release.ts';
import {chartSource, namespace, release} from '../settings/release.ts';
import {ofAnother} from '../status/read-status.ts';
import {notFound} from '../status/release-causes.ts';
import {planText, progressReporter} from '../ui/plan.ts';

interface Result {
  release: string;
  namespace: string;
  context: string;
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

const SETTINGS = [namespace, release, chartSource];
const STATES = ['on', 'off'] as const;

export default class Debug extends BaseCommand<Result> {
  static override summary = 'Enable or disable debug logs of an installed agent.';
  static override description =
    'Reads the values of the release, changes only the key for debug logs, and upgrades the release with the same chart version. All other settings stay unchanged. Shows the plan and asks for confirmation; --yes confirms. The pods restart, so the plan lists the runs in flight.';
  static override usage = '<%= command.id %> on|off [flags]';
  static override examples = [
    '<%= config.bin %> <%= command.id %> on --namespace scalr-agent',
    '<%= config.bin %> <%= command.id %> off --namespace scalr-agent --yes',
    '<%= config.bin %> <%= command.id %> on --namespace scalr-agent --dry-run',
  ];
  static override args = {
    state: Args.string({description: 'Desired state of debug logs.', options: [...STATES], ignoreStdin: true}),
  };
  static override flags = {
    'no-wait': Flags.boolean({summary: 'Do not wait for the agent to become ready.'}),
    'take-over': Flags.boolean({
      summary: 'Continue while a Helm operation is pending. By default, a pending operation counts as aborted after --timeout.',
    }),
    ...confirmFlags,
    ...answersFlag,
    ...settingFlags(SETTINGS),
    ...connectionFlags,
  };

  override async run(): Promise<Result> {
    const {args, flags} = await this.parse(Debug);
    const state = stateOf(args.state);
    const timeoutMs = timeoutOf(flags);
    const settings = await this.settingsFrom(flags, {only: SETTINGS});
    const name = releaseName(flags, settings);
    const access = await this.accessTo(name.place, flags);

    const {facts, target, prepared} = await this.untilInterrupted(async () => {
      const signal = AbortSignal.timeout(timeoutMs);
      const facts = await readFacts(name, [], access, signal);
      const {release: installed} = facts;
      if (installed === undefined || installed.status === 'uninstalled') throw await notFound(name, installed, access, signal);
      const target = scalrChart(installed.chart);
      if (target === undefined) throw ofAnother(name, installed.chart);
      const options = {
        target,
        isOn: state === 'on',
        chartSource: settings.get(chartSource),
        takesOver: flags['take-over'] ?? false,
        timeoutMs,
        now: this.app.now(),
      };
      return {facts, target, prepared: await prepareDebug(name, {...facts, release: installed}, options, access, signal)};
    });
    const {plan, manifest} = prepared;
    const result: Result = {
      release: name.release,
      namespace: name.place.namespace,
      context: facts.context.name,
      chart: target.chart,
      chartVersion: target.version,
      debug: state,
      changed: plan.steps.length > 0,
      ...resultOf(prepared),
    };
    if (!result.changed) {
      this.say(`Debug logs of release ${name.release} are already ${state}. Nothing was changed.\n`);
      return result;
    }
    const operation: Operation<Result> = {
      steps: plan.steps,
      text: `${planText(plan, name, facts, this.screen)}\n`,
      warnings: result.warnings,
      check: async (isDryRun) => {
        await requirePermissions(plan.steps, name, access);
        return isDryRun ? dryRun(plan, manifest, name, facts, access) : '';
      },
      run: async (deps) => {
        const onProgress = progressReporter((line) => this.say(line), this.screen);
        const watched = await installRelease(plan, name, facts, {waits: !flags['no-wait']}, {...access, ...deps, onProgress});
        this.say(`Debug logs of release ${name.release} are ${state}.\n`);
        if (state === 'on') {
          const next = [ownCommand('collect-logs', name), ownCommand('debug', name, 'off')];
          this.say(`Next steps, after the problem has occurred again:\n${next.map((line) => `  - ${line}\n`).join('')}`);
        }
        return watched === undefined ? result : {...result, agent: watched.agent};
      },
    };
    return operate(operation, result, flags, this.context(flags));
  }
}

const resultOf = ({keys, plan, runs, warnings}: PreparedDebug): Pick<Result, 'keys' | 'runsInFlight' | 'steps' | 'warnings'> => ({
  keys,
  ...(runs === undefined ? {} : {runsInFlight: runs.map(({kind, name}) => `${kind} ${name}`)}),
  steps: stepsOf(plan.steps),
  warnings: warnings.map((message) => ({code: 'RESTART', message})),
});

/** @throws ExpectedError if the value is neither on nor off */
function stateOf(state: string | undefined): Result['debug'] {
  const found = STATES.find((each) => each === state);
  if (found !== undefined) return found;
  throw new ExpectedError('Missing argument: on or off.', {
    code: 'USAGE',
    exit: ExitCode.usage,
    suggestions: STATES.map((each) => `scalr-agent debug ${each}`),
  });
}
