import type {Node, Pair} from 'yaml';
import {eolOf, indented, linesOf, startOfNext} from './lines.ts';
import {afterColon, endOfPair, isBlockText, keyRange} from './ranges.ts';
import {spellKey} from './spell.ts';
import type {Step, YamlFile} from './yaml-file.ts';

/** What moves: whole lines, and the same on one line where it fits there. Both begin with the key. */
export interface Carried {
  above: string[];
  below: string[];
  lines: string;
  inline?: string;
}

/** The last pair of the steps under its new name; `gone` is the outermost pair that leaves with it. */
export function carriedBy({text}: YamlFile, steps: readonly Step[], gone: Step, name: string): Carried | undefined {
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
