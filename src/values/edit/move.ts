import {isMap, isScalar, type Node, type Pair, Scalar, type YAMLMap} from 'yaml';
import {eolOf, indentAt, indented, linesOf, startOfNext, stepOf, withBlank} from './lines.ts';
import {spellKey} from './spell.ts';
import {
  afterColon,
  applyEdits,
  type Edit,
  endOfPair,
  isEntangled,
  isWritten,
  keyRange,
  type Step,
  walk,
  type YamlFile,
} from './yaml-file.ts';

type TreePath = readonly (string | number)[];

/** What moves: whole lines, and the same on one line where it fits there. Both begin with the key. */
interface Carried {
  above: string[];
  below: string[];
  lines: string;
  inline?: string;
}

/**
 * Moves the pair at the path below other parents, with its comments; parents it leaves empty go, missing ones are made.
 * undefined where that cannot be done by moving text.
 */
export function moveKey(file: YamlFile, path: TreePath, to: readonly string[]): string | undefined {
  const steps = walk(file, path);
  const place = placeFor(file, to);
  if (!steps || !place || isEntangled(steps.at(-1)?.value ?? null) || steps.some(({pair}) => pair === undefined)) return undefined;
  const gone = outermostEmptied(steps, place.container);
  const carried = carriedBy(file, steps, gone, to.at(-1) as string);
  if (carried === undefined) return undefined;
  const leaving = removal(file, gone);
  const isInPlace = gone.container === place.container && !gone.container.flow;
  const arriving = place.isInline ? insertInline(file, place, carried) : insertLines(file, place, carried, isInPlace ? gone : undefined);
  if (leaving === undefined || arriving === undefined) return undefined;
  const edits = isInPlace ? [{...(arriving[0] as Edit), end: leaving.own}] : [leaving.whole, ...arriving];
  return applyEdits(file.text, edits);
}

/** Where it goes: the deepest mapping that is there, and the keys still missing below it. */
interface Place {
  container: YAMLMap | undefined;
  /** The pair whose value the container is; absent at the top. */
  holder: Pair | undefined;
  missing: readonly string[];
  isInline: boolean;
}

function placeFor(file: YamlFile, to: readonly string[]): Place | undefined {
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

/** The outermost pair that has nothing left once the last step's is gone. */
function outermostEmptied(steps: readonly Step[], destination: YAMLMap | undefined): Step {
  let index = steps.length - 1;
  while (index > 0 && steps[index]?.container !== destination && steps[index]?.container.items.length === 1) index -= 1;
  return steps[index] as Step;
}

function removal({text}: YamlFile, {container, index, pair}: Step): {own: number; whole: Edit} | undefined {
  if (pair === undefined) return undefined;
  if (!container.flow) {
    const lines = linesOf(text, pair);
    return lines && {own: lines.end, whole: {...withBlank(text, lines.start, lines.end), text: ''}};
  }
  const items = container.items as Pair[];
  const [before, next] = [items[index - 1], items[index + 1]];
  const start = next || !before ? keyRange(pair)[0] : endOfPair(before);
  const end = next ? keyRange(next)[0] : endOfPair(pair);
  return {own: end, whole: {start, end, text: ''}};
}

function carriedBy({text}: YamlFile, steps: readonly Step[], gone: Step, name: string): Carried | undefined {
  const {pair, container, value} = steps.at(-1) as Step & {pair: Pair};
  const [start, end] = keyRange(pair);
  const key = spellKey(name, pair.key as Node);
  const colon = afterColon(pair);
  if (colon === undefined) return undefined;
  const outer = gone.container.flow ? undefined : linesOf(text, gone.pair as Pair);
  const isSimple = !isBlockText(value) && !text.slice(start, endOfPair(pair)).includes('\n');
  const inline = isSimple ? {inline: `${key}${text.slice(end, endOfPair(pair))}`} : {};
  if (container.flow) {
    if (inline.inline === undefined) return undefined;
    return {
      above: outer ? commentsIn(text, outer.start, outer.end, []) : [],
      below: [],
      lines: `${inline.inline}${eolOf(text)}`,
      ...inline,
    };
  }
  const own = linesOf(text, pair);
  if (own === undefined || outer === undefined) return undefined;
  const lines = indented(text.slice(own.own, own.end), own.indent, 0);
  const closed = lines.endsWith('\n') ? lines : `${lines}${eolOf(text)}`;
  return {
    above: commentsIn(text, outer.start, own.own, steps),
    below: commentsIn(text, own.end, outer.end, []),
    lines: key + closed.slice(end - start),
    ...inline,
  };
}

/** Comments of lines that hold nothing else, and behind the keys of mappings. */
function commentsIn(text: string, start: number, end: number, steps: readonly Step[]): string[] {
  const behindKeys = steps.flatMap(({pair}) => pair?.srcToken?.sep ?? []);
  const found: string[] = [];
  for (let at = start; at < end; at = startOfNext(text, at)) {
    const next = startOfNext(text, at);
    const line = text.slice(at, next).trim();
    const behind = behindKeys.find((token) => token.type === 'comment' && 'offset' in token && token.offset >= at && token.offset < next);
    if (line.startsWith('#')) found.push(line);
    else if (behind && 'source' in behind) found.push(behind.source.trim());
    else if (steps.length === 0) found.push(...(/(?:^|\s)(#.*)$/.exec(line)?.slice(1) ?? []));
  }
  return found;
}

const isBlockText = (node: Node | null): boolean =>
  isScalar(node) && (node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED);

function insertLines({text}: YamlFile, {container, holder, missing}: Place, carried: Carried, gone?: Step): Edit[] | undefined {
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

function insertInline({text}: YamlFile, {container, missing}: Place, {inline}: Carried): Edit[] | undefined {
  const range = container?.range;
  if (!container || !range || inline === undefined) return undefined;
  const parents = missing.slice(0, -1).map((key) => `${spellKey(key)}: {`);
  const whole = parents.join('') + inline + '}'.repeat(parents.length);
  const last = container.items.at(-1) as Pair | undefined;
  if (last === undefined) return [{start: range[0], end: range[1], text: `{${whole}}`}];
  const end = endOfPair(last);
  return [{start: end, end, text: `${text.slice(end - 1, end) === ':' ? ' ' : ''}, ${whole}`}];
}
