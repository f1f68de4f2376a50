import {describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import Values from '../../src/commands/values.ts';
import {certificates} from '../support/certificates.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';

const URL = 'agent:\n  url: https://acme.scalr.io\n';

/** The values that this command writes where the disk holds these files. */
async function values(files: Readonly<Record<string, string>>, argv: readonly string[]) {
  const {stdout, stderr, exit} = await runCommand(Values, [...argv, '--quiet'], {
    files: memoryFiles({...certificates, ...files}),
  });
  return {values: exit === 0 ? parse(stdout) : undefined, yaml: stdout, stderr, exit};
}

test.each([
  'agent-local',
  'agent-job',
  'agent-k8s',
])('another image of %s and a key of --set do not conflict', async (chart) => {
  const argv = ['--chart', chart, '--url', 'https://acme.scalr.io', '--set', 'podAnnotations.a=b'];
  const image = ['--agent-image', 'registry.corp/scalr/agent:9.9'];
  const {exit, stderr} = await values({}, [...argv, ...image]);
  expect(exit, stderr).toBe(0);
});

describe('--values-file', () => {
  test('an agent image replaces the registry that the file has in the same key', async () => {
    const team = `${URL}image:\n  repository: registry.corp/scalr/agent\n`;
    const argv = ['--chart', 'agent-local', '--values-file', 'team.yaml'];
    const imageOf = async (image: string) =>
      (await values({'team.yaml': team}, [...argv, '--agent-image', image])).values.image;
    const wanted = {repository: 'registry.corp/scalr/agent', tag: '1.4.0'};
    expect(await imageOf('registry.corp/scalr/agent:1.4.0')).toEqual(wanted);
    expect(await imageOf('scalr/agent:1.4.0')).toEqual(wanted);
  });

  test.each([
    'agent-local',
    'agent-k8s',
  ])('a proxy of %s keeps its exceptions beside other variables of the file', async (chart) => {
    const {values: found} = await values({'team.yaml': `${URL}extraEnv:\n  FOO: bar\n`}, [
      '--chart',
      chart,
      '--https-proxy',
      'http://proxy:3128',
      '--values-file',
      'team.yaml',
    ]);
    expect(found.extraEnv).toMatchObject({
      FOO: 'bar',
      HTTPS_PROXY: 'http://proxy:3128',
      NO_PROXY: expect.stringContaining('.svc'),
    });
  });

  test.each([
    ['agent-local', ['--concurrency', '3', '--cache', 'pvc', '--cache-size', '20Gi']],
    [
      'agent-local',
      [
        '--ca-file',
        'ca.pem',
        '--shutdown-mode',
        'drain',
        '--set',
        'podAnnotations.a=b',
        '--set',
        'affinity={"nodeAffinity":{}}',
      ],
    ],
    [
      'agent-job',
      ['--https-proxy', 'http://proxy:3128', '--no-proxy', '.corp', '--run-memory-limit', '4Gi'],
    ],
    [
      'agent-job',
      [
        '--cache',
        'hostpath',
        '--cache-path',
        '/var/cache',
        '--otel-endpoint',
        'http://otel:4317',
        '--ca-secret',
        'ca',
      ],
    ],
    [
      'agent-k8s',
      ['--data-home', '/var/lib/x', '--metadata-service', 'block', '--node-selector', 'pool=runs'],
    ],
    [
      'agent-k8s',
      [
        '--cache',
        'efs',
        '--efs-handle',
        'fs-0123456789abcdef0',
        '--extra-env',
        'A=b',
        '--chart-version',
        '0.5.75',
      ],
    ],
    ['agent-local', ['--single-run', '--writable-root', '--pod-annotation', 'a=b']],
    [
      'agent-job',
      [
        '--provider-cache-limit',
        '20Gi',
        '--pod-label',
        'a=b',
        '--writable-root',
        '--controller-replicas',
        '2',
      ],
    ],
    [
      'agent-k8s',
      [
        '--cloud',
        'other',
        '--pod-annotation',
        'a=b',
        '--pod-label',
        'c=d',
        '--acquire-timeout',
        '10m',
      ],
    ],
  ])('gives the same values again from the file written for %s %j', async (chart, argv) => {
    const {
      yaml,
      values: written,
      stderr,
    } = await values({}, ['--url', 'https://acme.scalr.io', '--chart', chart, ...argv]);
    expect(written, stderr).toBeDefined();
    expect(await values({'v.yaml': yaml}, ['--values-file', 'v.yaml'])).toMatchObject({
      values: written,
      exit: 0,
    });
  });

  test('merges files in order like Helm, and keeps keys without a flag', async () => {
    const first = `${URL}replicaCount: 3\naffinity: {nodeAffinity: {}}\ntolerations: [{key: a, operator: Exists}]\n`;
    const second =
      'affinity: {podAffinity: {}}\ntolerations: [{key: b, operator: Exists}]\nresources: {limits: {cpu: null}}\n';
    const found = await values({first, second}, [
      '--values-file',
      'first',
      '--values-file',
      'second',
      '--chart',
      'agent-local',
    ]);
    expect(found.values).toMatchObject({
      replicaCount: 3,
      affinity: {nodeAffinity: {}, podAffinity: {}},
      tolerations: [{key: 'b', operator: 'Exists'}],
      resources: {limits: {cpu: null}},
    });
  });

  test('prefers a flag to a file, --set to both, and a file to defaults', async () => {
    const file = `${URL}  tokenExistingSecret: {name: own}\nreplicaCount: 3\npodAnnotations: {a: b}\n`;
    const argv = ['--chart', 'agent-local', '--values-file', 'v.yaml'];
    expect((await values({'v.yaml': file}, argv)).values).toMatchObject({
      agent: {tokenExistingSecret: {name: 'own'}},
      replicaCount: 3,
    });
    expect((await values({'v.yaml': file}, [...argv, '--concurrency', '1'])).values).toMatchObject({
      replicaCount: 1,
    });
    expect(
      (await values({'v.yaml': file}, [...argv, '--set', 'replicaCount=5'])).values,
    ).toMatchObject({replicaCount: 5});
  });

  test('turns the caches off with --single-run, except one that the file turns on', async () => {
    const argv = ['--chart', 'agent-local', '--single-run', '--values-file', 'v.yaml'];
    const off = {
      SCALR_AGENT_SINGLE: 'true',
      SCALR_AGENT_PROVIDER_CACHE_ENABLED: 'false',
      SCALR_AGENT_MODULE_CACHE_ENABLED: 'false',
    };
    const plain = await values({'v.yaml': `${URL}extraEnv: {A: b}\n`}, argv);
    expect(plain.values.extraEnv).toEqual({A: 'b', ...off});
    const cached = await values(
      {'v.yaml': `${URL}extraEnv: {SCALR_AGENT_MODULE_CACHE_ENABLED: "true"}\n`},
      argv,
    );
    expect(cached.values.extraEnv).toEqual({...off, SCALR_AGENT_MODULE_CACHE_ENABLED: 'true'});
  });

  test('reads the chart from the header of the file or from keys of one chart only', async () => {
    const header = `# Values of agent-local 0.5.72\n${URL}`;
    expect((await values({'v.yaml': header}, ['--values-file', 'v.yaml'])).yaml).toMatch(
      /^# Values of agent-local 0\.5\.72/,
    );
    const keys = `${URL}task: {runner: {memoryWarnPercent: 80}}\n`;
    expect((await values({'v.yaml': keys}, ['--values-file', 'v.yaml'])).yaml).toMatch(
      /^# Values of agent-job /,
    );
    const unclear = await values({'v.yaml': URL}, ['--values-file', 'v.yaml']);
    expect(unclear).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(/Cannot tell which chart \S*v\.yaml is for[\s\S]*--chart/),
    });
  });

  test.each([
    [
      'an unknown key',
      `${URL}replicaCoutn: 3\n`,
      /--values-file: replicaCoutn: .*[\s\S]*replicaCount/,
    ],
    ['a value of the wrong type', `${URL}replicaCount: many\n`, /--values-file: replicaCount/],
    [
      'a secret',
      `${URL}  token: eyJhbGciOi\n`,
      /--values-file: "agent\.token" is a secret[\s\S]*--token-file/,
    ],
    ['invalid YAML', 'agent: [\n', /v\.yaml, line \d+: /],
  ])('refuses %s', async (_, file, words) => {
    const {exit, stderr} = await values({'v.yaml': file}, [
      '--values-file',
      'v.yaml',
      '--chart',
      'agent-local',
    ]);
    expect(stderr).toMatch(words);
    expect(stderr).not.toContain('eyJhbGciOi');
    expect(exit).toBe(2);
  });

  test('reports a missing file', async () => {
    const {exit, stderr} = await values({}, [
      '--values-file',
      'none.yaml',
      '--url',
      'https://acme.scalr.io',
    ]);
    expect({exit, stderr}).toEqual({
      exit: 2,
      stderr: expect.stringContaining('none.yaml: no such file'),
    });
  });
});
