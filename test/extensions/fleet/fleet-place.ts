import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {execa} from 'execa';
import {parseAllDocuments} from 'yaml';
import type {Target} from '../../../src/charts/releases/target.ts';
import type {KubernetesObject} from '../../../src/cluster/kubernetes/objects.ts';
import {CHART_REPOSITORY} from '../../../src/ground/command-line.ts';
import {directoryOf} from '../../cluster/helm/charts-under-test.ts';
import {findHelm} from '../../cluster/helm/find-helm.ts';
import {type Workplace, workplace} from '../../control-plane/workplace.ts';
import {runBuilt} from '../../package/built.ts';
import {chartRepository} from '../../recipes/chart-repository.ts';
import {workshop} from '../../recipes/workshop.ts';
import {install} from '../../support/run-on-cluster.ts';

export const TOKEN = 'e30.e30.c2ln';
const [newest = {path: 'helm'}] = await findHelm();

/** A directory with helm and kubectl on PATH, a namespace with the token, and a repository of charts. */
export async function fleetPlace(charts: readonly Target[], helm = newest.path) {
  const place = await workplace();
  const shop = await workshop({}, helm);
  const {namespace, kubeconfig, kubectl} = place;
  await kubectl.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: 'scalr-agent-token', namespace},
    stringData: {token: TOKEN},
  });
  const repository = await chartRepository(helm, charts, shop.folder);
  const env = {
    ...shop.env,
    KUBECONFIG: kubeconfig,
    ...Object.fromEntries(
      ['CACHE', 'CONFIG', 'DATA'].map((name) => [`HELM_${name}_HOME`, join(shop.folder, name)]),
    ),
  };
  /** Exports to `fleet`, with the repository of the test. Returns the paths below it. */
  const exportFiles = (target: string, ...flags: readonly string[]): string[] => {
    const argv = ['export', target, '--namespace', namespace, ...flags, '--out', 'fleet', '--yes'];
    const {status, stderr} = runBuilt('scalr-agent', argv, {cwd: shop.cwd});
    if (status !== 0) throw new Error(stderr);
    const files = readdirSync(join(shop.cwd, 'fleet'), {
      recursive: true,
      encoding: 'utf8',
      withFileTypes: true,
    }).filter((each) => each.isFile());
    for (const {parentPath, name} of files) {
      const path = join(parentPath, name);
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll(CHART_REPOSITORY, repository));
    }
    return files.map(({parentPath, name}) =>
      join(parentPath, name).slice(join(shop.cwd, 'fleet/').length),
    );
  };
  const run = (file: string, args: readonly string[], cwd = 'fleet', input = '') =>
    execa(file, args, {cwd: join(shop.cwd, cwd), env, input});
  return {...place, ...shop, env, repository, helm, exportFiles, run};
}
export type FleetPlace = Awaited<ReturnType<typeof fleetPlace>>;

const FROM_OWNERS = /^(helm\.toolkit\.fluxcd\.io|helm\.sh\/resource-policy)/;

/** Objects without their namespace and the labels of their owner, so that they can be compared. */
export const comparable = (manifest: string, namespace: string): KubernetesObject[] =>
  parseAllDocuments(manifest.replaceAll(namespace, 'NAMESPACE'))
    .map((each) => each.toJS() as KubernetesObject | null)
    .filter((each) => each !== null)
    .map((object) => {
      for (const kind of ['labels', 'annotations'] as const) {
        for (const key of Object.keys(object.metadata[kind] ?? {}))
          if (FROM_OWNERS.test(key)) delete (object.metadata[kind] as Record<string, string>)[key];
        if (Object.keys(object.metadata[kind] ?? {}).length === 0) delete object.metadata[kind];
      }
      return object;
    })
    .toSorted((one, other) =>
      `${one.kind} ${one.metadata.name}`.localeCompare(`${other.kind} ${other.metadata.name}`),
    );

export const manifestOf = async (
  helm: string,
  {kubeconfig, namespace}: Pick<Workplace, 'kubeconfig' | 'namespace'>,
) =>
  comparable(
    (
      await execa(helm, [
        'get',
        'manifest',
        'scalr-agent',
        '--namespace',
        namespace,
        '--kubeconfig',
        kubeconfig,
      ])
    ).stdout,
    namespace,
  );

/** Installs a chart from a directory, which is unpacked below `folder` first. */
export async function installInto(
  place: Pick<Workplace, 'kubeconfig' | 'namespace'>,
  target: Target,
  {folder, helm}: {folder: string; helm: string},
  flags: readonly string[],
): Promise<void> {
  const source = ['--chart-source', await directoryOf(target, folder)];
  const argv = [...source, ...flags, '--no-from-cluster', '--skip-preflight', '--no-wait', '--yes'];
  const {exit, stderr} = await install(place, helm, argv, {env: {SCALR_AGENT_TOKEN: TOKEN}});
  if (exit !== 0) throw new Error(stderr);
}

/** What `install` makes of the same answers, in another namespace. */
export async function installedObjects(
  target: Target,
  folder: string,
  flags: readonly string[],
): Promise<KubernetesObject[]> {
  const place = await workplace();
  await installInto(place, target, {folder, helm: newest.path}, flags);
  return manifestOf(newest.path, place);
}
