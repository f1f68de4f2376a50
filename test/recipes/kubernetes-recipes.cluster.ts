import {mkdtemp, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, onTestFinished, test} from 'vitest';
import {parse} from 'yaml';
import {type Workplace, workplace} from '../control-plane/workplace.ts';
import {onCluster} from './on-cluster.ts';
import {fileOf, linesOf, recipe} from './recipe.ts';

const page = recipe('docs/guide/recipes.md');
const SHARED = 'scalr-agent-cache';
const CILIUM_RECIPE = 'Restrict hosts with Cilium';

/** A file of the page under the name in its first line, for the namespace of the test. Objects of the cluster get a name of their own. */
function fileFor(heading: string, {namespace}: Pick<Workplace, 'namespace'>) {
  const text = fileOf(page, heading);
  const [, name = ''] = /^# (\S+\.yaml)$/m.exec(text) ?? [];
  const own = text
    .replaceAll(/^( *namespace:) scalr-agent$/gm, `$1 ${namespace}`)
    .replaceAll(SHARED, `cache-${namespace}`);
  return {name, text: own};
}

const HEADINGS = [...page.keys()].filter((heading) =>
  page.get(heading)?.some(({language}) => language === 'yaml'),
);

test.each(
  HEADINGS.filter((heading) => heading !== CILIUM_RECIPE),
)('the API server accepts the file and the commands of: %s', async (heading) => {
  const {write, typed, place} = await onCluster();
  const {name, text} = fileFor(heading, place);
  write(name, text);
  onTestFinished(async () => {
    const shared = ['storageclass', 'persistentvolume'].map((kind) =>
      place.kubectl(
        'delete',
        kind,
        `cache-${place.namespace}`,
        '--ignore-not-found',
        '--wait=false',
      ),
    );
    await Promise.all(shared);
  });
  const lines = linesOf(page, heading);
  expect(lines.join('')).toContain(`kubectl apply --filename ${name} `);
  for (const line of lines) {
    const strict = line.replace('kubectl apply ', 'kubectl apply --validate=strict ');
    const {exitCode, stdout, stderr} = await typed(strict);
    expect(exitCode, `${line}${stdout}${stderr}`).toBe(0);
  }
});

const CILIUM = 'github.com/cilium/cilium@v1.18.4';
const CRD = 'pkg/k8s/apis/cilium.io/client/crds/v2/ciliumnetworkpolicies.yaml';
/** With its own group, the CRD would make the shared cluster look like one with Cilium. */
const GROUP = 'cilium.io';
const RENAMED = 'cilium.test.scalr.io';

interface Definition {
  metadata: {name: string};
  spec: {group: string; names: {plural: string; shortNames?: string[]; categories?: string[]}};
}

/** Serves the CRD of Cilium, from its Go module, under another group. */
async function serveCilium({kubectl}: Pick<Workplace, 'kubectl'>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'cilium-'));
  onTestFinished(() => rm(folder, {recursive: true, force: true}));
  const {stdout} = await execa('go', ['mod', 'download', '-json', CILIUM], {cwd: folder});
  const definition = parse(await readFile(join(JSON.parse(stdout).Dir, CRD), 'utf8')) as Definition;
  const {names} = definition.spec;
  const renamed = {
    ...definition,
    metadata: {name: `${names.plural}.${RENAMED}`},
    spec: {...definition.spec, group: RENAMED, names: {...names, shortNames: [], categories: []}},
  };
  const crd = `customresourcedefinitions/${renamed.metadata.name}`;
  onTestFinished(async () => void (await kubectl('delete', crd, '--ignore-not-found')));
  await kubectl.apply(renamed);
  // kubectl wait fails while there are no conditions yet.
  await expect
    .poll(() =>
      kubectl(
        'get',
        crd,
        '--output',
        'jsonpath={.status.conditions[?(@.type=="Established")].status}',
      ),
    )
    .toBe('True');
}

test('the CiliumNetworkPolicy matches the schema of Cilium, and a wrong one does not', async ({
  skip,
}) => {
  const {exitCode} = await execa('go', ['version'], {reject: false});
  if (exitCode !== 0) skip('go is not installed: its module cache has the CRD of Cilium');
  await serveCilium(await workplace());
  const {write, typed, place} = await onCluster();
  const {name, text} = fileFor(CILIUM_RECIPE, place);
  const [apply = ''] = linesOf(page, CILIUM_RECIPE);
  const strict = apply.replace('kubectl apply ', 'kubectl apply --validate=strict ');
  const policy = text.replace(`apiVersion: ${GROUP}/`, `apiVersion: ${RENAMED}/`);
  write(name, policy);
  const accepted = await typed(strict);
  expect(accepted, accepted.stderr).toMatchObject({exitCode: 0});
  write(name, policy.replaceAll('matchName', 'host'));
  expect(await typed(strict)).toMatchObject({stderr: expect.stringContaining('unknown field')});
});
