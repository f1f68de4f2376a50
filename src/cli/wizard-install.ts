import {anySignal} from '../ground/signals.ts';
import {prepareInstall} from '../operations/install.ts';
import type {WantedRelease} from '../operations/wanted-release.ts';
import type {Interrupts} from '../ports/processes.ts';
import {runPreflight} from '../preflight/run-preflight.ts';
import type {ScalrClient} from '../scalr/client.ts';
import {quote} from '../settings/settings.ts';
import type {Generated} from '../values/generate.ts';
import type {AnswerStore, ChosenPool} from '../wizard/answer-store.ts';
import type {ReviewedInstall} from '../wizard/review-files.ts';
import type {PoolInstall} from './install-pool.ts';

/** The pool for the code of `install --pool`. */
export const poolInstallOf = async (
  {host, name, id, mustExist = false}: ChosenPool,
  account: (host: string) => Promise<ScalrClient>,
): Promise<PoolInstall> => ({
  client: await account(host),
  pool: id ?? name,
  creates: id === undefined && !mustExist,
});

/** The flags that give the same pool. */
export const poolFlags = ({pool}: Pick<AnswerStore, 'pool'>): string[] =>
  pool === undefined ? [] : [`--pool ${quote(pool.name)}${pool.id === undefined && !pool.mustExist ? ' --create-pool' : ''}`];

/** Plan and preflight results of the install. Read-only. @throws ExpectedError if the install is impossible */
export async function prepareAndCheck(
  generated: Generated,
  wanted: Wanted,
  {skipsChecks, takesOver, drainTimeoutSeconds, ...deps}: PrepareOptions,
  {interrupt}: Interrupts,
): Promise<ReviewedInstall> {
  const signal = anySignal(AbortSignal.timeout(deps.timeoutMs), interrupt);
  const {facts, manifest, plan} = await prepareInstall(generated, wanted, deps, signal, {
    takesOver,
    timeoutMs: deps.timeoutMs,
    now: deps.now(),
    drainTimeoutSeconds,
  });
  const isChecked = !skipsChecks && plan.steps.length > 0;
  return {plan, facts, checks: isChecked ? await runPreflight(generated, wanted, deps, {manifest, context: facts.context}) : []};
}

type Wanted = Omit<WantedRelease, 'manifest'>;
type PrepareOptions = Parameters<typeof runPreflight>[2] & {skipsChecks: boolean; takesOver: boolean; drainTimeoutSeconds: number};
