import {expect, test} from 'vitest';
import {kubernetesClient} from '../../src/adapters/kubernetes-client.ts';
import {nodeProcesses} from '../../src/adapters/node-processes.ts';
import Status from '../../src/commands/status.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';

const refusal = async (argv: readonly string[], files: Record<string, string> = {}) =>
  JSON.parse((await runCommand(Status, [...argv, '--json'], {files: memoryFiles(files)})).stdout).error;

test.each([
  [['--watch', '--all-namespaces'], 'USAGE', /./],
  [['--watch', '--values', 'a.yaml', '--exit-code'], 'USAGE', /./],
  [['--values', 'missing.yaml'], 'UNREADABLE_FILE', /missing\.yaml/],
  [['--values', 'broken.yaml'], 'UNREADABLE_FILE', /^broken\.yaml, line 3: /],
  [['--values', 'list.yaml'], 'UNREADABLE_FILE', /^list\.yaml, line 1: .*no mapping/],
  [['--timeout', 'soon'], 'INVALID_SETTING', /--timeout: "soon" is no duration/],
  [['--url', 'https://acme.scalr.io'], 'UNKNOWN_FLAG', /--url/],
])('%j is refused before anything is asked', async (argv, code, message) => {
  const error = await refusal(argv, {'a.yaml': 'a: 1\n', 'broken.yaml': 'a: 1\nb: [\n', 'list.yaml': '- 1\n'});
  expect(error).toMatchObject({code, message: expect.stringMatching(message)});
});

test('a tool that is not there is named', async () => {
  const argv = ['--kubectl', 'missing/kubectl', '--helm', 'missing/helm', '--json'];
  const {stdout} = await runCommand(Status, argv, {
    processes: nodeProcesses,
    kubernetes: async (...where) => kubernetesClient(...where),
  });
  expect(JSON.parse(stdout).error).toMatchObject({code: 'TOOL_NOT_FOUND', exit: 2});
});
