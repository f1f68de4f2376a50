import {kubernetesClient} from '../../src/cluster/kubernetes/connect.ts';
import CollectLogs from '../../src/commands/collect-logs.ts';
import Debug from '../../src/commands/debug.ts';
import Install from '../../src/commands/install.ts';
import Preflight from '../../src/commands/preflight.ts';
import RotateToken from '../../src/commands/rotate-token.ts';
import Status from '../../src/commands/status.ts';
import Uninstall from '../../src/commands/uninstall.ts';
import Upgrade from '../../src/commands/upgrade.ts';
import {sleep} from '../../src/ground/async.ts';
import {registries} from '../../src/ground/system/connections.ts';
import {NodeFiles} from '../../src/ground/system/node-files.ts';
import {nodeProcesses} from '../../src/ground/system/node-processes.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {runCommand} from './run-command.ts';

type Place = Pick<Workplace, 'kubeconfig' | 'namespace'>;
type Deps = Parameters<typeof runCommand>[2];

/** Polls more often than users need it, because most waits of a test are for something that takes milliseconds here. */
const MAX_PAUSE_MS = 300;
const briefly: typeof sleep = (milliseconds, signal) =>
  sleep(Math.min(milliseconds, MAX_PAUSE_MS), signal);

/** Runs commands in this process with real tools, on the test cluster. Without a kubeconfig, kubectl selects the cluster. */
async function onCluster(
  Class: Parameters<typeof runCommand>[0],
  {kubeconfig, namespace}: Place,
  helm: string,
  argv: readonly string[],
  deps: Deps,
) {
  const place = [
    ...(kubeconfig === '' ? [] : ['--kubeconfig', kubeconfig]),
    '--namespace',
    namespace,
    '--helm',
    helm,
    ...(argv.includes('--kubectl') ? [] : ['--kubectl', await findKubectl()]),
  ];
  const tools = {
    processes: nodeProcesses,
    kubernetes: async (...where: Parameters<typeof kubernetesClient>) => kubernetesClient(...where),
  };
  return runCommand(Class, [...place, ...argv], {
    files: new NodeFiles(),
    registries,
    ...tools,
    sleep: briefly,
    now: () => new Date(),
    ...deps,
  });
}

export const install = (place: Place, helm: string, argv: readonly string[], deps: Deps = {}) =>
  onCluster(
    Install,
    place,
    helm,
    argv.includes('--url') ? argv : ['--url', 'https://acme.scalr.io', ...argv],
    deps,
  );

export const uninstall = (place: Place, helm: string, argv: readonly string[], deps: Deps = {}) =>
  onCluster(Uninstall, place, helm, argv, deps);

export const upgrade = (place: Place, helm: string, argv: readonly string[], deps: Deps = {}) =>
  onCluster(Upgrade, place, helm, argv, deps);

export const debug = (place: Place, helm: string, argv: readonly string[], deps: Deps = {}) =>
  onCluster(Debug, place, helm, argv, deps);

export const rotateToken = (place: Place, helm: string, argv: readonly string[], deps: Deps = {}) =>
  onCluster(RotateToken, place, helm, argv, deps);

export const status = (place: Place, helm: string, argv: readonly string[] = [], deps: Deps = {}) =>
  onCluster(Status, place, helm, argv, deps);

export const preflight = (place: Place, helm: string, argv: readonly string[], deps: Deps = {}) =>
  onCluster(Preflight, place, helm, argv, deps);

export const collectLogs = (place: Place, helm: string, argv: readonly string[], deps: Deps = {}) =>
  onCluster(CollectLogs, place, helm, argv, deps);
