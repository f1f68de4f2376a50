import {execFileSync} from 'node:child_process';
import {describe, expect, test} from 'vitest';
import Validate from '../../src/commands/validate.ts';
import Values from '../../src/commands/values.ts';
import {certificates} from '../support/certificates.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const URL_FLAG = ['--url', 'https://acme.scalr.io'];

/** A token as Scalr makes it: a JWT whose payload names the account. */
const jwt = (payload: object) =>
  `e30.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.c2ln`;

describe('the result', () => {
  test('needs only the address, and prints only values.yaml on standard output', async () => {
    const {stdout, stderr, exit} = await runCommand(Values, URL_FLAG);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^# Values of agent-local 0\.6\.5 /);
    expect(stdout).toContain('url: "https://acme.scalr.io"');
    expect(stderr).toContain('Recommended chart: agent-local');
  });

  test('takes no version without its chart, because each chart has versions of its own', async () => {
    const {stderr, exit} = await runCommand(Values, [...URL_FLAG, '--chart-version', '0.5.63']);
    expect(exit).toBe(2);
    expect(stderr).toContain('--chart-version 0.5.63: the chart is missing');
    expect(stderr).toContain('--chart-version 0.5.63 --chart agent-local');
    // It kills runs that exceed 30Mi.
    expect(stderr).not.toContain('--chart agent-job');
  });

  test('offers every chart for a version that none of them has', async () => {
    const {stderr} = await runCommand(Values, [...URL_FLAG, '--chart-version', '0.1.0']);
    expect(stderr).toContain('--chart-version 0.1.0 --chart agent-job');
  });

  test('prints the same bytes for the same command', async () => {
    const line = [
      ...URL_FLAG,
      '--cache',
      'pvc',
      '--node-selector',
      'b=2',
      '--node-selector',
      'a=1',
    ];
    const other = [
      ...URL_FLAG,
      '--node-selector',
      'a=1',
      '--cache',
      'pvc',
      '--node-selector',
      'b=2',
    ];
    expect((await runCommand(Values, line)).stdout).toBe((await runCommand(Values, other)).stdout);
  });

  test('prints one document with --json that matches its schema and includes warnings', async () => {
    const {stdout} = await runCommand(Values, [
      ...URL_FLAG,
      '--chart',
      'agent-k8s',
      '--https-proxy',
      'http://proxy:3128',
      '--json',
    ]);
    expect(violations('values', stdout)).toEqual([]);
    const {chart, chartVersion, values, yaml, settings, warnings} = JSON.parse(stdout);
    expect({chart, chartVersion}).toEqual({chart: 'agent-k8s', chartVersion: '0.6.5'});
    expect(values.extraEnv.HTTPS_PROXY).toBe('http://proxy:3128');
    expect(yaml).toContain('HTTPS_PROXY');
    expect(settings).toContainEqual({
      id: 'https-proxy',
      value: 'http://proxy:3128',
      source: 'flag',
    });
    expect(warnings).toContainEqual(
      expect.objectContaining({
        code: 'PARTLY_SUPPORTED',
        subject: {setting: 'https-proxy'},
      }),
    );
  });

  test('warns about settings that a cluster would have provided', async () => {
    const warnings = async (...argv: string[]): Promise<string[]> =>
      JSON.parse((await runCommand(Values, [...URL_FLAG, ...argv, '--json'])).stdout)
        .warnings.filter(({code}: {code: string}) => code === 'NOT_FROM_CLUSTER')
        .flatMap(({message}: {message: string}) =>
          [...(/affects (.*?)\./.exec(message)?.[1] ?? '').matchAll(/--([\w-]+)/g)].map(
            ([, id]) => id,
          ),
        );
    expect(await warnings()).toEqual(['chart']);
    expect(await warnings('--chart', 'agent-k8s')).toEqual(['cloud', 'node-os']);
    expect(await warnings('--chart', 'agent-k8s', '--cloud', 'eks', '--node-os', 'al2')).toEqual(
      [],
    );
    expect(await warnings('--chart', 'agent-local', '--https-proxy', 'http://proxy:3128')).toEqual([
      'no-proxy',
    ]);
  });

  test('prints only warnings on standard error with --quiet', async () => {
    expect(
      (await runCommand(Values, [...URL_FLAG, '--chart', 'agent-local', '--quiet'])).stderr,
    ).toBe('');
  });

  test('names the source of every effective setting with --explain', async () => {
    const {stderr} = await runCommand(Values, [
      ...URL_FLAG,
      '--chart',
      'agent-job',
      '--cache',
      'pvc',
      '--explain',
      '-q',
    ]);
    expect(stderr).toMatch(/^url +https:\/\/acme\.scalr\.io +flag$/m);
    expect(stderr).toMatch(/^token-secret +scalr-agent-token +default$/m);
    expect(stderr).toMatch(/^cache-size +90Gi +chart default$/m);
    expect(stderr).toMatch(/^cache-access-mode +ReadWriteMany +default: all run pods/m);
  });
});

test('has one next step for the same problem of two settings', async () => {
  const {stderr} = await runCommand(Values, [...URL_FLAG, '--release', 'n', '--namespace', 'n']);
  expect(stderr.match(/Use a name that is not a number/g)).toHaveLength(1);
});

test('shows with --explain a default that --set changed', async () => {
  const {stdout} = await runCommand(Values, [
    ...URL_FLAG,
    '--chart',
    'agent-local',
    '--set',
    'agent.tokenExistingSecret.name=mine',
    '--json',
  ]);
  expect(JSON.parse(stdout).settings).toContainEqual({
    id: 'token-secret',
    value: 'mine',
    source: 'flag',
    because: 'set with --set',
  });
});

describe('sources of answers', () => {
  const files = memoryFiles({
    'answers.yaml': 'url: https://file.scalr.io\ncache-size: 3Gi\nnode-selector: {pool: file}\n',
  });

  test('prefers a flag to the environment, and the environment to the answers file', async () => {
    const env = {
      SCALR_AGENT_INSTALL_URL: 'https://env.scalr.io',
      SCALR_AGENT_INSTALL_NODE_SELECTOR: 'pool=env,zone=a',
    };
    const {stdout} = await runCommand(
      Values,
      ['--answers', 'answers.yaml', '--url', 'https://flag.scalr.io', '--json'],
      {files, env},
    );
    const {settings} = JSON.parse(stdout);
    expect(settings).toContainEqual({id: 'url', value: 'https://flag.scalr.io', source: 'flag'});
    expect(settings).toContainEqual({
      id: 'node-selector',
      value: {pool: 'env', zone: 'a'},
      source: 'environment',
    });
    expect(settings).toContainEqual({id: 'cache-size', value: '3Gi', source: 'answers'});
  });

  test('takes the address from a token that names its host, without printing the token', async () => {
    const env = {SCALR_AGENT_TOKEN: jwt({iss: 'agent-pool', host: 'acme.scalr.io'})};
    const {stdout, stderr, exit} = await runCommand(Values, ['--json', '--explain'], {env});
    expect(exit).toBe(0);
    expect(JSON.parse(stdout).values.agent.url).toBe('https://acme.scalr.io');
    expect(stdout + stderr).not.toContain(env.SCALR_AGENT_TOKEN);
  });

  test('takes no address from a token with two hosts', async () => {
    const env = {SCALR_AGENT_TOKEN: jwt({a: 'one.scalr.io', b: 'two.scalr.io'})};
    expect((await runCommand(Values, [], {env})).exit).toBe(2);
  });

  test('writes the name of a Secret for a client certificate', async () => {
    const line = [
      ...URL_FLAG,
      '--chart',
      'agent-local',
      '--client-cert-file',
      'client.pem',
      '--client-key-file',
      'client.key',
    ];
    const {stdout} = await runCommand(Values, line, {files: memoryFiles(certificates)});
    expect(stdout).toContain('name: "scalr-agent-client-cert"');
    expect(stdout).toContain('--client-cert-secret scalr-agent-client-cert');
    expect(stdout).not.toContain('BEGIN');
  });

  test('reports a variable with our prefix that does not exist', async () => {
    const {stderr} = await runCommand(Values, URL_FLAG, {env: {SCALR_AGENT_INSTALL_CASHE: 'pvc'}});
    expect(stderr).toContain('Did you mean SCALR_AGENT_INSTALL_CACHE?');
  });
});

describe('wrong input', () => {
  test('lists all wrong and missing settings at once', async () => {
    const {stdout, stderr, exit} = await runCommand(Values, [
      '--data-size',
      'many',
      '--concurrency',
      'many',
      '--cache-claim',
      'c',
      '--cache',
      'pvc',
    ]);
    expect(exit).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('--data-size: "many" is not a size');
    expect(stderr).toContain('--concurrency: "many" is not an integer');
    expect(stderr).toContain('--cache-claim: Requires --cache existing-pvc');
    expect(stderr).toContain('flag --url, variable SCALR_AGENT_INSTALL_URL, answers key url');
  });

  test.each([
    ['a mistyped flag', ['--cach-size', '5Gi'], 'UNKNOWN_FLAG', 'Did you mean --cache-size?'],
    ['a flag without its value', ['--url'], 'USAGE', 'Use --url URL'],
    [
      'an address without a scheme',
      ['--http-proxy', 'proxy'],
      'INVALID_SETTING',
      'Did you mean http://proxy?',
    ],
    ['no arguments', [], 'MISSING_SETTING', 'Add --url URL'],
    [
      'a setting that the chart does not support',
      [...URL_FLAG, '--chart', 'agent-job', '--shutdown-mode', 'drain'],
      'UNSUPPORTED_SETTING',
      'Remove --shutdown-mode drain',
    ],
    [
      'settings that no single chart supports',
      [...URL_FLAG, '--purpose', 'vcs', '--controller-replicas', '2'],
      'NO_CHART_FITS',
      'Remove one of the settings listed above',
    ],
    [
      'a missing file',
      [...URL_FLAG, '--ca-file', 'nowhere.pem'],
      'INVALID_SETTING',
      'Check the path and its permissions',
    ],
    [
      'a missing answers file',
      ['--answers', 'nowhere.yaml'],
      'UNREADABLE_FILE',
      'Check the path and its permissions',
    ],
  ])('prints only a document with code and next step on standard output for %s', async (_, argv, code, suggestion) => {
    const {stdout, exit} = await runCommand(Values, [...argv, '--json']);
    expect(violations('error', stdout)).toEqual([]);
    expect(JSON.parse(stdout).error).toMatchObject({
      code,
      exit: 2,
      suggestions: expect.arrayContaining([suggestion]),
    });
    expect(exit).toBe(2);
  });

  test('does not repeat a token from the arguments in the error', async () => {
    const {stdout, stderr} = await runCommand(Values, ['--token', 'hunter2', '--json']);
    expect(stdout + stderr).not.toContain('hunter2');
    expect(JSON.parse(stdout).error.code).toBe('UNKNOWN_FLAG');
  });

  const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJl';

  test.each([
    [['--token-secret', TOKEN]],
    [['--token-file', TOKEN]],
    [[TOKEN]],
    [['--https-proxy', 'http://user:hun ter2@proxy:3128']],
    [['--https-proxy', 'user:hunter2@proxy:3128']],
    [['--https-proxy', 'http://user:a/hunter2@proxy:3128']],
    [['--https-proxy', 'http://DOMAIN\\user:hunter2@proxy:3128']],
    [['--answers', TOKEN]],
    [
      [
        '--chart',
        'agent-local',
        '--extra-env',
        'DB=postgres://u:hunter2@h/db',
        '--explain',
        '--out',
        'v.yaml',
        '--quiet',
      ],
    ],
    [['--https-proxy', 'socks5://user:hunter2@proxy']],
    [['--image-registry', 'https://user:hunter2@registry.example.com']],
    [['--set', 'agent.token=hunter2']],
    [
      [
        ...URL_FLAG,
        '--chart-source',
        'https://user:hunter2@charts.example.com/agent.tgz',
        '--explain',
      ],
    ],
    [
      [
        ...URL_FLAG,
        '--chart-source',
        'https://user:hunter2@charts.example.com/agent-job-0.6.5.tgz',
        '--explain',
      ],
    ],
  ])('does not repeat a secret pasted by mistake into %j', async (argv) => {
    const isWritten = argv.includes('--extra-env');
    for (const line of isWritten
      ? [[...URL_FLAG, ...argv]]
      : [argv, [...argv, '--json'], [...URL_FLAG, ...argv, '--verbose']]) {
      const {stdout, stderr} = await runCommand(Values, line);
      expect(stdout + stderr).not.toMatch(/hun ?ter2|eyJhbGci/);
    }
  });

  test.each([
    ['--chart-version', '0.06.5'],
    ['--chart-version', '99999999999999999999.0.0'],
    ['--extra-env', 'A=x\u2028y'],
    ['--extra-env', 'A=x\u001b[31m'],
    ['--extra-env', 'on=1'],
    ['--cache-claim', '123'],
    ['--release', '1e3'],
    ['--cache-sub-path', 'a/../b'],
    ['--data-home', '/'],
    ['--data-home', '/a:b'],
    ['--ca-secret-key', '..x'],
    ['--extra-env', 'SCALR_AGENT_MODULE_CACHE_SIZE_LIMIT_MB=40Gi'],
    ['--set', '__proto__=1'],
    ['--set', 'extraEnv.NO_PROXY=a,b'],
    ['--set', 'tolerations[1].operator=Exists'],
    ['--set', 'tolerations=[{"key":"a","operator":"Exists","value":"b"}]'],
    ['--set', 'affinity={"nodeAfinity":{}}'],
    ['--set', 'resources.limits.memory=1GB'],
    ['--set', 'nodeSelector.pool=a b'],
    ['--answers', ''],
  ])('refuses %s %j with a next step', async (flag, value) => {
    const {stdout, exit} = await runCommand(Values, [
      ...URL_FLAG,
      '--chart',
      'agent-local',
      flag,
      value,
      '--json',
    ]);
    expect(violations('error', stdout)).toEqual([]);
    expect(JSON.parse(stdout).error.code).not.toBe('BUG');
    expect(JSON.parse(stdout).error.suggestions).not.toEqual([]);
    expect(exit).toBe(2);
  });

  test.each([
    ['set', '5'],
    ['extra-env', 'true'],
    ['node-selector', 'abc'],
    ['node-selector', '[1]'],
    ['no-proxy', '{a: b}'],
    ['concurrency', '[1]'],
    ['url', '*anchor'],
  ])('refuses an answers file in which %s is %s', async (key, value) => {
    const text = `https-proxy: http://p:1\n${key === 'url' ? '' : 'url: https://acme.scalr.io\n'}${key}: ${value}\n`;
    const {stderr, exit} = await runCommand(Values, ['--answers', 'a.yaml'], {
      files: memoryFiles({'a.yaml': text}),
    });
    expect(stderr).toMatch(/^Error: /);
    expect(stderr).not.toContain('bug in scalr-agent');
    expect(exit).toBe(2);
  });

  test.each([
    ['an unknown key', 'urll: https://acme.scalr.io', 'Did you mean url instead of urll?'],
    ['a list instead of a mapping', '- url', 'expected a mapping'],
    ['a duplicate key', 'url: a\nurl: b', 'line 2'],
  ])('refuses an answers file with %s and gives the position', async (_, text, expected) => {
    const {stderr, exit} = await runCommand(Values, ['--answers', 'a.yaml'], {
      files: memoryFiles({'a.yaml': text}),
    });
    expect(stderr).toContain(expected);
    expect(exit).toBe(2);
  });

  test('asks for a report when an unexpected error occurs', async () => {
    const files = {...memoryFiles(), kindOf: async () => Promise.reject(new TypeError('boom'))};
    const {stderr, exit} = await runCommand(Values, [...URL_FLAG, '--out', 'v.yaml'], {files});
    expect(stderr).toContain('Unexpected error: boom');
    expect(exit).toBe(1);
  });
});

describe('the header of the file', () => {
  /** What a shell makes of the commented command. */
  const rerun = (yaml: string): string[] => {
    const lines = yaml.split('\n').filter((line) => line.startsWith('#   '));
    const command = lines.map((line) => line.slice(4).replace(/ \\$/, '')).join(' ');
    const out = execFileSync('bash', ['-c', `set -- ${command}; printf '%s\\0' "$@"`], {
      encoding: 'utf8',
    });
    return out.split('\0').slice(2, -1);
  };

  test.each([
    [
      [
        '--chart',
        'agent-job',
        '--cache',
        'pvc',
        '--node-selector',
        'b=2',
        '--node-selector',
        'a=1',
        '--toleration',
        'x=y:NoSchedule',
        '--no-debug',
      ],
    ],
    [
      [
        '--chart',
        'agent-local',
        '--extra-env',
        `A=it's "quoted" $HOME`,
        '--extra-env',
        'B=two\nlines\tand a tab',
        '--extra-env',
        'C= blanks ',
      ],
    ],
    [
      [
        '--chart',
        'agent-local',
        '--set',
        'podAnnotations.a\\.b/c=x',
        '--set',
        'affinity={"nodeAffinity":{}}',
        '--ca-file',
        'ca.pem',
        '--no-ca-public-roots',
      ],
    ],
    [
      [
        '--chart',
        'agent-local',
        '--client-cert-file',
        'client.pem',
        '--client-key-file',
        'client.key',
        '--concurrency',
        '3',
      ],
    ],
    [
      [
        '--chart',
        'agent-k8s',
        '--cloud',
        'gke',
        '--namespace',
        'ops',
        '--release',
        'scalr',
        '--grace-period',
        '2h',
        '--run-cpu-request',
        '0.5',
      ],
    ],
  ])('%j: contains a command that writes the same file', async (argv) => {
    const files = memoryFiles(certificates);
    const {stdout} = await runCommand(Values, [...URL_FLAG, ...argv], {files});
    expect(stdout).toMatch(/^# Values of /);
    expect((await runCommand(Values, rerun(stdout), {files})).stdout).toBe(stdout);
  });

  test('has a placeholder for a proxy password, which is refused until it is replaced', async () => {
    const {stdout} = await runCommand(Values, [
      ...URL_FLAG,
      '--https-proxy',
      'http://user:hunter2@proxy:3128',
      '--allow-clear-text',
    ]);
    expect(stdout).toContain('#     --allow-clear-text\n');
    expect((await runCommand(Values, rerun(stdout))).stderr).toContain('placeholder');
  });
});

describe('--out', () => {
  const line = [...URL_FLAG, '--out', 'values.yaml'];

  test('writes the file and prints nothing', async () => {
    const files = memoryFiles();
    const {stdout, stderr} = await runCommand(Values, line, {files});
    expect(stdout).toBe('');
    expect(stderr).toContain('Wrote values.yaml.');
    expect(files.written).toMatchObject([{path: 'values.yaml', isPrivate: false}]);
  });

  test.each([
    [['--extra-env', 'A=b']],
    [['--set', 'replicaCount=2']],
    [['--https-proxy', 'http://user:secret@proxy:3128', '--allow-clear-text']],
  ])('makes the file private with %s', async (more) => {
    const files = memoryFiles();
    await runCommand(Values, [...line, '--chart', 'agent-local', ...more], {files});
    expect(files.written[0]?.isPrivate).toBe(true);
  });

  test('never prints a proxy password from the values', async () => {
    const {stdout, stderr} = await runCommand(Values, [
      ...line,
      '--https-proxy',
      'http://user:secret@proxy:3128',
      '--explain',
    ]);
    expect(stdout + stderr).not.toContain('secret@');
  });

  test('keeps an existing file when nobody can be asked', async () => {
    const files = memoryFiles({'values.yaml': 'mine'});
    const {stderr, exit} = await runCommand(Values, line, {files});
    expect(stderr).toContain('values.yaml already exists.');
    expect(exit).toBe(2);
    expect(files.written).toEqual([]);
  });

  test('replaces an existing file with --yes', async () => {
    const files = memoryFiles({'values.yaml': 'mine'});
    await runCommand(Values, [...line, '--yes'], {files});
    expect(files.written).toHaveLength(1);
  });

  test.each([
    [true, 1, 0],
    [false, 0, 1],
  ])('replaces an existing file on a terminal only when the answer is yes (%s)', async (answer, written, exit) => {
    const files = memoryFiles({'values.yaml': 'mine'});
    const asked: string[] = [];
    const confirm = async (question: string) => {
      asked.push(question);
      return answer;
    };
    const result = await runCommand(Values, line, {files, hasTerminal: true, prompter: {confirm}});
    expect(asked).toEqual(['values.yaml already exists. Replace it?']);
    expect(files.written).toHaveLength(written);
    expect(result.exit).toBe(exit);
  });

  test('does not touch a file that is up to date', async () => {
    const {stdout} = await runCommand(Values, URL_FLAG);
    const files = memoryFiles({'values.yaml': stdout});
    const {stderr, exit} = await runCommand(Values, line, {files});
    expect({exit, written: files.written}).toEqual({exit: 0, written: []});
    expect(stderr).toContain('up to date');
  });

  test('shows the file with --dry-run and writes nothing', async () => {
    const files = memoryFiles();
    const {stdout, stderr} = await runCommand(Values, [...line, '--dry-run'], {files});
    expect(stdout).toContain('url: "https://acme.scalr.io"');
    expect(stderr).toMatch(/Would write values\.yaml \(\d+ bytes\)/);
    expect(files.written).toEqual([]);
  });

  test.each([
    [[], 'values.yaml'],
    [['--dry-run'], undefined],
  ])('reports the file in JSON only if it was written: %j', async (flags, file) => {
    const {stdout} = await runCommand(Values, [...line, ...flags, '--json'], {
      files: memoryFiles(),
    });
    expect(JSON.parse(stdout).file).toBe(file);
  });
});

test.each([
  [
    '-',
    'agent-job',
    '0.5.65',
    'does not support --cache-storage-class: the chart cannot be rendered with "-" before 0.6.2',
  ],
  [
    '-',
    'agent-local',
    '0.6.1',
    'does not support --cache-storage-class: the chart cannot be rendered with "-" before 0.6.2',
  ],
  [
    '-',
    'agent-job',
    '0.5.64',
    'does not support --cache-storage-class: the chart cannot be rendered with "-" before 0.6.2',
  ],
])('refuses --cache-storage-class %s for %s %s with the right reason', async (name, chart, version, because) => {
  const line = [
    '--chart',
    chart,
    '--chart-version',
    version,
    '--cache',
    'pvc',
    `--cache-storage-class=${name}`,
  ];
  const {stderr, exit} = await runCommand(Values, [...URL_FLAG, ...line]);
  expect(stderr).toContain(because);
  expect(exit).toBe(2);
});

describe('placeholders', () => {
  test.each<[string, string, string]>([
    ['--extra-env', 'A=changeme', 'extraEnv.A'],
    ['--node-selector', 'pool=changeme', 'nodeSelector.pool'],
    ['--image-pull-secret', 'your-secret', 'imagePullSecrets[0].name'],
  ])('refuses %s %s, as validate does', async (flag, value, path) => {
    const {stdout, stderr, exit} = await runCommand(Values, [
      ...URL_FLAG,
      '--chart',
      'agent-local',
      flag,
      value,
    ]);
    expect(stderr).toContain(`${flag}: ${path} still contains a placeholder.`);
    expect(stdout).toBe('');
    expect(exit).toBe(2);
  });

  test('accepts an annotation with a template of another program, as validate does', async () => {
    const annotation = [
      '--service-account-annotation',
      'vault.hashicorp.com/agent-inject-template-x={{- with secret "a" -}}b{{- end }}',
    ];
    const files = memoryFiles();
    await runCommand(
      Values,
      [...URL_FLAG, '--chart', 'agent-local', ...annotation, '--out', 'values.yaml'],
      {files},
    );
    const {stdout, exit} = await runCommand(Validate, ['values.yaml'], {files});
    expect(stdout).toContain('no problems found');
    expect(exit).toBe(0);
  });
});

test('refuses a proxy password without --allow-clear-text, and names the setting and the key', async () => {
  const argv = [...URL_FLAG, '--chart', 'agent-job', '--https-proxy', 'http://u:pw99@proxy:3128'];
  const {stdout, stderr, exit} = await runCommand(Values, argv);
  expect(stderr).toContain('--https-proxy: global.proxy.httpsProxy contains a password in a URL.');
  expect(stderr).toContain('no chart version reads a proxy password for runs from a Secret');
  expect(stderr).toContain('add --allow-clear-text');
  expect({stdout, exit}).toEqual({stdout: '', exit: 2});
  expect(stderr).not.toContain('pw99');
  const allowed = await runCommand(Values, [...argv, '--allow-clear-text', '--json']);
  expect(allowed.exit).toBe(0);
  expect(JSON.parse(allowed.stdout)).toMatchObject({
    values: {global: {proxy: {httpsProxy: 'http://u:pw99@proxy:3128'}}},
  });
});

test.each(['--values-file', '--answers'])('refuses an encrypted file for %s', async (flag) => {
  const files = memoryFiles({'s.yaml': 'agent: {}\nsops: {mac: "ENC[AES256_GCM,data:x]"}\n'});
  const argv = [...URL_FLAG, '--chart', 'agent-job', flag, 's.yaml'];
  const {stdout, stderr, exit} = await runCommand(Values, argv, {files});
  expect(stderr).toContain('s.yaml is encrypted with SOPS, so its values cannot be read.');
  expect(stderr).toContain('<(sops --decrypt s.yaml)');
  expect({stdout, exit}).toEqual({stdout: '', exit: 2});
});
