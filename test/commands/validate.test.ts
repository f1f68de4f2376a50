import {describe, expect, test} from 'vitest';
import Validate from '../../src/commands/validate.ts';
import Values from '../../src/commands/values.ts';
import {ExpectedError} from '../../src/ground/errors.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';
import {isExhaustive} from '../support/sample.ts';

const files = memoryFiles({
  'good.yaml': 'agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}\n',
  'bad.yaml': 'agent:\n  tokenExistingSecret: {name: t}\n  tokne: x\n',
  'twice.yaml': 'agent: {token: abc, tokenExistingSecret: {name: t}}\n',
  'local.yaml': 'allowMetadataService: true\nagent: {tokenExistingSecret: {name: t}}\n',
});
const JOB = ['--chart', 'agent-job', '--chart-version', '0.6.5'];

test('exits with 0 and no findings for a valid file', async () => {
  const {stdout, exit} = await runCommand(Validate, ['good.yaml', ...JOB], {files});
  expect(stdout).toBe('good.yaml: no problems found (agent-job 0.6.5)\n');
  expect(exit).toBe(0);
});

test('shows the line of a mistake, a caret and a suggestion', async () => {
  const {stdout, exit} = await runCommand(Validate, ['bad.yaml', ...JOB], {files});
  expect(stdout).toContain('bad.yaml:3:3 error agent.tokne: ');
  expect(stdout).toContain('\n      tokne: x\n      ^\n    → agent.token\n');
  expect(stdout).toContain('bad.yaml: 1 error, 0 warnings (agent-job 0.6.5)\n');
  expect(exit).toBe(3);
});

test('prints the documented JSON with --json, with the same exit code', async () => {
  const {stdout, exit} = await runCommand(Validate, ['bad.yaml', ...JOB, '--json'], {files});
  expect(violations('validate', stdout)).toEqual([]);
  expect(JSON.parse(stdout)).toEqual({
    schemaVersion: 1,
    chart: 'agent-job',
    chartVersion: '0.6.5',
    valid: false,
    findings: [
      expect.objectContaining({
        severity: 'error',
        code: 'UNKNOWN_KEY',
        path: 'agent.tokne',
        line: 3,
        column: 3,
        suggestion: 'agent.token',
      }),
    ],
  });
  expect(exit).toBe(3);
});

test('fails on warnings only with --strict', async () => {
  expect((await runCommand(Validate, ['twice.yaml', ...JOB], {files})).exit).toBe(0);
  expect((await runCommand(Validate, ['twice.yaml', ...JOB, '--strict'], {files})).exit).toBe(4);
});

test('reads the chart from the header that `values` wrote', async () => {
  const {stdout: written} = await runCommand(Values, [
    '--url',
    'https://acme.scalr.io',
    '--chart',
    'agent-k8s',
    '--chart-version',
    '0.6.1',
  ]);
  const {stdout, stderr} = await runCommand(Validate, ['v.yaml'], {
    files: memoryFiles({'v.yaml': written}),
  });
  expect(stdout).toBe('v.yaml: no problems found (agent-k8s 0.6.1)\n');
  expect(stderr).toContain('detected from the file header');
});

test('detects the chart from keys that only one chart has', async () => {
  const {stdout, stderr} = await runCommand(Validate, ['local.yaml'], {files});
  expect(stdout).toContain('(agent-local 0.6.5)');
  expect(stderr).toContain('detected from the keys of the file');
});

test.each([
  [['good.yaml'], 'MISSING_SETTING'],
  [['nowhere.yaml', ...JOB], 'UNREADABLE_FILE'],
  [['good.yaml', '--chart', 'agent-jib'], 'INVALID_SETTING'],
  [['good.yaml', '--chart', 'agent-job', '--chart-version', '0.5.73'], 'VERSION_NOT_RELEASED'],
  [[], 'USAGE'],
])('reports the right error for %j', async (argv, code) => {
  const {stdout, exit} = await runCommand(Validate, [...argv, '--json'], {files});
  expect(violations('error', stdout)).toEqual([]);
  expect(JSON.parse(stdout).error.code).toBe(code);
  expect(exit).toBe(2);
});

const several = memoryFiles(
  {
    'good.yaml': 'agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}\n',
    'bad.yaml': 'agent:\n  tokenExistingSecret: {name: t}\n  tokne: x\n',
    'other.yaml':
      '# Values of agent-k8s 0.6.1, written by hand\nagent: {tokenExistingSecret: {name: t}}\nnonsense: 1\n',
    'silent.yaml': 'agent: {}\n',
  },
  'agent: {nonsense: 1, tokenExistingSecret: {name: t}}\n',
);

test('checks several files separately and prints the total at the end', async () => {
  const {stdout, exit} = await runCommand(Validate, ['good.yaml', 'bad.yaml', '-', ...JOB], {
    files: several,
  });
  expect(stdout).toMatch(
    /^good\.yaml: no problems found \(agent-job 0\.6\.5\)\nbad\.yaml:3:3 error /,
  );
  expect(stdout).toContain('\n-:1:9 error agent.nonsense: ');
  expect(stdout).toMatch(/\n3 files: 2 errors, 0 warnings\n$/);
  expect(exit).toBe(3);
});

test('lists several files with --json', async () => {
  const {stdout, exit} = await runCommand(Validate, ['good.yaml', 'bad.yaml', ...JOB, '--json'], {
    files: several,
  });
  expect(violations('validate', stdout)).toEqual([]);
  expect(JSON.parse(stdout)).toEqual({
    schemaVersion: 1,
    valid: false,
    files: [
      {file: 'good.yaml', chart: 'agent-job', chartVersion: '0.6.5', valid: true, findings: []},
      expect.objectContaining({
        file: 'bad.yaml',
        valid: false,
        findings: [expect.objectContaining({code: 'UNKNOWN_KEY'})],
      }),
    ],
  });
  expect(exit).toBe(3);
});

test('accepts files for different charts', async () => {
  const {stdout, stderr, exit} = await runCommand(Validate, ['other.yaml', 'local.yaml'], {
    files: memoryFiles({
      'other.yaml': '# Values of agent-k8s 0.6.1\nagent: {token: abc}\n',
      'local.yaml': 'allowMetadataService: true\nagent: {tokenExistingSecret: {name: t}}\n',
    }),
  });
  expect(stdout).toContain('other.yaml: no problems found (agent-k8s 0.6.1)');
  expect(stdout).toMatch(/local\.yaml: .* \(agent-local 0\.6\.5\)/);
  expect(stderr).toContain(
    'other.yaml: checked against agent-k8s 0.6.1: chart and version detected from the file header.',
  );
  expect(exit).toBe(0);
});

const BASE = 'agent:\n  url: https://acme.scalr.io\n  tokenExistingSecret: {name: t}\n';

test('checks layers as the single file that Helm merges them into', async () => {
  const layers = memoryFiles({'base.yaml': BASE, 'over.yaml': '# mine\nagent:\n  tokne: x\n'});
  const {stdout, exit} = await runCommand(
    Validate,
    ['-f', 'base.yaml', '--values', 'over.yaml', ...JOB],
    {files: layers},
  );
  expect(stdout).toContain('over.yaml:3:3 error agent.tokne: ');
  expect(stdout).toContain('\n      tokne: x\n      ^\n');
  expect(stdout).toContain('base.yaml + over.yaml: 1 error, 0 warnings (agent-job 0.6.5)\n');
  expect(stdout).not.toContain('NO_TOKEN');
  expect(exit).toBe(3);
});

test('names the layer of each value with --json', async () => {
  const layers = memoryFiles({
    'base.yaml': BASE.replace('url', 'ulr'),
    'over.yaml': 'agent: {debug: "0"}\n',
  });
  const {stdout} = await runCommand(Validate, ['-f', 'base.yaml,over.yaml', ...JOB, '--json'], {
    files: layers,
  });
  expect(violations('validate', stdout)).toEqual([]);
  expect(JSON.parse(stdout)).toMatchObject({
    chart: 'agent-job',
    findings: [{code: 'UNKNOWN_KEY', file: 'base.yaml', line: 2}],
  });
});

test.each([
  [
    'sarif',
    /^\{\n {2}"\$schema": .*"version": "2\.1\.0".*"name": "scalr-agent".*"uri": "bad\.yaml".*\}\n$/s,
  ],
  [
    'junit',
    /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites name="scalr-agent validate" tests="2" failures="1" .*<\/testsuites>\n$/s,
  ],
  ['json', /^\{\n {2}"schemaVersion": 1,\n {2}"valid": false,\n {2}"files": \[.*\}\n$/s],
  ['github', /^::error file=bad\.yaml,line=\d+,col=\d+,title=[^\n]*\n$/],
  ['text', /^good\.yaml: no problems found/],
])('prints nothing else on standard output with --format %s', async (format, document) => {
  const {stdout, stderr, exit} = await runCommand(
    Validate,
    ['good.yaml', 'bad.yaml', ...JOB, '--format', format],
    {files: several},
  );
  expect(stdout).toMatch(document);
  expect(stderr).toBe('');
  expect(exit).toBe(3);
});

test.each([
  'sarif',
  'junit',
  'github',
])('prints a failure with --format %s on standard error', async (format) => {
  const {stdout, stderr, exit} = await runCommand(
    Validate,
    ['nowhere.yaml', ...JOB, '--format', format],
    {files: several},
  );
  expect(stdout).toBe('');
  expect(stderr).toContain('Cannot read nowhere.yaml');
  expect(exit).toBe(2);
});

test.each([
  ['no file', [], 'No file to validate.'],
  [
    'files and layers',
    ['good.yaml', '-f', 'bad.yaml'],
    'good.yaml and -f bad.yaml cannot be combined',
  ],
  ['standard input twice', ['-', '-'], 'Standard input can be read only once.'],
  [
    'two output formats',
    ['good.yaml', '--json', '--format', 'junit'],
    '--json cannot be used with --format junit.',
  ],
  [
    'an unknown output format',
    ['good.yaml', '--format', 'xml'],
    '--format: "xml" is not one of text, json, sarif, junit, github.',
  ],
  [
    'a rewrite of standard input',
    ['-', '--fix'],
    '--fix requires a file, and standard input is not one.',
  ],
])('reports a usage error for %s', async (_, argv, message) => {
  const {stdout, stderr, exit} = await runCommand(Validate, [...argv, ...JOB], {files: several});
  const failure = argv.includes('--json')
    ? JSON.parse(stdout).error
    : {code: 'USAGE', message: stderr};
  expect(failure.code).toBe('USAGE');
  expect(failure.message).toContain(message);
  expect(exit).toBe(2);
});

test('names every unreadable file and prints nothing else', async () => {
  const {stdout, stderr, exit} = await runCommand(
    Validate,
    ['good.yaml', 'no.yaml', 'bad.yaml', 'nowhere.yaml', ...JOB],
    {files: several},
  );
  expect(stdout).toBe('');
  expect(stderr).toContain('Cannot read no.yaml');
  expect(stderr).toContain('Cannot read nowhere.yaml');
  expect(exit).toBe(2);
});

test('checks other files beside those whose chart is unknown', async () => {
  const {stdout, exit} = await runCommand(Validate, ['other.yaml', 'silent.yaml', 'good.yaml'], {
    files: several,
  });
  expect(stdout).toContain('other.yaml:3:1 error nonsense');
  expect(stdout).toContain(
    'good.yaml not checked: The file does not tell its chart. UNCHECKED_FILE',
  );
  expect(stdout).toContain('3 files (1 checked, 1 not checked, 1 without an agent): ');
  expect(exit).toBe(3);
});

test.each([
  ['an empty directory', []],
  ['a directory of others', ['values.yaml']],
])('says that nothing was checked in %s', async (_, names) => {
  const inside = memoryFiles({'deploy/values.yaml': 'replicas: 1'});
  const tree = {
    ...inside,
    list: async () => names,
    kindOf: async (path: string) => (path === 'deploy' ? 'directory' : inside.kindOf(path)),
  };
  const check = (...flags: string[]) =>
    runCommand(Validate, ['deploy', '--no-ignore', ...flags], {files: tree});
  const {stderr, exit} = await check();
  expect(stderr).toContain('No file about an agent was found in deploy. NOTHING_TO_CHECK');
  expect(exit).toBe(0);
  expect((await check('--strict')).exit).toBe(4);
  expect(JSON.parse((await check('--json', '--strict')).stdout)).toMatchObject({
    valid: false,
  });
});

describe('--fix', () => {
  const TWO = 'agent:\n  # mine\n  tokenExistingSecrt: {name: t} # note\n  replicaCout: 2\n';
  const FIXED = 'agent:\n  # mine\n  tokenExistingSecret: {name: t} # note\n  replicaCount: 2\n';
  const line = ['two.yaml', ...JOB, '--fix'];
  const disk = () =>
    memoryFiles({
      'two.yaml': TWO,
      'bad.yaml': 'agent:\n  tokenExistingSecret: {name: t}\n  nonsense: x\n',
    });
  const asks = (answer: boolean) => {
    const questions: string[] = [];
    const confirm = async (question: string) => {
      questions.push(question);
      return answer;
    };
    return {questions, deps: {hasTerminal: true, prompter: {confirm}}};
  };

  test('shows the changes, asks once, writes them and reports the remaining findings', async () => {
    const files = disk();
    const {questions, deps} = asks(true);
    const {stdout, stderr, exit} = await runCommand(Validate, line, {files, ...deps});
    expect(stderr).toContain('--- two.yaml\n+++ two.yaml\n@@ -1,4 +1,4 @@\n');
    expect(stderr).toContain('-  tokenExistingSecrt: {name: t} # note\n');
    expect(stderr).toContain('+  tokenExistingSecret: {name: t} # note\n');
    expect(questions).toEqual(['Write these 2 changes to two.yaml?']);
    expect(files.written).toEqual([{path: 'two.yaml', text: FIXED, isPrivate: false}]);
    expect(stdout).toBe('two.yaml: no problems found (agent-job 0.6.5)\ntwo.yaml: 2 fixed\n');
    expect(exit).toBe(0);
  });

  test('keeps the file and reports every finding when the answer is no', async () => {
    const files = disk();
    const {stdout, stderr, exit} = await runCommand(Validate, line, {files, ...asks(false).deps});
    expect(stderr).toMatch(/Nothing was changed\.\n$/);
    expect(stdout).toContain('UNKNOWN_KEY');
    expect(stdout).not.toContain('fixed');
    expect(files.written).toEqual([]);
    expect(exit).toBe(3);
  });

  test.each([
    [
      'without a terminal',
      [],
      {},
      'Nothing was changed. Add --yes to write these 2 changes to two.yaml.',
    ],
    [
      'with --no-input',
      ['--no-input'],
      {hasTerminal: true},
      'Nothing was changed. Add --yes to write',
    ],
    ['with --dry-run', ['--dry-run', '--yes'], {}, 'Would write these 2 changes to two.yaml.'],
  ])('only shows the changes %s', async (_, flags, deps, said) => {
    const files = disk();
    const {stderr, exit} = await runCommand(Validate, [...line, ...flags], {files, ...deps});
    expect(stderr).toContain('+  replicaCount: 2\n');
    expect(stderr).toContain(said);
    expect(files.written).toEqual([]);
    expect(exit).toBe(3);
  });

  test('writes several files without a question with --yes, and counts the changes with --json', async () => {
    const files = disk();
    const {stdout, exit} = await runCommand(
      Validate,
      ['two.yaml', 'bad.yaml', ...JOB, '--fix', '--yes', '--json'],
      {files},
    );
    expect(violations('validate', stdout)).toEqual([]);
    expect(JSON.parse(stdout)).toMatchObject({
      valid: false,
      files: [
        {file: 'two.yaml', valid: true, findings: [], fixed: 2},
        {file: 'bad.yaml', valid: false, findings: [{path: 'agent.nonsense'}], fixed: 0},
      ],
    });
    expect(files.written.map(({path}) => path)).toEqual(['two.yaml']);
    expect(exit).toBe(3);
  });

  test('counts the changes of one file with --json, and reports 0 when nothing was written', async () => {
    const {stdout} = await runCommand(Validate, [...line, '--json'], {files: disk()});
    expect(violations('validate', stdout)).toEqual([]);
    expect(JSON.parse(stdout)).toMatchObject({fixed: 0, valid: false});
  });

  test('only reports a mistake without a single right answer', async () => {
    const files = disk();
    const {stdout, stderr, exit} = await runCommand(
      Validate,
      ['bad.yaml', ...JOB, '--fix', '--yes'],
      {files},
    );
    expect(stderr).toBe('Nothing was changed: no finding can be fixed automatically.\n');
    expect(stdout).toContain('agent.nonsense');
    expect(files.written).toEqual([]);
    expect(exit).toBe(3);
  });

  test('suggests the new place of a key that belongs below another parent, and does not move it', async () => {
    const files = memoryFiles({'v.yaml': 'agent: {token: x}\nreplicaCount: 2\n'});
    const {stdout, exit} = await runCommand(Validate, ['v.yaml', ...JOB, '--fix', '--yes'], {
      files,
    });
    expect(stdout).toContain('    → agent.replicaCount');
    expect(files.written).toEqual([]);
    expect(exit).toBe(3);
  });

  test('prints nothing on standard error with --quiet and --yes', async () => {
    const {stderr} = await runCommand(Validate, [...line, '--quiet', '--yes'], {files: disk()});
    expect(stderr).toBe('');
  });

  test('changes in each layer only the values of that layer', async () => {
    const files = memoryFiles({
      'base.yaml': BASE.replace('tokenExistingSecret', 'tokenExistingSecrt'),
      'over.yaml': 'agent:\n  replicaCout: 2\n',
    });
    const {stdout, exit} = await runCommand(
      Validate,
      ['-f', 'base.yaml', '-f', 'over.yaml', ...JOB, '--fix', '--yes'],
      {files},
    );
    expect(files.written.map(({path, text}) => [path, text])).toEqual([
      ['base.yaml', BASE],
      ['over.yaml', 'agent:\n  replicaCount: 2\n'],
    ]);
    expect(stdout).toContain('base.yaml + over.yaml: 2 fixed\n');
    expect(exit).toBe(0);
  });

  test('fixes a mistake that only shows after a key is fixed', async () => {
    const files = memoryFiles({'v.yaml': 'agnt:\n  tokenExistingSecrt: {name: t}\n'});
    await runCommand(Validate, ['v.yaml', ...JOB, '--fix', '--yes'], {files});
    expect(files.written[0]?.text).toBe('agent:\n  tokenExistingSecret: {name: t}\n');
  });

  test('keeps a file that was saved by somebody else in the meantime', async () => {
    const files = disk();
    let reads = 0;
    const read = async () => Buffer.from(reads++ === 0 ? TWO : `${TWO}# more\n`);
    const {stderr, exit} = await runCommand(Validate, [...line, '--yes'], {
      files: {...files, read},
    });
    expect(stderr).toContain('two.yaml was changed by another process. Nothing was written.');
    expect(files.written).toEqual([]);
    expect(exit).toBe(1);
  });

  test('names a file that cannot be written, and the files already written', async () => {
    const files = memoryFiles({'a.yaml': TWO, 'b.yaml': TWO});
    const write = async (path: string) => {
      if (path === 'b.yaml')
        throw new ExpectedError('Cannot write b.yaml: permission denied.', {
          code: 'UNWRITABLE_FILE',
        });
    };
    const {stderr, exit} = await runCommand(
      Validate,
      ['a.yaml', 'b.yaml', ...JOB, '--fix', '--yes'],
      {files: {...files, write}},
    );
    expect(stderr).toContain('Cannot write b.yaml: permission denied. Already written: a.yaml.');
    expect(exit).toBe(1);
  });
});

test('hides the token in the line of a finding', async () => {
  const token = `eyJ${'a'.repeat(30)}.eyJ${'b'.repeat(30)}.c`;
  const {stdout} = await runCommand(Validate, ['t.yaml', ...JOB], {
    files: memoryFiles({'t.yaml': `agent:\n  token: ${token}\n  tokenExistingSecret: {name: t}\n`}),
  });
  expect(stdout).toContain('\n      token: [hidden]\n');
  expect(stdout).not.toContain(token);
});

test.each<[string, string]>([
  ['a list', 'agent:\n  token: [hunter2]\n'],
  ['a mapping', 'agent:\n  token: {a: hunter2}\n'],
  ['a number', 'extraEnv:\n  DB_PASSWORD: 987654321\n'],
  ['an octal number', 'extraEnv:\n  DB_PASSWORD: 0987654321\n  API_TOKEN: 0123456\n'],
  ['a duplicate key', 'agent:\n  token: hunter2\n  token: hunter2\n'],
  ['a second colon', 'agent:\n  token: hunter2: b\n'],
  ['an alias', 'agent:\n  token: *hunter2\n'],
  ['a tag', 'agent:\n  token: !!int hunter2\n'],
  ['an unknown tag', 'agent:\n  token: !hunter2!a b\n'],
  ['the head of a block', 'agent:\n  token: |hunter2\n    a\n'],
  ['a missing colon', 'agent:\n  token hunter2\n'],
  ['a missing blank', 'agent:\n  token:hunter2\n'],
  ['a line that is not indented', 'agent:\n  password: |\n  hunter2\n  hunter2\n'],
  ['an unknown key', 'AWS_SECRET_ACCESS_KEY: [hunter2]\n'],
  ['a mapping with dots in its key', 'podAnnotations: {example.com/token: [hunter2]}\n'],
  [
    'a variable of Kubernetes',
    'agent:\n  controller:\n    extraEnv:\n    - name: DB_PASSWORD\n      value: [hunter2]\n',
  ],
  ['variables as texts', 'agent: {extraEnv: [DB_PASSWORD=hunter2]}\n'],
  ['JSON', '{"agent": {"token": ["hunter2"]}}\n'],
])('hides a secret in every output format: %s', async (_, text) => {
  for (const format of ['text', 'json', 'sarif', 'junit']) {
    const {stdout, stderr, exit} = await runCommand(
      Validate,
      ['t.yaml', ...JOB, '--format', format],
      {
        files: memoryFiles({'t.yaml': text}),
      },
    );
    expect(stdout + stderr).not.toMatch(/hunter2|0?123456|9[.]?87654321|42798/);
    expect(exit).toBe(3);
  }
});

test('hides secrets in the changes of --fix', async () => {
  const text = 'extraEnv:\n  DB_PASSWORD: 123456789\n';
  const {stderr} = await runCommand(
    Validate,
    ['t.yaml', '--chart', 'agent-local', '--fix', '--dry-run'],
    {
      files: memoryFiles({'t.yaml': text}),
    },
  );
  expect(stderr).toContain('-  DB_PASSWORD: [hidden]\n+  DB_PASSWORD: [hidden]\n');
});

const MISTAKES = isExhaustive ? 10_000 : 2_000;

test('checks thousands of mistakes in linear time', async () => {
  const text = `agent: {token: abc}\n${Array.from({length: MISTAKES}, (_, index) => `unknown-${index}: 1\n`).join('')}`;
  const {stdout} = await runCommand(Validate, ['t.yaml', ...JOB], {
    files: memoryFiles({'t.yaml': text}),
  });
  expect(stdout).toContain(`t.yaml: ${MISTAKES} errors, 0 warnings`);
});

test('reports broken YAML before it looks for the chart, and skips objects without a release', async () => {
  const found = memoryFiles({
    'broken.yaml': 'agent:\n\turl: x\n',
    'secret.yaml': 'apiVersion: v1\nkind: Secret\n',
    'empty.yaml': '\n',
  });
  const codes = async (file: string): Promise<unknown> => {
    const {stdout, exit} = await runCommand(Validate, [file, '--json'], {files: found});
    expect(violations('validate', stdout)).toEqual([]);
    const {findings, ...result} = JSON.parse(stdout) as {findings: {code: string}[]};
    return {...result, exit, codes: findings.map(({code}) => code)};
  };
  expect(await codes('broken.yaml')).toEqual({
    schemaVersion: 1,
    valid: false,
    exit: 3,
    codes: ['INVALID_YAML'],
  });
  expect(await codes('secret.yaml')).toEqual({
    schemaVersion: 1,
    valid: true,
    exit: 0,
    codes: [],
  });
  const {stderr, exit} = await runCommand(Validate, ['empty.yaml'], {files: found});
  expect(stderr).toContain('empty.yaml is empty, so the chart is unknown.');
  expect(exit).toBe(2);
});

describe('credentials in clear text', () => {
  const GITHUB = `ghp_${'a1B2'.repeat(9)}`;
  const found = async (name: string, text: string) => {
    const {stdout, exit} = await runCommand(Validate, [name, '--json', '--chart', 'agent-local'], {
      files: memoryFiles({[name]: text}),
    });
    expect(stdout).not.toContain(GITHUB);
    const {findings} = JSON.parse(stdout) as {
      findings: {code: string; line: number; column: number; path: string; severity: string}[];
    };
    const all = findings.filter(({code}) => code === 'CLEAR_TEXT_CREDENTIAL');
    return {exit, found: all.map(({line, column, path}) => [line, column, path])};
  };

  test('are reported with their position: in values, lists, keys and comments', async () => {
    const text = `# ${GITHUB}
agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}
podAnnotations:
  "${GITHUB}": x
extraEnv:
  NAME: x # ${GITHUB}
  GIT: 'https://x-access-token:${GITHUB}@github.com/'
  KEY: |
    -----BEGIN PRIVATE KEY-----
    MC4CAQAwBQYDK2VwBCIEIA
    -----END PRIVATE KEY-----
`;
    expect(await found('v.yaml', text)).toEqual({
      exit: 0,
      found: [
        [1, 3, ''],
        [4, 3, `podAnnotations.[hidden]`],
        [6, 13, ''],
        [7, 8, 'extraEnv.GIT'],
        [8, 8, 'extraEnv.KEY'],
      ],
    });
  });

  test('are reported in and around the values of a release', async () => {
    const text = `apiVersion: argoproj.io/v1alpha1
kind: Application
spec:
  source:
    repoURL: https://scalr.github.io/agent-helm/
    chart: agent-local
    targetRevision: 0.6.5
    helm:
      parameters: [{name: extraEnv.GITHUB, value: ${GITHUB}}]
      valuesObject:
        agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}
        extraEnv: {GITHUB: ${GITHUB}}
`;
    expect((await found('app.yaml', text)).found).toEqual([
      [9, 51, 'spec.source.helm.parameters[0].value'],
      [12, 28, 'spec.source.helm.valuesObject.extraEnv.GITHUB'],
    ]);
  });

  test('are not seen in certificates, references and placeholders', async () => {
    const text = `agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}
extraEnv: {A: "http://u:$(PASSWORD)@proxy:1", B: "scalr/agent:1@sha256:${'0'.repeat(64)}", C: /opt/hooks/pre-plan-of-all-runs.sh}
`;
    expect((await found('v.yaml', text)).found).toEqual([]);
  });
});

test.each([
  [
    'SOPS',
    'extraEnv: {A: "ENC[AES256_GCM,data:x,type:str]"}\nsops: {mac: "ENC[AES256_GCM,data:x]"}\n',
  ],
  ['SOPS', '{"agent": {}, "sops": {"lastmodified": "x", "mac": "y"}}'],
  ['Ansible Vault', '$ANSIBLE_VAULT;1.1;AES256\n3132\n'],
  ['age', '-----BEGIN AGE ENCRYPTED FILE-----\nAAAA\n'],
])('says that a file of %s is encrypted, and how to check it', async (name, text) => {
  for (const more of [[], JOB]) {
    const {stdout, exit} = await runCommand(Validate, ['s.yaml', ...more], {
      files: memoryFiles({'s.yaml': text}),
    });
    expect(stdout).toContain(`s.yaml not checked: The file is encrypted with ${name}.`);
    expect(stdout).toContain('s.yaml | scalr-agent validate -');
    expect(stdout).not.toContain('UNKNOWN_KEY');
    expect(exit).toBe(2);
  }
});
