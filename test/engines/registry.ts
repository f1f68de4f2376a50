import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout} from 'node:timers/promises';
import {execa} from 'execa';
import {onTestFinished, type TestContext} from 'vitest';
import {builtTool} from './tools.ts';

/** A port of 127.0.0.1 that nothing uses. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const {port} = server.address() as {port: number};
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A real registry without TLS, until the test ends. Returns host:port. */
export async function startRegistry(context: Pick<TestContext, 'skip'>): Promise<string> {
  const program = await builtTool('registry', context);
  const folder = await mkdtemp(join(tmpdir(), 'registry-'));
  const address = `127.0.0.1:${await freePort()}`;
  const configuration = {
    version: '0.1',
    log: {level: 'error'},
    storage: {filesystem: {rootdirectory: join(folder, 'data')}, delete: {enabled: true}},
    http: {addr: address},
  };
  await writeFile(join(folder, 'config.yml'), JSON.stringify(configuration));
  const running = execa(program, ['serve', join(folder, 'config.yml')], {
    reject: false,
    env: {OTEL_TRACES_EXPORTER: 'none'},
  });
  onTestFinished(async () => {
    running.kill();
    await running;
    await rm(folder, {recursive: true, force: true});
  });
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const answer = await fetch(`http://${address}/v2/`).catch(() => undefined);
    if (answer?.ok) return address;
    await setTimeout(100);
  }
  throw new Error(`the registry does not answer: ${(await running).stderr}`);
}

/** Pushes small images for two platforms each. */
export async function publishImages(
  registry: string,
  images: readonly string[],
  context: Pick<TestContext, 'skip'>,
): Promise<void> {
  const crane = await builtTool('crane', context);
  const folder = await mkdtemp(join(tmpdir(), 'images-'));
  onTestFinished(() => rm(folder, {recursive: true, force: true}));
  const layer = join(folder, 'layer.tar');
  for (const image of images) {
    await writeFile(join(folder, 'content'), image);
    await execa('tar', ['-cf', layer, '-C', folder, 'content']);
    const platforms = ['amd64', 'arm64'].map((architecture) => ({
      architecture,
      single: `${registry}/${image}-${architecture}`,
    }));
    for (const {architecture, single} of platforms) {
      await execa(crane, ['append', '--new_layer', layer, '--new_tag', single]);
      await execa(crane, [
        'mutate',
        single,
        '--set-platform',
        `linux/${architecture}`,
        '--tag',
        single,
      ]);
    }
    const manifests = platforms.flatMap(({single}) => ['-m', single]);
    await execa(crane, [
      'index',
      'append',
      '--docker-empty-base',
      ...manifests,
      '-t',
      `${registry}/${image}`,
    ]);
  }
}

interface Manifest {
  digest: string;
  /** Of an index. */
  platforms: string[];
}

/** What a registry has under a reference; undefined if nothing. */
export async function manifestOf(
  registry: string,
  repository: string,
  reference: string,
): Promise<Manifest | undefined> {
  const accept = [
    'oci.image.index.v1',
    'oci.image.manifest.v1',
    'docker.distribution.manifest.list.v2',
    'docker.distribution.manifest.v2',
  ]
    .map((type) => `application/vnd.${type}+json`)
    .join(',');
  const answer = await fetch(`http://${registry}/v2/${repository}/manifests/${reference}`, {
    headers: {accept},
  });
  if (!answer.ok) return undefined;
  const {manifests = []} = (await answer.json()) as {
    manifests?: {platform: {os: string; architecture: string}}[];
  };
  const platforms = manifests.map(({platform}) => `${platform.os}/${platform.architecture}`);
  return {digest: answer.headers.get('docker-content-digest') ?? '', platforms};
}
