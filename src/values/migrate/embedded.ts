import {isMap, isScalar, isSeq, type ParsedNode, Scalar, type YAMLMap} from 'yaml';
import type {ChartName} from '../../charts/schema.ts';
import {ExitCode, ExpectedError} from '../../ground/errors.ts';
import {at} from '../../ground/tree.ts';
import {isNothing, parseYaml} from '../validate/source.ts';
import {type Edit, scalarEdit} from '../yaml-text.ts';
import {isChart} from './target.ts';

/** The releases of our charts in a file of Terraform, Argo CD, Flux, Helmfile or the Helm controller of K3s. @throws ExpectedError */
export function embeddedReleases(file: string, text: string): EmbeddedRelease[] {
  if (isTerraform(text)) return [terraformRelease(file, text)];
  const plain = parseYaml(text);
  const hasErrors = plain.some(({errors}) => errors.length > 0);
  const masked = hasErrors ? maskTemplates(text) : text;
  const documents = hasErrors ? parseYaml(masked) : plain;
  if (documents.some(({errors}) => errors.length > 0)) return [];
  const releases = releasesIn(documents, masked);
  if (releases.some(({values = ''}) => values.includes(MASK) || UNQUOTED.test(values))) throw hasTemplates(file);
  return releases;
}

function releasesIn(documents: ReturnType<typeof parseYaml>, text: string): EmbeddedRelease[] {
  return documents.flatMap(({contents}) => {
    const kind = textOf(nodeIn(contents, 'kind')) || 'helmfile';
    const engine = ENGINES.get(kind);
    return engine ? engine.releases(contents).flatMap((release) => releaseIn(release, kind, engine, text)) : [];
  });
}

/** A character that no file contains, for each character of a template expression. */
const MASK = '\u{E000}';

/** An expression that is no part of a quoted text: some are valid YAML, but mean something else there. */
const UNQUOTED = /(^|[:,[-]\s+)\{\{/m;

/** A text of the same length that is YAML without the expressions of a template: lines of their own become comments. */
const maskTemplates = (text: string): string =>
  text
    .replaceAll(/^([ \t]*)(\{\{.*\}\})(?=[ \t]*\r?$)/gm, (_, indent: string, line: string) => `${indent}#${MASK.repeat(line.length - 1)}`)
    .replaceAll(/\{\{.*?\}\}/g, (expression) => MASK.repeat(expression.length));

const hasTemplates = (file: string): ExpectedError =>
  new ExpectedError(`Cannot migrate ${file}: the values of the release contain template expressions ({{ … }}).`, {
    code: 'UNREADABLE_FILE',
    exit: ExitCode.usage,
    suggestions: [
      'Render the file first, and migrate the result: helmfile build',
      'Or replace the expressions in the values by their results',
    ],
  });

/** Where an engine keeps its releases, and in each the chart, its version and its values: maps, or texts that contain YAML. */
interface Engine {
  releases(root: unknown): unknown[];
  chart: string;
  version: string;
  values: readonly string[];
  others: readonly string[];
  /** Single values with their names: a list of `name` and `value`, or a map. */
  parameters?: string;
}

const nodeIn = (node: unknown, path: string): unknown =>
  at(path).reduce<unknown>((found, key) => (isMap(found) ? (found as YAMLMap).get(key, true) : undefined), node);
const itemsOf = (node: unknown): unknown[] => (isSeq(node) ? node.items : []);
const textOf = (node: unknown): string | undefined => (isScalar(node) && !isNothing(node) ? String(node.value) : undefined);

const argo = (spec: string): Engine => ({
  releases: (root) => [nodeIn(root, `${spec}.source`), ...itemsOf(nodeIn(root, `${spec}.sources`))],
  chart: 'chart',
  version: 'targetRevision',
  values: ['helm.valuesObject', 'helm.values'],
  others: ['helm.valueFiles', 'helm.fileParameters'],
  parameters: 'helm.parameters',
});

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
    },
    HelmChart: {
      releases: (root) => [nodeIn(root, 'spec')],
      chart: 'chart',
      version: 'version',
      values: ['valuesContent'],
      others: [],
      parameters: 'set',
    },
    helmfile: {
      releases: (root) => itemsOf(nodeIn(root, 'releases')),
      chart: 'chart',
      version: 'version',
      values: ['values'],
      others: ['secrets'],
      parameters: 'set',
    },
  }),
);

function releaseIn(release: unknown, kind: string, engine: Engine, text: string): EmbeddedRelease[] {
  const [chart, version] = [nodeIn(release, engine.chart), nodeIn(release, engine.version)];
  // Helmfile writes the repository before the name, and lists values together with the names of files.
  const reference = textOf(chart) ?? '';
  const name = reference.split('/').at(-1) as string;
  if (!isChart(name)) return [];
  const values = engine.values.map((path) => nodeIn(release, path));
  const listed = values.flatMap(itemsOf);
  const [inline, ...more] = [
    ...values.filter((each) => textOf(each) !== undefined || isMap(each)),
    ...listed.filter((each) => isMap(each)),
  ];
  const others = [...listed.filter((each) => !isMap(each)), ...engine.others.map((path) => nodeIn(release, path))];
  const found = inline === undefined ? undefined : extract(inline as ParsedNode, text);
  return [
    {
      kind,
      chart: name,
      version: textOf(version)?.includes(MASK) ? undefined : textOf(version),
      values: found?.values,
      parameters: engine.parameters === undefined ? [] : namesOf(nodeIn(release, engine.parameters)),
      hasOtherValues: more.length > 0 || others.some((each) => each !== undefined),
      edits: (newChart, newVersion, newValues) =>
        [
          newChart === name ? undefined : scalarEdit(text, chart, `${reference.slice(0, -name.length)}${newChart}`),
          textOf(version) === newVersion ? undefined : scalarEdit(text, version, newVersion),
          newValues === undefined || newValues === found?.values ? undefined : found?.edit(newValues),
        ].filter((each) => each !== undefined),
    },
  ];
}

const namesOf = (node: unknown): string[] => [
  ...itemsOf(node).flatMap((item) => textOf(nodeIn(item, 'name')) ?? []),
  ...(isMap(node) ? node.items.flatMap(({key}) => textOf(key) ?? []) : []),
];

interface Extracted {
  values: string;
  edit(values: string): Edit;
}

/** The values below a key, without their indentation. */
function extract(node: ParsedNode, text: string): Extracted {
  const [start, end] = node.range;
  const written = text.slice(start, end);
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  if (isMap(node) && !node.flow) {
    const column = start - lineStart;
    // Up to the first line that is indented less, such as a comment of the next key.
    const own = written.replace(new RegExp(`\\n {0,${column - 1}}[^ \\n][^]*`), '').trimEnd();
    return {
      values: `${dedent(own, column)}\n`,
      edit: (values) => ({start, end: start + own.length, text: indent(values, column).slice(column)}),
    };
  }
  const keyColumn = text.slice(lineStart).search(/[^\s-]/);
  const isBlock = isScalar(node) && (node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED);
  const body = written.slice(written.indexOf('\n') + 1);
  const column = isBlock ? Math.max(columnOf(body), keyColumn + 1) : keyColumn + 2;
  return {
    values: isScalar(node) ? String(node.value) : `${written}\n`,
    edit: (values) => ({start, end: start + written.trimEnd().length, text: `${isScalar(node) ? '|' : ''}\n${indent(values, column)}`}),
  };
}

/** A release in a file of another engine: its chart, its version and its inline values. */
export interface EmbeddedRelease {
  kind: string;
  chart: ChartName;
  version: string | undefined;
  /** The values as a file of their own; undefined if the release has none inline. */
  values: string | undefined;
  /** Values come from other places too. */
  hasOtherValues: boolean;
  /** Names of single values that are set beside the inline values and override them. */
  parameters: readonly string[];
  /** The edits that write another chart, version and values. */
  edits(chart: ChartName, version: string, values: string | undefined): Edit[];
}

/** A text with this many blanks less at the start of its lines. */
const dedent = (text: string, column: number): string => text.replaceAll(new RegExp(`(?<=^|\\n) {0,${column}}`, 'g'), '');

/** A text with this many blanks more at the start of its filled lines. */
const indent = (text: string, column: number): string => text.trimEnd().replaceAll(/(?<=^|\n)(?=[^\n])/g, ' '.repeat(column));

/** The smallest indentation of a text. */
const columnOf = (text: string): number => {
  const columns = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.search(/\S/)]));
  return columns.length > 0 ? Math.min(...columns) : 0;
};

const HELM_RELEASE = /^\s*resource\s+"helm_release"\s/m;

const isTerraform = (text: string): boolean => HELM_RELEASE.test(text);

const CHART = /^(\s*chart\s*=\s*")([^"\n]*?)(agent-[a-z0-9]+)"/gm;
const VERSION = /^(\s*version\s*=\s*")([^"\n]+)"/gm;
/** The name in a block `set { name = "a.b" … }`, or in a list of them. */
const SET = /^\s*(?:set\s*(?:=\s*\[\s*)?)?\{\s*name\s*=\s*"([^"]+)"/gm;
const VALUES = /^(\s*values\s*=\s*\[\s*<<-?(\w+)\n)([\s\S]*?)^[ \t]*\2$/gm;

/**
 * The only helm_release of a Terraform file, with its values in one heredoc. HCL needs a parser of its own; expressions and several
 * resources are refused. @throws ExpectedError
 */
function terraformRelease(file: string, text: string): EmbeddedRelease {
  const [resources, charts, versions, values] = [new RegExp(HELM_RELEASE, 'gm'), CHART, VERSION, VALUES].map((pattern) => [
    ...text.matchAll(pattern),
  ]) as [Matches, Matches, Matches, Matches];
  const [chart, version, heredoc] = [charts[0], versions[0], values[0]];
  const name = chart?.[3];
  if (resources.length > 1) throw notSimple(file, `it has ${resources.length} helm_release resources`);
  if (charts.length !== 1 || versions.length > 1 || chart === undefined || !isChart(name))
    throw notSimple(file, 'its resource must name the chart and one version as plain text');
  if (values.length !== 1 || heredoc === undefined) throw notSimple(file, 'its resource must have its values in one heredoc');
  const expression = /[$%]\{[^}]*\}?/.exec(heredoc[3] ?? '')?.[0];
  if (expression !== undefined) throw notSimple(file, `the heredoc contains ${expression}, which only Terraform can evaluate`);
  const [, opening = '', , body = ''] = heredoc;
  const column = columnOf(body);
  const start = heredoc.index + opening.length;
  const replaced = (match: RegExpExecArray, by: string): Edit => ({start: match.index, end: match.index + match[0].length, text: by});
  return {
    kind: 'helm_release',
    chart: name,
    version: version?.[2],
    values: dedent(body, column),
    hasOtherValues: /^\s*set_(list|sensitive|wo)?\s*[={]/m.test(text),
    parameters: [...text.matchAll(SET)].map((match) => match[1] as string),
    edits: (newChart, newVersion, newValues) => [
      replaced(chart, `${chart[1]}${chart[2]}${newChart}"`),
      ...(version === undefined ? [] : [replaced(version, `${version[1]}${newVersion}"`)]),
      {start, end: start + body.length, text: `${indent(newValues ?? '', column)}\n`},
    ],
  };
}

type Matches = RegExpExecArray[];

const notSimple = (file: string, reason: string): ExpectedError =>
  new ExpectedError(`Cannot migrate ${file}: ${reason}.`, {
    code: 'UNREADABLE_FILE',
    exit: ExitCode.usage,
    suggestions: [
      'Save the values without expressions in a file of their own, and migrate that file',
      'Or render the values first: terraform console prints what an expression is',
      'Then set chart and version in the resource',
    ],
  });
