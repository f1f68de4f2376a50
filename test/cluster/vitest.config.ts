import {join} from 'node:path';
import {defineConfig} from 'vitest/config';

const MEASURED = 'test/commands/collect-logs-memory.cluster.ts';

const shared = {
  root: join(import.meta.dirname, '../..'),
  // Those of this folder prove our own cluster; they say nothing about the one of somebody else.
  exclude: process.env['TEST_KUBECONFIG'] ? ['test/cluster/**'] : [],
  env: {NO_COLOR: '1'},
  testTimeout: 60_000,
  // The first start on a machine builds the control plane.
  hookTimeout: 1_200_000,
};

/** `npm run test:cluster`: the tests that need a Kubernetes API. */
export default defineConfig({
  test: {
    root: shared.root,
    // One cluster for both.
    globalSetup: [join(import.meta.dirname, 'global-setup.ts')],
    projects: [
      // The API server works too.
      {test: {...shared, name: 'cluster', include: ['test/**/*.cluster.ts'], exclude: [...shared.exclude, MEASURED], maxWorkers: 2}},
      // What works as hard as it can has the machine for itself.
      {test: {...shared, name: 'measured', include: [MEASURED], maxWorkers: 1, sequence: {groupOrder: 1}}},
    ],
  },
});
