import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {parseDocument, stringify} from 'yaml';
import type {Setup} from './programs.ts';

/** kwok configuration: simulates the kubelets of all nodes, with the stages of kwok and of this folder. Pods become ready after `podSeconds`. */
export async function kwokConfig(
  {certificates, ports}: Setup,
  stages: string,
  podSeconds: number,
): Promise<string> {
  const options = {
    manageAllNodes: true,
    nodeIP: '127.0.0.1',
    cidr: '10.244.0.0/16',
    nodePort: ports.kubelet,
    serverAddress: `127.0.0.1:${ports.kubelet}`,
    tlsCertFile: certificates.server.cert,
    tlsPrivateKeyFile: certificates.server.key,
    // A custom configuration replaces the defaults of kwok: without these, stages do not run and logs are not served.
    enableDebuggingHandlers: true,
    nodePlayStageParallelism: 4,
    podPlayStageParallelism: 8,
    nodeLeaseParallelism: 4,
    nodeLeaseDurationSeconds: 40,
    enableCRDs: ['ClusterLogs', 'Logs'],
  };
  const own = join(import.meta.dirname, 'stages');
  const files = [stages, ...(await readdir(own)).map((name) => join(own, name))];
  const texts = await Promise.all(files.map((path) => readFile(path, 'utf8')));
  const configuration = {
    apiVersion: 'config.kwok.x-k8s.io/v1alpha1',
    kind: 'KwokConfiguration',
    options,
  };
  // kwok would bind a volume that is reserved by name again and again, because Kubernetes makes it available again.
  const bound = texts.map((text, index) =>
    (files[index]?.endsWith('pod-ready.yaml') ? delayed(text, podSeconds) : text).replace(
      'has(self.spec.claimRef.name)',
      'has(self.spec.claimRef.uid)',
    ),
  );
  return [stringify(configuration), ...bound].join('\n---\n');
}

function delayed(stage: string, seconds: number): string {
  const document = parseDocument(stage);
  document.setIn(['spec', 'delay'], {durationMilliseconds: seconds * 1000});
  return document.toString();
}
