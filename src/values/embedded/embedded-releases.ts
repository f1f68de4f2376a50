import {isMap, isScalar, isSeq, type ParsedNode, Scalar, type YAMLMap} from 'yaml';
import {isChart} from '../../charts/releases/chart-name.ts';
import type {ExpectedError} from '../../ground/errors.ts';
import {at} from '../../ground/tree.ts';
import {isEmptyNode, parseYaml} from '../validate/source.ts';
import {type Edit, scalarEdit} from '../yaml-text.ts';
import {
  blankAround,
  collisions,
  columnOf,
  dedent,
  type EmbeddedRelease,
  fleetProblems,
  indent,
  notReadable,
} from './embedded-release.ts';
import {isTerraform, terraformReleases} from './terraform.ts';

/** The releases of our charts in a file of Terraform, Argo CD, Flux, Helmfile or the Helm controller of K3s. @throws ExpectedError */
export function embeddedReleases(file: string, text: string): EmbeddedRelease[] {
  if (!/\bagent-(?:k8s|local|job)\b/.test(text)) return [];
  if (isTerraform(text)) return terraformReleases(file, text);
  const plain = parseYaml(text);
  const hasErrors = plain.some(({errors}) => errors.length > 0);
  const masked = hasErrors ? maskTemplates(text) : text;
  const documents = hasErrors ? parseYaml(masked) : plain;
  if (documents.some(({errors}) => errors.length > 0)) return [];
  const releases = releasesIn(documents, masked, text);
  if (releases.some(({values = ''}) => values.includes(MASK) || UNQUOTED.test(values)))
    throw hasTemplates(file);
  return releases;
}

/** `original` is the text before template expressions were masked. */
function releasesIn(
  documents: ReturnType<typeof parseYaml>,
  text: string,
  original: string,
): EmbeddedRelease[] {
  const roots = documents.map(({contents}) => contents as unknown);
  const isScaled = roots.some((root) =>
    /^(HorizontalPodAutoscaler|ScaledObject)$/.test(scalarText(nodeIn(root, 'kind')) ?? ''),
  );
  const found = roots.flatMap((root) => {
    const kind = scalarText(nodeIn(root, 'kind')) || 'helmfile';
    const engine = ENGINES.get(kind);
    const about = {root, kind, isScaled, text, original};
    return engine
      ? engine.releases(root).flatMap((release) => releaseIn(release, engine, about))
      : [];
  });
  const clashes = collisions(found);
  return found.map((each) => ({
    ...each,
    problems: [...each.problems, ...clashes.filter(({offset}) => offset === each.offset)],
  }));
}

/** A character that no file contains, for each character of a template expression. */
const MASK = '\u{E000}';

/** An expression that is no part of a quoted text: some are valid YAML, but mean something else there. */
const UNQUOTED = /(^|[:,[-]\s+)\{\{/m;

/** A text of the same length that is YAML without the expressions of a template: lines of their own become comments. */
const maskTemplates = (text: string): string =>
  text
    .replaceAll(
      /^([ \t]*)(\{\{.*\}\})(?=[ \t]*\r?$)/gm,
      (_, indent: string, line: string) => `${indent}#${MASK.repeat(line.length - 1)}`,
    )
    .replaceAll(/\{\{.*?\}\}/g, (expression) => MASK.repeat(expression.length));

const hasTemplates = (file: string): ExpectedError =>
  notReadable(file, 'the values of the release contain template expressions ({{ … }})', [
    'Render the file first, and use the result: helmfile build',
    'Or replace the expressions in the values with their results',
  ]);

/** Where an engine keeps its releases, and in each the chart, its version and its values: maps, or texts that contain YAML. */
interface Engine {
  releases(root: unknown): unknown[];
  chart: string;
  version: string;
  values: readonly string[];
  /** A list of names of files. */
  files?: string;
  others: readonly string[];
  /** Single values with their names: a list of `name` and `value`, or a map. */
  parameters?: string;
  /** Where the release is installed: paths below the root, or below the release. */
  place: readonly string[];
  /** What a release of agent-job lacks, so that upgrades apply its definitions. */
  lacksDefinitions?(root: unknown, release: unknown): string | false;
  /** What it lacks, so that the replicas of an autoscaler stay. */
  lacksIgnored?(root: unknown): string | false;
}

export const nodeIn = (node: unknown, path: string): unknown =>
  at(path).reduce<unknown>(
    (found, key) => (isMap(found) ? (found as YAMLMap).get(key, true) : undefined),
    node,
  );
export const listItems = (node: unknown): unknown[] => (isSeq(node) ? node.items : []);
export const scalarText = (node: unknown): string | undefined =>
  isScalar(node) && !isEmptyNode(node) ? String(node.value) : undefined;

const argo = (spec: string): Engine => ({
  releases: (root) => [
    nodeIn(root, `${spec}.source`),
    ...listItems(nodeIn(root, `${spec}.sources`)),
  ],
  chart: 'chart',
  version: 'targetRevision',
  values: ['helm.valuesObject', 'helm.values'],
  files: 'helm.valueFiles',
  others: ['helm.fileParameters'],
  parameters: 'helm.parameters',
  place: ['namespace', 'server', 'name'].map((key) => `${spec}.destination.${key}`),
  // Argo CD applies the definitions of a chart with its other objects.
  lacksDefinitions: (_, release) =>
    scalarText(nodeIn(release, 'helm.skipCrds')) === 'true' && 'Remove helm.skipCrds',
  lacksIgnored: (root) =>
    !hasReplicas(nodeIn(root, `${spec}.ignoreDifferences`)) &&
    `Add /spec/replicas to ${spec}.ignoreDifferences, and RespectIgnoreDifferences=true to syncOptions`,
});

const hasReplicas = (node: unknown): boolean =>
  JSON.stringify(node ?? '').includes('/spec/replicas');

const ENGINES: ReadonlyMap<string, Engine> = new Map(
  Object.entries({
    Application: argo('spec'),
    ApplicationSet: argo('spec.template.spec'),
    HelmRelease: {
      releases: (root) => [nodeIn(root, 'spec')],
      chart: 'chart.spec.chart',
      version: 'chart.spec.version',
      values: ['values'],
      others: ['valuesFrom'],
      place: ['spec.targetNamespace', 'metadata.namespace'],
      lacksDefinitions: (root) =>
        !/^Create/.test(scalarText(nodeIn(root, 'spec.upgrade.crds')) ?? '') &&
        'Set spec.upgrade.crds to CreateReplace',
      lacksIgnored: (root) =>
        scalarText(nodeIn(root, 'spec.driftDetection.mode')) === 'enabled' &&
        !hasReplicas(nodeIn(root, 'spec.driftDetection.ignore')) &&
        'Add /spec/replicas to spec.driftDetection.ignore',
    },
    HelmChart: {
      releases: (root) => [nodeIn(root, 'spec')],
      chart: 'chart',
      version: 'version',
      values: ['valuesContent'],
      others: [],
      parameters: 'set',
      place: ['spec.targetNamespace', 'metadata.namespace'],
    },
    helmfile: {
      releases: (root) => listItems(nodeIn(root, 'releases')),
      chart: 'chart',
      version: 'version',
      values: ['values'],
      others: ['secrets'],
      parameters: 'set',
      place: ['namespace', 'kubeContext'],
    },
  }),
);

interface About {
  root: unknown;
  kind: string;
  isScaled: boolean;
  text: string;
  original: string;
}

function releaseIn(
  release: unknown,
  engine: Engine,
  {root, kind, isScaled, text, original}: About,
): (EmbeddedRelease & {place: string; offset: number})[] {
  const chart = nodeIn(release, engine.chart);
  const version = nodeIn(release, engine.version);
  // Helmfile writes the repository before the name, and lists values together with the names of files.
  const reference = scalarText(chart) ?? '';
  const name = reference.split('/').at(-1) as string;
  if (!isChart(name)) return [];
  const values = engine.values.map((path) => nodeIn(release, path));
  const listed = values.flatMap(listItems);
  const [inline, ...more] = [
    ...values.filter((each) => scalarText(each) !== undefined || isMap(each)),
    ...listed.filter((each) => isMap(each)),
  ];
  const named = [
    ...listed.filter((each) => !isMap(each)),
    ...listItems(nodeIn(release, engine.files ?? '')),
  ];
  const others = [...named, ...engine.others.map((path) => nodeIn(release, path))];
  const found = inline === undefined ? undefined : extract(inline as ParsedNode, text);
  const isTemplate = scalarText(version)?.includes(MASK);
  const spelled = isTemplate ? undefined : scalarText(version);
  const offset = (((version ?? chart) as ParsedNode).range ?? [0])[0];
  const place = engine.place
    .flatMap((path) => scalarText(nodeIn(root, path) ?? nodeIn(release, path)) ?? [])
    .join('/');
  return [
    {
      kind,
      chart: name,
      version: spelled,
      place,
      offset,
      values: found?.values,
      inPlace: found?.inPlace,
      fileSets: fileSetsOf(named, root, original),
      parameters:
        engine.parameters === undefined ? [] : namesOf(nodeIn(release, engine.parameters)),
      hasOtherValues: more.length > 0 || others.some((each) => each !== undefined),
      problems: isTemplate
        ? []
        : fleetProblems({
            chart: name,
            version: spelled,
            offset,
            lacksDefinitions: engine.lacksDefinitions?.(root, release),
            lacksIgnored: isScaled && engine.lacksIgnored?.(root),
          }),
      edits: (newChart, newVersion, newValues) =>
        [
          newChart === name
            ? undefined
            : scalarEdit(text, chart, `${reference.slice(0, -name.length)}${newChart}`),
          scalarText(version) === newVersion ? undefined : scalarEdit(text, version, newVersion),
          newValues === undefined || newValues === found?.values
            ? undefined
            : found?.edit(newValues),
        ].filter((each) => each !== undefined),
    },
  ];
}

const ENVIRONMENT = /\{\{-?\s*\.Environment\.Name\s*-?\}\}/g;

/** The files in a list, once for each environment if their paths depend on it. */
function fileSetsOf(named: readonly unknown[], root: unknown, original: string): string[][] {
  const paths = named.flatMap((each) => {
    const [start, end] = (each as ParsedNode).range;
    return scalarText(each) === undefined
      ? []
      : [
          original
            .slice(start, end)
            .trim()
            .replaceAll(/^["']|["']$/g, ''),
        ];
  });
  const environments = nodeIn(root, 'environments');
  const names = isMap(environments)
    ? environments.items.flatMap(({key}) => scalarText(key) ?? [])
    : [];
  const isOfEach = names.length > 0 && paths.some((each) => each.search(ENVIRONMENT) >= 0);
  return isOfEach
    ? names.map((name) => paths.map((each) => each.replaceAll(ENVIRONMENT, name)))
    : [paths];
}

const namesOf = (node: unknown): string[] => [
  ...listItems(node).flatMap((item) => scalarText(nodeIn(item, 'name')) ?? []),
  ...(isMap(node) ? node.items.flatMap(({key}) => scalarText(key) ?? []) : []),
];

interface Extracted {
  values: string;
  inPlace: string;
  edit(values: string): Edit;
}

/** The values below a key, without their indentation. */
export function extract(node: ParsedNode, text: string): Extracted {
  const [start, end] = node.range;
  const written = text.slice(start, end);
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  if (isMap(node) && !node.flow) {
    const column = start - lineStart;
    // Up to the first line that is indented less, such as a comment of the next key.
    const own = written.replace(new RegExp(`\\n {0,${column - 1}}[^ \\n][^]*`), '').trimEnd();
    return {
      values: `${dedent(own, column)}\n`,
      inPlace: blankAround(text, start, start + own.length),
      edit: (values) => ({
        start,
        end: start + own.length,
        text: indent(values, column).slice(column),
      }),
    };
  }
  const keyColumn = text.slice(lineStart).search(/[^\s-]/);
  const isBlock =
    isScalar(node) && (node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED);
  const body = written.slice(written.indexOf('\n') + 1);
  const column = isBlock ? Math.max(columnOf(body), keyColumn + 1) : keyColumn + 2;
  return {
    values: isScalar(node) ? String(node.value) : `${written}\n`,
    // A text in quotes has no lines of its own.
    inPlace:
      isScalar(node) && !isBlock
        ? text.slice(0, start).replaceAll(/[^\n]/g, '') + String(node.value)
        : blankAround(text, isBlock ? start + written.indexOf('\n') + 1 : start, end),
    edit: (values) => ({
      start,
      end: start + written.trimEnd().length,
      text: `${isScalar(node) ? '|' : ''}\n${indent(values, column)}`,
    }),
  };
}
