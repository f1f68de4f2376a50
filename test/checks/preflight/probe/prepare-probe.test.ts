import {expect, test} from 'vitest';
import type {PreflightContext} from '../../../../src/checks/preflight/facts/context.ts';
import type {ProbePlan, SkippedProbe} from '../../../../src/checks/preflight/facts/probe.ts';
import {prepareProbe} from '../../../../src/checks/preflight/probe/prepare-probe.ts';
import type {KubernetesClient} from '../../../../src/cluster/kubernetes/client.ts';
import type {Claim, KubernetesObject} from '../../../../src/cluster/kubernetes/objects.ts';
import {known, unknown} from '../../../../src/ground/fact.ts';
import {type FakeObject, fakeKubernetes} from '../../../support/fake-kubernetes.ts';
import {claim, clusterWith, preflightContext} from '../context.ts';

const DATA = {name: 'SCALR_AGENT_DATA_DIR', value: '/data'};
const CA = {name: 'SSL_CERT_FILE', value: '/ca/ca.crt'};

const deployment = (
  volume: object,
  env: readonly object[] = [DATA],
  serviceAccountName = 'agent',
): KubernetesObject =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {name: 'agent'},
    spec: {
      template: {
        spec: {
          serviceAccountName,
          containers: [
            {
              name: 'agent',
              image: 'scalr/agent:1',
              env,
              volumeMounts: [
                {name: 'data', mountPath: '/data'},
                {name: 'ca', mountPath: '/ca'},
              ],
            },
          ],
          volumes: [
            {name: 'data', ...volume},
            {name: 'ca', secret: {secretName: 'ca'}},
          ],
        },
      },
    },
  }) as KubernetesObject;
const account = {apiVersion: 'v1', kind: 'ServiceAccount', metadata: {name: 'agent'}};
const CACHE = {persistentVolumeClaim: {claimName: 'cache'}};

/** An API server where this is there and these verbs are allowed. */
const server = ({
  there = [] as object[],
  allows = (_: string): boolean => true,
  isWell = true,
} = {}): KubernetesClient =>
  fakeKubernetes({
    objects: there as FakeObject[],
    allows: ({verb, resource}) => allows(`${verb} ${resource}`),
    errors: (path) =>
      isWell || !path.endsWith('reviews')
        ? undefined
        : {kind: 'forbidden', message: 'no', status: 403},
  });

async function prepared(
  but: Partial<PreflightContext>,
  kubernetes = server(),
  cluster?: Parameters<typeof preflightContext>[1],
): Promise<ProbePlan | SkippedProbe> {
  const about = await preflightContext(
    {chart: 'agent-local', 'metadata-service': 'allow'},
    cluster,
  );
  return prepareProbe(
    {...about, manifest: known([deployment({emptyDir: {}})], 'helm template'), ...but},
    {kubernetes, signal: new AbortController().signal},
    {seconds: 60, urls: []},
  );
}

interface Spec {
  serviceAccountName: string;
  volumes: object[];
  containers: [{env: {name: string; value: string}[]}];
}
const specOf = (plan: ProbePlan | SkippedProbe): Spec =>
  ((plan as ProbePlan).objects.at(-1) as KubernetesObject & {spec: Spec}).spec;
const notesOf = (plan: ProbePlan | SkippedProbe): readonly string[] => (plan as ProbePlan).notes;
const manifest = (...objects: KubernetesObject[]): Partial<PreflightContext> => ({
  manifest: known(objects, 'helm template'),
});

test('skips the probe when the cluster, the chart or the namespace is missing', async () => {
  const about = await preflightContext();
  const versions = {
    ...about.facts.versions,
    server: unknown('timed-out', 'timed out waiting for a response'),
  };
  expect(await prepared({facts: {...about.facts, versions}})).toEqual({
    because: 'Cannot reach the Kubernetes API (timed out waiting for a response)',
  });
  expect(await prepared({manifest: unknown('failed', 'no chart')})).toEqual({
    because: 'the chart cannot be rendered: no chart',
  });
  expect(await prepared({}, server(), clusterWith([], {without: ['Namespace']}))).toMatchObject({
    remedy: 'Create it first: kubectl create namespace scalr-agent',
  });
  expect(await prepared(manifest(account))).toEqual({because: 'the chart creates no pod for runs'});
});

test('skips the probe when permissions are missing or cannot be reviewed', async () => {
  const allows = (what: string) => what !== 'delete pods' && what !== 'get pods';
  expect(await prepared({}, server({allows}))).toMatchObject({
    because: 'your user cannot delete pods, get pods, get pods/log',
    remedy: expect.stringContaining('verbs: [create, delete, list, get]'),
  });
  expect(await prepared({}, server({isWell: false}))).toEqual({
    because: expect.stringContaining('can create a pod: no'),
  });
});

test.each<[string, Partial<Claim>, boolean]>([
  ['is bound', {}, true],
  ['waits for its first pod', {status: {phase: 'Pending'}}, false],
  ['is for one pod', {spec: {accessModes: ['ReadWriteOncePod']}}, false],
])('a PVC that %s', async (_, more, isMounted) => {
  const claims = new Map([['cache', known(claim('cache', more), 'claims')]]);
  const plan = await prepared({...manifest(deployment(CACHE)), claims});
  expect(specOf(plan).volumes).toEqual([{name: 'data', ...(isMounted ? CACHE : {emptyDir: {}})}]);
  expect(notesOf(plan)).toEqual(
    isMounted ? [] : ['uses an emptyDir instead of PVC cache, which cannot be mounted yet'],
  );
});

test('uses service account default only when the chart creates the account and it does not exist yet', async () => {
  const name = async (objects: KubernetesObject[], there: object[] = []) =>
    specOf(await prepared(manifest(...objects), server({there}))).serviceAccountName;
  expect(await name([deployment(CACHE), account])).toBe('default');
  expect(await name([deployment(CACHE), account], [account])).toBe('agent');
  expect(await name([deployment(CACHE)])).toBe('agent');
});

const certificates = '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n';
const secret = (text: string): KubernetesObject =>
  ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: 'ca'},
    data: {'ca.crt': btoa(text)},
  }) as KubernetesObject;
const key = '-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n';

test('copies certificates of the chart into a ConfigMap, but no private key', async () => {
  const kinds = async (...objects: KubernetesObject[]) =>
    ((await prepared(manifest(deployment(CACHE, [CA]), ...objects))) as ProbePlan).objects.map(
      ({kind}) => kind,
    );
  expect(await kinds(secret(certificates))).toEqual(['ConfigMap', 'Pod']);
  expect(await kinds(secret(certificates + key))).toEqual(['Pod']);
  const without = await prepared(manifest(deployment(CACHE, [CA]), secret(certificates + key)));
  expect(notesOf(without)).toEqual([
    'ignores the certificates in Secret ca, which does not exist yet',
  ]);
  expect(specOf(without).containers[0].env).toEqual(expect.not.arrayContaining([CA]));
  expect(JSON.stringify(without)).not.toContain(btoa(key).slice(0, 20));
});
