import {expect, test} from 'vitest';
import type {PreflightContext} from '../../../../src/checks/preflight/facts/context.ts';
import type {ProbePlan} from '../../../../src/checks/preflight/facts/probe.ts';
import {
  mirrorChecks,
  mirrorProbeChecks,
} from '../../../../src/checks/preflight/probe/mirror-checks.ts';
import {planProbe} from '../../../../src/checks/preflight/probe/plan-probe.ts';
import {knownValue} from '../../../../src/ground/fact.ts';
import type {ManifestAnswer} from '../../../../src/ground/system/system.ts';
import {type Case, prove} from '../checks/prove.ts';
import {preflightContext} from '../context.ts';

const REGISTRY = 'registry.example.com/mirror';
const AGENT = `${REGISTRY}/scalr/agent:1.4.0`;
const RUNNER = `${REGISTRY}/scalr/runner:0.2.0`;
const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;
const FLAGS = {'image-registry': REGISTRY};
const PRIVATE = {...FLAGS, 'image-pull-secret': ['registry']};
const FOUND: ManifestAnswer = {state: 'found', digest: DIGEST};
const FAILED: ManifestAnswer = {state: 'failed', because: 'connection refused'};

const mirror = (agent: ManifestAnswer, runner: ManifestAnswer): Partial<PreflightContext> => ({
  mirror: {
    images: [
      {image: AGENT, answer: agent},
      {image: RUNNER, answer: runner},
    ],
    flags: ['--image-registry', REGISTRY],
  },
});

const PLAN: ProbePlan = {
  pod: 'scalr-agent-probe-1',
  objects: [],
  image: AGENT,
  url: undefined,
  proxy: undefined,
  urlProxies: new Map(),
  hasCertificates: false,
  notes: [],
};
const urlOf = (image: string, tag: string): string =>
  `https://registry.example.com/v2/mirror/scalr/${image}/manifests/${tag}`;

/** What the pod heard about both images. */
const probed = (agent: string, runner: string): Partial<PreflightContext> => ({
  ...mirror(FAILED, FAILED),
  probe: {
    plan: PLAN,
    seen: {
      causes: [],
      log: `probe manifest ${urlOf('agent', '1.4.0')} ${agent}\nprobe manifest ${urlOf('runner', '0.2.0')} ${runner}\nprobe done\n`,
    },
  },
});

const here = (
  is: Case['is'],
  when: string,
  but: Case['but'],
  flags: Case['flags'] = FLAGS,
): Case => ({
  id: 'mirror-images',
  is,
  when,
  flags,
  ...(but ? {but} : {}),
});
const inPod = (
  is: Case['is'],
  when: string,
  but: Case['but'],
  flags: Case['flags'] = FLAGS,
): Case => ({
  ...here(is, when, but, flags),
  id: 'probe-mirror',
});

prove(
  'mirror',
  [...mirrorChecks, ...mirrorProbeChecks],
  [
    here('nothing', 'there is no mirror', undefined, {}),
    here('pass', 'it has all', mirror(FOUND, {state: 'found'})),
    here(
      'pass',
      'the agent selects runner images',
      {mirror: {images: [{image: AGENT, answer: FOUND}], flags: []}},
      {...FLAGS, chart: 'agent-k8s', 'chart-version': '0.5.65'},
    ),
    here('fail', 'one is missing', mirror(FOUND, {state: 'missing'})),
    here(
      'warn',
      'one is missing or hidden',
      mirror({state: 'denied'}, {state: 'missing'}),
      PRIVATE,
    ),
    here('warn', 'nobody answers', mirror(FAILED, FAILED)),
    here('skip', 'it requires authentication', mirror({state: 'denied'}, {state: 'denied'})),
    here(
      'skip',
      'it requires the pull secret',
      mirror({state: 'denied'}, {state: 'denied'}),
      PRIVATE,
    ),
    here('skip', 'images are unknown', {mirror: {images: [], flags: []}}),
    inPod('nothing', 'there is no mirror', {probe: {because: 'unknown'}}, {}),
    inPod('nothing', 'the mirror is on this machine', {
      mirror: {images: [{image: 'localhost:5000/scalr/agent:1.4.0', answer: FOUND}], flags: []},
      probe: {because: 'unknown'},
    }),
    inPod('pass', 'it has all', probed('ok 200', 'ok 200')),
    inPod('fail', 'one is missing', probed('ok 200', 'ok 404')),
    inPod('warn', 'the certificate is not trusted', probed('untrusted', 'untrusted')),
    inPod('warn', 'it is broken', probed('ok 503', 'timeout')),
    inPod('skip', 'it requires authentication', probed('ok 401', 'ok 403')),
    inPod('skip', 'the image has no tool', {
      ...probed('', ''),
      probe: {plan: PLAN, seen: {causes: [], log: 'probe done\n'}},
    }),
    inPod('skip', 'there was no probe', {
      ...mirror(FOUND, FOUND),
      probe: {because: 'namespace scalr-agent does not exist yet'},
    }),
  ],
);

test('the probe asks for every image of the mirror, but not of one on this machine', async () => {
  const manifests = async (image: string): Promise<string | undefined> => {
    const context = await preflightContext(FLAGS, undefined, {
      mirror: {images: [{image, answer: FOUND}], flags: []},
    });
    const plan = planProbe(context, knownValue(context.manifest) ?? [], {
      existing: new Set(),
      seconds: 60,
      urls: [],
    });
    const pod = plan?.objects.at(-1) as unknown as {
      spec: {containers: {env: {name: string; value: string}[]}[]};
    };
    return pod.spec.containers[0]?.env.find(({name}) => name === 'PROBE_MANIFESTS')?.value;
  };
  expect(await manifests(RUNNER)).toBe(urlOf('runner', '0.2.0'));
  expect(await manifests('127.0.0.1:5000/scalr/runner:0.2.0')).toBe('');
});
