import {ExpectedError, interrupted, type Warning} from '../ground/errors.ts';
import type {Interrupts} from '../ports/system.ts';
import type {PoolToken} from '../scalr/account.ts';
import type {AccountRequest, Resource, ScalrClient} from '../scalr/client.ts';
import type {Purpose} from '../scalr/failure.ts';
import {revocationOf, revoking} from '../scalr/tokens.ts';

/** One request of a plan. */
export interface AccountStep {
  id: string;
  title: string;
  request: AccountRequest;
  purpose: Purpose;
  /** Deletes something that cannot be restored. */
  isDestructive?: boolean;
}

export interface AccountPlan {
  steps: readonly AccountStep[];
  warnings: readonly Warning[];
  /** Why Scalr would reject the plan. */
  blocked?: ExpectedError | undefined;
}

export interface AccountDeps {
  interrupts: Pick<Interrupts, 'interrupt' | 'forceQuit'>;
  onStep(step: AccountStep, state: 'started' | 'done'): void;
}

/** Sends the requests in order; the first Ctrl-C ends the run after the current one. Returns their answers. @throws ExpectedError */
export async function runAccountSteps(
  steps: readonly AccountStep[],
  client: ScalrClient,
  {interrupts: {interrupt, forceQuit}, onStep}: AccountDeps,
): Promise<(Resource | undefined)[]> {
  const answers: (Resource | undefined)[] = [];
  const done = (): string =>
    answers.length === 0
      ? ''
      : `Completed: ${steps
          .slice(0, answers.length)
          .map(({title}) => title)
          .join('; ')}.`;
  for (const step of steps) {
    if (interrupt.aborted) throw interrupted(done() || 'Nothing was changed.', interrupt);
    onStep(step, 'started');
    try {
      answers.push(await orLeft(client.send(step.request, step.purpose), forceQuit, () => `${done()} No answer yet: ${step.title}.`));
    } catch (error) {
      if (!(error instanceof ExpectedError) || error.code === 'INTERRUPTED' || answers.length === 0) throw error;
      throw new ExpectedError(`${error.message} ${done()}`, {...error, cause: error.cause});
    }
    onStep(step, 'done');
  }
  return answers;
}

/** The step that revokes a token for good. */
export const revokeStep = (token: Pick<PoolToken, 'id'>, title: string): AccountStep => ({
  ...{id: 'revoke-token', title, request: revocationOf(token), purpose: revoking(token), isDestructive: true},
});

/** The second Ctrl-C does not wait for the answer. */
async function orLeft<T>(work: Promise<T>, forceQuit: AbortSignal, state: () => string): Promise<T> {
  const listeners = new AbortController();
  const left = new Promise<never>((_, reject) => {
    const leave = (): void => reject(interrupted(state().trim(), forceQuit));
    if (forceQuit.aborted) leave();
    forceQuit.addEventListener('abort', leave, {once: true, signal: listeners.signal});
  });
  try {
    return await Promise.race([work, left]);
  } finally {
    listeners.abort();
  }
}
