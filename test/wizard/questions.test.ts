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
import {certificates} from '../support/certificates.ts';
import {fakeKubernetes} from '../support/fake-kubernetes.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';
import {ENTER, ESC, type Line} from '../support/scripted-prompter.ts';
import {TODAY} from '../support/settings-from.ts';
import {
  choicesOf,
  FILES_ONLY,
  interrupt,
  jwt,
  QUIT,
  shown,
  talk,
  VIEW_AND_QUIT,
} from './conversation.ts';

type Asked = readonly (InputQuestion | ListQuestion)[];

const inDays = (days: number): number => Math.floor(TODAY.getTime() / 1000) + days * 86_400;
const TOKEN = jwt({iss: 'acme.scalr.io', exp: inDays(400)});

const TARGET: Line[] = [FILES_ONLY, ['Where does the cluster run', ENTER]];
const PURPOSE: Line[] = [
  ['Agent pool token', TOKEN],
  ['What is the agent pool used for', ENTER],
  ['Isolate each run', ENTER],
  ['How are runs distributed', ENTER],
];
const NETWORK: Line = ['Which of these apply to your network', ENTER];
const REST: Line[] = [
  ['Where should provider and binary downloads be cached', ENTER],
  ['Maximum concurrent runs', ENTER],
  ['Chart to install', ENTER],
];
/** agent-job and agent-k8s start a pod for every run, so nothing limits them. */
const REST_WITHOUT_LIMIT: Line[] = [REST[0] as Line, REST[2] as Line];
const TO_NETWORK: Line[] = [...TARGET, ...PURPOSE];
const HAPPY: Line[] = [...TO_NETWORK, NETWORK, ...REST];

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
const EKS_OBJECTS = [
  {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'one',
      labels: {'eks.amazonaws.com/nodegroup': 'a', 'kubernetes.io/os': 'linux'},
    },
    spec: {providerID: 'aws:///eu-1/i-1'},
    status: {
      nodeInfo: {operatingSystem: 'linux', kubeletVersion: 'v1.35.1', osImage: 'Amazon Linux 2023'},
      allocatable: {cpu: '4', memory: '16Gi'},
      conditions: [{type: 'Ready', status: 'True'}],
    },
  },
];
const EKS = fakeKubernetes({objects: EKS_OBJECTS});

describe('the happy path', () => {
  test('needs nine answers on a cluster that answers', async () => {
    const answers: Line[] = [['Where will the agent run', ENTER], ...PURPOSE, NETWORK, ...REST];
    const {exit, stderr, asked} = await talk([...answers, ...QUIT], {
      answer: oneContext,
      kubernetes: EKS,
    });
    expect(exit, stderr).toBe(0);
    expect(answers).toHaveLength(9);
    const [target] = asked as ListQuestion[];
    expect((await target?.laterChoices)?.[0]).toMatchObject({
      description: 'prod-eks (current context), EKS, Kubernetes v1.35.1, 1 node',
    });
    expect(stderr).toContain('◇  Target     prod-eks · namespace scalr-agent · EKS (cluster)\n');
    expect(shown(asked)).toContain('The node has 4 CPU and 16Gi in total');
  });

  test('numbers the steps, and keeps the answered ones in one line each', async () => {
    const {asked, stderr} = await talk([...HAPPY, ...QUIT]);
    const titles = [...new Set(asked.flatMap(({heading = []}) => heading.slice(0, 1)))];
    expect(titles.slice(0, -1)).toEqual(
      ['Target', 'Agent', 'Purpose', 'Network', 'Cache', 'Size', 'Chart'].map(
        (step, index) => `Step ${index + 1} of 7 · ${step}`,
      ),
    );
    expect(stderr).toContain('◇  Agent      acme.scalr.io · token, expires on 2028-02-05\n');
    expect(stderr).toContain(
      '◇  Network    direct connection · instance metadata allowed (chart default)\n',
    );
    expect(stderr).toContain('◇  Cache      Ephemeral volume · 20Gi (chart default)\n');
    expect(stderr).toContain('◇  Size       1 concurrent run (chart default)\n');
  });

  test.each([
    ['agent-local', ENTER, ENTER],
    ['agent-job', 'per-run', ENTER],
    ['agent-k8s', 'per-run', 'agent-k8s'],
  ] as const)('%s: generates identical values from saved answers', async (chart, isolation, choice) => {
    const lines: Line[] = [
      FILES_ONLY,
      ['Where does the cluster run', 'eks'],
      ...PURPOSE.slice(0, 2),
      ['Isolate each run', isolation],
      ...(isolation === ENTER ? PURPOSE.slice(3) : []),
      NETWORK,
      ...REST.slice(0, isolation === 'per-run' ? 1 : 2),
      ['Chart to install', choice],
      ...(chart === 'agent-k8s' ? ([['Operating system of the nodes', 'al2']] as const) : []),
      ['What do you want to do?', 'save'],
      ['Directory to save to', 'out'],
      ['What do you want to do?', ENTER],
    ];
    const {exit, stderr, written} = await talk(lines);
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
      ...PURPOSE,
      NETWORK,
      ...REST,
      ...QUIT,
    ];
    const {asked, stderr} = await talk(lines, {answer: contexts, kubernetes: EKS});
    expect(choicesOf(asked, 'Kubeconfig context').map(({value}) => value)).toEqual([
      'blue',
      'green',
    ]);
    expect(stderr).toContain('◇  Target     green · ');
  });

  test('is asked again after Esc in the list of contexts', async () => {
    const lines: Line[] = [
      ['Where will the agent run', 'other'],
      ['Kubeconfig context', ESC],
      ['Where will the agent run', ENTER],
    ];
    const {stderr} = await talk([...lines, ...PURPOSE, NETWORK, ...REST, ...QUIT], {
      answer: contexts,
      kubernetes: EKS,
    });
    expect(stderr).toContain('◇  Target     prod-eks · ');
  });

  test('is given by --kube-context', async () => {
    const {stderr} = await talk([...PURPOSE, NETWORK, ...REST, ...QUIT], {
      answer: contexts,
      kubernetes: EKS,
      argv: ['--kube-context', 'blue'],
    });
    expect(stderr).toContain('◇  Target     blue · ');
  });

  test('is read again when the namespace is changed, because policies can differ', async () => {
    const locked = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {name: 'air', labels: {'pod-security.kubernetes.io/enforce': 'restricted'}},
    };
    const kubernetes = fakeKubernetes({objects: [...EKS_OBJECTS, locked]});
    const EDIT: Line = ['What do you want to do?', 'edit'];
    const lines: Line[] = [
      ['Where will the agent run', ENTER],
      ...PURPOSE,
      NETWORK,
      ...REST,
      EDIT,
      ['Which answer do you want to change?', 'more'],
      ['What do you want to configure?', 'Release'],
      ['Release: which setting', 'namespace'],
      ['Namespace', 'air'],
      ['Release: which setting', ''],
      ['What do you want to configure?', ''],
      EDIT,
      ['Which answer do you want to change?', 'chart'],
      ['Chart to install', ENTER],
      ...QUIT,
    ];
    const {asked} = await talk(lines, {answer: oneContext, kubernetes});
    const charts = (asked as ListQuestion[]).filter(({message}) => message === 'Chart to install');
    const disabled = charts.map(
      ({choices}) => choices.find(({value}) => value === 'agent-k8s')?.disabled,
    );
    expect(disabled).toEqual([undefined, expect.stringContaining('hostPath')]);
  });

  test('is reported when it does not answer in time', async () => {
    const kubernetes: KubernetesClient = {
      ...fakeKubernetes(),
      async get(_path, {signal}) {
        if (!signal.aborted) await once(signal, 'abort');
        return {error: {kind: 'aborted', message: 'timed out (--timeout)'}};
      },
    };
    const lines: Line[] = [
      ['Where will the agent run', ENTER],
      ['Agent pool token', TOKEN],
      ['Where does the cluster run', ENTER],
      ...PURPOSE.slice(1),
      NETWORK,
      ...REST,
      ...QUIT,
    ];
    const {exit, asked} = await talk(lines, {
      answer: oneContext,
      kubernetes,
      argv: ['--timeout', '1s'],
    });
    expect(exit).toBe(0);
    expect(shown(asked)).toContain(
      'Cannot reach the Kubernetes API (timed out waiting for a response). You can still write',
    );
  });
});

describe('what an install lacks', () => {
  const LACKS: Line = ['How do you want to continue?', 'again'];
  const target = (asked: readonly unknown[]) =>
    (asked as ListQuestion[]).find(({message}) => message === 'Where will the agent run?');

  test('is shown at the first question, and asked about before the purpose: helm is not installed', async () => {
    const answer: Processes['run'] = async (call, how) => {
      if (call.tool !== 'helm') return oneContext(call, how);
      throw new ExpectedError('helm not found on PATH.', {
        code: 'TOOL_NOT_FOUND',
        exit: 2,
        suggestions: [],
      });
    };
    const lines: Line[] = [
      ['Where will the agent run', ENTER],
      LACKS,
      ['How do you want to continue?', 'continue'],
      ...PURPOSE,
      NETWORK,
      ...REST,
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
      ['Where will the agent run', ENTER],
      ['How do you want to continue?', 'disk'],
      ['Directory or .tgz file of the chart', '/charts/agent-local'],
      ...PURPOSE.slice(0, 3),
      NETWORK,
      ...REST.slice(0, 2),
      ...QUIT,
    ];
    const {asked} = await talk(lines, {answer, kubernetes: EKS, files: {...disk, kindOf}});
    expect((await target(asked)?.laterChoices)?.[0]?.description).toContain(
      ' · the chart repository cannot be reached: no such host',
    );
    expect(shown(asked)).toContain('× The chart repository cannot be reached: no such host.');
    expect(shown(asked)).toMatch(/Review {5}agent-local 0\.6\.5 → prod-eks/);
  });

  test('can be a permission, and ends in files for this cluster', async () => {
    const kubernetes: KubernetesClient = {
      ...EKS,
      post: async () => ({status: 201, body: {status: {allowed: false}}}),
    };
    const lines: Line[] = [
      ['Where will the agent run', ENTER],
      ['How do you want to continue?', 'files'],
    ];
    const {asked} = await talk([...lines, ...PURPOSE, NETWORK, ...REST, ...QUIT], {
      answer: oneContext,
      kubernetes,
    });
    expect(shown(asked), 'the files are for the cluster that was read').toMatch(
      /→ files only · namespace scalr-agent · EKS \(cluster\)/,
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

describe('a list from the cluster', () => {
  const classes = ['standard', 'efs-sc'].map((name, index) =>
    storageClass(name, 'efs.csi.aws.com', index === 0),
  );
  const cluster = fakeKubernetes({objects: [...EKS_OBJECTS, ...classes]});
  const CLASS = 'StorageClass of the cache';
  const TO_CLASS: Line[] = [
    ['Where will the agent run', ENTER],
    ...PURPOSE,
    NETWORK,
    ['Where should provider', 'pvc'],
  ];
  const listsIn = (asked: readonly unknown[]): ListQuestion[] =>
    (asked as ListQuestion[]).filter(({message}) => message === CLASS);

  test('starts on its first row, never on "Enter another value"', async () => {
    const lines: Line[] = [...TO_CLASS, [CLASS, ENTER], interrupt('Access mode')];
    const {asked} = await talk(lines, {answer: oneContext, kubernetes: cluster});
    expect(listsIn(asked)[0]?.choices.map(({label}) => label)).toEqual([
      'Default StorageClass of the cluster',
      'standard (default)',
      'efs-sc',
      'Enter another value',
    ]);
    expect(shown(asked)).toContain(
      'StorageClass of the cache: Default StorageClass of the cluster',
    );
  });

  test.each([
    [
      'efs-sc',
      [
        'Default StorageClass of the cluster',
        'standard (default)',
        'efs-sc',
        'Enter another value',
      ],
    ],
    [
      'typed-sc',
      [
        'Default StorageClass of the cluster',
        'typed-sc',
        'standard (default)',
        'efs-sc',
        'Enter another value',
      ],
    ],
  ])('starts on the earlier answer %s after Esc', async (name, labels) => {
    const typing: Line[] =
      name === 'efs-sc'
        ? [[CLASS, name]]
        : [
            [CLASS, 'Enter another value'],
            [CLASS, name],
          ];
    const lines: Line[] = [
      ...TO_CLASS,
      ...typing,
      ['Access mode', ESC],
      [CLASS, ENTER],
      interrupt('Access mode'),
    ];
    const {asked} = await talk(lines, {answer: oneContext, kubernetes: cluster});
    expect(listsIn(asked).at(-1)).toMatchObject({
      default: name,
      choices: labels.map((label) => ({label})),
    });
    expect(shown(asked).split('\n').at(-1)).toContain(name);
  });
});

describe('the cache on the disks of EKS', () => {
  const gp3 = storageClass('gp3', 'ebs.csi.aws.com', true);
  const efs = storageClass('efs-sc', 'efs.csi.aws.com', false);
  const on = (...objects: object[]) => ({
    answer: oneContext,
    kubernetes: fakeKubernetes({objects: [...EKS_OBJECTS, ...(objects as typeof EKS_OBJECTS)]}),
  });
  const CLASS = 'StorageClass of the cache';
  const MODE = 'Access mode of the cache';
  const TO_CACHE: Line[] = [['Where will the agent run', ENTER], ...PURPOSE, NETWORK];
  const PVC: Line = ['Where should provider', 'pvc'];
  const rowsOf = (asked: Asked, question: string) =>
    choicesOf(asked, question).map(({label, description, disabled}) =>
      [label, disabled ?? description].join(': '),
    );

  test('is never proposed as ReadWriteMany where the driver makes disks', async () => {
    const lines: Line[] = [...TO_CACHE, PVC, [CLASS, 'gp3'], interrupt(MODE)];
    const {asked} = await talk(lines, on(gp3, efs));
    expect(rowsOf(asked, CLASS).slice(0, 2)).toEqual([
      'Default StorageClass of the cluster: gp3',
      'gp3 (default): ebs.csi.aws.com: ReadWriteOnce, ReadWriteOncePod',
    ]);
    expect(rowsOf(asked, MODE)).toContain(
      'ReadWriteMany: not with StorageClass gp3: ebs.csi.aws.com supports only ReadWriteOnce, ReadWriteOncePod',
    );
    expect(asked.at(-1)).toMatchObject({default: 'ReadWriteOnce'});
  });

  test('is on a shared class where runs have pods of their own', async () => {
    const lines: Line[] = [
      TO_CACHE[0] as Line,
      ...PURPOSE.slice(0, 2),
      ['Isolate each run', 'per-run'],
      NETWORK,
      PVC,
      [CLASS, 'efs-sc'],
      interrupt(MODE),
    ];
    const {asked} = await talk(lines, {...on(gp3, efs), argv: ['--chart', 'agent-job']});
    const why = 'not possible here: ebs.csi.aws.com supports only ReadWriteOnce, ReadWriteOncePod';
    expect(rowsOf(asked, CLASS).slice(0, 3)).toEqual([
      `Default StorageClass of the cluster: ${why}, and several pods mount the cache`,
      `gp3 (default): ${why}, and several pods mount the cache`,
      'efs-sc: efs.csi.aws.com: ReadWriteOnce, ReadOnlyMany, ReadWriteMany',
    ]);
    expect(asked.at(-1)).toMatchObject({default: 'ReadWriteMany'});
  });

  test('is asked about again when a later answer needs another volume', async () => {
    const lines: Line[] = [
      ...TO_CACHE,
      PVC,
      [CLASS, 'gp3'],
      [MODE, ENTER],
      ['Cache size', '50'],
      ['Maximum concurrent runs', '10'],
      [CLASS, 'efs-sc'],
      [MODE, ENTER],
      ['Chart to install', ENTER],
    ];
    const {asked} = await talk([...lines, ...QUIT], on(gp3, efs));
    expect(shown(asked)).toContain(
      'Your answer no longer fits: a ReadWriteOnce cache cannot be shared, but it is mounted by 10 agents.',
    );
    expect(shown(asked)).toMatch(/Cache\tNew PVC · 50Gi · StorageClass efs-sc · ReadWriteMany/);
  });

  test('keeps the access mode that was chosen, although it is the default then', async () => {
    const lines: Line[] = [
      ...TO_CACHE,
      PVC,
      [CLASS, 'efs-sc'],
      [MODE, ENTER],
      ['Cache size', ENTER],
      ['Maximum concurrent runs', ENTER],
      ['Chart to install', ENTER],
    ];
    const {asked} = await talk([...lines, ...QUIT], on(gp3, efs));
    expect(shown(asked)).toMatch(/Cache\tNew PVC · StorageClass efs-sc · ReadWriteOnce/);
  });

  test('reads a size without a unit in gibibytes', async () => {
    const lines: Line[] = [...TO_CACHE, PVC, [CLASS, ENTER], [MODE, ENTER]];
    const {asked} = await talk([...lines, interrupt('Cache size')], on(gp3));
    const {validate} = asked.at(-1) as TextQuestion;
    expect(await validate?.('50')).toBeUndefined();
    expect(await validate?.('50 Gi')).toBeUndefined();
    expect(await validate?.('100000')).toContain('"100000" has no unit');
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

  test('can be in an existing Secret', async () => {
    const lines: Line[] = [
      ...TARGET,
      ['Agent pool token', ENTER],
      ['Secret with the agent pool token', 'mine'],
      ['Scalr URL', 'https://acme.scalr.io'],
      ...PURPOSE.slice(1),
      NETWORK,
      ...REST,
    ];
    const {stderr} = await talk([...lines, ...VIEW_AND_QUIT]);
    expect(stderr).toMatch(/name: "mine"/);
    expect(stderr).toContain('acme.scalr.io · Secret mine');
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

describe('known answers', () => {
  test('are shown with their source instead of a question', async () => {
    const files = memoryFiles({'a.yaml': 'purpose: runs\nisolation: shared\n'});
    const argv = ['--url', 'https://acme.scalr.io', '--cache', 'ephemeral', '--answers', 'a.yaml'];
    const env = {SCALR_AGENT_TOKEN: TOKEN, SCALR_AGENT_INSTALL_CLOUD: 'gke'};
    const {stderr, exit} = await talk([FILES_ONLY, NETWORK, ...REST.slice(1), ...QUIT], {
      argv,
      files,
      env,
    });
    expect(exit, stderr).toBe(0);
    expect(stderr).toContain(
      '◇  Target     files only · namespace scalr-agent · GKE (environment)\n',
    );
    expect(stderr).toContain(
      '◇  Agent      acme.scalr.io (flag) · token, expires on 2028-02-05 (SCALR_AGENT_TOKEN)\n',
    );
    expect(stderr).toContain(
      '◇  Purpose    Terraform/OpenTofu runs (answers file) · runs may share a container (answers file)\n',
    );
    expect(stderr).toContain('◇  Cache      Ephemeral volume (flag) · 20Gi (chart default)\n');
  });

  test('fails before the first question when a flag is invalid', async () => {
    const {exit, stderr} = await talk([], {argv: ['--url', 'ftp://acme', '--cloud', 'azur']});
    expect(exit).toBe(2);
    expect(stderr).toContain('--url');
    expect(stderr).toContain('--cloud');
  });

  test('asks nothing about runs for a VCS agent', async () => {
    const lines: Line[] = [
      ...TARGET,
      ['Agent pool token', TOKEN],
      ['What is the agent pool used for', 'vcs'],
      NETWORK,
      ['Chart to install', ENTER],
    ];
    const {asked, stderr} = await talk([...lines, ...QUIT]);
    expect(stderr).toMatch(/Cache +not used for VCS access\n.*Size +not used for VCS access\n/);
    expect(choicesOf(asked, 'Chart to install')[0]).toMatchObject({
      value: 'agent-local',
      description: 'recommended: connects Scalr with a private VCS',
    });
    expect(choicesOf(asked, 'Which of these apply').map(({value}) => value)).toEqual([
      'proxy',
      'ca',
      'mirror',
    ]);
  });

  test('disables choices that the given chart does not support', async () => {
    const {asked} = await talk(
      [...TO_NETWORK.slice(0, -1), NETWORK, ...REST.slice(0, -1), ...QUIT],
      {argv: ['--chart', 'agent-local']},
    );
    expect(shown(asked)).toMatch(/Review {5}agent-local [\d.]+ → files only/);
    expect(
      choicesOf(asked, 'Where should provider').find(({value}) => value === 'efs')?.disabled,
    ).toBe('only with agent-k8s');
  });

  test('names the answer that excludes the only chart with a value', async () => {
    const lines: Line[] = [
      FILES_ONLY,
      ['Where does the cluster run', 'eks'],
      ...PURPOSE,
      ['Which of these apply', ['ca']],
      ['File with private CA', 'ca.pem'],
      ['Add the public root certificates', ENTER],
      ['Where should provider', 'pvc'],
      ['StorageClass of the cache', ENTER],
      ['Access mode of the cache', ENTER],
      ['Cache size', ENTER],
      ...REST.slice(1),
      ...QUIT,
    ];
    const {asked} = await talk(lines, {
      files: memoryFiles({'ca.pem': String(certificates['ca.pem'])}),
    });
    const efs = choicesOf(asked, 'Where should provider').find(({value}) => value === 'efs');
    expect(efs?.disabled).toBe(
      'only with agent-k8s, which your answer for CA public roots excludes',
    );
  });

  test.each([
    ['aks', 'efs'],
    ['gke', 'efs'],
    ['gke-autopilot', 'hostpath'],
  ])('does not offer on %s the cache %s', async (platform, value) => {
    const {asked} = await talk([
      FILES_ONLY,
      ['Where does the cluster run', platform],
      ...HAPPY.slice(2),
      ...QUIT,
    ]);
    const offered = choicesOf(asked, 'Where should provider').map((choice) => choice.value);
    expect(offered).toContain('pvc');
    expect(offered).not.toContain(value);
  });

  test('hides identities of other platforms', async () => {
    const lines: Line[] = [
      FILES_ONLY,
      ['Where does the cluster run', 'eks'],
      ...PURPOSE,
      ['Which of these apply', ['identity']],
      ['How do runs get cloud credentials', ENTER],
      ['ARN of the IAM role', 'arn:aws:iam::123456789012:role/scalr'],
      ...REST,
      ...VIEW_AND_QUIT,
    ];
    const {asked, stderr} = await talk(lines);
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
    const {asked} = await talk([...HAPPY, ...QUIT]);
    expect(choicesOf(asked, 'Where should provider').map(({label}) => label)).toEqual([
      'Ephemeral volume',
      'New PVC',
      'Existing PVC',
      'Node directory',
      'Amazon EFS',
    ]);
    expect(choicesOf(asked, 'Where should provider')[0]?.description).toMatch(
      /^chart default; on the node/,
    );
    expect(asked.find(({message}) => message === 'Maximum concurrent runs')?.note).toBe(
      '1, chart default',
    );
  });

  test('never contains a flag', async () => {
    const lines: Line[] = [
      ...TO_NETWORK.slice(0, -2),
      ['Isolate each run', 'per-run'],
      NETWORK,
      ...REST_WITHOUT_LIMIT,
    ];
    const {asked} = await talk([...lines, ...QUIT]);
    const rows = (asked as ListQuestion[]).flatMap(({choices = []}) => choices);
    expect(
      rows.filter(({disabled}) => disabled !== undefined).map(({disabled}) => disabled),
    ).not.toEqual([]);
    for (const {label, description = '', disabled = ''} of rows)
      expect(label + description + disabled).not.toMatch(/ --[a-z]/);
  });

  test('describes each chart in one line', async () => {
    const {asked} = await talk([...HAPPY, ...QUIT]);
    expect(
      choicesOf(asked, 'Chart to install').map(
        ({label, description}) => `${label.split(' ')[0]}: ${description}`,
      ),
    ).toEqual([
      'agent-local: recommended: runs share pods that are always running',
      'agent-job: one pod per run, none while idle',
      'agent-k8s: one pod per run; uses root and node directories; removes your answer for cache',
    ]);
  });

  test('about the number of runs is left out where no chart limits them, and its answer is dropped', async () => {
    const lines: Line[] = [
      ...TO_NETWORK,
      NETWORK,
      REST[0] as Line,
      ['Maximum concurrent runs', '4'],
      ['Chart to install', 'agent-job'],
    ];
    const {asked} = await talk([...lines, ...QUIT]);
    expect(shown(asked)).toContain(
      'Removed the answer for concurrency: the chart starts a pod for every run.',
    );
    expect(shown(asked)).toContain('Size\ta pod for every run');
  });
});

describe('the network', () => {
  test('asks for the URL of a proxy and what bypasses it', async () => {
    const lines: Line[] = [
      ...TO_NETWORK,
      ['Which of these apply', ['proxy']],
      ['Proxy for https', 'http://proxy.corp:3128'],
      ['Hosts and networks that bypass', '10.0.0.0/8,.corp'],
      ...REST,
    ];
    const {stderr} = await talk([...lines, ...VIEW_AND_QUIT]);
    expect(stderr).toContain('HTTPS_PROXY: "http://proxy.corp:3128"');
    expect(stderr).toMatch(/NO_PROXY: "10\.0\.0\.0\/8,\.corp,/);
  });

  test('takes the proxy of this machine as the answer to edit', async () => {
    const lines: Line[] = [
      ...TO_NETWORK,
      ['Which of these apply', ['proxy']],
      ['Proxy for https', ENTER],
      ['The chart stores this password', 'y'],
      ['Hosts and networks', ENTER],
      ...REST,
    ];
    const env = {HTTPS_PROXY: 'http://me:geheim@proxy.corp:3128', NO_PROXY: '.corp'};
    const {asked, stderr} = await talk([...lines, ...QUIT], {env});
    const box = choicesOf(asked, 'Which of these apply').find(({value}) => value === 'proxy');
    expect(box?.description).toBe(
      'HTTPS_PROXY is http://<user>:<password>@proxy.corp:3128 on this machine',
    );
    const find = (text: string) =>
      asked.find(({message}) => message.includes(text)) as InputQuestion;
    expect(find('Hosts and networks')).toMatchObject({default: '.corp', isPrefilled: true});
    expect(stderr + shown(asked)).not.toContain('geheim');
  });

  test('joins what bypasses the proxy on this machine and in the cluster', async () => {
    const lines: Line[] = [
      ['Where will the agent run', ENTER],
      ...PURPOSE,
      ['Which of these apply', ['proxy']],
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

  test('asks whether to trust public servers too, with a private CA', async () => {
    const lines: Line[] = [
      ...TO_NETWORK,
      ['Which of these apply', ['ca']],
      ['File with private CA', 'ca.pem'],
      ['Add the public root certificates', ENTER],
      ...REST,
    ];
    const {asked, stderr} = await talk([...lines, ...QUIT], {files: memoryFiles(certificates)});
    expect(stderr).toContain('CA ca.pem · with public roots');
    const question = asked.find(({message}) =>
      message.startsWith('File with private CA'),
    ) as TextQuestion;
    expect(await question.validate?.('expired.pem')).toMatch(/expired on/);
    expect(await question.validate?.('nowhere.pem')).toContain('no such file');
    expect(await question.validate?.('ca.pem')).toBeUndefined();
  });

  test('asks only for missing proxy settings', async () => {
    const lines: Line[] = [
      ...TO_NETWORK,
      NETWORK,
      ['Hosts and networks that bypass', ENTER],
      ...REST,
    ];
    const {asked} = await talk([...lines, ...QUIT], {argv: ['--https-proxy', 'http://p:1']});
    expect(choicesOf(asked, 'Which of these apply').map(({value}) => value)).not.toContain('proxy');
  });

  test('removes the answers of a box that is no longer selected', async () => {
    const lines: Line[] = [
      ...TO_NETWORK,
      ['Which of these apply', ['mirror', 'metadata']],
      ['Access to the node metadata', 'block'],
      ['Image registry mirror', ESC],
      ['Access to the node metadata', ESC],
      ['Which of these apply', ['metadata']],
      ['Access to the node metadata', ENTER],
      ...REST,
    ];
    const {stderr} = await talk([...lines, ...VIEW_AND_QUIT]);
    expect(stderr).toContain('◇  Network    instance metadata blocked\n');
  });

  test('saves and prints the password of a proxy in values.yaml only, and says so before', async () => {
    const lines: Line[] = [
      ...TO_NETWORK,
      ['Which of these apply', ['proxy']],
      ['Proxy for https', 'http://me:geheim@proxy.corp:3128'],
      ['The chart stores this password in clear text', 'n'],
      ['Proxy for https', 'http://me:geheim@proxy.corp:3128'],
      ['The chart stores this password in clear text', 'y'],
      ['Hosts and networks that bypass', ENTER],
      ...REST,
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
      /--https-proxy: The user name and password are placeholders[\s\S]*SCALR_AGENT_INSTALL_HTTPS_PROXY/,
    );
  });
});

describe('Esc', () => {
  test('returns to the previous question with its answer, across steps', async () => {
    const lines: Line[] = [
      ...TO_NETWORK.slice(0, -2),
      ['Isolate each run', 'per-run'],
      NETWORK,
      ['Where should provider', ESC],
      ['Which of these apply', ESC],
      ['Isolate each run', ENTER],
      NETWORK,
      ...REST_WITHOUT_LIMIT,
    ];
    const {asked, stderr} = await talk([...lines, ...QUIT]);
    expect(
      (asked.filter(({message}) => message.startsWith('Isolate')) as ListQuestion[]).map(
        (each) => each.default,
      ),
    ).toEqual(['', 'per-run']);
    expect(stderr).toContain('one pod per run');
  });

  test('keeps the token, which is not shown', async () => {
    const lines: Line[] = [
      ...TARGET,
      ['Agent pool token', TOKEN],
      ['What is the agent pool used for', ESC],
      ['Agent pool token', ENTER],
    ];
    const {stderr, asked} = await talk([...lines, ...PURPOSE.slice(1), NETWORK, ...REST, ...QUIT]);
    expect(asked.filter(({message}) => message === 'Agent pool token')[1]?.note).toBe('unchanged');
    expect(stderr).toContain('acme.scalr.io · token');
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

test('shows at most three lines of help, the last with a reference', async () => {
  const {asked} = await talk([...HAPPY, ...QUIT]);
  for (const {message, help} of asked.filter(({message: text}) => !text.startsWith('Quit'))) {
    expect(help.length, message).toBeLessThanOrEqual(3);
    expect(help.at(-1), message).toMatch(/https:\/\/|agent-(local|k8s|job) \d|scalr-agent /);
  }
});
