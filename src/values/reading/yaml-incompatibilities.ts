import {
  type Document,
  isCollection,
  type Range,
  type Scalar,
  visit,
  type YAMLParseError,
} from 'yaml';
import {yamlProblem} from '../../ground/yaml-text.ts';
import type {SourceProblem} from './finding.ts';

/**
 * The first place that the YAML parser or Helm's reader rejects, or where Helm 3 and Helm 4 differ. The parser checks
 * the syntax only: what scalars, keys and aliases mean follows in helm-reader.ts.
 */
export function findIncompatibility(
  text: string,
  document: Document.Parsed | undefined,
): SourceProblem | undefined {
  return (
    invalidCharacter(text) ??
    (document && syntaxProblem(text, document)) ??
    refusedByHelm4(text) ??
    refusedByGoYaml(text, document)
  );
}

/** The first place that the YAML parser rejects. */
export function syntaxProblem(text: string, document: Document.Parsed): SourceProblem | undefined {
  // Helm needs no space before a comment.
  const error = document.errors.find(
    ({message}) => !message.startsWith('Comments must be separated'),
  );
  if (error === undefined) return undefined;
  const fence = text.search(/^(?:```|~~~)/m);
  return fence < 0 ? syntaxError(error, document, text) : {...CODE_FENCE, offset: fence};
}

const CODE_FENCE = {
  code: 'INVALID_YAML',
  message: 'This line is the fence of a Markdown code block, and no YAML.',
  suggestion: 'Remove the fences around the values',
};

/** Characters that Helm rejects anywhere, or that readers treat differently. */
const INVALID = /(?![\t\n])[\p{Cc}\u2028\u2029\uFFFD-\uFFFF\p{Surrogate}]/u;

/** Blanks that editors and web pages insert, which YAML reads as text. */
const OTHER_BLANKS = /(?<=^[ \t]*)[\u00a0\u2007\u202f\u3000\u200b]|(?<=^[^\n#"']*:)[\u00a0\u202f]/m;

function invalidCharacter(text: string): SourceProblem | undefined {
  if (/^\uFFFD\uFFFD.\0|^.\0.\0/s.test(text)) return UTF_16;
  const blank = text.search(OTHER_BLANKS);
  if (blank >= 0) return {...OTHER_BLANK, offset: blank};
  const offset = text.search(INVALID);
  if (offset < 0) return undefined;
  const point = text.codePointAt(offset) ?? 0;
  const name = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
  if (point === 0x2028 || point === 0x2029)
    return {
      offset,
      code: 'LINE_SEPARATOR',
      message: `Helm treats the invisible character ${name} as a line break; most other programs do not.`,
    };
  if (point === 0xfffd || (point >= 0xd800 && point <= 0xdfff)) {
    const message =
      'Invalid UTF-8, or its replacement character U+FFFD. Helm rejects invalid UTF-8.';
    return {offset, code: 'NOT_UTF8', message};
  }
  return {
    offset,
    code: 'CONTROL_CHARACTER',
    message: `Helm rejects the control character ${name}.`,
  };
}

const UTF_16: SourceProblem = {
  offset: 0,
  code: 'NOT_UTF8',
  message: 'The file is encoded as UTF-16, as PowerShell writes with ">". Helm reads only UTF-8.',
  suggestion: 'Save it as UTF-8: COMMAND | Out-File -Encoding utf8 FILE',
};
const OTHER_BLANK = {
  code: 'INVALID_YAML',
  message: 'This line has a non-breaking or invisible space, which YAML reads as text.',
  suggestion: 'Replace it with an ordinary space',
};

export const TOO_DEEP = {
  offset: 0,
  code: 'TOO_DEEP',
  message: 'Mappings or lists are nested too deeply.',
};

const CONFLICT_MARKERS =
  'The file has conflict markers of Git (<<<<<<<, =======, >>>>>>>). Resolve the conflict first.';

function syntaxError(
  {pos, message}: YAMLParseError,
  document: Document.Parsed,
  text: string,
): SourceProblem {
  if (message.startsWith('Maximum call stack')) return TOO_DEEP;
  const offset = message.startsWith('Missing closing') ? openingOf(document, pos[0]) : pos[0];
  const placeholder = placeholderAt(text, offset);
  if (placeholder) return placeholder;
  if (/^(?:<{7}|={7}|>{7})(?: |$)/m.test(text))
    return {offset, code: 'INVALID_YAML', message: CONFLICT_MARKERS};
  if (
    message.startsWith('Unexpected') &&
    isCollection(document.contents) &&
    offset >= document.contents.range[1]
  ) {
    const message =
      'This line does not continue the mapping above: Helm rejects the file or ignores the rest.';
    return {offset, code: 'IGNORED_REST', message};
  }
  return {offset, code: 'INVALID_YAML', message: yamlProblem(message)};
}

/** The start of the scalar that ends at the offset. */
function openingOf(document: Document.Parsed, end: number): number {
  let start = end;
  visit(document, {
    Scalar: (_, {range}) => {
      if (range?.[1] === end && range[0] < start) start = range[0];
    },
  });
  return start;
}

/** A template placeholder on the line of the offset: YAML reads {{ as a mapping in a mapping. */
export function placeholderAt(text: string, offset: number): SourceProblem | undefined {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const [line = ''] = text.slice(start).split('\n', 1);
  const index = line.search(/(?<=^[^"']*)\{\{/);
  if (index < 0) return undefined;
  const [template] = /\{\{.*?\}\}|\{\{.*/.exec(line) ?? [];
  const message = `${template} is a template expression, which Helm does not evaluate in values files.`;
  return {
    offset: start + index,
    code: 'PLACEHOLDER',
    message,
    suggestion: 'Replace it with the real value',
  };
}

/** Helm 4 splits the file at --- before it reads YAML, and rejects lines that Helm 3 accepts. */
function refusedByHelm4(text: string): SourceProblem | undefined {
  const directive = /^(?:[ \t]*(?:#.*)?\n)*%/.exec(text);
  if (directive) {
    const message = 'Helm 4 rejects YAML directives. Remove this line.';
    return {offset: directive[0].length - 1, code: 'DIRECTIVE', message};
  }
  const message =
    'Helm 4 reads --- as a document separator, which only a comment may follow on the same line.';
  const offset = text.search(/^---(?!\s*$|[^\S\n]*#)/m);
  return offset < 0 ? undefined : {offset, code: 'DOCUMENT_MARKER', message};
}

type Report = (offset: number, message: string) => void;

function refusedByGoYaml(
  text: string,
  document: Document.Parsed | undefined,
): SourceProblem | undefined {
  const found: SourceProblem[] = [];
  const report: Report = (offset, message) => found.push({offset, code: 'INVALID_YAML', message});
  const tabs = [...text.matchAll(/^(?: |[-?:](?=[ \t]))*\t/gm)].map(
    (match) => match.index + match[0].length - 1,
  );
  const spans: Span[] = [];
  if (document)
    visit(document, {
      Collection(_, {flow, range}) {
        if (flow && range) spans.push({start: range[0], end: range[1], column: 0});
      },
      Scalar(role, scalar, ancestors) {
        if (!scalar.range) return;
        const parents = ancestors.filter((each) => isCollection(each));
        if (scalar.type === 'QUOTE_DOUBLE') checkEscapes(text, scalar.range, report);
        else if (scalar.type === 'PLAIN' && parents.some(({flow}) => flow))
          checkFlowText(text, scalar, scalar.range, report);
        if (role === 'key' && parents.some(({flow}) => flow))
          checkFlowKey(text, scalar.range, report);
        if (tabs.length > 0)
          spans.push(spanOf(text, scalar, scalar.range, parents.at(-1)?.range?.[0] ?? 0));
      },
    });
  const isContent = (tab: number): boolean =>
    spans.some(({start, end, column}) => tab > start && tab < end && columnOf(text, tab) >= column);
  for (const tab of tabs)
    if (!isContent(tab)) report(tab, 'Tabs cannot be used for indentation; use spaces.');
  return found.toSorted((one, other) => one.offset - other.offset)[0];
}

function checkEscapes(text: string, [start, end]: Range, report: Report): void {
  for (const {index, 1: written = ''} of text
    .slice(start, end)
    .matchAll(/\\(\/|u[dD][89a-fA-F]|.)/gs)) {
    if (written === '/')
      report(start + index, 'Helm rejects \\/ in double quotes. Write / instead.');
    else if (written.length > 1)
      report(
        start + index,
        `Helm rejects surrogates (\\${written}…) in double quotes. Write the character itself.`,
      );
  }
}

function checkFlowText(
  text: string,
  {tag, source = ''}: Scalar,
  [start, end]: Range,
  report: Report,
): void {
  if (/^:|\?/.test(source))
    report(start, 'Inside [ ] and { }, a string that contains ? or starts with : must be quoted.');
  if (/^:[,[\]{}]/.test(text.slice(end, end + 2)))
    report(end, 'Inside [ ] and { }, a space is required after the colon of a key.');
  if (tag !== undefined && source === '')
    report(start, 'Inside [ ] and { }, a tag must be followed by a value.');
}

function checkFlowKey(text: string, [start, end]: Range, report: Report): void {
  const isLong = end - start > 1024 || text.slice(start, end).includes('\n');
  if (isLong && /^\s*:/.test(text.slice(end, end + 80)))
    report(start, 'A key must be on one line and have at most 1024 characters.');
}

/** Offsets between which a tab from a column on is content and no indentation. */
interface Span {
  start: number;
  end: number;
  column: number;
}

function spanOf(text: string, {type, source}: Scalar, [start, end]: Range, parent: number): Span {
  if (type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED') {
    if (/^.[-+]?\d/.test(text.slice(start, start + 3))) return {start, end, column: 0};
    const content = text.indexOf('\n', start) + 1;
    const first = content + Math.max(0, text.slice(content, end).search(/[^ \t\n]/));
    return {start: first, end, column: columnOf(text, first)};
  }
  if (type !== 'PLAIN') return {start, end, column: 0};
  const blanks = /\s*/y;
  blanks.lastIndex = end;
  const behind = blanks.exec(text)?.[0].length ?? 0;
  // A mapping starts with the tag or anchor of its first key, which the parser leaves out.
  const key = text
    .slice(text.lastIndexOf('\n', parent - 1) + 1, parent)
    .replace(/(?:[&!]\S*[ \t]+)+$/, '').length;
  return {start, end: source === '' ? start : end + behind, column: key + 1};
}

const columnOf = (text: string, offset: number): number =>
  offset - text.lastIndexOf('\n', offset - 1) - 1;
