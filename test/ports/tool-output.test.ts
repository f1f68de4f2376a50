import {expect, test} from 'vitest';
import {jsonFrom} from '../../src/tool-errors.ts';

const CALL = {tool: 'helm', args: ['history', 'acme']} as const;

test('what a tool says as JSON', () => {
  expect(jsonFrom(CALL, '[{"revision": 1}]\n')).toEqual([{revision: 1}]);
});

test.each([
  ['', 'helm history failed: helm said nothing'],
  ['welcome to the cluster\n[]', 'helm history failed: what helm said is no JSON: welcome to the cluster'],
  ['{"password": "hunter2"', 'helm history failed: what helm said is not the JSON it should be, or not all of it'],
])('what else it may say is a failure with a next step, and no bug: %j', (stdout, message) => {
  expect(() => jsonFrom(CALL, stdout)).toThrow(
    expect.objectContaining({
      message,
      code: 'TOOL_FAILED',
      suggestions: ['Name the program itself with --helm, if helm is a script around it', 'Run it again with --verbose'],
    }),
  );
});
