import type {ScalrPool} from '../../checks/status/account.ts';
import {untilAborted} from '../../ground/async.ts';
import {completedText, ExpectedError, interrupted, isInterrupt} from '../../ground/errors.ts';
import type {SettingFinding} from '../../ground/finding.ts';
import type {Interrupts} from '../../ground/system/system.ts';
import type {AccountRequest, Resource, ScalrClient} from './client.ts';
import type {Purpose} from './failure.ts';

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
  warnings: readonly SettingFinding[];
  /** Why Scalr would reject the plan. */
  blocked?: ExpectedError | undefined;
}

/** A plan for a pool; without steps, the pool is as it should be. */
export interface PoolPlan extends AccountPlan {
  pool: ScalrPool;
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
  const done = (): string => completedText(steps.slice(0, answers.length)).trim();
  for (const step of steps) {
    if (interrupt.aborted) throw interrupted(done() || 'Nothing was changed.', interrupt);
    onStep(step, 'started');
    try {
      const sent = client.send(step.request, step.purpose).then((answer) => ({answer}));
      const received = await untilAborted(sent, forceQuit);
      // The second Ctrl-C does not wait for the answer.
      if (received === undefined)
        throw interrupted(`${done()} No response yet: ${step.title}.`.trim(), forceQuit);
      answers.push(received.answer);
    } catch (error) {
      if (!(error instanceof ExpectedError) || isInterrupt(error) || answers.length === 0)
        throw error;
      throw error.with(`${error.message} ${done()}`, error.suggestions);
    }
    onStep(step, 'done');
  }
  return answers;
}
