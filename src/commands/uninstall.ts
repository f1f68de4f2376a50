import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/base-command.ts';
import {
  CONNECTION_FLAGS,
  connectionFlags,
  releaseName,
  takeOverFlag,
  timeoutOf,
  toolPaths,
} from '../cli/connection-flags.ts';
import {durationOf, explicitFlags, refuseWith} from '../cli/flag-values.ts';
import {answersFlag, confirmFlags} from '../cli/flags.ts';
import {settingFlags, targetFlag} from '../cli/setting-flags.ts';
import {type HostUninstallResult, uninstallFromHost} from '../cli/uninstall-host.ts';
import {type UninstallResult, uninstallFromCluster} from '../cli/uninstall-release.ts';
import type {UninstallChoices} from '../operations/uninstall.ts';
import {PURGEABLE, purgeOf} from '../operations/uninstall-keeps.ts';
import {namespace, release, TARGETS, target as targetSetting} from '../settings/release.ts';

/** Only the release is required; Helm knows its chart and values. */
const SETTINGS = [namespace, release];

const ONLY_KUBERNETES = [
  'purge',
  'confirm',
  'revoke-token',
  'delete-pool',
  'cleaner-image',
  'drain',
  'drain-timeout',
  'take-over',
  'namespace',
  ...CONNECTION_FLAGS,
];

export default class Uninstall extends BaseCommand<UninstallResult | HostUninstallResult> {
  static override summary = 'Uninstall an agent and list what remains.';
  static override description =
    'Lists what is deleted and what remains. Stops the agent and waits for the runs in flight. Runs of agent-local cannot be seen, and are interrupted by default. Also deletes objects of other revisions of the release. Data, custom resource definitions, Secrets, the namespace, directories on nodes and objects without a Helm record remain unless --purge lists them. --purge=all deletes all of them. Irreversible deletions require the release name, at the prompt or with --confirm. Verifies every deletion. After install --pool, --revoke-token and --delete-pool also remove the token and the agent pool from the Scalr account. With --target docker, removes the containers of the release. With --target systemd, stops the service of the Linux packages and removes its drop-ins.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --dry-run',
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --drain-timeout 2h --yes',
    '<%= config.bin %> <%= command.id %> --purge=claims,secrets --confirm scalr-agent',
  ];
  static override flags = {
    purge: Flags.option({
      summary:
        'Classes of remaining objects to delete, separated by commas; all deletes every class.',
      helpValue: '<CLASSES>',
      options: [...PURGEABLE, 'all'] as const,
      multiple: true,
      delimiter: ',',
    })(),
    confirm: Flags.string({
      summary: 'Release name, to confirm deletions that cannot be undone.',
      helpValue: '<NAME>',
    }),
    drain: Flags.boolean({summary: 'Wait for the runs in flight.', default: true, allowNo: true}),
    'drain-timeout': Flags.string({
      summary: 'Time to wait for the runs in flight.',
      helpValue: '<DURATION>',
      default: '30m',
    }),
    'revoke-token': Flags.boolean({
      summary: 'Revoke the token that install --pool has created in the Scalr account.',
    }),
    'delete-pool': Flags.boolean({
      summary: 'Delete its agent pool in the Scalr account, if nothing else uses it.',
    }),
    'cleaner-image': Flags.string({
      summary: 'Image that deletes files in node directories; must contain find.',
      helpValue: '<IMAGE>',
    }),
    ...takeOverFlag,
    ...targetFlag,
    ...confirmFlags,
    ...answersFlag,
    ...settingFlags(SETTINGS),
    ...connectionFlags,
  };

  protected override readonly targets = TARGETS;

  override async run(): Promise<UninstallResult | HostUninstallResult> {
    const {flags, metadata} = await this.parse(Uninstall);
    await this.requireLocal(
      flags,
      {
        certain: await this.clusterChecks(['kubectl'], flags),
        // Only a release is uninstalled with helm.
        possible: [() => this.app.requireTool('helm', toolPaths(flags))],
      },
      {only: [targetSetting, ...SETTINGS]},
    );
    const drainTimeoutMs = durationOf('--drain-timeout', flags['drain-timeout']);
    const settings = await this.settingsFrom(flags, {only: SETTINGS});
    const target = await this.targetFrom(flags);
    if (target !== 'kubernetes') {
      refuseWith(`target ${target}`, ONLY_KUBERNETES, explicitFlags(flags, metadata));
      return uninstallFromHost(target, settings.get(release) as string, flags, this.context(flags));
    }
    const name = releaseName(await this.pinned(flags), settings);
    const choices: UninstallChoices = {
      purge: purgeOf(flags.purge),
      drain: flags.drain,
      drainTimeoutSeconds: drainTimeoutMs / 1000,
      timeoutSeconds: timeoutOf(flags) / 1000,

      removesToken: flags['revoke-token'] || flags['delete-pool'],
      deletesPool: flags['delete-pool'],
      ...(flags['cleaner-image'] === undefined ? {} : {cleanerImage: flags['cleaner-image']}),
    };
    const account = {
      revokesToken: flags['revoke-token'],
      deletesPool: flags['delete-pool'],
      connect: (host: string) => this.account(flags, host),
    };
    const access = await this.accessTo(name.kubeTarget, flags);
    const takesOver = flags['take-over'];
    const request = {name, choices, takesOver, account, access};
    return uninstallFromCluster(request, flags, this.context(flags));
  }
}
