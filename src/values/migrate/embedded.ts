import {isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseAllDocuments, Scalar, type YAMLMap} from 'yaml';
import type {ChartName} from '../../charts/schema.ts';
import {isChart} from './target.ts';

/** A release in a file of another engine: its chart, its version and its inline values. */
export interface EmbeddedRelease {
  kind: string;
  chart: ChartName;
  version: string | undefined;
  /** The values as a file of their own; undefined if the release has none inline. */
  values: string | undefined;
  /** Values come from other places too. */
  hasOtherValues: boolean;
  /** The edits that write another chart, version and values. */
  edits(chart: ChartName, version: string, values: string | undefined): Edit[];
}

/** Replaces the text between two offsets. */
interface Edit {
  start: number;
  end: number;
  text: string;
}

/** The text with all edits, which must not overlap. */
export const applyEdits = (text: string, edits: readonly Edit[]): string =>
  edits
    .toSorted((one, other) => other.start - one.start)
    .reduce((edited, {start, end, text: inserted}) => edited.slice(0, start) + inserted + edited.slice(end), text);

/** Where an engine keeps the chart, its version and its values. */
interface Place {
  kind: string;
  chart: unknown;
  version: unknown;
  /** Maps, or texts that contain YAML. */
  values: unknown[];
  others: unknown[];
}

/** The releases of our charts in a file of Argo CD, Flux, Helmfile or the Helm controller of K3s. */
export function embeddedReleases(text: string): EmbeddedRelease[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {version: '1.1', lineCounter: lines, uniqueKeys: false, logLevel: 'silent'});
  if (!Array.isArray(documents) || documents.some(({errors}) => errors.length > 0)) return [];
  return documents.flatMap(({contents}) => placesIn(contents)).flatMap((place) => releaseAt(place, text, lines));
}

const at = (node: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((found, key) => (isMap(found) ? (found as YAMLMap).get(key, true) : undefined), node);

const itemsOf = (node: unknown): unknown[] => (isSeq(node) ? node.items : []);
const textOf = (node: unknown): string | undefined => (isScalar(node) && node.value !== null ? String(node.value) : undefined);

function placesIn(root: unknown): Place[] {
  const kind = textOf(at(root, 'kind')) ?? '';
  switch (kind) {
    case 'Application':
      return argoPlaces(at(root, 'spec'), kind);
    case 'ApplicationSet':
      return argoPlaces(at(root, 'spec', 'template', 'spec'), kind);
    case 'HelmRelease': {
      const spec = at(root, 'spec');
      const chart = at(spec, 'chart', 'spec');
      return [
        {kind, chart: at(chart, 'chart'), version: at(chart, 'version'), values: [at(spec, 'values')], others: [at(spec, 'valuesFrom')]},
      ];
    }
    case 'HelmChart': {
      const spec = at(root, 'spec');
      return [
        {kind, chart: at(spec, 'chart'), version: at(spec, 'version'), values: [at(spec, 'valuesContent')], others: [at(spec, 'set')]},
      ];
    }
    case '':
      return itemsOf(at(root, 'releases')).map((release) => ({
        kind: 'helmfile',
        chart: at(release, 'chart'),
        version: at(release, 'version'),
        values: itemsOf(at(release, 'values')).filter((each) => isMap(each)),
        others: [...itemsOf(at(release, 'values')).filter((each) => !isMap(each)), at(release, 'set'), at(release, 'secrets')],
      }));
    default:
      return [];
  }
}

const argoPlaces = (spec: unknown, kind: string): Place[] =>
  [at(spec, 'source'), ...itemsOf(at(spec, 'sources'))].map((source) => ({
    kind,
    chart: at(source, 'chart'),
    version: at(source, 'targetRevision'),
    values: [at(source, 'helm', 'valuesObject'), at(source, 'helm', 'values')],
    others: [at(source, 'helm', 'valueFiles'), at(source, 'helm', 'parameters')],
  }));

function releaseAt({kind, chart, version, values, others}: Place, text: string, lines: LineCounter): EmbeddedRelease[] {
  // Helmfile writes the repository before the name.
  const reference = textOf(chart) ?? '';
  const name = reference.split('/').at(-1) as string;
  if (!isChart(name)) return [];
  const [inline, ...more] = values.filter((each) => isMap(each) || textOf(each) !== undefined) as ParsedNode[];
  const found = inline && extract(inline, text, lines);
  return [
    {
      kind,
      chart: name,
      version: textOf(version),
      values: found?.values,
      hasOtherValues: more.length > 0 || others.some((each) => each !== undefined),
      edits: (newChart, newVersion, newValues) => [
        ...(newChart === name ? [] : [scalarEdit(chart as Scalar, `${reference.slice(0, -name.length)}${newChart}`)]),
        ...(isScalar(version) && textOf(version) !== newVersion ? [scalarEdit(version, newVersion)] : []),
        ...(found && newValues !== undefined && newValues !== found.values ? [found.edit(newValues)] : []),
      ],
    },
  ];
}

function scalarEdit(node: Scalar, value: string): Edit {
  const [start, end] = node.range as [number, number, number];
  const quote = node.type === Scalar.QUOTE_SINGLE ? "'" : node.type === Scalar.QUOTE_DOUBLE ? '"' : '';
  return {start, end, text: `${quote}${value}${quote}`};
}

interface Extracted {
  values: string;
  edit(values: string): Edit;
}

/** The values below a key, without their indentation. */
function extract(node: ParsedNode, text: string, lines: LineCounter): Extracted {
  const [start, end] = node.range;
  const column = lines.linePos(start).col - 1;
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const isBlockMap = isMap(node) && !node.flow;
  if (isBlockMap) {
    const own = ownLines(text.slice(start, end), column);
    return {
      values: `${dedent(own, column)}\n`,
      edit: (values) => ({start, end: start + own.length, text: indent(values, column).slice(column)}),
    };
  }
  const isText = isScalar(node);
  const isBlock = isText && (node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED);
  const body = text.slice(text.indexOf('\n', start) + 1, end);
  const keyColumn = text.slice(lineStart).search(/[^\s-]/);
  const inner = isBlock
    ? Math.max(body.search(/\S/) - Math.max(body.lastIndexOf('\n', body.search(/\S/)) + 1, 0), keyColumn + 1)
    : keyColumn + 2;
  return {
    values: isText ? String(node.value) : `${text.slice(start, end)}\n`,
    edit: (values) => ({
      start,
      end: isBlock ? start + text.slice(start, end).trimEnd().length : end,
      text: `${isText ? '|' : ''}\n${indent(values, inner)}`,
    }),
  };
}

/** Up to the first line that is indented less, such as a comment of the next key. */
function ownLines(text: string, column: number): string {
  const all = text.split('\n');
  const next = all.findIndex((line, index) => index > 0 && line.trim() !== '' && line.search(/\S/) < column);
  return (next < 0 ? all : all.slice(0, next)).join('\n').trimEnd();
}

const dedent = (text: string, column: number): string =>
  text
    .split('\n')
    .map((line, index) => (index === 0 ? line : line.slice(Math.min(column, line.length - line.trimStart().length))))
    .join('\n');

const indent = (text: string, column: number): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : ' '.repeat(column) + line))
    .join('\n');
