import {expect, onTestFinished, test} from 'vitest';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import type {CheckDocument} from '../../src/checks/preflight/checks/check.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {startCluster} from '../control-plane/start-cluster.ts';
import {chartFlags, installPlace, TOKEN} from '../support/install-place.ts';
import {preflight} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();

test('sees CRI-O, Fargate, spot nodes and the node selector of a project', async () => {
  const labels = {
    'eks.amazonaws.com/compute-type': 'fargate',
    'karpenter.sh/capacity-type': 'spot',
  };
  const cluster = await startCluster({
    nodes: [{name: 'special', labels, runtime: 'cri-o://1.35.0'}],
  });
  onTestFinished(() => cluster.stop());
  const place = await installPlace(cluster.kubeconfig);
  const checked = async (chart: ChartName, id: string, ...more: string[]) => {
    const argv = [...(await chartFlags(chart)), '--json', ...more];
    const {stdout} = await preflight(place, helm, argv, {env: TOKEN});
    const {checks} = JSON.parse(stdout) as {checks: CheckDocument[]};
    return checks.find((each) => each.id === id);
  };

  expect(await checked('agent-local', 'image-names')).toMatchObject({
    status: 'warn',
    remedy: 'Use --image-registry docker.io',
  });
  expect(
    await checked('agent-local', 'image-names', '--image-registry', 'docker.io'),
  ).toMatchObject({status: 'pass'});

  expect(await checked('agent-k8s', 'lasting-nodes')).toMatchObject({
    status: 'fail',
    message: expect.stringContaining('Fargate nodes, which run no DaemonSets'),
  });
  expect(await checked('agent-local', 'lasting-nodes')).toMatchObject({
    status: 'warn',
    message: expect.stringContaining('All nodes for runs are spot nodes'),
  });

  const selector = 'openshift.io/node-selector=pool=ci';
  await place.kubectl('annotate', 'namespace', place.namespace, selector);
  expect(await checked('agent-local', 'project-nodes')).toMatchObject({
    status: 'warn',
    message: expect.stringContaining(selector),
  });
  await place.kubectl('label', 'node', 'special', 'pool=ci');
  expect(await checked('agent-local', 'project-nodes')).toMatchObject({status: 'pass'});
});
