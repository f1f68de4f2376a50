import {mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {accessIn} from '../../src/cluster/kubernetes/kubeconfig.ts';
import CollectLogs from '../../src/commands/collect-logs.ts';
import Install from '../../src/commands/install.ts';
import Status from '../../src/commands/status.ts';
import Upgrade from '../../src/commands/upgrade.ts';
import {failed} from '../../src/ground/errors.ts';
import {toolNotFound} from '../../src/ground/system/node-processes.ts';
import {PROGRAM} from '../package/built.ts';
import {runCommand} from '../support/run-command.ts';

test.skipIf(process.platform === 'win32')(
  'a current directory that was removed is no bug',
  async () => {
    const gone = mkdtempSync(join(tmpdir(), 'gone-'));
    const script = 'cd "$1" && rmdir "$1" && exec "$2" "$3" status';
    const {exitCode, stderr} = await execa(
      'sh',
      ['-c', script, 'sh', gone, process.execPath, PROGRAM],
      {reject: false},
    );
    expect(stderr).toContain('Error: The current directory no longer exists.');
    expect(exitCode).toBe(2);
  },
);

test.each([
  ['status', Status, '--target docker or --target systemd'],
  ['collect-logs', CollectLogs, '--target docker or --target systemd'],
  ['install', Install, '--target docker'],
  ['upgrade', Upgrade, undefined],
] as const)('%s on a machine without kubectl leads to agents outside Kubernetes', async (_, Class, flags) => {
  const {stdout} = await runCommand<object | undefined>(Class, ['--json'], {
    requireTool: async (tool) => {
      throw toolNotFound(tool, tool, false);
    },
  });
  const hints = JSON.parse(stdout).error.suggestions.filter((each: string) =>
    each.startsWith('For an agent outside'),
  );
  expect(hints).toEqual(flags ? [`For an agent outside Kubernetes, add ${flags}`] : []);
});

test('a kubeconfig without a context leads there too', async () => {
  const {withoutCluster} = accessIn({}, {}, 'a');
  const {stderr} = await runCommand(Status, [], {
    requireTool: async () => {
      throw failed('CLUSTER_UNREACHABLE', 'No context.', withoutCluster?.steps);
    },
  });
  expect(stderr).toContain('add --target docker or --target systemd');
});
