import {dirname, join} from 'node:path';
import {isMap, isScalar, type ParsedNode} from 'yaml';
import {isChart} from '../../charts/releases/chart-name.ts';
import {type KeyFinding, remediesOf} from '../../findings/finding.ts';
import {onFailure} from '../../ground/errors.ts';
import type {ValuesFile} from '../../settings/chart-values.ts';
import type {SourceProblem} from '../reading/finding.ts';
import {parseYaml} from '../reading/source.ts';
import {checkClearText} from '../rules/check-clear-text.ts';
import {type FileGroup, withoutRepeatedTokens} from '../validate/check-files.ts';
import type {EmbeddedRelease} from './embedded-release.ts';
import {embeddedReleases} from './embedded-releases.ts';
import {fileProblems, isExact} from './fleet-problems.ts';
import {blankAround, inlineValues} from './inline-values.ts';
import {listItems, nodeIn, scalarText} from './nodes.ts';

type Read = (path: string) => Promise<string>;

/** What is validated of a release, or of a cluster in a file of `export`. */
type ReleasePart = Pick<
  EmbeddedRelease,
  'kind' | 'chart' | 'version' | 'inPlace' | 'files' | 'parameters' | 'hasOtherValues' | 'problems'
>;

/**
 * The values of each release in a file of another tool, with the values files that it names, or of a cluster in a file of `export`. One
 * group without values for other files of these tools; empty for values files. @throws ExpectedError
 */
export async function releaseGroups(given: ValuesFile, read: Read): Promise<FileGroup[]> {
  const {file, text} = given;
  const releases = embeddedReleases(file, text);
  const parts = releases.length > 0 ? releases : partsOfFleet(text);
  const [first, ...others] = await Promise.all(parts.map((part) => groupOf(given, part, read)));
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
): KeyFinding[] {
  const own = groups.flatMap((group) => group?.files ?? []).filter((each) => each.file === file);
  const inValues = new Set(
    own.flatMap((each) => checkClearText(each.text)).map(({subject}) => subject.line),
  );
  return checkClearText(text)
    .filter(({subject}) => !inValues.has(subject.line))
    .map((each) => ({...each, subject: {...each.subject, file}}));
}

/** Kinds that stand beside the values of a release. */
const BESIDE =
  /^(Application(Set)?|AppProject|(Cluster)?ExternalSecret|Helm(Chart|Release|Repository)|Kustomization|Namespace|SealedSecret)$/;

/** Files that only contain what other files need. */
function isWithoutValues({file, text}: ValuesFile): boolean {
  if (/(^|\/)\.sops\.ya?ml$/.test(file)) return true;
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
function partsOfFleet(text: string): ReleasePart[] {
  const [, incomplete, of] = INCOMPLETE.exec(text) ?? [];
  if (incomplete !== undefined)
    return partOf({kind: 'fleet', chart: incomplete, version: of, inPlace: text});
  const root = parseYaml(text)[0]?.contents;
  const chart = scalarText(nodeIn(root, 'chart'));
  const version = scalarText(nodeIn(root, 'version'));
  const inPlaceOf = (node: unknown): string | undefined =>
    isMap(node) ? inlineValues(node as ParsedNode, text).inPlace : undefined;
  if (isMap(root) && root.has('override')) {
    const base = `../../base/${chart}-${version}.yaml`;
    const inPlace = inPlaceOf(root.get('override', true));
    return partOf({kind: 'ApplicationSet', chart, version, inPlace, base});
  }
  if (isMap(root) && root.has('objects')) {
    const base = `../base/${chart}-${version}.yaml`;
    const inPlace = inPlaceOf(root.get('values', true));
    return partOf({kind: 'helmfile environment', chart, version, inPlace, base});
  }
  const resources = listItems(nodeIn(root, 'resources')).map(scalarText);
  const base = resources.find((each) => BASE.test(each ?? '')) ?? '';
  const [, name, number] = BASE.exec(base) ?? [];
  const inPlace = inPlaceOf(patchedValues(root, text));
  return partOf({
    kind: 'Kustomization',
    chart: name,
    version: number,
    inPlace,
    base: `${base}/values.yaml`,
  });
}

/** The values of a cluster; without a base they are incomplete. */
interface FleetPart {
  kind: string;
  chart: string | undefined;
  version: string | undefined;
  inPlace: string | undefined;
  base?: string;
}

function partOf({kind, chart, version, inPlace, base}: FleetPart): ReleasePart[] {
  if (!isChart(chart) || version === undefined) return [];
  const hasOtherValues = base === undefined;
  const files = base === undefined ? [] : [base];
  return [{kind, chart, version, inPlace, files, hasOtherValues, parameters: [], problems: []}];
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

async function groupOf(given: ValuesFile, part: ReleasePart, read: Read): Promise<FileGroup> {
  const {file, text} = given;
  const {kind, chart, version, inPlace, parameters} = part;
  const named = await Promise.all(part.files.map((path) => readBeside(file, path, read)));
  const unread = named.flatMap((each) => (typeof each === 'string' ? [each] : []));
  const layers = named.filter((each) => typeof each !== 'string');
  const isOwn = inPlace !== undefined || layers.length === 0;
  const files = [...layers, ...(isOwn ? [{file, text: inPlace ?? '{}\n', shown: text}] : [])];
  const hasUnknown = part.hasOtherValues && part.files.length === 0;
  return {
    files,
    areLayers: files.length > 1 || !isOwn,
    release: {
      kind,
      chart,
      version: isExact(version) ? version.replace(/^v/, '') : undefined,
      unread,
      isPartial: unread.length > 0 || parameters.length > 0 || hasUnknown,
      around: part.problems.map((each) => findingOf(each, given)),
    },
  };
}

/** Only the path if the file cannot be read here, or is a template. */
async function readBeside(file: string, path: string, read: Read): Promise<ValuesFile | string> {
  const place = join(dirname(file), path);
  const text = await read(place).catch(onFailure(() => undefined));
  return text === undefined || text.includes('{{') ? path : {file: place, text};
}

function findingOf(
  {offset, code, verdict = 'error', message, suggestion}: SourceProblem,
  {file, text}: ValuesFile,
): KeyFinding {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  const column = offset - before.lastIndexOf('\n');
  return {
    code,
    verdict,
    subject: {path: '', file, line, column},
    message,
    remedies: remediesOf(suggestion),
  };
}
