import {pooled} from '../ground/async.ts';
import type {Files, HostTools} from '../ground/system/system.ts';
import type {GivenFile} from '../values/embedded/read-files.ts';
import {readTexts} from './read-texts.ts';

/** Names of files that can hold a release or values of an agent. */
const CHECKED =
  /(?:\.(?:ya?ml|json|tf|hcl|j2|ts|py|sh|nix|jsonnet|libsonnet)|\.ya?ml\.(?:gotmpl|tpl))$|(?:^|\/)(?:Makefile|Jenkinsfile)$/;
/** Generated files of package managers. */
const LOCKS = /(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml)$/;
const isChecked = (path: string): boolean => CHECKED.test(path) && !LOCKS.test(path);

/** Directories that no repository keeps. */
const SKIPPED = /^(?:\.git|node_modules|\.terraform)\/$/;

export interface ListDeps {
  files: Files;
  host: Pick<HostTools, 'run'>;
}

/** Which files of a directory are checked. */
export interface TreeOptions {
  /** Files that Git ignores too. */
  includesIgnored: boolean;
}

/** The given files, and those of given directories; what cannot be read in a directory is left out. @throws ExpectedError */
export async function readGiven(
  names: readonly string[],
  deps: ListDeps,
  options: TreeOptions,
): Promise<GivenFile[]> {
  const {files} = deps;
  const kinds = await Promise.all(
    names.map((name) => (name === '-' ? 'stream' : files.kindOf(name))),
  );
  const named = await readTexts(
    names.filter((_, index) => kinds[index] !== 'directory'),
    files,
  );
  const lists = await Promise.all(
    names.map(async (name, index) =>
      kinds[index] === 'directory'
        ? readFound(await filesIn(name, deps, options), files)
        : named.filter(({file}) => file === name),
    ),
  );
  const all = new Map(lists.flat().map((each) => [each.file, each]));
  return [...all.values()];
}

/** False without names. */
export const areDirectories = async (
  names: readonly string[],
  {kindOf}: Pick<Files, 'kindOf'>,
): Promise<boolean> => {
  const kinds = names.map(async (name) => (name === '-' ? 'stream' : kindOf(name)));
  return names.length > 0 && (await Promise.all(kinds)).every((kind) => kind === 'directory');
};

/** Limit of open files. */
const OPEN_FILES = 16;

async function readFound(paths: readonly string[], files: Files): Promise<GivenFile[]> {
  const texts = new Map<string, string>();
  await pooled(paths, OPEN_FILES, async (path) => {
    try {
      texts.set(path, (await files.read(path)).toString('utf8'));
    } catch {
      // A link to nothing, or data of another program.
    }
  });
  return paths.flatMap((file) => {
    const text = texts.get(file);
    return text === undefined ? [] : [{file, text, isFound: true}];
  });
}

/** As Git lists them; all of them outside of a repository. */
async function filesIn(
  directory: string,
  deps: ListDeps,
  {includesIgnored}: TreeOptions,
): Promise<string[]> {
  const root = directory.replace(/\/+$/, '') || '/';
  const named = (path: string): string => (root === '.' ? path : `${root}/${path}`);
  const listed = includesIgnored ? undefined : await filesOfGit(root, deps);
  const paths = listed ?? (await filesBelow(root, '', deps.files));
  return paths.filter(isChecked).toSorted().map(named);
}

async function filesOfGit(directory: string, {host}: ListDeps): Promise<string[] | undefined> {
  const args = ['-C', directory, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const {stdout, error} = await host.run(
    {tool: 'git', args},
    {signal: new AbortController().signal},
  );
  if (error) return undefined;
  return [...new Set(stdout.split('\0'))].filter((path) => path !== '');
}

async function filesBelow(root: string, below: string, files: Files): Promise<string[]> {
  const names = await files.list(`${root}/${below}`);
  const found = await Promise.all(
    names.map((name) => {
      if (!name.endsWith('/')) return [below + name];
      return SKIPPED.test(name) ? [] : filesBelow(root, below + name, files);
    }),
  );
  return found.flat();
}
