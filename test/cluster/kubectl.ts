import {execa} from 'execa';
import {stringify} from 'yaml';
import {fromLayer, hasLayers} from '../support/npm-layer.ts';

/** kubectl of the version of the test cluster; on systems other than Linux, kubectl on PATH. */
export const findKubectl = async (): Promise<string> => (hasLayers ? fromLayer('kubectl', 'helm 4, kubectl 1.35') : 'kubectl');

/** kubectl bound to one namespace of one cluster. */
export interface Kubectl {
  /** Resolves with stdout. */
  (...args: string[]): Promise<string>;
  apply(...objects: object[]): Promise<string>;
  get<T>(...args: string[]): Promise<T>;
}

export async function kubectlFor(kubeconfig: string, namespace = 'default'): Promise<Kubectl> {
  const path = await findKubectl();
  const bound = ['--kubeconfig', kubeconfig, '--namespace', namespace];
  const run = async (args: readonly string[], input?: string): Promise<string> =>
    (await execa(path, [...bound, ...args], input === undefined ? {stdin: 'ignore'} : {input})).stdout;
  return Object.assign(async (...args: string[]) => run(args), {
    apply: async (...objects: object[]) => run(['apply', '-f', '-'], objects.map((each) => stringify(each)).join('---\n')),
    get: async (...args: string[]) => JSON.parse(await run(['get', '-o', 'json', ...args])),
  });
}
