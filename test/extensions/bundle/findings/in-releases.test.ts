import {describe, expect, test} from 'vitest';
import type {ChartName} from '../../../../src/charts/releases/chart-name.ts';
import {newestOf, releasesOf, WITHDRAWN} from '../../../../src/charts/releases/target.ts';
import {within} from '../../../../src/charts/releases/versions.ts';
import type {KubernetesObject} from '../../../../src/cluster/kubernetes/objects.ts';
import type {NodeObject} from '../../../../src/cluster/platform/readings.ts';
import type {PreparedBundle} from '../../../../src/extensions/bundle/collect/prepare.ts';
import {
  allFindings,
  configurationFindings,
  versionFindings,
} from '../../../../src/extensions/bundle/findings.ts';
import {BundlePositions} from '../../../../src/extensions/bundle/positions.ts';
import {jsonText} from '../../../../src/ground/json.ts';
import type {Values} from '../../../../src/ground/tree.ts';

const CHARTS: readonly ChartName[] = ['agent-k8s', 'agent-local', 'agent-job'];
const target = (chart: ChartName, version: string) => ({chart, version});

const NOWHERE = new BundlePositions([], new Set(), []);

/** What every release has. */
const withToken = (chart: ChartName, version: string, more: object = {}): Values => ({
  agent: {
    url: 'https://acme.scalr.io',
    tokenExistingSecret:
      chart === 'agent-k8s' || (chart === 'agent-job' && within(version, '<=0.5.63'))
        ? 'token'
        : {name: 'token'},
    ...more,
  },
});

describe('values of a release', () => {
  const find = (chart: ChartName, version: string, values: Values | undefined) =>
    configurationFindings({name: 'mine', target: target(chart, version), values}, NOWHERE);

  test('are validated, with a line in the file of the bundle', () => {
    const values = {
      agent: {url: 'https://acme.scalr.io', tokn: 'x', tokenExistingSecret: {name: 'mine'}},
    };
    const found = find('agent-local', '0.6.5', values).find(({code}) => code === 'UNKNOWN_KEY');
    expect(found).toMatchObject({
      subject: {object: 'release/mine'},
      evidence: {file: 'releases/mine/values.json'},
    });
    expect(jsonText(values).split('\n')[(found?.evidence?.line ?? 0) - 1]).toContain('"tokn"');
  });

  test('have the key after the message, so that redaction does not hide the message', () => {
    const [found] = find('agent-k8s', '0.6.5', {
      agent: {url: 'https://acme.scalr.io', token: 'in two pieces'},
    });
    expect(found?.message).toMatch(/\(agent\.token\)$/);
  });

  test.each([
    ['agent-job', '0.5.63', ['RUNS_WITHOUT_MEMORY']],
    ['agent-job', '0.5.66', ['POLICY_WITHOUT_DNS']],
    ['agent-job', '0.5.67', ['POLICY_WITHOUT_DNS', 'NEEDS_EGRESS']],
    ['agent-job', '0.5.69', []],
    ['agent-local', '0.5.66', ['METADATA_BLOCKED', 'POLICY_WITHOUT_DNS']],
    ['agent-local', '0.5.67', []],
  ] as const)('%s %s has its own bugs, regardless of the values', (chart, version, codes) => {
    for (const values of [withToken(chart, version), undefined])
      expect(
        find(chart, version, values)
          .map(({code}) => code)
          .toSorted(),
      ).toEqual([...codes].toSorted());
    expect(
      find(chart, version, withToken(chart, version)).every(({message}) =>
        message.startsWith(`${chart} ${version}: `),
      ),
    ).toBe(true);
  });

  test('a bug of the version has its evidence at the version', () => {
    const history = {name: 'releases/mine/history.json', text: '[{"chart":"agent-job-0.5.63"}]\n'};
    const labeled = {
      name: 'objects/deployment/scalr-agent.json',
      text: jsonText({metadata: {labels: {'helm.sh/chart': 'agent-job-0.5.63'}}}),
    };
    const seen = (...texts: {name: string; text: string}[]) =>
      configurationFindings(
        {name: 'mine', target: target('agent-job', '0.5.63'), values: undefined},
        new BundlePositions(texts, new Set(), []),
      );
    expect(seen(labeled, history)).toMatchObject([
      {evidence: {file: 'releases/mine/history.json', line: 1}},
    ]);
    expect(seen(labeled)).toMatchObject([
      {evidence: {file: 'objects/deployment/scalr-agent.json', line: 4}},
    ]);
  });

  test('a bug that the values trigger is reported once, at its line', () => {
    const found = find('agent-job', '0.5.68', {task: {allowMetadataService: false}}).filter(
      ({code}) => code === 'POLICY_WITHOUT_DNS',
    );
    expect(found).toMatchObject([{evidence: {file: 'releases/mine/values.json', line: 3}}]);
    expect(
      find('agent-job', '0.6.3', withToken('agent-job', '0.6.3', {replicaCount: 2})).map(
        ({code}) => code,
      ),
    ).toEqual(['PDB_NOT_RENDERED']);
  });

  test.each(CHARTS)('the newest %s has no bugs', (chart) =>
    expect(find(chart, newestOf(chart), withToken(chart, newestOf(chart)))).toEqual([]));
});

describe('a version', () => {
  const node = (name: string, kubeletVersion: string): NodeObject => ({
    kind: 'Node',
    metadata: {name},
    status: {nodeInfo: {kubeletVersion}},
  });
  const texts = [
    {
      name: 'releases/mine/history.json',
      text: jsonText([
        {revision: 1, chart: 'agent-local-0.5.63'},
        {revision: 2, chart: 'agent-local-0.6.1'},
      ]),
    },
    {name: 'version.json', text: jsonText({major: '1', gitVersion: 'v1.34.1-gke.1'})},
    {name: 'objects/node/one.json', text: jsonText(node('one', 'v1.33.2'))},
  ];
  const find = (
    chart: ChartName,
    version: string,
    server: string | undefined = 'v1.35.1',
    nodes: readonly NodeObject[] = [],
    name = 'mine',
  ) =>
    versionFindings(
      {name, kubeTarget: {namespace: 'agents'}, target: target(chart, version)},
      {server, nodes},
      new BundlePositions(texts, new Set(), []),
    );

  test('behind the newest known one is reported with the upgrade command', () => {
    expect(find('agent-local', '0.6.1')).toEqual([
      {
        verdict: 'warning',
        code: 'VERSION_BEHIND',
        subject: {object: 'release/mine'},
        message:
          'agent-local 0.6.1 (agent 1.1.0) is 4 releases behind agent-local 0.6.5 (agent 1.4.0), the newest known version, and lacks its fixes',
        evidence: {file: 'releases/mine/history.json', line: 8},
        remedies: [
          {
            text: 'Show what an upgrade changes: scalr-agent upgrade --release mine --namespace agents --chart-version 0.6.5 --dry-run',
          },
        ],
      },
    ]);
  });

  test.each(CHARTS)('of %s that is the newest or newer is not reported', (chart) => {
    expect([...find(chart, newestOf(chart)), ...find(chart, '0.9.0')]).toEqual([]);
  });

  test.each(CHARTS)('of %s that was withdrawn is reported', (chart) => {
    const [version = ''] = WITHDRAWN[chart];
    expect(find(chart, version)).toMatchObject([
      {code: 'VERSION_WITHDRAWN', message: expect.stringContaining('was withdrawn')},
    ]);
  });

  test('older than all known ones counts as behind', () => {
    expect(find('agent-k8s', '0.5.20')).toMatchObject([
      {
        code: 'VERSION_BEHIND',
        message: expect.stringMatching(
          /older than every supported version, at least \d+ releases behind/,
        ),
        remedies: [{text: expect.stringContaining('scalr-agent install --release mine')}],
      },
    ]);
  });

  test('upgrades only to versions for this Kubernetes version', () => {
    const remedy = find('agent-job', '0.5.66', 'v1.34.1')[0]?.remedies[0]?.text;
    expect(remedy).toContain('--chart-version 0.5.68');
    expect(remedy).toContain('0.6.5 requires a newer Kubernetes than v1.34.1');
    expect(find('agent-job', '0.5.68', 'v1.34.1')).toMatchObject([
      {
        remedies: [
          {text: 'This is the newest version for Kubernetes v1.34.1: upgrade the cluster first'},
        ],
      },
    ]);
  });

  test('that requires a newer Kubernetes is an error if it is enforced', () => {
    const [, old] = find('agent-job', '0.6.3', 'v1.34.1-gke.1', [
      node('two', 'v1.35.0'),
      node('one', 'v1.33.2'),
    ]);
    expect(old).toMatchObject({
      verdict: 'error',
      code: 'KUBERNETES_TOO_OLD',
      message: expect.stringMatching(
        /requires Kubernetes 1\.35, and the control plane runs v1\.34\.1-gke\.1 \(and 1 more\)/,
      ),
      evidence: {file: 'version.json', line: 3},
    });
    expect(
      find('agent-job', newestOf('agent-job'), 'v1.35.1', [node('one', 'v1.33.2')]),
    ).toMatchObject([
      {
        verdict: 'error',
        message: expect.stringContaining('node one runs v1.33.2'),
        evidence: {file: 'objects/node/one.json', line: 8},
      },
    ]);
    expect(find('agent-k8s', newestOf('agent-k8s'), 'v1.28.0')).toMatchObject([
      {verdict: 'warning', code: 'KUBERNETES_TOO_OLD'},
    ]);
    expect(find('agent-job', newestOf('agent-job'), undefined)).toEqual([]);
  });

  test.each(CHARTS)('of every known %s has only warnings', (chart) => {
    for (const version of releasesOf(chart)) {
      const found = [
        ...find(chart, version),
        ...configurationFindings(
          {name: 'mine', target: target(chart, version), values: withToken(chart, version)},
          NOWHERE,
        ),
      ];
      expect(found.every(({verdict}) => verdict === 'warning')).toBe(true);
    }
  });
});

test('every command of a remedy selects the cluster of the bundle', () => {
  const stopped = {
    kind: 'Deployment',
    metadata: {name: 'agent', namespace: 'agents'},
    spec: {replicas: 0},
  } as KubernetesObject;
  const prepared: PreparedBundle = {
    name: 'agents',
    kubeTarget: {namespace: 'agents', kubeContext: 'prod'},
    releases: [
      {
        ...target('agent-job', '0.6.1'),
        name: 'mine',
        status: 'deployed',
        values: {},
        causes: [],
        runsOf: undefined,
        drift: [
          {object: 'Deployment a', problem: 'missing', paths: []},
          {object: 'Deployment b', problem: 'added', paths: ['spec.replicas']},
        ],
      },
    ],
    scope: {objects: [stopped], pods: []},
    texts: () => [],
    logs: [],
    api: {stream: () => Promise.reject(new Error('no logs'))},
    knownSecrets: [],
    gaps: [],
  };
  const found = allFindings(prepared, new BundlePositions([], new Set(), []), [], new Date());
  const commands = found
    .flatMap(({remedies}) => remedies.map(({text}) => text))
    .flatMap((text) => text.match(/(?:kubectl|helm|scalr-agent) .*?(?= && |$)/g) ?? [])
    .filter((command) => !command.startsWith('scalr-agent validate '));
  expect(commands.length).toBeGreaterThan(4);
  expect(commands.filter((each) => !/--(?:kube-)?context prod\b/.test(each))).toEqual([]);
});
