import type {TestProject} from 'vitest/node';
import {type Cluster, startCluster} from './start-cluster.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the kubeconfig of the cluster all tests share. Take a namespace of your own in it. */
    kubeconfig: string;
    /** It is our cluster: pods start without an image, fare as their annotation says and have the logs a test wants. */
    simulated: boolean;
  }
}

let cluster: Cluster | undefined;

/** One cluster for all test files. Whoever has one, say of kind, names its kubeconfig: nobody's current context is touched by accident. */
export async function setup(project: TestProject): Promise<void> {
  const given = process.env['TEST_KUBECONFIG'];
  if (!given) cluster = await startCluster();
  project.provide('kubeconfig', given || (cluster?.kubeconfig as string));
  project.provide('simulated', !given);
}

export async function teardown(): Promise<void> {
  await cluster?.stop();
}
