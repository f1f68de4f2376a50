import {expect, test} from 'vitest';
import {writeFiles} from '../../src/cli/write-files.ts';
import {memoryFiles} from '../support/memory-files.ts';

const LINES = {path: '.gitignore', text: '/agent.env\n/ca.pem\n', isPrivate: false};

test.each([
  ['no file', undefined, '/agent.env\n/ca.pem\n'],
  ['other lines', 'node_modules\n', 'node_modules\n/agent.env\n/ca.pem\n'],
  ['no line break at the end', 'node_modules', 'node_modules\n/agent.env\n/ca.pem\n'],
  ['one of the lines', '/ca.pem\r\n', '/ca.pem\r\n/agent.env\n'],
  ['all lines', '/ca.pem\n\n/agent.env', '/ca.pem\n\n/agent.env'],
])('a file that is appended to keeps its lines, and asks nobody: %s', async (_, before, after) => {
  const files = memoryFiles(before === undefined ? {} : {'agent/.gitignore': before});
  const options = {directory: 'agent', isDryRun: false, isAccepted: false};
  await writeFiles([{...LINES, existing: 'appended'}], files, options);
  expect(String(await files.read('agent/.gitignore'))).toBe(after);
});
