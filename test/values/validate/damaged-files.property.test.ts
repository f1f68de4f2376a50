import fc from 'fast-check';
import {expect, test, vi} from 'vitest';
import {ChartVersion} from '../../../src/charts/chart-version.ts';
import {chartSchema, leavesOf} from '../../../src/charts/releases/schema.ts';
import {newestOf} from '../../../src/charts/releases/target.ts';
import Validate from '../../../src/commands/validate.ts';
import ValuesCommand from '../../../src/commands/values.ts';
import {getAt, isMap, setAt, type Tree, type Values} from '../../../src/ground/tree.ts';
import * as checks from '../../../src/values/rules/check-rules.ts';
import {findingsOf} from '../../../src/values/validate/check-files.ts';
import {knownBugs, validate} from '../../../src/values/validate/validate.ts';
import {rightValues, withAt} from '../../cluster/helm/spoilt-values.ts';
import {DOCUMENTS} from '../../golden/cases.ts';
import {memoryFiles} from '../../support/memory-files.ts';
import {runCommand} from '../../support/run-command.ts';
import {numRuns} from '../../support/sample.ts';
import {CHART_NAMES} from '../../support/versions.ts';

const RUNS = numRuns(340);
const TARGETS = CHART_NAMES.map((chart) => new ChartVersion({chart, version: newestOf(chart)}));

/** What nobody expects below a key: names of JavaScript's own, deep maps, numbers without end. */
const NAMES = [
  'toString',
  'valueOf',
  'constructor',
  '__proto__',
  'hasOwnProperty',
  'isPrototypeOf',
  'toJSON',
  'length',
  'then',
  'name',
];
const odd: fc.Arbitrary<Tree> = fc.oneof(
  fc.constantFrom<Tree>(
    null,
    '',
    true,
    -1,
    0,
    1e21,
    0.1,
    [],
    {},
    [null],
    [[]],
    '2Gi',
    '<a>',
    'Infinity',
    '-1e999',
    'NaN',
    ...NAMES,
  ),
  fc.constantFrom(...NAMES).map((name) => Object.fromEntries([[name, 'x']]) as Tree),
  fc.constantFrom(...NAMES).map((name) => JSON.parse(`[{"${name}": {"${name}": null}}]`) as Tree),
);

test('does not crash for any value of any key of any chart', () => {
  const leaves = TARGETS.flatMap((target) =>
    leavesOf(chartSchema(target.chart), target.version).map(({path}) => ({target, path})),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...leaves),
      fc.nat(4),
      odd,
      fc.constantFrom('', ...NAMES),
      ({target, path}, cut, value, below) => {
        const values: Values = {};
        const place = path.slice(0, Math.max(1, path.length - cut));
        setAt(values, below === '' ? place : [...place, below], value);
        const text = JSON.stringify(values);
        expect(Array.isArray(validate(text, target))).toBe(true);
        expect(Array.isArray(knownBugs(text, target))).toBe(true);
      },
    ),
    {numRuns: RUNS},
  );
});

/** Everything that a version knows, Kubernetes types filled in. */
const RICH = TARGETS.flatMap((target) =>
  (['own', 'existing'] as const).map((kind) => ({target, values: rightValues(target, kind)})),
);

/** A place in a tree, chosen by one number for each step down. */
function placeIn(tree: Tree, choices: readonly number[]): (string | number)[] {
  const [choice, ...rest] = choices;
  const keys = Array.isArray(tree) ? [...tree.keys()] : isMap(tree) ? Object.keys(tree) : [];
  const key = choice === undefined ? undefined : keys[choice % keys.length];
  return key === undefined ? [] : [key, ...placeIn((tree as Values)[key] as Tree, rest)];
}

/** The values with another one at a place, cut to the two keys above it: large files take long. */
function damaged(values: Values, place: readonly (string | number)[], value: Tree): Values {
  const [first, second] = place.map(String);
  const whole = withAt(values, place, value);
  const below = getAt(whole, [first as string]) ?? null;
  const kept = second !== undefined && isMap(below) ? {[second]: below[second] ?? null} : below;
  return {[first as string]: kept};
}

test('does not crash for any value of any field below a Kubernetes type', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...RICH),
      fc.array(fc.nat(99), {minLength: 1, maxLength: 9}),
      odd,
      fc.constantFrom('', '', ...NAMES),
      ({target, values}, choices, value, below) => {
        const odd = below === '' ? value : (Object.fromEntries([[below, value]]) as Tree);
        const text = JSON.stringify(damaged(values, placeIn(values, choices), odd));
        expect(Array.isArray(validate(text, target))).toBe(true);
      },
    ),
    {numRuns: RUNS},
  );
});

const FILES = DOCUMENTS.filter(({name}) => /0\.6\.5/.test(name));

test('does not crash for a damaged file', () => {
  const damage = fc.tuple(
    fc.nat(),
    fc.nat(40),
    fc.constantFrom(
      '',
      ' ',
      '\t',
      '\n',
      ':',
      '- ',
      '{',
      '}',
      '[',
      '"',
      '&a ',
      '*a',
      '<<: ',
      '?',
      '!!int ',
    ),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...FILES),
      fc.array(damage, {minLength: 1, maxLength: 4}),
      ({target, text}, damages) => {
        const damaged = damages.reduce((current, [at, length, put]) => {
          const from = at % (current.length + 1);
          return current.slice(0, from) + put + current.slice(from + length);
        }, text);
        expect(Array.isArray(validate(damaged, target))).toBe(true);
      },
    ),
    {numRuns: RUNS},
  );
});

test('reports a bug of a check as a finding of its file', () => {
  const spy = vi.spyOn(checks, 'checkVariables').mockImplementationOnce(() => {
    throw new TypeError('no such thing');
  });
  const [target] = TARGETS;
  const group = {files: [{file: 'a.yaml', text: 'agent: {token: a}'}], areLayers: false};
  expect(findingsOf(group, target as (typeof TARGETS)[number])).toMatchObject([
    {code: 'CHECK_FAILED', verdict: 'error'},
  ]);
  spy.mockRestore();
});

test('checks the other files when one file is broken', async () => {
  const files = memoryFiles({
    'methods.yaml':
      'agent: {container_task_mem_request: {toString: x, valueOf: y}, token: {constructor: {__proto__: z}}}\n',
    'kind.yaml': 'apiVersion: v1\nkind: constructor\n',
    'broken.yaml': 'agent: {token: [\n',
    'good.yaml': 'agent: {token: abc}\n',
  });
  const names = ['methods.yaml', 'kind.yaml', 'broken.yaml', 'good.yaml'];
  const {stdout, exit} = await runCommand(Validate, [...names, '--chart', 'agent-k8s'], {files});
  expect(exit).toBe(3);
  expect(stdout).toContain('error agent.container_task_mem_request: ');
  expect(stdout).toContain('4 files (3 checked, 1 without an agent)');
  expect(stdout).toContain('good.yaml: no problems found');
  expect(stdout).not.toContain('unexpected error');
});

test.each([
  '--values-file',
  '--set',
])('refuses values with keys named like methods in %s', async (flag) => {
  const files = memoryFiles({
    'v.yaml': 'agent: {container_task_mem_request: {toString: x}}\n',
  });
  const given = flag === '--set' ? 'agent.container_task_mem_request={"toString":"x"}' : 'v.yaml';
  const {stderr, exit} = await runCommand(
    ValuesCommand,
    ['--url', 'https://acme.scalr.io', '--chart', 'agent-k8s', flag, given],
    {files},
  );
  expect(exit).toBe(2);
  expect(stderr).toContain('agent.container_task_mem_request');
});
