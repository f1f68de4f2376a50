import {REQUIRED_MS} from '../kubernetes/fact-readers.ts';
import type {KubernetesObject, Pod} from '../kubernetes/objects.ts';
import {podLog, type Reader} from '../kubernetes/resources.ts';
import {isOfRun, type RunsOf} from '../release/inventory.ts';

/** Maximum number of runs, newest first. */
const MAX_RUNS = 3;
/** A run installs providers and modules at its start. */
const START_BYTES = 64 * 1024;

/** The first part of the logs of runs in the cluster that this account can read. */
export async function readRunLogs(
  objects: readonly KubernetesObject[],
  of: RunsOf,
  {kubernetes, namespace, signal}: {kubernetes: Reader; namespace: string; signal: AbortSignal},
): Promise<string[]> {
  // Pods of agent-k8s without a specific label only resemble runs.
  const isCertain = of.chart !== 'agent-k8s' || Object.keys(of.taskLabels).length > 0;
  const pods = objects.filter((object) => isCertain && object.kind === 'Pod' && isOfRun(object, of)) as Pod[];
  const newest = pods.toSorted((one, other) => (ageOf(one) < ageOf(other) ? 1 : -1)).slice(0, MAX_RUNS);
  const options = {signal, idleMs: REQUIRED_MS, namespace, limitBytes: START_BYTES};
  const logs = await Promise.all(
    newest.flatMap(({metadata, status}) =>
      [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
        .filter(({state}) => state?.running || state?.terminated)
        .map(({name}) => podLog(kubernetes, metadata.name, name, options)),
    ),
  );
  return logs.flatMap(({text}) => (text === '' ? [] : [text]));
}

const ageOf = ({metadata}: Pod): string => metadata.creationTimestamp ?? '';
