import type {KubernetesObject, Snapshot, Workload} from '../../cluster/objects.ts';
import type {Probed} from '../../cluster/probe.ts';
import {oneLine} from '../../diagnose/error-text.ts';
import {explain} from '../../diagnose/explain.ts';
import type {Outcome} from '../../ports/processes.ts';
import {isForbidden} from '../../ports/tool-failure.ts';

/** Why the API server refused an object of the probe. Whatever refuses its pod also refuses those of a ReplicaSet, whose causes are known. */
export function refusal({kind = '', metadata}: KubernetesObject, outcome: Outcome): Probed['causes'][number] {
  const message = outcome.stderr.trim().replace(/^Error from server \(\w+\): (error when creating "[^"]*": )?/i, '');
  const workload: Workload = {
    kind: 'ReplicaSet',
    metadata,
    status: {conditions: [{type: 'ReplicaFailure', status: 'True', message}]},
  };
  const snapshot: Snapshot = {workloads: [workload], pods: [], claims: [], events: [], logs: {}};
  const [cause] = kind === 'Pod' && isForbidden(outcome) ? explain(snapshot, new Date(0)) : [];
  return {
    reason: oneLine(`${kind} ${metadata.name} cannot be made: ${message}`),
    remedy: cause?.remedy ?? 'Mend what the API server says, and run it again',
    // Pods of runs differ from the probe, so they may still be accepted.
    isHopeless: false,
  };
}
