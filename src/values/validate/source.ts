import {type Document, isCollection, isScalar, LineCounter, parseAllDocuments, visit, type YAMLParseError} from 'yaml';
import {isMap as isTreeMap, type Values} from '../../charts/tree.ts';
import type {Finding, Place, TreePath} from './finding.ts';
import {type Entry, type Read, type Report, readNode} from './helm-reader.ts';
import {hideSecrets} from './hide-secrets.ts';
import {firstMisreading, helm4Refuses, type Misreading, oddCharacter} from './misread.ts';

/** A values file: what Helm reads from it, and where each key stands. */
export interface Source {
  values: Values;
  /** Where the key at the path stands, or the deepest key above it. */
  locate(path: TreePath): Place | undefined;
  /** The text of a scalar as it was written, without quotes being resolved. */
  written(path: TreePath): string | undefined;
}

type Found = {source?: Source; findings: Finding[]};

/** Reads a file as Helm does. `source` is absent where Helm would read nothing, or the two majors not the same. */
export function readSource(text: string): Found {
  // Helm's reader drops a byte order mark, and ends lines at CR and NEL too. Lines and columns stay the same.
  const content = text.replace(/^\uFEFF/, '').replaceAll(/\r\n?|\u0085/g, '\n');
  try {
    return readText(content);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return {findings: [TOO_DEEP]};
  }
}

function readText(text: string): Found {
  const lines = new LineCounter();
  const placeOf = (offset: number): Place => {
    const {line, col} = lines.linePos(offset);
    return {line, column: col};
  };
  const empty: Found = {source: sourceOf(undefined, placeOf), findings: [EMPTY]};
  const refused = ({offset, code, message}: Misreading): Found => ({
    findings: [{...fileFinding(code, 'error', message), ...placeOf(offset)}],
  });
  const [document, ...others] = parse(text, lines);
  const odd = oddCharacter(text);
  if (odd) return refused(odd);
  const problem = document?.errors.find(isProblem);
  if (document && problem) return {findings: [syntax(problem, document, text, placeOf)]};
  const misreading = helm4Refuses(text) ?? firstMisreading(text, document);
  if (misreading) return refused(misreading);
  const later = others.find(({contents, errors}) => errors.length > 0 || !isNothing(contents));
  if (later) return {findings: [{...SEVERAL, ...placeOf(later.range[0])}]};
  if (!document?.contents) return empty;
  const findings: Finding[] = [];
  const refusals: Finding[] = [];
  const into =
    (list: Finding[]): Report =>
    (offset, finding) =>
      list.push({...finding, ...placeOf(offset)});
  const read = readNode(document.contents, into(refusals), into(findings));
  if (refusals.length > 0)
    return {findings: hideSecrets(refusals, sourceOf(read, placeOf)).map((refusal) => asPlaceholder(refusal, text) ?? refusal)};
  if (read.value === null) return empty;
  if (!isTreeMap(read.value)) return {findings: [fileFinding('NO_MAPPING', 'error', 'The file is no mapping of keys to values.')]};
  return {source: sourceOf(read, placeOf), findings};
}

const fileFinding = (code: string, severity: Finding['severity'], message: string): Finding => ({
  severity,
  code,
  path: '',
  line: 1,
  column: 1,
  message,
});

const EMPTY = fileFinding('EMPTY_FILE', 'warning', 'The file is empty: the release gets the defaults of the chart.');
const SEVERAL = fileFinding(
  'SEVERAL_DOCUMENTS',
  'error',
  'The file holds several YAML documents: Helm 3 reads the first one only, and Helm 4 merges those behind ---.',
);

const TOO_DEEP = fileFinding('TOO_DEEP', 'error', 'The file nests mappings or lists deeper than any chart reads.');

/** Only the syntax comes from the parser: what scalars, keys and aliases mean is Helm's own. */
function parse(text: string, lineCounter: LineCounter): Document.Parsed[] {
  const documents = parseAllDocuments(text, {
    version: '1.1',
    schema: 'failsafe',
    resolveKnownTags: false,
    uniqueKeys: false,
    lineCounter,
    logLevel: 'error',
    prettyErrors: false,
  });
  return Array.isArray(documents) ? documents : [];
}

const isNothing = (contents: unknown): boolean =>
  contents === null || (isScalar(contents) && contents.type === 'PLAIN' && /^(|~|null|Null|NULL)$/.test(contents.source ?? ''));

function sourceOf(root: Read | undefined, placeOf: (offset: number) => Place): Source {
  const entriesOf = (path: TreePath): Entry[] => {
    const entries: Entry[] = [];
    let below = root?.below;
    for (const step of path) {
      const entry = below?.get(String(step)) ?? below?.get(Number(step));
      if (!entry) break;
      entries.push(entry);
      below = entry.read.below;
    }
    return entries;
  };
  return {
    values: (root?.value ?? {}) as Values,
    locate(path) {
      const offset = entriesOf(path).at(-1)?.offset;
      return offset === undefined ? undefined : placeOf(offset);
    },
    written(path) {
      const entries = entriesOf(path);
      return entries.length === path.length ? entries.at(-1)?.read.written : undefined;
    },
  };
}

/** Helm wants no space before a comment. */
const isProblem = ({message}: YAMLParseError): boolean => !message.startsWith('Comments must be separated');

/** What the parser means, for those who write values and not parsers. */
const MEANINGS: readonly [RegExp, string][] = [
  [/^Tabs are.*/, 'Tabs cannot indent YAML; use spaces.'],
  [
    /^(Nested mappings|Implicit keys need to be on a single).*/,
    'A second ": " stands in one value, or this line and the next are not indented alike; quote the value or mend the indentation.',
  ],
  [/^Implicit map keys.*/, 'This line is neither "key: value" nor a part of the value above it.'],
  [/^All (mapping|sequence) items.*/, 'This line starts at another column than its neighbours, and belongs to nothing above it.'],
  [/^Missing closing.*/, 'The quote that opens here is not closed before the file ends or goes on left of its key.'],
  [
    /^Flow .* must be sufficiently.*/,
    'The [ or { above is not closed, or its lines are not indented further than its key, as YAML demands and Helm does not.',
  ],
  [/^Plain value cannot start with .* (.)$/, 'A text that starts with $1 needs quotes.'],
  [
    /^Block scalar header includes.*/,
    'Behind | or > stands nothing else on the line; the text belongs below, or in quotes without that sign.',
  ],
  [/^(Could not resolve tag|Unresolved tag).*/, 'A text that starts with ! needs quotes; YAML takes it for a tag.'],
  [/^Unexpected block-seq-ind on same line.*/, 'A list starts on the line below its key.'],
  [/^Invalid escape sequence (.*)$/, 'YAML knows no $1 in double quotes; double the backslash or take single quotes.'],
];

function syntax({pos, message}: YAMLParseError, document: Document.Parsed, text: string, placeOf: (offset: number) => Place): Finding {
  if (message.startsWith('Maximum call stack')) return TOO_DEEP;
  const [start, meaning] = MEANINGS.find(([pattern]) => pattern.test(message)) ?? [/$/, '.'];
  const offset = message.startsWith('Missing closing') ? openingOf(document, pos[0]) : pos[0];
  const finding: Finding = {...fileFinding('INVALID_YAML', 'error', message.replace(start, meaning)), ...placeOf(offset)};
  const placeholder = asPlaceholder(finding, text);
  if (placeholder) return placeholder;
  if (message.startsWith('Unexpected') && isCollection(document.contents) && offset >= document.contents.range[1])
    return {
      ...finding,
      code: 'IGNORED_REST',
      message: 'Helm refuses the file here or reads nothing of what follows: this line does not go on with the mapping above.',
    };
  return finding;
}

/** Where the scalar starts that ends at an offset. */
function openingOf(document: Document.Parsed, end: number): number {
  let start = end;
  visit(document, {
    Scalar: (_, {range}) => {
      if (range?.[1] === end && range[0] < start) start = range[0];
    },
  });
  return start;
}

/** To YAML, {{ opens a mapping in a mapping. */
function asPlaceholder(finding: Finding, text: string): Finding | undefined {
  const line = text.split('\n')[(finding.line ?? 1) - 1] ?? '';
  const index = line.search(/(?<=^[^"']*)\{\{/);
  if (index < 0) return undefined;
  const [template] = /\{\{.*?\}\}|\{\{.*/.exec(line) ?? [];
  return {
    ...finding,
    column: index + 1,
    code: 'PLACEHOLDER',
    message: `${template} is a placeholder of a template, and Helm fills in none in values.`,
    suggestion: 'Replace it by the real value',
  };
}
