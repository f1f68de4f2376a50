import {appendFile, mkdir, open, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {kubectlFor} from './kubectl.ts';

/** The lines of a container, and those of its life before. */
export interface Log {
  current?: readonly string[];
  previous?: readonly string[];
}

/** All pods of a namespace, or the one that is named. */
export interface Where {
  namespace: string;
  pod?: string;
}

const folderOf = (kubeconfig: string, {namespace, pod = ''}: Where): string => join(dirname(kubeconfig), 'logs', namespace, pod);

/** The form in which container runtimes keep logs; kubelets understand no other. */
const format = (line: string): string => `${new Date().toISOString()} stdout F ${line}\n`;

/**
 * What `kubectl logs` says from now on. `containers` has the log by container name; that of '*' is for all others.
 * A pod for which nothing was set has no logs: asking for them is an error.
 */
export async function setLogs(kubeconfig: string, where: Where, containers: Record<string, Log>): Promise<void> {
  const folder = folderOf(kubeconfig, where);
  await mkdir(folder, {recursive: true});
  const save = async (file: string, lines: readonly string[] = []): Promise<string> => {
    const path = join(folder, file);
    await writeFile(path, lines.map(format).join(''));
    return path;
  };
  const logs = await Promise.all(
    Object.entries(containers).map(async ([name, {current, previous}]) => ({
      ...(name === '*' ? {} : {containers: [name]}),
      logsFile: await save(`${name}.log`, current),
      previousLogsFile: await save(`${name}.previous.log`, previous),
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

/** One more line; `kubectl logs --follow` sees it. */
export async function appendLog(kubeconfig: string, where: Where, container: string, line: string): Promise<void> {
  await appendFile(join(folderOf(kubeconfig, where), `${container}.log`), format(line));
}

const PIECE = 1024 * 1024;

/** Lines without end, until the log that was set is so many bytes long; it is never held as a whole. */
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
