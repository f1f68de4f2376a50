import {scalrChart} from '../charts/releases/chart-name.ts';
import {notAnAgentRelease} from '../checks/status/read-status.ts';
import {notFound} from '../checks/status/release-causes.ts';
import type {ClusterAccess} from '../cluster/helm/releases.ts';
import {accountPoolIn} from '../cluster/release/account-token.ts';
import {PLACEHOLDER} from '../cluster/release/desired-release.ts';
import {newestRevision} from '../cluster/release/read-release.ts';
import {withRoles} from '../cluster/release/roles-to-read.ts';
import type {AccountRotation, TokenUsers} from '../extensions/account/account-rotation.ts';
import type {CreatedToken} from '../extensions/account/install-pool.ts';
import {
  agentsOfRelease,
  planRotation,
  readTokenHolder,
  removePreviousToken,
  type TokenHolder,
} from '../extensions/account/rotate-token.ts';
import {requireSuccessor} from '../extensions/account/successor-token.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {Secret} from '../ground/secret.ts';
import {installRelease} from '../operations/install-release.ts';
import {hasContent} from '../operations/install-secrets.ts';
import {dryRunPlan} from '../operations/plan-dry-run.ts';
import {type RunStepsDeps, runSteps} from '../operations/run-steps.ts';
import type {Plan} from '../operations/step.ts';
import {requirePermissions} from '../operations/step-permissions.ts';
import {planText} from '../ui/plan.ts';
import type {ConfirmFlags} from './flags.ts';
import {type CommandContext, type ReleaseHead, releaseHead} from './operate.ts';
import {addressIn} from './release-address.ts';
import {rotateToken, type TokenReplacement, type TokenRotation} from './rotate-token.ts';
import {needsToken, readAccount, type WantedAccount} from './rotation-account.ts';

export type RotateResult = ReleaseHead & TokenRotation;

/** The agents of a release, and what gives them another token. */
export interface ReleaseTokens {
  holder: TokenHolder;
  users: TokenUsers;
  account: AccountRotation | undefined;
  /** The token of the user; undefined if the account creates it, or if an earlier run has. */
  given: Secret | undefined;
  access: ClusterAccess;
}

/** Reads the release, its Secret and the account. Read-only. @throws ExpectedError */
export async function readReleaseTokens(
  name: ReleaseName,
  given: Secret | undefined,
  access: ClusterAccess,
  wanted: WantedAccount & {timeoutMs: number},
): Promise<ReleaseTokens> {
  const {timeoutMs} = wanted;
  const signal = AbortSignal.timeout(timeoutMs);
  const newest = newestRevision(name, access, signal);
  const found = await newest.catch(withRoles(name, access.kubernetes));
  if (found === undefined || found.status === 'uninstalled')
    throw await notFound(name, found, access, signal);
  if (scalrChart(found.chart) === undefined) throw notAnAgentRelease(name, found.chart);
  const holder = await readTokenHolder(name, found, access, signal);
  const {secret, key} = holder;
  const users = await agentsOfRelease(holder, access, timeoutMs);
  const isNew = given !== undefined && !hasContent(secret, key, given);
  const address = addressIn(found.values, found.chart);
  const present = Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8');
  if (isNew) requireSuccessor(given, {address, token: new Secret(present)});
  const recorded = {
    users,
    pool: accountPoolIn(secret),
    address,
    record: recordOf(holder),
  };
  const isNeeded = needsToken(users, given !== undefined, isNew);
  const account = await readAccount(recorded, isNeeded, wanted);
  return {holder, users, account, given, access};
}

const recordOf = ({secret}: TokenHolder): string => `Secret ${secret.metadata.name}`;

/** Replaces the token of a release. @throws ExpectedError */
export async function rotateInCluster(
  tokens: ReleaseTokens,
  flags: ConfirmFlags,
  context: CommandContext,
): Promise<RotateResult> {
  const {holder, given, account} = tokens;
  const planned = given ?? (account?.token === undefined ? undefined : PLACEHOLDER);
  const plan = await context.untilInterrupted(() => planFor(tokens, planned, context));
  const replacement = replacementOf(tokens, plan, context);
  const rotated = await rotateToken(replacement, account, flags, context);
  return {...releaseHead(holder.name, holder.facts), ...rotated};
}

const planFor = (
  {holder, access}: ReleaseTokens,
  text: Secret | undefined,
  {timeoutMs}: CommandContext,
  made?: CreatedToken,
): Promise<Plan> =>
  planRotation(holder, text && {text, made}, access, AbortSignal.timeout(timeoutMs));

function replacementOf(
  tokens: ReleaseTokens,
  plan: Plan,
  context: CommandContext,
): TokenReplacement {
  const {holder, users, access} = tokens;
  const {name, facts} = holder;
  const {steps, warnings = []} = plan;
  return {
    users,
    record: recordOf(holder),
    steps,
    text: steps.length === 0 ? '' : `${planText(plan, name, facts, context.screen)}\n`,
    warnings,
    check: async () => {
      const all = [...steps, removePreviousToken(holder)];
      await requirePermissions(all, name, {...access, operation: 'rotate-token'});
      return dryRunPlan({steps, name, objects: facts.installed, facts}, access);
    },
    replace: async (deps, made, keep) => {
      const onStep: RunStepsDeps['onStep'] = (step, ...news) => {
        // From here on, pods may use the token.
        if (step.id.startsWith('secret/')) keep();
        deps.onStep(step, ...news);
      };
      const now = made === undefined ? plan : await planFor(tokens, made.text, context, made);
      const planned = {plan: now, name, facts};
      await installRelease(planned, {waits: true}, {...access, ...deps, onStep});
    },
    forget: (deps) => runSteps([removePreviousToken(holder)], {...access, ...deps}),
  };
}
