import {appendFile, mkdir, open, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {kubectlFor} from './kubectl.ts';

/** Log lines of a container, and of its previous instance. */
export interface Log {
  current?: readonly string[];
  previous?: readonly string[];
  /** When the kubelet read the lines; now by default. */
  at?: Date;
  /** Between two of the lines. */
  pauseMs?: number;
}

/** All pods of a namespace, or one pod. */
export interface Where {
  namespace: string;
  pod?: string;
}

const folderOf = (kubeconfig: string, {namespace, pod = ''}: Where): string =>
  join(dirname(kubeconfig), 'logs', namespace, pod);

/** CRI log format, the only one that kubelets read. */
const format = (line: string, at = new Date()): string => `${at.toISOString()} stdout F ${line}\n`;

/**
 * Sets the output of `kubectl logs`. `containers` has the log by container name; '*' applies to all others.
 * `kubectl logs` fails for a pod without a log.
 */
export async function setLogs(
  kubeconfig: string,
  where: Where,
  containers: Record<string, Log>,
): Promise<void> {
  const folder = folderOf(kubeconfig, where);
  await mkdir(folder, {recursive: true});
  const save = async (
    file: string,
    lines: readonly string[] = [],
    {at = new Date(), pauseMs = 0}: Pick<Log, 'at' | 'pauseMs'> = {},
  ): Promise<string> => {
    const path = join(folder, file);
    const timeOf = (index: number): Date => new Date(at.getTime() + index * pauseMs);
    await writeFile(path, lines.map((line, index) => format(line, timeOf(index))).join(''));
    return path;
  };
  const logs = await Promise.all(
    Object.entries(containers).map(async ([name, {current, previous, ...times}]) => ({
      ...(name === '*' ? {} : {containers: [name]}),
      logsFile: await save(`${name}.log`, current, times),
      previousLogsFile: await save(`${name}.previous.log`, previous, times),
    })),
  );
  const {namespace, pod} = where;
  const apiVersion = 'kwok.x-k8s.io/v1alpha1';
  const ofNamespace = {
    apiVersion,
    kind: 'ClusterLogs',
    metadata: {name: namespace},
    spec: {selector: {matchNamespaces: [namespace]}, logs},
  };
  const ofPod = {apiVersion, kind: 'Logs', metadata: {name: pod, namespace}, spec: {logs}};
  const kubectl = await kubectlFor(kubeconfig, namespace);
  await kubectl.apply(pod === undefined ? ofNamespace : ofPod);
}

/** Appends a line, which `kubectl logs --follow` prints. */
export async function appendLog(
  kubeconfig: string,
  where: Where,
  container: string,
  line: string,
): Promise<void> {
  await appendFile(join(folderOf(kubeconfig, where), `${container}.log`), format(line));
}

const PIECE = 1024 * 1024;

/** Writes a log of this many bytes without holding it in memory. */
export async function fillLog(
  kubeconfig: string,
  where: Where,
  container: string,
  bytes: number,
  line: (index: number) => string,
): Promise<void> {
  const file = await open(join(folderOf(kubeconfig, where), `${container}.log`), 'w');
  try {
    for (let index = 0, said = 0; said < bytes; ) {
      const lines: string[] = [];
      for (let size = 0; size < PIECE && said < bytes; index += 1) {
        const text = line(index);
        lines.push(format(text));
        size += text.length + 1;
        said += text.length + 1;
      }
      await file.write(lines.join(''));
    }
  } finally {
    await file.close();
  }
}
