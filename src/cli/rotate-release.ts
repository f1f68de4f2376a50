import type {ReleaseName} from '../ground/command-line.ts';
import type {Warning} from '../ground/errors.ts';
import type {Secret} from '../ground/secret.ts';
import {few} from '../ground/text.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import {runAccountSteps} from '../operations/account-steps.ts';
import {dryRun} from '../operations/dry-run.ts';
import {installWithPool, type MadeToken} from '../operations/install-pool.ts';
import {installRelease} from '../operations/install-release.ts';
import {
  type AccountRotation,
  forgetPrevious,
  isUnfinished,
  planRotation,
  proveMoved,
  type TokenHolder,
  usedByOthers,
} from '../operations/rotate-token.ts';
import {runSteps} from '../operations/run-steps.ts';
import {requirePermissions} from '../operations/step-permissions.ts';
import {accountPlanText, planText} from '../ui/plan.ts';
import type {ConfirmFlags} from './flags.ts';
import {PLACEHOLDER} from './install-pool.ts';
import {type CommandContext, headOf, type Operation, operate, type ReleaseHead, stepsOf} from './operate.ts';

export interface RotateResult extends ReleaseHead {
  /** False if the release already uses the token, and nothing is left to revoke. */
  changed: boolean;
  steps: {id: string; title: string}[];
  warnings: readonly Warning[];
  /** Absent without access to the Scalr account. */
  pool?: {id: string; name: string};
  /** ID of the created token; null if the token was given, and in a dry run. */
  token: string | null;
  /** ID of the revoked token; null if it remains valid. */
  revoked: string | null;
  /** Agents that use the new token, as Scalr reports them. */
  agents?: string[];
}

interface Rotated {
  holder: TokenHolder;
  /** The token of the user; undefined if the account creates it, or if an earlier run has. */
  given: Secret | undefined;
  account: AccountRotation | undefined;
  access: ClusterAccess;
}

/** Shows, confirms and runs the replacement of the token of a release. @throws ExpectedError */
export async function rotateInCluster(
  {holder, given, account, access}: Rotated,
  flags: ConfirmFlags,
  context: CommandContext,
): Promise<RotateResult> {
  const {name, facts, secret} = holder;
  const {screen, say, timeoutMs} = context;
  const planned = given ?? (account?.token === undefined ? undefined : PLACEHOLDER);
  const replace = (text: Secret | undefined, made?: MadeToken) =>
    planRotation(holder, text && {text, made}, access, AbortSignal.timeout(timeoutMs));
  const plan = await context.untilInterrupted(() => replace(planned));
  const isRevoking = account !== undefined && (account.others.length === 0 || flags.confirm !== undefined);
  const revocation = isRevoking ? account.revocation : [];
  const steps = [...(account?.steps ?? []), ...plan.steps, ...revocation];
  const isChanged = steps.length > 0 || isUnfinished(holder);
  const result: RotateResult = {
    ...{...headOf(name, facts), changed: isChanged},
    ...{steps: stepsOf(steps), warnings: isRevoking || account === undefined ? [] : [othersWarning(name, account)]},
    ...(account === undefined ? {} : {pool: {id: account.pool.id, name: account.pool.name}}),
    ...{token: null, revoked: null},
  };
  if (!isChanged) {
    say(`Release ${name.release} already uses this token. Nothing was changed.\n`);
    return result;
  }
  const inAccount = (some: AccountRotation['steps']): string =>
    account === undefined || some.length === 0 ? '' : `${accountPlanText(some, account.client, screen)}\n`;
  const inCluster = plan.steps.length === 0 ? '' : `${planText(plan, name, facts, screen)}\n`;
  const operation: Operation<RotateResult> = {
    title: `Replacing the token of release ${name.release}`,
    ...{steps, warnings: result.warnings, text: `${inAccount(account?.steps ?? [])}${inCluster}${inAccount(revocation)}`},
    risk: flags.confirm === undefined ? undefined : {what: 'Other agents may use the token that is revoked.', release: name.release},
    check: async (isDryRun) => {
      await requirePermissions([...plan.steps, forgetPrevious(holder)], name, {...access, operation: 'rotate-token'});
      return isDryRun ? dryRun(plan, facts.installed, name, facts, access) : '';
    },
    run: async (deps) => {
      const restart = async (made?: MadeToken, keep: () => void = () => undefined) => {
        const onStep: Parameters<typeof installRelease>[4]['onStep'] = (step, ...news) => {
          // From here on, pods may use the token.
          if (step.id.startsWith('secret/')) keep();
          deps.onStep(step, ...news);
        };
        const now = made === undefined ? plan : await replace(made.text, made);
        await installRelease(now, name, facts, {waits: true}, {...access, ...deps, onStep});
        return made?.tokenId ?? null;
      };
      if (account === undefined) {
        await restart();
        deps.done(`Every agent of release ${name.release} has restarted with the new token`);
        say('Next step:\n  - Revoke the old token in Scalr\n');
        return result;
      }
      const {result: token} = await installWithPool(account, account.client, deps, restart);
      const {interrupt} = deps.interrupts;
      const {now, sleep, onWait} = deps;
      const agents = await proveMoved(holder, account, {kubernetes: access.kubernetes, timeoutMs, interrupt, now, sleep, onWait});
      if (account.previous !== undefined && !isRevoking) throw usedByOthers(name, account);
      await runAccountSteps(revocation, account.client, deps);
      if (account.previous !== undefined || isUnfinished(holder)) await runSteps([forgetPrevious(holder)], {...access, ...deps});
      deps.done(`Scalr reports ${few(agents)} of release ${name.release} with the new token`);
      say(revokedText(account));
      return {...result, token, revoked: account.previous?.id ?? null, agents};
    },
  };
  return operate(operation, result, flags, context);

  function revokedText({previous, pool}: AccountRotation): string {
    if (previous !== undefined) return `Token ${previous.id} is revoked.\n`;
    if (isUnfinished(holder)) return 'The old token was revoked before.\n';
    const list = `scalr-agent pool token list ${pool.id}`;
    return `Secret ${secret.metadata.name} does not record the ID of the old token. Next step:\n  - Find and revoke it: ${list}\n`;
  }
}

const othersWarning = (name: ReleaseName, {pool, others, previous}: AccountRotation): Warning => ({
  code: 'OBJECT_NOT_OWNED',
  message: `Agent pool ${pool.name} also has agents outside of release ${name.release}: ${few(others.map((each) => each.name))}. They may use token ${previous?.id}, so it is not revoked without --confirm ${name.release}.`,
});
