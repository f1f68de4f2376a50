import {describe, expect, test} from 'vitest';
import Migrate from '../../src/commands/migrate.ts';
import Validate from '../../src/commands/validate.ts';
import Values from '../../src/commands/values.ts';
import {certificates} from '../support/certificates.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const TOKEN = 'eyJhbGciOiJub25lIn0.eyJqdGkiOiJ4In0.c2lnbmF0dXJl';
const files = () =>
  memoryFiles({
    'k8s.yaml':
      'agent:\n  url: https://acme.scalr.io # ours\n  tokenExistingSecret: t\n  container_task_mem_limit: 4096\n',
    'current.yaml': 'agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}\n',
    'inline.yaml': `agent: {url: "https://acme.scalr.io", token: ${TOKEN}}\n`,
    'placeholder.yaml': 'agent: {url: "https://acme.scalr.io", tokenExistingSecret: <secret>}\n',
    'broken.yaml': 'agent: [\n',
    'agent.env': `SCALR_URL=https://acme.scalr.io\nSCALR_TOKEN=${TOKEN}\nSCALR_DEBUG=1\n`,
    'unit.conf':
      '[Service]\nEnvironmentFile=/etc/scalr-agent/agent.env\nEnvironment="SCALR_URL=https://other.scalr.io"\n',
  });
const K8S = ['--from', 'agent-k8s@0.5.58'];
const JOB = ['--to', 'agent-job@0.6.5'];

test('prints the new file on standard output, and the changes on standard error', async () => {
  const {stdout, stderr, exit} = await runCommand(Migrate, ['k8s.yaml', ...K8S, ...JOB], {
    files: files(),
  });
  expect(stdout).toContain('  url: "https://acme.scalr.io" # ours\n');
  expect(stdout).toContain('memory: "4Gi"');
  expect(stderr).toContain(
    'agent.container_task_mem_limit is now task.runner.resources.limits.memory, and 4096 becomes "4Gi".',
  );
  expect(stderr).toContain('agent-k8s@0.5.58 to agent-job@0.6.5: ');
  expect(exit).toBe(0);
});

test('claims nothing about keys of a source version that it does not know', async () => {
  const text =
    '# Values of agent-job 0.9.0\nagent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}, logging: {format: plain}}\n';
  const more = 'task: {ttlSecondsAfterFinished: 30}\n';
  const {stderr} = await runCommand(Migrate, ['new.yaml', ...JOB], {
    files: memoryFiles({'new.yaml': text + more}),
  });
  expect(stderr).toContain(
    'agent.logging.format is not carried over, because this program does not know agent-job 0.9.0.',
  );
  expect(stderr).toContain('To set it, use task.job.ttlSecondsAfterFinished');
  expect(stderr).not.toMatch(/had no effect|0\.9\.0 has no key/);
});

test('prints the documented JSON, without an inline token', async () => {
  const {stdout, stderr} = await runCommand(Migrate, ['inline.yaml', ...K8S, ...JOB, '--json'], {
    files: files(),
  });
  expect(violations('migrate', stdout)).toEqual([]);
  expect(stdout + stderr).not.toContain(TOKEN);
  expect(JSON.parse(stdout)).toMatchObject({
    schemaVersion: 1,
    from: 'agent-k8s@0.5.58',
    to: 'agent-job@0.6.5',
  });
});

describe('to another chart', () => {
  const PROXY = `# Values of our team
global:
  # the proxy
  proxy:
    enabled: true
    httpsProxy: http://proxy:3128 # trailing
    noProxy: localhost,10.0.0.0/8 # without proxy
agent:
  # our account
  url: https://acme.scalr.io
  tokenExistingSecret: {name: t}
task:
  # limits of a run
  runner: {resources: {limits: {memory: 4Gi}}}
  # sidecars of a run
  sidecars: []
# the end
`;
  const migrate = (to: string) =>
    runCommand(Migrate, ['v.yaml', '--from', 'agent-job@0.6.5', '--to', to, '--json'], {
      files: memoryFiles({'v.yaml': PROXY}),
    });

  test.each([
    'agent-local@0.6.5',
    'agent-k8s@0.6.5',
  ])('lists nothing as lost that %s has', async (to) => {
    const {stdout} = await migrate(to);
    const {changes} = JSON.parse(stdout) as {
      changes: {kind: string; path: string; message: string}[];
    };
    const noProxy = changes.filter(({path}) => path === 'global.proxy.noProxy');
    expect(noProxy).toMatchObject([
      {kind: 'renamed', message: expect.stringContaining('extraEnv.NO_PROXY')},
    ]);
  });

  test.each([
    'agent-local@0.6.5',
    'agent-k8s@0.6.5',
  ])('keeps comments where %s has the key, and lists the others', async (to) => {
    const {stdout} = await migrate(to);
    const {yaml, changes} = JSON.parse(stdout);
    for (const comment of [
      'Values of our team',
      'the proxy',
      'trailing',
      'without proxy',
      'our account',
      'limits of a run',
      'the end',
    ])
      expect(yaml).toContain(`# ${comment}\n`);
    const lost = changes.filter(({message}: {message: string}) => message.includes('comment'));
    expect(lost).toMatchObject([
      {kind: 'dropped', message: '1 comment is not carried over (line 15).'},
    ]);
  });
});

test('shows a diff without secrets on a terminal', async () => {
  const resultScreen = {hasColor: false, columns: 120};
  const {stdout} = await runCommand(Migrate, ['inline.yaml', ...K8S, '--to', 'agent-k8s@0.6.5'], {
    files: files(),
    resultScreen,
  });
  expect(stdout).toContain('--- inline.yaml');
  expect(stdout).not.toContain(TOKEN);
});

test('writes the file of --out, and replaces it only when confirmed', async () => {
  const memory = files();
  const argv = [
    'current.yaml',
    '--from',
    'agent-local@0.5.72',
    '--to',
    'agent-local@0.6.5',
    '--out',
    'k8s.yaml',
  ];
  expect((await runCommand(Migrate, argv, {files: memory})).exit).toBe(2);
  expect((await runCommand(Migrate, [...argv, '--dry-run'], {files: memory})).stderr).toContain(
    'Would replace k8s.yaml',
  );
  expect((await runCommand(Migrate, [...argv, '--yes'], {files: memory})).stderr).toContain(
    'Wrote k8s.yaml.',
  );
  expect((await memory.read('k8s.yaml')).toString()).toContain('tokenExistingSecret: {name: t}');
});

describe('exits', () => {
  test.each([
    [
      0,
      'when nothing changes with --exit-code',
      ['current.yaml', '--from', 'agent-job@0.6.4', ...JOB, '--exit-code'],
    ],
    [5, 'when the file changes with --exit-code', ['k8s.yaml', ...K8S, ...JOB, '--exit-code']],
    [3, 'when the new file has errors', ['placeholder.yaml', ...K8S, ...JOB, '--exit-code']],
    [3, 'when the file cannot be read', ['broken.yaml', ...K8S, ...JOB]],
    [2, 'without a file', JOB],
    [2, 'without --to', ['k8s.yaml', ...K8S]],
    [2, 'for an unknown version', ['k8s.yaml', ...K8S, '--to', 'agent-job@0.6.0']],
    [2, 'for a version range', ['k8s.yaml', ...K8S, '--to', 'agent-job@0.6']],
    [2, 'for --from with an environment file', ['agent.env', ...K8S, ...JOB]],
  ])('with %i %s', async (exit, _, argv) => {
    expect((await runCommand(Migrate, argv, {files: files()})).exit).toBe(exit);
  });
});

test('migrates what "values" wrote into a file that validate accepts', async () => {
  const {stdout: written} = await runCommand(Values, [
    '--url',
    'https://acme.scalr.io',
    '--chart',
    'agent-k8s',
    '--chart-version',
    '0.5.58',
  ]);
  const {stdout: migrated} = await runCommand(Migrate, ['v.yaml', ...JOB], {
    files: memoryFiles({'v.yaml': written}),
  });
  const {stdout, exit} = await runCommand(Validate, ['v.yaml'], {
    files: memoryFiles({'v.yaml': migrated}),
  });
  expect(stdout).toContain('(agent-job 0.6.5)');
  expect(exit).toBe(0);
});

describe('agents outside Kubernetes', () => {
  test('become values of the recommended chart without --to, and the token is never printed', async () => {
    const {stdout, stderr} = await runCommand(Migrate, ['agent.env'], {files: files()});
    expect(stdout).toContain('# Values of agent-job 0.6.5');
    expect(stderr).toContain('SCALR_DEBUG is now agent.debug.');
    expect(stderr).toContain('SCALR_TOKEN is not written');
    expect(stdout + stderr).not.toContain(TOKEN);
  });

  test.each([
    [
      'a systemd unit',
      '[Service]\nEnvironment=HTTPS_PROXY=http://unit:1\nEnvironmentFile=/etc/scalr/a.env\n',
      'http://file:1',
    ],
    [
      'a systemd unit that discards it',
      '[Service]\nEnvironment=HTTPS_PROXY=http://unit:1\nEnvironment=\nEnvironmentFile=/etc/scalr/a.env\n',
      'http://file:1',
    ],
    [
      'a Compose file',
      'services:\n  agent:\n    image: scalr/agent\n    env_file: a.env\n    environment: {HTTPS_PROXY: "http://compose:1"}\n    volumes: ["./certs:/certs:ro"]\n',
      'http://compose:1',
    ],
  ])('take the variable that wins in %s, and the CA file that an environment file names', async (_, text, proxy) => {
    const disk = memoryFiles({
      'dir/agent.conf': text,
      'dir/a.env':
        'SCALR_URL=https://acme.scalr.io\nHTTPS_PROXY=http://file:1\nSCALR_CA_CERT=/certs/ca.pem\n',
      ...(text.includes('certs:')
        ? {'dir/certs/ca.pem': String(certificates['ca.pem'])}
        : {'/certs/ca.pem': String(certificates['ca.pem'])}),
    });
    const {stdout, stderr} = await runCommand(Migrate, ['dir/agent.conf', ...JOB], {files: disk});
    expect(stdout).toContain(`httpsProxy: "${proxy}"`);
    expect(stdout).toContain('BEGIN CERTIFICATE');
    expect(stderr).not.toContain('SCALR_CA_CERT is not carried over');
  });

  test('tell a file without certificates from a missing one', async () => {
    const disk = (more: Record<string, string>) =>
      memoryFiles({'a.env': 'SCALR_URL=https://acme.scalr.io\nSCALR_CA_CERT=/ca.pem\n', ...more});
    const missing = await runCommand(Migrate, ['a.env', ...JOB], {files: disk({})});
    expect(missing.stderr).toContain(
      'SCALR_CA_CERT is not carried over: the file /ca.pem does not exist here.',
    );
    const empty = await runCommand(Migrate, ['a.env', ...JOB], {files: disk({'/ca.pem': 'x'})});
    expect(empty.stderr).toContain(
      'SCALR_CA_CERT is not carried over: the file /ca.pem contains no PEM certificate.',
    );
  });

  test('are read with the files that a unit names, also from its directory', async () => {
    const {stdout, stderr} = await runCommand(Migrate, ['unit.conf', ...JOB, '--json'], {
      files: files(),
    });
    expect(violations('migrate', stdout)).toEqual([]);
    expect(JSON.parse(stdout)).toMatchObject({from: 'systemd unit'});
    expect(stdout).toContain('acme.scalr.io');
    expect(stdout).toContain('debug: \\"1\\"');
    expect(stdout + stderr).not.toContain(TOKEN);
  });
});

test('reports broken YAML before it looks for the chart', async () => {
  const files = memoryFiles({'bad.yaml': 'agent:\n  url: https://acme.scalr.io\n   x: 1\n'});
  const {stderr, exit} = await runCommand(Migrate, ['bad.yaml', '--to', 'agent-job'], {files});
  expect(stderr).toContain('bad.yaml, line 2: Mapping values are not allowed here.');
  expect(exit).toBe(2);
});
