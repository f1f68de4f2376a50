import {expect, test} from 'vitest';
import {jsonFrom} from '../../src/ground/tool-errors.ts';

const CALL = {tool: 'helm', verb: 'history', release: 'acme'} as const;

test.each([
  ['[{"revision": 1}]\n', [{revision: 1}]],
  // Wrappers of kubectl and helm print lines before it.
  ['welcome to the cluster\n[]', []],
])('parses JSON output of a tool: %j', (stdout, parsed) => {
  expect(jsonFrom(CALL, stdout)).toEqual(parsed);
});

test.each([
  ['', 'helm history failed: helm returned no output'],
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
