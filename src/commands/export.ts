import {join} from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {HOST_TARGETS, type HostTarget} from '../charts/host/host.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {type ClusterFlags, helmFlag} from '../cli/connection-flags.ts';
import {earlierExport} from '../cli/earlier-export.ts';
import {
  additionsFrom,
  dockerfileFlags,
  type FleetFlags,
  fleetFlags,
  fleetFrom,
  refuseFleetFlags,
  refuseInputs,
} from '../cli/export-flags.ts';
import {answersFlag, confirmFlags, type SharedFlags} from '../cli/flags.ts';
import {generateConfirmed} from '../cli/generate.ts';
import {checksOfConnection} from '../cli/local-inputs.ts';
import {settingFlags} from '../cli/setting-flags.ts';
import {writeFiles} from '../cli/write-files.ts';
import {type Additions, dockerfile} from '../extensions/fleet/dockerfile.ts';
import {
  exportFleet,
  FLEET_TARGETS,
  type FleetTarget,
  isFleetTarget,
} from '../extensions/fleet/engines.ts';
import {exportHost, socketIn} from '../extensions/machine/export.ts';
import type {Export} from '../extensions/machine/files.ts';
import {usageError} from '../ground/errors.ts';
import type {SettingFinding} from '../ground/finding.ts';
import {oneOf} from '../ground/text.ts';
import {url} from '../settings/agent.ts';
import {catalog} from '../settings/catalog.ts';
import {TARGETS} from '../settings/release.ts';
import {exportStepsText} from '../ui/next-steps.ts';
import {chosenText} from '../ui/requirements.ts';
import {flagsToRepeat} from '../values/document.ts';

interface Result {
  target: string;
  files: {path: string; bytes: number}[];
  /** Commands that use the files. */
  steps: string[];
  notes: readonly string[];
  warnings: readonly SettingFinding[];
}

type SingleTarget = HostTarget | 'dockerfile';

/** The files, and what is printed about them. */
interface Exported extends Export {
  notes: readonly string[];
  warnings: readonly SettingFinding[];
}

const EXPORTS = [...HOST_TARGETS, 'dockerfile', ...FLEET_TARGETS];

export default class ExportCommand extends BaseCommand<Result> {
  static override summary = 'Write files for Argo CD, Flux, Terraform, Docker and VMs.';
  static override description =
    'Requires no cluster, and no network for known chart versions. Targets for one machine: docker (script with docker run), compose (Compose file), systemd (drop-ins for the Linux packages). Files for Git, without a token: argocd, argocd-appset, flux, terraform, helmfile. Custom image: dockerfile. Accepts the settings of "values"; settings that the target does not support are rejected. The token is written to agent.env, which only its owner can read.';
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
      summary: 'Output directory. Default: current directory.',
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
    const additions = additionsFrom(flags, target === 'dockerfile');
    const {files, steps, notes, warnings} = isFleetTarget(target)
      ? await this.#fleet(target, flags)
      : await this.#single(target as SingleTarget, flags, additions);
    const directory = flags.out ?? '';
    this.report(warnings);
    // A single file is a result like that of "values".
    if (files.length === 1 && flags.out === undefined) {
      if (!this.jsonEnabled()) this.app.stdout(files.map(({text}) => text).join(''));
    } else {
      refuseInputs(
        files.map(({path}) => join(directory, path)),
        flags,
      );
      const confirmed = {
        isDryRun: flags['dry-run'],
        isAccepted: flags.yes,
        prompter: this.prompter,
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

  async #fleet(target: FleetTarget, flags: FleetFlags & SharedFlags): Promise<Exported> {
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

  /** The files for one image or one machine. */
  async #single(
    target: SingleTarget,
    flags: {out?: string | undefined} & SharedFlags & ClusterFlags,
    additions: Additions,
  ): Promise<Exported> {
    refuseFleetFlags(flags);
    const isDockerfile = target === 'dockerfile';
    const demands = isDockerfile ? {optional: [url]} : {};
    await this.requireLocal(flags, {certain: checksOfConnection([], flags, this.app)}, demands);
    const settings = await this.settingsFrom(flags, demands);
    if (!isDockerfile)
      return exportHost(settings, target, {
        earlier: await earlierExport(flags.out ?? '', this.app.files),
        ...socketIn(this.app.env),
      });
    const generated = await generateConfirmed(settings, undefined, {app: this.app, flags});
    if (generated.recommendation)
      this.say(
        chosenText(generated.recommendation, flagsToRepeat(generated.settings), this.screen),
      );
    return {...dockerfile(generated, additions), warnings: []};
  }
}
