import {expect, onTestFinished, test} from 'vitest';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {kubectlFor} from '../control-plane/kubectl.ts';
import {setLogs} from '../control-plane/logs.ts';
import {DEFAULT_NODES} from '../control-plane/nodes.ts';
import {startCluster} from '../control-plane/start-cluster.ts';
import {recipe, type} from './recipe.ts';
import {BUILT, workshop} from './workshop.ts';

/** Commands of the quick start, each with the output that the README shows. */
const shown = (recipe('README.md').get('Quick start') ?? []).map(({text}) => {
  const [command = '', ...output] = text.trimEnd().split('\n');
  return {command: command.replace('$ ', ''), output};
});

/** Names and times that differ in every run. */
const stable = (text: string): string =>
  text
    .replaceAll(/\(\d+\.\d s\)|after \d+(\.\d)? s/g, 'TIME')
    .replaceAll(/-[0-9a-f]{8,10}-\w{5}\b/g, '-ID');

const part = (content: object): string =>
  Buffer.from(JSON.stringify(content)).toString('base64url');
const TOKEN = `${part({alg: 'HS256', typ: 'JWT'})}.${part({host: 'acme.scalr.io'})}.${'made-up'.repeat(6)}`;

const LOGS = {namespace: 'scalr-agent'};
/** Long enough ago for an error that does not pass. */
const AT = new Date(Date.now() - 60_000);
const UNTRUSTED = JSON.stringify({
  timestamp: AT.toISOString(),
  level: 'error',
  event: 'Cannot register the agent',
  exception: 'httpx.ConnectError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed',
});

test('the quick start shows what the program prints', async () => {
  const nodes = DEFAULT_NODES.map((node) => ({
    ...node,
    labels: {...node.labels, 'eks.amazonaws.com/nodegroup': 'runs'},
  }));
  const cluster = await startCluster({nodes});
  onTestFinished(cluster.stop);
  const kubectl = await kubectlFor(cluster.kubeconfig);
  const {provisioner} = await kubectl.get<{provisioner: string}>('storageclass', 'kwok-volume');
  await kubectl('delete', 'storageclass', 'kwok-volume');
  await kubectl.apply(
    {apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: {name: 'gp3'}, provisioner},
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {name: 'scalr-agent', labels: {'pod-security.kubernetes.io/enforce': 'baseline'}},
    },
  );
  await setLogs(cluster.kubeconfig, LOGS, {
    '*': {current: ['The agent is ready to receive tasks']},
  });
  const shop = await workshop(BUILT);
  const source = await directoryOf({chart: 'agent-local', version: '0.6.5'}, shop.folder);
  const env = {
    ...shop.env,
    SCALR_AGENT_TOKEN: TOKEN,
    KUBECONFIG: cluster.kubeconfig,
    SCALR_AGENT_INSTALL_CHART_SOURCE: source,
  };
  expect(shown).toHaveLength(3);
  for (const {command, output} of shown) {
    if (command === 'scalr-agent status')
      await setLogs(cluster.kubeconfig, LOGS, {'*': {current: [UNTRUSTED], at: AT}});
    const {stdout, stderr} = await type(command, {cwd: shop.cwd, env});
    const desired = output.map(stable);
    const printed = `${stdout}\n${stderr}`.split('\n').map(stable);
    expect(printed.filter((line) => desired.includes(line) && line !== '')).toEqual(
      desired.filter((line) => line !== ''),
    );
  }
}, 180_000);
