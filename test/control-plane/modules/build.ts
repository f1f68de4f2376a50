import {createHash} from 'node:crypto';
import {existsSync} from 'node:fs';
import {mkdir, mkdtemp, readFile, rename, rm, writeFile} from 'node:fs/promises';
import {homedir} from 'node:os';
import {basename, dirname, join} from 'node:path';
import {execa} from 'execa';

/** Go module in this folder, and the program to build from it. */
const PROGRAMS = {
  etcd: ['etcd', 'go.etcd.io/etcd/server/v3'],
  'kube-apiserver': ['kubernetes', 'k8s.io/kubernetes/cmd/kube-apiserver'],
  'kube-controller-manager': ['kubernetes', 'k8s.io/kubernetes/cmd/kube-controller-manager'],
  'kube-scheduler': ['kubernetes', 'k8s.io/kubernetes/cmd/kube-scheduler'],
  kwok: ['kwok', 'sigs.k8s.io/kwok/cmd/kwok'],
} as const;
type Program = keyof typeof PROGRAMS;

/** Files of the kwok module: stages of nodes and volumes, and the CRDs that they require. */
const KWOK_FILES = {
  stages: [
    'stage/node/fast/node-initialize.yaml',
    'stage/pod/fast/pod-delete.yaml',
    'stage/node/heartbeat-with-lease/node-heartbeat-with-lease.yaml',
    ...['pv-bind', 'pv-delete', 'pvc-provision', 'pvc-delete'].map(
      (name) => `stage/volume/fast/${name}.yaml`,
    ),
  ],
  objects: [
    'stage/volume/fast/storage-class.yaml',
    'crd/bases/kwok.x-k8s.io_logs.yaml',
    'crd/bases/kwok.x-k8s.io_clusterlogs.yaml',
  ],
} as const;
type KwokFile = keyof typeof KWOK_FILES;

/** Paths of the programs and of the two kwok files. */
export type ControlPlane = Readonly<Record<Program | KwokFile, string>>;

/** Uses programs in $KUBEBUILDER_ASSETS; builds the others once per machine and version. */
export async function controlPlane(): Promise<ControlPlane> {
  const found: Record<string, string> = {};
  for (const program of Object.keys(PROGRAMS) as Program[]) {
    found[program] =
      given(program) ??
      (await cached(program, PROGRAMS[program][0], (path) => build(program, path)));
  }
  for (const file of Object.keys(KWOK_FILES) as KwokFile[]) {
    found[file] = await cached(`${file}.yaml`, 'kwok', (path) => collect(file, path));
  }
  return found as ControlPlane;
}

function given(program: Program): string | undefined {
  const path = join(process.env['KUBEBUILDER_ASSETS'] ?? '', program);
  return process.env['KUBEBUILDER_ASSETS'] && existsSync(path) ? path : undefined;
}

const folder = (module: string): string => join(import.meta.dirname, module);

/** The cache key contains everything that determines the result: go.sum and the tables above. */
async function cached(
  name: string,
  module: string,
  make: (path: string) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256').update(
    JSON.stringify([process.platform, process.arch, PROGRAMS, KWOK_FILES]),
  );
  for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(join(folder(module), file)));
  const cache = join(
    process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
    'scalr-agent-install',
    'control-plane',
  );
  const path = join(cache, `${module}-${hash.digest('hex').slice(0, 16)}`, name);
  if (existsSync(path)) return path;
  await mkdir(dirname(path), {recursive: true});
  // Build beside the target and rename, because two test runs may build at the same time.
  const work = await mkdtemp(join(dirname(path), 'work-'));
  try {
    await make(join(work, name));
    await rename(join(work, name), path);
  } finally {
    await rm(work, {recursive: true, force: true});
  }
  return path;
}

async function build(program: Program, path: string): Promise<void> {
  const [module, source] = PROGRAMS[program];
  process.stderr.write(
    `Building ${program} for the test cluster: once, some minutes for the first of them.\n`,
  );
  const flags = module === 'kubernetes' ? await kubernetesVersion() : [];
  await go(module, [
    'build',
    '-trimpath',
    '-ldflags',
    ['-s', '-w', ...flags].join(' '),
    '-o',
    path,
    source,
  ]);
}

/** Without these, the API server reports v0.0.0, and charts with a kubeVersion cannot be installed. */
async function kubernetesVersion(): Promise<string[]> {
  const version = await go('kubernetes', ['list', '-m', '-f', '{{.Version}}', 'k8s.io/kubernetes']);
  const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(version) ?? [];
  const values = {gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean'};
  return Object.entries(values).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
}

async function collect(file: KwokFile, path: string): Promise<void> {
  const module = await go('kwok', ['list', '-m', '-f', '{{.Dir}}', 'sigs.k8s.io/kwok']);
  const texts = await Promise.all(
    KWOK_FILES[file].map((name) => readFile(join(module, 'kustomize', name), 'utf8')),
  );
  await writeFile(path, texts.join('\n---\n'));
}

async function go(module: string, args: readonly string[]): Promise<string> {
  const options = {
    cwd: folder(module),
    env: {CGO_ENABLED: '0'},
    stdin: 'ignore',
    stderr: 'inherit',
    reject: false,
  } as const;
  const {stdout, code, failed} = await execa('go', args, options);
  if (code === 'ENOENT') {
    throw new Error(
      'The test cluster is built with Go (1.26 or newer, see go.dev), which is not on PATH. `npm test` does without.',
    );
  }
  if (failed)
    throw new Error(
      `go ${args[0]} failed for the ${basename(module)} of the test cluster, see above.`,
    );
  return stdout.trim();
}
