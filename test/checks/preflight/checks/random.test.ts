import fc from 'fast-check';
import {expect, test} from 'vitest';
import {runChecks} from '../../../../src/checks/preflight/checks/check.ts';
import {CHECKS} from '../../../../src/checks/preflight/run-preflight.ts';
import {unknown} from '../../../../src/ground/fact.ts';
import {remedyText} from '../../../../src/ground/finding.ts';
import {PLATFORMS, platform} from '../../../cluster/platform/fake-cluster.ts';
import {numRuns} from '../../../support/sample.ts';
import type {RawFlags} from '../../../support/settings-from.ts';
import {preflightContext} from '../context.ts';

const NUM_RUNS = numRuns(20);

const KINDS = [
  'nodes',
  'daemonsets.apps',
  'storageclasses.storage.k8s.io',
  'namespaces',
  'services',
  'deployments.apps',
  'configmaps',
  'servicecidrs.networking.k8s.io',
  'nodes/proxy',
  'secrets',
  'secrets of the namespace',
];
const release = fc.record({
  name: fc.constantFrom('scalr-agent', 'blue'),
  namespace: fc.constantFrom('scalr-agent', 'other'),
  status: fc.constantFrom('deployed', 'failed', 'pending-install', 'uninstalling'),
  chart: fc.constantFrom(
    'agent-job-0.6.5',
    'agent-job-0.5.66',
    'agent-job-0.5.60',
    'agent-k8s-0.6.5',
    'agent-local-0.5.50',
    'nginx-1.0.0',
  ),
});
const flags: fc.Arbitrary<RawFlags> = fc.oneof(
  fc.record({chart: fc.constantFrom('agent-job', 'agent-k8s', 'agent-local')}),
  fc.constant({cloud: 'other', 'node-selector': ['pool=runs'], concurrency: '3'}),
  fc.constant({
    cloud: 'other',
    cache: 'pvc',
    'cache-storage-class': 'standard-rwx',
    'https-proxy': 'http://proxy.example.com:3128',
  }),
  fc.constant({
    cloud: 'other',
    chart: 'agent-k8s',
    cache: 'efs',
    'efs-handle': 'fs-0123456789abcdef0',
    'metadata-service': 'block',
  }),
);
const definitions = fc.subarray([
  'agentworkers.scalr.io',
  'atasks.scalr.io',
  'agenttasktemplates.scalr.io',
  'nodepools.karpenter.sh',
]);

const asked = fc.record({
  name: fc.constantFrom(...PLATFORMS),
  flags,
  releases: fc.array(release, {maxLength: 3}),
  definitions,
});

test('what may not be read makes nothing fail that does not fail otherwise, and every objection says what to do', async () => {
  await fc.assert(
    fc.asyncProperty(asked, fc.subarray(KINDS), fc.boolean(), async (each, refuse, isRendered) => {
      const found = platform(each.name);
      const cluster = {
        ...found,
        releases: each.releases,
        resources: [...found.resources, ...each.definitions],
      };
      // Without the nodes the provider may be unknown, and paths follow from that.
      const given = {cloud: 'other', ...each.flags};
      const all = runChecks(CHECKS, await preflightContext(given, cluster));
      const but = isRendered
        ? {}
        : {manifest: unknown('failed', 'helm refuses to render the chart')};
      const some = runChecks(CHECKS, await preflightContext(given, {...cluster, refuse}, but));
      // That helm does not render is itself a reason to fail.
      const failing = (checked: typeof all): string[] =>
        checked
          .filter(({code, verdict}) => verdict === 'error' && code !== 'chart-renders')
          .map(({code}) => code);
      expect(failing(all)).toEqual(expect.arrayContaining(failing(some)));
      for (const {verdict, message, remedies} of [...all, ...some]) {
        expect(message).toMatch(/\S/);
        if (verdict === 'warning' || verdict === 'error')
          expect(remedyText({remedies})).toMatch(/\S/);
      }
    }),
    {numRuns: NUM_RUNS},
  );
});
