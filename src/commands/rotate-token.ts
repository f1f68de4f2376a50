import * as Flags from '@oclif/core/flags';
import {scalrChart} from '../charts/define.ts';
import {accountFlags} from '../cli/account.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {
  answersFlag,
  type ClusterFlags,
  confirmFlags,
  connectionFlags,
  releaseName,
  type SharedFlags,
  settingFlags,
  timeoutOf,
} from '../cli/flags.ts';
import {type RotateResult, rotateInCluster} from '../cli/rotate-release.ts';
import {ExpectedError, failed} from '../ground/errors.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import {
  type AccountRotation,
  hasToken,
  isUnfinished,
  readAccountRotation,
  readTokenHolder,
  type TokenHolder,
} from '../operations/rotate-token.ts';
import {accountPoolIn} from '../release/namespace.ts';
import {newestRevision} from '../release/read-release.ts';
import {token, tokenFile, url} from '../settings/agent.ts';
import {namespace, release} from '../settings/release.ts';
import {ofAnother} from '../status/read-status.ts';
import {notFound} from '../status/release-causes.ts';
import {readValues} from '../values/read-values.ts';

const SETTINGS = [namespace, release, token, tokenFile];
const {url: _, ...reachFlags} = accountFlags;

export default class RotateToken extends BaseCommand<RotateResult> {
  static override summary = 'Replace the token of an installed agent.';
  static override description =
    'Creates a token in the agent pool, writes it to the Secret and restarts the agent. When Scalr reports every agent of the release with the new token, revokes the old one. Safe to repeat: continues an interrupted rotation. Agents of others in the same pool keep the old token valid, unless --confirm is given. With --token-file, uses a token that you have created. Shows the plan and asks for confirmation; --yes confirms.';
  static override examples = [
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent',
    '<%= config.bin %> <%= command.id %> --namespace scalr-agent --dry-run',
    '<%= config.bin %> <%= command.id %> --pool eks-prod --yes',
    '<%= config.bin %> <%= command.id %> --token-file new-token.txt --yes',
  ];
  static override flags = {
    pool: Flags.string({summary: 'Agent pool, by name or ID. Default: the one that install --pool has recorded.', helpValue: '<NAME>'}),
    confirm: Flags.string({summary: 'Release name, to revoke the old token although the pool has other agents.', helpValue: '<NAME>'}),
    ...confirmFlags,
    ...answersFlag,
    ...settingFlags(SETTINGS),
    ...reachFlags,
    ...connectionFlags,
  };

  override async run(): Promise<RotateResult> {
    const {flags} = await this.parse(RotateToken);
    const settings = await this.settingsFrom(flags, {only: SETTINGS});
    const name = releaseName(flags, settings);
    const access = await this.accessTo(name.kubeTarget, flags);
    const given = settings.get(token) ?? settings.get(tokenFile);
    const {holder, account} = await this.untilInterrupted(async () => {
      const signal = AbortSignal.timeout(timeoutOf(flags));
      const found = await newestRevision(name, access, signal);
      if (found === undefined || found.status === 'uninstalled') throw await notFound(name, found, access, signal);
      if (scalrChart(found.chart) === undefined) throw ofAnother(name, found.chart);
      const holder = await readTokenHolder(name, found, access, signal);
      const isNew = given !== undefined && !hasToken(holder, given);
      if (isNew && isUnfinished(holder)) throw unfinished();
      const needsToken = given === undefined && !isUnfinished(holder);
      return {holder, account: await this.#account(holder, needsToken, flags, access, signal)};
    });
    return rotateInCluster({holder, given, account, access}, flags, this.context(flags));
  }

  /** A token that the user gives can be rotated without the account. */
  async #account(
    holder: TokenHolder,
    needsToken: boolean,
    flags: SharedFlags & ClusterFlags & {pool?: string | undefined},
    access: ClusterAccess,
    signal: AbortSignal,
  ): Promise<AccountRotation | undefined> {
    const recorded = accountPoolIn(holder.secret);
    const pool = flags.pool ?? recorded?.poolId;
    try {
      if (pool === undefined) throw unknownPool(holder);
      const client = await this.account(flags, recorded?.host ?? hostOf(holder));
      return await readAccountRotation(client, pool, holder, needsToken, access, signal);
    } catch (error) {
      const isOptional = !needsToken && flags.pool === undefined && !isUnfinished(holder);
      if (isOptional && error instanceof ExpectedError && (pool === undefined || error.code === 'NO_CREDENTIAL')) return undefined;
      if (!(error instanceof ExpectedError) || error.code !== 'NO_CREDENTIAL') throw error;
      throw error.with(error.message, [...error.suggestions, 'Or create a token in Scalr, and set --token-file']);
    }
  }
}

/** The address that the release connects to; unknown if only its token contains it. */
function hostOf({facts, target}: TokenHolder): string | undefined {
  const address = readValues(facts.release.values, target).settings.get(url.id);
  return typeof address === 'string' && URL.canParse(address) ? new URL(address).host : undefined;
}

const unknownPool = ({secret}: TokenHolder): ExpectedError =>
  new ExpectedError(`Secret ${secret.metadata.name} does not record an agent pool.`, {
    code: 'MISSING_SETTING',
    suggestions: ['Set --pool to the agent pool of the release', 'Or create a token in Scalr, and set --token-file'],
    options: [
      {add: '--pool NAME', when: 'Name the agent pool of the release'},
      {add: '--token-file FILE', when: 'Use a token that was created in Scalr'},
    ],
  });

const unfinished = (): ExpectedError =>
  failed('CONFLICTING_SETTINGS', 'An earlier rotation is unfinished: its old token is not revoked yet.', [
    'Continue it first: run the same command without --token-file and SCALR_AGENT_TOKEN',
  ]);
