import {type Document, isCollection, type Range, type Scalar, visit} from 'yaml';

/** A spot of a file that Helm's reader refuses or reads otherwise, although it is YAML to the parser. */
export interface Misreading {
  offset: number;
  code: string;
  message: string;
}

type Tell = (offset: number, message: string) => void;

/** What Helm refuses wherever it stands, and what no two readers take alike. */
const ODD = /(?![\t\n])[\p{Cc}\u2028\u2029\uFFFD-\uFFFF\p{Surrogate}]/u;

export function oddCharacter(text: string): Misreading | undefined {
  const offset = text.search(ODD);
  if (offset < 0) return undefined;
  const point = text.codePointAt(offset) ?? 0;
  const name = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
  if (point === 0x2028 || point === 0x2029)
    return {offset, code: 'ODD_LINE_END', message: `The invisible character ${name} ends the line for Helm, and for few other programs.`};
  if (point === 0xfffd || (point >= 0xd800 && point <= 0xdfff)) {
    const message = 'Here stand bytes that are no UTF-8, or the mark U+FFFD that another program left for them: Helm refuses such bytes.';
    return {offset, code: 'NOT_UTF8', message};
  }
  return {offset, code: 'CONTROL_CHARACTER', message: `Helm refuses the invisible control character ${name}.`};
}

/** Lines that Helm 4, which cuts the file at --- before it reads YAML, refuses although Helm 3 does not. */
export function helm4Refuses(text: string): Misreading | undefined {
  const directive = /^(?:[ \t]*(?:#.*)?\n)*%/.exec(text);
  if (directive) {
    const message = 'Helm 4 refuses a file with YAML directives; leave the line out.';
    return {offset: directive[0].length - 1, code: 'DIRECTIVE', message};
  }
  const message = 'Helm 4 takes a line that starts with --- for the mark between documents, and refuses anything but a comment behind it.';
  const offset = text.search(/^---(?!\s*$|[^\S\n]*#)/m);
  return offset < 0 ? undefined : {offset, code: 'DOCUMENT_MARKER', message};
}

export function firstMisreading(text: string, document: Document.Parsed | undefined): Misreading | undefined {
  const found: Misreading[] = [];
  const report: Tell = (offset, message) => found.push({offset, code: 'INVALID_YAML', message});
  const tabs = [...text.matchAll(/^(?: |[-?:](?=[ \t]))*\t/gm)].map((match) => match.index + match[0].length - 1);
  const spans: Span[] = [];
  if (document)
    visit(document, {
      Collection(_, {flow, range}) {
        if (flow && range) spans.push({start: range[0], end: range[1], column: 0});
      },
      Scalar(role, scalar, ancestors) {
        if (!scalar.range) return;
        const parents = ancestors.filter((each) => isCollection(each));
        if (scalar.type === 'QUOTE_DOUBLE') wrongEscape(text, scalar.range, report);
        else if (scalar.type === 'PLAIN' && parents.some(({flow}) => flow)) wrongInFlow(text, scalar, scalar.range, report);
        if (role === 'key' && parents.some(({flow}) => flow)) wrongKeyInFlow(text, scalar.range, report);
        if (tabs.length > 0) spans.push(spanOf(text, scalar, scalar.range, parents.at(-1)?.range?.[0] ?? 0));
      },
    });
  const mayStand = (tab: number): boolean =>
    spans.some(({start, end, column}) => tab > start && tab < end && columnOf(text, tab) >= column);
  for (const tab of tabs) if (!mayStand(tab)) report(tab, 'Tabs cannot indent YAML; use spaces.');
  return found.toSorted((one, other) => one.offset - other.offset)[0];
}

function wrongEscape(text: string, [start, end]: Range, report: Tell): void {
  for (const {index, 1: written = ''} of text.slice(start, end).matchAll(/\\(\/|u[dD][89a-fA-F]|.)/gs)) {
    if (written === '/') report(start + index, 'Helm refuses \\/ in double quotes; write / alone.');
    else if (written.length > 1)
      report(start + index, `Helm refuses half a character such as \\${written} in double quotes; write the character itself.`);
  }
}

function wrongInFlow(
  text: string,
  {tag, source = ''}: Scalar,
  [start, end]: Range,
  report: (offset: number, message: string) => void,
): void {
  if (/^:|\?/.test(source)) report(start, 'Inside [ ] and { }, Helm wants quotes around a text with ? or a : at its start.');
  if (/^:[,[\]{}]/.test(text.slice(end, end + 2))) report(end, 'Inside [ ] and { }, Helm wants a space behind the colon of a key.');
  if (tag !== undefined && source === '') report(start, 'Inside [ ] and { }, Helm wants a value behind a tag.');
}

function wrongKeyInFlow(text: string, [start, end]: Range, report: Tell): void {
  const isLong = end - start > 1024 || text.slice(start, end).includes('\n');
  if (isLong && /^\s*:/.test(text.slice(end, end + 80))) report(start, 'A key stands on one line of at most 1024 characters.');
}

/** Where a tab is content and no indentation: between the offsets, from a column on. */
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
  const key = text.slice(text.lastIndexOf('\n', parent - 1) + 1, parent).replace(/(?:[&!]\S*[ \t]+)+$/, '').length;
  return {start, end: source === '' ? start : end + behind, column: key + 1};
}

const columnOf = (text: string, offset: number): number => offset - text.lastIndexOf('\n', offset - 1) - 1;
