import type {Pod} from '../cluster/objects.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {statusesOf} from './log-items.ts';
import type {BundleWish, Prepared} from './prepare.ts';
import {hasRunId, isInName} from './run-id.ts';

type Wish = Pick<BundleWish, 'run' | 'container' | 'place'>;

/** What a name for nothing would leave in the bundle looks like all there is. @throws ExpectedError */
export function refuseUnknown(prepared: Prepared, wish: Wish): void {
  const {scope, present: {runs = []} = {}, gaps} = prepared;
  // What may be among the pods that could not be listed is not known.
  if (gaps.some(({what}) => what === 'Pod objects')) return;
  const {run, container, place} = wish;
  if (run !== undefined && !isThere(run, scope))
    throw unknown(`There is no run ${run} in namespace ${place.namespace}.`, [
      runs.length > 0 ? `Runs that are there: ${runs.join(', ')}` : 'No run is there: its pods vanish a minute after it',
      `Follow it from its beginning: --watch --run ${run}`,
    ]);
  const known = [...new Set(scope.pods.flatMap(containerNames))].toSorted();
  if (container !== undefined && known.length > 0 && !known.includes(container))
    throw unknown(`There is no container ${container} in namespace ${place.namespace}.`, [
      `Containers that are there: ${known.join(', ')}`,
    ]);
}

/** Its events stay for an hour, and its Job may. */
const isThere = (run: string, {pods, objects}: Prepared['scope']): boolean =>
  pods.some((pod) => hasRunId(pod, run)) || objects.some(({metadata}) => isInName(metadata.name, run));

/** Also of those that have not begun. */
const containerNames = (pod: Pod): string[] =>
  [...statusesOf(pod), ...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])].map(({name}) => name);

const unknown = (message: string, suggestions: readonly string[]): ExpectedError =>
  new ExpectedError(message, {code: 'INVALID_SETTING', exit: ExitCode.usage, suggestions});
