import {expect, test} from 'vitest';
import {validate} from '../../../src/values/validate/validate.ts';

const LOCAL = {chart: 'agent-local', version: '0.6.5'} as const;
const found = (text: string): string[] =>
  validate(`${text}\nagent: {token: abc}\n`, LOCAL).map(
    ({verdict, code, subject, remedies}) =>
      `${verdict} ${code} ${subject.path} → ${remedies[0]?.text ?? ''}`,
  );

test.each([
  ['limits', 'cpu: 2 cores', 'error WRONG_VALUE resources.limits.cpu → 2'],
  ['limits', 'cpu: 1,5', 'error WRONG_VALUE resources.limits.cpu → 1.5'],
  ['requests', 'memory: 1.5g', 'error WRONG_VALUE resources.requests.memory → 1.5Gi'],
  ['requests', 'cpu: 500M', 'error UNLIKELY_AMOUNT resources.requests.cpu → 500m'],
  ['limits', 'cpu: 2G', 'error UNLIKELY_AMOUNT resources.limits.cpu → 2'],
  ['limits', 'cpu: 500', 'warning UNLIKELY_AMOUNT resources.limits.cpu → 500m'],
  ['requests', 'memory: 512m', 'warning UNLIKELY_AMOUNT resources.requests.memory → 512Mi'],
])('an amount in resources.%s means something else: %s', (kind, amount, expected) => {
  expect(found(`resources:\n  ${kind}:\n    ${amount}`)).toContain(expected);
});

test.each([
  ['localhost;127.0.0.1;.corp', 'localhost,127.0.0.1,.corp'],
  ['127.0.0.0/8 10.0.0.0/8 .corp', '127.0.0.0/8,10.0.0.0/8,.corp'],
  ['localhost|*.corp', 'localhost,.corp'],
])('NO_PROXY %s: entries are separated with commas', (list, instead) => {
  expect(found(`extraEnv: {NO_PROXY: "${list}"}`)).toEqual([
    `error WRONG_OPTION extraEnv.NO_PROXY → Separate entries with commas: ${instead}`,
  ]);
});

test.each([
  ['*.corp.example,.svc', '.corp.example,.svc'],
  ['.cluster.local.,.cluster.local', '.cluster.local'],
])('NO_PROXY %s: the agent ignores entries', (list, instead) => {
  expect(found(`extraEnv: {NO_PROXY: "${list}"}`)).toEqual([
    `warning UNLIKELY_AMOUNT extraEnv.NO_PROXY → "${instead}"`,
  ]);
});

test('NO_PROXY has no ranges of addresses', () => {
  expect(found('extraEnv: {NO_PROXY: "10.0.0.1-10.0.0.254"}')[0]).toContain('WRONG_OPTION');
});

test('keys that only hold anchors are no mistake', () => {
  expect(
    found(
      'x-limits: &limits {cpu: "2", memory: 2Gi}\n.labels: &l {a: b}\nresources: {limits: *limits}\npodAnnotations: *l',
    ),
  ).toEqual([]);
});

test('the heading of helm is named', () => {
  expect(found('USER-SUPPLIED VALUES:')).toEqual([
    'warning UNKNOWN_KEY USER-SUPPLIED VALUES → Remove it, or print the values with --output yaml',
  ]);
});

test.each([
  ['UTF-16', Buffer.from('\uFEFFagent:\n', 'utf16le').toString('utf8'), 'UTF-16'],
  ['a non-breaking space', 'agent:\n\u00a0\u00a0url: x\n', 'non-breaking or invisible space'],
  [
    'a non-breaking space behind a colon',
    'replicaCount:\u00a02\n',
    'non-breaking or invisible space',
  ],
])('%s is named', (_, text, message) => {
  expect(validate(text, LOCAL)[0]?.message).toContain(message);
});

test('typographic quotes are reported once, with the text in ASCII quotes', () => {
  expect(
    validate('agent: {token: abc, url: “https://acme.scalr.io”}\n', LOCAL).map(
      ({code, remedies}) => [code, remedies[0]?.text],
    ),
  ).toEqual([['TYPOGRAPHIC_QUOTES', '"https://acme.scalr.io"']]);
});

test('no suggestion repeats the key', () => {
  for (const text of ['replicaCount: two', 'extraEnv: [{name: A, value: b}]'])
    expect(found(text)[0]).toMatch(/ → $/);
});
