import {expect, test} from 'vitest';
import {autoscalerOf} from '../../../src/cluster/platform/capacity.ts';
import {known, unknown} from '../../../src/ground/fact.ts';

const of = (status: string, annotations: Record<string, string> = {}) =>
  autoscalerOf({
    autoscalerStatus: known(
      {metadata: {name: 'cluster-autoscaler-status', annotations}, data: {status}},
      'a',
    ),
  });

/** https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/clusterstate/api/types.go */
const YAML = `time: 2025-12-11 14:40:54.65491129 +0000 UTC
autoscalerStatus: Running
clusterWide:
  health:
    status: Healthy
    nodeCounts:
      registered:
        total: 3
        ready: 3
nodeGroups:
- name: https://www.googleapis.com/compute/v1/projects/p/zones/z/instanceGroups/gke-runs-grp
  health:
    status: Healthy
    nodeCounts:
      registered:
        total: 1
        ready: 1
        notStarted: 0
    cloudProviderTarget: 1
    minSize: 0
    maxSize: 3
    lastProbeTime: "2025-12-11T14:40:54.65491129Z"
  scaleUp:
    status: NoActivity
- name: large
  health:
    status: Healthy
    minSize: 0
    maxSize: 2
  scaleUp:
    status: Backoff
    backoffInfo:
      errorCode: QUOTA_EXCEEDED
`;

/** https://learn.microsoft.com/azure/aks/cluster-autoscaler, of a version before 1.30. */
const TEXT = `Cluster-autoscaler status at 2018-07-25 22:59:22.661669494 +0000 UTC:
Cluster-wide:
  Health:      Healthy (ready=1 unready=0 notStarted=0 longNotStarted=0 registered=1 longUnregistered=0)
               LastProbeTime:      2018-07-25 22:59:22.067828801 +0000 UTC
  ScaleUp:     NoActivity (ready=1 registered=1)
  ScaleDown:   NoCandidates (candidates=0)

NodeGroups:
  Name:        nodepool1
  Health:      Healthy (ready=1 unready=0 notStarted=0 longNotStarted=0 registered=1 longUnregistered=0 cloudProviderTarget=1 (minSize=1, maxSize=5))
               LastProbeTime:      2018-07-25 22:59:22.067828801 +0000 UTC
  ScaleUp:     NoActivity (ready=1 cloudProviderTarget=1)
  ScaleDown:   NoCandidates (candidates=0)

  Name:        nodepool2
  Health:      Healthy (ready=2 unready=0 (resourceUnready=0) notStarted=0 longNotStarted=0 registered=2 longUnregistered=0 cloudProviderTarget=2 (minSize=1, maxSize=2))
  ScaleUp:     Backoff (ready=2 cloudProviderTarget=2)
  ScaleDown:   NoCandidates (candidates=0)
`;

test('YAML, since 1.30', () => {
  expect(
    of(YAML, {
      'cluster-autoscaler.kubernetes.io/last-updated': '2025-12-11 14:40:54.65491129 +0000 UTC',
    }),
  ).toEqual({
    value: {
      groups: [
        {name: 'gke-runs-grp', size: 1, maximum: 3, isHeldBack: false},
        {name: 'large', size: 0, maximum: 2, isHeldBack: true},
      ],
      at: new Date('2025-12-11T14:40:54Z'),
    },
    source: 'ConfigMap kube-system/cluster-autoscaler-status',
  });
});

test('text, before', () => {
  expect(of(TEXT)).toMatchObject({
    value: {
      groups: [
        {name: 'nodepool1', size: 1, maximum: 5, isHeldBack: false},
        {name: 'nodepool2', size: 2, maximum: 2, isHeldBack: true},
      ],
      at: undefined,
    },
  });
});

test('nothing is published, or nothing that is known here', () => {
  expect(autoscalerOf({autoscalerStatus: known(undefined, 'a')})).toMatchObject({value: undefined});
  expect(autoscalerOf({autoscalerStatus: unknown('forbidden', 'no')})).toEqual(
    unknown('forbidden', 'no'),
  );
  for (const status of ['', 'Initializing', 'autoscalerStatus: Initializing', ': {'])
    expect(of(status)).toMatchObject({unknown: 'undetermined'});
});
