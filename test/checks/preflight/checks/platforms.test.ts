import {expect, test} from 'vitest';
import {checkDocument, runChecks} from '../../../../src/checks/preflight/checks/check.ts';
import {clusterChecks} from '../../../../src/checks/preflight/checks/cluster.ts';
import {networkChecks} from '../../../../src/checks/preflight/checks/network.ts';
import {nodeChecks} from '../../../../src/checks/preflight/checks/nodes.ts';
import {releaseChecks} from '../../../../src/checks/preflight/checks/release.ts';
import {storageChecks} from '../../../../src/checks/preflight/checks/storage.ts';
import type {PreflightContext} from '../../../../src/checks/preflight/facts/context.ts';
import {unknown} from '../../../../src/ground/fact.ts';
import {PLATFORMS, platform} from '../../../cluster/platform/fake-cluster.ts';
import {preflightContext} from '../context.ts';

const CHECKS = [
  ...clusterChecks,
  ...releaseChecks,
  ...storageChecks,
  ...networkChecks,
  ...nodeChecks,
];

const table = async (chart: string, but: Partial<PreflightContext> = {}): Promise<string> => {
  const rows = PLATFORMS.map(async (name) => {
    const checked = runChecks(CHECKS, await preflightContext({chart}, platform(name), but)).map(
      checkDocument,
    );
    const of = (desired: string): string[] => {
      const ids = checked.filter(({status}) => status === desired).map(({id}) => id);
      return ids.length === 0 ? [] : [`  ${desired} ${ids.join(', ')}`];
    };
    return [name, ...['fail', 'warn', 'skip', 'pass'].flatMap(of)].join('\n');
  });
  return `\n${(await Promise.all(rows)).join('\n')}\n`;
};

test('what is said of agent-k8s with its defaults', async () => {
  expect(await table('agent-k8s')).toMatchInlineSnapshot(`
    "
    gke-standard
      warn worker-nodes
      pass server-version, cloud-setting, host-path, release-name, object-names, node-data, ready-nodes, node-versions, run-nodes, controller-nodes, run-capacity, run-timeouts, node-architecture, windows-nodes, image-names, project-nodes, lasting-nodes
    gke-autopilot
      fail host-path
      warn run-timeouts
      pass server-version, cloud-setting, release-name, object-names, node-data, ready-nodes, node-versions, run-nodes, controller-nodes, run-capacity, node-architecture, windows-nodes, image-names, worker-nodes, project-nodes, lasting-nodes
    eks-al2023
      pass server-version, cloud-setting, host-path, release-name, object-names, node-data, ready-nodes, node-versions, run-nodes, controller-nodes, run-capacity, run-timeouts, node-architecture, windows-nodes, image-names, worker-nodes, project-nodes, lasting-nodes
    eks-bottlerocket
      skip node-architecture
      pass server-version, cloud-setting, host-path, release-name, object-names, node-data, ready-nodes, node-versions, run-nodes, controller-nodes, run-capacity, run-timeouts, windows-nodes, image-names, worker-nodes, project-nodes, lasting-nodes
    aks
      warn windows-nodes
      pass server-version, cloud-setting, host-path, release-name, object-names, node-data, ready-nodes, node-versions, run-nodes, controller-nodes, run-capacity, run-timeouts, node-architecture, image-names, worker-nodes, project-nodes, lasting-nodes
    openshift
      fail openshift-scc
      pass server-version, cloud-setting, host-path, release-name, object-names, node-data, ready-nodes, node-versions, run-nodes, controller-nodes, run-capacity, run-timeouts, node-architecture, windows-nodes, image-names, worker-nodes, project-nodes, lasting-nodes
    kind
      pass server-version, cloud-setting, host-path, release-name, object-names, node-data, ready-nodes, node-versions, run-nodes, controller-nodes, run-capacity, run-timeouts, node-architecture, windows-nodes, image-names, worker-nodes, project-nodes, lasting-nodes
    k3s
      warn worker-nodes
      pass server-version, cloud-setting, host-path, release-name, object-names, node-data, ready-nodes, node-versions, run-nodes, controller-nodes, run-capacity, run-timeouts, node-architecture, windows-nodes, image-names, project-nodes, lasting-nodes
    "
  `);
});

test('what is said of agent-local with its defaults', async () => {
  expect(await table('agent-local')).toMatchInlineSnapshot(`
    "
    gke-standard
      warn server-version, node-versions
      pass cloud-setting, release-name, object-names, ready-nodes, run-nodes, run-capacity, node-architecture, windows-nodes, image-names, project-nodes, lasting-nodes
    gke-autopilot
      pass server-version, cloud-setting, release-name, object-names, ready-nodes, node-versions, run-nodes, run-capacity, node-architecture, windows-nodes, image-names, project-nodes, lasting-nodes
    eks-al2023
      pass server-version, cloud-setting, release-name, object-names, ready-nodes, node-versions, run-nodes, run-capacity, node-architecture, windows-nodes, image-names, project-nodes, lasting-nodes
    eks-bottlerocket
      pass server-version, cloud-setting, release-name, object-names, ready-nodes, node-versions, run-nodes, run-capacity, node-architecture, windows-nodes, image-names, project-nodes, lasting-nodes
    aks
      warn windows-nodes
      pass server-version, cloud-setting, release-name, object-names, ready-nodes, node-versions, run-nodes, run-capacity, node-architecture, image-names, project-nodes, lasting-nodes
    openshift
      fail openshift-scc
      warn server-version, node-versions
      pass cloud-setting, release-name, object-names, ready-nodes, run-nodes, run-capacity, node-architecture, windows-nodes, image-names, project-nodes, lasting-nodes
    kind
      pass server-version, cloud-setting, release-name, object-names, ready-nodes, node-versions, run-nodes, run-capacity, node-architecture, windows-nodes, image-names, project-nodes, lasting-nodes
    k3s
      pass server-version, cloud-setting, release-name, object-names, ready-nodes, node-versions, run-nodes, run-capacity, node-architecture, windows-nodes, image-names, project-nodes, lasting-nodes
    "
  `);
});

test('what is said of agent-job with its defaults where its chart cannot be fetched', async () => {
  const manifest = unknown('failed', 'chart not found');
  expect(await table('agent-job', {manifest})).toMatchInlineSnapshot(`
    "
    gke-standard
      fail server-version, node-versions
      warn metadata-block
      skip object-names, run-nodes, controller-nodes, run-capacity, total-capacity, windows-nodes, image-names
      pass cloud-setting, release-name, crd, leftover-crds, metadata-dns, metadata-identity, ready-nodes, node-architecture, project-nodes, lasting-nodes
    gke-autopilot
      fail server-version, node-versions
      warn metadata-identity
      skip object-names, metadata-dns, run-nodes, controller-nodes, run-capacity, total-capacity, windows-nodes, image-names
      pass cloud-setting, release-name, crd, leftover-crds, metadata-block, ready-nodes, node-architecture, project-nodes, lasting-nodes
    eks-al2023
      fail server-version, node-versions
      skip object-names, metadata-block, run-nodes, controller-nodes, run-capacity, total-capacity, windows-nodes, image-names
      pass cloud-setting, release-name, crd, leftover-crds, metadata-dns, ready-nodes, node-architecture, project-nodes, lasting-nodes
    eks-bottlerocket
      fail server-version, node-versions
      skip object-names, run-nodes, controller-nodes, run-capacity, total-capacity, node-architecture, windows-nodes, image-names
      pass cloud-setting, release-name, crd, leftover-crds, metadata-block, metadata-dns, ready-nodes, project-nodes, lasting-nodes
    aks
      fail server-version, node-versions
      skip object-names, run-nodes, controller-nodes, run-capacity, total-capacity, windows-nodes, image-names
      pass cloud-setting, release-name, crd, leftover-crds, metadata-block, metadata-dns, ready-nodes, node-architecture, project-nodes, lasting-nodes
    openshift
      fail server-version, node-versions
      skip openshift-scc, object-names, metadata-block, run-nodes, controller-nodes, run-capacity, total-capacity, windows-nodes, image-names
      pass cloud-setting, release-name, crd, leftover-crds, metadata-dns, ready-nodes, node-architecture, project-nodes, lasting-nodes
    kind
      fail server-version, node-versions
      skip object-names, metadata-block, run-nodes, controller-nodes, run-capacity, total-capacity, windows-nodes, image-names
      pass cloud-setting, release-name, crd, leftover-crds, metadata-dns, ready-nodes, node-architecture, project-nodes, lasting-nodes
    k3s
      fail server-version, node-versions
      skip object-names, metadata-block, run-nodes, controller-nodes, run-capacity, total-capacity, windows-nodes, image-names
      pass cloud-setting, release-name, crd, leftover-crds, metadata-dns, ready-nodes, node-architecture, project-nodes, lasting-nodes
    "
  `);
});

test('what is said of agent-job with its defaults, rendered for a server that is new enough', async () => {
  expect(await table('agent-job')).toMatchInlineSnapshot(`
    "
    gke-standard
      fail server-version, node-versions
      warn metadata-block
      pass cloud-setting, release-name, object-names, crd, leftover-crds, metadata-dns, metadata-identity, ready-nodes, run-nodes, controller-nodes, run-capacity, node-architecture, windows-nodes, image-names, project-nodes, lasting-nodes
    gke-autopilot
      fail server-version, node-versions
      warn metadata-identity
      skip metadata-dns
      pass cloud-setting, release-name, object-names, crd, leftover-crds, metadata-block, ready-nodes, run-nodes, controller-nodes, run-capacity, node-architecture, windows-nodes, image-names, project-nodes, lasting-nodes
    eks-al2023
      fail server-version, node-versions
      skip metadata-block
      pass cloud-setting, release-name, object-names, crd, leftover-crds, metadata-dns, ready-nodes, run-nodes, controller-nodes, run-capacity, node-architecture, windows-nodes, image-names, project-nodes, lasting-nodes
    eks-bottlerocket
      fail server-version, node-versions
      skip node-architecture
      pass cloud-setting, release-name, object-names, crd, leftover-crds, metadata-block, metadata-dns, ready-nodes, run-nodes, controller-nodes, run-capacity, windows-nodes, image-names, project-nodes, lasting-nodes
    aks
      fail server-version, node-versions
      warn windows-nodes
      pass cloud-setting, release-name, object-names, crd, leftover-crds, metadata-block, metadata-dns, ready-nodes, run-nodes, controller-nodes, run-capacity, node-architecture, image-names, project-nodes, lasting-nodes
    openshift
      fail server-version, openshift-scc, node-versions
      skip metadata-block
      pass cloud-setting, release-name, object-names, crd, leftover-crds, metadata-dns, ready-nodes, run-nodes, controller-nodes, run-capacity, node-architecture, windows-nodes, image-names, project-nodes, lasting-nodes
    kind
      fail server-version, node-versions
      skip metadata-block
      pass cloud-setting, release-name, object-names, crd, leftover-crds, metadata-dns, ready-nodes, run-nodes, controller-nodes, run-capacity, node-architecture, windows-nodes, image-names, project-nodes, lasting-nodes
    k3s
      fail server-version, node-versions
      skip metadata-block
      pass cloud-setting, release-name, object-names, crd, leftover-crds, metadata-dns, ready-nodes, run-nodes, controller-nodes, run-capacity, node-architecture, windows-nodes, image-names, project-nodes, lasting-nodes
    "
  `);
});
