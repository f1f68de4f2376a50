import {expect, test} from 'vitest';
import type {ClusterReading} from '../../../src/checks/preflight/cluster-reading.ts';
import {readUsableSccs} from '../../../src/checks/preflight/read-sccs.ts';
import type {KubernetesClient} from '../../../src/cluster/kubernetes/client.ts';
import type {KubernetesObject} from '../../../src/cluster/kubernetes/objects.ts';
import {known} from '../../../src/ground/fact.ts';
import {fakeKubernetes} from '../../support/fake-kubernetes.ts';

const OF_OPENSHIFT = ['securitycontextconstraints.security.openshift.io'];
const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {name: 'a'},
  spec: {template: {spec: {serviceAccountName: 'agent', containers: []}}},
} as KubernetesObject;

interface Review {
  spec: {user: string; resourceAttributes: {name: string; verb: string}};
}

/** An API server that allows what `allows` says. */
function read(resources: readonly string[], allows: (review: Review) => boolean | undefined) {
  const asked: Review[] = [];
  const post = (async (_: string, body: unknown) => {
    asked.push(body as Review);
    const allowed = allows(body as Review);
    return allowed === undefined
      ? {error: {kind: 'forbidden', message: 'reviews are forbidden'}}
      : {status: 201, body: {status: {allowed}}};
  }) as unknown as KubernetesClient['post'];
  const {get} = fakeKubernetes({resources});
  const kubeTarget = {namespace: 'tools'};
  const reading = {
    kubernetes: {get, post},
    name: {release: 'scalr-agent', kubeTarget},
    options: {signal: new AbortController().signal, idleMs: 1000},
  } as unknown as ClusterReading;
  return readUsableSccs([DEPLOYMENT], reading).then((sccs) => ({sccs, asked}));
}

test('asks for the service account of the pods', async () => {
  const {sccs, asked} = await read(
    OF_OPENSHIFT,
    ({spec}) => spec.resourceAttributes.name === 'anyuid',
  );
  expect(sccs).toEqual(known(['anyuid'], 'LocalSubjectAccessReview'));
  expect(asked[0]?.spec).toMatchObject({
    user: 'system:serviceaccount:tools:agent',
    resourceAttributes: {verb: 'use', name: 'nonroot-v2'},
  });
});

test('is unknown without the permission to ask', async () => {
  expect((await read(OF_OPENSHIFT, () => undefined)).sccs).toMatchObject({unknown: 'forbidden'});
});

test('asks nothing where there are no SCCs', async () => {
  expect(await read([], () => true)).toEqual({sccs: known([], 'no SCCs'), asked: []});
});
