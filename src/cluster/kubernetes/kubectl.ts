import type {KubectlCall} from '../../ground/call.ts';
import type {ClusterTarget} from '../../ground/command-line.ts';
import {serverOfPod} from './in-pod.ts';

/** Calls of kubectl that change nothing. */

export const JSON_OUTPUT = ['--output', 'json'] as const;

/**
 * kubectl would wait forever for an API server that accepts connections but does not respond. For calls without their own timeout. With it,
 * kubectl uses localhost:8080 instead of the service account of its pod.
 */
export const requestTimeout = (
  {kubeContext}: ClusterTarget,
  seconds = 15,
): Pick<KubectlCall, 'requestTimeout'> =>
  kubeContext || serverOfPod() === undefined ? {requestTimeout: `${seconds}s`} : {};

export const currentContext = (kubeTarget: ClusterTarget): KubectlCall => ({
  tool: 'kubectl',
  verb: 'config view',
  kubeTarget,
  flags: ['--minify', ...JSON_OUTPUT],
});

/** All contexts of the kubeconfig; kubectl masks credentials. */
export const allContexts = (kubeTarget: ClusterTarget): KubectlCall => ({
  tool: 'kubectl',
  verb: 'config view',
  kubeTarget,
  flags: JSON_OUTPUT,
});

/** One per line: namespace/scalr-agent. Shells complete them, so it must answer at once. */
export const listNamespaces = (kubeTarget: ClusterTarget): KubectlCall => ({
  tool: 'kubectl',
  verb: 'get',
  kubeTarget,
  resources: [{kind: 'namespaces'}],
  flags: ['--output', 'name'],
  ...requestTimeout(kubeTarget, 1),
});

/** Version of the program, without a request. */
export const clientVersion = (kubeTarget: ClusterTarget): KubectlCall => ({
  tool: 'kubectl',
  verb: 'version',
  kubeTarget,
  flags: ['--client', ...JSON_OUTPUT],
});

export const listKinds = (kubeTarget: ClusterTarget, kinds: readonly string[]): KubectlCall => ({
  tool: 'kubectl',
  verb: 'get',
  kubeTarget,
  resources: kinds.map((kind) => ({kind})),
  flags: JSON_OUTPUT,
  ...requestTimeout(kubeTarget),
});

export const describePods = (kubeTarget: ClusterTarget): KubectlCall => ({
  tool: 'kubectl',
  verb: 'describe',
  kubeTarget,
  resources: [{kind: 'pods'}],
});

/** Proxies the API server on a socket until it is stopped: reads, reviews and applied objects, but no deletions, exec or attach. */
export const proxy = (kubeTarget: ClusterTarget, socket: string): KubectlCall => ({
  tool: 'kubectl',
  verb: 'proxy',
  kubeTarget,
  flags: [
    `--unix-socket=${socket}`,
    // Rancher and others serve the API under a path prefix, which kubectl would otherwise drop.
    '--append-server-path',
    '--accept-paths=^/(api|apis|version|readyz|livez|healthz|openapi|metrics)(/|$)',
    '--reject-paths=^/api/v1/namespaces/[^/]+/(pods|services)/[^/]+/(exec|attach|portforward|proxy)(/|$)',
    '--reject-methods=^DELETE$',
  ],
});

export const getRaw = (kubeTarget: ClusterTarget, path: string): KubectlCall => ({
  tool: 'kubectl',
  verb: 'get',
  kubeTarget,
  flags: ['--raw', path],
});

/** The same with POST; the body is read from standard input. */
export const createRaw = (kubeTarget: ClusterTarget, path: string): KubectlCall => ({
  tool: 'kubectl',
  verb: 'create',
  kubeTarget,
  flags: ['--raw', path, '--filename', '-'],
});
