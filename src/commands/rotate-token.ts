import * as Flags from '@oclif/core/flags';
import {scalrChart} from '../charts/define.ts';
import {accountFlags} from '../cli/account.ts';
import {BaseCommand} from '../cli/base-command.ts';
import {
  answersFlag,
  confirmFlags,
  connectionFlags,
  explicitFlags,
  OF_CONNECTION,
  refuseWith,
  releaseName,
  type SharedFlags,
  settingFlags,
  targetFlag,
  timeoutOf,
} from '../cli/flags.ts';
import {type HostRotateResult, isTokenIn, readHostTokens, rotateOnHost} from '../cli/rotate-host.ts';
import {type RotateResult, rotateInCluster} from '../cli/rotate-release.ts';
import {ExpectedError, failed} from '../ground/errors.ts';
import {
  type AccountRotation,
  agentsOfRelease,
  hasToken,
  readAccountRotation,
  readTokenHolder,
  type TokenHolder,
  type TokenUsers,
} from '../operations/rotate-token.ts';
import {accountPoolIn} from '../release/namespace.ts';
import {newestRevision} from '../release/read-release.ts';
import {token, tokenFile, url} from '../settings/agent.ts';
import {namespace, release, TARGETS} from '../settings/release.ts';
import {ofAnother} from '../status/read-status.ts';
import {notFound} from '../status/release-causes.ts';
import {readValues} from '../values/read-values.ts';

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
    pool: Flags.string({summary: 'Agent pool, by name or ID. Default: the one that install --pool has recorded.', helpValue: '<NAME>'}),
    confirm: Flags.string({summary: 'Release name, to revoke the old token although the pool has other agents.', helpValue: '<NAME>'}),
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
    const settings = await this.settingsFrom(flags, {only: SETTINGS});
    const given = settings.get(token) ?? settings.get(tokenFile);
    const target = await this.targetFrom(flags);
    if (target !== 'kubernetes') {
      refuseWith(`target ${target}`, ['namespace', ...OF_CONNECTION], explicitFlags(flags, metadata));
      const context = this.context(flags);
      const {tokens, next, account} = await this.untilInterrupted(async () => {
        const tokens = await readHostTokens(target, settings.get(release) as string, context);
        const next = given === undefined || isTokenIn(tokens, given) ? undefined : given;
        const isNeeded = this.#needsToken(tokens.users, given !== undefined, next !== undefined);
        return {tokens, next, account: await this.#account({...tokens, record: tokens.path}, isNeeded, flags)};
      });
      return rotateOnHost(tokens, {given: next, account}, flags, context);
    }
    const name = releaseName(flags, settings);
    const access = await this.accessTo(name.kubeTarget, flags);
    const {holder, users, account} = await this.untilInterrupted(async () => {
      const signal = AbortSignal.timeout(timeoutOf(flags));
      const found = await newestRevision(name, access, signal);
      if (found === undefined || found.status === 'uninstalled') throw await notFound(name, found, access, signal);
      if (scalrChart(found.chart) === undefined) throw ofAnother(name, found.chart);
      const holder = await readTokenHolder(name, found, access, signal);
      const users = await agentsOfRelease(holder, access, timeoutOf(flags));
      const isNeeded = this.#needsToken(users, given !== undefined, given !== undefined && !hasToken(holder, given));
      const where = {
        users,
        recorded: accountPoolIn(holder.secret),
        address: addressOf(holder),
        record: `Secret ${holder.secret.metadata.name}`,
      };
      return {holder, users, account: await this.#account(where, isNeeded, flags)};
    });
    return rotateInCluster({holder, given, users, account, access}, flags, this.context(flags));
  }

  /** False if the token is given, or if an interrupted rotation has written it. @throws ExpectedError for a new one in this case */
  #needsToken({replaced}: TokenUsers, isGiven: boolean, isNew: boolean): boolean {
    if (isNew && replaced !== undefined) throw unfinished();
    return !isGiven && replaced === undefined;
  }

  /** A token that the user gives can be rotated without the account. */
  async #account(
    {users, recorded, address, record}: Recorded,
    needsToken: boolean,
    flags: SharedFlags & {pool?: string | undefined},
  ): Promise<AccountRotation | undefined> {
    const pool = flags.pool ?? recorded?.poolId;
    try {
      if (pool === undefined) throw unknownPool(record);
      const client = await this.account(flags, recorded?.host ?? hostOf(address));
      return await readAccountRotation(client, pool, users, needsToken);
    } catch (error) {
      const isOptional = !needsToken && flags.pool === undefined && users.replaced === undefined;
      if (isOptional && error instanceof ExpectedError && (pool === undefined || error.code === 'NO_CREDENTIAL')) return undefined;
      if (!(error instanceof ExpectedError) || error.code !== 'NO_CREDENTIAL') throw error;
      throw error.with(error.message, [...error.suggestions, 'Or create a token in Scalr, and set --token-file']);
    }
  }
}

interface Recorded {
  users: TokenUsers;
  recorded: ReturnType<typeof accountPoolIn>;
  /** That the agents connect to; unknown if only their token contains it. */
  address: string | undefined;
  /** What records the token. */
  record: string;
}

function addressOf({facts, target}: TokenHolder): string | undefined {
  const address = readValues(facts.release.values, target).settings.get(url.id);
  return typeof address === 'string' ? address : undefined;
}

const hostOf = (address = ''): string | undefined => (URL.canParse(address) ? new URL(address).host : undefined);

const unknownPool = (record: string): ExpectedError =>
  new ExpectedError(`${record} does not record an agent pool.`, {
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
