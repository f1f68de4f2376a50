import * as Flags from '@oclif/core/flags';
import {ACCOUNT_SETTINGS, accountFlags} from '../cli/account.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {
  type ClusterFlags,
  CONNECTION_FLAGS,
  connectionFlags,
  releaseName,
  timeoutOf,
} from '../cli/connection-flags.ts';
import {explicitFlags, refuseWith} from '../cli/flag-values.ts';
import {answersFlag, type ConfirmFlags, confirmFlags, type SharedFlags} from '../cli/flags.ts';
import type {MachineTarget} from '../cli/host-agents.ts';
import {type HostRotateResult, readMachineTokens, rotateOnHost} from '../cli/rotate-host.ts';
import {type RotateResult, readReleaseTokens, rotateInCluster} from '../cli/rotate-release.ts';
import type {WantedAccount} from '../cli/rotation-account.ts';
import {settingFlags, targetFlag} from '../cli/setting-flags.ts';
import {noCredential, storedTokens} from '../extensions/account/credentials.ts';
import {failed} from '../ground/errors.ts';
import type {Secret} from '../ground/secret.ts';
import {token, tokenFile, url} from '../settings/agent.ts';
import {spell} from '../settings/define.ts';
import {namespace, release, TARGETS, target as targetSetting} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';

const SETTINGS = [namespace, release, token, tokenFile];
const {url: _, ...reachFlags} = accountFlags;

export default class RotateToken extends BaseCommand<RotateResult | HostRotateResult> {
  static override summary = 'Replace the token of an installed agent.';
  static override description =
    'Creates a token in the agent pool, writes it to the Secret and restarts the agent. When Scalr reports every agent of the release with the new token, revokes the old one. Safe to repeat: continues an interrupted rotation. The old token stays valid while other agents in the pool use it, unless --confirm is given. With --token-file, uses a token that you have created. With --target docker, replaces the containers of an install; with --target systemd, restarts the service with the token in /etc/scalr-agent/agent.env. Shows the plan and asks for confirmation; --yes confirms.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent',
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --dry-run',
    '<%= config.bin %> <%= command.id %> --pool eks-prod --yes',
    '<%= config.bin %> <%= command.id %> --token-file new-token.txt --yes',
    '<%= config.bin %> <%= command.id %> --target docker --pool edge --yes',
  ];
  static override flags = {
    pool: Flags.string({
      summary: 'Agent pool, by name or ID. Default: the one that install --pool has recorded.',
      helpValue: '<NAME>',
    }),
    confirm: Flags.string({
      summary: 'Release name, to revoke the old token although the pool has other agents.',
      helpValue: '<NAME>',
    }),
    ...targetFlag,
    ...confirmFlags,
    ...answersFlag,
    ...settingFlags(SETTINGS),
    ...reachFlags,
    ...connectionFlags,
  };

  protected override readonly targets = TARGETS;

  override async run(): Promise<RotateResult | HostRotateResult> {
    const {flags, metadata} = await this.parse(RotateToken);
    await this.requireLocal(
      flags,
      {
        certain: await this.clusterChecks(['kubectl'], flags),
        possible: [() => this.#requireNewToken(flags)],
      },
      {only: [targetSetting, ...SETTINGS, ...ACCOUNT_SETTINGS], optional: [url]},
    );
    const settings = await this.settingsFrom(flags, {only: SETTINGS});
    const target = await this.targetFrom(flags);
    if (target === 'kubernetes') return this.#rotateInCluster(settings, flags);
    const explicit = explicitFlags(flags, metadata);
    refuseWith(`target ${target}`, ['namespace', ...CONNECTION_FLAGS], explicit);
    return this.#rotateOnHost(target, settings, flags);
  }

  async #rotateInCluster(settings: Settings, flags: RotateFlags): Promise<RotateResult> {
    const name = releaseName(await this.pinned(flags), settings);
    const access = await this.accessTo(name.kubeTarget, flags);
    const wanted = {...this.#account(flags), timeoutMs: timeoutOf(flags)};
    const tokens = await this.untilInterrupted(() =>
      readReleaseTokens(name, givenToken(settings), access, wanted),
    );
    return rotateInCluster(tokens, flags, this.context(flags));
  }

  async #rotateOnHost(
    target: MachineTarget,
    settings: Settings,
    flags: RotateFlags,
  ): Promise<HostRotateResult> {
    const context = this.context(flags);
    const agents = {target, release: settings.get(release) as string};
    const machine = await this.untilInterrupted(() =>
      readMachineTokens(agents, givenToken(settings), this.#account(flags), context),
    );
    return rotateOnHost(machine, flags, context);
  }

  #account(flags: RotateFlags): WantedAccount {
    return {pool: flags.pool, connect: (host) => this.account(flags, host)};
  }

  /** For `requireLocal`: the new token, or an account to create it. A rotation that was interrupted continues without them. */
  async #requireNewToken(flags: SharedFlags): Promise<void> {
    const settings = await this.settingsFrom(flags, {only: SETTINGS});
    if (givenToken(settings) !== undefined || (await storedTokens(this.app)).length > 0) return;
    const {suggestions} = noCredential(undefined);
    throw failed(
      'NO_CREDENTIAL',
      'No new token was given, and no Scalr API token was found to create one.',
      [
        ...suggestions,
        `Or create a token in Scalr, and set ${spell(token)} or ${spell(tokenFile)}`,
      ],
    );
  }
}

type RotateFlags = SharedFlags & ConfirmFlags & ClusterFlags & {pool?: string | undefined};

const givenToken = (settings: Settings): Secret | undefined =>
  settings.get(token) ?? settings.get(tokenFile);
