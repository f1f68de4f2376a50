import {
  type AccountRotation,
  type TokenUsers,
  tokenUsedByOthers,
  verifyAgentsUseToken,
} from '../extensions/account/account-rotation.ts';
import {type AccountStep, runAccountSteps} from '../extensions/account/account-steps.ts';
import {type CreatedToken, installWithPool} from '../extensions/account/install-pool.ts';
import {accountPlanText} from '../extensions/account/plan-text.ts';
import {type SettingFinding, warningOf} from '../ground/finding.ts';
import {few} from '../ground/text.ts';
import type {PlanCheck} from '../operations/plan-dry-run.ts';
import type {Step} from '../operations/step.ts';
import type {ConfirmFlags} from './flags.ts';
import {type CommandContext, type Operation, operate, type RunDeps, stepsOf} from './operate.ts';

export interface TokenRotation {
  /** False if the agents already use the token, and nothing is left to revoke. */
  changed: boolean;
  steps: {id: string; title: string}[];
  warnings: readonly SettingFinding[];
  /** Absent without access to the Scalr account. */
  pool?: {id: string; name: string};
  /** ID of the created token; null if the token was given, and in a dry run. */
  token: string | null;
  /** ID of the revoked token; null if it remains valid. */
  revoked: string | null;
  /** Agents that use the new token, as Scalr reports them. */
  agents?: string[];
}

/** Agents in a cluster or on this machine, and how they get another token. */
export interface TokenReplacement {
  users: TokenUsers;
  /** What records the ID of the token: Secret scalr-agent-token */
  record: string;
  /** The steps that replace the token and restart the agents. */
  steps: readonly Step[];
  /** Their plan for a person. */
  text: string;
  warnings: readonly SettingFinding[];
  check?: (() => Promise<PlanCheck>) | undefined;
  /** Runs them; `keep` is called when agents can use the token that was made. */
  replace(deps: RunDeps, made: CreatedToken | undefined, keep: () => void): Promise<unknown>;
  /** Removes the ID of the revoked token from the record. */
  forget(deps: RunDeps): Promise<void>;
}

interface Rotation {
  replacement: TokenReplacement;
  account: AccountRotation | undefined;
  /** Steps that revoke the old token. */
  revocation: readonly AccountStep[];
  /** Of a dry run. */
  result: TokenRotation;
  context: CommandContext;
}

/** Shows, confirms and runs the replacement of a token. @throws ExpectedError */
export async function rotateToken(
  replacement: TokenReplacement,
  account: AccountRotation | undefined,
  flags: ConfirmFlags,
  context: CommandContext,
): Promise<TokenRotation> {
  const {users} = replacement;
  const {others = []} = account ?? {};
  const isRevoking = others.length === 0 || flags.confirm !== undefined;
  const revocation = isRevoking ? (account?.revocation ?? []) : [];
  const steps = [...(account?.steps ?? []), ...replacement.steps, ...revocation];
  const kept = isRevoking || account === undefined ? [] : [othersWarning(users.release, account)];
  const result: TokenRotation = {
    changed: steps.length > 0 || isUnfinished(users),
    steps: stepsOf(steps),
    warnings: [...replacement.warnings, ...kept],
    ...(account === undefined ? {} : {pool: {id: account.pool.id, name: account.pool.name}}),
    token: null,
    revoked: null,
  };
  if (!result.changed) {
    context.say(`Release ${users.release} already uses this token. Nothing was changed.\n`);
    return result;
  }
  const rotation = {replacement, account, revocation, result, context};
  return operate(operationOf(rotation, steps, flags), result, flags, context);
}

function operationOf(
  rotation: Rotation,
  steps: readonly (Step | AccountStep)[],
  flags: ConfirmFlags,
): Operation<TokenRotation> {
  const {replacement, account, revocation, result, context} = rotation;
  const {release} = replacement.users;
  const inAccount = (some: readonly AccountStep[]): string =>
    account === undefined || some.length === 0
      ? ''
      : `${accountPlanText(some, account.client, context.screen)}\n`;
  const risk = {what: 'Other agents may use the token that is revoked.', release};
  return {
    title: `Replacing the token of release ${release}`,
    steps,
    warnings: result.warnings,
    text: `${inAccount(account?.steps ?? [])}${replacement.text}${inAccount(revocation)}`,
    risk: flags.confirm === undefined ? undefined : risk,
    check: async () => replacement.check?.(),
    run: (deps) =>
      account === undefined
        ? replaceGiven(rotation, deps)
        : replaceInAccount(rotation, account, deps),
  };
}

/** The old token is replaced, and not yet revoked. */
const isUnfinished = ({replaced}: TokenUsers): boolean => replaced !== undefined;

/** The user has created the token, and revokes the old one. */
async function replaceGiven(rotation: Rotation, deps: RunDeps): Promise<TokenRotation> {
  const {replacement, result, context} = rotation;
  await replacement.replace(deps, undefined, () => undefined);
  const {release} = replacement.users;
  deps.done(`Every agent of release ${release} has restarted with the new token`);
  context.say(nextSteps('Revoke the old token in Scalr', REPLACE_ELSEWHERE));
  return result;
}

/** Creates the token, and revokes the old one when no agent uses it. @throws ExpectedError */
async function replaceInAccount(
  rotation: Rotation,
  account: AccountRotation,
  deps: RunDeps,
): Promise<TokenRotation> {
  const {replacement, revocation, result, context} = rotation;
  const {client, previous} = account;
  const {users} = replacement;
  const {release} = users;
  const replace = async (made: CreatedToken | undefined, keep: () => void) => {
    await replacement.replace(deps, made, keep);
    return made?.tokenId ?? null;
  };
  const {result: token} = await installWithPool(account, client, deps, replace);
  const {timeoutMs} = context;
  const agents = await verifyAgentsUseToken(users, account, {...deps, timeoutMs});
  if (previous !== undefined && revocation.length === 0) throw tokenUsedByOthers(release, account);
  await runAccountSteps(revocation, client, deps);
  if (previous !== undefined || isUnfinished(users)) await replacement.forget(deps);
  deps.done(`Scalr reports ${few(agents)} of release ${release} with the new token`);
  context.say(revokedText(replacement, account));
  return {...result, token, revoked: previous?.id ?? null, agents};
}

function revokedText({users, record}: TokenReplacement, {previous, pool}: AccountRotation): string {
  const next = nextSteps(REPLACE_ELSEWHERE);
  if (previous !== undefined) return `Token ${previous.id} is revoked.\n${next}`;
  if (isUnfinished(users)) return `The old token is already revoked.\n${next}`;
  const list = `Find and revoke it: scalr-agent pool token list ${pool.id}`;
  return `${record} does not record the ID of the old token.\n${nextSteps(list, REPLACE_ELSEWHERE)}`;
}

/** The next install with the old token would write it back. */
const REPLACE_ELSEWHERE =
  'Replace the old token wherever install reads it: SCALR_AGENT_TOKEN in CI, the file of --token-file, or other Secrets';

const nextSteps = (...steps: readonly string[]): string =>
  `Next steps:\n${steps.map((each) => `  - ${each}\n`).join('')}`;

const othersWarning = (
  release: string,
  {pool, others, previous}: AccountRotation,
): SettingFinding =>
  warningOf(
    'OBJECT_NOT_OWNED',
    `Agent pool ${pool.name} also has agents outside of release ${release}: ${few(others.map((each) => each.name))}. They may use token ${previous?.id}, so it is not revoked without --confirm ${release}.`,
  );
