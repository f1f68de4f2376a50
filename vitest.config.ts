import {defineConfig} from 'vitest/config';
import {templateFiles} from './scripts/template-files.ts';
import {SkipReport} from './test/support/skip-report.ts';

/** Proofs of the test cluster itself; what they guard rarely changes. */
const HARNESS = 'test/control-plane/**';
/** Memory on three versions of Node.js: slow, and needs the machine for itself. */
const MEMORY = 'test/commands/collect-logs-memory.cluster.ts';
/** `npm run test:full` */
const isFull = Boolean(process.env['TEST_FULL']);
/** Random operators on a Docker Engine take minutes: `OPERATOR_SEED=1 npx vitest run --project engines test/operator`. */
const OPERATOR = isFull || process.env['OPERATOR_SEED'] ? [] : ['test/operator/**'];
/** Slow, because real tools run: terminals, the packed program, helm, shells and curl. */
const WITH_TOOLS = ['pty', 'package', 'cluster/helm', 'recipes', 'checks/preflight/probe'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);
const skipsHarness = !isFull || Boolean(process.env['TEST_KUBECONFIG']);
const cluster = {
  // The tests wait for clusters and processes, more than for the processor.
  maxWorkers: 4,
  globalSetup: ['test/control-plane/global-setup.ts'],
  testTimeout: 300_000,
  // The first start on a machine builds the control plane.
  hookTimeout: 1_200_000,
};

export default defineConfig({
  plugins: [templateFiles],
  test: {
    // Modules are loaded once per worker, not once per file.
    isolate: false,
    // Half of the tests wait for a terminal or a tool.
    maxWorkers: 3,
    reporters: ['default', new SkipReport()],
    // A colour or a proxy of the developer must not change a golden file.
    env: {NO_COLOR: '1'},
    // Long, because they matter only when a test fails: the machine of a developer is busy.
    testTimeout: 120_000,
    hookTimeout: 300_000,
    expect: {poll: {timeout: 60_000}},
    setupFiles: ['test/support/property-seed.ts'],
    projects: [
      {extends: true, test: {name: 'unit', include: ['test/**/*.test.ts'], exclude: WITH_TOOLS}},
      {extends: true, test: {name: 'tools', include: WITH_TOOLS}},
      {extends: true, test: {name: 'browser', include: ['test/**/*.browser.ts']}},
      {extends: true, test: {name: 'engines', include: ['test/**/*.engine.ts'], exclude: OPERATOR}},
      {
        extends: true,
        test: {
          ...cluster,
          name: 'cluster',
          sequence: {groupOrder: 1},
          include: ['test/**/*.cluster.ts'],
          exclude: [MEMORY, ...(skipsHarness ? [HARNESS] : [])],
        },
      },
      ...(isFull
        ? [
            {
              extends: true as const,
              test: {...cluster, name: 'memory', include: [MEMORY], sequence: {groupOrder: 2}},
            },
          ]
        : []),
    ],
  },
});
