import {expect, onTestFinished, test} from 'vitest';
import type {KubernetesClient} from '../../src/cluster/kubernetes/client.ts';
import {kubernetesClient} from '../../src/cluster/kubernetes/connect.ts';
import {callText} from '../../src/ground/call-arguments.ts';
import {nodeProcesses, type ToolPaths} from '../../src/ground/system/node-processes.ts';
import type {Processes} from '../../src/ground/system/system.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {startCluster} from '../control-plane/start-cluster.ts';
import {chartFlags, installPlace, TOKEN} from '../support/install-place.ts';
import {install, preflight, status} from '../support/run-on-cluster.ts';
import {isExhaustive} from '../support/sample.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();
const URL = ['--url', 'https://acme.scalr.io'];

/** Counts what a command starts and requests; the proxy that carries the requests is one more process. */
class Counter {
  readonly processes: string[] = [];
  readonly requests: string[] = [];

  work() {
    const {processes, requests} = this;
    return {
      processes: processes.length,
      requests: requests.length,
      different: new Set(requests).size,
    };
  }

  deps() {
    return {
      env: TOKEN,
      processes: (paths: ToolPaths) => this.#processes(nodeProcesses(paths)),
      kubernetes: async (...where: Parameters<typeof kubernetesClient>) =>
        this.#client(await kubernetesClient(...where)),
    };
  }

  #processes(own: Processes): Processes {
    return {
      run: (call, options) => {
        this.processes.push(callText(call));
        return own.run(call, options);
      },
      start: (call) => {
        this.processes.push(callText(call));
        return own.start(call);
      },
    };
  }

  #client(own: KubernetesClient): KubernetesClient {
    const counted = (name: 'get' | 'stream') => (path: string, options: never) => {
      this.requests.push(path);
      return own[name](path, options);
    };
    return {...own, get: counted('get'), stream: counted('stream')} as KubernetesClient;
  }
}

/** More than this is a change to explain. */
test('preflight, install and status start so many processes and send so many requests', async () => {
  // Each release of another test would be read too.
  const cluster = await startCluster();
  onTestFinished(() => cluster.stop());
  const place = await installPlace(cluster.kubeconfig);
  const chart = await chartFlags('agent-local');
  const before = new Counter();
  await preflight(place, helm, [...chart, ...URL], before.deps());
  const during = new Counter();
  const {exit, stderr} = await install(place, helm, [...chart, '--yes'], during.deps());
  expect(exit, stderr).toBe(0);
  const after = new Counter();
  await status(place, helm, [], after.deps());
  expect(before.work()).toEqual({processes: 4, requests: 21, different: 21});
  // How often it asks whether the agent is ready depends on the machine.
  expect(during.work().processes).toBe(9);
  expect(during.work().different).toBeLessThanOrEqual(31);
  expect(after.work()).toEqual({processes: 1, requests: 12, different: 12});
});

/** The full size takes minutes to create. */
const NEIGHBORS = isExhaustive ? {pods: 5000, releases: 500} : {pods: 50, releases: 60};

const foreignPod = (index: number): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {name: `foreign-${index}`},
  spec: {nodeName: 'node-a', containers: [{name: 'web', image: 'nginx'}]},
});

const foreignRelease = (index: number): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'helm.sh/release.v1',
  metadata: {
    name: `sh.helm.release.v1.foreign-${index}.v1`,
    labels: {owner: 'helm', name: `foreign-${index}`, status: 'deployed', version: '1'},
  },
  stringData: {release: 'A'.repeat(2000)},
});

const many = (length: number, make: (index: number) => object): object[] =>
  Array.from({length}, (_, index) => make(index));

test('pods and releases of others cost few requests', async () => {
  const cluster = await startCluster();
  onTestFinished(() => cluster.stop());
  const place = await installPlace(cluster.kubeconfig);
  const neighbors = await installPlace(cluster.kubeconfig);
  const chart = await chartFlags('agent-local');
  const {exit, stderr} = await install(place, helm, [...chart, '--yes'], {env: TOKEN});
  expect(exit, stderr).toBe(0);
  const requestsOf = async (run: (counter: Counter) => Promise<unknown>): Promise<number> => {
    const counter = new Counter();
    await run(counter);
    return counter.work().requests;
  };
  const measured = async () => ({
    preflight: await requestsOf((each) => preflight(place, helm, [...chart, ...URL], each.deps())),
    status: await requestsOf((each) => status(place, helm, [], each.deps())),
    all: await requestsOf((each) => status(place, helm, ['--all-namespaces'], each.deps())),
  });
  const alone = await measured();
  await neighbors.kubectl.apply(
    ...many(NEIGHBORS.pods, foreignPod),
    ...many(NEIGHBORS.releases, foreignRelease),
  );
  const beside = await measured();
  for (const name of ['preflight', 'status', 'all'] as const)
    expect(beside[name], name).toBeLessThanOrEqual(alone[name] * 1.3);
});
