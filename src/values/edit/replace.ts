import {isCollection, type Node} from 'yaml';
import type {Tree} from '../../charts/tree.ts';
import {eolOf, indentAt, stepOf} from './lines.ts';
import {afterColon, endOf, isBlockText, isWritten, keyRange} from './ranges.ts';
import {spellBlock, spellInline, spellKey} from './spell.ts';
import {applyEdits, type Edit} from './text.ts';
import {isEntangled, type Step, walk, type YamlFile} from './yaml-file.ts';

type TreePath = readonly (string | number)[];

/** Writes another value at the path; undefined where that cannot be done by touching nothing else. */
export function replaceValue(file: YamlFile, path: TreePath, value: Tree): string | undefined {
  const step = walk(file, path)?.at(-1);
  if (step === undefined || isEntangled(step.value)) return undefined;
  const edit = step.pair === undefined ? editItem(step, value) : editPair(file, step, value);
  return edit && applyEdits(file.text, [edit]);
}

const editItem = ({value: node}: Step, value: Tree): Edit | undefined =>
  isWritten(node) ? {start: node.range?.[0] as number, end: endOf(node), text: spellInline(value, node)} : undefined;

function editPair({text}: YamlFile, {pair, container, value: node}: Step, value: Tree): Edit | undefined {
  const colon = pair && afterColon(pair);
  if (pair === undefined || colon === undefined) return undefined;
  const inline = spellInline(value, node);
  const start = isWritten(node) ? (node.range?.[0] as number) : colon;
  const end = isWritten(node) ? endOf(node) : colon;
  const isLong = !container.flow && typeof value === 'object' && inline.length > LONGEST_INLINE;
  const below = isLong ? asBlock(text, keyRange(pair)[0], value) : undefined;
  // A block text ends with the end of its line.
  const rest = isBlockText(node) && text.slice(start, end).endsWith('\n') ? eolOf(text) : '';
  const isSameLine = isWritten(node) && !text.slice(colon, start).includes('\n') && !(isCollection(node) && !node.flow);
  if (below !== undefined) return {start: colon, end, text: below + rest};
  return isSameLine ? {start, end, text: inline + rest} : {start: colon, end, text: ` ${inline}${rest}`};
}

const LONGEST_INLINE = 60;

function asBlock(text: string, keyOffset: number, value: Tree): string {
  const step = stepOf(text);
  const indent = ' '.repeat(indentAt(text, keyOffset) + step);
  return spellBlock(value, step)
    .map((line) => `${eolOf(text)}${indent}${line}`)
    .join('');
}

/** Gives the key at the path another name. */
export function renameKey(file: YamlFile, path: TreePath, name: string): string | undefined {
  const step = walk(file, path)?.at(-1);
  if (step?.pair === undefined || isEntangled(step.value)) return undefined;
  const [start, end] = keyRange(step.pair);
  return applyEdits(file.text, [{start, end, text: spellKey(name, step.pair.key as Node)}]);
}
