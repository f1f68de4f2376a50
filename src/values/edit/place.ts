import {isMap, type Pair, type YAMLMap} from 'yaml';
import type {Carried} from './carry.ts';
import {eolOf, indentAt, indented, linesOf, stepOf} from './lines.ts';
import {afterColon, endOfPair, isWritten, keyRange} from './ranges.ts';
import {spellKey} from './spell.ts';
import type {Edit} from './text.ts';
import {type Step, walk, type YamlFile} from './yaml-file.ts';

/** Where it goes: the deepest mapping that is there, and the keys still missing below it. */
export interface Place {
  container: YAMLMap | undefined;
  /** The pair whose value the container is; absent at the top. */
  holder: Pair | undefined;
  missing: readonly string[];
  isInline: boolean;
}

/** undefined where something stands there already, or in the way. */
export function placeFor(file: YamlFile, to: readonly string[]): Place | undefined {
  if (file.root === undefined) return undefined;
  for (let length = to.length - 1; length >= 0; length -= 1) {
    const steps = walk(file, to.slice(0, length));
    if (steps === undefined) continue;
    const {pair: holder, container: above, value: container} = steps.at(-1) ?? {pair: undefined, value: file.root};
    const missing = to.slice(length);
    if (isMap(container)) {
      if (walk(file, to.slice(0, length + 1)) !== undefined) return undefined;
      // {} may become lines where lines are allowed.
      const isInline = container.flow === true && (container.items.length > 0 || above === undefined || above.flow === true);
      return {container, holder, missing, isInline};
    }
    return isWritten(container) || above?.flow ? undefined : {container: undefined, holder, missing, isInline: false};
  }
  return undefined;
}

export function insertLines({text}: YamlFile, {container, holder, missing}: Place, carried: Carried, gone?: Step): Edit[] | undefined {
  const first = container?.flow ? undefined : (container?.items[0] as Pair | undefined);
  const above = holder && linesOf(text, holder);
  if (holder !== undefined && above === undefined) return undefined;
  const indent = first ? indentAt(text, keyRange(first)[0]) : (above?.indent ?? 0) + stepOf(text);
  const lines = nested(text, missing, carried, indent);
  if (gone) return [{start: linesOf(text, gone.pair as Pair)?.start as number, end: 0, text: lines}];
  const last = container?.flow ? holder : ((container?.items.at(-1) as Pair | undefined) ?? holder);
  const end = last && linesOf(text, last)?.end;
  if (end === undefined) return undefined;
  const isOpen = end === text.length && !text.endsWith('\n');
  const arriving = {start: end, end, text: isOpen ? eolOf(text) + lines.slice(0, -eolOf(text).length) : lines};
  const colon = holder && afterColon(holder);
  // An empty {} gives way to lines.
  const braces = container?.flow && colon ? [{start: colon, end: container.range?.[1] as number, text: ''}] : [];
  return [arriving, ...braces];
}

/** The carried lines below the parents that are missing. */
function nested(text: string, missing: readonly string[], {above, below, lines}: Carried, indent: number): string {
  const [eol, step] = [eolOf(text), stepOf(text)];
  const parents = missing.slice(0, -1).map((key, depth) => `${' '.repeat(indent + depth * step)}${spellKey(key)}:${eol}`);
  const deep = indent + parents.length * step;
  const asLine = (comment: string): string => `${' '.repeat(deep)}${comment}${eol}`;
  return [...parents, ...above.map(asLine), indented(lines, 0, deep), ...below.map(asLine)].join('');
}

export function insertInline({text}: YamlFile, {container, missing}: Place, {inline}: Carried): Edit[] | undefined {
  const range = container?.range;
  if (!container || !range || inline === undefined) return undefined;
  const parents = missing.slice(0, -1).map((key) => `${spellKey(key)}: {`);
  const whole = parents.join('') + inline + '}'.repeat(parents.length);
  const last = container.items.at(-1) as Pair | undefined;
  if (last === undefined) return [{start: range[0], end: range[1], text: `{${whole}}`}];
  const end = endOfPair(last);
  return [{start: end, end, text: `${text.slice(end - 1, end) === ':' ? ' ' : ''}, ${whole}`}];
}
