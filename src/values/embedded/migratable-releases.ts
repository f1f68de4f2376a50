import {basename} from 'node:path';
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  type Node,
  type ParsedNode,
  parseDocument,
  visit,
} from 'yaml';
import type {ChartName} from '../../charts/releases/chart-name.ts';
import type {Target} from '../../charts/releases/target.ts';
import {type ExpectedError, failed} from '../../ground/errors.ts';
import {at, getAt, isMap as isMapping} from '../../ground/tree.ts';
import type {ValuesFile} from '../../settings/chart-values.ts';
import {readNode} from '../reading/helm-reader.ts';
import {isObject, type Manifest, readManifests} from '../reading/manifests.ts';
import {dotted, type TreePath} from '../reading/tree-path.ts';
import {SYNTAX} from '../reading/yaml-syntax.ts';
import {scalarEdit, type TextEdit} from '../text-edits.ts';
import {namesChart} from '../validate/agent-files.ts';
import {type Assignment, type EngineRelease, engineReleases, type ValuesOrigin} from './engines.ts';
import {FileSet} from './file-set.ts';
import {type InlineValues, inlineValues} from './inline-values.ts';
import {
  chartOfRelease,
  type DocumentInFile,
  objectElsewhere,
  placeOfObject,
  textOfObject,
} from './read-release.ts';
import {dependenciesIn} from './umbrella-charts.ts';
import {isSource, whyOfMachine, whyUnread} from './unread-files.ts';

/** A release in a file of another engine, as `migrate` rewrites it. */
export interface MigratableRelease {
  kind: string;
  chart: ChartName;
  /** As the file says it. */
  version: string | undefined;
  /** The values in the file, each as a file of its own; later ones override earlier ones. */
  layers: readonly InlineValues[];
  /** Places of values that are not in the file. */
  others: readonly string[];
  /** Override all other values. */
  parameters: readonly MigratableParameter[];
  /** The edits that write another chart and version. */
  edits(to: Target): TextEdit[];
  /** What to change by hand in another file. */
  note?(to: Target): string;
}

/** A single value that is set beside the others. */
export interface MigratableParameter extends Assignment {
  /** The edits that write another name, and another value unless it is unknown. */
  edits(name: string, value: string | undefined): TextEdit[];
}

/**
 * The releases of our charts in a file, whose lines end with LF; `parent` is the text of the Chart.yaml beside it.
 * @throws ExpectedError for files that only their engine can evaluate
 */
export function migratableReleases(given: ValuesFile, parent?: string): MigratableRelease[] {
  if (basename(given.file) === 'Chart.yaml')
    throw notReadable(given.file, 'its values are in other files', MIGRATE_BESIDE);
  const dependencies = parent === undefined ? [] : dependencyReleases(given, parent);
  if (dependencies.length > 0) return dependencies;
  const {manifests, problem} = readManifests(given.text);
  const isValues = manifests.some(({tree}) => isMapping(tree));
  const machine = whyOfMachine(given.text, isValues);
  if (machine) throw notReadable(given.file, machine.reason, machine.command);
  const isForOthers = isSource(given) || (!isValues && namesChart(given.text));
  const why = isForOthers ? whyUnread(given, problem !== undefined) : undefined;
  if (why) throw notReadable(given.file, why.reason);
  const files = new FileSet([given], async () => undefined);
  const releases = manifests.flatMap((manifest) =>
    (engineReleases(manifest.values) ?? []).flatMap((release) => {
      const found = chartOfRelease(release, files);
      return found ? [migratable(release, found.chart, {manifest, given, files})] : [];
    }),
  );
  const [object] = releases.length > 0 ? [] : manifests.filter(isObject);
  if (object) throw notReadable(given.file, `the ${object.values['kind']} does not tell its chart`);
  return releases;
}

/** The sections of a values file that belong to dependencies of the chart around it. */
function dependencyReleases(given: ValuesFile, parent: string): MigratableRelease[] {
  const [manifest] = readManifests(given.text).manifests;
  if (manifest === undefined) return [];
  const document = {given, manifest, files: new FileSet([given], async () => undefined)};
  return dependenciesIn(parent).flatMap(({section, chart, written, toggle}) => {
    const found = inlineAt([section], document);
    if (found === undefined) return [];
    const layer = toggle === undefined ? found : withoutToggle(found, toggle, given.file);
    return [
      {
        kind: `dependency ${section}`,
        chart,
        version: written,
        layers: [layer],
        others: ['other values files of the parent chart'],
        parameters: [],
        edits: () => [],
        note: (to) =>
          `Set the dependency ${section} in Chart.yaml to ${to.chart} ${to.version}, and run helm dependency update.`,
      },
    ];
  });
}

/** The condition of the parent chart, such as `enabled: true`, stays as it is. */
function withoutToggle({values, edit}: InlineValues, key: string, file: string): InlineValues {
  const line = values.split('\n').find((each) => each.startsWith(`${key}:`));
  const [read] = readManifests(values).manifests;
  if (line === undefined && read !== undefined && getAt(read.values, at(key)) !== undefined)
    throw notReadable(
      file,
      `the condition ${key} of the parent chart has no line of its own`,
      ONE_LINE,
    );
  if (line === undefined) return {values, edit};
  return {
    values: values.replace(`${line}\n`, ''),
    edit: (migrated) => edit(`${line}\n${migrated}`),
  };
}

const ONE_LINE = 'Write the section as a block, with the condition on a line of its own';
const MIGRATE_BESIDE = 'Migrate the values files beside it, such as values.yaml';
const GET_VALUES =
  'Save the values of the installed release as YAML, with helm get values, and use that file';

const notReadable = (file: string, reason: string, suggestion = GET_VALUES): ExpectedError =>
  failed(
    'UNREADABLE_FILE',
    `Cannot migrate ${file === '-' ? 'standard input' : file}: ${reason}.`,
    [suggestion],
  );

function migratable(
  release: EngineRelease,
  chart: ChartName,
  document: DocumentInFile,
): MigratableRelease {
  const {manifest, given, files} = document;
  const {text} = given;
  const place = release.chartObject
    ? placeOfObject(release.chartObject, files)
    : {...release, manifest};
  if (place === undefined) throw new TypeError('A chart was found, but not its object');
  const {reference, version} = place;
  const layers: InlineValues[] = [];
  const others: string[] = [];
  const parameters: MigratableParameter[] = [];
  for (const origin of release.origins) {
    if ('assignments' in origin)
      parameters.push(...origin.assignments.map((each) => parameterOf(each, document)));
    else {
      const found = layerAt(origin, document);
      if (typeof found === 'string') others.push(found);
      else if (found) layers.push(found);
    }
  }
  return {
    kind: release.kind,
    chart,
    version,
    layers,
    others,
    parameters,
    edits(to) {
      const repository = reference.slice(0, -chart.length);
      const isOther = version !== undefined && version !== to.version;
      return [
        ...(to.chart === chart
          ? []
          : replacement(text, place.manifest.node(place.chartAt), repository + to.chart)),
        ...(isOther ? replacement(text, place.manifest.node(place.versionAt), to.version) : []),
      ];
    },
  };
}

/** Values in the file, or the place of values that are elsewhere. */
function layerAt(
  origin: Exclude<ValuesOrigin, {assignments: unknown}>,
  document: DocumentInFile,
): InlineValues | string | undefined {
  if ('read' in origin) return undefined;
  if ('unread' in origin) return origin.unread;
  if ('file' in origin) return origin.file;
  if ('inline' in origin) return inlineAt(origin.inline, document) ?? dotted(origin.inline);
  const found = textOfObject(origin.object, origin.key, document.files);
  if (found === undefined || found.isEncoded) return objectElsewhere(origin.object, document.files);
  return inlineAt(found.path, {...document, manifest: found.manifest});
}

/** The name is a field, or the key of the value. */
function parameterOf(
  parameter: Assignment,
  {manifest, given: {text}}: DocumentInFile,
): MigratableParameter {
  const {at, name} = parameter;
  const above = manifest.node(at.slice(0, -1));
  const key = isMap(above) ? above.items.find((each) => String(each.key) === name)?.key : undefined;
  const field = ['name', 'targetPath']
    .map((each) => manifest.node([...at, each]))
    .find((each) => isScalar(each) && each.value === name);
  const written = key === undefined ? manifest.node([...at, 'value']) : manifest.node(at);
  return {
    ...parameter,
    edits: (to, value) => [
      ...replacement(text, key ?? field, to),
      ...(value === undefined || value === parameter.value
        ? []
        : replacement(text, written, value)),
    ],
  };
}

/** An alias becomes the value itself: its anchor can belong to others. */
function replacement(text: string, node: unknown, value: string): TextEdit[] {
  if (isAlias(node) && node.range) {
    const [start, end] = node.range;
    return [{start, end, text: JSON.stringify(value)}];
  }
  const edit = scalarEdit(text, node, value);
  return edit ? [edit] : [];
}

/** Inline values with the anchors of the file that they refer to. */
function inlineAt(
  path: TreePath,
  {manifest, given: {text}}: DocumentInFile,
): InlineValues | undefined {
  const node = manifest.node(path);
  if (!isNode(node) || isAlias(node)) return undefined;
  const inline = inlineValues(node as ParsedNode, text);
  const anchors = isMap(node) ? anchorsOutside(inline.values, manifest) : '';
  if (anchors === '') return inline;
  return {
    values: `${anchors}${inline.values}`,
    edit: (values) => inline.edit(values.replaceAll(OUTSIDE, '').replace(/^\n+/, '')),
  };
}

const OUTSIDE = /^x-outside-\d+: .*\n/gm;

/** Keys that define the anchors outside of the values, so that these can be read alone. */
function anchorsOutside(values: string, manifest: Manifest): string {
  const own = anchorsIn(parseDocument(values, SYNTAX).contents);
  const all = anchorsIn(manifest.node([]));
  const used = new Set<string>();
  visit(parseDocument(values, SYNTAX), {
    Alias: (_, {source}) => {
      if (!own.has(source)) used.add(source);
    },
  });
  return [...used]
    .map((name, index) => {
      const node = all.get(name);
      const value = node ? readNode(node).root.value : null;
      return `x-outside-${index}: &${name} ${JSON.stringify(value)}\n`;
    })
    .join('');
}

function anchorsIn(root: unknown): Map<string, Node> {
  const anchors = new Map<string, Node>();
  if (!isNode(root)) return anchors;
  visit(root, {
    Value: (_, node) => {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return anchors;
}
