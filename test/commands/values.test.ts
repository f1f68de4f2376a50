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
const jwt = (payload: object) => `e30.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.c2ln`;

describe('the result', () => {
  test('one address is enough, and standard output holds nothing but values.yaml', async () => {
    const {stdout, stderr, exit} = await runCommand(Values, URL_FLAG);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^# Values of agent-local 0\.6\.5 /);
    expect(stdout).toContain('url: "https://acme.scalr.io"');
    expect(stderr).toContain('agent-local is recommended');
  });

  test('the same line gives the same bytes', async () => {
    const line = [...URL_FLAG, '--cache', 'pvc', '--node-selector', 'b=2', '--node-selector', 'a=1'];
    const other = [...URL_FLAG, '--node-selector', 'a=1', '--cache', 'pvc', '--node-selector', 'b=2'];
    expect((await runCommand(Values, line)).stdout).toBe((await runCommand(Values, other)).stdout);
  });

  test('--json is one document that its schema describes, with warnings in it', async () => {
    const {stdout} = await runCommand(Values, [...URL_FLAG, '--chart', 'agent-k8s', '--https-proxy', 'http://proxy:3128', '--json']);
    expect(violations('values', stdout)).toEqual([]);
    const {chart, chartVersion, values, yaml, settings, warnings} = JSON.parse(stdout);
    expect({chart, chartVersion}).toEqual({chart: 'agent-k8s', chartVersion: '0.6.5'});
    expect(values.extraEnv.HTTPS_PROXY).toBe('http://proxy:3128');
    expect(yaml).toContain('HTTPS_PROXY');
    expect(settings).toContainEqual({id: 'https-proxy', value: 'http://proxy:3128', source: 'flag'});
    expect(warnings).toContainEqual(expect.objectContaining({code: 'PARTLY_SUPPORTED', setting: 'https-proxy'}));
  });

  test('warns of settings that a cluster would have answered', async () => {
    const warnings = async (...argv: string[]): Promise<string[]> =>
      JSON.parse((await runCommand(Values, [...URL_FLAG, ...argv, '--json'])).stdout)
        .warnings.filter(({code}: {code: string}) => code === 'NOT_FROM_CLUSTER')
        .map(({setting}: {setting: string}) => setting);
    expect(await warnings()).toEqual(['chart']);
    expect(await warnings('--chart', 'agent-k8s')).toEqual(['cloud', 'node-os']);
    expect(await warnings('--chart', 'agent-k8s', '--cloud', 'eks', '--node-os', 'al2')).toEqual([]);
    expect(await warnings('--chart', 'agent-local', '--https-proxy', 'http://proxy:3128')).toEqual(['no-proxy']);
  });

  test('--quiet leaves only warnings on standard error', async () => {
    expect((await runCommand(Values, [...URL_FLAG, '--chart', 'agent-local', '--quiet'])).stderr).toBe('');
  });

  test('--explain says where every effective setting comes from', async () => {
    const {stderr} = await runCommand(Values, [...URL_FLAG, '--chart', 'agent-job', '--cache', 'pvc', '--explain', '-q']);
    expect(stderr).toMatch(/^url +https:\/\/acme\.scalr\.io +flag$/m);
    expect(stderr).toMatch(/^token-secret +scalr-agent-token +default$/m);
    expect(stderr).toMatch(/^cache-size +90Gi +chart$/m);
    expect(stderr).toMatch(/^cache-access-mode +ReadWriteMany +default: the pods of all runs/m);
  });
});

test('--explain shows what --set made of a default', async () => {
  const {stdout} = await runCommand(Values, [
    ...URL_FLAG,
    '--chart',
    'agent-local',
    '--set',
    'agent.tokenExistingSecret.name=mine',
    '--json',
  ]);
  expect(JSON.parse(stdout).settings).toContainEqual({id: 'token-secret', value: 'mine', source: 'flag', because: 'by way of --set'});
});

describe('where answers come from', () => {
  const files = memoryFiles({'answers.yaml': 'url: https://file.scalr.io\ncache-size: 3Gi\nnode-selector: {pool: file}\n'});

  test('a flag wins over the environment and the environment over the answers file', async () => {
    const env = {SCALR_AGENT_INSTALL_URL: 'https://env.scalr.io', SCALR_AGENT_INSTALL_NODE_SELECTOR: 'pool=env,zone=a'};
    const {stdout} = await runCommand(Values, ['--answers', 'answers.yaml', '--url', 'https://flag.scalr.io', '--json'], {files, env});
    const {settings} = JSON.parse(stdout);
    expect(settings).toContainEqual({id: 'url', value: 'https://flag.scalr.io', source: 'flag'});
    expect(settings).toContainEqual({id: 'node-selector', value: {pool: 'env', zone: 'a'}, source: 'environment'});
    expect(settings).toContainEqual({id: 'cache-size', value: '3Gi', source: 'answers'});
  });

  test('a token that names its host makes the address unnecessary, and appears nowhere', async () => {
    const env = {SCALR_AGENT_TOKEN: jwt({iss: 'user', host: 'acme.scalr.io'})};
    const {stdout, stderr, exit} = await runCommand(Values, ['--json', '--explain'], {env});
    expect(exit).toBe(0);
    expect(JSON.parse(stdout).values.agent.url).toBe('https://acme.scalr.io');
    expect(stdout + stderr).not.toContain(env.SCALR_AGENT_TOKEN);
  });

  test('a token with two hosts leaves the question open', async () => {
    const env = {SCALR_AGENT_TOKEN: jwt({a: 'one.scalr.io', b: 'two.scalr.io'})};
    expect((await runCommand(Values, [], {env})).exit).toBe(2);
  });

  test('a client certificate becomes the name of a Secret', async () => {
    const line = [...URL_FLAG, '--chart', 'agent-local', '--client-cert-file', 'client.pem', '--client-key-file', 'client.key'];
    const {stdout} = await runCommand(Values, line, {files: memoryFiles(certificates)});
    expect(stdout).toContain('name: "scalr-agent-client-cert"');
    expect(stdout).toContain('--client-cert-secret scalr-agent-client-cert');
    expect(stdout).not.toContain('BEGIN');
  });

  test('a variable that looks like ours and is not is named', async () => {
    const {stderr} = await runCommand(Values, URL_FLAG, {env: {SCALR_AGENT_INSTALL_CASHE: 'pvc'}});
    expect(stderr).toContain('Did you mean SCALR_AGENT_INSTALL_CACHE?');
  });
});

describe('wrong input', () => {
  test('everything wrong and missing is listed at once', async () => {
    const {stdout, stderr, exit} = await runCommand(Values, [
      '--cache-size',
      '5',
      '--concurrency',
      'many',
      '--cache-claim',
      'c',
      '--cache',
      'pvc',
    ]);
    expect(exit).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('--cache-size: "5" has no unit');
    expect(stderr).toContain('--concurrency: "many" is not a whole number');
    expect(stderr).toContain('--cache-claim: does nothing without --cache existing-pvc');
    expect(stderr).toContain('flag --url, variable SCALR_AGENT_INSTALL_URL, answers key url');
  });

  test.each([
    ['a mistyped flag', ['--cach-size', '5Gi'], 'UNKNOWN_FLAG', 'Did you mean --cache-size?'],
    ['a flag without its value', ['--url'], 'USAGE', 'See all flags with --help'],
    ['an address without a scheme', ['--url', 'acme.scalr.io'], 'INVALID_SETTING', 'Did you mean https://acme.scalr.io?'],
    ['nothing at all', [], 'MISSING_SETTING', 'Add --url URL'],
    [
      'a setting the chart has no place for',
      [...URL_FLAG, '--chart', 'agent-job', '--shutdown-mode', 'drain'],
      'UNSUPPORTED_SETTING',
      'Leave out --shutdown-mode drain',
    ],
    [
      'settings no chart can bring together',
      [...URL_FLAG, '--purpose', 'vcs', '--isolation', 'per-run'],
      'NO_CHART_FITS',
      'Leave out one of the settings named above',
    ],
    ['a missing file', [...URL_FLAG, '--ca-file', 'nowhere.pem'], 'INVALID_SETTING', 'Check the path and its permissions'],
    ['a missing answers file', ['--answers', 'nowhere.yaml'], 'UNREADABLE_FILE', 'Check the path and its permissions'],
  ])('%s is a document with code and next step, and nothing else on standard output', async (_, argv, code, suggestion) => {
    const {stdout, exit} = await runCommand(Values, [...argv, '--json']);
    expect(violations('error', stdout)).toEqual([]);
    expect(JSON.parse(stdout).error).toMatchObject({code, exit: 2, suggestions: expect.arrayContaining([suggestion])});
    expect(exit).toBe(2);
  });

  test('a token among the arguments is not repeated in the error', async () => {
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
    [['--chart', 'agent-local', '--extra-env', 'DB=postgres://u:hunter2@h/db', '--explain', '--out', 'v.yaml', '--quiet']],
    [['--https-proxy', 'socks5://user:hunter2@proxy']],
    [['--image-registry', 'https://user:hunter2@registry.example.com']],
    [['--set', 'agent.token=hunter2']],
    [[...URL_FLAG, '--chart-source', 'https://user:hunter2@charts.example.com/agent.tgz', '--explain']],
    [[...URL_FLAG, '--chart-source', 'https://user:hunter2@charts.example.com/agent-job-0.6.5.tgz', '--explain']],
  ])('%j: what was pasted by mistake is not repeated', async (argv) => {
    const isWritten = argv.includes('--extra-env');
    for (const line of isWritten ? [[...URL_FLAG, ...argv]] : [argv, [...argv, '--json'], [...URL_FLAG, ...argv, '--verbose']]) {
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
  ])('%s %j is refused with a next step', async (flag, value) => {
    const {stdout, exit} = await runCommand(Values, [...URL_FLAG, '--chart', 'agent-local', flag, value, '--json']);
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
  ])('an answers file in which %s is %s is refused', async (key, value) => {
    const text = `https-proxy: http://p:1\n${key === 'url' ? '' : 'url: https://acme.scalr.io\n'}${key}: ${value}\n`;
    const {stderr, exit} = await runCommand(Values, ['--answers', 'a.yaml'], {files: memoryFiles({'a.yaml': text})});
    expect(stderr).toMatch(/^Error: /);
    expect(stderr).not.toContain('bug in scalr-agent');
    expect(exit).toBe(2);
  });

  test.each([
    ['an unknown key', 'urll: https://acme.scalr.io', 'Did you mean url instead of urll?'],
    ['no mapping', '- url', 'it is not a mapping'],
    ['a key twice', 'url: a\nurl: b', 'line 2'],
  ])('an answers file with %s is refused with its place', async (_, text, expected) => {
    const {stderr, exit} = await runCommand(Values, ['--answers', 'a.yaml'], {files: memoryFiles({'a.yaml': text})});
    expect(stderr).toContain(expected);
    expect(exit).toBe(2);
  });

  test('a bug says so and asks for a report', async () => {
    const files = {...memoryFiles(), kindOf: async () => Promise.reject(new TypeError('boom'))};
    const {stderr, exit} = await runCommand(Values, [...URL_FLAG, '--out', 'v.yaml'], {files});
    expect(stderr).toContain('This is a bug in scalr-agent: boom');
    expect(exit).toBe(1);
  });
});

describe('the first lines of the file', () => {
  /** What a shell makes of the commented command. */
  const rerun = (yaml: string): string[] => {
    const lines = yaml.split('\n').filter((line) => line.startsWith('#   '));
    const command = lines.map((line) => line.slice(4).replace(/ \\$/, '')).join(' ');
    const out = execFileSync('bash', ['-c', `set -- ${command}; printf '%s\\0' "$@"`], {encoding: 'utf8'});
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
    [['--chart', 'agent-local', '--client-cert-file', 'client.pem', '--client-key-file', 'client.key', '--concurrency', '3']],
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
  ])('%j: the command they name writes the same file', async (argv) => {
    const files = memoryFiles(certificates);
    const {stdout} = await runCommand(Values, [...URL_FLAG, ...argv], {files});
    expect(stdout).toMatch(/^# Values of /);
    expect((await runCommand(Values, rerun(stdout), {files})).stdout).toBe(stdout);
  });

  test('a proxy password is a blank to fill in, and refused while it is one', async () => {
    const {stdout} = await runCommand(Values, [...URL_FLAG, '--https-proxy', 'http://user:hunter2@proxy:3128']);
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
    [['--https-proxy', 'http://user:secret@proxy:3128']],
  ])('%s makes a file that nobody else can read', async (more) => {
    const files = memoryFiles();
    await runCommand(Values, [...line, '--chart', 'agent-local', ...more], {files});
    expect(files.written[0]?.isPrivate).toBe(true);
  });

  test('a proxy password is in the values and in nothing that is printed', async () => {
    const {stdout, stderr} = await runCommand(Values, [...line, '--https-proxy', 'http://user:secret@proxy:3128', '--explain']);
    expect(stdout + stderr).not.toContain('secret@');
  });

  test('an existing file is left alone where nobody can be asked', async () => {
    const files = memoryFiles({'values.yaml': 'mine'});
    const {stderr, exit} = await runCommand(Values, line, {files});
    expect(stderr).toContain('values.yaml exists.');
    expect(exit).toBe(2);
    expect(files.written).toEqual([]);
  });

  test('--yes replaces it', async () => {
    const files = memoryFiles({'values.yaml': 'mine'});
    await runCommand(Values, [...line, '--yes'], {files});
    expect(files.written).toHaveLength(1);
  });

  test.each([
    [true, 1, 0],
    [false, 0, 1],
  ])('on a terminal the answer %s decides', async (answer, written, exit) => {
    const files = memoryFiles({'values.yaml': 'mine'});
    const asked: string[] = [];
    const confirm = async (question: string) => {
      asked.push(question);
      return answer;
    };
    const result = await runCommand(Values, line, {files, hasTerminal: true, prompter: {confirm}});
    expect(asked).toEqual(['values.yaml exists. Replace it?']);
    expect(files.written).toHaveLength(written);
    expect(result.exit).toBe(exit);
  });

  test('a file that already says the same is not touched', async () => {
    const {stdout} = await runCommand(Values, URL_FLAG);
    const files = memoryFiles({'values.yaml': stdout});
    const {stderr, exit} = await runCommand(Values, line, {files});
    expect({exit, written: files.written}).toEqual({exit: 0, written: []});
    expect(stderr).toContain('up to date');
  });

  test('--dry-run shows the file and writes none', async () => {
    const files = memoryFiles();
    const {stdout, stderr} = await runCommand(Values, [...line, '--dry-run'], {files});
    expect(stdout).toContain('url: "https://acme.scalr.io"');
    expect(stderr).toMatch(/Would write values\.yaml \(\d+ bytes\)/);
    expect(files.written).toEqual([]);
  });
});

test.each([
  ['x', 'agent-job', '0.5.64', 'cannot take --cache-storage-class: its runs look for a cache on a claim in other directories than'],
  ['-', 'agent-job', '0.5.65', 'cannot take --cache-storage-class: "-" breaks its templates before 0.6.2'],
  ['-', 'agent-local', '0.6.1', 'cannot take --cache-storage-class: "-" breaks its templates before 0.6.2'],
])('--cache-storage-class %s is refused by %s %s for what is wrong with it', async (name, chart, version, because) => {
  const line = ['--chart', chart, '--chart-version', version, '--cache', 'pvc', `--cache-storage-class=${name}`];
  const {stderr, exit} = await runCommand(Values, [...URL_FLAG, ...line]);
  expect(stderr).toContain(because);
  expect(exit).toBe(2);
});

describe('placeholders', () => {
  test.each<[string, string, string]>([
    ['--extra-env', 'A=changeme', 'extraEnv.A'],
    ['--node-selector', 'pool=changeme', 'nodeSelector.pool'],
    ['--image-pull-secret', 'your-secret', 'imagePullSecrets[0].name'],
  ])('%s %s is refused here too, as validate would', async (flag, value, path) => {
    const {stdout, stderr, exit} = await runCommand(Values, [...URL_FLAG, '--chart', 'agent-local', flag, value]);
    expect(stderr).toContain(`${flag}: ${path} is a placeholder that nobody filled in.`);
    expect(stdout).toBe('');
    expect(exit).toBe(2);
  });

  test('an annotation may hold a template of another program, and validate agrees', async () => {
    const annotation = ['--service-account-annotation', 'vault.hashicorp.com/agent-inject-template-x={{- with secret "a" -}}b{{- end }}'];
    const files = memoryFiles();
    await runCommand(Values, [...URL_FLAG, '--chart', 'agent-local', ...annotation, '--out', 'values.yaml'], {files});
    const {stdout, exit} = await runCommand(Validate, ['values.yaml'], {files});
    expect(stdout).toContain('nothing to report');
    expect(exit).toBe(0);
  });
});
