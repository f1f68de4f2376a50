import type {ContainerStatus, Pod, Snapshot} from '../../cluster/objects.ts';
import {containersOf, rootOf} from '../../diagnose/snapshot-queries.ts';
import type {Evidence} from './evidence.ts';
import type {Finding} from './finding.ts';
import {foldAlike} from './fold-alike.ts';

/** A pod that is well again has been unwell. */
export const restarts = (pods: readonly Pod[], snapshot: Snapshot, places: Evidence): Finding[] =>
  foldAlike(
    pods.flatMap((pod) =>
      containersOf(pod).flatMap((container) => {
        const finding = restartOf(pod, container, places);
        const key = [rootOf(snapshot, pod).metadata.name, container.name, finding?.code].join('/');
        return finding === undefined ? [] : [{key, finding}];
      }),
    ),
  );

function restartOf({metadata: {name: pod}}: Pod, container: ContainerStatus, places: Evidence): Finding | undefined {
  const {name, restartCount = 0, lastState} = container;
  const ended = lastState?.terminated;
  if (restartCount === 0 || ended === undefined) return undefined;
  const isMemory = ended.reason === 'OOMKilled';
  const inObject = places.inObject('pod', pod, `"reason": ${JSON.stringify(ended.reason ?? '')}`);
  return {
    severity: 'warning',
    code: isMemory ? 'OOM_KILLED' : 'RESTARTED',
    object: `pod/${pod}`,
    message: `container ${name} restarted ${restartCount === 1 ? 'once' : `${restartCount} times`}: ${ended.reason ?? 'it ended'} (exit code ${ended.exitCode ?? 'unknown'}${ended.finishedAt ? `, ${ended.finishedAt}` : ''})`,
    ...((isMemory ? inObject : undefined) ?? places.inLastWords(pod, name) ?? inObject),
    remedy: isMemory ? 'Give it more memory: --run-memory-limit for runs' : 'Read what it said before it ended',
  };
}
