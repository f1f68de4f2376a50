import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as wait} from 'node:timers/promises';
import {directoryOf} from '../../test/cluster/helm/charts-under-test.ts';
import {findHelm} from '../../test/cluster/helm/find-helm.ts';
import {findKubectl} from '../../test/control-plane/kubectl.ts';
import {setLogs} from '../../test/control-plane/logs.ts';
import {startCluster} from '../../test/control-plane/start-cluster.ts';
import {measure, median, row} from './measure.ts';

const PROGRAM = 'dist/bin/scalr-agent.js';
const THEIRS = 'kubectl create, helm upgrade --install';

/** Commands that use a cluster, as a part of what helm and kubectl take for the same install. Starts a cluster. */
export async function clusterCommands(rounds: number): Promise<void> {
  const cluster = await startCluster();
  const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  try {
    const [{path: helm} = {path: 'helm'}] = await findHelm();
    const kubectl = await findKubectl();
    const chart = await directoryOf({chart: 'agent-job', version: '0.6.5'}, folder);
    const values = join(folder, 'values.yaml');
    const env = {
      ...process.env,
      KUBECONFIG: cluster.kubeconfig,
      SCALR_AGENT_TOKEN: 'hunter2',
      CI: '1',
    };
    const chosen = [
      '--chart',
      'agent-job',
      '--chart-source',
      chart,
      '--url',
      'https://acme.scalr.io',
      '--cloud',
      'other',
    ];
    const run = (command: string, ...args: readonly string[]): number =>
      measure(command, args, env);
    const own = (command: string, namespace: string, ...more: readonly string[]): number =>
      run(
        process.execPath,
        PROGRAM,
        command,
        '--namespace',
        namespace,
        '--helm',
        helm,
        '--kubectl',
        kubectl,
        ...more,
      );
    run(process.execPath, PROGRAM, 'values', ...chosen, '--out', values);
    run(kubectl, 'apply', '--server-side', '--filename', join(chart, 'crds'));

    const times: Record<string, number[]> = {};
    const took = (name: string, milliseconds: number): void => {
      times[name] = [...(times[name] ?? []), milliseconds];
    };
    let count = 0;
    const fresh = async (): Promise<string> => {
      count += 1;
      const namespace = `bench-${count}`;
      await setLogs(
        cluster.kubeconfig,
        {namespace},
        {'*': {current: ['The agent is ready to receive tasks']}},
      );
      return namespace;
    };
    const remove = async (namespace: string): Promise<void> => {
      run(helm, 'uninstall', 'scalr-agent', '--namespace', namespace, '--no-hooks');
      run(kubectl, 'delete', 'namespace', namespace, '--wait=false');
      // What is left of it must not compete with what is measured next.
      await wait(3000);
    };
    for (let round = 0; round < rounds; round += 1) {
      const theirs = await fresh();
      const create = run(kubectl, 'create', 'namespace', theirs);
      const secret = run(
        kubectl,
        'create',
        'secret',
        'generic',
        'scalr-agent-token',
        '--namespace',
        theirs,
        '--from-literal=token=hunter2',
      );
      const release = [
        'scalr-agent',
        chart,
        '--install',
        '--wait',
        '--namespace',
        theirs,
        '--values',
        values,
      ];
      took(THEIRS, create + secret + run(helm, 'upgrade', ...release));
      await remove(theirs);
      const bare = await fresh();
      took(
        'install --skip-preflight',
        own('install', bare, ...chosen, '--yes', '--skip-preflight'),
      );
      took('status', own('status', bare));
      took('uninstall --dry-run', own('uninstall', bare, '--dry-run'));
      await remove(bare);
      const checked = await fresh();
      took('preflight', own('preflight', checked, ...chosen));
      took('install', own('install', checked, ...chosen, '--yes'));
      await remove(checked);
    }
    const reference = median(times[THEIRS] ?? []);
    for (const [name, measured] of Object.entries(times))
      row('cluster-commands', name, median(measured), reference, 'helm and kubectl');
  } finally {
    rmSync(folder, {recursive: true, force: true});
    await cluster.stop();
  }
}
