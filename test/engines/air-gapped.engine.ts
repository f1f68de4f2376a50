import {cpSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {root} from '../docs/commands.ts';
import {chartRepository} from '../recipes/chart-repository.ts';
import {fileOf, linesOf, recipe, type} from '../recipes/recipe.ts';
import {workshop} from '../recipes/workshop.ts';
import {startAirGap} from './air-gap.ts';
import {publishImages, startRegistry} from './registry.ts';
import {installed} from './tools.ts';

const page = recipe('docs/guide/air-gapped.md');
const [fetchFiles = '', list = '', save = ''] = linesOf(page, 'Connected machine');
const [unpack = '', push = '', write = ''] = linesOf(page, 'Air-gapped machine');
const [install = ''] = linesOf(page, 'Install with scalr-agent');

const IMAGES = ['scalr/agent:1.4.0', 'scalr/runner:0.2.0'];

/** The program that the recipe has installed. */
const withProgram = ({env}: Awaited<ReturnType<typeof workshop>>) => ({
  ...env,
  PATH: `${join(env.npm_config_prefix, 'bin')}:${env.PATH}`,
});

/** Everything that a machine with internet access prepares; returns its directory. */
async function connected(source: string): Promise<{cwd: string; repository: string}> {
  const machine = await workshop();
  const repository = await chartRepository(
    join(machine.bin, 'helm'),
    {chart: 'agent-job', version: '0.6.5'},
    machine.folder,
  );
  machine.write('answers.yaml', fileOf(page, 'Connected machine'));
  const shell = {
    cwd: machine.cwd,
    env: {...withProgram(machine), SKOPEO_FLAGS: '--src-tls-verify=false'},
  };
  // The package and the public charts and images have stand-ins on this machine.
  const here = fetchFiles
    .replace('npm pack "$CHECKOUT"', `npm pack --ignore-scripts '${root}'`)
    .replace('https://scalr.github.io/agent-helm/', repository);
  for (const text of [here, list]) expect(await type(text, shell)).toMatchObject({exitCode: 0});
  const script = readFileSync(join(machine.cwd, 'images.sh'), 'utf8');
  machine.write('local.sh', script.replaceAll('docker.io/', `${source}/`));
  expect(await type(save.replace('images.sh', 'local.sh'), shell)).toMatchObject({exitCode: 0});
  return {cwd: machine.cwd, repository};
}

test('the recipe works in a network without a route', {timeout: 300_000}, async (context) => {
  await installed('skopeo', 'skopeo', context);
  const gap = await startAirGap('registry.example.com', context);
  const source = await startRegistry(context);
  await publishImages(source, IMAGES, context);
  const outside = await connected(source);

  const inside = await workshop();
  for (const file of readdirSync(outside.cwd).filter((name) =>
    /\.tgz$|^answers\.yaml$|^images(\.sh)?$/.test(name),
  ))
    cpSync(join(outside.cwd, file), join(inside.cwd, file), {recursive: true});
  const shell = {
    cwd: inside.cwd,
    env: {...withProgram(inside), ...gap.env, KUBECONFIG: '/dev/null'},
    under: gap.under(inside.cwd),
  };
  const typed = async (text: string) => {
    const result = await type(text, shell);
    expect(result, text).toMatchObject({exitCode: 0});
    return result.stdout;
  };
  for (const address of [outside.repository, `http://${source}/v2/`])
    expect(
      await type(`node -e "fetch('${address}').catch(() => process.exit(7))"`, shell),
    ).toMatchObject({exitCode: 7});

  /** What preflight finds in the registry with the settings of the install; there is no cluster. */
  const mirrorCheck = async () => {
    const text = install
      .replace('scalr-agent install', 'scalr-agent preflight')
      .replace(' --yes', ' --no-from-cluster --json');
    const {exitCode, stdout} = await type(text, shell);
    expect(exitCode).toBe(3);
    return JSON.parse(stdout).checks.find(({id}: {id: string}) => id === 'mirror-images');
  };
  await typed(unpack);
  const before = await mirrorCheck();
  expect(before).toMatchObject({
    status: 'fail',
    message: expect.stringContaining('registry.example.com/mirror/scalr/runner:0.2.0 not found'),
  });
  expect(await typed(before.remedy.split(': ').at(-1))).toContain(
    'skopeo copy --all docker://docker.io/scalr/runner:0.2.0 ',
  );

  for (const text of [push, write]) await typed(text);
  const after = await mirrorCheck();
  expect(after).toMatchObject({
    status: 'pass',
    message: expect.stringMatching(/scalr\/runner:0\.2\.0 \(sha256:[0-9a-f]{64}\)/),
  });

  const rendered = await typed(
    'helm template scalr-agent ./agent-job-0.6.5.tgz --values values.yaml --kube-version 1.35.0',
  );
  const used = new Set(
    [...rendered.matchAll(/^[- ]*(?:image|reference): *"?([^" \n]+)/gm)].map(
      ([, image = '']) => image,
    ),
  );
  expect([...used].toSorted()).toEqual(
    IMAGES.map((image) => `registry.example.com/mirror/${image}`),
  );
  for (const image of used) {
    const {manifests} = JSON.parse(await typed(`skopeo inspect --raw docker://${image}`));
    const platforms = manifests.map(
      ({platform}: {platform: {os: string; architecture: string}}) =>
        `${platform.os}/${platform.architecture}`,
    );
    expect(platforms, image).toEqual(['linux/amd64', 'linux/arm64']);
  }
});
