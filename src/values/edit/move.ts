import type {Pair, YAMLMap} from 'yaml';
import {carriedBy} from './carry.ts';
import {linesOf, withBlank} from './lines.ts';
import {insertInline, insertLines, placeFor} from './place.ts';
import {endOfPair, keyRange} from './ranges.ts';
import {applyEdits, type Edit} from './text.ts';
import {isEntangled, type Step, walk, type YamlFile} from './yaml-file.ts';

type TreePath = readonly (string | number)[];

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
