import {createHash} from 'node:crypto';
import {existsSync} from 'node:fs';
import {mkdir, mkdtemp, readFile, rename, rm, writeFile} from 'node:fs/promises';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {beforeAll, expect, type TestContext} from 'vitest';

/** Go module below this folder, and the program to build from it. */
const PROGRAMS = {
  registry: ['tools', 'github.com/distribution/distribution/v3/cmd/registry'],
  crane: ['tools', 'github.com/google/go-containerregistry/cmd/crane'],
  'age-keygen': ['fleets/sops', 'filippo.io/age/cmd/age-keygen'],
  sops: ['fleets/sops', 'github.com/getsops/sops/v3/cmd/sops'],
  kubeseal: ['fleets/sealed-secrets', 'github.com/bitnami-labs/sealed-secrets/cmd/kubeseal'],
  helmfile: ['fleets/helmfile', 'github.com/helmfile/helmfile'],
  'helm-controller': ['fleets/helm-controller', 'github.com/fluxcd/helm-controller'],
  'source-controller': ['fleets/source-controller', 'github.com/fluxcd/source-controller'],
  'terraform-provider-helm': [
    'fleets/terraform-provider-helm',
    'github.com/hashicorp/terraform-provider-helm',
  ],
  flux: ['fleets/flux', './cmd/flux'],
  tofu: ['fleets/opentofu', 'github.com/opentofu/opentofu/cmd/tofu'],
} as const;

const folderOf = (module: string): string => join(import.meta.dirname, module);

/** Directory of a Go module that this repository names, for files that come with it. The test is skipped without Go. */
export async function moduleDirectory(
  module: string,
  path: string,
  context: Pick<TestContext, 'skip'>,
): Promise<string> {
  await installed('go', 'golang (1.26 or newer)', context);
  await execa('go', ['mod', 'download', path], {cwd: folderOf(module)});
  return (await execa('go', ['list', '-m', '-f', '{{.Dir}}', path], {cwd: folderOf(module)}))
    .stdout;
}

/** Path of a tool that Debian packages; the test is skipped, and says why, if it is not installed. */
export async function installed(
  tool: string,
  debianPackage: string,
  {skip}: Pick<TestContext, 'skip'>,
): Promise<string> {
  const {stdout, exitCode} = await execa('sh', ['-c', 'command -v "$0"', tool], {reject: false});
  if (exitCode !== 0) skip(`${tool} is not installed: apt-get install ${debianPackage}`);
  return stdout;
}

/** Builds a program once per machine and version; skips the test without Go. Programs that build for minutes are built with TEST_FULL only. */
export async function builtTool(
  name: keyof typeof PROGRAMS,
  context: Pick<TestContext, 'skip'>,
): Promise<string> {
  const [module, source] = PROGRAMS[name];
  const hash = createHash('sha256').update(await readFile(join(folderOf(module), 'go.sum')));
  const cache = join(
    process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
    'scalr-agent-install',
  );
  const folder = join(cache, `engines-${hash.digest('hex').slice(0, 16)}`);
  const path = join(folder, name);
  if (existsSync(path)) return path;
  if (module !== 'tools' && !process.env['TEST_FULL'])
    context.skip(`${name} is not built yet: TEST_FULL=1 builds it in some minutes`);
  await installed('go', 'golang (1.26 or newer)', context);
  await mkdir(folder, {recursive: true});
  // Build beside the target and rename, because two test runs may build at the same time.
  const work = await mkdtemp(join(folder, 'work-'));
  try {
    const cwd = name === 'flux' ? await copyOfFlux(work, context) : folderOf(module);
    await execa('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', join(work, name), source], {
      cwd,
      env: {CGO_ENABLED: '0'},
    });
    await rename(join(work, name), path);
  } finally {
    await rm(work, {recursive: true, force: true});
  }
  return path;
}

/** Flux embeds manifests that only its releases contain, so it is built from a copy of its module with an empty one. */
async function copyOfFlux(work: string, context: Pick<TestContext, 'skip'>): Promise<string> {
  const module = await moduleDirectory('fleets/flux', 'github.com/fluxcd/flux2/v2', context);
  const copy = join(work, 'source');
  await execa('cp', ['-R', module, copy]);
  await execa('chmod', ['-R', 'u+w', copy]);
  const manifests = join(copy, 'cmd', 'flux', 'manifests');
  await mkdir(manifests, {recursive: true});
  await writeFile(join(manifests, 'empty.yaml'), '');
  return copy;
}

/** Builds programs before the tests of a file, in whose time a first build does not fit. A test skips itself if its program cannot be built. */
export const buildBeforeTests = (...names: readonly (keyof typeof PROGRAMS)[]): void =>
  beforeAll(async () => {
    for (const name of names)
      await builtTool(name, {skip: expect.unreachable as never}).catch(() => undefined);
  }, 1_800_000);
