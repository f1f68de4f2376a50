import {expect, test} from 'vitest';
import {
  type EndingObject,
  endingText,
  howToEnd,
} from '../../../src/cluster/kubernetes/ending-objects.ts';

const TARGET = {namespace: 'scalr', kubeContext: 'prod'};
const ending = (kind: string, more: Partial<EndingObject>, finalizers: string[] = []) => ({
  kind,
  ...more,
  metadata: {name: 'x', deletionTimestamp: '2026-11-27T01:00:00Z', finalizers},
});
const condition = (type: string, message: string) => ({
  status: {conditions: [{type, status: 'True', message}]},
});

const content = (finalizer: string) => ({
  status: {
    conditions: [
      {
        type: 'NamespaceContentRemaining',
        status: 'True',
        message:
          'Some resources are remaining: configmaps. has 1 resource instances, agenttasks.scalr.io has 2 resource instances',
      },
      {
        type: 'NamespaceFinalizersRemaining',
        status: 'True',
        message: `Some content in the namespace has finalizers remaining: ${finalizer} in 3 resource instances`,
      },
    ],
  },
});

// Messages of the API server 1.35.
test.each([
  [
    'the dead API service of a namespace',
    ending(
      'Namespace',
      condition(
        'NamespaceDeletionDiscoveryFailure',
        'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1',
      ),
    ),
    /metrics\.k8s\.io\/v1beta1/,
    /delete apiservice v1beta1\.metrics\.k8s\.io/,
  ],
  [
    'a finalizer in a namespace',
    ending('Namespace', content('example.com/hold')),
    /example\.com\/hold/,
    /removes example\.com\/hold from .* List them: kubectl get configmaps,agenttasks\.scalr\.io --namespace x /,
  ],
  [
    'a finalizer in a namespace that Kubernetes removes',
    ending('Namespace', content('kubernetes.io/pvc-protection')),
    /pvc-protection/,
    undefined,
  ],
  [
    'a finalizer of a pod',
    ending('Pod', {spec: {nodeName: 'n1'}}, ['example.com/hold']),
    /pending finalizers: example\.com\/hold/,
    /kubectl patch pod\/x .*finalizers/,
  ],
  [
    'the node of a pod',
    ending('Pod', {spec: {nodeName: 'n1'}}),
    /^node n1 has not stopped it yet/,
    /^If node n1 no longer exists, or is switched off: kubectl delete pod x .*--force/,
  ],
])('names %s', (_, object, text, how) => {
  expect(endingText(object)).toMatch(text);
  if (how === undefined) expect(howToEnd(object, TARGET)).toBeUndefined();
  else expect(howToEnd(object, TARGET)).toMatch(how);
});
