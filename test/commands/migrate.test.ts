import {describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import Migrate from '../../src/commands/migrate.ts';
import Validate from '../../src/commands/validate.ts';
import Values from '../../src/commands/values.ts';
import {certificates} from '../support/certificates.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const TOKEN = 'eyJhbGciOiJub25lIn0.eyJqdGkiOiJ4In0.c2lnbmF0dXJl';
/** What docker inspect prints. */
const inspected = (...variables: string[]): string =>
  JSON.stringify([{Config: {Env: variables, Image: 'scalr/agent'}, HostConfig: {}}]);
const files = () =>
  memoryFiles({
    'k8s.yaml':
      'agent:\n  url: https://acme.scalr.io # ours\n  tokenExistingSecret: t\n  container_task_mem_limit: 4096\n',
    'current.yaml': 'agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}\n',
    'inline.yaml': `agent: {url: "https://acme.scalr.io", token: ${TOKEN}}\n`,
    'placeholder.yaml': 'agent: {url: "https://acme.scalr.io", tokenExistingSecret: <secret>}\n',
    'broken.yaml': 'agent: [\n',
    'agent.json': inspected(
      'SCALR_URL=https://acme.scalr.io',
      `SCALR_TOKEN=${TOKEN}`,
      'SCALR_DEBUG=1',
    ),
  });
const K8S = ['--from', 'agent-k8s@0.5.58'];
const JOB = ['--to', 'agent-job@0.6.5'];

test('prints the new file on standard output, and the changes on standard error', async () => {
  const {stdout, stderr, exit} = await runCommand(Migrate, ['k8s.yaml', ...K8S, ...JOB], {
    files: files(),
  });
  expect(stdout).toContain('  url: https://acme.scalr.io # ours\n');
  expect(stdout).toContain('memory: "4Gi"');
  expect(stderr).toContain(
    'agent.container_task_mem_limit: now task.runner.resources.limits.memory, and 4096 becomes "4Gi".',
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
    'agent.logging.format: not carried over, because this program does not know agent-job 0.9.0.',
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
      changes: {kind: string; code: string; path: string; message: string}[];
    };
    const noProxy = changes.filter(({path}) => path === 'global.proxy.noProxy');
    expect(noProxy).toMatchObject([
      {
        kind: 'renamed',
        code: 'KEY_RENAMED',
        message: expect.stringContaining('extraEnv.NO_PROXY'),
      },
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
    [2, 'for --from with docker inspect output', ['agent.json', ...K8S, ...JOB]],
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
    const {stdout, stderr} = await runCommand(Migrate, ['agent.json'], {files: files()});
    expect(stdout).toContain('# Values of agent-job 0.6.5');
    expect(stderr).toContain('SCALR_DEBUG: now agent.debug.');
    expect(stderr).toContain('SCALR_TOKEN: not written');
    expect(stdout + stderr).not.toContain(TOKEN);
  });

  test('are read from docker compose config, with the CA file from the directory of the file', async () => {
    const disk = memoryFiles({
      'dir/agent.json': JSON.stringify({
        services: {
          agent: {
            image: 'scalr/agent',
            environment: {
              SCALR_URL: 'https://acme.scalr.io',
              SCALR_CA_CERT: '/certs/ca.pem',
              TF_LOG: '$$x',
              HTTPS_PROXY: null,
            },
            volumes: [{type: 'bind', source: './certs', target: '/certs', read_only: true}],
          },
        },
      }),
      'dir/certs/ca.pem': String(certificates['ca.pem']),
    });
    const {stdout, stderr} = await runCommand(Migrate, ['dir/agent.json', ...JOB, '--json'], {
      files: disk,
    });
    expect(violations('migrate', stdout)).toEqual([]);
    expect(JSON.parse(stdout)).toMatchObject({from: 'docker compose config'});
    expect(stdout).toContain('BEGIN CERTIFICATE');
    expect(stdout).toContain('TF_LOG: \\"$x\\"');
    expect(stdout).not.toContain('HTTPS_PROXY');
    expect(stderr).not.toContain('SCALR_CA_CERT: not carried over');
  });

  describe('as a service', () => {
    const SERVICE = [
      'Id=scalr-agent.service',
      'LoadState=loaded',
      'Environment=SCALR_URL=https://acme.scalr.io SCALR_AGENT_CONTAINER_TASK_MEM_LIMIT=2048',
      'EnvironmentFiles=/etc/scalr-agent/agent.env (ignore_errors=no)',
      'EnvironmentFiles=/etc/scalr-agent/more.env (ignore_errors=yes)',
      '',
    ].join('\n');
    const VARIABLES = `SCALR_AGENT_TOKEN=${TOKEN}\nSCALR_AGENT_CONTAINER_TASK_MEM_LIMIT="4096"\n`;

    test.each([
      '/etc/scalr-agent/agent.env',
      'dir/agent.env',
    ])('are read from systemctl show, with variables from %s', async (path) => {
      const {stdout, stderr} = await runCommand(Migrate, ['dir/agent.txt', ...JOB], {
        files: memoryFiles({'dir/agent.txt': SERVICE, [path]: VARIABLES}),
      });
      expect(stdout).toContain('memory: "4Gi"');
      expect(stderr).toContain('SCALR_AGENT_TOKEN: not written');
      expect(stdout + stderr).not.toContain(TOKEN);
    });

    test.each([
      [SERVICE, '/etc/scalr-agent/agent.env does not exist'],
      [
        'Id=scalr-agent.service\nLoadState=not-found\n',
        'scalr-agent.service was not found (LoadState=not-found).',
      ],
      [
        'Id=ssh.service\nLoadState=loaded\nEnvironment=A=b\n',
        'agent.txt (systemctl show) has no variable SCALR_…',
      ],
    ])('fail for what is missing: %j', async (text, message) => {
      const {stdout, stderr, exit} = await runCommand(Migrate, ['agent.txt', ...JOB], {
        files: memoryFiles({'agent.txt': text}),
      });
      expect(stderr).toContain(message);
      expect({stdout, exit}).toEqual({stdout: '', exit: 2});
    });
  });

  test('tell a file without certificates from a missing one', async () => {
    const disk = (more: Record<string, string>) =>
      memoryFiles({
        'a.json': inspected('SCALR_URL=https://acme.scalr.io', 'SCALR_CA_CERT=/ca.pem'),
        ...more,
      });
    const missing = await runCommand(Migrate, ['a.json', ...JOB], {files: disk({})});
    expect(missing.stderr).toContain(
      'SCALR_CA_CERT: not carried over: the file /ca.pem does not exist here.',
    );
    const empty = await runCommand(Migrate, ['a.json', ...JOB], {files: disk({'/ca.pem': 'x'})});
    expect(empty.stderr).toContain(
      'SCALR_CA_CERT: not carried over: the file /ca.pem contains no PEM certificate.',
    );
  });
});

describe('refuses text that another tool defines', () => {
  const HELM = `helm upgrade --install a scalr/agent-k8s --version 0.6.4 --set agent.token=${TOKEN}`;
  const OF_DOCKER = 'docker inspect CONTAINER | scalr-agent migrate - --to agent-job';
  test.each([
    [HELM, 'helm get values'],
    [`sudo ${HELM.replaceAll(' --', ' \\\n --')}`, 'helm get values'],
    [`AGENT=${TOKEN} docker run -e SCALR_TOKEN scalr/agent`, OF_DOCKER],
    [`export SCALR_URL=https://acme.scalr.io\nSCALR_AGENT_TOKEN=${TOKEN}\n`, OF_DOCKER],
    ['GIT=https://user:pw99@git.corp\r\n', OF_DOCKER],
    [`[Unit]\n[Service]\nEnvironment=A=${TOKEN}\n`, 'systemctl show UNIT | scalr-agent migrate -'],
    [`ARG A=1\nFROM scalr/agent\nENV T=${TOKEN}\n`, OF_DOCKER],
  ])('and names what to migrate instead, without quoting the text: %j', async (text, instead) => {
    const {stdout, stderr, exit} = await runCommand(Migrate, ['x.txt', ...JOB], {
      files: memoryFiles({'x.txt': text}),
    });
    expect(stderr).toContain(instead);
    expect({stdout, exit}).toEqual({stdout: '', exit: 2});
    expect(stderr).not.toMatch(new RegExp(`${TOKEN}|pw99`));
  });

  test('not in comments and block scalars of values', async () => {
    const text = `# helm upgrade --install a scalr/agent-job\nagent:\n  url: https://acme.scalr.io\n  tokenExistingSecret: {name: t}\ntask:\n  runner:\n    extraEnv:\n      SCRIPT: |\n        docker run x\n        A=1\n        [Service]\n`;
    const {stdout, exit} = await runCommand(
      Migrate,
      ['x.yaml', '--from', 'agent-job@0.6.4', ...JOB],
      {
        files: memoryFiles({'x.yaml': text}),
      },
    );
    expect(exit).toBe(0);
    expect(stdout).toContain('docker run x');
  });
});

describe('credentials', () => {
  const GITHUB = `ghp_${'a1B2'.repeat(9)}`;
  const values = `# old: ${GITHUB}\nagent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}\nextraEnv:\n  HTTPS_PROXY: http://u:pw99@proxy:3128\n  NO_PROXY: .svc\n`;
  const migrate = (text: string, ...more: string[]) =>
    runCommand(
      Migrate,
      ['v.yaml', '--from', 'agent-local@0.6.4', '--to', 'agent-local@0.6.5', ...more],
      {
        files: memoryFiles({'v.yaml': text}),
      },
    );

  test('are not written without --allow-clear-text', async () => {
    const {stdout, stderr, exit} = await migrate(values);
    expect(stderr).toContain('extraEnv.HTTPS_PROXY contains a password in a URL.');
    expect(stderr).toContain('line 1 contains a token (ghp…).');
    expect(stderr).toContain('add --allow-clear-text');
    expect({stdout, exit}).toEqual({stdout: '', exit: 2});
    expect(stderr).not.toMatch(/pw99|ghp_a/);
    const json = await migrate(values, '--json');
    expect(json.stdout + json.stderr).not.toMatch(/pw99|ghp_a/);
  });

  test('are written with --allow-clear-text', async () => {
    const {stdout, exit} = await migrate(values, '--allow-clear-text');
    expect(stdout).toContain('http://u:pw99@proxy:3128');
    expect(exit).toBe(0);
  });

  test('of containers are listed, and a proxy with a password is refused', async () => {
    const text = (...more: string[]) =>
      memoryFiles({'a.json': inspected('SCALR_URL=https://acme.scalr.io', ...more)});
    const listed = await runCommand(Migrate, ['a.json', ...JOB], {
      files: text(`GITHUB=${GITHUB}`, 'GIT=https://user:pw99@git.corp', 'TF_LOG=debug'),
    });
    expect(listed.exit).toBe(0);
    expect(listed.stdout).toContain('TF_LOG: "debug"');
    expect(listed.stderr).toContain('GITHUB: can be a secret');
    const refused = await runCommand(Migrate, ['a.json', ...JOB], {
      files: text('HTTPS_PROXY=http://u:pw99@proxy:3128'),
    });
    expect(refused.stderr).toContain('--https-proxy: global.proxy.httpsProxy contains a password');
    expect(refused.stderr).toContain('--allow-clear-text');
    for (const {stdout, stderr} of [listed, refused])
      expect(stdout + stderr).not.toMatch(/pw99|ghp_a/);
    const allowed = await runCommand(Migrate, ['a.json', ...JOB, '--allow-clear-text'], {
      files: text('HTTPS_PROXY=http://u:pw99@proxy:3128'),
    });
    expect(allowed.stdout).toContain('http://u:pw99@proxy:3128');
  });
});

describe('what it does not understand', () => {
  const SOPS = `agent:
  url: https://acme.scalr.io
  tokenExistingSecret: {name: t}
extraEnv:
  TF_VAR_db_password: ENC[AES256_GCM,data:qWx+8w==,iv:AAAA=,tag:BBBB==,type:str]
sops:
  mac: ENC[AES256_GCM,data:xx,iv:yy,tag:zz,type:str]
  version: 3.9.0
`;
  const LOCAL = ['--from', 'agent-local@0.6.3', '--to', 'agent-local@0.6.5'];

  test('an encrypted file is refused, and stays as it is', async () => {
    const memory = memoryFiles({'s.yaml': SOPS});
    const argv = ['s.yaml', ...LOCAL, '--out', 's.yaml', '--yes'];
    const {stderr, exit} = await runCommand(Migrate, argv, {files: memory});
    expect(stderr).toContain('s.yaml is encrypted with SOPS');
    expect(stderr).toContain(
      'sops --decrypt s.yaml | scalr-agent migrate - --to agent-local@0.6.5 --from agent-local@0.6.3',
    );
    expect(exit).toBe(2);
    expect((await memory.read('s.yaml')).toString()).toBe(SOPS);
  });

  test('a file is not replaced if sections of others would be lost', async () => {
    const text = `agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}\ningress-nginx: {enabled: true}\n`;
    const memory = memoryFiles({'v.yaml': text});
    const argv = ['v.yaml', ...LOCAL, '--yes', '--out'];
    const {stderr, exit} = await runCommand(Migrate, [...argv, './v.yaml'], {files: memory});
    expect(stderr).toContain('Cannot replace v.yaml');
    expect(stderr).toContain('ingress-nginx');
    expect(exit).toBe(1);
    expect((await memory.read('v.yaml')).toString()).toBe(text);
    expect((await runCommand(Migrate, [...argv, 'new.yaml'], {files: memory})).exit).toBe(0);
  });
});

describe('values of a parent chart', () => {
  const parent = (version: string): string =>
    `apiVersion: v2\nname: platform\nversion: 0.1.0\ndependencies:\n  - {name: agent-k8s, alias: scalr, version: ${version}, repository: "https://scalr.github.io/agent-helm/"}\n`;
  const VALUES =
    '# ours\nredis: {enabled: true}\nscalr: # the agent\n  agent:\n    url: https://acme.scalr.io\n    tokenExistingSecret: t\n    container_task_mem_limit: 4096\ncache: {}\n';
  const inDirectory = (version: string) =>
    memoryFiles({'u/Chart.yaml': parent(version), 'u/values.yaml': VALUES});

  test('are migrated below the key of the dependency; the rest stays, and Chart.yaml is named', async () => {
    const memory = inDirectory('0.5.58');
    const argv = ['u/values.yaml', ...JOB, '--yes', '--out', 'u/values.yaml'];
    const {stderr, exit} = await runCommand(Migrate, argv, {files: memory});
    expect(exit).toBe(0);
    expect(stderr).toContain('Migrated the dependency scalr from agent-k8s@0.5.58.');
    expect(stderr).toContain('Set the dependency scalr in Chart.yaml to agent-job 0.6.5');
    const yaml = (await memory.read('u/values.yaml')).toString();
    expect(yaml.startsWith('# ours\nredis: {enabled: true}\nscalr: # the agent\n')).toBe(true);
    expect(yaml.endsWith('\ncache: {}\n')).toBe(true);
    expect(parse(yaml)).toMatchObject({
      scalr: {task: {runner: {resources: {limits: {memory: '4Gi'}}}}},
    });
    expect((await memory.read('u/Chart.yaml')).toString()).toBe(parent('0.5.58'));
  });

  const switched = parent('0.5.58').replace(
    'alias: scalr',
    'alias: scalr, condition: scalr.enabled',
  );
  test('keep the condition of the parent chart, which is no key of the chart', async () => {
    const text = VALUES.replace('  agent:', '  enabled: true\n  agent:');
    const memory = memoryFiles({'u/Chart.yaml': switched, 'u/values.yaml': text});
    const {stdout, stderr} = await runCommand(Migrate, ['u/values.yaml', ...JOB], {files: memory});
    expect(parse(stdout).scalr).toMatchObject({enabled: true, task: {}});
    expect(stderr).not.toMatch(/KEY_DROPPED +enabled/);
    const checked = await runCommand(Validate, ['u/values.yaml'], {files: memory});
    expect(checked.stdout).not.toContain('enabled');
  });

  test('are refused where the condition has no line of its own', async () => {
    const text =
      'scalr: {enabled: true, agent: {url: "https://acme.scalr.io", tokenExistingSecret: t}}\n';
    const memory = memoryFiles({'u/Chart.yaml': switched, 'u/values.yaml': text});
    const {stderr, exit} = await runCommand(Migrate, ['u/values.yaml', ...JOB], {files: memory});
    expect(stderr).toContain('the condition enabled of the parent chart has no line of its own');
    expect(exit).toBe(2);
  });

  test('need the installed version if the dependency has a range', async () => {
    const {stderr, exit} = await runCommand(Migrate, ['u/values.yaml', ...JOB], {
      files: inDirectory('0.5.x'),
    });
    expect(stderr).toContain('has the version range "0.5.x" of agent-k8s');
    expect(exit).toBe(2);
  });

  test('are not in Chart.yaml', async () => {
    const {stderr, exit} = await runCommand(Migrate, ['u/Chart.yaml', ...JOB], {
      files: inDirectory('0.5.58'),
    });
    expect(stderr).toContain('Cannot migrate u/Chart.yaml: its values are in other files.');
    expect(exit).toBe(2);
  });
});

test('reports broken YAML before it looks for the chart', async () => {
  const files = memoryFiles({'bad.yaml': 'agent:\n  url: https://acme.scalr.io\n   x: 1\n'});
  const {stderr, exit} = await runCommand(Migrate, ['bad.yaml', '--to', 'agent-job'], {files});
  expect(stderr).toContain('bad.yaml, line 2: Mapping values are not allowed here.');
  expect(exit).toBe(2);
});
