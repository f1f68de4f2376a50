import {randomBytes} from 'node:crypto';
import {inject, onTestFinished, TestRunner} from 'vitest';
import {until} from './api.ts';
import {type Kubectl, kubectlFor} from './kubectl.ts';

export interface Workplace {
  kubeconfig: string;
  namespace: string;
  /** Works in the namespace. */
  kubectl: Kubectl;
}

/** A fresh namespace in the cluster all tests share, so that they may run side by side. */
export async function workplace(labels: Record<string, string> = {}): Promise<Workplace> {
  const kubeconfig = inject('kubeconfig');
  const namespace = `test-${randomBytes(4).toString('hex')}`;
  const kubectl = await kubectlFor(kubeconfig, namespace);
  await kubectl.apply({apiVersion: 'v1', kind: 'Namespace', metadata: {name: namespace, labels}});
  // Every release that stays is read by every later test that reads the cluster.
  if (TestRunner.getCurrentTest() !== undefined)
    onTestFinished(async () => void (await kubectl('delete', 'secrets', '--selector=owner=helm')));
  // Without it a pod would be refused.
  await until('the namespace has a service account', async () => Boolean(await kubectl('get', 'serviceaccount', 'default')));
  return {kubeconfig, namespace, kubectl};
}
