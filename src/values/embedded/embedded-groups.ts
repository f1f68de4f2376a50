import {dirname, join} from 'node:path';
import {isMap, isScalar, type ParsedNode} from 'yaml';
import {isChart} from '../../charts/releases/chart-name.ts';
import {onFailure} from '../../ground/errors.ts';
import type {ValuesFile} from '../../settings/chart-values.ts';
import {checkClearText} from '../validate/check-clear-text.ts';
import {type FileGroup, withoutRepeatedTokens} from '../validate/check-files.ts';
import type {SourceProblem, ValuesFinding} from '../validate/finding.ts';
import {parseYaml} from '../validate/source.ts';
import {blankAround, type EmbeddedRelease, fileProblems, isExact} from './embedded-release.ts';
import {embeddedReleases, extract, listItems, nodeIn, scalarText} from './embedded-releases.ts';

type Read = (path: string) => Promise<string>;
type ReleasePart = Omit<EmbeddedRelease, 'values' | 'edits' | 'fileSets'>;

/**
 * The values of each release in a file of another tool, with the values files that it names, or of a cluster in a file of `export`. One
 * group without values for other files of these tools; empty for values files. @throws ExpectedError
 */
export async function releaseGroups(given: ValuesFile, read: Read): Promise<FileGroup[]> {
  const {file, text} = given;
  const parts = embeddedReleases(file, text).flatMap(({fileSets, ...release}) =>
    fileSets.map((paths, index): [ReleasePart, readonly string[]] => [
      index === 0 ? release : {...release, problems: []},
      paths,
    ]),
  );
  const found = parts.length > 0 ? parts : partsOfFleet(text);
  const [first, ...others] = await Promise.all(
    found.map(([release, paths]) => groupOf(given, release, paths, read)),
  );
  const problems = fileProblems(text).map((each) => findingOf(each, given));
  const ofFile = withoutRepeatedTokens(problems, clearTextAround(given, [first, ...others]));
  if (first?.release)
    return [
      {...first, release: {...first.release, around: [...ofFile, ...first.release.around]}},
      ...others,
    ];
  return isWithoutValues(given) ? [{files: [given], areLayers: false, around: ofFile}] : [];
}

/** Credentials outside of the values, such as in single parameters. */
function clearTextAround(
  {file, text}: ValuesFile,
  groups: readonly (FileGroup | undefined)[],
): ValuesFinding[] {
  const own = groups.flatMap((group) => group?.files ?? []).filter((each) => each.file === file);
  const inValues = new Set(own.flatMap((each) => checkClearText(each.text)).map(({line}) => line));
  return checkClearText(text).flatMap((each) => (inValues.has(each.line) ? [] : [{...each, file}]));
}

/** Kinds that stand beside the values of a release. */
const BESIDE =
  /^(Application(Set)?|AppProject|(Cluster)?ExternalSecret|Helm(Chart|Release|Repository)|Kustomization|Namespace|SealedSecret)$/;

/** Files that only contain what other files need, or whose values only another program can evaluate. */
function isWithoutValues({file, text}: ValuesFile): boolean {
  if (/\.(tf|gotmpl)$|(^|\/)\.sops\.ya?ml$/.test(file)) return true;
  const roots = parseYaml(text).flatMap(({contents}) => (isMap(contents) ? [contents] : []));
  return (
    roots.length > 0 &&
    roots.every(
      (root) =>
        BESIDE.test(scalarText(root.get('kind', true)) ?? '') ||
        // An encrypted manifest, such as a Secret.
        (root.has('sops') && root.has('kind')),
    )
  );
}

/** In values that are incomplete without those of a cluster. */
const INCOMPLETE = /^# Values of (agent-\w+) (\S+): each cluster adds its own\.$/m;
/** A directory or file with the values that clusters share. */
const BASE = /(agent-(?:k8s|local|job))-(\d+\.\d+\.\d+)[^/]*$/;

/** What `export` writes for one cluster: values to merge over those of a base. */
function partsOfFleet(text: string): [ReleasePart, readonly string[]][] {
  const part = (
    kind: string,
    [chart, version]: readonly unknown[],
    values: unknown,
    base?: string,
  ): [ReleasePart, readonly string[]][] => {
    if (!isChart(chart) || typeof version !== 'string') return [];
    const inPlace =
      base === undefined
        ? text
        : isMap(values)
          ? extract(values as ParsedNode, text).inPlace
          : undefined;
    const fixed = {parameters: [], problems: [], hasOtherValues: base === undefined};
    return [[{kind, chart, version, inPlace, ...fixed}, base === undefined ? [] : [base]]];
  };
  const incomplete = INCOMPLETE.exec(text);
  if (incomplete) return part('fleet', incomplete.slice(1), undefined);
  const root = parseYaml(text)[0]?.contents;
  const name = scalarText(nodeIn(root, 'chart'));
  const version = scalarText(nodeIn(root, 'version'));
  if (isMap(root) && root.has('override'))
    return part(
      'ApplicationSet',
      [name, version],
      root.get('override', true),
      `../../base/${name}-${version}.yaml`,
    );
  if (isMap(root) && root.has('objects'))
    return part(
      'helmfile environment',
      [name, version],
      root.get('values', true),
      `../base/${name}-${version}.yaml`,
    );
  const resource =
    listItems(nodeIn(root, 'resources'))
      .map(scalarText)
      .find((each) => BASE.test(each ?? '')) ?? '';
  return part(
    'Kustomization',
    BASE.exec(resource)?.slice(1) ?? [],
    patchedValues(root, text),
    `${resource}/values.yaml`,
  );
}

/** The values in an operation of JSON Patch, at their lines in the file. */
function patchedValues(root: unknown, text: string): unknown {
  const patches = listItems(nodeIn(root, 'patches'))
    .map((each) => nodeIn(each, 'patch'))
    .filter((each) => isScalar(each));
  for (const {range} of patches as ParsedNode[]) {
    const start = text.indexOf('\n', range[0]) + 1;
    const operations = listItems(parseYaml(blankAround(text, start, range[1]))[0]?.contents);
    const found = operations.find((each) => scalarText(nodeIn(each, 'path')) === '/spec/values');
    if (found) return nodeIn(found, 'value');
  }
  return undefined;
}

async function groupOf(
  given: ValuesFile,
  {kind, chart, version, inPlace, parameters, hasOtherValues, problems}: ReleasePart,
  paths: readonly string[],
  read: Read,
): Promise<FileGroup> {
  const {file, text} = given;
  const named = await Promise.all(
    paths.map(async (path) => ({path, ...(await readBeside(file, path, read))})),
  );
  const unread = named.flatMap((each) => (each.text === undefined ? [each.path] : []));
  const layers = named.flatMap((each) =>
    each.text === undefined ? [] : [{file: each.file, text: each.text}],
  );
  const isOwn = inPlace !== undefined || layers.length === 0;
  const files = [...layers, ...(isOwn ? [{file, text: inPlace ?? '{}\n', shown: text}] : [])];
  return {
    files,
    areLayers: files.length > 1 || !isOwn,
    release: {
      kind,
      chart,
      version: isExact(version) ? version.replace(/^v/, '') : undefined,
      unread,
      isPartial:
        unread.length > 0 || parameters.length > 0 || (hasOtherValues && paths.length === 0),
      around: problems.map((each) => findingOf(each, given)),
    },
  };
}

/** Without a text if it cannot be read here, or is a template. */
async function readBeside(
  file: string,
  path: string,
  read: Read,
): Promise<{file: string; text?: string | undefined}> {
  const place = join(dirname(file), path);
  const text = await read(place).catch(onFailure(() => undefined));
  return {file: place, text: text?.includes('{{') ? undefined : text};
}

function findingOf(
  {offset, path: _, severity = 'error', ...problem}: SourceProblem,
  {file, text}: ValuesFile,
): ValuesFinding {
  const before = text.slice(0, offset);
  return {
    ...problem,
    severity,
    path: '',
    file,
    line: before.split('\n').length,
    column: offset - before.lastIndexOf('\n'),
  } as ValuesFinding;
}
