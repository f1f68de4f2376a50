import type {TestProject} from 'vitest/node';
import {type Cluster, startCluster} from './start-cluster.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Kubeconfig of the cluster that all tests share. Use a separate namespace for each test. */
    kubeconfig: string;
    /** True for our kwok cluster: pods start without an image, end as their annotation says, and have logs set by the test. */
    simulated: boolean;
  }
}

let cluster: Cluster | undefined;

/** One cluster for all test files. To use an existing cluster, for example kind, set its kubeconfig; the current context is never used. */
export async function setup(project: TestProject): Promise<void> {
  const given = process.env['TEST_KUBECONFIG'];
  if (!given) cluster = await startCluster();
  project.provide('kubeconfig', given || (cluster?.kubeconfig as string));
  project.provide('simulated', !given);
}

export async function teardown(): Promise<void> {
  await cluster?.stop();
}
