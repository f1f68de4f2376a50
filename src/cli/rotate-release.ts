import type {ClusterAccess} from '../cluster/helm/releases.ts';
import type {accountPoolIn} from '../cluster/release/account-token.ts';
import {PLACEHOLDER} from '../cluster/release/desired-release.ts';
import {
  type AccountRotation,
  readAccountRotation,
  type TokenUsers,
  tokenUsedByOthers,
  verifyAgentsUseToken,
} from '../extensions/account/account-rotation.ts';
import {type AccountStep, runAccountSteps} from '../extensions/account/account-steps.ts';
import type {ScalrClient} from '../extensions/account/client.ts';
import {type CreatedToken, installWithPool} from '../extensions/account/install-pool.ts';
import {accountPlanText} from '../extensions/account/plan-text.ts';
import {
  planRotation,
  removePreviousToken,
  type TokenHolder,
} from '../extensions/account/rotate-token.ts';
import {ExpectedError, failed, type Warning} from '../ground/errors.ts';
import type {Secret} from '../ground/secret.ts';
import {few} from '../ground/text.ts';
import {installRelease} from '../operations/install-release.ts';
import {dryRunPlan, type PlanCheck} from '../operations/plan-dry-run.ts';
import {type RunStepsDeps, runSteps} from '../operations/run-steps.ts';
import type {Step} from '../operations/step.ts';
import {requirePermissions} from '../operations/step-permissions.ts';
import {planText} from '../ui/plan.ts';
import type {ConfirmFlags} from './flags.ts';
import {
  type CommandContext,
  operate,
  type ReleaseHead,
  type RunDeps,
  releaseHead,
  stepsOf,
} from './operate.ts';

interface Rotated {
  /** False if the agents already use the token, and nothing is left to revoke. */
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

export type RotateResult = ReleaseHead & Rotated;

/** Agents in a cluster or on this machine that get a new token. */
export interface Rotation<Head> {
  /** Of the JSON document. */
  head: Head;
  users: TokenUsers;
  account: AccountRotation | undefined;
  /** What records the ID of the token: Secret scalr-agent-token */
  record: string;
  /** The steps that replace the token and restart the agents. */
  steps: readonly Step[];
  /** Their plan for a person. */
  text: string;
  warnings?: readonly Warning[] | undefined;
  check?(): Promise<PlanCheck>;
  /** Runs them; `keep` is called when agents can use the token that was made. */
  replace(deps: RunDeps, made: CreatedToken | undefined, keep: () => void): Promise<unknown>;
  /** Removes the ID of the revoked token from the record. */
  forget(deps: RunDeps): Promise<void>;
}

/** Shows, confirms and runs the replacement of a token. @throws ExpectedError */
export async function rotate<Head>(
  rotation: Rotation<Head>,
  flags: ConfirmFlags,
  context: CommandContext,
): Promise<Head & Rotated> {
  const {users, account, steps: own, text, check} = rotation;
  const {release} = users;
  const isRevoking =
    account !== undefined && (account.others.length === 0 || flags.confirm !== undefined);
  const revocation = isRevoking ? account.revocation : [];
  const steps = [...(account?.steps ?? []), ...own, ...revocation];
  const result = resultOf(rotation, steps, isRevoking);
  if (!result.changed) {
    context.say(`Release ${release} already uses this token. Nothing was changed.\n`);
    return result;
  }
  const inAccount = (some: AccountRotation['steps']): string =>
    account === undefined || some.length === 0
      ? ''
      : `${accountPlanText(some, account.client, context.screen)}\n`;
  const operation = {
    title: `Replacing the token of release ${release}`,
    steps,
    warnings: result.warnings,
    text: `${inAccount(account?.steps ?? [])}${text}${inAccount(revocation)}`,
    risk:
      flags.confirm === undefined
        ? undefined
        : {what: 'Other agents may use the token that is revoked.', release},
    ...(check === undefined ? {} : {check}),
    run: (deps: RunDeps) =>
      account === undefined
        ? replaceGiven(rotation, result, deps, context)
        : replaceInAccount({...rotation, account, isRevoking}, result, deps, context),
  };
  return operate(operation, result, flags, context);
}

/** The result before the change. */
function resultOf<Head>(
  {head, users, account, warnings = []}: Rotation<Head>,
  steps: readonly (Step | AccountStep)[],
  isRevoking: boolean,
): Head & Rotated {
  const others = isRevoking || account === undefined ? [] : [othersWarning(users.release, account)];
  return {
    ...head,
    changed: steps.length > 0 || isUnfinished(users),
    steps: stepsOf(steps),
    warnings: [...warnings, ...others],
    ...(account === undefined ? {} : {pool: {id: account.pool.id, name: account.pool.name}}),
    token: null,
    revoked: null,
  };
}

const isUnfinished = ({replaced}: TokenUsers): boolean => replaced !== undefined;

/** The user has created the token, and revokes the old one. */
async function replaceGiven<Head>(
  {users: {release}, replace}: Rotation<Head>,
  result: Head & Rotated,
  deps: RunDeps,
  {say}: CommandContext,
): Promise<Head & Rotated> {
  await replace(deps, undefined, () => undefined);
  deps.done(`Every agent of release ${release} has restarted with the new token`);
  say(nextSteps('Revoke the old token in Scalr', REPLACE_ELSEWHERE));
  return result;
}

type InAccount<Head> = Rotation<Head> & {account: AccountRotation; isRevoking: boolean};

/** Creates the token, and revokes the old one when no agent uses it. @throws ExpectedError */
async function replaceInAccount<Head>(
  rotation: InAccount<Head>,
  result: Head & Rotated,
  deps: RunDeps,
  {say, timeoutMs}: CommandContext,
): Promise<Head & Rotated> {
  const {users, account, isRevoking, replace, forget} = rotation;
  const {release} = users;
  const {result: token} = await installWithPool(
    account,
    account.client,
    deps,
    async (made, keep) => {
      await replace(deps, made, keep);
      return made?.tokenId ?? null;
    },
  );
  const agents = await verifyAgentsUseToken(users, account, {...deps, timeoutMs});
  if (account.previous !== undefined && !isRevoking) throw tokenUsedByOthers(release, account);
  await runAccountSteps(isRevoking ? account.revocation : [], account.client, deps);
  if (account.previous !== undefined || isUnfinished(users)) await forget(deps);
  deps.done(`Scalr reports ${few(agents)} of release ${release} with the new token`);
  say(revokedText(rotation));
  return {...result, token, revoked: account.previous?.id ?? null, agents};
}

function revokedText<Head>({users, record, account: {previous, pool}}: InAccount<Head>): string {
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

const othersWarning = (release: string, {pool, others, previous}: AccountRotation): Warning => ({
  code: 'OBJECT_NOT_OWNED',
  message: `Agent pool ${pool.name} also has agents outside of release ${release}: ${few(others.map((each) => each.name))}. They may use token ${previous?.id}, so it is not revoked without --confirm ${release}.`,
});

interface InCluster extends Pick<Rotation<ReleaseHead>, 'users' | 'account'> {
  holder: TokenHolder;
  /** The token of the user; undefined if the account creates it, or if an earlier run has. */
  given: Secret | undefined;
  access: ClusterAccess;
}

/** Replaces the token of a release. @throws ExpectedError */
export async function rotateInCluster(
  {holder, given, users, account, access}: InCluster,
  flags: ConfirmFlags,
  context: CommandContext,
): Promise<RotateResult> {
  const {name, facts, secret} = holder;
  const {screen, timeoutMs} = context;
  const planned = given ?? (account?.token === undefined ? undefined : PLACEHOLDER);
  const planFor = (text: Secret | undefined, made?: CreatedToken) =>
    planRotation(holder, text && {text, made}, access, AbortSignal.timeout(timeoutMs));
  const plan = await context.untilInterrupted(() => planFor(planned));
  const rotation: Rotation<ReleaseHead> = {
    head: releaseHead(name, facts),
    users,
    account,
    record: `Secret ${secret.metadata.name}`,
    steps: plan.steps,
    text: plan.steps.length === 0 ? '' : `${planText(plan, name, facts, screen)}\n`,
    warnings: plan.warnings,
    check: async () => {
      await requirePermissions([...plan.steps, removePreviousToken(holder)], name, {
        ...access,
        operation: 'rotate-token',
      });
      return dryRunPlan({steps: plan.steps, name, objects: facts.installed, facts}, access);
    },
    replace: async (deps, made, keep) => {
      const onStep: RunStepsDeps['onStep'] = (step, ...news) => {
        // From here on, pods may use the token.
        if (step.id.startsWith('secret/')) keep();
        deps.onStep(step, ...news);
      };
      const now = made === undefined ? plan : await planFor(made.text, made);
      const planned = {plan: now, name, facts};
      await installRelease(planned, {waits: true}, {...access, ...deps, onStep});
    },
    forget: (deps) => runSteps([removePreviousToken(holder)], {...access, ...deps}),
  };
  return rotate(rotation, flags, context);
}

/** What an installed agent records about its token. */
interface Recorded {
  users: TokenUsers;
  recorded: ReturnType<typeof accountPoolIn>;
  /** That the agents connect to; unknown if only their token contains it. */
  address: string | undefined;
  /** What records the token. */
  record: string;
}

/** False if the token is given, or if an interrupted rotation has written it. @throws ExpectedError for a new one in this case */
export function needsToken({replaced}: TokenUsers, isGiven: boolean, isNew: boolean): boolean {
  if (isNew && replaced !== undefined) throw unfinished();
  return !isGiven && replaced === undefined;
}

/** Undefined if the token is given, and the account is not known. @throws ExpectedError */
export async function readAccount(
  {users, recorded, address = '', record}: Recorded,
  isNeeded: boolean,
  given: string | undefined,
  connect: (host: string | undefined) => Promise<ScalrClient>,
): Promise<AccountRotation | undefined> {
  const pool = given ?? recorded?.poolId;
  try {
    if (pool === undefined) throw unknownPool(record);
    const client = await connect(
      recorded?.host ?? (URL.canParse(address) ? new URL(address).host : undefined),
    );
    return await readAccountRotation(client, pool, users, isNeeded);
  } catch (error) {
    const isOptional = !isNeeded && given === undefined && users.replaced === undefined;
    if (
      isOptional &&
      error instanceof ExpectedError &&
      (pool === undefined || error.code === 'NO_CREDENTIAL')
    )
      return undefined;
    if (!(error instanceof ExpectedError) || error.code !== 'NO_CREDENTIAL') throw error;
    throw error.with(error.message, [
      ...error.suggestions,
      'Or create a token in Scalr, and set --token-file',
    ]);
  }
}

const unknownPool = (record: string): ExpectedError =>
  new ExpectedError(`${record} does not record an agent pool.`, {
    code: 'MISSING_SETTING',
    suggestions: [
      'Set --pool to the agent pool of the release',
      'Or create a token in Scalr, and set --token-file',
    ],
    options: [
      {add: '--pool NAME', when: 'Set the agent pool of the release'},
      {add: '--token-file FILE', when: 'Use a token that was created in Scalr'},
    ],
  });

const unfinished = (): ExpectedError =>
  failed(
    'CONFLICTING_SETTINGS',
    'An earlier rotation is unfinished: its old token is not revoked yet.',
    ['Continue it first: run the same command without --token-file and SCALR_AGENT_TOKEN'],
  );
