import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {scalrChart} from '../charts/releases/chart-name.ts';
import {notAnAgentRelease} from '../checks/status/read-status.ts';
import {notFound} from '../checks/status/release-causes.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {connectionFlags, releaseName, takeOverFlag, timeoutOf} from '../cli/connection-flags.ts';
import {type DebugResult, debugInCluster} from '../cli/debug-release.ts';
import {answersFlag, confirmFlags} from '../cli/flags.ts';
import {checksOfConnection} from '../cli/local-inputs.ts';
import {settingFlags} from '../cli/setting-flags.ts';
import {readFacts} from '../cluster/release/read-release.ts';
import {usageError} from '../ground/errors.ts';
import {prepareDebug} from '../operations/debug.ts';
import {chartSource, namespace, release} from '../settings/release.ts';

const SETTINGS = [namespace, release, chartSource];
const STATES = ['on', 'off'] as const;

export default class Debug extends BaseCommand<DebugResult> {
  static override summary = 'Enable or disable debug logs of an installed agent.';
  static override description =
    'Changes only the debug key in the values of the release, and upgrades the release with the same chart version. All other settings remain unchanged. Shows the plan and asks for confirmation; --yes confirms. The pods restart, so the plan lists the runs in flight.';
  static override usage = '<%= command.id %> on|off [flags]';
  static override examples = [
    '<%= config.bin %> <%= command.id %> on --namespace scalr-agent',
    '<%= config.bin %> <%= command.id %> off --namespace scalr-agent --yes',
    '<%= config.bin %> <%= command.id %> on --namespace scalr-agent --dry-run',
  ];
  static override args = {
    state: Args.string({
      description: 'Desired state of debug logs.',
      options: [...STATES],
      ignoreStdin: true,
    }),
  };
  static override flags = {
    'no-wait': Flags.boolean({summary: 'Do not wait for the agent to become ready.'}),
    ...takeOverFlag,
    ...confirmFlags,
    ...answersFlag,
    ...settingFlags(SETTINGS),
    ...connectionFlags,
  };

  override async run(): Promise<DebugResult> {
    const {args, flags} = await this.parse(Debug);
    const state = STATES.find((each) => each === args.state);
    if (state === undefined)
      throw usageError('Missing argument: choose on or off.', [
        'scalr-agent debug on',
        'scalr-agent debug off',
      ]);
    const tools = checksOfConnection(['helm', 'kubectl'], flags, this.app);
    const certain = [() => this.requireChartSource(flags), ...tools];
    await this.requireLocal(flags, {certain}, {only: SETTINGS});
    const timeoutMs = timeoutOf(flags);
    const settings = await this.settingsFrom(flags, {only: SETTINGS});
    const name = releaseName(await this.pinned(flags), settings);
    const access = await this.accessTo(name.kubeTarget, flags);

    const {facts, target, prepared} = await this.untilInterrupted(async () => {
      const signal = AbortSignal.timeout(timeoutMs);
      const facts = await readFacts(name, [], access, signal);
      const {release: installed} = facts;
      if (installed === undefined || installed.status === 'uninstalled')
        throw await notFound(name, installed, access, signal);
      const target = scalrChart(installed.chart);
      if (target === undefined) throw notAnAgentRelease(name, installed.chart);
      const options = {
        target,
        isOn: state === 'on',
        chartSource: settings.get(chartSource),
        takesOver: flags['take-over'] ?? false,
        timeoutMs,
        now: this.app.now(),
      };
      return {
        facts,
        target,
        prepared: await prepareDebug(
          name,
          {...facts, release: installed},
          {...options, signal},
          access,
        ),
      };
    });
    return debugInCluster(
      {name, facts, target, prepared, state, access},
      flags,
      this.context(flags),
    );
  }
}
