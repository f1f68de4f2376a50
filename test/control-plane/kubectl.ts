import {execa} from 'execa';
import {stringify} from 'yaml';
import {collectionPath, isClusterScoped, pluralOfKind} from '../../src/cluster/kubernetes/kinds.ts';
import type {KubernetesObject} from '../../src/cluster/kubernetes/objects.ts';
import {fromLayer, hasLayers} from '../support/npm-layer.ts';
import {type Api, connectWith} from './api.ts';

/** kubectl of the version of the test cluster; on systems other than Linux, kubectl on PATH. */
export const findKubectl = async (): Promise<string> =>
  hasLayers ? fromLayer('kubectl', 'helm 4, kubectl 1.35') : 'kubectl';

/** kubectl bound to one namespace of one cluster. */
export interface Kubectl {
  /** Resolves with stdout. */
  (...args: string[]): Promise<string>;
  apply(...objects: object[]): Promise<void>;
  get<T>(...args: string[]): Promise<T>;
  /** Requests without a kubectl process. */
  api: Api;
}

export async function kubectlFor(kubeconfig: string, namespace = 'default'): Promise<Kubectl> {
  const path = await findKubectl();
  const bound = ['--kubeconfig', kubeconfig, '--namespace', namespace];
  const run = async (args: readonly string[], input?: string): Promise<string> =>
    (await execa(path, [...bound, ...args], input === undefined ? {stdin: 'ignore'} : {input}))
      .stdout;
  const api: Api = async (...call) => (await clientOf(kubeconfig))(...call);
  return Object.assign(async (...args: string[]) => run(args), {
    api,
    async apply(...objects: object[]) {
      for (const object of objects as KubernetesObject[]) {
        // kubectl changes what exists, and says why an object is refused.
        if (!(await isCreated(api, object, namespace)))
          await run(['apply', '-f', '-'], stringify(object));
      }
    },
    get: async <T>(...args: string[]) => JSON.parse(await run(['get', '-o', 'json', ...args])) as T,
  });
}

const clients = new Map<string, Promise<Api>>();

function clientOf(kubeconfig: string): Promise<Api> {
  const client = clients.get(kubeconfig) ?? connectWith(kubeconfig);
  clients.set(kubeconfig, client);
  return client;
}

/** Kinds of the tests that `src/cluster/kubernetes/kinds.ts` has no path of, because no chart has them. */
const PATHS: Readonly<Record<string, string>> = {
  ClusterLogs: '/apis/kwok.x-k8s.io/v1alpha1/clusterlogs',
  MutatingWebhookConfiguration:
    '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
  ValidatingWebhookConfiguration:
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
  Node: '/api/v1/nodes',
};

/** Creates an object as `kubectl apply` does. */
async function isCreated(api: Api, object: KubernetesObject, namespace: string): Promise<boolean> {
  const {apiVersion, kind = '', metadata} = object;
  const scope = isClusterScoped(kind) ? undefined : (metadata.namespace ?? namespace);
  const path = PATHS[kind] ?? collectionPath(pluralOfKind(kind), scope, apiVersion);
  const annotations = {
    ...metadata.annotations,
    'kubectl.kubernetes.io/last-applied-configuration': `${JSON.stringify(object)}\n`,
  };
  const body = {...object, metadata: {...metadata, annotations}};
  return api('POST', `${path}?fieldManager=kubectl-client-side-apply`, body).then(
    () => true,
    () => false,
  );
}
