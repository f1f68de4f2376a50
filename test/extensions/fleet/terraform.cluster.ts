import {writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {expect, type TestContext, test} from 'vitest';
import {buildBeforeTests, builtTool} from '../../engines/tools.ts';
import {recipe} from '../../recipes/recipe.ts';
import {fleetPlace, installedObjects, installInto, manifestOf, TOKEN} from './fleet-place.ts';

const LOCAL = {chart: 'agent-local', version: '0.6.5'} as const;
const OLD = {chart: 'agent-job', version: '0.5.67'} as const;
const NEW = {chart: 'agent-job', version: '0.5.68'} as const;
const FLAGS = [
  '--url',
  'https://acme.scalr.io',
  '--pod-annotation',
  'team=a',
  '--extra-env',
  'GREETING=$' + '{HOME} %{x}',
];

/** Upgrades of a release called scalr-agent fail between these versions: docs/charts/upgrades.md. */
const RENAMED = ['--release', 'fleet', '--token-secret', 'scalr-agent-token'];

/** OpenTofu with the newest Helm provider that can be built, which is an old one: the files use only what all versions have. */
async function tofuPlace(
  charts: Parameters<typeof fleetPlace>[0],
  context: Pick<TestContext, 'skip'>,
) {
  const tofu = await builtTool('tofu', context);
  const provider = await builtTool('terraform-provider-helm', context);
  const place = await fleetPlace(charts);
  const config = join(place.folder, 'tofurc');
  writeFileSync(
    config,
    `provider_installation {\n  dev_overrides {\n    "hashicorp/helm" = "${dirname(provider)}"\n  }\n  direct {}\n}\n`,
  );
  Object.assign(place.env, {
    TF_CLI_CONFIG_FILE: config,
    KUBE_CONFIG_PATH: place.kubeconfig,
    TF_IN_AUTOMATION: '1',
    TF_VAR_kubectl_flags: `--kubeconfig ${place.kubeconfig}`,
  });
  return {...place, tofu: (...args: string[]) => place.run(tofu, args, 'fleet/clusters/default')};
}

buildBeforeTests('tofu', 'terraform-provider-helm');

test('OpenTofu installs what install does, and plans no change afterwards', async (context) => {
  const place = await tofuPlace([LOCAL], context);
  place.exportFiles('terraform', '--chart', 'agent-local', ...FLAGS);
  await place.tofu('fmt', '-check', '-recursive', '../../..');
  await place.tofu('get');
  await place.tofu('validate');
  await place.tofu('apply', '-auto-approve');
  await place.tofu('plan', '-detailed-exitcode');
  expect(await manifestOf(place.helm, place)).toEqual(
    await installedObjects(LOCAL, place.folder, FLAGS),
  );
  expect((await place.tofu('output', '-raw', 'release')).stdout).toBe('scalr-agent');
  expect((await place.tofu('show', '-json')).stdout).not.toContain(TOKEN);
});

test('OpenTofu takes over an installed release as the guide says, without a new pod', async (context) => {
  const place = await tofuPlace([LOCAL], context);
  await installInto(place, LOCAL, place, FLAGS);
  const pods = async (): Promise<string> => {
    await place.kubectl('rollout', 'status', 'deployment/scalr-agent-agent-local');
    return place.kubectl('get', 'pods', '--output', 'name');
  };
  const before = await pods();
  place.exportFiles('terraform', '--chart', 'agent-local', ...FLAGS);
  const guide = recipe('docs/guide/terraform.md').get('Adopt an installed release');
  const [shown = ''] =
    guide?.flatMap(({text}) => /^\$ tofu \S+ (import .*)/m.exec(text)?.[1] ?? []) ?? [];
  await place.tofu('get');
  await place.tofu(...shown.replace('scalr-agent/', `${place.namespace}/`).split(' '));
  await place.tofu('apply', '-auto-approve');
  await place.tofu('plan', '-detailed-exitcode');
  expect(await pods()).toBe(before);
});

test.skipIf(!process.env['TEST_FULL'])(
  'an upgrade of agent-job applies its new CRDs',
  {timeout: 180_000},
  async (context) => {
    const place = await tofuPlace([OLD, NEW], context);
    for (const {version} of [OLD, NEW]) {
      place.exportFiles(
        'terraform',
        '--chart',
        'agent-job',
        '--chart-version',
        version,
        ...RENAMED,
        ...FLAGS.slice(0, 4),
      );
      await place.tofu('fmt', '-check', '-recursive', '../../..');
      await place.tofu('get');
      await place.tofu('apply', '-auto-approve');
      await place.tofu('plan', '-detailed-exitcode');
    }
    expect(
      await place.kubectl(
        'get',
        'deployments',
        '-o',
        'jsonpath={.items[*].metadata.labels.helm\\.sh/chart}',
      ),
    ).toContain('agent-job-0.5.68');
    const managers = [
      '--show-managed-fields',
      '-o',
      'jsonpath={.metadata.managedFields[?(@.operation=="Apply")].manager}',
    ];
    expect(await place.kubectl('get', 'crd', 'agenttasktemplates.scalr.io', ...managers)).toContain(
      'kubectl',
    );
  },
);
