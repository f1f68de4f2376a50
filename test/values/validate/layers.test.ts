import {expect, test} from 'vitest';
import {layered} from '../../../src/values/validate/layers.ts';
import {readSource, type Source} from '../../../src/values/validate/source.ts';

const of = (...texts: string[]): Source =>
  layered(texts.map((text, index) => ({file: `${index}.yaml`, source: readSource(text).source as Source})));

test.each<[string[], unknown]>([
  [[], {}],
  [['a: {b: 1, c: 1}', 'a: {b: 2}'], {a: {b: 2, c: 1}}],
  [['a: [1, 2]', 'a: [3]'], {a: [3]}],
  [['a: {b: 1}', 'a: 1', 'a: {c: 2}'], {a: {c: 2}}],
  [['a: {b: 1}', 'a: null'], {a: null}],
  [['a: {b: 1}', 'a: {b: null}'], {a: {b: null}}],
  [['a: null', 'a: {b: 1}'], {a: {b: 1}}],
  [['__proto__: {a: 1}', '__proto__: {b: 2}'], JSON.parse('{"__proto__": {"a": 1, "b": 2}}')],
])('%j make %j', (texts, values) => {
  expect(of(...texts).values).toEqual(values);
});

test('each value is found in the file that wrote it', () => {
  const {locate, written} = of('a: {b: 010, c: 1}\nd: 1\nlist: [{e: 1}, {f: 1}]', '\na: {c: 2}\nd: {x: 1}', 'list: [{e: 2}]');
  expect(locate(['a', 'b'])).toEqual({file: '0.yaml', line: 1, column: 5});
  expect(written(['a', 'b'])).toBe('010');
  expect(locate(['a', 'c'])).toEqual({file: '1.yaml', line: 2, column: 5});
  expect(locate(['a'])).toEqual({file: '1.yaml', line: 2, column: 1});
  expect(locate(['a', 'missing'])).toEqual({file: '1.yaml', line: 2, column: 1});
  expect(locate(['list', 0, 'e'])).toEqual({file: '2.yaml', line: 1, column: 9});
  expect(locate(['list', 1, 'f'])).toEqual({file: '2.yaml', line: 1, column: 1});
  expect(written(['list', 1, 'f'])).toBeUndefined();
  expect(locate(['nowhere'])).toBeUndefined();
  expect(locate([])).toBeUndefined();
});

test('what a later file replaced is nowhere, even if a map comes back', () => {
  const {locate, written} = of('a: {b: 1}', 'a: null', 'a: {c: 1}');
  expect(locate(['a', 'b'])).toEqual({file: '2.yaml', line: 1, column: 1});
  expect(written(['a', 'b'])).toBeUndefined();
});

test('the layers stay as they were', () => {
  const source = readSource('a: {b: 1}').source as Source;
  layered([
    {file: 'x', source},
    {file: 'y', source: readSource('a: {c: 1}').source as Source},
  ]);
  expect(source.values).toEqual({a: {b: 1}});
});
