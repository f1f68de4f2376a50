import {readdirSync, readFileSync} from 'node:fs';
import fc from 'fast-check';
import {expect, test, vi} from 'vitest';
import {chartSchema, leavesOf} from '../../../src/charts/schema.ts';
import {newestOf} from '../../../src/charts/target.ts';
import {setAt, type Tree, type Values} from '../../../src/charts/tree.ts';
import {findingsOf} from '../../../src/values/validate/check-files.ts';
import * as checks from '../../../src/values/validate/check-variables.ts';
import {knownBugs, validate} from '../../../src/values/validate/validate.ts';
import {CHART_NAMES} from '../../support/versions.ts';

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 6) * 40;
const TARGETS = CHART_NAMES.map((chart) => ({chart, version: newestOf(chart)}));

/** What nobody expects below a key: names of JavaScript's own, deep maps, numbers without end. */
const NAMES = ['toString', 'valueOf', 'constructor', '__proto__', 'hasOwnProperty', 'toJSON', 'length', 'then', 'name'];
const odd: fc.Arbitrary<Tree> = fc.oneof(
  fc.constantFrom<Tree>(null, '', true, -1, 0, 1e21, 0.1, [], {}, [null], [[]], '2Gi', '<a>'),
  fc.constantFrom(...NAMES).map((name) => Object.fromEntries([[name, 'x']]) as Tree),
  fc.constantFrom(...NAMES).map((name) => JSON.parse(`[{"${name}": {"${name}": null}}]`) as Tree),
);

test('every key of every chart takes any value without a crash', () => {
  const leaves = TARGETS.flatMap((target) => leavesOf(chartSchema(target.chart), target.version).map(({path}) => ({target, path})));
  fc.assert(
    fc.property(fc.constantFrom(...leaves), fc.nat(4), odd, fc.constantFrom('', ...NAMES), ({target, path}, cut, value, below) => {
      const values: Values = {};
      const place = path.slice(0, Math.max(1, path.length - cut));
      setAt(values, below === '' ? place : [...place, below], value);
      const text = JSON.stringify(values);
      expect(Array.isArray(validate(text, target))).toBe(true);
      expect(Array.isArray(knownBugs(text, target))).toBe(true);
    }),
    {numRuns: RUNS * 4},
  );
});

const golden = new URL('../../golden/', import.meta.url);
const FILES = readdirSync(golden)
  .filter((name) => /0\.6\.5/.test(name) && !name.endsWith('refused'))
  .flatMap((name) => {
    const target = TARGETS.find(({chart}) => name.startsWith(chart));
    return target ? [{target, text: readFileSync(new URL(`${name}/values.yaml`, golden), 'utf8')}] : [];
  });

test('a damaged file is checked without a crash', () => {
  const damage = fc.tuple(
    fc.nat(),
    fc.nat(40),
    fc.constantFrom('', ' ', '\t', '\n', ':', '- ', '{', '}', '[', '"', '&a ', '*a', '<<: ', '?', '!!int '),
  );
  fc.assert(
    fc.property(fc.constantFrom(...FILES), fc.array(damage, {minLength: 1, maxLength: 4}), ({target, text}, damages) => {
      const damaged = damages.reduce((current, [at, length, put]) => {
        const from = at % (current.length + 1);
        return current.slice(0, from) + put + current.slice(from + length);
      }, text);
      expect(Array.isArray(validate(damaged, target))).toBe(true);
    }),
    {numRuns: RUNS},
  );
});

test('a bug of a check is a finding of its file', () => {
  const spy = vi.spyOn(checks, 'checkVariables').mockImplementationOnce(() => {
    throw new TypeError('no such thing');
  });
  const [target] = TARGETS;
  const group = {files: [{file: 'a.yaml', text: 'agent: {token: a}'}], areLayers: false};
  expect(findingsOf(group, target as (typeof TARGETS)[number])).toMatchObject([{code: 'CHECK_FAILED', severity: 'error'}]);
  spy.mockRestore();
});
