import {servedResources} from '../../cluster/kubernetes/discovery.ts';
import {unknownBy} from '../../cluster/kubernetes/object-facts.ts';
import type {KubernetesObject} from '../../cluster/kubernetes/objects.ts';
import {podSpecs} from '../../cluster/kubernetes/pod-specs.ts';
import {type Fact, known, type Unknown} from '../../ground/fact.ts';
import type {ClusterReading} from './cluster-reading.ts';

/** SCCs that allow a fixed user, or everything: https://docs.openshift.com/container-platform/4.18/authentication/managing-security-context-constraints.html */
const SCCS = ['nonroot-v2', 'nonroot', 'anyuid', 'privileged'];

/** The SCCs that all service accounts of the pods may use; none where the API server has no SCCs. */
export async function readUsableSccs(
  objects: readonly KubernetesObject[],
  reading: ClusterReading,
): Promise<Fact<readonly string[]>> {
  const {served} = await servedResources(reading.kubernetes, reading.options);
  const hasSccs = [...served.keys()].some((each) => each.startsWith('securitycontextconstraints.'));
  if (!hasSccs) return known([], 'no SCCs');
  const specs = objects.flatMap(podSpecs);
  const accounts = [
    ...new Set(specs.map((spec) => String(spec['serviceAccountName'] ?? 'default'))),
  ];
  const usable: string[] = [];
  for (const scc of SCCS) {
    const answers = await Promise.all(accounts.map((account) => mayUse(scc, account, reading)));
    const unread = answers.find((each) => typeof each !== 'boolean');
    if (unread !== undefined) return unread as Unknown;
    if (answers.every(Boolean)) usable.push(scc);
  }
  return known(usable, 'LocalSubjectAccessReview');
}

async function mayUse(
  scc: string,
  account: string,
  {kubernetes, options, name: {kubeTarget}}: ClusterReading,
): Promise<boolean | Unknown> {
  const {namespace} = kubeTarget;
  const answer = await kubernetes.post(
    `/apis/authorization.k8s.io/v1/namespaces/${namespace}/localsubjectaccessreviews`,
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'LocalSubjectAccessReview',
      metadata: {namespace},
      spec: {
        user: `system:serviceaccount:${namespace}:${account}`,
        groups: [
          'system:serviceaccounts',
          `system:serviceaccounts:${namespace}`,
          'system:authenticated',
        ],
        resourceAttributes: {
          namespace,
          verb: 'use',
          group: 'security.openshift.io',
          resource: 'securitycontextconstraints',
          name: scc,
        },
      },
    },
    options,
  );
  if (answer.error) return unknownBy(answer.error);
  return (answer.body as {status?: {allowed?: boolean}} | null)?.status?.allowed === true;
}
