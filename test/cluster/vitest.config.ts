import {join} from 'node:path';
import {defineConfig} from 'vitest/config';

/** `npm run test:cluster`: the tests that need a Kubernetes API. */
export default defineConfig({
  test: {
    root: join(import.meta.dirname, '../..'),
    include: ['test/**/*.cluster.ts'],
    // Those of this folder prove our own cluster; they say nothing about the one of somebody else.
    exclude: process.env['TEST_KUBECONFIG'] ? ['test/cluster/**'] : [],
    globalSetup: [join(import.meta.dirname, 'global-setup.ts')],
    env: {NO_COLOR: '1'},
    testTimeout: 60_000,
    // They wait more than they work.
    maxWorkers: 3,
    // The first start on a machine builds the control plane.
    hookTimeout: 1_200_000,
  },
});
