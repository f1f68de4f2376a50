import {isMap, isScalar, type ParsedNode, Scalar} from 'yaml';
import type {TextEdit} from '../text-edits.ts';

/** The text with blanks before `start` and behind `end`. */
const blankAround = (text: string, start: number, end: number): string => {
  const blank = (part: string): string => part.replaceAll(/[^\r\n]/g, ' ');
  return `${blank(text.slice(0, start))}${text.slice(start, end)}${blank(text.slice(end))}`;
};

/** A text with this many blanks less at the start of its lines. */
const dedent = (text: string, column: number): string =>
  text.replaceAll(new RegExp(`(?<=^|\\n) {0,${column}}`, 'g'), '');

/** A text with this many blanks more at the start of its filled lines. */
const indent = (text: string, column: number): string =>
  text.trimEnd().replaceAll(/(?<=^|\n)(?=[^\n])/g, ' '.repeat(column));

/** The smallest indentation of a text. */
const columnOf = (text: string): number => {
  const columns = text
    .split('\n')
    .flatMap((line) => (line.trim() === '' ? [] : [line.search(/\S/)]));
  return columns.length > 0 ? Math.min(...columns) : 0;
};

/** The YAML in a text of the file at its lines there, with blanks around it; undefined for a text without lines of its own. */
export function textInPlace(node: unknown, text: string): string | undefined {
  if (!isScalar(node) || !node.range) return undefined;
  const [start, end] = node.range;
  if (node.type !== Scalar.BLOCK_LITERAL) return undefined;
  return blankAround(text, text.indexOf('\n', start) + 1, end);
}

/** Values in a file of another engine. */
export interface InlineValues {
  /** As a file of their own, without their indentation. */
  values: string;
  edit(values: string): TextEdit;
}

/** The values that a node of the text holds: a map, or a text that contains YAML. */
export function inlineValues(node: ParsedNode, text: string): InlineValues {
  if (isMap(node) && !node.flow) return valuesOfBlock(node.range[0], node.range[1], text);
  return isScalar(node) ? valuesOfText(node, text) : valuesOfFlow(node, text);
}

function valuesOfBlock(start: number, end: number, text: string): InlineValues {
  const column = start - lineStartOf(start, text);
  // Up to the first line that is indented less, such as a comment of the next key.
  const own = text
    .slice(start, end)
    .replace(new RegExp(`\\n {0,${column - 1}}[^ \\n][^]*`), '')
    .trimEnd();
  const last = start + own.length;
  return {
    values: `${dedent(own, column)}\n`,
    edit: (values) => ({start, end: last, text: indent(values, column).slice(column)}),
  };
}

function valuesOfFlow(node: ParsedNode, text: string): InlineValues {
  const [start, end] = node.range;
  return {
    values: `${text.slice(start, end)}\n`,
    edit: (values) => editBelowKey(node, text, `\n${indent(values, keyColumn(node, text) + 2)}`),
  };
}

function valuesOfText(node: Scalar.Parsed, text: string): InlineValues {
  const [start, end] = node.range;
  const column = columnOf(text.slice(text.indexOf('\n', start) + 1, end));
  return {
    values: String(node.value),
    edit: (values) =>
      editBelowKey(node, text, `|\n${indent(values, column || keyColumn(node, text) + 2)}`),
  };
}

const lineStartOf = (offset: number, text: string): number =>
  text.lastIndexOf('\n', offset - 1) + 1;

/** The column of the key on the line where its value starts. */
const keyColumn = ({range: [start]}: ParsedNode, text: string): number =>
  text.slice(lineStartOf(start, text)).search(/[^\s-]/);

function editBelowKey({range: [start, end]}: ParsedNode, text: string, written: string): TextEdit {
  return {start, end: start + text.slice(start, end).trimEnd().length, text: written};
}
