import * as Flags from '@oclif/core/flags';
import {scalrChart} from '../charts/define.ts';
import {notAnAgentRelease} from '../checks/status/read-status.ts';
import {notFound} from '../checks/status/release-causes.ts';
import {ACCOUNT_SETTINGS, accountFlags, addressIn} from '../cli/account.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {
  answersFlag,
  type ClusterFlags,
  CONNECTION_FLAGS,
  type ConfirmFlags,
  confirmFlags,
  connectionFlags,
  explicitFlags,
  refuseWith,
  releaseName,
  type SharedFlags,
  settingFlags,
  targetFlag,
  timeoutOf,
} from '../cli/flags.ts';
import {
  type HostRotateResult,
  isTokenIn,
  readHostTokens,
  rotateOnHost,
} from '../cli/rotate-host.ts';
import {
  needsToken,
  type RotateResult,
  readAccount,
  rotateInCluster,
} from '../cli/rotate-release.ts';
import {accountPoolIn} from '../cluster/release/account-token.ts';
import {newestRevision} from '../cluster/release/read-release.ts';
import {withRoles} from '../cluster/release/roles-to-read.ts';
import type {ScalrClient} from '../extensions/account/client.ts';
import {noCredential, storedTokens} from '../extensions/account/credentials.ts';
import {agentsOfRelease, readTokenHolder} from '../extensions/account/rotate-token.ts';
import {failed} from '../ground/errors.ts';
import {hasContent} from '../operations/install-secrets.ts';
import {token, tokenFile, url} from '../settings/agent.ts';
import {spell} from '../settings/define.ts';
import {namespace, release, TARGETS, target as targetSetting} from '../settings/release.ts';
import type {Settings} from '../settings/settings.ts';

const SETTINGS = [namespace, release, token, tokenFile];
const {url: _, ...reachFlags} = accountFlags;

export default class RotateToken extends BaseCommand<RotateResult | HostRotateResult> {
  static override summary = 'Replace the token of an installed agent.';
  static override description =
    'Creates a token in the agent pool, writes it to the Secret and restarts the agent. When Scalr reports every agent of the release with the new token, revokes the old one. Safe to repeat: continues an interrupted rotation. Agents of others in the same pool keep the old token valid, unless --confirm is given. With --token-file, uses a token that you have created. With --target docker, replaces the containers of an install; with --target systemd, restarts the service with the token in /etc/scalr-agent/agent.env. Shows the plan and asks for confirmation; --yes confirms.';
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
    const given = settings.get(token) ?? settings.get(tokenFile);
    const target = await this.targetFrom(flags);
    if (target !== 'kubernetes') {
      refuseWith(
        `target ${target}`,
        ['namespace', ...CONNECTION_FLAGS],
        explicitFlags(flags, metadata),
      );
      return this.#rotateOnHost(target, settings, flags);
    }
    const name = releaseName(await this.pinned(flags), settings);
    const access = await this.accessTo(name.kubeTarget, flags);
    const {holder, users, account} = await this.untilInterrupted(async () => {
      const signal = AbortSignal.timeout(timeoutOf(flags));
      const found = await newestRevision(name, access, signal).catch(
        withRoles(name, access.kubernetes),
      );
      if (found === undefined || found.status === 'uninstalled')
        throw await notFound(name, found, access, signal);
      if (scalrChart(found.chart) === undefined) throw notAnAgentRelease(name, found.chart);
      const holder = await readTokenHolder(name, found, access, signal);
      const users = await agentsOfRelease(holder, access, timeoutOf(flags));
      const isNeeded = needsToken(
        users,
        given !== undefined,
        given !== undefined && !hasContent(holder.secret, holder.key, given),
      );
      const record = `Secret ${holder.secret.metadata.name}`;
      const where = {
        users,
        recorded: accountPoolIn(holder.secret),
        address: addressIn(found.values, found.chart),
        record,
      };
      const account = await readAccount(where, isNeeded, flags.pool, this.#connect(flags));
      return {holder, users, account};
    });
    return rotateInCluster({holder, given, users, account, access}, flags, this.context(flags));
  }

  #connect =
    (flags: SharedFlags) =>
    (host: string | undefined): Promise<ScalrClient> =>
      this.account(flags, host);

  async #rotateOnHost(
    target: 'docker' | 'systemd',
    settings: Settings,
    flags: SharedFlags & ConfirmFlags & ClusterFlags & {pool?: string | undefined},
  ): Promise<HostRotateResult> {
    const given = settings.get(token) ?? settings.get(tokenFile);
    const context = this.context(flags);
    const {tokens, next, account} = await this.untilInterrupted(async () => {
      const tokens = await readHostTokens(target, settings.get(release) as string, context);
      const next = given === undefined || isTokenIn(tokens, given) ? undefined : given;
      const isNeeded = needsToken(tokens.users, given !== undefined, next !== undefined);
      const where = {...tokens, record: tokens.path};
      const account = await readAccount(where, isNeeded, flags.pool, this.#connect(flags));
      return {tokens, next, account};
    });
    return rotateOnHost(tokens, {given: next, account}, flags, context);
  }

  /** For `requireLocal`: the new token, or an account to create it. A rotation that was interrupted continues without them. */
  async #requireNewToken(flags: SharedFlags): Promise<void> {
    const settings = await this.settingsFrom(flags, {only: SETTINGS});
    const isGiven = [token, tokenFile].some((setting) => settings.get(setting) !== undefined);
    if (isGiven || (await storedTokens(this.app)).length > 0) return;
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
