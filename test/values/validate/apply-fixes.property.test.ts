import fc from 'fast-check';
import {expect, test} from 'vitest';
import {chartSchema, type Leaf, leavesOf} from '../../../src/charts/releases/schema.ts';
import type {Target} from '../../../src/charts/releases/target.ts';
import {remedyText} from '../../../src/ground/finding.ts';
import {
  leafPaths,
  type Path,
  sameTree,
  setAt,
  spellPath,
  type Tree,
  type Values,
} from '../../../src/ground/tree.ts';
import {codeAndKey} from '../../../src/values/reading/finding.ts';
import {effectiveValues} from '../../../src/values/reading/read-values.ts';
import {readSource} from '../../../src/values/reading/source.ts';
import {isWithin, valueAt} from '../../../src/values/reading/tree-path.ts';
import {fixGroup} from '../../../src/values/validate/apply-fixes.ts';
import {type CheckedGroup, findingsOf} from '../../../src/values/validate/check-files.ts';
import {numRuns} from '../../support/sample.ts';
import {TARGETS} from '../../support/versions.ts';

const RUNS = numRuns(40);

/** Wrong, right and doubtful values, as they are written. */
const WRITTEN = [
  '20',
  '1.10',
  '1_000',
  '0x10',
  '1000000',
  'yes',
  '"true"',
  '"on"',
  'text',
  '20Gi',
  'alway',
  'Always',
  '{a: 1}',
  '[a, 1]',
];

/** A key, misspelled or in another place. */
const damaged = (path: Path): Path[] => [
  path,
  [...path.slice(0, -1), `${path.at(-1)}s`],
  [...path.slice(0, -1), (path.at(-1) as string).slice(1) || 'x'],
  [`${path[0]}x`, ...path.slice(1)],
  path.slice(-1),
  ['agent', ...path],
  ['task', 'runner', path.at(-1) as string],
];

const written = (path: Path, value: string): string =>
  `${path.map((key, depth) => `${'  '.repeat(depth)}${JSON.stringify(key)}:`).join('\n')} ${value}\n`;

/** One key per top-level section, so that the lines make one file. */
const files = (target: Target): fc.Arbitrary<string> => {
  const leaves = leavesOf(chartSchema(target.chart), target.version);
  const leaf = fc
    .constantFrom(...leaves)
    .chain(({path}: Leaf) => fc.constantFrom(...damaged(path)));
  const variables = fc
    .tuple(fc.constantFrom('SCALR_DEBUG', 'SCALR_AGENT_DEBG', 'A'), fc.constantFrom(...WRITTEN))
    .map(([name, value]) => ({path: ['extraEnv', name], value}));
  const entry = fc.oneof(
    {weight: 5, arbitrary: fc.record({path: leaf, value: fc.constantFrom(...WRITTEN)})},
    variables,
  );
  return fc
    .uniqueArray(entry, {minLength: 1, maxLength: 5, selector: ({path}) => path[0] as string})
    .map((entries) => entries.map(({path, value}) => written(path, value)).join(''));
};

const checked = (text: string, target: Target): CheckedGroup => {
  const group = {files: [{file: 'values.yaml', text}], areLayers: false, target};
  return {...group, findings: findingsOf(group, target)};
};

const changedPaths = (before: Values, after: Values): string[] => {
  const paths = new Map(
    [...leafPaths(before), ...leafPaths(after)].map((path) => [spellPath(path), path]),
  );
  return [...paths].flatMap(([name, path]) =>
    sameTree(valueAt(before, path), valueAt(after, path)) ? [] : [name],
  );
};

test('fixes add no finding, change only the keys of findings, and leave nothing to a second run', () => {
  let count = 0;
  fc.assert(
    fc.property(
      fc
        .constantFrom(...TARGETS)
        .chain((target) => fc.record({target: fc.constant(target), text: files(target)})),
      ({target, text}) => {
        const before = checked(text, target);
        const {fixed, rewrites} = fixGroup(before);
        if (rewrites.length === 0) return;
        count += 1;
        const known = new Set(before.findings.map(codeAndKey));
        expect(fixed.findings.filter((each) => !known.has(codeAndKey(each)))).toEqual([]);
        const [old, now] = [text, rewrites[0]?.after ?? ''].map((each) =>
          effectiveValues(readSource(each).source?.values ?? {}, target),
        ) as [Values, Values];
        const named = before.findings.flatMap((each) => {
          const {path} = each.subject;
          const name = remedyText(each).split(':')[0] as string;
          // An item changes its list.
          const list = path.replace(/\[.*$/, '');
          return [path, list, name, path.replace(/[^.]*$/, name)];
        });
        const others = changedPaths(old, now).filter(
          (each) => !named.some((name) => isWithin(each, name)),
        );
        expect(others).toEqual([]);
        expect(fixGroup(checked(rewrites[0]?.after ?? '', target)).rewrites).toEqual([]);
      },
    ),
    {numRuns: RUNS},
  );
  expect(count).toBeGreaterThan(0);
});

test.each<[what: string, text: string, path: Path, written: Tree]>([
  [
    'a size without a unit',
    'persistence: {cache: {persistentVolumeClaim: {storage: 20}}}',
    ['persistence', 'cache', 'persistentVolumeClaim', 'storage'],
    20,
  ],
  ['a variable that is yes', 'agent: {extraEnv: {A: yes}}', ['agent', 'extraEnv', 'A'], true],
  [
    'a variable in another notation',
    'agent: {extraEnv: {A: 1_000}}',
    ['agent', 'extraEnv', 'A'],
    1000,
  ],
  [
    'a node selector for the controller or the runs',
    'nodeSelector: {a: b}',
    ['nodeSelector'],
    {a: 'b'},
  ],
  [
    'resources of one of several containers',
    'resources: {limits: {cpu: 1}}',
    ['resources', 'limits', 'cpu'],
    1,
  ],
])('only suggests what to write for %s', (_, text, path, value) => {
  const target: Target = {chart: 'agent-job', version: '0.6.5'};
  const {rewrites, fixed} = fixGroup(checked(text, target));
  expect(rewrites).toEqual([]);
  const values: Values = {};
  setAt(values, path, value);
  expect(readSource(text).source?.values).toEqual(values);
  const found = fixed.findings.find(({subject}) => isWithin(spellPath(path), subject.path));
  expect(found?.remedies).not.toEqual([]);
  expect(found).toBeDefined();
});
