import {expect, test} from 'vitest';
import {jsonFrom} from '../../src/ground/tool-errors.ts';

const CALL = {tool: 'helm', verb: 'history', release: 'acme'} as const;

test('parses JSON output of a tool', () => {
  expect(jsonFrom(CALL, '[{"revision": 1}]\n')).toEqual([{revision: 1}]);
});

test.each([
  ['', 'helm history failed: helm returned no output'],
  [
    'welcome to the cluster\n[]',
    'helm history failed: the output of helm is not JSON: welcome to the cluster',
  ],
  ['{"password": "hunter2"', 'helm history failed: helm returned incomplete or unexpected JSON'],
])('reports other output as an error with a next step: %j', (stdout, message) => {
  expect(() => jsonFrom(CALL, stdout)).toThrow(
    expect.objectContaining({
      message,
      code: 'TOOL_FAILED',
      suggestions: [
        'If helm is a wrapper script, set the path of the program itself with --helm',
        'Run the command again with --verbose',
      ],
    }),
  );
});
