import {describe, expect, test} from 'vitest';
import {kubernetesClient} from '../../src/cluster/kubernetes/connect.ts';
import Status from '../../src/commands/status.ts';
import type {Call} from '../../src/ground/call.ts';
import {argumentsOf} from '../../src/ground/call-arguments.ts';
import {nodeProcesses} from '../../src/ground/system/node-processes.ts';
import {fakeKubernetes} from '../support/fake-kubernetes.ts';
import {chartObject, helmRecord} from '../support/helm-record.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';

const refusal = async (argv: readonly string[], files: Record<string, string> = {}) =>
  JSON.parse((await runCommand(Status, [...argv, '--json'], {files: memoryFiles(files)})).stdout)
    .error;

test.each([
  [['--watch', '--all-namespaces'], 'USAGE', /./],
  [['--until', 'ready'], 'USAGE', /./],
  [['--watch', '--until', 'idle'], 'USAGE', /./],
  [['--watch', '--values', 'a.yaml', '--exit-code'], 'USAGE', /./],
  [['--values', 'missing.yaml'], 'UNREADABLE_FILE', /missing\.yaml/],
  [['--values', 'broken.yaml'], 'UNREADABLE_FILE', /^broken\.yaml, line 3: /],
  [['--values', 'list.yaml'], 'UNREADABLE_FILE', /^list\.yaml, line 1: .*must contain a mapping/],
  [['--timeout', 'soon'], 'INVALID_SETTING', /--timeout: "soon" is not a duration/],
  [['--url', 'https://acme.scalr.io'], 'UNKNOWN_FLAG', /--url/],
])('refuses %j before any query', async (argv, code, message) => {
  const error = await refusal(argv, {
    'a.yaml': 'a: 1\n',
    'broken.yaml': 'a: 1\nb: [\n',
    'list.yaml': '- 1\n',
  });
  expect(error).toMatchObject({code, message: expect.stringMatching(message)});
});

test('reports a missing tool', async () => {
  const argv = ['--kubectl', 'missing/kubectl', '--helm', 'missing/helm', '--json'];
  const {stdout} = await runCommand(Status, argv, {
    processes: nodeProcesses,
    kubernetes: async (...where) => kubernetesClient(...where),
  });
  expect(JSON.parse(stdout).error).toMatchObject({code: 'TOOL_NOT_FOUND', exit: 2});
});

describe('without a release name', () => {
  const found = {name: 'acme', namespace: 'prod', chart: 'agent-local-0.6.5'};
  const scalrAgent = {apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'scalr-agent'}};
  const run = (releases: readonly (typeof found)[], ...argv: string[]) =>
    runCommand(Status, [...argv], {
      kubernetes: async () =>
        fakeKubernetes({
          objects: [
            scalrAgent,
            ...releases.flatMap((each) => [helmRecord(each), chartObject(each)]),
          ],
        }),
      processes: () => ({
        async run(call: Call) {
          const args = argumentsOf(call);
          expect(args.slice(0, 2)).toEqual(['config', 'view']);
          return {exitCode: 0, stdout: '{}', stderr: ''};
        },
        start: () => {
          throw new Error('status starts nothing');
        },
      }),
    });

  test('takes the only agent release of the cluster, and says so', async () => {
    const {stdout, stderr} = await run([found, {...found, name: 'other', chart: 'nginx-1.0.0'}]);
    expect(stderr).toContain(
      'Using release acme in namespace prod, the only agent release of the cluster.',
    );
    expect(stdout).toContain('Release acme in namespace prod');
  });

  test.each([
    ['there are several', [found, {...found, name: 'two'}], []],
    ['there is none', [], []],
    ['a namespace is named', [found], ['--namespace', 'scalr-agent']],
  ])('does not guess when %s', async (_, releases, argv) => {
    const {exit, stdout} = await run(releases, ...argv, '--json');
    expect({exit, code: JSON.parse(stdout).error.code}).toEqual({
      exit: 2,
      code: 'RELEASE_NOT_FOUND',
    });
  });
});
