import type {ChartName} from '../../charts/releases/chart-name.ts';
import {isChart} from '../../charts/releases/chart-name.ts';
import {encryptionOf} from '../../ground/encryption.ts';
import {at, type Path, setAt, type Tree, textAt, type Values} from '../../ground/tree.ts';
import type {ValuesFile} from '../../settings/chart-values.ts';
import {asHelmSet, helmTyped, readHelmSet} from '../../settings/kinds/helm-set.ts';
import {type Manifest, valuesWithout} from '../reading/manifests.ts';
import {readSource, type ValuesReading} from '../reading/source.ts';
import {hasTemplate, UNKNOWN_TEXT} from '../reading/templates.ts';
import {dotted, type TreePath, valueAt} from '../reading/tree-path.ts';
import {normalized} from '../reading/yaml-syntax.ts';
import type {CheckedFile} from '../validate/file-group.ts';
import type {Assignment, EngineRelease, ObjectReference, ValuesOrigin} from './engines.ts';
import type {FileSet} from './file-set.ts';
import {textInPlace} from './inline-values.ts';
import {type ReleaseVersion, releaseVersion} from './release-version.ts';

/** A document of a file, among the files of a run. */
export interface DocumentInFile {
  given: ValuesFile;
  manifest: Manifest;
  files: FileSet;
}

/** The chart of a release, if it is one of ours. */
export interface ReleaseChart extends ReleaseVersion {
  chart: ChartName;
}

/** Undefined for a chart of others. */
export function chartOfRelease(
  {reference, version, chartObject, isFromGit}: EngineRelease,
  files: FileSet,
): ReleaseChart | undefined {
  if (chartObject) return chartOfObject(chartObject, files);
  const chart = reference.split('/').at(-1);
  if (!isChart(chart)) return undefined;
  return isFromGit
    ? {chart, unknown: 'the version of a chart in a Git repository is not in the file'}
    : {chart, ...releaseVersion(chart, version)};
}

function chartOfObject(reference: ObjectReference, files: FileSet): ReleaseChart | undefined {
  const place = placeOfObject(reference, files);
  const chart = place?.reference.split('/').at(-1);
  return isChart(chart) ? {chart, ...releaseVersion(chart, place?.version)} : undefined;
}

/** Where a chart and its version are written. */
interface ChartPlace
  extends Pick<EngineRelease, 'reference' | 'chartAt' | 'version' | 'versionAt'> {
  manifest: Manifest;
}

/** In an OCIRepository or a HelmChart of Flux. */
export function placeOfObject(reference: ObjectReference, files: FileSet): ChartPlace | undefined {
  const manifest = files.find(reference)?.manifest;
  if (manifest === undefined) return undefined;
  const textOf = (path: string): string => textAt(manifest.values, path);
  const chartPath = textOf('spec.chart') === '' ? 'spec.url' : 'spec.chart';
  const versionPath = ['spec.version', 'spec.ref.tag', 'spec.ref.semver'].find(textOf) ?? '';
  return {
    manifest,
    reference: textOf(chartPath),
    chartAt: at(chartPath),
    version: textOf(versionPath) || undefined,
    versionAt: at(versionPath),
  };
}

/** What could be read of the values of a release. */
export interface ReadValuesOfRelease {
  /** The last one wins. */
  layers: CheckedFile[];
  /** Places of values that could not be read. */
  unread: string[];
}

export async function valuesOfRelease(
  {origins}: Pick<EngineRelease, 'origins'>,
  document: DocumentInFile,
): Promise<ReadValuesOfRelease> {
  const layers: CheckedFile[] = [];
  const unread: string[] = [];
  for (const origin of origins) {
    const found = await layerOf(origin, document);
    if (typeof found === 'string') unread.push(found);
    else if (found) layers.push(found);
  }
  const {given} = document;
  const isNamed = layers.some(({file}) => file === given.file);
  return {layers: isNamed ? layers : [{...given, read: NOTHING}, ...layers], unread};
}

const NOTHING: ValuesReading = valuesWithout({});

/** The place of values that could not be read, or nothing. */
async function layerOf(
  origin: ValuesOrigin,
  {given, manifest, files}: DocumentInFile,
): Promise<CheckedFile | string | undefined> {
  if ('unread' in origin) return origin.unread;
  if ('read' in origin) return {...given, read: origin.read};
  if ('inline' in origin) return inlineLayer(origin.inline, {given, manifest});
  if ('assignments' in origin) return {...given, read: assigned(origin.assignments, manifest)};
  return 'file' in origin
    ? fileLayer(given.file, origin.file, files)
    : objectLayer(origin.object, origin.key, files);
}

/** Go templates of an ApplicationSet that are no YAML can be evaluated only by Argo CD. */
function inlineLayer(
  path: TreePath,
  {given, manifest}: Pick<DocumentInFile, 'given' | 'manifest'>,
): CheckedFile | string {
  const read = valuesIn(manifest, path, given.text);
  const isTemplate =
    manifest.values['kind'] === 'ApplicationSet' && hasTemplate(valueAt(manifest.tree, path));
  return isTemplate && read.source === undefined
    ? `the template ${dotted(path)}`
    : {...given, read};
}

async function fileLayer(
  file: string,
  path: string,
  files: FileSet,
): Promise<CheckedFile | string> {
  if (/^\$|:\/\/|\{\{|\.gotmpl$/.test(path)) return path;
  const found = await files.beside(file, path);
  const isReadable = found && !found.text.includes('{{') && !encryptionOf(found.text);
  return isReadable ? found : path;
}

/** Values in a ConfigMap, a Secret or a HelmChartConfig of the same files. */
function objectLayer(
  object: ObjectReference,
  key: string,
  files: FileSet,
): CheckedFile | string | undefined {
  const text = textOfObject(object, key, files);
  if (text === undefined) return objectElsewhere(object, files);
  const {given, manifest, path} = text;
  if (!text.isEncoded) return {...given, read: valuesIn(manifest, path, given.text)};
  const decoded = Buffer.from(textAt(manifest.values, path), 'base64').toString();
  return {...given, read: atPosition(readSource(decoded), manifest, path)};
}

/** Without a HelmChartConfig, there are no values of it. */
export const objectElsewhere = (object: ObjectReference, files: FileSet): string | undefined =>
  object.kind === 'HelmChartConfig' && files.find(object) === undefined
    ? undefined
    : `${object.kind} ${object.name}`;

/** Where an object among the files has a text. */
export function textOfObject(
  object: ObjectReference,
  key: string,
  files: FileSet,
): {given: ValuesFile; manifest: Manifest; path: Path; isEncoded: boolean} | undefined {
  const found = files.find(object);
  if (found === undefined || encryptionOf(found.given.text)) return undefined;
  const path = ['data', 'stringData', 'spec']
    .map((map) => [map, key])
    .find((each) => textAt(found.manifest.values, each) !== '');
  return path && {...found, path, isEncoded: object.kind === 'Secret' && path[0] === 'data'};
}

/** The values at a path: a map, or a text that contains YAML. */
function valuesIn(manifest: Manifest, path: TreePath, text: string): ValuesReading {
  const found = valueAt(manifest.tree, path);
  if (typeof found !== 'string') return manifest.valuesAt(path);
  const inPlace = textInPlace(manifest.node(path), normalized(text));
  return inPlace === undefined
    ? atPosition(readSource(found), manifest, path)
    : readSource(inPlace);
}

/** Values whose lines are not those of the file. */
function atPosition(
  {source, findings}: ValuesReading,
  manifest: Manifest,
  path: TreePath,
): ValuesReading {
  const position = manifest.locate(path);
  return {
    ...(source && {source: {...source, locate: () => position}}),
    findings: findings.map((each) => ({...each, subject: {...each.subject, ...position}})),
  };
}

/** The values that `helm --set` would write. */
export function assigned(assignments: readonly Assignment[], manifest?: Manifest): ValuesReading {
  const values: Values = {};
  const places = new Map<string, TreePath>();
  for (const {name, value, isText, at} of assignments) {
    const [path, tree] = pathAndValue(name, value, isText);
    setAt(values, path, tree);
    places.set(path[0] as string, at);
    places.set(path.join('\n'), at);
  }
  const read = valuesWithout(values);
  if (read.source === undefined || manifest === undefined) return read;
  const locate = (path: TreePath) =>
    manifest.locate(places.get(path.join('\n')) ?? places.get(String(path[0])) ?? []);
  return {findings: [], source: {...read.source, locate}};
}

function pathAndValue(
  name: string,
  value: string | undefined,
  isText: boolean,
): [path: string[], value: Tree] {
  const steps = (text: string): string[] =>
    text.split(/(?<!\\)\./).map((key) => key.replaceAll('\\.', '.'));
  const [, list] = /^(.+?)\[\d+\]/.exec(name) ?? [];
  // The items of a list are complete only with those of other places.
  if (list !== undefined) return [steps(list), UNKNOWN_TEXT];
  if (value === undefined) return [steps(name), UNKNOWN_TEXT];
  if (isText) return [steps(name), value];
  if (!/^[{[]/.test(value)) return [steps(name), helmTyped(value) as Tree];
  const [text = ''] = readHelmSet([asHelmSet(name, value)]);
  const listed = text.slice(text.indexOf('=') + 1);
  return [steps(name), parsed(listed)];
}

function parsed(text: string): Tree {
  try {
    return JSON.parse(text) as Tree;
  } catch {
    return text;
  }
}
