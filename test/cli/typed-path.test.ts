import {expect, test} from 'vitest';
import {typedPath} from '../../src/cli/typed-path.ts';

test.each([
  ['out', 'out'],
  ['~', '/home/ann'],
  ['~/out', '/home/ann/out'],
  ['~other', '~other'],
  ['"my files"', 'my files'],
  ["'~/my files'", '/home/ann/my files'],
  ['my\\ files', 'my files'],
  ['C:\\out', 'C:\\out'],
])('reads the typed path %s as %s', (text, path) => {
  expect(typedPath(text, {HOME: '/home/ann'})).toBe(path);
});
