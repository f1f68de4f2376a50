import fc from 'fast-check';
import {expect, test} from 'vitest';
import {answersFromFacts} from '../../../src/answers/discovered.ts';
import type {ClusterAccess} from '../../../src/cluster/helm/releases.ts';
import {apiErrorInText} from '../../../src/cluster/kubernetes/api-error.ts';
import type {ApiResult} from '../../../src/cluster/kubernetes/client.ts';
import {clusterFactsOf} from '../../../src/cluster/platform/cluster-facts.ts';
import {readCluster} from '../../../src/cluster/platform/readings.ts';
import type {ProcessResult} from '../../../src/ground/command-line.ts';
import {jsonIn} from '../../../src/ground/json.ts';
import {fakeKubernetes} from '../../support/fake-kubernetes.ts';
import {numRuns} from '../../support/sample.ts';
import {fakeAccess, PLATFORMS, platform, processesOf} from './fake-cluster.ts';

const NUM_RUNS = numRuns(20);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, {nil: undefined});
const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    '',
    'gce://p/z/n',
    'aws:///z/i',
    '://',
    'v1.35.0',
    'v1.x',
    'server',
    '10.0.0.0/8',
    '__proto__',
  ),
);
const texts = fc.dictionary(
  fc.oneof(
    text,
    fc.constantFrom('kubernetes.io/os', 'cloud.google.com/gke-nodepool', 'k3s.io/node-args'),
  ),
  text,
);
const strings = fc.array(text, {maxLength: 3});

const object = fc
  .record({
    apiVersion: fc.constantFrom(
      'v1',
      'apps/v1',
      'storage.k8s.io/v1',
      'networking.k8s.io/v1',
      'config.openshift.io/v1',
      'crd.projectcalico.org/v1',
    ),
    kind: fc.constantFrom(
      'Node',
      'DaemonSet',
      'StorageClass',
      'ServiceCIDR',
      'Network',
      'IPPool',
      'ClusterVersion',
      'Service',
      'ConfigMap',
    ),
    metadata: fc.record({
      name: fc.oneof(
        text,
        fc.constantFrom('aws-node', 'kindnet', 'anetd', 'kube-dns', 'kubeadm-config'),
      ),
      labels: maybe(texts),
      annotations: maybe(texts),
    }),
    provisioner: maybe(text),
    data: maybe(texts),
    spec: maybe(
      fc.record({
        providerID: maybe(text),
        podCIDR: maybe(text),
        podCIDRs: maybe(strings),
        cidrs: maybe(strings),
        cidr: maybe(text),
        taints: maybe(fc.array(fc.record({key: text, effect: text}), {maxLength: 2})),
        template: maybe(
          fc.record({
            spec: maybe(
              fc.record({
                containers: maybe(
                  fc.array(fc.record({name: text, image: maybe(text), args: maybe(strings)}), {
                    maxLength: 2,
                  }),
                ),
              }),
            ),
          }),
        ),
      }),
    ),
    status: maybe(
      fc.record({
        desiredNumberScheduled: maybe(fc.nat(3)),
        allocatable: maybe(texts),
        nodeInfo: maybe(
          fc.record({
            osImage: maybe(text),
            kubeletVersion: maybe(text),
            operatingSystem: maybe(text),
          }),
        ),
        serviceNetwork: maybe(fc.oneof(strings, text)),
        clusterNetwork: maybe(
          fc.array(fc.oneof(fc.record({cidr: text}), fc.constant(null)), {maxLength: 2}),
        ),
        desired: maybe(fc.record({version: maybe(text)})),
      }),
    ),
  })
  // What is missing in JSON is not there at all.
  .map((each) => JSON.parse(JSON.stringify(each)) as object);

const stdout = fc.oneof(
  fc.constantFrom('', '{}', '[]', 'null', '{', 'kind\n'),
  fc.array(object, {maxLength: 6}).map((items) => JSON.stringify({kind: 'List', items})),
  fc.constant(JSON.stringify({serverVersion: {gitVersion: 'v1.34.1-gke.1'}})),
  fc.constant(
    'servicecidrs.networking.k8s.io\nnetworks.config.openshift.io\nippools.crd.projectcalico.org\nclusterversions.config.openshift.io\n',
  ),
);
const stderr = fc.oneof(
  fc.constantFrom(
    '',
    'Error from server (Forbidden): nodes is forbidden: User "x"\n',
    'error: i/o timeout\n',
    'Warning: old\n',
  ),
  fc.string(),
);
const outcome: fc.Arbitrary<ProcessResult> = fc.record({
  exitCode: fc.constantFrom(0, 0, 1),
  stdout,
  stderr,
});

const answering = (answers: readonly ProcessResult[]): ClusterAccess => {
  let at = 0;
  const next = (): ProcessResult => answers[at++ % answers.length] as ProcessResult;
  const get = async (): Promise<ApiResult> => {
    const {exitCode, stdout: text, stderr: words} = next();
    return exitCode === 0
      ? {status: 200, body: jsonIn(text) ?? text}
      : {error: apiErrorInText(words)};
  };
  return {kubernetes: {...fakeKubernetes(), get}, processes: processesOf(async () => next())};
};

test('whatever kubectl and helm answer, there are facts, and they are plain JSON', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(outcome, {minLength: 5, maxLength: 12}), async (answers) => {
      const facts = clusterFactsOf(await readCluster({namespace: 'scalr'}, answering(answers)));
      expect(JSON.parse(JSON.stringify(facts))).toEqual(facts);
      for (const {because} of answersFromFacts(facts)) expect(because).not.toBe('');
    }),
    {numRuns: NUM_RUNS},
  );
});

const KINDS = [
  'nodes',
  'daemonsets.apps',
  'storageclasses.storage.k8s.io',
  'namespaces',
  'services',
  'deployments.apps',
  'configmaps',
];

test('a refusal takes facts away and makes none', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...PLATFORMS),
      fc.subarray([...KINDS, 'nodes/proxy', 'secrets']),
      async (name, refuse) => {
        const cluster = platform(name);
        const read = async (more: readonly string[]) =>
          clusterFactsOf(
            await readCluster(
              {namespace: 'scalr'},
              fakeAccess({...cluster, refuse: [...(cluster.refuse ?? []), ...more]}),
            ),
          );
        const all = await read([]);
        const some = await read(refuse);
        for (const {setting, value} of answersFromFacts(some)) {
          const known = answersFromFacts(all).find((each) => each.setting === setting);
          // Of two networks one may be missing.
          if (Array.isArray(value)) expect(known?.value).toEqual(expect.arrayContaining(value));
          else expect(known?.value).toBe(value);
        }
      },
    ),
    {numRuns: NUM_RUNS},
  );
});
