import {describe, expect, test} from 'vitest';
import {Secret} from '../../src/ground/secret.ts';
import {token, tokenSecret, url} from '../../src/settings/agent.ts';
import {cache, cacheStorageClass} from '../../src/settings/cache.ts';
import type {Setting} from '../../src/settings/define.ts';
import {httpsProxy, workloadIdentity} from '../../src/settings/network.ts';
import {concurrency, purpose} from '../../src/settings/purpose.ts';
import {chart, chartSource, namespace, release} from '../../src/settings/release.ts';
import type {Answer} from '../../src/settings/settings.ts';
import {dataHome} from '../../src/settings/storage.ts';
import {apply, back, openQuestions} from '../../src/wizard/apply.ts';
import {chartChoices} from '../../src/wizard/ask-chart.ts';
import {decided} from '../../src/wizard/decisions.ts';
import type {InstalledAgent, KnownFacts} from '../../src/wizard/gathered-facts.ts';
import {next} from '../../src/wizard/next.ts';
import type {Reply} from '../../src/wizard/reply.ts';
import {startState, type WizardState} from '../../src/wizard/wizard-state.ts';
import {jwt} from './conversation.ts';

const given = (value: unknown): Answer => ({value, source: 'prompt'});
const TOKEN = given(new Secret(jwt({iss: 'acme.scalr.io'})));
const NO_HOST = given(new Secret(jwt({})));

/** Replies as a user gives them. */
const REPLIES: Readonly<Record<string, Reply>> = {
  cluster: {question: 'target', place: {kind: 'kubernetes', context: 'prod'}},
  files: {question: 'target', place: {kind: 'files'}},
  docker: {question: 'target', place: {kind: 'docker'}},
  vm: {question: 'target', place: {kind: 'systemd'}},
  continue: {question: 'requirements'},
  'files only': {question: 'requirements', place: {kind: 'files', context: 'prod'}},
  token: {question: token.id, answers: [[token, TOKEN]]},
  'token without host': {question: token.id, answers: [[token, NO_HOST]]},
  'no token': {question: token.id, answers: [[token, undefined]]},
  secret: {question: tokenSecret.id, answers: [[tokenSecret, given('mine')]]},
  url: {question: url.id, answers: [[url, given('https://acme.scalr.io')]]},
  pool: {
    question: 'pool',
    pool: {host: 'acme.scalr.io', name: 'production', id: 'apool-1'},
    answers: [[url, given('https://acme.scalr.io')]],
    alsoAsked: [url.id],
  },
  paste: {question: 'pool', pool: 'none'},
  'new agent': {question: 'elsewhere'},
  tools: {
    question: 'elsewhere',
    answers: [
      [namespace, given('tools')],
      [release, given('agents')],
    ],
  },
};

const INSTALLED: InstalledAgent = {
  release: 'scalr-agent',
  namespace: 'scalr-agent',
  chart: 'agent-local',
  version: '0.6.4',
  status: 'deployed',
  live: undefined,
  isTokenRejected: false,
  settings: new Map<string, unknown>([
    [url.id, 'https://acme.scalr.io'],
    [tokenSecret.id, 'mine'],
  ]),
};
const CLUSTER = {
  facts: {},
  storageClasses: [],
  nodePools: [],
  summary: 'EKS',
  isRead: true,
} as const;
const READ: KnownFacts = {cluster: {...CLUSTER, releases: []}, lacking: []};
const LACKING: KnownFacts = {...READ, lacking: [{what: 'helm', text: 'helm not found on PATH'}]};
const UNREACHABLE: KnownFacts = {cluster: {...CLUSTER, releases: [], isRead: false}, lacking: []};
const OPEN: KnownFacts = {...READ, installed: INSTALLED};
const POOLS: KnownFacts = {...READ, pools: {host: 'acme.scalr.io', pools: []}};
const TOOLS = {
  name: 'agents',
  namespace: 'tools',
  chart: 'agent-local',
  version: '0.6.5',
  status: 'deployed',
  values: {value: {}, source: 'helm'},
} as const;
const ELSEWHERE: KnownFacts = {...READ, cluster: {...CLUSTER, releases: [TOOLS]}};
const OWN: KnownFacts = {
  ...READ,
  cluster: {
    ...CLUSTER,
    releases: [TOOLS, {...TOOLS, name: 'scalr-agent', namespace: 'scalr-agent'}],
  },
};

const START = startState(new Map());
const nameOf = (state: WizardState, known: KnownFacts): string => {
  const step = next(state, known);
  return step.kind === 'question' ? step.id : step.kind;
};

/** The steps from the first question on, one more than replies. */
function walk(known: KnownFacts, replies: readonly string[], start = START): string[] {
  let state = start;
  const steps = [nameOf(state, known)];
  for (const reply of replies) {
    state = apply(state, REPLIES[reply] as Reply);
    steps.push(nameOf(state, known));
  }
  return steps;
}

const flag = (setting: Setting, value: unknown) =>
  startState(new Map([[setting.id, {value, source: 'flag'}]]));

describe('the way to the review', () => {
  test.each([
    ['three answers', READ, 'cluster, token', 'target, token, review'],
    ['files only', {}, 'files, token', 'target, token, review'],
    ['Docker', {}, 'docker, token', 'target, token, review'],
    ['a virtual machine', {}, 'vm, token', 'target, token, review'],
    ['an old token', READ, 'cluster, token without host, url', 'target, token, url, review'],
    [
      'an existing Secret',
      READ,
      'cluster, no token, secret, url',
      'target, token, token-secret, url, review',
    ],
    [
      'an existing Secret whose token names the account',
      {...READ, held: {keys: ['token'], token: new Secret(jwt({iss: 'acme.scalr.io'}))}},
      'cluster, no token, secret',
      'target, token, token-secret, review',
    ],
    ['a pool of the account', POOLS, 'cluster, pool', 'target, pool, review'],
    ['a token instead', POOLS, 'cluster, paste, token', 'target, pool, token, review'],
    [
      'something is missing',
      LACKING,
      'cluster, continue, token',
      'target, requirements, token, review',
    ],
    ['files instead', LACKING, 'cluster, files only, token', 'target, requirements, token, review'],
    [
      'no cluster answers',
      UNREACHABLE,
      'cluster, continue, token',
      'target, requirements, token, review',
    ],
    [
      'an agent elsewhere',
      ELSEWHERE,
      'cluster, new agent, token',
      'target, elsewhere, token, review',
    ],
    ['opens an agent elsewhere', ELSEWHERE, 'cluster, tools', 'target, elsewhere, token'],
    ['an installed agent', OPEN, 'cluster', 'target, installed'],
    [
      'an installed agent where something is missing',
      {...OPEN, lacking: LACKING.lacking ?? []},
      'cluster',
      'target, installed',
    ],
    ['an agent of the chosen name that cannot be read', OWN, 'cluster', 'target, token'],
  ] as const)('%s', (_, known, replies, steps) => {
    expect(walk(known, replies.split(', '))).toEqual(steps.split(', '));
  });

  test.each([
    [
      url,
      'https://acme.scalr.io',
      'cluster, no token, secret',
      'target, token, token-secret, review',
    ],
    [tokenSecret, 'mine', 'cluster, url', 'target, url, review'],
    [purpose, 'vcs', 'cluster, token', 'target, token, review'],
  ] as const)('does not ask what a flag says: %o', (setting, value, replies, steps) => {
    const start = flag(setting as Setting, value);
    expect(walk(READ, replies.split(', '), start)).toEqual(steps.split(', '));
  });

  test.each([
    [namespace, 'tools', 'elsewhere'],
    [namespace, 'other', token.id],
    [release, 'agents', 'elsewhere'],
    [release, 'other', token.id],
  ] as const)('offers the agents that agree with a flag: %o %s', (setting, value, step) => {
    expect(walk(ELSEWHERE, ['cluster'], flag(setting as Setting, value))).toEqual(['target', step]);
  });

  test('asks nothing about an opened release', () => {
    const state = apply(apply(START, REPLIES['cluster'] as Reply), {
      question: 'installed',
      adopts: INSTALLED,
    });
    expect(nameOf(state, OPEN)).toBe('review');
    expect(state.answers.get(tokenSecret)).toBe('mine');
  });

  test('asks again for the secrets of a resumed session', () => {
    const start = startState(new Map(), {
      asked: ['target'],
      place: {kind: 'files'},
      secrets: {[httpsProxy.id]: 'http://<user>:<password>@proxy:3128'},
    });
    expect(walk({}, ['token'], start)).toEqual([token.id, httpsProxy.id]);
  });
});

test('the URL of a token in a Secret is that of the agent, unless another one is given', () => {
  const known = {...READ, held: {keys: ['token'], token: new Secret(jwt({iss: 'acme.scalr.io'}))}};
  expect(decided(START, known).answers.get(url)).toBe('https://acme.scalr.io');
  const other = flag(url as Setting, 'https://other.scalr.io');
  expect(decided(other, known).answers.get(url)).toBe('https://other.scalr.io');
});

test('a chart source excludes the other charts', () => {
  const state = startState(
    new Map([
      [chartSource.id, given('charts/agent-job')],
      [chart.id, given('agent-job')],
    ]),
  );
  const possible = chartChoices(state, READ).filter(({disabled}) => disabled === undefined);
  expect(possible.map(({value}) => value)).toEqual(['agent-job']);
});

test.each([
  ['agent-k8s', 'agent-job', undefined],
  ['agent-local', 'agent-job', '/data'],
])('from %s to %s, the data directory becomes %s', (from, to, path) => {
  const before = startState(
    new Map([
      [chart.id, given(from)],
      [dataHome.id, given('/data')],
    ]),
  );
  const after = apply(before, {question: chart.id, answers: [[chart, given(to)]]});
  expect(after.answers.get(dataHome)).toBe(path);
});

test.each([
  [{'requests.cpu': 3000n, pods: 4000n}, 3],
  [{'requests.cpu': 3000n, pods: 2000n}, 2],
  [{'limits.cpu': 9000n}, 2],
  [{'limits.memory': 1n}, 5],
  [{'requests.cpu': 500n}, 5],
])('proposes as many runs as the quota %o allows', (quota, runs) => {
  const objects = {claims: [], secrets: [], serviceAccounts: [], identities: [], quotas: [quota]};
  const {answers} = decided(START, {...READ, objects});
  expect(answers.get(concurrency)).toBe(runs);
});

const REVIEW = ['cluster', 'token'].reduce(
  (state, reply) => apply(state, REPLIES[reply] as Reply),
  START,
);

describe('from the review', () => {
  test('a topic asks its questions, then Change is shown again', () => {
    let state = openQuestions({...REVIEW, isChanging: true}, [cache.id, cacheStorageClass.id]);
    expect(nameOf(state, READ)).toBe(cache.id);
    state = apply(state, {question: cache.id, answers: [[cache, given('pvc')]]});
    expect(nameOf(state, READ)).toBe(cacheStorageClass.id);
    state = apply(state, {
      question: cacheStorageClass.id,
      answers: [[cacheStorageClass, undefined]],
    });
    expect(nameOf(state, READ)).toBe('change');
  });

  test('questions without an effect are left out', () => {
    const state = apply(openQuestions(REVIEW, [cache.id, cacheStorageClass.id]), {
      question: cache.id,
      answers: [[cache, given('ephemeral')]],
    });
    expect(nameOf(state, READ)).toBe('review');
  });

  test('a chart removes what it does not support, and says so', () => {
    const before = apply(REVIEW, {question: cache.id, answers: [[cache, given('hostpath')]]});
    const after = apply(before, {question: chart.id, answers: [[chart, given('agent-local')]]});
    expect(after.answers.answer(cache)).toBeUndefined();
    expect(after.notes).toEqual([
      'Removed the answer for cache: the cache must be a PVC or an ephemeral volume.',
    ]);
  });

  test('a purpose removes what only runs have', () => {
    const before = apply(REVIEW, {
      question: workloadIdentity.id,
      answers: [[workloadIdentity, given('irsa')]],
    });
    const after = apply(before, {question: purpose.id, answers: [[purpose, given('vcs')]]});
    expect(after.answers.answer(workloadIdentity)).toBeUndefined();
    expect(after.notes).toEqual([
      'Removed the answer for workload identity: it no longer applies.',
    ]);
  });

  test('another place forgets the release that was open', () => {
    const opened = apply(REVIEW, {question: 'installed', adopts: INSTALLED});
    expect(opened.installed).toBeDefined();
    const after = apply(opened, REPLIES['files'] as Reply);
    expect(after.installed).toBeUndefined();
    expect(after.answers.answer(tokenSecret)).toBeUndefined();
  });
});

describe('Esc', () => {
  const from = (state: WizardState, known: KnownFacts): string | undefined => {
    const before = back(state, next(state, known), () => known);
    return before && nameOf(before, known);
  };

  test('leads from each step to the one before', () => {
    expect(from(START, READ)).toBeUndefined();
    expect(from(apply(START, REPLIES['cluster'] as Reply), READ)).toBe('target');
    expect(from(REVIEW, READ)).toBe(token.id);
    expect(from({...REVIEW, isChanging: true}, READ)).toBe('review');
    const topic = openQuestions({...REVIEW, isChanging: true}, [cache.id, cacheStorageClass.id]);
    expect(from(topic, READ)).toBe('change');
    const second = apply(topic, {question: cache.id, answers: [[cache, given('pvc')]]});
    expect(from(second, READ)).toBe(cache.id);
  });

  test('keeps the answer of the question that is asked again', () => {
    const before = back(REVIEW, {kind: 'review'}, () => READ);
    expect(before?.answers.answer(token)).toBe(TOKEN);
  });

  test('passes what is not asked any more', () => {
    const state = ['cluster', 'continue', 'token'].reduce(
      (each, reply) => apply(each, REPLIES[reply] as Reply),
      START,
    );
    expect(from(state, READ)).toBe(token.id);
    const atToken = back(state, {kind: 'review'}, () => READ) as WizardState;
    expect(from(atToken, READ)).toBe('target');
  });
});
