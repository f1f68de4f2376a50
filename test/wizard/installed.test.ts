import {Config} from '@oclif/core';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {parse} from 'yaml';
import {ownLabels} from '../../src/cluster/kubernetes/own-objects.ts';
import {argumentsOf} from '../../src/ground/call-arguments.ts';
import type {Processes, TextQuestion} from '../../src/ground/system/system.ts';
import {
  around,
  crashed,
  READY_DEPLOYMENT,
  readyPod,
  replicaSet,
  START,
} from '../checks/diagnose/objects.ts';
import {certificates} from '../support/certificates.ts';
import {type FakeObject, fakeKubernetes} from '../support/fake-kubernetes.ts';
import {helmRecord} from '../support/helm-record.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {ENTER, ESC, type Line} from '../support/scripted-prompter.ts';
import {
  change,
  choicesOf,
  interrupt,
  jwt,
  QUIT,
  reviewsIn,
  rowOf,
  shown,
  talk,
} from './conversation.ts';

const NAME = {name: 'scalr-agent', namespace: 'scalr-agent', chart: 'agent-local-0.6.4'};
const VALUES = {
  agent: {url: 'https://acme.scalr.io', tokenExistingSecret: {name: 'mine'}},
  replicaCount: 3,
};
const PEM = (certificates['ca.pem'] as Buffer).toString('utf8');
const TARGET: Line = ['Where will the agent run', ENTER];
const QUESTION = 'is installed in';

const helm: Processes['run'] = async (call) => {
  const args = argumentsOf(call);
  const contexts = [{name: 'prod-eks', context: {cluster: 'prod'}}];
  if (args.includes('view'))
    return {
      exitCode: 0,
      stdout: JSON.stringify({'current-context': 'prod-eks', contexts}),
      stderr: '',
    };
  return {exitCode: 1, stdout: '', stderr: 'Error: release: not found'};
};
const run = (lines: readonly Line[], argv: readonly string[] = []) =>
  talk(lines, {
    argv: ['--cloud', 'eks', ...argv],
    answer: helm,
    kubernetes: fakeKubernetes({objects: [helmRecord({...NAME, values: VALUES})]}),
  });

test('opens the review with the settings of the release, and asks for no token', async () => {
  const {asked, stderr} = await run([
    TARGET,
    [QUESTION, 'change'],
    ['What do you want to do?', 'print'],
    ...QUIT,
  ]);
  expect(asked[1]?.message).toBe('scalr-agent is installed in prod-eks · namespace scalr-agent');
  expect(shown(asked)).toContain('agent-local 0.6.4 · not ready');
  expect(choicesOf(asked, QUESTION).map(({label}) => label)).toEqual([
    'Change settings',
    'Upgrade',
    'Show status',
    'Install another release',
    'Uninstall…',
  ]);
  expect(choicesOf(asked, QUESTION)[1]?.description).toMatch(/^newest known chart is 0\.6\.\d+$/);
  expect(stderr).toContain('Review  agent-local 0.6.4 → prod-eks');
  expect(rowOf(stderr, 'Runs')).toMatch(/^Runs 3 at a time/);
  expect(stderr).not.toContain('changed:');
  expect(stderr).toContain('--concurrency 3');
  expect(stderr).toContain('--token-secret mine');
});

test('offers to fix what the installed release lacks', async () => {
  const objects = [
    ...around(crashed({exitCode: 137, reason: 'OOMKilled'})).map((each) =>
      inNamespace(each.kind === 'Pod' ? 'v1' : 'apps/v1', each, 'scalr'),
    ),
    helmRecord({name: 'acme', namespace: 'scalr', chart: 'agent-local-0.6.4', values: VALUES}),
  ];
  const {asked, stderr} = await talk(
    [
      TARGET,
      [QUESTION, 'change'],
      ['What do you want to do?', ENTER],
      ['Memory limit', '4Gi'],
      ...QUIT,
    ],
    {
      argv: ['--cloud', 'eks', '--release', 'acme', '--namespace', 'scalr'],
      answer: helm,
      kubernetes: fakeKubernetes({objects, log: () => ''}),
    },
  );
  expect(shown(asked)).toContain('× OOM_KILLED  pod/agent-5f-x');
  const [before, after] = reviewsIn(stderr);
  expect(before).toContain('OOM_KILLED  now: pod/agent-5f-x');
  expect(after).not.toContain('OOM_KILLED');
  expect(after).toMatch(/changed: .*4Gi/);
});

test('says what runs now', async () => {
  const objects = [
    inNamespace('apps/v1', READY_DEPLOYMENT, 'scalr'),
    inNamespace('apps/v1', replicaSet({readyReplicas: 1}), 'scalr'),
    inNamespace('v1', readyPod(), 'scalr'),
    helmRecord({name: 'acme', namespace: 'scalr', chart: 'agent-local-0.6.4', values: VALUES}),
  ];
  const {asked} = await talk([TARGET, [QUESTION, ENTER], ...QUIT], {
    argv: ['--cloud', 'eks', '--release', 'acme', '--namespace', 'scalr'],
    answer: helm,
    kubernetes: fakeKubernetes({
      objects,
      log: () => `${START} Scalr agent is ready to receive tasks.`,
    }),
  });
  expect(asked[1]?.message).toBe('acme is installed in prod-eks · namespace scalr');
  expect(shown(asked)).toContain('agent-local 0.6.4 · ready · 1 of 1 agent registered');
});

const inNamespace = (
  apiVersion: string,
  object: object,
  namespace = NAME.namespace,
): FakeObject => {
  const {metadata} = object as FakeObject;
  return {...object, apiVersion, metadata: {...metadata, namespace}} as FakeObject;
};

const EKS_NODE: FakeObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'one',
    labels: {'eks.amazonaws.com/nodegroup': 'a', 'kubernetes.io/os': 'linux'},
  },
  spec: {providerID: 'aws:///eu-1/i-1'},
  status: {
    nodeInfo: {operatingSystem: 'linux', kubeletVersion: 'v1.35.1', osImage: 'Bottlerocket OS 1.2'},
    allocatable: {cpu: '4', memory: '16Gi'},
    conditions: [{type: 'Ready', status: 'True'}],
  },
} as FakeObject;
const SERVICES: FakeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: {name: 'kubernetes'},
  spec: {cidrs: ['172.20.0.0/16']},
} as FakeObject;

/** The values.yaml that was shown. */
const valuesIn = (stderr: string): unknown => {
  const lines = stderr.split('\n');
  const first = lines.findIndex((line) => /^\w+:$/.test(line));
  const length = lines.slice(first).findIndex((line) => !/^(\s|#|\w+:|$)/.test(line));
  return parse(lines.slice(first, first + length).join('\n'));
};

describe('a token that Scalr rejects', () => {
  const REJECTED = '2026-11-26T10:00:00Z 401 Client Error: Unauthorized for url: https://acme';
  const NEW = jwt({iss: 'acme.scalr.io', sub: 'apool-new'});
  const OF_ACME = ['--cloud', 'eks', '--release', 'acme'];
  const MINE: FakeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: 'mine', namespace: NAME.namespace},
  } as FakeObject;
  const talkTo = (
    lines: readonly Line[],
    place: object = {},
    objects: readonly FakeObject[] = [],
  ) =>
    talk(lines, {
      argv: OF_ACME,
      answer: helm,
      kubernetes: fakeKubernetes({
        objects: [
          ...objects,
          helmRecord({...NAME, name: 'acme', values: VALUES}),
          inNamespace('apps/v1', READY_DEPLOYMENT),
          inNamespace('apps/v1', replicaSet({readyReplicas: 0})),
          inNamespace('v1', crashed({reason: 'Error', exitCode: 1})),
        ],
        log: () => REJECTED,
      }),
      ...place,
    });

  test('can be replaced in the first menu', async () => {
    const {asked, stderr} = await talkTo([
      TARGET,
      [QUESTION, ENTER],
      ['Agent pool token', NEW],
      ['What do you want to do?', ESC],
      [QUESTION, 'token'],
      ['Agent pool token', ESC],
      [QUESTION, 'change'],
      ...QUIT,
    ]);
    expect(shown(asked)).toContain('× Scalr rejects the token of the agent.');
    expect(choicesOf(asked, QUESTION)[0]?.label).toBe('Enter a new token');
    const [replaced, unchanged] = reviewsIn(stderr);
    expect(replaced).toContain('changed: token replaced');
    expect(unchanged).not.toContain('changed:');
    expect(shown(asked)).not.toContain(NEW);
  });

  test('is not accepted again', async () => {
    const present = {...MINE, data: {token: Buffer.from(NEW).toString('base64')}} as FakeObject;
    const other = jwt({iss: 'acme.scalr.io', sub: 'another'});
    const lines: Line[] = [
      TARGET,
      [QUESTION, ENTER],
      ['Agent pool token', NEW],
      ['Agent pool token', other],
      ...QUIT,
    ];
    const {asked} = await talkTo(lines, {}, [present]);
    expect(shown(asked)).toContain('This is the token that Scalr rejects. Paste another one.');
  });

  test('is not written to a Secret that somebody else has created', async () => {
    const lines: Line[] = [TARGET, [QUESTION, ENTER], ['Agent pool token', NEW], ...QUIT];
    const {stderr} = await talkTo(lines, {}, [MINE]);
    expect(rowOf(stderr, 'Secrets')).toBe(
      'Secrets acme-token changed: token replaced, token secret mine → acme-token',
    );
    const own = await talkTo(lines, {}, [
      {...MINE, metadata: {...MINE.metadata, labels: ownLabels('acme')}} as FakeObject,
    ]);
    expect(rowOf(own.stderr, 'Secrets')).toBe('Secrets mine changed: token replaced');
  });

  test('is asked for again with --resume, and the answers are kept', async () => {
    const files = memoryFiles();
    const first = await talkTo(
      [
        TARGET,
        [QUESTION, 'change'],
        ...change('Runs', ['Maximum concurrent runs', '5'], ['Memory limit', ENTER]),
        ...QUIT,
      ],
      {files},
    );
    expect(first.exit).toBe(0);
    const resumed = await talkTo(
      [['Agent pool token', NEW], ['What do you want to do?', 'print'], ...QUIT],
      {files, argv: ['--resume', ...OF_ACME]},
    );
    expect(resumed.stderr).toContain('--concurrency 5');
    expect(resumed.stderr).toContain('Requires the environment variable SCALR_AGENT_TOKEN');
    expect(resumed.stderr + shown(resumed.asked)).not.toContain(NEW);
  });

  test('is not asked for when a variable gives another one', async () => {
    const {asked, stderr} = await talkTo([TARGET, [QUESTION, ENTER], ...QUIT], {
      env: {SCALR_AGENT_TOKEN: NEW},
    });
    expect(choicesOf(asked, QUESTION)[0]?.label).toBe('Change settings');
    expect(stderr).toContain('changed: token replaced');
  });
});

describe('an installed chart that is not the recommended one', () => {
  const JOB = {agent: VALUES.agent};
  const open = (lines: readonly Line[], values: object = JOB, chart = 'agent-job-0.6.5') =>
    talk([TARGET, [QUESTION, 'change'], ...lines], {
      argv: [],
      answer: helm,
      kubernetes: fakeKubernetes({
        objects: [helmRecord({...NAME, chart, values: values as typeof JOB}), EKS_NODE, SERVICES],
        resources: ['servicecidrs.networking.k8s.io'],
      }),
    });

  test('is not proposed to be replaced, and nothing changes', async () => {
    const {asked, stderr} = await open([['What do you want to do?', 'view'], ...QUIT]);
    expect(asked.map(({message}) => message)).not.toContain('Chart to install');
    expect(stderr).toContain('Review  agent-job 0.6.5 → prod-eks');
    expect(valuesIn(stderr)).toEqual(JOB);
  });

  test('asks what an edit makes necessary', async () => {
    const {asked, stderr} = await open([
      ...change(
        'Cache',
        ['Where should provider', 'existing-pvc'],
        ['Name of the existing PVC', 'mine'],
      ),
      ...change(
        'Proxy',
        ['Proxy for https', 'proxy:3128'],
        ['Hosts and networks that bypass', ENTER],
      ),
      ['What do you want to do?', 'view'],
      ...QUIT,
    ]);
    expect(asked.map(({message}) => message)).not.toContain('Chart to install');
    expect(valuesIn(stderr)).toMatchObject({
      agent: {...JOB.agent, providerCache: {enabled: true}},
      global: {proxy: {httpsProxy: 'http://proxy:3128'}},
      persistence: {cache: {persistentVolumeClaim: {claimName: 'mine'}}},
    });
  });

  test.each<[string, string, object]>([
    [
      'the caches of runs',
      'agent-job-0.6.5',
      {...JOB, persistence: {cache: {enabled: true, hostPath: {path: '/var/cache/scalr'}}}},
    ],
    [
      'the data directory of the nodes',
      'agent-k8s-0.5.70',
      {agent: {url: 'https://acme.scalr.io', tokenExistingSecret: 'mine'}},
    ],
    [
      'the access mode of the cache',
      'agent-local-0.6.5',
      {
        ...JOB,
        strategy: {type: 'Recreate'},
        persistence: {cache: {enabled: true, persistentVolumeClaim: {storage: '5Gi'}}},
      },
    ],
  ])('keeps %s', async (_, chart, values) => {
    const {stderr} = await open([['What do you want to do?', 'view'], ...QUIT], values, chart);
    expect(valuesIn(stderr)).toEqual(values);
  });
});

test('goes back from the review to the installed agent, and from there to the target', async () => {
  const review: Line = ['What do you want to do?', ESC];
  const {asked} = await run([
    TARGET,
    [QUESTION, 'change'],
    review,
    [QUESTION, ESC],
    TARGET,
    [QUESTION, 'change'],
    ...QUIT,
  ]);
  expect(asked.filter(({message}) => message.includes(QUESTION))).toHaveLength(3);
});

test('forgets the settings of the release when another one is installed after all', async () => {
  const lines: Line[] = [
    TARGET,
    [QUESTION, 'change'],
    ['What do you want to do?', ESC],
    [QUESTION, 'other'],
    ['Helm release name', 'second'],
  ];
  const {stderr} = await run([
    ...lines,
    ['Agent pool token', jwt({iss: 'acme.scalr.io'})],
    ...QUIT,
  ]);
  expect(rowOf(stderr, 'Secrets')).toBe('Secrets new Secret second-token');
});

test('shows what changes beside what is today', async () => {
  const {stderr} = await run([
    TARGET,
    [QUESTION, ENTER],
    ...change('Runs', ['Maximum concurrent runs', '5'], ['Memory limit', ENTER]),
    ...QUIT,
  ]);
  expect(rowOf(stderr, 'Runs')).toBe(
    'Runs 5 at a time changed: concurrency 3 → 5; reserves 5 CPU, 5Gi, limit 10Gi',
  );
  expect(rowOf(stderr, 'Cache')).toMatch(/^Cache per pod/);
});

test('moves a token that the values contain to a Secret', async () => {
  const {asked, stderr} = await talk(
    [TARGET, [QUESTION, 'change'], ['What do you want to do?', 'view'], ...QUIT],
    {
      argv: ['--cloud', 'eks'],
      answer: helm,
      kubernetes: fakeKubernetes({
        objects: [helmRecord({...NAME, values: {agent: {url: VALUES.agent.url, token: jwt({})}}})],
      }),
    },
  );
  expect(asked[1]?.help[0]).toContain('An update moves it to a Secret.');
  expect(stderr).not.toContain('MISSING_SETTING');
  expect(valuesIn(stderr)).toMatchObject({
    agent: {tokenExistingSecret: {name: 'scalr-agent-token'}},
  });
});

test('decides as for a new install when the chart is changed', async () => {
  const {stderr} = await run([
    TARGET,
    [QUESTION, 'change'],
    ...change('Chart', ['Chart to install', 'agent-job']),
    ...QUIT,
  ]);
  expect(rowOf(stderr, 'Network')).toContain('metadata blocked; protects the node identity');
});

test('does not show a default that was selected as a change', async () => {
  const {stderr} = await run([
    TARGET,
    [QUESTION, 'change'],
    ...change('Cache', ['Where should provider', 'ephemeral'], ['Cache size', ENTER]),
    ...QUIT,
  ]);
  expect(rowOf(stderr, 'Cache')).not.toContain('changed:');
});

test('lets flags change the release', async () => {
  const {stderr} = await run([TARGET, [QUESTION, ENTER], ...QUIT], ['--concurrency', '7']);
  expect(rowOf(stderr, 'Runs')).toContain('concurrency 3 → 7');
});

test('installs another release beside it', async () => {
  const lines: Line[] = [
    TARGET,
    [QUESTION, 'other'],
    ['Helm release name', 'second'],
    ['Agent pool token', jwt({iss: 'acme.scalr.io'})],
  ];
  const {asked, stderr} = await run([...lines, ['What do you want to do?', 'print'], ...QUIT]);
  expect(stderr).toContain('--release second');
  expect(asked.filter(({message}) => message.includes(QUESTION))).toHaveLength(1);
});

test('goes back from the name of another release, and says which names are possible', async () => {
  const lines: Line[] = [
    TARGET,
    [QUESTION, 'other'],
    ['Helm release name', ESC],
    [QUESTION, 'other'],
    ['Helm release name', 'second'],
  ];
  const {asked} = await run([...lines, interrupt('Agent pool token')]);
  expect(asked.findLast(({message}) => message.includes(QUESTION))).toMatchObject({
    default: 'other',
  });
  const {validate} = asked.find(({message}) => message === 'Helm release name') as TextQuestion;
  expect(await validate?.('Second_x')).toContain('"Second_x" is not a valid Kubernetes name');
  expect(await validate?.('scalr-agent')).toContain('The installed release uses this name.');
  expect(await validate?.('second')).toBeUndefined();
});

test('returns with Esc from the token of another release to the menu of the first one', async () => {
  const {asked} = await run([
    TARGET,
    [QUESTION, 'other'],
    ['Helm release name', 'second'],
    ['Agent pool token', ESC],
    interrupt(QUESTION),
  ]);
  expect(asked.at(-1)?.message).toBe(
    'scalr-agent is installed in prod-eks · namespace scalr-agent',
  );
});

/** Releases of other namespaces are found by the objects of their charts. */
const AGENT_OF_OTHERS: FakeObject[] = [
  helmRecord({name: 'tools', namespace: 'infra', chart: 'agent-job-0.6.5', values: VALUES}),
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'tools',
      namespace: 'infra',
      labels: {'helm.sh/chart': 'agent-job-0.6.5'},
      annotations: {
        'meta.helm.sh/release-name': 'tools',
        'meta.helm.sh/release-namespace': 'infra',
      },
    },
  },
];

test('offers the other agents of the cluster, and returns with Esc', async () => {
  const {asked} = await talk(
    [
      TARGET,
      [QUESTION, 'open:infra/tools'],
      ['tools is installed in prod-eks · namespace infra', ESC],
      interrupt(QUESTION),
    ],
    {
      argv: ['--cloud', 'eks'],
      answer: helm,
      kubernetes: fakeKubernetes({
        objects: [helmRecord({...NAME, values: VALUES}), ...AGENT_OF_OTHERS],
      }),
    },
  );
  expect(choicesOf(asked, 'scalr-agent is installed')).toContainEqual(
    expect.objectContaining({
      label: 'Open tools in namespace infra',
      description: 'agent-job 0.6.5',
    }),
  );
  expect(asked.at(-1)?.message).toContain('scalr-agent is installed in prod-eks');
});

test('opens every row on what the release has, so that Enter changes nothing', async () => {
  const role = 'arn:aws:iam::123456789012:role/x';
  const values = {
    ...VALUES,
    serviceAccount: {create: true, annotations: {'eks.amazonaws.com/role-arn': role}},
    agent: {...VALUES.agent, tls: {caBundle: `${PEM}# Public root certificates\n${PEM}`}},
  };
  const look = [
    ...change('Identity', ['How do runs get cloud credentials?', ENTER], ['ARN', ENTER]),
    ...change('Metadata', ['Access to the node metadata service', ENTER]),
    ...change('Private CA', ['File with private CA', ENTER], ['Add the public root', ENTER]),
  ];
  const {stderr} = await talk([TARGET, [QUESTION, ENTER], ...look, ...QUIT], {
    answer: helm,
    argv: ['--cloud', 'eks'],
    kubernetes: fakeKubernetes({objects: [helmRecord({...NAME, values}), EKS_NODE]}),
  });
  expect(stderr).not.toContain('changed:');
  expect(rowOf(stderr, 'Identity')).toBe(`Identity IRSA ${role}`);
});

test('offers no other agent once the token is given', async () => {
  const {exit, asked} = await talk(
    [
      TARGET,
      ['Agent pool token', jwt({iss: 'acme.scalr.io', sub: 'apool-new'})],
      ...change('Names', ['Namespace', ENTER], ['Helm release name', ENTER]),
      ...QUIT,
    ],
    {
      argv: ['--cloud', 'eks', '--namespace', 'new'],
      answer: helm,
      kubernetes: fakeKubernetes({objects: AGENT_OF_OTHERS}),
    },
  );
  expect(exit).toBe(0);
  expect(asked.map(({message}) => message)).not.toContain(
    'An agent is installed in this cluster. Open it?',
  );
});

test('compares with the release again after --resume', async () => {
  const files = memoryFiles();
  const changed = change('Runs', ['Maximum concurrent runs', '4'], ['Memory limit', ENTER]);
  const kubernetes = fakeKubernetes({objects: [helmRecord({...NAME, values: VALUES})]});
  const place = {files, answer: helm, kubernetes};
  await talk([TARGET, [QUESTION, ENTER], ...changed, interrupt('What do you want to do?')], place);
  const {stderr} = await talk(QUIT, {...place, argv: ['--resume']});
  expect(stderr).toContain('scalr-agent in namespace scalr-agent');
  expect(rowOf(stderr, 'Runs')).toMatch(/^Runs 4 at a time changed: concurrency 3 → 4; /);
});

test('continues after status, and after a plan that was declined', async () => {
  const runCommand = vi.spyOn(Config.prototype, 'runCommand').mockResolvedValue(undefined);
  onTestFinished(() => runCommand.mockRestore());
  const {asked, exit} = await run([TARGET, [QUESTION, 'status'], [QUESTION, ENTER], ...QUIT]);
  expect(exit).toBe(0);
  expect(asked.filter(({message}) => message.includes(QUESTION))).toHaveLength(2);
});

test.each(['upgrade', 'uninstall'] as const)('runs %s for the release instead', async (command) => {
  const runCommand = vi.spyOn(Config.prototype, 'runCommand').mockResolvedValue(undefined);
  onTestFinished(() => runCommand.mockRestore());
  const {exit} = await run(
    [TARGET, [QUESTION, command]],
    [
      '--helm',
      'own-helm',
      '--chart-source',
      'oci://acme.test/agent-local',
      '--timeout',
      '3m',
      '--no-color',
    ],
  );
  expect(exit).toBe(0);
  const where = [
    '--release',
    'scalr-agent',
    '--namespace',
    'scalr-agent',
    '--kube-context',
    'prod-eks',
  ];
  const source = command === 'upgrade' ? ['--chart-source', 'oci://acme.test/agent-local'] : [];
  expect(runCommand.mock.calls).toEqual([
    [command, [...where, ...source, '--helm', 'own-helm', '--timeout', '3m', '--no-color']],
  ]);
});
