import {join} from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {HOST_TARGETS, type HostTarget} from '../charts/host/host.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {
  additionsFrom,
  dockerfileFlags,
  type FleetFlags,
  fleetFlags,
  fleetFrom,
  refuseFleetFlags,
} from '../cli/export-flags.ts';
import {
  answersFlag,
  type ClusterFlags,
  confirmFlags,
  helmFlag,
  type SharedFlags,
  settingFlags,
} from '../cli/flags.ts';
import {generateFor} from '../cli/generate.ts';
import {checksOfConnection} from '../cli/local-inputs.ts';
import {earlierExport, writeFiles} from '../cli/user-files.ts';
import {dockerfile} from '../extensions/fleet/dockerfile.ts';
import {
  exportFleet,
  FLEET_TARGETS,
  type FleetTarget,
  isFleetTarget,
} from '../extensions/fleet/engines.ts';
import {exportHost, socketIn} from '../extensions/fleet/export.ts';
import {prepull, VOLUME_SETTINGS, volume} from '../extensions/fleet/manifests.ts';
import {usageError, type Warning} from '../ground/errors.ts';
import {oneOf} from '../ground/text.ts';
import {url} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import type {Setting} from '../settings/define.ts';
import {TARGETS} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';
import {exportStepsText} from '../ui/plan.ts';
import {choiceText} from '../ui/requirements.ts';
import type {Generated} from '../values/generate.ts';

interface Result {
  target: string;
  files: {path: string; bytes: number}[];
  /** Commands that use the files. */
  steps: string[];
  notes: string[];
  warnings: readonly Warning[];
}

const EXPORTS = [...HOST_TARGETS, 'dockerfile', 'volume', 'prepull', ...FLEET_TARGETS];

export default class ExportCommand extends BaseCommand<Result> {
  static override summary = 'Write files for fleets, Docker, VMs, custom images and volumes.';
  static override description =
    'Requires no cluster and no network. Targets for one machine: docker (script with docker run), compose (Compose file), systemd (drop-ins for the Linux packages). Files for Git, without a token: argocd, argocd-appset, flux, terraform, helmfile. Other targets: dockerfile (custom image), volume (PVC on EFS, Filestore or Azure Files), prepull (DaemonSet that pulls the runner images). Accepts the settings of "values"; settings that the target does not support are rejected. The token is written to agent.env, which only its owner can read.';
  static override usage = `<%= command.id %> ${EXPORTS.join(' | ')} [flags]`;
  static override examples = [
    '<%= config.bin %> <%= command.id %> compose --url https://acme.scalr.io --out agent',
    '<%= config.bin %> <%= command.id %> flux --answers answers.yaml --overlay clusters --out git',
    '<%= config.bin %> <%= command.id %> dockerfile --chart agent-job --ca-file ca.pem',
  ];
  static override args = {
    target: Args.string({description: 'What to write.', options: EXPORTS, ignoreStdin: true}),
  };
  static override flags = {
    out: Flags.string({
      char: 'o',
      summary: 'Output directory (default: current directory).',
      helpValue: '<DIRECTORY>',
    }),
    ...dockerfileFlags,
    ...fleetFlags,
    ...confirmFlags,
    ...answersFlag,
    ...settingFlags(catalog),
    ...helmFlag,
  };

  // The argument takes precedence over the target of an answers file.
  protected override readonly targets = TARGETS;

  override async run(): Promise<Result> {
    const {args, flags} = await this.parse(ExportCommand);
    const {target} = args;
    if (target === undefined)
      throw usageError('Missing argument: the target of the export.', [
        `Use ${oneOf(EXPORTS)}`,
        'Describe the targets: scalr-agent export --help',
      ]);
    const isDockerfile = target === 'dockerfile';
    const additions = additionsFrom(flags, isDockerfile);
    if (!isFleetTarget(target)) refuseFleetFlags(flags);
    if (!isFleetTarget(target))
      await this.requireLocal(
        flags,
        {certain: checksOfConnection([], flags, this.app)},
        settingsOf(target),
      );
    const directory = flags.out ?? '';
    const fromChart = isDockerfile
      ? (generated: Generated) => dockerfile(generated, additions)
      : target === 'prepull'
        ? prepull
        : undefined;
    const {files, steps, notes, warnings} = isFleetTarget(target)
      ? await this.#fleet(target, flags)
      : fromChart !== undefined
        ? await this.#fromChart(await this.settingsFrom(flags, {optional: [url]}), flags, fromChart)
        : target === 'volume'
          ? {...volume(await this.settingsFrom(flags, {only: VOLUME_SETTINGS})), warnings: []}
          : exportHost(await this.settingsFrom(flags), target as HostTarget, {
              earlier: await earlierExport(directory, this.app.files),
              ...socketIn(this.app.env),
            });
    this.report(warnings);
    // A single file is a result like that of "values".
    if (files.length === 1 && flags.out === undefined) {
      if (!this.jsonEnabled()) this.app.stdout(files.map(({text}) => text).join(''));
    } else {
      const confirmed = {
        isDryRun: flags['dry-run'],
        isAccepted: flags.yes,
        confirm: this.prompter?.confirm,
      };
      const done = await writeFiles(files, this.app.files, {directory, ...confirmed});
      this.say(`${done.join('\n')}\n`);
    }
    for (const note of notes) this.say(`${note}\n`);
    if (!flags['dry-run']) this.say(exportStepsText(steps, directory, warnings));
    return {
      target,

      steps,
      notes,
      warnings,
      files: files.map(({path, text}) => ({
        path: join(directory, path),
        bytes: Buffer.byteLength(text),
      })),
    };
  }

  async #fleet(
    target: FleetTarget,
    flags: FleetFlags & SharedFlags,
  ): Promise<ReturnType<typeof exportFleet> & {warnings: Warning[]}> {
    const sources = await this.sourcesFrom(flags);
    const fleet = await fleetFrom(target, flags, {
      sources,
      app: this.app,
      settings: () => this.settingsFrom(flags),
    });
    const all = fleet.clusters.flatMap(({generated}) => generated.warnings);
    return {
      ...exportFleet(fleet, target),
      warnings: [...new Map(all.map((each) => [each.message, each])).values()],
    };
  }

  async #fromChart<T>(
    settings: Settings,
    flags: ClusterFlags,
    write: (generated: Generated) => T,
  ): Promise<T & {warnings: Warning[]}> {
    const generated = await generateFor(settings, undefined, {app: this.app, flags});
    if (generated.recommendation) this.say(choiceText(generated.recommendation, this.screen));
    return {...write(generated), warnings: []};
  }
}

/** The settings that an export for one cluster or machine requires. */
function settingsOf(target: string): {only?: readonly Setting[]; optional?: readonly Setting[]} {
  if (target === 'volume') return {only: VOLUME_SETTINGS};
  return target === 'dockerfile' || target === 'prepull' ? {optional: [url]} : {};
}
