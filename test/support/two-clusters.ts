import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import {parse, stringify} from 'yaml';
import type {Workplace} from '../control-plane/workplace.ts';
import {installPlace} from './install-place.ts';

/** Two clusters with the same namespace, in one kubeconfig with the contexts dev and prod. */
export interface TwoClusters {
  dev: Workplace;
  prod: Workplace;
  /** The namespace of dev, through the kubeconfig of both. */
  place: Pick<Workplace, 'kubeconfig' | 'namespace'>;
  /** As `kubectl config use-context` in another shell. */
  use(context: 'dev' | 'prod'): Promise<void>;
  /** As a tool that writes the credentials of another cluster into the file, with the same name. */
  rename(): Promise<void>;
}

interface Config {
  clusters: {cluster: object}[];
  users: {user: object}[];
}

/** The context dev is current. `other` is the kubeconfig of the second cluster. */
export async function twoClusters(other: string): Promise<TwoClusters> {
  const dev = await installPlace();
  const prod = await installPlace(other, dev.namespace);
  const directory = await mkdtemp(join(tmpdir(), 'two-clusters-'));
  onTestFinished(() => rm(directory, {recursive: true}));
  const kubeconfig = join(directory, 'kubeconfig');
  const configs: Config[] = [];
  for (const place of [dev, prod]) configs.push(parse(await readFile(place.kubeconfig, 'utf8')));
  const write = async (names: readonly string[], current: string): Promise<void> => {
    const part = (index: number) => configs[index] as Config;
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: names.map((name, index) => ({name, cluster: part(index).clusters[0]?.cluster})),
      users: names.map((name, index) => ({name, user: part(index).users[0]?.user})),
      contexts: names.map((name) => ({name, context: {cluster: name, user: name}})),
      'current-context': current,
    };
    await writeFile(kubeconfig, stringify(config), {mode: 0o600});
  };
  await write(['dev', 'prod'], 'dev');
  return {
    dev,
    prod,
    place: {kubeconfig, namespace: dev.namespace},
    use: (context) => write(['dev', 'prod'], context),
    rename: () => write(['old', 'dev'], 'dev'),
  };
}

/** Everything that a change of a release would change. */
export const stateOf = ({kubectl}: Workplace): Promise<string> =>
  kubectl(
    'get',
    'deployments,secrets,persistentvolumeclaims',
    '--output',
    'jsonpath={range .items[*]}{.metadata.name} {.metadata.generation} {.metadata.uid} {.spec.replicas}{"\\n"}{end}',
  );
