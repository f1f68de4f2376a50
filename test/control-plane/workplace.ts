import {randomBytes} from 'node:crypto';
import {inject, onTestFinished, TestRunner} from 'vitest';
import {until} from './api.ts';
import {type Kubectl, kubectlFor} from './kubectl.ts';

export interface Workplace {
  kubeconfig: string;
  namespace: string;
  /** kubectl in the namespace of the test. */
  kubectl: Kubectl;
}

const newName = (): string => `test-${randomBytes(4).toString('hex')}`;

/** A new namespace in a cluster, by default the shared one, so that tests can run in parallel. */
export async function workplace(
  labels: Record<string, string> = {},
  kubeconfig = inject('kubeconfig'),
  namespace = newName(),
): Promise<Workplace> {
  const kubectl = await kubectlFor(kubeconfig, namespace);
  const path = `/api/v1/namespaces/${namespace}`;
  await kubectl.apply({apiVersion: 'v1', kind: 'Namespace', metadata: {name: namespace, labels}});
  // Later tests that read the cluster would read every remaining release.
  if (TestRunner.getCurrentTest() !== undefined)
    onTestFinished(
      async () => void (await kubectl.api('DELETE', `${path}/secrets?labelSelector=owner%3Dhelm`)),
    );
  // Pods are rejected until the default service account exists.
  await until('the namespace has a service account', async () =>
    Boolean(await kubectl.api('GET', `${path}/serviceaccounts/default`)),
  );
  return {kubeconfig, namespace, kubectl};
}
