import * as Flags from '@oclif/core/flags';
import {type EndpointScope, endpointsOf} from '../charts/endpoints.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {type ClusterFlags, helmFlag} from '../cli/connection-flags.ts';
import {durationOf, probeUrls, refuseFormat, refuseWith} from '../cli/flag-values.ts';
import {
  answersFlag,
  confirmFlags,
  formatFlag,
  outFlag,
  repeated,
  type SharedFlags,
} from '../cli/flags.ts';
import {generateConfirmed, onlyRead} from '../cli/generate.ts';
import {checksOfConnection} from '../cli/local-inputs.ts';
import {settingFlags, targetFlag} from '../cli/setting-flags.ts';
import {allowListText} from '../extensions/fleet/allow-list.ts';
import {networkText} from '../extensions/machine/preflight/network-text.ts';
import {type ListedEndpoint, tryEndpoints} from '../extensions/machine/preflight/try-endpoints.ts';
import {ExitCode} from '../ground/errors.ts';
import type {SettingFinding} from '../ground/finding.ts';
import {url} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import {TARGETS, type TargetName} from '../settings/release.ts';
import {chosenText} from '../ui/requirements.ts';
import {flagsToRepeat} from '../values/document.ts';
import {effectiveGet, effectiveValues} from '../values/reading/read-values.ts';

interface Result {
  target: TargetName;
  chart?: string;
  chartVersion?: string;
  hosts: ListedEndpoint[];
  warnings: readonly SettingFinding[];
  file?: string;
}

const ALLOW_LIST = 'allow-list';

export default class Network extends BaseCommand<Result> {
  static override summary = 'List every host and port that an agent connects to.';
  static override description =
    'Requires no cluster, and, for known chart versions, no helm and without --probe no network. Accepts every setting of "values"; none is required. --probe connects to each host from this machine, through the proxy and with the CA of the settings. It sends neither a request nor a token, and exits with 3 when a required host is not reachable. From the cluster, use "preflight --probe".';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --url https://acme.scalr.io --probe',
    '<%= config.bin %> <%= command.id %> --target docker --format allow-list',
  ];
  static override flags = {
    ...formatFlag(['text', 'json', ALLOW_LIST]),
    probe: Flags.boolean({summary: 'Connect to each host from this machine.'}),
    'probe-url': Flags.string({
      summary:
        'Additional URL that the agent or its runs connect to, for example a VCS host. Can be repeated.',
      helpValue: '<URL>',
      ...repeated,
    }),
    timeout: Flags.string({
      summary: 'Time limit for --probe. Default: 30s.',
      helpValue: '<DURATION>',
      dependsOn: ['probe'],
    }),
    ...outFlag,
    ...confirmFlags,
    ...targetFlag,
    ...answersFlag,
    ...settingFlags(catalog, {chart: 'Chart whose hosts are listed. Default: recommended.'}),
    ...helmFlag,
  };

  protected override readonly targets = TARGETS;

  override async run(): Promise<Result> {
    const {flags} = await this.parse(Network);
    const {probe, format = 'text'} = flags;
    refuseFormat(flags.format, this.jsonEnabled());
    if (format === ALLOW_LIST) refuseWith(`format ${format}`, ['probe'], flags);
    const certain = [
      () => probeUrls(flags['probe-url']),
      ...checksOfConnection([], flags, this.app),
    ];
    await this.requireLocal(flags, {certain}, {optional: [url]});
    const timeoutMs = durationOf('--timeout', flags.timeout ?? '30s');
    const target = await this.targetFrom(flags);
    const {scope, warnings} = await this.#scope(flags, target);
    this.report(warnings);
    const endpoints = endpointsOf({...scope, urls: probeUrls(flags['probe-url'])});
    const deps = {connections: this.app.connections, signal: AbortSignal.timeout(timeoutMs)};
    const hosts: ListedEndpoint[] = probe
      ? await this.untilInterrupted(() => tryEndpoints(endpoints, scope, deps))
      : endpoints;
    if (hosts.some((each) => each.required && each.probe?.status === 'unreachable'))
      this.exitCode = ExitCode.findings;
    const text =
      format === ALLOW_LIST ? allowListText(endpoints) : networkText(hosts, this.resultScreen);
    const file = await this.writeOut(text, flags, {print: () => this.show(text)});
    const {chart} = scope;
    return {
      target,
      ...(chart ? {chart: chart.chart, chartVersion: chart.version} : {}),
      hosts,
      warnings,
      ...file,
    };
  }

  async #scope(
    flags: SharedFlags & ClusterFlags,
    target: TargetName,
  ): Promise<{scope: EndpointScope; warnings: readonly SettingFinding[]}> {
    const settings = await this.settingsFrom(flags, {optional: [url]});
    if (target !== 'kubernetes') return {scope: {target, get: settings.get}, warnings: []};
    const generated = await generateConfirmed(onlyRead(settings), undefined, {
      app: this.app,
      flags,
    });
    if (generated.recommendation)
      this.say(
        chosenText(generated.recommendation, flagsToRepeat(generated.settings), this.screen),
      );
    const {effective, values, target: chart} = generated;
    const get = effectiveGet(generated.settings, effective);
    return {
      scope: {target, get, chart: {...chart, values: effectiveValues(values, chart)}},
      warnings: generated.warnings,
    };
  }
}
