import {expect, test} from 'vitest';
import {known, unknown} from '../../../src/cluster/facts/fact.ts';
import type {Claim, KubernetesObject} from '../../../src/cluster/objects.ts';
import type {Call, Outcome} from '../../../src/ports/processes.ts';
import type {PreflightContext, ProbePlan, SkippedProbe} from '../../../src/preflight/preflight-context.ts';
import {prepareProbe} from '../../../src/preflight/probe/prepare-probe.ts';
import {claim, clusterWith, preflightContext} from '../context.ts';

const DATA = {name: 'SCALR_AGENT_DATA_DIR', value: '/data'};
const CA = {name: 'SSL_CERT_FILE', value: '/ca/ca.crt'};

const deployment = (volume: object, env: readonly object[] = [DATA], serviceAccountName = 'agent'): KubernetesObject =>
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
const server =
  ({there = [] as object[], allows = (_: string): boolean => true, isWell = true} = {}) =>
  async ({args, input}: Call): Promise<Outcome> => {
    if (args[0] === 'get') return {exitCode: 0, stdout: JSON.stringify({items: there}), stderr: ''};
    if (!isWell) return {exitCode: 1, stdout: '', stderr: 'Error from server (Forbidden): no'};
    const {items} = JSON.parse(String(input)) as {items: {spec: {resourceAttributes: {verb: string; resource: string}}}[]};
    const answers = items.map((each) => ({
      ...each,
      status: {allowed: allows(`${each.spec.resourceAttributes.verb} ${each.spec.resourceAttributes.resource}`)},
    }));
    return {exitCode: 0, stdout: answers.map((each) => JSON.stringify(each, null, 2)).join('\n'), stderr: ''};
  };

async function prepared(
  but: Partial<PreflightContext>,
  run = server(),
  cluster?: Parameters<typeof preflightContext>[1],
): Promise<ProbePlan | SkippedProbe> {
  const about = await preflightContext({chart: 'agent-local', 'metadata-service': 'allow'}, cluster);
  return prepareProbe({...about, manifest: known([deployment({emptyDir: {}})], 'helm template'), ...but}, {run}, 60);
}

interface Spec {
  serviceAccountName: string;
  volumes: object[];
  containers: [{env: {name: string; value: string}[]}];
}
const specOf = (plan: ProbePlan | SkippedProbe): Spec => ((plan as ProbePlan).objects.at(-1) as KubernetesObject & {spec: Spec}).spec;
const notesOf = (plan: ProbePlan | SkippedProbe): readonly string[] => (plan as ProbePlan).notes;
const manifest = (...objects: KubernetesObject[]): Partial<PreflightContext> => ({manifest: known(objects, 'helm template')});

test('there is none where nothing can be known or nothing has a place', async () => {
  const about = await preflightContext();
  const versions = {...about.facts.versions, server: unknown('timed-out', 'no answer in time')};
  expect(await prepared({facts: {...about.facts, versions}})).toEqual({because: 'the API server does not answer: no answer in time'});
  expect(await prepared({manifest: unknown('failed', 'no chart')})).toEqual({because: 'what the chart makes is not known: no chart'});
  expect(await prepared({}, server(), clusterWith([], {without: ['Namespace']}))).toMatchObject({
    remedy: 'Make it first: kubectl create namespace scalr-agent',
  });
  expect(await prepared(manifest(account))).toEqual({because: 'the chart makes no pod that stands for runs'});
});

test('who may not make it is told what is missing; who cannot be asked about makes none', async () => {
  const allows = (what: string) => what !== 'delete pods' && what !== 'get pods';
  expect(await prepared({}, server({allows}))).toMatchObject({
    because: 'the account may not delete pods, get pods, get pods/log',
    remedy: expect.stringMatching(/verbs:[\s\S]*"delete"/),
  });
  expect(await prepared({}, server({isWell: false}))).toEqual({because: expect.stringContaining('is not known: no')});
});

test.each<[string, Partial<Claim>, boolean]>([
  ['is bound', {}, true],
  ['waits for its first pod', {status: {phase: 'Pending'}}, false],
  ['is for one pod', {spec: {accessModes: ['ReadWriteOncePod']}}, false],
])('a claim that %s', async (_, more, isMounted) => {
  const claims = new Map([['cache', known(claim('cache', more), 'claims')]]);
  const plan = await prepared({...manifest(deployment(CACHE)), claims});
  expect(specOf(plan).volumes).toEqual([{name: 'data', ...(isMounted ? CACHE : {emptyDir: {}})}]);
  expect(notesOf(plan)).toEqual(isMounted ? [] : ['an empty volume stands in for the claim cache, which cannot be mounted yet']);
});

test('the account of the chart where it is there, and one that the chart does not make in any case', async () => {
  const name = async (objects: KubernetesObject[], there: object[] = []) =>
    specOf(await prepared(manifest(...objects), server({there}))).serviceAccountName;
  expect(await name([deployment(CACHE), account])).toBe('default');
  expect(await name([deployment(CACHE), account], [account])).toBe('agent');
  expect(await name([deployment(CACHE)])).toBe('agent');
});

const certificates = '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n';
const secret = (text: string): KubernetesObject =>
  ({apiVersion: 'v1', kind: 'Secret', metadata: {name: 'ca'}, data: {'ca.crt': btoa(text)}}) as KubernetesObject;
const key = '-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n';

test('certificates of the chart travel in a ConfigMap, a key never', async () => {
  const kinds = async (...objects: KubernetesObject[]) =>
    ((await prepared(manifest(deployment(CACHE, [CA]), ...objects))) as ProbePlan).objects.map(({kind}) => kind);
  expect(await kinds(secret(certificates))).toEqual(['ConfigMap', 'Pod']);
  expect(await kinds(secret(certificates + key))).toEqual(['Pod']);
  const without = await prepared(manifest(deployment(CACHE, [CA]), secret(certificates + key)));
  expect(notesOf(without)).toEqual(['the Secret ca is not there yet, so its certificates are left out']);
  expect(specOf(without).containers[0].env).toEqual(expect.not.arrayContaining([CA]));
  expect(JSON.stringify(without)).not.toContain(btoa(key).slice(0, 20));
});
