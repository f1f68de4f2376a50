import {once} from 'node:events';
import {mkdtempSync, rmSync} from 'node:fs';
import {readFile, writeFile} from 'node:fs/promises';
import {type AddressInfo, createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, describe, expect, test} from 'vitest';
import {parse, stringify} from 'yaml';
import {kubernetesClient} from '../../../src/cluster/kubernetes/connect.ts';
import {type ClusterFacts, clusterFactsOf} from '../../../src/cluster/platform/cluster-facts.ts';
import {readCluster} from '../../../src/cluster/platform/readings.ts';
import type {ClusterTarget} from '../../../src/ground/command-line.ts';
import {type Fact, isKnown, knownValue} from '../../../src/ground/fact.ts';
import {nodeProcesses} from '../../../src/ground/system/node-processes.ts';
import {findKubectl} from '../../control-plane/kubectl.ts';
import {startCluster} from '../../control-plane/start-cluster.ts';
import {workplace} from '../../control-plane/workplace.ts';
import {directoryOf} from '../helm/charts-under-test.ts';
import {findHelmMatrix} from '../helm/find-helm.ts';
import {platform} from './fake-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));

const kubectl = await findKubectl();
const helms = await findHelmMatrix();

async function factsAt(kubeTarget: ClusterTarget, helm: string): Promise<ClusterFacts> {
  const kubernetes = kubernetesClient(kubeTarget, {kubectl});
  try {
    return clusterFactsOf(
      await readCluster(kubeTarget, {kubernetes, processes: nodeProcesses({kubectl, helm})}),
    );
  } finally {
    await kubernetes.close();
  }
}

/** The same cluster, as somebody else sees it. */
async function kubeconfigAs(user: string, kubeconfig: string): Promise<string> {
  const config = parse(await readFile(kubeconfig, 'utf8')) as {
    users: {user: Record<string, unknown>}[];
  };
  for (const each of config.users) each.user['as'] = user;
  const path = join(scratch, `${user.replaceAll(/\W/g, '-')}.yaml`);
  await writeFile(path, stringify(config), {mode: 0o600});
  return path;
}

const reason = (fact: Fact<unknown>): string => (isKnown(fact) ? 'known' : fact.unknown);

describe.each(helms)('with Helm $major', ({path: helm, major}) => {
  test('an administrator sees everything', async () => {
    const {kubeconfig, namespace} = await workplace({
      'pod-security.kubernetes.io/enforce': 'baseline',
    });
    const chart = await directoryOf({chart: 'agent-k8s', version: '0.6.5'}, scratch);
    const values = [
      '--set',
      'agent.tokenExistingSecret=any,agent.url=https://acme.scalr.io,extraEnv.TF_VAR_x=hunter2',
    ];
    await execa(helm, [
      'install',
      'agent',
      chart,
      '--namespace',
      namespace,
      '--kubeconfig',
      kubeconfig,
      ...values,
    ]);
    const facts = await factsAt({kubeconfig, namespace}, helm);
    expect(knownValue(facts.versions.server)).toMatch(/^v1\.\d+\.\d+/);
    expect(knownValue(facts.nodes)?.length).toBeGreaterThan(0);
    expect(knownValue(facts.storageClasses)?.some(({isDefault}) => isDefault)).toBe(true);
    expect(knownValue(facts.networks.services)?.[0]).toMatch(/\/\d+$/);
    expect(knownValue(facts.policies.podSecurity)).toBe('baseline');
    expect(knownValue(facts.releases)?.scope).toBe('cluster');
    expect(
      knownValue(facts.releases)?.releases.filter((each) => each.namespace === namespace),
    ).toEqual([
      {
        name: 'agent',
        namespace,
        chart: 'agent-k8s',
        version: '0.6.5',
        status: 'deployed',
        values: {
          value: {
            agent: {tokenExistingSecret: 'any', url: 'https://acme.scalr.io'},
            extraEnv: {TF_VAR_x: '[hidden]'},
          },
          source: 'helm get values agent',
        },
      },
    ]);
    expect(JSON.stringify(facts)).not.toContain('hunter2');

    const jane = `jane-of-helm-${major}`;
    const own = await workplaceOf(kubeconfig, namespace, jane);
    const few = await factsAt({kubeconfig: own, namespace}, helm);
    expect(knownValue(few.releases)?.scope).toBe('namespace');
    expect(knownValue(few.releases)?.releases.map(({name}) => name)).toEqual(['agent']);
    expect(reason(few.nodes)).toBe('forbidden');
  });

  test('who may read nothing of the cluster learns what everybody may know, and why not more', async () => {
    const {kubeconfig, namespace} = await workplace();
    const facts = await factsAt(
      {kubeconfig: await kubeconfigAs('nobody', kubeconfig), namespace},
      helm,
    );
    expect(knownValue(facts.versions.server)).toMatch(/^v1\./);
    expect(knownValue(facts.definitions)).toBeDefined();
    const refused = [
      facts.nodes,
      facts.platform.cloud,
      facts.cni,
      facts.storageClasses,
      facts.networks.services,
      facts.policies.podSecurity,
      facts.releases,
    ];
    expect(refused.map(reason)).toEqual(refused.map(() => 'forbidden'));
    expect(facts.storageClasses).toMatchObject({
      because: expect.stringContaining('cannot list resource "storageclasses"'),
    });
  });
});

/** Somebody who may read what is in one namespace and nothing else. */
async function workplaceOf(kubeconfig: string, namespace: string, user: string): Promise<string> {
  const here = ['--kubeconfig', kubeconfig, '--namespace', namespace];
  await execa(kubectl, [
    ...here,
    'create',
    'role',
    'reader',
    '--verb=get,list',
    '--resource=secrets',
  ]);
  await execa(kubectl, [
    ...here,
    'create',
    'rolebinding',
    'reader',
    '--role=reader',
    `--user=${user}`,
  ]);
  return kubeconfigAs(user, kubeconfig);
}

describe('a server that', () => {
  const namedAt = async (server: string): Promise<string> => {
    const kubeconfig = join(scratch, 'nowhere.yaml');
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{name: 'x', cluster: {server}}],
      users: [{name: 'x', user: {token: 'x'}}],
      contexts: [{name: 'x', context: {cluster: 'x', user: 'x'}}],
      'current-context': 'x',
    };
    await writeFile(kubeconfig, stringify(config));
    return kubeconfig;
  };
  const reasonsAt = async (server: string): Promise<string[]> => {
    const facts = await factsAt(
      {kubeconfig: await namedAt(server), namespace: 'scalr'},
      helms[0]?.path ?? 'helm',
    );
    return [
      ...new Set(
        [
          facts.versions.server,
          facts.nodes,
          facts.cni,
          facts.releases,
          facts.definitions,
          facts.policies.podSecurity,
        ].map(reason),
      ),
    ];
  };

  test('is not there', async () => {
    expect(await reasonsAt('https://127.0.0.1:1')).toEqual(['failed']);
  });

  test('takes connections and says nothing costs one time-out, not the five of kubectl', async () => {
    const silent = createServer((socket) => void socket.on('error', () => undefined));
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const start = performance.now();
    try {
      expect(
        await reasonsAt(`https://127.0.0.1:${(silent.address() as AddressInfo).port}`),
      ).toEqual(['timed-out']);
      expect(performance.now() - start).toBeLessThan(20_000);
    } finally {
      silent.close();
    }
  });
});

test('the nodes of AKS, as a real API server has them', async () => {
  const nodes = platform('aks').objects.filter(({kind}) => kind === 'Node');
  const cluster = await startCluster({nodes: []});
  try {
    const apply = [
      '--kubeconfig',
      cluster.kubeconfig,
      'apply',
      '--validate=false',
      '--filename',
      '-',
    ];
    await execa(kubectl, apply, {
      input: JSON.stringify({apiVersion: 'v1', kind: 'List', items: nodes}),
    });
    const {platform: is, nodes: found} = await factsAt(
      {kubeconfig: cluster.kubeconfig, namespace: 'scalr'},
      helms[0]?.path ?? 'helm',
    );
    expect(knownValue(is.cloud)).toBe('aks');
    expect(knownValue(is.infrastructure)).toBe('azure');
    expect(knownValue(found)?.map(({name}) => name)).toEqual([
      'aks-newpool-20956280-vmss000000',
      'akswin000000',
    ]);
  } finally {
    await cluster.stop();
  }
});
