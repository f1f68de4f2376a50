import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, type TestContext, test} from 'vitest';
import {parse, stringify} from 'yaml';
import {findHelm} from '../../cluster/helm/find-helm.ts';
import {until} from '../../control-plane/api.ts';
import {installed, moduleDirectory} from '../../engines/tools.ts';
import {recipe, type} from '../../recipes/recipe.ts';
import {
  comparable,
  type FleetPlace,
  fleetPlace,
  installedObjects,
  installInto,
} from './fleet-place.ts';

const LOCAL = {chart: 'agent-local', version: '0.6.5'} as const;
const FLAGS = ['--url', 'https://acme.scalr.io', '--pod-annotation', 'team=a'];
const GIT = ['--git-url', 'https://git.example.com/agents.git'];

/** The API server accepts the files, without unknown fields. */
async function accepted(
  {run, kubectl}: FleetPlace,
  files: readonly string[],
  context: Pick<TestContext, 'skip'>,
): Promise<void> {
  const module = await moduleDirectory('fleets/argo-cd', 'github.com/argoproj/argo-cd/v3', context);
  const folder = join(module, 'manifests/crds');
  for (const file of readdirSync(folder).filter((name) => name.endsWith('-crd.yaml')))
    await run('kubectl', ['apply', '--server-side', '--filename', join(folder, file)], '.');
  await kubectl.apply({apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'argocd'}});
  for (const file of files)
    await run('kubectl', [
      'apply',
      '--server-side',
      '--validate=strict',
      '--dry-run=server',
      '--filename',
      file,
    ]);
}

interface Source {
  chart: string;
  targetRevision: string;
  repoURL: string;
  helm: {releaseName: string; valuesObject: object};
}

const read = <T>({cwd}: FleetPlace, file: string): T =>
  parse(readFileSync(join(cwd, 'fleet', file), 'utf8')) as T;

/** As the repo server of Argo CD renders a chart. */
async function manifestFrom(
  {helm, namespace, kubeconfig}: FleetPlace,
  {chart, targetRevision, repoURL, helm: {releaseName}}: Source,
  ...values: object[]
): Promise<string> {
  const where = [
    '--repo',
    repoURL,
    '--version',
    targetRevision,
    '--namespace',
    namespace,
    '--kube-version',
    '1.35.0',
    '--include-crds',
  ];
  const {stdout} = await execa(helm, ['template', releaseName, chart, ...where, '--values', '-'], {
    input: stringify(Object.assign({}, ...values)),
    env: {KUBECONFIG: kubeconfig},
  });
  return stdout;
}

const rendered = async (place: FleetPlace, source: Source, ...values: object[]) =>
  comparable(await manifestFrom(place, source, ...values), place.namespace);

/** Applies as Argo CD does with ServerSideApply=true. */
async function sync(place: FleetPlace, source: Source, values: object): Promise<void> {
  const manifest = await manifestFrom(place, source, values);
  const owner = ['--field-manager', 'argocd-controller', '--force-conflicts'];
  const args = ['apply', '--server-side', ...owner, '--namespace', place.namespace];
  await place.run('kubectl', [...args, '--filename', '-'], '.', manifest);
}

test('Argo CD accepts the Application, and renders what install does', async (context) => {
  const place = await fleetPlace([LOCAL]);
  const files = place.exportFiles(
    'argocd',
    '--chart',
    'agent-local',
    '--autoscaled',
    '--secret-store',
    'vault',
    ...GIT,
    ...FLAGS,
  );
  await accepted(place, ['applications/in-cluster.yaml'], context);
  const {spec} = read<{spec: {sources: [Source, object]; ignoreDifferences: object[]}}>(
    place,
    'applications/in-cluster.yaml',
  );
  const [source] = spec.sources;
  expect(await rendered(place, source, source.helm.valuesObject)).toEqual(
    await installedObjects(LOCAL, place.folder, FLAGS),
  );
  expect(spec.ignoreDifferences).toEqual([
    {group: 'apps', kind: 'Deployment', jsonPointers: ['/spec/replicas']},
  ]);
  expect(files).toContain('secrets/in-cluster/external-secret.yaml');
});

test('Argo CD accepts the ApplicationSet, and base and file of a cluster render what install does', async (context) => {
  const place = await fleetPlace([LOCAL]);
  mkdirSync(join(place.cwd, 'clusters'));
  writeFileSync(
    join(place.cwd, 'answers.yaml'),
    'url: https://acme.scalr.io\nchart: agent-local\n',
  );
  writeFileSync(join(place.cwd, 'clusters/eu-1.yaml'), 'pod-annotation: {team: a}\n');
  place.exportFiles('argocd-appset', '--answers', 'answers.yaml', '--overlay', 'clusters', ...GIT);
  await accepted(place, ['applicationset.yaml'], context);
  const {spec} = read<{spec: {template: {spec: {sources: [Source]}}}}>(
    place,
    'applicationset.yaml',
  );
  const cluster = read<Record<string, string> & {override: object}>(
    place,
    'clusters/eu-1/config.json',
  );
  const filled = JSON.parse(
    JSON.stringify(spec.template.spec.sources[0]).replaceAll(/\{\{\.(\w+)\}\}/g, (_, key) =>
      String(cluster[key]),
    ),
  ) as Source & {helm: {valueFiles: [string]}};
  const base = read<object>(place, filled.helm.valueFiles[0].replace('$answers/fleet/', ''));
  expect(await rendered(place, filled, base, cluster.override)).toEqual(
    await installedObjects(LOCAL, place.folder, FLAGS),
  );
});

test.for(
  await findHelm(),
)('the guide moves a release of Helm $major to Argo CD without a new pod, and what is removed later disappears', async ({
  path,
}, context) => {
  await installed('jq', 'jq', context);
  const place = await fleetPlace([LOCAL], path);
  await installInto(place, LOCAL, place, FLAGS);
  const pods = async (): Promise<string> => {
    await place.kubectl('rollout', 'status', 'deployment/scalr-agent-agent-local');
    return place.kubectl('get', 'pods', '--output', 'name');
  };
  const before = await pods();
  const values = ['get', 'values', 'scalr-agent', '--namespace', place.namespace];
  const current = await place.run(path, [...values, '--output', 'yaml'], '.');
  place.write('current.yaml', current.stdout);
  const {chart, version} = LOCAL;
  const flags = ['--values-file', 'current.yaml', '--chart', chart, '--chart-version', version];
  place.exportFiles('argocd', ...flags);
  const {spec} = read<{spec: {sources: [Source]}}>(place, 'applications/in-cluster.yaml');
  const [source] = spec.sources;
  await sync(place, source, source.helm.valuesObject);
  const guide = recipe('docs/guide/argocd.md').get('Adopt an installed release');
  const shown = guide?.filter(({language}) => language === 'console').at(-1)?.text ?? '';
  const typed = shown
    .replaceAll(/^\$ /gm, '')
    .replaceAll('--namespace scalr-agent', `--namespace ${place.namespace}`);
  // A controller may write an object between get and replace.
  await until('Helm owns nothing', async () => (await type(typed, place)).exitCode === 0);
  expect(await pods()).toBe(before);
  expect(await place.kubectl('get', 'deployments', '--output', 'yaml')).toContain('team: a');
  await sync(place, source, {...source.helm.valuesObject, podAnnotations: {}});
  expect(await place.kubectl('get', 'deployments', '--output', 'yaml')).not.toContain('team: a');
  expect(await place.kubectl('get', 'secrets', '--selector', 'owner=helm')).toBe('');
});
