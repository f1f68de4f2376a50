import {accountAnnotations, PREVIOUS_TOKEN} from '../cluster/release/account-token.ts';
import {PLACEHOLDER} from '../cluster/release/desired-release.ts';

import type {AccountRotation} from '../extensions/account/account-rotation.ts';
import type {CreatedToken} from '../extensions/account/install-pool.ts';
import {requireSuccessor} from '../extensions/account/successor-token.ts';
import type {Secret} from '../ground/secret.ts';
import {stepsText} from '../ui/plan.ts';
import type {ConfirmFlags} from './flags.ts';
import type {MachineTarget} from './host-agents.ts';
import {type HostTokens, RESTART, readHostTokens} from './host-tokens.ts';
import type {CommandContext} from './operate.ts';
import {rotateToken, type TokenReplacement, type TokenRotation} from './rotate-token.ts';
import {needsToken, readAccount, type WantedAccount} from './rotation-account.ts';

export type HostRotateResult = {target: MachineTarget; release: string} & TokenRotation;

/** The agents on this machine, and what gives them another token. */
export interface MachineTokens {
  tokens: HostTokens;
  /** A new token of the user. */
  given: Secret | undefined;
  account: AccountRotation | undefined;
}

/** Reads the agents, their token file and the account. Read-only. @throws ExpectedError */
export async function readMachineTokens(
  {target, release}: {target: MachineTarget; release: string},
  given: Secret | undefined,
  wanted: WantedAccount,
  context: CommandContext,
): Promise<MachineTokens> {
  const tokens = await readHostTokens(target, release, context);
  const {users, file, address} = tokens;
  const isNew = given !== undefined && !file.hasToken(given);
  if (isNew) requireSuccessor(given, {address});
  const isNeeded = needsToken(users, given !== undefined, isNew);
  const recorded = {users, pool: file.pool, address, record: file.path};
  const account = await readAccount(recorded, isNeeded, wanted);
  return {tokens, given: isNew ? given : undefined, account};
}

/** Replaces the token of agents on this machine. @throws ExpectedError */
export async function rotateOnHost(
  machine: MachineTokens,
  flags: ConfirmFlags,
  context: CommandContext,
): Promise<HostRotateResult> {
  const {target, release} = machine.tokens;
  const replacement = await context.untilInterrupted(() => replacementOf(machine, context));
  const rotated = await rotateToken(replacement, machine.account, flags, context);
  return {target, release, ...rotated};
}

async function replacementOf(
  {tokens, given, account}: MachineTokens,
  {screen}: CommandContext,
): Promise<TokenReplacement> {
  const {target, users, file, plan} = tokens;
  const planned = given ?? (account?.token === undefined ? undefined : PLACEHOLDER);
  const {steps, run} = await plan(planned);
  const engine = target === 'docker' ? 'Docker' : 'systemd';
  const place = {Target: `${engine} on this machine`, Token: file.path};
  return {
    users,
    record: file.path,
    steps,
    text: steps.length === 0 ? '' : `${stepsText(steps, place, screen)}\n`,
    warnings: [],
    async replace(deps, made, keep) {
      const next = made?.text ?? given;
      if (next !== undefined) {
        await file.replace(next, annotationsFor(tokens, made));
        // From here on, agents can use the token.
        keep();
      }
      await run(deps);
    },
    forget: () => file.forget(PREVIOUS_TOKEN),
  };
}

/** What the file records about its new token, until the old one is revoked and the service has restarted. */
function annotationsFor(
  {target, users, file}: HostTokens,
  made: CreatedToken | undefined,
): Record<string, string> {
  const pool = made ?? file.pool;
  const old = users.replaced ?? users.current;
  return {
    ...(pool && accountAnnotations({...pool, tokenId: made?.tokenId})),
    ...(old && {[PREVIOUS_TOKEN]: old}),
    ...(target === 'systemd' && {[RESTART]: 'pending'}),
  };
}
