import {CST, isScalar, Scalar, stringify} from 'yaml';

/** Replaces what is between two offsets of a text. */
export interface TextEdit {
  start: number;
  end: number;
  text: string;
}

/** The text with all edits, which must not overlap. */
export const applyEdits = (text: string, edits: readonly TextEdit[]): string =>
  edits
    .toSorted((one, other) => other.start - one.start)
    .reduce(
      (edited, {start, end, text: inserted}) =>
        edited.slice(0, start) + inserted + edited.slice(end),
      text,
    );

/** Writes another value into a scalar of a text, and keeps the comment behind it. Undefined if there is no scalar. */
export function scalarEdit(
  text: string,
  node: unknown,
  value: string | number | boolean,
): TextEdit | undefined {
  if (!isScalar(node) || !node.range) return undefined;
  const [start, end] = node.range;
  const style = {type: styleOf(value, node.type), indent: 0, implicitKey: true, inFlow: true};
  const comment = /^[|>][-+\d]*([^\n]*\n)/.exec(text.slice(start, end))?.[1] ?? '';
  const gap = start === end && text[start - 1] === ':' ? ' ' : '';
  return {
    start,
    end,
    text: `${gap}${CST.createScalarToken(String(value), style).source}${comment}`,
  };
}

/** A text keeps its quotes; without any it gets them where YAML 1.1 would read something else. */
export function styleOf(value: string | number | boolean, style: Scalar['type']): Scalar.Type {
  if (typeof value !== 'string') return Scalar.PLAIN;
  const isPrintable = !/\p{Cc}/u.test(value);
  if (style === Scalar.QUOTE_SINGLE && isPrintable) return Scalar.QUOTE_SINGLE;
  const isPlain =
    isPrintable && stringify(value, {version: '1.1', lineWidth: 0}).trimEnd() === value;
  return style === Scalar.PLAIN && isPlain ? Scalar.PLAIN : Scalar.QUOTE_DOUBLE;
}
