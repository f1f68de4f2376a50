import type {Pod, Snapshot, Workload} from '../../cluster/objects.ts';
import {rootOf} from '../../diagnose/snapshot-queries.ts';
import type {Evidence} from './evidence.ts';
import type {Finding} from './finding.ts';
import {foldAlike} from './fold-alike.ts';

/** What keeps no pod from being ready: an agent without any, and pods that were evicted and replaced, of which nothing else is told. */
export const unnoticed = (snapshot: Snapshot, pods: readonly Pod[], places: Evidence): Finding[] => [
  ...snapshot.workloads.filter(({kind, spec}) => kind === 'Deployment' && spec?.replicas === 0).map((each) => scaledToZero(each, places)),
  ...foldAlike(
    pods
      .filter(({status}) => status?.reason === 'Evicted')
      .map((pod) => ({key: rootOf(snapshot, pod).metadata.name, finding: evicted(pod, places)})),
  ),
];

const scaledToZero = ({metadata: {name}}: Workload, places: Evidence): Finding => ({
  severity: 'warning',
  code: 'SCALED_TO_ZERO',
  object: `deployment/${name}`,
  message: 'it was scaled to 0 replicas: there is no pod of it',
  ...places.inObject('deployment', name, '"replicas": 0'),
  remedy: `If nobody means it to rest: kubectl scale deployment ${name} --replicas=1`,
});

const evicted = ({metadata: {name}, status}: Pod, places: Evidence): Finding => ({
  severity: 'warning',
  code: 'EVICTED',
  object: `pod/${name}`,
  message: `it was evicted: ${status?.message ?? 'nothing says why'}`,
  ...places.inObject('pod', name, '"reason": "Evicted"'),
  remedy: 'The node ran out of what is named: add or enlarge nodes, or set requests near to what the agent uses',
});
