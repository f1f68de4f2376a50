import {sleep} from '../../src/adapters/clock.ts';
import {nodeFiles} from '../../src/adapters/node-files.ts';
import {nodeProcesses} from '../../src/adapters/node-processes.ts';
import Install from '../../src/commands/install.ts';
import {findKubectl} from '../cluster/kubectl.ts';
import type {Workplace} from '../cluster/workplace.ts';
import {runCommand} from './run-command.ts';

/** `install` in this process with the real tools, on the test cluster. */
export async function install(
  {kubeconfig, namespace}: Pick<Workplace, 'kubeconfig' | 'namespace'>,
  helm: string,
  argv: readonly string[],
  world: Parameters<typeof runCommand>[2] = {},
) {
  const place = ['--kubeconfig', kubeconfig, '--namespace', namespace, '--helm', helm, '--kubectl', await findKubectl()];
  return runCommand(Install, [...place, '--url', 'https://acme.scalr.io', ...argv], {
    files: nodeFiles,
    processes: nodeProcesses,
    sleep,
    now: () => new Date(),
    ...world,
  });
}
