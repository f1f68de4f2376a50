import {expect, test} from 'vitest';
import {readLayers} from '../../../src/values/reading/source.ts';

test('files are read and merged as Helm does', () => {
  const files = ['a: {b: 1, c: yes}\nl: [1]\n', 'a: {b: 2, d: null}\nl: [2]\n'].map(
    (text, index) => ({file: `${index}.yaml`, text}),
  );
  expect(readLayers(files)).toEqual({a: {b: 2, c: true, d: null}, l: [2]});
  expect(readLayers([{file: 'empty.yaml', text: ''}])).toEqual({});
});

test('what Helm cannot read is named with its place', () => {
  expect(() => readLayers([{file: 'a.yaml', text: 'a: 1\nb: [\n'}])).toThrow(/^a\.yaml, line \d: /);
  expect(() => readLayers([{file: '-', text: '- 1\n'}])).toThrow(
    /^Standard input, line 1: The file must contain a mapping/,
  );
});
