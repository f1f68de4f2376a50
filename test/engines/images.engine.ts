import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, onTestFinished, type TestContext, test} from 'vitest';
import {runBuilt} from '../package/built.ts';
import {startDocker} from './docker.ts';
import {manifestOf, publishImages, startRegistry} from './registry.ts';
import {buildBeforeTests, builtTool, installed} from './tools.ts';

const IMAGES = ['scalr/agent:1.4.0', 'scalr/runner:0.2.0'];

/** A registry with two images for two platforms each, an empty one, and a folder with crane on PATH. */
async function registries(context: Pick<TestContext, 'skip'>) {
  const source = await startRegistry(context);
  const target = await startRegistry(context);
  const crane = await builtTool('crane', context);
  const folder = await mkdtemp(join(tmpdir(), 'mirror-'));
  onTestFinished(() => rm(folder, {recursive: true, force: true}));
  await publishImages(source, IMAGES, context);
  const env = {PATH: `${join(crane, '..')}:${process.env['PATH']}`};
  const type = (text: string, more: Readonly<Record<string, string>> = {}) =>
    execa('sh', ['-eu', '-c', text], {cwd: folder, env: {...env, ...more}});
  return {source, target, folder, type};
}

const commandsFor = (registry: string): Record<'skopeo' | 'crane' | 'docker', string[]> => {
  const {stdout, stderr} = runBuilt('scalr-agent', [
    'images',
    '--chart',
    'agent-job',
    '--image-registry',
    registry,
    '--json',
  ]);
  expect(stderr).toBe('');
  return JSON.parse(stdout).commands;
};

const split = (image: string): [string, string] => image.split(':') as [string, string];

/** A copy has every platform, and unless it passed through another format, the same digest. */
async function expectCopies(
  source: string,
  target: string,
  prefix: string,
  {isSame = true} = {},
): Promise<void> {
  for (const image of IMAGES) {
    const [name, tag] = split(image);
    const original = await manifestOf(source, name, tag);
    const copy = await manifestOf(target, `${prefix}/${name}`, tag);
    expect(original?.platforms).toEqual(['linux/amd64', 'linux/arm64']);
    expect(copy, image).toEqual(isSame ? original : {...original, digest: copy?.digest});
  }
}

buildBeforeTests('registry', 'crane');

test('the crane commands copy every platform', async (context) => {
  const {source, target, type} = await registries(context);
  for (const line of commandsFor(`${target}/mirror`).crane)
    await type(line.replace('crane copy ', `crane copy ${source}/`));
  await expectCopies(source, target, 'mirror');
});

test('the skopeo commands copy every platform', async (context) => {
  await installed('skopeo', 'skopeo', context);
  const {source, target, type} = await registries(context);
  for (const line of commandsFor(`${target}/mirror`).skopeo) {
    const here = line.replace('docker://docker.io/', `docker://${source}/`);
    await type(`${here} --src-tls-verify=false --dest-tls-verify=false`);
  }
  await expectCopies(source, target, 'mirror');
});

test('the docker commands copy the platform of this machine', async (context) => {
  const {source, target, type} = await registries(context);
  const {env} = await startDocker(context, ['--registry-mirror', `http://${source}`]);
  for (const line of commandsFor(`${target}/mirror`).docker) await type(line, env);
  for (const image of IMAGES) {
    const [name, tag] = split(image);
    expect((await manifestOf(target, `mirror/${name}`, tag))?.digest, image).toMatch(/^sha256:/);
  }
});

test('the script carries every platform through a directory', async (context) => {
  await installed('skopeo', 'skopeo', context);
  const {source, target, folder, type} = await registries(context);
  const {stdout} = runBuilt('scalr-agent', [
    'images',
    '--chart',
    'agent-job',
    '--format',
    'oci-layout-script',
  ]);
  await writeFile(join(folder, 'images.sh'), stdout.replaceAll('docker.io/', `${source}/`));
  await type('sh images.sh save ./images', {SKOPEO_FLAGS: '--src-tls-verify=false'});
  await type(`sh images.sh push ./images ${target}/carried`, {
    SKOPEO_FLAGS: '--dest-tls-verify=false',
  });
  await expectCopies(source, target, 'carried', {isSame: false});
});

test('the script fails if an image is missing', async (context) => {
  await installed('skopeo', 'skopeo', context);
  const {target, folder, type} = await registries(context);
  const {stdout} = runBuilt('scalr-agent', [
    'images',
    '--chart',
    'agent-job',
    '--format',
    'oci-layout-script',
  ]);
  await writeFile(join(folder, 'images.sh'), stdout.replaceAll('docker.io/', `${target}/`));
  await expect(
    type('sh images.sh save ./images', {SKOPEO_FLAGS: '--src-tls-verify=false'}),
  ).rejects.toThrow(/manifest unknown/);
});

test('preflight names what the mirror lacks, and the digests of what it has', async (context) => {
  const {source, target, type} = await registries(context);
  const registry = `${target}/mirror`;
  const mirrorCheck = () => {
    const argv = [
      'preflight',
      '--chart',
      'agent-job',
      '--chart-version',
      '0.6.5',
      '--image-registry',
      registry,
      '--no-from-cluster',
      '--json',
    ];
    const {stdout} = runBuilt('scalr-agent', argv, {
      env: {PATH: process.env['PATH'] ?? '', KUBECONFIG: '/dev/null'},
    });
    return JSON.parse(stdout).checks.find(({id}: {id: string}) => id === 'mirror-images');
  };
  const [agent = '', runner = ''] = commandsFor(registry).crane.map((line) =>
    line.replace('crane copy ', `crane copy ${source}/`),
  );
  await type(agent);
  const lacking = mirrorCheck();
  expect(lacking).toMatchObject({
    status: 'fail',
    message: `From this machine: ${registry}/scalr/runner:0.2.0 not found`,
  });
  expect(lacking.remedy).toContain(
    `scalr-agent images --chart agent-job --chart-version 0.6.5 --image-registry ${registry}`,
  );
  await type(runner);
  const {status, message} = mirrorCheck();
  const digests = await Promise.all(
    IMAGES.map(
      async (image) =>
        (await manifestOf(target, `mirror/${split(image)[0]}`, split(image)[1]))?.digest,
    ),
  );
  expect(status).toBe('pass');
  for (const digest of digests) expect(message).toContain(`(${digest})`);
});
