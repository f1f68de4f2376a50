import {isAlias, isMap, isNode, type Node, type ParsedNode, parseDocument, visit} from 'yaml';
import type {ChartName} from '../../charts/releases/chart-name.ts';
import type {Target} from '../../charts/releases/target.ts';
import {type ExpectedError, failed} from '../../ground/errors.ts';
import {isMap as isMapping} from '../../ground/tree.ts';
import type {ValuesFile} from '../../settings/chart-values.ts';
import {readNode} from '../reading/helm-reader.ts';
import {isObject, type Manifest, readManifests} from '../reading/manifests.ts';
import type {TreePath} from '../reading/tree-path.ts';
import {SYNTAX} from '../reading/yaml-syntax.ts';
import {scalarEdit, type TextEdit} from '../text-edits.ts';
import {namesChart} from '../validate/agent-files.ts';
import {type EngineRelease, engineReleases} from './engines.ts';
import {FileSet} from './file-set.ts';
import {type InlineValues, inlineValues} from './inline-values.ts';
import {chartOfRelease} from './read-release.ts';
import {isSource, whyOfMachine, whyUnread} from './unread-files.ts';

/** A release in a file of another engine, as `migrate` rewrites it. */
export interface MigratableRelease {
  kind: string;
  chart: ChartName;
  /** As the file says it. */
  version: string | undefined;
  /** The inline values as a file of their own; undefined if the release has none. */
  values: string | undefined;
  /** Values come from other places too. */
  hasOtherValues: boolean;
  /** Names of single values that are set beside the inline values and override them. */
  parameters: readonly string[];
  /** The edits that write another chart, version and values. */
  edits(to: Target, values: string | undefined): TextEdit[];
}

/** The releases of our charts in a file, whose lines end with LF. @throws ExpectedError for files that only their engine can evaluate */
export function migratableReleases(given: ValuesFile): MigratableRelease[] {
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
      return found && release.chartObject === undefined
        ? [migratable(release, found.chart, {manifest, text: given.text})]
        : [];
    }),
  );
  const [object] = releases.length > 0 ? [] : manifests.filter(isObject);
  if (object) throw notReadable(given.file, `the ${object.values['kind']} does not tell its chart`);
  return releases;
}

const GET_VALUES =
  'Save the values of the installed release as YAML, with helm get values, and use that file';

const notReadable = (file: string, reason: string, suggestion = GET_VALUES): ExpectedError =>
  failed(
    'UNREADABLE_FILE',
    `Cannot migrate ${file === '-' ? 'standard input' : file}: ${reason}.`,
    [suggestion],
  );

interface DocumentText {
  manifest: Manifest;
  text: string;
}

function migratable(
  release: EngineRelease,
  chart: ChartName,
  {manifest, text}: DocumentText,
): MigratableRelease {
  const {reference, version, origins} = release;
  const inline = origins.flatMap((each) => ('inline' in each ? [each.inline] : [])).at(-1);
  const found = inline && inlineAt(inline, {manifest, text});
  const others = origins.filter((each) => !('inline' in each && each.inline === inline));
  return {
    kind: release.kind,
    chart,
    version,
    values: found?.values,
    hasOtherValues: others.some((each) => !('assignments' in each) && !isOwnConfig(each)),
    parameters: others.flatMap((each) =>
      'assignments' in each ? each.assignments.map(({name}) => name) : [],
    ),
    edits(to, values) {
      const repository = reference.slice(0, -chart.length);
      const isChanged = values !== undefined && values !== found?.values;
      return [
        to.chart === chart
          ? undefined
          : replacement(text, manifest.node(release.chartAt), repository + to.chart),
        version !== undefined && version !== to.version
          ? replacement(text, manifest.node(release.versionAt), to.version)
          : undefined,
        isChanged ? found?.edit(values) : undefined,
      ].filter((each) => each !== undefined);
    },
  };
}

/** An alias becomes the value itself: its anchor can belong to others. */
function replacement(text: string, node: unknown, value: string): TextEdit | undefined {
  if (!isAlias(node) || !node.range) return scalarEdit(text, node, value);
  const [start, end] = node.range;
  return {start, end, text: JSON.stringify(value)};
}

/** A HelmChartConfig, which need not exist. */
const isOwnConfig = (origin: EngineRelease['origins'][number]): boolean =>
  'object' in origin && origin.object.kind === 'HelmChartConfig';

/** Inline values with the anchors of the file that they refer to. */
function inlineAt(path: TreePath, {manifest, text}: DocumentText): InlineValues | undefined {
  const node = manifest.node(path) as ParsedNode;
  if (isAlias(node)) return undefined;
  const inline = inlineValues(node, text);
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
