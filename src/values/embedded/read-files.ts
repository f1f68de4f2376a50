import {basename} from 'node:path';
import {encryptionOf} from '../../ground/encryption.ts';
import type {KeyFinding} from '../../ground/finding.ts';
import {isMap, itemsAt, textAt, type Values} from '../../ground/tree.ts';
import {catalog} from '../../settings/catalog.ts';
import type {ValuesFile} from '../../settings/chart-values.ts';
import {quote} from '../../settings/settings.ts';
import type {SourcePosition} from '../reading/finding.ts';
import {isObject, type Manifest} from '../reading/manifests.ts';
import {checkClearText} from '../rules/check-clear-text.ts';
import {looksLikeAgentValues, namesChart} from '../validate/agent-files.ts';
import {withoutRepeatedTokens} from '../validate/check-files.ts';
import {type FileGroup, type UncheckedReason, uncheckedFile} from '../validate/file-group.ts';
import {type EngineRelease, engineReleases} from './engines.ts';
import {exportedReleases} from './exported-files.ts';
import {FileSet, type ReadOther} from './file-set.ts';
import {collision, fileProblems, fleetProblems, type LocatedRelease} from './fleet-problems.ts';
import {chartOfRelease, type DocumentInFile, valuesOfRelease} from './read-release.ts';
import {versionIn} from './release-version.ts';
import {selectsChart} from './selected-chart.ts';
import {isPlan, planGroups} from './terraform-plan.ts';
import {dependencyGroups} from './umbrella-charts.ts';
import {
  isSource,
  whyEncrypted,
  whyOfMachine,
  whyRendered,
  whySelected,
  whyUnread,
  whyWithoutChart,
} from './unread-files.ts';

/** A file to check. One that was found in a directory counts only if it is about an agent. */
export interface GivenFile extends ValuesFile {
  isFound?: boolean;
}

/**
 * What is checked of each file: the values of the releases in a file of another tool, the file as values, nothing with the reason, or
 * nothing because the file is not about an agent.
 */
export async function readFiles(
  given: readonly GivenFile[],
  readOther: ReadOther,
): Promise<FileGroup[][]> {
  const files = new FileSet(given, readOther);
  return Promise.all(given.map((each) => groupsOf(each, files)));
}

/** Words without which a file has no release of ours, and no values for one. */
const RELATED = /agent-(?:k8s|local|job)|scalr|tokenExistingSecret|each cluster/i;

async function groupsOf(given: GivenFile, files: FileSet): Promise<FileGroup[]> {
  const isRelated =
    RELATED.test(given.text) || (given.text.includes('chartRef') && files.hasChartObjects);
  if (given.isFound && !isRelated) return [unrelated(given)];
  if (isPlan(given.text)) return planGroups(given);
  if (isSource(given)) return [unreadGroup(given)];
  if (/(^|\/)\.sops\.ya?ml$/.test(given.file)) return [unrelated(given, problemsAround(given))];
  const {manifests, problem} = files.manifestsOf(given);
  if (problem) return brokenGroups(given, problem);
  if (encryptionOf(given.text)) return encryptedGroups(given, manifests);
  const found = await releaseGroups(given, manifests, files);
  if (found.length > 0) return [...found, ...unreadBeside(given, manifests, files)];
  return manifests.some(isObject)
    ? [objectGroup(given, manifests, files)]
    : valuesGroups(given, manifests, files);
}

/** Releases that are not read, in the file of one that is. */
function unreadBeside(
  given: ValuesFile,
  manifests: readonly Manifest[],
  files: FileSet,
): FileGroup[] {
  const others = manifests.filter(
    (manifest) => !releasesIn(manifest, given.text).some((each) => chartOfRelease(each, files)),
  );
  return others.some(selectsChart)
    ? [unrelated(given, [uncheckedFile(given.file, whySelected(given.text))])]
    : [];
}

const alone = (given: ValuesFile): FileGroup => ({files: [given], areLayers: false});

/** A file without an agent, with what is wrong in any file for Git. */
const unrelated = (given: ValuesFile, around: readonly KeyFinding[] = []): FileGroup => ({
  ...alone(given),
  around,
});

const unchecked = (given: ValuesFile, why: UncheckedReason): FileGroup =>
  unrelated(given, [...problemsAround(given), uncheckedFile(given.file, why)]);

/** Not checked if it names a chart that another program reads. */
function unreadGroup(given: ValuesFile, manifests: readonly Manifest[] = []): FileGroup {
  const why = whyNotRead(given, manifests);
  return why ? unchecked(given, why) : unrelated(given, problemsAround(given));
}

function whyNotRead(
  given: ValuesFile,
  manifests: readonly Manifest[],
): UncheckedReason | undefined {
  if (!namesChart(given.text)) return undefined;
  return whyUnread(given) ?? (manifests.some(selectsChart) ? whySelected(given.text) : undefined);
}

/** A template, or a file with a mistake in its syntax. */
function brokenGroups(given: GivenFile, problem: KeyFinding): FileGroup[] {
  const isNamed = namesChart(given.text);
  const why =
    isNamed || !given.isFound ? (whyUnread(given, true) ?? whyOnMachine(given, false)) : undefined;
  if (why) return [unchecked(given, why)];
  const isObjects = /^kind:/m.test(given.text);
  if (!given.isFound && !isObjects) return [alone(given)];
  return !given.isFound || isNamed || looksLikeAgentValues(given.text)
    ? [unrelated(given, [...problemsAround(given), inFile(problem, given.file)])]
    : [unrelated(given)];
}

/** Given files only: in a directory, an agent on a machine is not what is validated. */
const whyOnMachine = (
  {text, isFound}: GivenFile,
  isValues: boolean,
): UncheckedReason | undefined =>
  isFound || !/scalr\/agent|SCALR_/.test(text) ? undefined : whyOfMachine(text, isValues);

/** Encrypted Secrets are no releases; of encrypted values, nothing is known. */
function encryptedGroups(given: GivenFile, manifests: readonly Manifest[]): FileGroup[] {
  const hasRelease = manifests.some(({values}) => engineReleases(values) !== undefined);
  const isOther = manifests.every(isObject);
  const why = whyEncrypted(given) as UncheckedReason;
  if (isOther)
    return [
      hasRelease && namesChart(given.text)
        ? unchecked(given, why)
        : unrelated(given, problemsAround(given)),
    ];
  const isUnchecked = !given.isFound || looksLikeAgentValues(given.text);
  return [isUnchecked ? unchecked(given, why) : unrelated(given)];
}

/** Kubernetes objects without a release: rendered ones, and releases that only the engine can complete. */
function objectGroup(given: ValuesFile, manifests: readonly Manifest[], files: FileSet): FileGroup {
  const rendered = manifests
    .map(({values}) => textAt(values, ['metadata', 'labels', 'helm.sh/chart']))
    .find((each) => /^agent-(?:k8s|local|job)-\d/.test(each));
  if (rendered !== undefined) return unchecked(given, whyRendered(rendered));
  const partial = manifests.find(
    ({values}) =>
      ((engineReleases(values) ?? []).some(isIncomplete) || isConfigAlone(values, files)) &&
      namesRelease(values) &&
      !readsFiles(values),
  );
  if (partial === undefined) return unreadGroup(given, manifests);
  return unchecked(given, whyWithoutChart(String(partial.values['kind']), given.text));
}

/** Of K3s, with values for a HelmChart that is not among the files. */
const isConfigAlone = ({kind, metadata}: Values, files: FileSet): boolean =>
  kind === 'HelmChartConfig' &&
  isMap(metadata) &&
  files.find({
    kind: 'HelmChart',
    name: textAt(metadata, 'name'),
    namespace: textAt(metadata, 'namespace'),
  }) === undefined;

/** No chart, or a template in its place. */
const isIncomplete = ({reference, chartObject, origins}: EngineRelease): boolean =>
  chartObject !== undefined ||
  reference.includes('{') ||
  (reference === '' && origins.some((each) => !('unread' in each)));

/** An ApplicationSet whose values are in files of Git, which are validated themselves. */
const readsFiles = (values: Values): boolean =>
  itemsAt(values, 'spec.generators').some((each) => JSON.stringify(each).includes('"files":'));

/** The object is about an agent. */
const namesRelease = (values: Values): boolean => {
  const text = JSON.stringify(values);
  return namesChart(text) || /scalr[\w-]*agent|scalr\.io/i.test(text);
};

/** Values of an umbrella chart, or of an agent. */
async function valuesGroups(
  given: GivenFile,
  manifests: readonly Manifest[],
  files: FileSet,
): Promise<FileGroup[]> {
  const isParent = basename(given.file) === 'Chart.yaml';
  // Of a directory, its values file is checked too.
  const nested = isParent && given.isFound ? [] : await dependencyGroups(given, files);
  if (nested.length > 0) return nested;
  if (isParent)
    return [namesChart(given.text) && !given.isFound ? unchecked(given, PARENT) : unrelated(given)];
  const isValues = manifests.some(({tree}) => isMap(tree));
  if (manifests.some(({values}) => isAnswers(values)))
    return given.isFound && !namesChart(given.text)
      ? [unrelated(given)]
      : [unchecked(given, answersOf(given.file))];
  const why = whyNotRead(given, manifests) ?? whyOnMachine(given, isValues);
  if (why) return [unchecked(given, why)];
  if (!given.isFound || looksLikeAgentValues(given.text) || HEADER.test(given.text))
    return [alone(given)];
  return [unrelated(given)];
}

/** Settings of this program, which no chart has as keys. */
const isAnswers = (values: Values): boolean => {
  const keys = Object.keys(values).filter((key) => key !== '$schema');
  return keys.includes('url') && keys.every((key) => SETTINGS.has(key));
};
const SETTINGS = new Set(catalog.map(({id}) => id));

const answersOf = (file: string): UncheckedReason => ({
  reason:
    'it is an answers file, which has the settings of this program and not the values of a chart',
  command: `scalr-agent values --answers ${quote(file)}`,
});

const PARENT: UncheckedReason = {
  reason: 'a parent chart has its values in other files',
  command: 'Validate the values files beside it: scalr-agent validate DIRECTORY',
};

const HEADER = /^# Values of agent-(?:k8s|local|job) \d/m;

/** Of an engine, or of a cluster in an exported fleet. */
const releasesIn = (manifest: Manifest, text: string): EngineRelease[] =>
  engineReleases(manifest.values) ?? exportedReleases(manifest, text);

/** The values of every release of ours in a file. */
async function releaseGroups(
  given: ValuesFile,
  manifests: readonly Manifest[],
  files: FileSet,
): Promise<FileGroup[]> {
  const isScaled = manifests.some(({values}) =>
    /^(HorizontalPodAutoscaler|ScaledObject)$/.test(String(values['kind'])),
  );
  const before: LocatedRelease[] = [];
  const groups: FileGroup[] = [];
  for (const manifest of manifests) {
    const document = {given, manifest, files};
    for (const release of releasesIn(manifest, given.text)) {
      const located = locate(release, document);
      if (located === undefined) continue;
      const around = [...fleetProblems(located, release, isScaled), ...collision(located, before)];
      before.push(located);
      groups.push(await groupOf(release, {document, located, around}));
    }
  }
  const [first, ...others] = groups;
  if (first === undefined) return [];
  return [withAround(first, problemsAround(given)), ...others];
}

function locate(
  release: EngineRelease,
  {manifest, files}: DocumentInFile,
): LocatedRelease | undefined {
  const found = chartOfRelease(release, files);
  if (found === undefined) return undefined;
  const at = release.version === undefined ? release.chartAt : release.versionAt;
  return {...found, ...manifest.locate(at), place: release.place};
}

interface ReleaseInDocument {
  document: DocumentInFile;
  located: LocatedRelease & SourcePosition;
  around: readonly KeyFinding[];
}

async function groupOf(
  release: EngineRelease,
  {document, located, around}: ReleaseInDocument,
): Promise<FileGroup> {
  const {given} = document;
  const {layers, unread} = await valuesOfRelease(release, document);
  return {
    files: layers,
    areLayers: true,
    release: {
      kind: release.kind,
      chart: located.chart,
      ...versionIn(given.file, located),
      unread,
      around: around.map((each) => inFile(each, given.file)),
    },
  };
}

const withAround = (group: FileGroup, ofFile: readonly KeyFinding[]): FileGroup =>
  group.release
    ? {...group, release: {...group.release, around: [...ofFile, ...group.release.around]}}
    : group;

/** What is wrong in a file for Git, whatever it contains. */
const problemsAround = ({file, text}: ValuesFile): KeyFinding[] =>
  withoutRepeatedTokens(fileProblems(text), checkClearText(text)).map((each) => inFile(each, file));

const inFile = (finding: KeyFinding, file: string): KeyFinding => ({
  ...finding,
  subject: {...finding.subject, file},
});
