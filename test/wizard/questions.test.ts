import {once} from 'node:events';
import {describe, expect, test} from 'vitest';
import type {KubernetesClient} from '../../src/cluster/kubernetes/client.ts';
import Values from '../../src/commands/values.ts';
import {argumentsOf} from '../../src/ground/call-arguments.ts';
import {ExpectedError} from '../../src/ground/errors.ts';
import type {
  InputQuestion,
  ListQuestion,
  Processes,
  TextQuestion,
} from '../../src/ground/system/system.ts';
import {fakeAccess, type PlatformName, platform} from '../cluster/platform/fake-cluster.ts';
import {certificates} from '../support/certificates.ts';
import {fakeKubernetes} from '../support/fake-kubernetes.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';
import {ENTER, ESC, type Line} from '../support/scripted-prompter.ts';
import {TODAY} from '../support/settings-from.ts';
import {
  change,
  choicesOf,
  FILES_ONLY,
  interrupt,
  jwt,
  QUIT,
  reviewsIn,
  rowOf,
  shown,
  talk,
  VIEW_AND_QUIT,
} from './conversation.ts';

const inDays = (days: number): number => Math.floor(TODAY.getTime() / 1000) + days * 86_400;
const TOKEN = jwt({iss: 'acme.scalr.io', exp: inDays(400)});
const ASK_TOKEN: Line = ['Agent pool token', TOKEN];
const TARGET: Line = ['Where will the agent run', ENTER];
const HAPPY: Line[] = [FILES_ONLY, ASK_TOKEN];

/** One context, and the objects of its cluster. */
const oneContext: Processes['run'] = async (call) => {
  const args = argumentsOf(call);
  if (!args.includes('view')) return {exitCode: 1, stdout: '', stderr: 'Error: release: not found'};
  const contexts = [{name: 'prod-eks', context: {cluster: 'prod'}}];
  return {
    exitCode: 0,
    stdout: JSON.stringify({'current-context': 'prod-eks', contexts}),
    stderr: '',
  };
};
const NODE = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'one',
    labels: {'eks.amazonaws.com/nodegroup': 'a', 'kubernetes.io/os': 'linux'},
  },
  spec: {providerID: 'aws:///eu-1/i-1'},
  status: {
    nodeInfo: {operatingSystem: 'linux', kubeletVersion: 'v1.35.1', osImage: 'Amazon Linux 2023'},
    allocatable: {cpu: '40', memory: '160Gi'},
    conditions: [{type: 'Ready', status: 'True'}],
  },
};
const EKS_OBJECTS = [NODE];
const EKS = fakeKubernetes({objects: EKS_OBJECTS});
const onEks = {answer: oneContext, kubernetes: EKS};

describe('the happy path', () => {
  test('needs three answers on a cluster that answers', async () => {
    const {exit, stderr, asked} = await talk([TARGET, ASK_TOKEN, ...QUIT], onEks);
    expect(exit, stderr).toBe(0);
    const [target] = asked as ListQuestion[];
    expect((await target?.laterChoices)?.[0]).toMatchObject({
      label: 'prod-eks',
      description: 'current context: EKS, Kubernetes v1.35.1, 1 node',
    });
    expect(stderr).toContain('◇  Where      prod-eks · EKS, Kubernetes v1.35.1, 1 node\n');
    expect(stderr).toContain('◇  Agent      acme.scalr.io · token, expires on 2028-02-05\n');
  });

  test('shows every decision with its reason', async () => {
    const {stderr} = await talk([TARGET, ASK_TOKEN, ...QUIT], onEks);
    expect(rowOf(stderr, 'Chart')).toMatch(
      /^Chart agent-local [\d.]+ shared pods, .*; no cluster role; agent-job and agent-k8s possible$/,
    );
    expect(rowOf(stderr, 'Runs')).toMatch(
      /^Runs 5 at a time reserves [\d.]+ of 40 free CPU, \w+ of 160Gi, limit \w+$/,
    );
    expect(rowOf(stderr, 'Cache')).toBe('Cache per pod 20Gi, deleted with the pod');
    expect(rowOf(stderr, 'Network')).toBe(
      'Network direct metadata blocked; protects the node identity',
    );
    expect(rowOf(stderr, 'Secrets')).toBe('Secrets new Secret scalr-agent-token');
  });

  test('blocks no metadata service with a chart that cannot block it for runs', async () => {
    const {stderr, asked} = await talk(
      [TARGET, ASK_TOKEN, ...change('Chart', ['Chart to install', 'agent-k8s']), ...QUIT],
      onEks,
    );
    expect(rowOf(stderr, 'Network')).toContain('allowed; agent-k8s cannot block it for runs');
    expect(rowOf(stderr, 'Runs')).toMatch(/with one run$/);
    expect(asked.map(({message}) => message)).not.toContain('Operating system of the nodes');
  });

  test.each<[PlatformName, RegExp, row: string, text: string]>([
    ['gke-autopilot', /5 at a time/, 'Runs', 'Autopilot adds nodes for pending pods'],
    ['aks', /1 at a time/, 'Placement', 'kubernetes.io/os=linux the cluster has Windows nodes'],
    ['openshift', /1 at a time/, 'Runs', 'reserves 1 of 1.5 free CPU'],
  ])('decides on %s what its nodes suggest', async (name, runs, row, text) => {
    const {kubernetes} = fakeAccess(platform(name));
    const {stderr} = await talk([TARGET, ASK_TOKEN, ...QUIT], {answer: oneContext, kubernetes});
    expect(rowOf(stderr, 'Runs')).toMatch(runs);
    expect(rowOf(stderr, row)).toContain(text);
  });

  test.each([
    ['agent-local', []],
    ['agent-job', change('Chart', ['Chart to install', 'agent-job'])],
    ['agent-k8s', change('Chart', ['Chart to install', 'agent-k8s'], ['Operating system', 'al2'])],
  ] as const)('%s: generates identical values from saved answers', async (chart, lines) => {
    const {exit, stderr, written} = await talk([
      ...HAPPY,
      ...lines,
      ['What do you want to do?', 'save'],
      ['Directory to save to', 'out'],
      ['What do you want to do?', ENTER],
    ]);
    expect(exit, stderr).toBe(0);
    const answers = written.get('out/answers.yaml') as string;
    expect(answers).not.toContain(TOKEN);
    const {stdout, stderr: problems} = await runCommand(Values, ['--answers', 'a'], {
      files: memoryFiles({a: answers}),
    });
    expect(written.get('out/values.yaml'), problems).toBe(stdout);
    expect(stdout).toContain(`Values of ${chart} `);
  });
});

describe('a default', () => {
  const small = {...NODE, status: {...NODE.status, allocatable: {cpu: '4', memory: '16Gi'}}};
  const at = (node: object) => ({
    answer: oneContext,
    kubernetes: fakeKubernetes({objects: [node as typeof NODE]}),
  });

  test('fits into half of the nodes', async () => {
    const {stderr} = await talk([TARGET, ASK_TOKEN, ...QUIT], at(small));
    expect(rowOf(stderr, 'Runs')).toMatch(/^Runs [1-4] at a time/);
  });

  test('fits beside the pods of others', async () => {
    const requests = {cpu: '37', memory: '1Gi'};
    const busy = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {name: 'busy', namespace: 'others'},
      spec: {nodeName: NODE.metadata.name, containers: [{name: 'busy', resources: {requests}}]},
    };
    const kubernetes = fakeKubernetes({objects: [NODE, busy as unknown as typeof NODE]});
    const {stderr} = await talk([TARGET, ASK_TOKEN, ...QUIT], {answer: oneContext, kubernetes});
    expect(rowOf(stderr, 'Runs')).toMatch(
      /^Runs 3 at a time as many as fit, reserves 3 of 3 free CPU, /,
    );
  });

  test('calls nothing free where the pods of others cannot be read', async () => {
    const kubernetes = fakeKubernetes({objects: EKS_OBJECTS, refuse: ['pods']});
    const {stderr} = await talk([TARGET, ASK_TOKEN, ...QUIT], {answer: oneContext, kubernetes});
    expect(rowOf(stderr, 'Runs')).toMatch(/^Runs 5 at a time reserves [\d.]+ of 40 CPU, /);
  });

  test('allows the metadata service where runs or DNS need it', async () => {
    const {stderr} = await talk([...HAPPY, ...QUIT], {argv: ['--cloud', 'gke']});
    expect(rowOf(stderr, 'Network')).toContain('metadata allowed; Cloud DNS may use its address');
    const other = await talk([...HAPPY, ...QUIT], {argv: ['--cloud', 'eks']});
    expect(rowOf(other.stderr, 'Network')).toContain('metadata blocked');
  });

  test('leaves what was given, and is written like an answer', async () => {
    const argv = ['--concurrency', '2', '--cloud', 'eks'];
    const {stderr} = await talk([...HAPPY, ...VIEW_AND_QUIT], {argv});
    expect(rowOf(stderr, 'Runs')).toMatch(/^Runs 2 at a time .*; from flag$/);
    expect(stderr).toContain('replicaCount: 2');
    const {stderr: own} = await talk([...HAPPY, ...VIEW_AND_QUIT]);
    expect(own).toContain('replicaCount: 5');
  });
});

describe('the target', () => {
  const contexts: Processes['run'] = async (call) => {
    const all = ['prod-eks', 'blue', 'green'].map((name) => ({name, context: {cluster: name}}));
    const {exitCode, stderr} = await oneContext(call);
    return {
      exitCode,
      stdout: JSON.stringify({'current-context': 'prod-eks', contexts: all}),
      stderr,
    };
  };

  test('can be another context of the kubeconfig', async () => {
    const lines: Line[] = [
      ['Where will the agent run', 'other'],
      ['Kubeconfig context', 'green'],
      ASK_TOKEN,
    ];
    const {asked, stderr} = await talk([...lines, ...QUIT], {...onEks, answer: contexts});
    expect(choicesOf(asked, 'Kubeconfig context').map(({value}) => value)).toEqual([
      'blue',
      'green',
    ]);
    expect(stderr).toContain('◇  Where      green · ');
  });

  test('is asked again after Esc in the list of contexts', async () => {
    const lines: Line[] = [
      ['Where will the agent run', 'other'],
      ['Kubeconfig context', ESC],
      TARGET,
      ASK_TOKEN,
    ];
    const {stderr} = await talk([...lines, ...QUIT], {...onEks, answer: contexts});
    expect(stderr).toContain('◇  Where      prod-eks · ');
  });

  test('is given by --kube-context', async () => {
    const argv = ['--kube-context', 'blue'];
    const {stderr} = await talk([ASK_TOKEN, ...QUIT], {...onEks, answer: contexts, argv});
    expect(stderr).toContain('◇  Where      blue · ');
  });

  test('is read again when the namespace is changed, because policies can differ', async () => {
    const locked = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {name: 'air', labels: {'pod-security.kubernetes.io/enforce': 'restricted'}},
    };
    const kubernetes = fakeKubernetes({objects: [...EKS_OBJECTS, locked]});
    const lines: Line[] = [
      TARGET,
      ASK_TOKEN,
      ...change('Names', ['Namespace', 'air'], ['Helm release name', ENTER]),
      ...change('Chart', ['Chart to install', ENTER]),
    ];
    const {asked} = await talk([...lines, ...QUIT], {answer: oneContext, kubernetes});
    expect(
      choicesOf(asked, 'Chart to install').find(({value}) => value === 'agent-k8s')?.disabled,
    ).toContain('hostPath');
  });

  test('is reported when it does not answer in time', async () => {
    const kubernetes: KubernetesClient = {
      ...fakeKubernetes(),
      async get(_path, {signal}) {
        if (!signal.aborted) await once(signal, 'abort');
        return {error: {kind: 'aborted', message: 'timed out (--timeout)'}};
      },
    };
    const lines: Line[] = [TARGET, ASK_TOKEN, ['How do you want to continue?', 'files']];
    const {exit, asked} = await talk([...lines, ...QUIT], {
      answer: oneContext,
      kubernetes,
      argv: ['--timeout', '1s'],
    });
    expect(exit).toBe(0);
    expect(shown(asked)).toContain('× Cannot reach the Kubernetes API');
  });
});

describe('what an install lacks', () => {
  const LACKS: Line = ['How do you want to continue?', 'again'];
  const target = (asked: readonly unknown[]) =>
    (asked as ListQuestion[]).find(({message}) => message === 'Where will the agent run?');

  test('is shown at the first question, and asked about before the token: helm is not installed', async () => {
    const answer: Processes['run'] = async (call, how) => {
      if (call.tool !== 'helm') return oneContext(call, how);
      throw new ExpectedError('helm not found on PATH.', {
        code: 'TOOL_NOT_FOUND',
        suggestions: [],
      });
    };
    const lines: Line[] = [
      TARGET,
      LACKS,
      ['How do you want to continue?', 'continue'],
      ASK_TOKEN,
      ...QUIT,
    ];
    const {asked} = await talk(lines, {answer, kubernetes: EKS});
    expect((await target(asked)?.laterChoices)?.[0]?.description).toContain(
      '1 node · helm not found on PATH',
    );
    expect(shown(asked)).toContain('× helm not found on PATH.');
    expect(choicesOf(asked, 'How do you want').map(({value}) => value)).toEqual([
      'again',
      'files',
      'continue',
    ]);
  });

  test('can be a chart on this disk when the repository is unreachable', async () => {
    const answer: Processes['run'] = async (call, how) =>
      argumentsOf(call)[0] === 'show'
        ? {
            exitCode: 1,
            stdout: '',
            stderr:
              'Error: looks like "https://scalr.github.io/agent-helm/" cannot be reached: dial tcp: no such host',
          }
        : oneContext(call, how);
    const disk = memoryFiles({
      '/charts/agent-local/Chart.yaml': 'name: agent-local\nversion: 0.6.5\n',
      '/charts/agent-local/values.yaml': '',
    });
    const kindOf: typeof disk.kindOf = async (path) =>
      path === '/charts/agent-local' ? 'directory' : disk.kindOf(path);
    const lines: Line[] = [
      TARGET,
      ['How do you want to continue?', 'disk'],
      ['Directory or .tgz file of the chart', '/charts/agent-local'],
      ASK_TOKEN,
      ...QUIT,
    ];
    const {asked, stderr} = await talk(lines, {answer, kubernetes: EKS, files: {...disk, kindOf}});
    expect((await target(asked)?.laterChoices)?.[0]?.description).toContain(
      ' · the chart repository cannot be reached: no such host',
    );
    expect(shown(asked)).toContain('× The chart repository cannot be reached: no such host.');
    expect(stderr).toMatch(/Review {2}agent-local 0\.6\.5 → prod-eks/);
  });

  test('can be a permission, and ends in files for this cluster', async () => {
    const kubernetes: KubernetesClient = {
      ...EKS,
      post: async () => ({status: 201, body: {status: {allowed: false}}}),
    };
    const lines: Line[] = [TARGET, ['How do you want to continue?', 'files'], ASK_TOKEN];
    const {asked, stderr} = await talk([...lines, ...QUIT], {answer: oneContext, kubernetes});
    expect(stderr, 'the files are for the cluster that was read').toContain(
      '◇  Where      files only · EKS, ',
    );
    expect(shown(asked)).toContain(
      '× Your user cannot create secrets and deployments in namespace scalr-agent.',
    );
  });
});

const storageClass = (name: string, provisioner: string, isDefault: boolean) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: {
    name,
    annotations: {'storageclass.kubernetes.io/is-default-class': String(isDefault)},
  },
  provisioner,
});

describe('the cache', () => {
  const gp3 = storageClass('gp3', 'ebs.csi.aws.com', true);
  const efs = storageClass('efs-sc', 'efs.csi.aws.com', false);
  const on = (...objects: object[]) => ({
    answer: oneContext,
    kubernetes: fakeKubernetes({objects: [...EKS_OBJECTS, ...(objects as typeof EKS_OBJECTS)]}),
  });
  const CLASS = 'StorageClass of the cache';
  const MODE = 'Access mode of the cache';
  const PVC: Line = ['Where should provider', 'pvc'];
  const TO_CACHE: Line[] = [
    TARGET,
    ASK_TOKEN,
    ['What do you want to do?', 'change'],
    ['Change', 'Cache'],
  ];
  const rowsOf = (asked: Parameters<typeof choicesOf>[0], question: string) =>
    choicesOf(asked, question).map(({label, description, disabled}) =>
      [label, disabled ?? description].join(': '),
    );

  test('is no PVC that several pods mount where no class can hold it', async () => {
    const {asked} = await talk([...TO_CACHE, interrupt('Where should provider')], on(gp3));
    expect(rowsOf(asked, 'Where should provider')).toContain(
      'New PVC: several pods mount the cache, and no StorageClass here supports ReadWriteMany',
    );
  });

  test('is on a class that several pods can mount', async () => {
    const lines: Line[] = [...TO_CACHE, PVC, [CLASS, 'efs-sc'], interrupt('Cache size')];
    const {asked} = await talk(lines, on(gp3, efs));
    const why = 'ebs.csi.aws.com supports only ReadWriteOnce, ReadWriteOncePod';
    expect(rowsOf(asked, CLASS).slice(0, 3)).toEqual([
      `Default StorageClass of the cluster: ${why}, and several pods mount the cache`,
      `gp3 (default): ${why}, and several pods mount the cache`,
      'efs-sc: efs.csi.aws.com: ReadWriteOnce, ReadOnlyMany, ReadWriteMany',
    ]);
    expect(asked.map(({message}) => message)).not.toContain(MODE);
  });

  test('is ReadWriteOnce where one run is enough', async () => {
    const lines: Line[] = [...TO_CACHE, PVC, [CLASS, 'gp3'], interrupt(MODE)];
    const {asked} = await talk(lines, {...on(gp3, efs), argv: ['--concurrency', '1']});
    expect(rowsOf(asked, MODE)).toContain(
      'ReadWriteMany: not with StorageClass gp3: ebs.csi.aws.com supports only ReadWriteOnce, ReadWriteOncePod',
    );
    expect(asked.at(-1)).toMatchObject({default: 'ReadWriteOnce'});
  });

  test('keeps what was chosen, although it is the default then', async () => {
    const lines: Line[] = [
      TARGET,
      ASK_TOKEN,
      ...change('Cache', PVC, [CLASS, 'efs-sc'], [MODE, ENTER], ['Cache size', '50']),
    ];
    const {stderr} = await talk([...lines, ...QUIT], {
      ...on(gp3, efs),
      argv: ['--concurrency', '1'],
    });
    expect(rowOf(stderr, 'Cache')).toBe('Cache new PVC 50Gi, ReadWriteOnce, efs-sc');
  });

  test('offers the PVCs of the namespace', async () => {
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {name: 'cache', namespace: 'scalr-agent'},
      spec: {accessModes: ['ReadWriteMany'], storageClassName: 'efs-sc'},
    };
    const lines: Line[] = [
      ...TO_CACHE,
      ['Where should', 'existing-pvc'],
      interrupt('existing PVC'),
    ];
    const {asked} = await talk(lines, on(claim));
    expect(rowsOf(asked, 'existing PVC')).toEqual([
      'cache: ReadWriteMany, efs-sc',
      'Enter another value: ',
    ]);
  });

  test('reads a size without a unit in gibibytes', async () => {
    const lines: Line[] = [
      ...HAPPY,
      ['What do you want to do?', 'change'],
      ['Change', 'Cache'],
      ['Where should provider', ENTER],
      interrupt('Cache size'),
    ];
    const {asked} = await talk(lines);
    const {validate} = asked.at(-1) as TextQuestion;
    expect(await validate?.('50')).toBeUndefined();
    expect(await validate?.('50 Gi')).toBeUndefined();
    expect(await validate?.('100000')).toContain('"100000" has no unit');
  });

  test.each([
    ['aks', 'efs'],
    ['gke', 'efs'],
    ['openshift', 'efs'],
    ['gke-autopilot', 'hostpath'],
  ])('does not offer on %s: %s', async (platform, value) => {
    const lines = change('Cache', ['Where should', 'ephemeral'], ['Cache size', ENTER]);
    const {asked} = await talk([...HAPPY, ...lines, ...QUIT], {argv: ['--cloud', platform]});
    const offered = choicesOf(asked, 'Where should provider').map((choice) => choice.value);
    expect(offered).toContain('pvc');
    expect(offered).not.toContain(value);
  });
});

describe('the token', () => {
  const asked = async (): Promise<TextQuestion> =>
    (await talk([...HAPPY, ...QUIT])).asked.find(
      ({message}) => message === 'Agent pool token',
    ) as TextQuestion;

  test('names the Scalr URL, which is then not asked for', async () => {
    const {stderr} = await talk([...HAPPY, ...VIEW_AND_QUIT]);
    expect(stderr).toContain('url: "https://acme.scalr.io"');
  });

  test('is refused when expired', async () => {
    const {validate} = await asked();
    expect(await validate?.(jwt({exp: inDays(-3)}))).toMatch(
      /^The token expired on \d{4}-\d\d-\d\d\. Create a new token/,
    );
    expect(await validate?.('two words')).toContain('whitespace');
    expect(await validate?.(TOKEN)).toBeUndefined();
  });

  test('is confirmed before Enter only if it is accepted', async () => {
    const {confirms, validate} = await asked();
    expect(confirms?.(TOKEN)).toMatch(/^Token for acme\.scalr\.io, expires on /);
    expect(confirms?.(jwt({iss: 'acme.scalr.io', sub: 'apool-v0p7'}))).toBe(
      'Agent pool token for acme.scalr.io, does not expire',
    );
    expect(confirms?.(jwt({iss: 'acme.scalr.io', exp: inDays(-3)}))).toBeUndefined();
    expect(confirms?.(jwt({iss: 'user', jti: 'at-v0'}))).toBeUndefined();
    expect(await validate?.(jwt({iss: 'user', jti: 'at-v0'}))).toBe(
      'This is a user token, not an agent pool token. Create a token in the agent pool in Scalr.',
    );
  });

  test.each([
    `"${TOKEN}"`,
    `Bearer ${TOKEN}`,
    `SCALR_AGENT_TOKEN=${TOKEN}`,
    `exportSCALR_AGENT_TOKEN='${TOKEN}'`,
  ])('is read without what was copied with it: %s', async (text) => {
    const {confirms, validate} = await asked();
    expect(confirms?.(text)).toMatch(/^Token for acme\.scalr\.io/);
    expect(await validate?.(text)).toBeUndefined();
  });

  test('can be in an existing Secret, and the URL is taken from the browser', async () => {
    const lines: Line[] = [
      FILES_ONLY,
      ['Agent pool token', ENTER],
      ['Secret with the agent pool token', 'mine'],
      ['Scalr URL', 'https://acme.scalr.io/e/env-1/workspaces'],
    ];
    const {stderr, asked: all} = await talk([...lines, ...VIEW_AND_QUIT]);
    expect(stderr).toMatch(/name: "mine"/);
    expect(stderr).toContain('url: "https://acme.scalr.io"');
    expect(stderr).toContain('acme.scalr.io · Secret mine');
    const {validate} = all.find(({message}) => message === 'Scalr URL') as TextQuestion;
    expect(await validate?.('scalr.io')).toContain('not the host of a Scalr account');
  });

  test('can be in a Secret that is listed, in whatever key, if it has one', async () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const held = {'agent-token': base64(jwt({iss: 'acme.scalr.io'})), team: base64('a')};
    const secrets = Object.entries({
      empty: {password: base64('a')},
      'scalr-agent-token': held,
      'sh.helm.release.v1.other.v1': {},
    }).map(([name, data]) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {name, namespace: 'scalr-agent'},
      data,
    }));
    const kubernetes = fakeKubernetes({objects: [...EKS_OBJECTS, ...secrets]});
    const lines: Line[] = [
      TARGET,
      ['Agent pool token', ENTER],
      ['Secret with the agent pool token', 'empty'],
      ['Secret with the agent pool token', 'scalr-agent-token'],
      ...VIEW_AND_QUIT,
    ];
    const {asked: all, stderr} = await talk(lines, {answer: oneContext, kubernetes});
    expect(choicesOf(all, 'Secret with').map(({label}) => label)).toEqual([
      'empty',
      'scalr-agent-token',
      'Enter another value',
    ]);
    expect(shown(all)).toContain('It has no token: password.');
    expect(stderr).toContain('acme.scalr.io · Secret scalr-agent-token');
    expect(stderr).toMatch(/key: "agent-token"/);
  });

  test('is never printed or saved', async () => {
    const lines: Line[] = [
      ...HAPPY,
      ['What do you want to do?', 'print'],
      ['What do you want to do?', 'save'],
      ['Directory to save to', ENTER],
      ['What do you want to do?', ENTER],
    ];
    const {stdout, stderr, files, asked: all} = await talk(lines);
    expect(stdout + stderr + shown(all) + JSON.stringify(files.written)).not.toContain(TOKEN);
    expect(stderr).toContain('# Requires the environment variable SCALR_AGENT_TOKEN');
  });
});

describe('an agent elsewhere in the cluster', () => {
  test('is offered before a new one is installed', async () => {
    const {askElsewhere} = await import('../../src/wizard/ask-elsewhere.ts');
    const {scriptedPrompter} = await import('../support/scripted-prompter.ts');
    const {startState} = await import('../../src/wizard/wizard-state.ts');
    const {prompter, asked} = scriptedPrompter([['An agent is installed in this cluster', ENTER]]);
    const release = {
      name: 'agents',
      namespace: 'tools',
      chart: 'agent-local',
      version: '0.6.5',
      status: 'failed',
      values: {value: {}, source: 'helm'},
    } as const;
    const cluster = {
      facts: {},
      storageClasses: [],
      nodePools: [],
      releases: [release],
      summary: '',
      isRead: true,
    };
    const {answers} = await askElsewhere({
      state: startState(new Map()),
      known: {cluster},
      frame: {heading: [], canGoBack: true},
      deps: {prompter} as never,
    });
    expect(answers?.map(([{id}, answer]) => [id, answer?.value])).toEqual([
      ['namespace', 'tools'],
      ['release', 'agents'],
    ]);
    expect((asked[0] as ListQuestion).choices).toMatchObject([
      {label: 'agents in namespace tools', description: 'agent-local 0.6.5, failed'},
      {label: 'Install another agent', description: 'scalr-agent in namespace scalr-agent'},
    ]);
  });
});

describe('known answers', () => {
  test('are shown with their source instead of a question', async () => {
    const files = memoryFiles({'a.yaml': 'purpose: runs\nisolation: per-run\n'});
    const argv = ['--url', 'https://acme.scalr.io', '--cache', 'ephemeral', '--answers', 'a.yaml'];
    const env = {SCALR_AGENT_TOKEN: TOKEN, SCALR_AGENT_INSTALL_CLOUD: 'gke'};
    const {stderr, exit} = await talk([FILES_ONLY, ...QUIT], {argv, files, env});
    expect(exit, stderr).toBe(0);
    expect(rowOf(stderr, 'Cache')).toMatch(/; from flag$/);
    expect(rowOf(stderr, 'Chart')).toMatch(/^Chart agent-job/);
  });

  test('fails before the first question when a flag is invalid', async () => {
    const {exit, stderr} = await talk([], {argv: ['--url', 'ftp://acme', '--cloud', 'azur']});
    expect(exit).toBe(2);
    expect(stderr).toContain('--url');
    expect(stderr).toContain('--cloud');
  });

  test('offers nothing about runs for a VCS agent, and no other chart', async () => {
    const lines = change('Purpose', ['What is the agent pool used for', 'vcs']);
    const {asked, stderr} = await talk([...HAPPY, ...lines, ...QUIT]);
    expect(rowOf(stderr, 'Runs')).toBe('');
    expect(rowOf(stderr, 'Chart')).toContain('the only chart for VCS agent pools');
    const rows = choicesOf(asked, 'Change');
    expect(rows.find(({value}) => value === 'Chart')?.disabled).toBe('no other chart is possible');
    expect(rows.map(({value}) => value)).not.toContain('Metadata');
  });

  test('disables choices that the given chart does not support', async () => {
    const lines = change('Cache', ['Where should', ENTER], ['Cache size', ENTER]);
    const {asked, stderr} = await talk([...HAPPY, ...lines, ...QUIT], {
      argv: ['--chart', 'agent-local'],
    });
    expect(stderr).toMatch(/Review {2}agent-local [\d.]+ → files only/);
    expect(
      choicesOf(asked, 'Where should provider').find(({value}) => value === 'efs')?.disabled,
    ).toBe('only with agent-k8s');
  });

  test('names the answer that excludes the only chart with a value', async () => {
    const lines: Line[] = [
      ...change('Private CA', ['File with private CA', 'ca.pem'], ['Add the public root', ENTER]),
      ...change('Cache', ['Where should', ENTER], ['Cache size', ENTER]),
    ];
    const {asked} = await talk([...HAPPY, ...lines, ...QUIT], {
      files: memoryFiles({'ca.pem': String(certificates['ca.pem'])}),
      argv: ['--cloud', 'eks'],
    });
    const efs = choicesOf(asked, 'Where should provider').find(({value}) => value === 'efs');
    expect(efs?.disabled).toBe(
      'only with agent-k8s, which your answer for CA public roots excludes',
    );
  });

  test('keep the role of an identity that is opened again', async () => {
    const role = 'arn:aws:iam::123456789012:role/scalr';
    const identity = (...text: Line): Line[] =>
      change('Identity', ['How do runs get cloud credentials', 'irsa'], text);
    const first = identity('ARN of the IAM role', role);
    const again = identity('ARN of the IAM role', ENTER);
    const {stderr} = await talk([...HAPPY, ...first, ...again, ...VIEW_AND_QUIT], {
      argv: ['--cloud', 'eks'],
    });
    expect(rowOf(stderr, 'Identity')).toContain(role);
  });

  test('hides identities of other platforms', async () => {
    const lines = change(
      'Identity',
      ['How do runs get cloud credentials', 'irsa'],
      ['ARN of the IAM role', 'arn:aws:iam::123456789012:role/scalr'],
    );
    const {asked, stderr} = await talk([...HAPPY, ...lines, ...VIEW_AND_QUIT], {
      argv: ['--cloud', 'eks'],
    });
    expect(choicesOf(asked, 'How do runs get').map(({value}) => value)).toEqual([
      'none',
      'irsa',
      'eks-pod-identity',
    ]);
    expect(stderr).toContain('eks.amazonaws.com/role-arn: "arn:aws:iam::123456789012:role/scalr"');
  });
});

describe('a question', () => {
  test('has one row for the chart default, which is preselected and named', async () => {
    const lines = change('Cache', ['Where should', ENTER], ['Cache size', ENTER]);
    const {asked} = await talk([...HAPPY, ...lines, ...QUIT]);
    expect(choicesOf(asked, 'Where should provider').map(({label}) => label)).toEqual([
      'Ephemeral volume',
      'New PVC',
      'Existing PVC',
      'Node directory',
      'Amazon EFS',
    ]);
    expect(choicesOf(asked, 'Where should provider')[0]?.description).toMatch(
      /^chart default; deleted with the pod/,
    );
  });

  test('never contains a flag', async () => {
    const lines: Line[] = [
      ...change('Chart', ['Chart to install', 'agent-local']),
      ...change('Cache', ['Where should', ENTER], ['Cache size', ENTER]),
    ];
    const {asked} = await talk([...HAPPY, ...lines, ...QUIT]);
    const rows = (asked as ListQuestion[]).flatMap(({choices = []}) => choices);
    expect(rows.filter(({disabled}) => disabled !== undefined)).not.toEqual([]);
    for (const {label, description = '', disabled = ''} of rows)
      expect(label + description + disabled).not.toMatch(/ --[a-z]/);
  });

  test('describes each chart in one line', async () => {
    const lines = change('Chart', ['Chart to install', ENTER]);
    const {asked} = await talk([...HAPPY, ...lines, ...QUIT]);
    expect(
      choicesOf(asked, 'Chart to install').map(
        ({label, description}) => `${label.split(' ')[0]}: ${description}`,
      ),
    ).toEqual([
      'agent-local: recommended; shared pods, always running; no cluster role',
      'agent-job: a pod started for each run; CRD and cluster role',
      'agent-k8s: a pod started for each run; root and node directories',
    ]);
  });

  test('about the number of runs is left out where no chart limits them', async () => {
    const lines: Line[] = [
      ...change('Chart', ['Chart to install', 'agent-job']),
      ...change('Runs', ['Memory limit of a run', '3Gi']),
    ];
    const {stderr} = await talk([...HAPPY, ...lines, ...VIEW_AND_QUIT]);
    expect(rowOf(stderr, 'Runs')).toMatch(/^Runs a pod for each reserves .*, limit [\d.]+\w+/);
    expect(stderr).not.toContain('replicaCount: 5');
  });
});

describe('the network', () => {
  test('asks for the URL of a proxy and what bypasses it', async () => {
    const lines = change(
      'Proxy',
      ['Proxy for https', 'http://proxy.corp:3128'],
      ['Hosts and networks that bypass', '10.0.0.0/8,.corp'],
    );
    const {stderr} = await talk([...HAPPY, ...lines, ...VIEW_AND_QUIT]);
    expect(stderr).toContain('HTTPS_PROXY: "http://proxy.corp:3128"');
    expect(stderr).toMatch(/NO_PROXY: "10\.0\.0\.0\/8,\.corp,/);
    expect(rowOf(stderr, 'Network')).toContain('proxy http://proxy.corp:3128');
  });

  test('takes the proxy of this machine as the answer to edit', async () => {
    const lines = change(
      'Proxy',
      ['Proxy for https', ENTER],
      ['The chart stores this password', 'y'],
      ['Hosts and networks', ENTER],
    );
    const env = {HTTPS_PROXY: 'http://me:geheim@proxy.corp:3128', NO_PROXY: '.corp'};
    const {asked, stderr} = await talk([...HAPPY, ...lines, ...QUIT], {env});
    expect(stderr).toContain('HTTPS_PROXY of this machine is not used');
    const find = (text: string) =>
      asked.find(({message}) => message.includes(text)) as InputQuestion;
    expect(find('Hosts and networks')).toMatchObject({default: '.corp', isPrefilled: true});
    expect(stderr + shown(asked)).not.toContain('geheim');
  });

  test('joins what bypasses the proxy on this machine and in the cluster', async () => {
    const lines: Line[] = [
      TARGET,
      ASK_TOKEN,
      ['What do you want to do?', 'change'],
      ['Change', 'Proxy'],
      ['Proxy for https', ENTER],
      interrupt('Hosts and networks'),
    ];
    const cidr = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'ServiceCIDR',
      metadata: {name: 'kubernetes'},
      spec: {cidrs: ['172.20.0.0/16']},
    };
    const {asked} = await talk(lines, {
      answer: oneContext,
      kubernetes: fakeKubernetes({
        objects: [...EKS_OBJECTS, cidr],
        resources: ['servicecidrs.networking.k8s.io'],
      }),
      env: {HTTPS_PROXY: 'http://proxy.corp:3128', NO_PROXY: '10.0.0.0/16,.corp, http://x,*'},
    });
    expect(asked.at(-1)).toMatchObject({
      default: '172.20.0.0/16,10.0.0.0/16,.corp',
      isPrefilled: true,
    });
  });

  test('uses the proxy of an OpenShift cluster', async () => {
    const proxy = {
      apiVersion: 'config.openshift.io/v1',
      kind: 'Proxy',
      metadata: {name: 'cluster'},
      status: {httpsProxy: 'http://proxy.corp:3128', noProxy: '.corp,10.0.0.0/8'},
    };
    const resources = ['clusterversions.config.openshift.io', 'proxies.config.openshift.io'];
    const kubernetes = fakeKubernetes({objects: [NODE, proxy], resources});
    const {stderr} = await talk([TARGET, ASK_TOKEN, ...QUIT], {answer: oneContext, kubernetes});
    expect(rowOf(stderr, 'Network')).toMatch(
      /^Network proxy http:\/\/proxy\.corp:3128 the proxy of this OpenShift cluster/,
    );
  });

  test('asks whether to trust public servers too, with a private CA', async () => {
    const lines = change(
      'Private CA',
      ['File with private CA', 'ca.pem'],
      ['Add the public', ENTER],
    );
    const {asked, stderr} = await talk([...HAPPY, ...lines, ...QUIT], {
      files: memoryFiles(certificates),
    });
    expect(rowOf(stderr, 'Network')).toContain('CA ca.pem');
    const question = asked.find(({message}) =>
      message.startsWith('File with private CA'),
    ) as TextQuestion;
    expect(await question.validate?.('expired.pem')).toMatch(/expired on/);
    expect(await question.validate?.('nowhere.pem')).toContain('no such file');
    expect(await question.validate?.('ca.pem')).toBeUndefined();
  });

  test('saves and prints the password of a proxy in values.yaml only, and says so before', async () => {
    const lines: Line[] = [
      ...HAPPY,
      ...change(
        'Proxy',
        ['Proxy for https', 'http://me:geheim@proxy.corp:3128'],
        ['The chart stores this password in clear text', 'n'],
        ['Proxy for https', 'http://me:geheim@proxy.corp:3128'],
        ['The chart stores this password in clear text', 'y'],
        ['Hosts and networks that bypass', ENTER],
      ),
      ['What do you want to do?', 'print'],
      ['What do you want to do?', 'save'],
      ['Directory to save to', 'out'],
      ['What do you want to do?', ENTER],
    ];
    const {stderr, files, written, asked} = await talk(lines);
    const kept = files.written.filter(({path}) => !path.endsWith('values.yaml'));
    expect(JSON.stringify(kept) + stderr + shown(asked)).not.toContain('geheim');
    expect(shown(asked)).toContain(
      'values.yaml will contain the password of the proxy URL; answers.yaml leaves it out.',
    );
    expect(stderr).toContain('SCALR_AGENT_INSTALL_HTTPS_PROXY');
    const replay = await runCommand(Values, ['--answers', 'a'], {
      files: memoryFiles({a: written.get('out/answers.yaml') as string}),
    });
    expect(replay.exit).toBe(2);
    expect(replay.stderr).toMatch(
      /https-proxy: The user name and password are placeholders[\s\S]*SCALR_AGENT_INSTALL_HTTPS_PROXY/,
    );
  });
});

describe('Esc', () => {
  test('returns from the review to the token, which is kept and not shown', async () => {
    const lines: Line[] = [...HAPPY, ['What do you want to do?', ESC], ['Agent pool token', ENTER]];
    const {stderr, asked} = await talk([...lines, ...QUIT]);
    expect(asked.filter(({message}) => message === 'Agent pool token')[1]?.note).toBe('unchanged');
    expect(stderr).toContain('acme.scalr.io · token');
  });

  test('returns from a topic to Change without half of an answer, and from Change to the review', async () => {
    const lines: Line[] = [
      ...HAPPY,
      ['What do you want to do?', 'change'],
      ['Change', 'Cache'],
      ['Where should provider', 'existing-pvc'],
      ['Name of the existing PVC', ESC],
      ['Where should provider', ESC],
      ['Change', ESC],
    ];
    const {asked, stderr} = await talk([...lines, ...QUIT]);
    const caches = (asked as ListQuestion[]).filter(({message}) => /^Where should/.test(message));
    expect(caches.map((each) => each.default)).toEqual(['ephemeral', 'existing-pvc']);
    expect(rowOf(stderr, 'Cache')).toContain('per pod');
    expect(stderr).not.toContain('INVALID_SETTING');
    const menus = (asked as ListQuestion[]).filter(({message}) => message === 'Change');
    expect(menus.map((each) => each.default)).toEqual([undefined, 'Cache']);
  });

  test('asks at the first question whether to quit', async () => {
    const {exit} = await talk([
      ['Where will the agent run', ESC],
      ['Quit without changes?', 'n'],
      ['Where will the agent run', ESC],
      ['Quit without changes?', 'y'],
    ]);
    expect(exit).toBe(130);
  });
});

describe('placement', () => {
  const TAINTED = {
    ...NODE,
    metadata: {name: 'two', labels: {...NODE.metadata.labels, 'eks.amazonaws.com/nodegroup': 'ci'}},
    spec: {...NODE.spec, taints: [{key: 'dedicated', value: 'ci', effect: 'NoSchedule'}]},
  };

  test('offers the node pools of the cluster and their taints', async () => {
    const lines: Line[] = [
      TARGET,
      ASK_TOKEN,
      ...change(
        'Placement',
        ['Node selector for runs', 'eks.amazonaws.com/nodegroup=ci'],
        ['Toleration for runs', 'dedicated=ci:NoSchedule'],
      ),
      ...VIEW_AND_QUIT,
    ];
    const {asked, stderr} = await talk(lines, {
      answer: oneContext,
      kubernetes: fakeKubernetes({objects: [NODE, TAINTED]}),
    });
    expect(choicesOf(asked, 'Node selector for runs')).toMatchObject([
      {label: 'any node'},
      {label: 'eks.amazonaws.com/nodegroup=a', description: '1 node'},
      {
        label: 'eks.amazonaws.com/nodegroup=ci',
        description: '1 node, taint dedicated=ci:NoSchedule',
      },
      {label: 'Enter another value'},
    ]);
    expect(choicesOf(asked, 'Toleration for runs')[1]).toMatchObject({description: 'pool ci'});
    expect(stderr).toMatch(/eks.amazonaws.com\/nodegroup: "?ci"?/);
    expect(stderr).toMatch(/effect: "?NoSchedule"?/);
  });
});

test('tells which chart a cache would need', async () => {
  const {asked} = await talk(
    [
      TARGET,
      ASK_TOKEN,
      ...change('Cache', ['Where should provider', 'ephemeral'], ['Cache size', ENTER]),
      ...QUIT,
    ],
    {answer: oneContext, kubernetes: fakeKubernetes({objects: [NODE]})},
  );
  const efs = choicesOf(asked, 'Where should provider').find(({value}) => value === 'efs');
  expect(efs?.description).toContain(
    'changes the chart to agent-k8s: a pod started for each run; root',
  );
});

describe('the only place', () => {
  const noDocker = {
    requireTool: async () => {
      throw new ExpectedError('docker not found on PATH.', {code: 'TOOL_NOT_FOUND'});
    },
  };

  test('is not asked for; Esc and Change open the question', async () => {
    const {stderr} = await talk(
      [
        ['Agent pool token', ESC],
        TARGET,
        ASK_TOKEN,
        ...change('Where', ['Where will the agent run', 'files']),
        ...QUIT,
      ],
      {answer: oneContext, kubernetes: fakeKubernetes({objects: [NODE]}), ...noDocker},
    );
    expect(stderr).toContain('◇  Where      prod-eks · EKS');
    expect(stderr).toContain('the only context');
    expect(stderr).toContain('◆  Review  agent-local 0.6.5 → files only');
  });

  test('is asked for with Docker on the machine', async () => {
    await talk([TARGET, ASK_TOKEN, ...QUIT], {
      answer: oneContext,
      kubernetes: fakeKubernetes({objects: [NODE]}),
    });
  });
});

test('a token can be entered instead of an existing Secret, with Esc or later', async () => {
  const {stderr} = await talk([
    FILES_ONLY,
    ['Agent pool token', ''],
    ['Secret with the agent pool token', 'mine'],
    ['Scalr URL', ESC],
    ['Secret with the agent pool token', ESC],
    ['Agent pool token', ''],
    ['Secret with the agent pool token', 'mine'],
    ['Scalr URL', 'https://acme.scalr.io'],
    ...change('Agent', ['Agent pool token', TOKEN], ['Scalr URL', ENTER]),
    ...QUIT,
  ]);
  expect(reviewsIn(stderr)[0]).toContain('existing Secret mine');
  expect(reviewsIn(stderr).at(-1)).toContain('new Secret scalr-agent-token');
});
