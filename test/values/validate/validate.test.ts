import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {ChartName} from '../../../src/charts/releases/chart-name.ts';
import {chartSchema, defaultsOf, leavesOf} from '../../../src/charts/releases/schema.ts';
import {at, setAt, type Tree} from '../../../src/ground/tree.ts';
import {toYaml} from '../../../src/values/document.ts';
import {knownBugs, validate} from '../../../src/values/validate/validate.ts';
import {DOCUMENTS} from '../../golden/cases.ts';
import {numRuns} from '../../support/sample.ts';
import {TARGETS} from '../../support/versions.ts';

const JOB = {chart: 'agent-job', version: '0.6.5'} as const;
const LOCAL = {chart: 'agent-local', version: '0.6.5'} as const;
const K8S = {chart: 'agent-k8s', version: '0.6.5'} as const;
type Target = {chart: ChartName; version: string};

/** agent-k8s and the flat agent-job name the Secret itself, the others in a map. */
const isFlat = ({chart, version}: Target): boolean =>
  chart === 'agent-k8s' || (chart === 'agent-job' && /^0\.5\.(59|6[0-3])$/.test(version));

const tokenOf = (target: Target): string =>
  `agent: {tokenExistingSecret: ${isFlat(target) ? 't' : '{name: t}'}}\n`;

/** What is said about these lines, with a token that is fine. */
const findings = (lines: string, target: Target) => validate(`${tokenOf(target)}${lines}`, target);

describe('a handwritten file', () => {
  test.each<[string, Target, string, string | undefined]>([
    ['a misspelled key', JOB, 'task: {runer: {}}', 'task.runner'],
    [
      "another chart's name, its polarity turned",
      JOB,
      'restrictMetadataService: false',
      'task.allowMetadataService: true',
    ],
    ["another chart's name", JOB, 'workerNodeSelector: {pool: runs}', 'task.nodeSelector'],
    ["another chart's name for a run's memory", LOCAL, 'agent2: 1', 'agent'],
    [
      'a key that a rewrite of the chart removed',
      JOB,
      'controllerTolerations: [{key: a, operator: Exists}]',
      'agent.tolerations',
    ],
    ['a key that moved', JOB, 'persistence: {enabled: true}', 'persistence.cache.enabled: true'],
    [
      'a key of a later version',
      {chart: 'agent-job', version: '0.6.3'},
      'task: {job: {backoffLimit: 2}}',
      undefined,
    ],
    [
      'a key that was missing in two releases',
      {chart: 'agent-local', version: '0.5.75'},
      'persistence: {cache: {enabled: true}}',
      'persistence.enabled: true',
    ],
    [
      'a documented section without a release',
      JOB,
      'controller: {resources: {requests: {cpu: 100m}}}',
      'agent.resources',
    ],
    [
      'a documented key in a released section',
      JOB,
      'controller: {nodeSelector: {pool: a}}',
      'agent.nodeSelector',
    ],
    [
      'a key that another section replaces',
      JOB,
      'task: {worker: {image: {tag: x}}}',
      'agent.image',
    ],
    ['a key of a document that was never released', JOB, 'agent3: {}', 'agent'],
  ])('reports %s with a suggestion', (_, target, lines, suggestion) => {
    const [first, ...more] = findings(lines, target);
    expect(first).toMatchObject({
      verdict: 'error',
      code: 'UNKNOWN_KEY',
      subject: {line: 2},
    });
    expect(first?.remedies[0]?.text).toBe(suggestion);
    expect(more).toEqual([]);
  });

  test.each<[string, Target, string, string, string | undefined]>([
    [
      'a tag that YAML reads as a number',
      JOB,
      'task: {runner: {image: {tag: 1.10}}}',
      'UNQUOTED_TEXT',
      '"1.10"',
    ],
    ['a bare yes', JOB, 'otel: {endpoint: yes}', 'UNQUOTED_TEXT', '"yes"'],
    ['a switch in quotes', LOCAL, 'allowMetadataService: "false"', 'STRING_NOT_BOOLEAN', 'false'],
    ['a list for a number', LOCAL, 'replicaCount: [1]', 'WRONG_TYPE', undefined],
    [
      'a value that the chart does not know',
      K8S,
      'agent: {log_format: yaml, tokenExistingSecret: t}',
      'WRONG_VALUE',
      undefined,
    ],
    [
      'a number below the minimum',
      LOCAL,
      'terminationGracePeriodSeconds: 5',
      'WRONG_VALUE',
      undefined,
    ],
    [
      'a size that the templates cannot read',
      JOB,
      'persistence: {}\nagent: {tokenExistingSecret: {name: t}, binaryCache: {sizeLimit: 1.5Gi}}',
      'WRONG_VALUE',
      undefined,
    ],
    [
      'null where the templates rely on a default',
      LOCAL,
      'strategy: null',
      'NULL_DELETES_DEFAULT',
      'Remove the key to keep the chart default',
    ],
    [
      'a placeholder of a template',
      LOCAL,
      'nodeSelector: {pool: "<pool>"}',
      'PLACEHOLDER',
      'Replace it with the real value',
    ],
    [
      'a placeholder in an annotation',
      LOCAL,
      'podAnnotations: {team: "<team>"}',
      'PLACEHOLDER',
      'Replace it with the real value',
    ],
    [
      'a variable that the chart sets',
      LOCAL,
      'extraEnv: {SCALR_AGENT_NAME: x}',
      'REPEATED_VARIABLE',
      undefined,
    ],
    [
      'a grace period the chart refuses',
      LOCAL,
      'terminationGracePeriodSeconds: 20',
      'GRACE_PERIOD_TOO_SHORT',
      'Use terminationGracePeriodSeconds 30 or more',
    ],
    [
      'a PVC that runs cannot share',
      JOB,
      'persistence: {cache: {enabled: true, persistentVolumeClaim: {accessMode: ReadWriteOnce}}}',
      'PVC_NOT_SHARED',
      undefined,
    ],
    [
      'a request above its limit',
      LOCAL,
      'resources: {requests: {memory: 4Gi}}',
      'REQUEST_ABOVE_LIMIT',
      undefined,
    ],
    [
      'an access mode that the PVC of runs cannot have',
      JOB,
      'persistence: {cache: {enabled: true, persistentVolumeClaim: {accessMode: ReadWriteOnce}}}',
      'PVC_NOT_SHARED',
      'Use persistence.cache.persistentVolumeClaim.accessMode: "ReadWriteMany" or persistence.cache.enabled: false',
    ],
    [
      'two bounds of a disruption budget',
      JOB,
      'task: {podDisruptionBudget: {minAvailable: 1}}',
      'TWO_DISRUPTION_BOUNDS',
      undefined,
    ],
  ])('reports %s', (_, target, lines, code, suggestion) => {
    const text = lines.includes('tokenExistingSecret') ? lines : `${tokenOf(target)}${lines}`;
    const found = validate(text, target);
    expect(found.map((each) => each.code)).toContain(code);
    if (suggestion !== undefined)
      expect(found.find((each) => each.code === code)?.remedies[0]?.text).toBe(suggestion);
  });

  test('suggests the key of this chart for the Secret name of another chart', () => {
    expect(validate('agent: {tokenExistingSecret: scalr}', JOB)).toContainEqual(
      expect.objectContaining({
        code: 'WRONG_TYPE',
        remedies: [expect.objectContaining({text: 'agent.tokenExistingSecret.name: "scalr"'})],
      }),
    );
  });

  test.each([
    ['', 'NO_TOKEN'],
    ['agent: {token: abc, tokenExistingSecret: {name: t}}', 'KEY_OVERRIDDEN'],
  ])('%j: reports the problem with the token', (text, code) => {
    expect(validate(text, JOB).map((each) => each.code)).toContain(code);
  });
});

describe('a key without effect', () => {
  test.each<[Target, string, string]>([
    [
      JOB,
      'global: {proxy: {httpsProxy: "http://p:1"}}',
      'global: {proxy: {enabled: true, httpsProxy: "http://p:1"}}',
    ],
    [JOB, 'otel: {endpoint: "otel:4317"}', 'otel: {enabled: true, endpoint: "otel:4317"}'],
    [
      JOB,
      'persistence: {cache: {hostPath: {path: /mnt/x/y}}}',
      'persistence: {cache: {enabled: true, hostPath: {path: /mnt/x/y}}}',
    ],
    [
      JOB,
      'persistence: {data: {persistentVolumeClaim: {subPath: x}}}',
      'persistence: {cache: {enabled: true, persistentVolumeClaim: {subPath: x}}}',
    ],
    [
      LOCAL,
      'serviceAccount: {annotations: {a: b}}',
      'serviceAccount: {create: true, annotations: {a: b}}',
    ],
    [
      LOCAL,
      'persistence: {persistentVolumeClaim: {storage: 9Gi}}',
      'persistence: {cache: {enabled: true, persistentVolumeClaim: {storage: 9Gi}}}',
    ],
    [
      {chart: 'agent-local', version: '0.5.66'},
      'allowMetadataService: false',
      'allowMetadataService: true',
    ],
    [
      {chart: 'agent-job', version: '0.5.63'},
      'workerNodeSelector: {a: b}',
      'controllerNodeSelector: {a: b}',
    ],
    [K8S, 'serviceAccount: {labels: {a: b}}', 'serviceAccount: {annotations: {a: b}}'],
  ])('%o: reports %s, but not %s', (target, wrong, right) => {
    const said = (lines: string) =>
      validate(`${tokenOf(target)}${lines}`, target).map(({code}) => code);
    expect(said(wrong)).toContain('IGNORED_KEY');
    expect(said(right)).not.toContain('IGNORED_KEY');
  });
});

test.each<[Target, string]>([
  [LOCAL, 'resources: {limits: {cpu: null}}\nsecurityContext: {runAsUser: null}'],
  [LOCAL, 'podSecurityContext: {fsGroup: 1000660000}'],
  [JOB, 'task: {job: {ttlSecondsAfterFinished: "2592000"}}'],
  [LOCAL, 'extraEnv: {PORT: 8080, SET: "yes", EMPTY: ""}'],
  [LOCAL, 'affinity: {nodeAffinity: {}}\ntolerations: [{operator: Exists}]'],
  [LOCAL, 'nodeSelector: &pool {pool: runs}\npodAnnotations: *pool'],
])('%o: accepts %s', (target, lines) => {
  expect(validate(`${tokenOf(target)}${lines}`, target)).toEqual([]);
});

describe('YAML that Helm rejects', () => {
  test.each([
    ['a: 1\na: 2', 'DUPLICATE_KEY', 2, 1],
    ['a:\n\tb: 1', 'INVALID_YAML', 2, 1],
    ['a: [1', 'INVALID_YAML', 1, 6],
    ['- a', 'NO_MAPPING', 1, 1],
    ['agent: {}\n---\nagent: {}', 'SEVERAL_DOCUMENTS', 2, 1],
    ['a: *x', 'INVALID_YAML', 1, 4],
  ])('%j is reported as %s with its position', (text, code, line, column) => {
    expect(validate(text, JOB)).toContainEqual(
      expect.objectContaining({
        verdict: 'error',
        code,
        subject: expect.objectContaining({line, column}),
      }),
    );
  });

  test('names an unresolved conflict of Git', () => {
    const text = 'agent:\n<<<<<<< HEAD\n  url: a\n=======\n  url: b\n>>>>>>> main\n';
    expect(validate(text, JOB)).toContainEqual(
      expect.objectContaining({
        code: 'INVALID_YAML',
        subject: expect.objectContaining({line: 2}),
        message: expect.stringContaining('conflict markers of Git'),
      }),
    );
  });

  test('accepts a byte order mark and Windows line ends', () => {
    expect(validate(`\uFEFF${tokenOf(JOB).replace('\n', '\r\n')}\r\n`, JOB)).toEqual([]);
  });
});

describe('a legitimate file has no finding', () => {
  test.each(TARGETS)('with the defaults of $chart $version and a token', (target) => {
    const values = defaultsOf(chartSchema(target.chart), target.version);
    setAt(
      values,
      at(isFlat(target) ? 'agent.tokenExistingSecret' : 'agent.tokenExistingSecret.name'),
      'token',
    );
    expect(validate(toYaml(values), target).filter(({verdict}) => verdict === 'error')).toEqual([]);
  });

  test('with a token', () => {
    expect(validate('agent: {token: abc}', JOB)).toEqual([]);
  });

  test.each(
    DOCUMENTS.filter(({name}) => !name.includes('newer')),
  )('that `values` wrote for $name', ({text, target}) => {
    expect(validate(text, target).filter(({verdict}) => verdict === 'error')).toEqual([]);
  });

  const real = process.env['SCALR_CHARTS'];
  test.skipIf(real === undefined).each(TARGETS)(
    'that $chart $version ships as values.yaml, apart from the missing token',
    ({chart, version}) => {
      const text = readFileSync(join(real as string, chart, version, 'values.yaml'), 'utf8');
      const errors = validate(text, {chart, version}).filter(({verdict}) => verdict === 'error');
      expect(errors.map(({code}) => code)).toEqual(['NO_TOKEN']);
    },
  );
});

test('does not crash for any input', () => {
  const known = TARGETS.flatMap(({chart, version}) =>
    leavesOf(chartSchema(chart), version).flatMap(({path}) => path),
  );
  const key = fc.oneof(fc.constantFrom(...new Set(known)), fc.string());
  const {tree} = fc.letrec((tie) => ({
    tree: fc.oneof(
      {maxDepth: 4},
      fc.anything({maxDepth: 0}),
      fc.array(tie('tree'), {maxLength: 3}),
      fc.dictionary(key, tie('tree'), {maxKeys: 4}),
    ),
  }));
  fc.assert(
    fc.property(
      fc.dictionary(key, tree, {maxKeys: 5}),
      fc.constantFrom(...TARGETS),
      (values, target) => {
        const text = JSON.stringify(values as Record<string, Tree>);
        for (const {message, code} of validate(text, target))
          expect(`${code} ${message}`).toMatch(/^[A-Z0-9_]+ \S/);
      },
    ),
    {numRuns: numRuns(100)},
  );
  fc.assert(
    fc.property(
      fc.string({unit: 'grapheme', maxLength: 200}),
      fc.constantFrom(...TARGETS),
      (text, target) => {
        expect(Array.isArray(validate(text, target))).toBe(true);
      },
    ),
    {numRuns: numRuns(100)},
  );
}, 1_800_000);

describe('keys that are named like JavaScript methods', () => {
  const NAMES = [
    'toString',
    'valueOf',
    'constructor',
    '__proto__',
    'hasOwnProperty',
    'toJSON',
    'length',
  ];
  const PLACES: readonly [Target, string][] = [
    [K8S, 'agent: {token: x, container_task_mem_request: HERE}'],
    [K8S, 'agent: {token: x, container_task_mem_limit: [HERE]}'],
    [K8S, 'agent: {token: x, grace_shutdown_timeout: HERE}'],
    [{chart: 'agent-k8s', version: '0.5.63'}, 'agent: {token: x, grace_shutdown_timeout: HERE}'],
    [LOCAL, 'terminationGracePeriodSeconds: HERE'],
    [LOCAL, 'strategy: {rollingUpdate: {maxSurge: HERE}}'],
    [JOB, 'agent: {token: x, providerCache: {enabled: true, sizeLimit: HERE}}'],
    [JOB, 'agent: {token: x, controller: {extraEnv: [{name: HERE}, {name: HERE}]}}'],
    [JOB, 'HERE'],
  ];

  test.each(
    NAMES.flatMap((name) =>
      PLACES.map(
        ([target, text]) => [text.replaceAll('HERE', `{${name}: {a: x}}`), target] as const,
      ),
    ),
  )('%s is reported without a crash', (text, target) => {
    expect(validate(text, target).map(({verdict}) => verdict)).toContain('error');
    expect(knownBugs(text, target)).toEqual(expect.any(Array));
  });

  test('are accepted as names of labels and variables', () => {
    expect(findings('podAnnotations: {toString: x}\nextraEnv: {valueOf: z}', LOCAL)).toEqual([]);
  });
});

describe('a variable that is not a string', () => {
  const IN_DIGITS = /^-?(0|[1-9]\d*)(\.\d+)?$/;

  test.each<[string, string, string]>([
    ['1e3', '1000', 'error UNQUOTED_TEXT'],
    ['0x1f', '31', 'error UNQUOTED_TEXT'],
    ['0b11', '3', 'error UNQUOTED_TEXT'],
    ['0o17', '15', 'error UNQUOTED_TEXT'],
    ['00', '0', 'error UNQUOTED_TEXT'],
    ['08', '8', 'error UNQUOTED_TEXT'],
    ['1.10', '1.1', 'error UNQUOTED_TEXT'],
    ['1_000', '1000', 'error UNQUOTED_TEXT'],
    ['.5', '0.5', 'error UNQUOTED_TEXT'],
    ['+1', '1', 'error UNQUOTED_TEXT'],
    ['-0', '0', 'error UNQUOTED_TEXT'],
    ['-0.0', '-0', 'error UNQUOTED_TEXT'],
    ['0.00001', '1e-05', 'error UNQUOTED_TEXT'],
    ['1_000_000', '1e+06', 'error LARGE_NUMBER'],
    ['12345678901234567890', '1.2345678901234567e+19', 'error LARGE_NUMBER'],
    ['yes', 'true', 'warning UNQUOTED_TEXT'],
    ['Off', 'false', 'warning UNQUOTED_TEXT'],
  ])('is reported when %s is rendered as %s', (written, printed, said) => {
    const [first, ...more] = findings(`extraEnv: {A: ${written}}`, LOCAL);
    expect(`${first?.verdict} ${first?.code}`).toBe(said);
    expect(first?.message).toBe(`Helm renders ${written} as ${printed}.`);
    expect(first?.remedies[0]?.text).toBe(
      IN_DIGITS.test(written) ? `"${written}"` : `"${written}" or "${printed}"`,
    );
    expect(first?.remedies[0]?.edit?.value).toBe(IN_DIGITS.test(written) ? written : undefined);
    expect(more).toEqual([]);
  });

  test('is reported once for 010, as an octal number', () => {
    expect(findings('extraEnv: {A: 010}', LOCAL)).toMatchObject([
      {code: 'OCTAL_NUMBER', remedies: [{text: '"010" or 10'}]},
    ]);
  });

  test.each([
    '1',
    '0',
    '-5',
    '1.5',
    '0.0001',
    '999999',
    'true',
    'false',
    '2024-01-01',
    '190:20:30',
    '"1e3"',
    'v1.10',
  ])('is accepted when %s is rendered unchanged', (written) => {
    expect(findings(`extraEnv: {A: ${written}}`, LOCAL)).toEqual([]);
  });
});
