import {getAt, leafPaths, type Path, sameTree, startsWith, type Tree, type Values} from '../../ground/tree.ts';
import {applyFixes} from '../validate/apply-fixes.ts';
import {insertBlock, moveBlock, removeBlock} from '../validate/blocks.ts';
import {readSource} from '../validate/source.ts';
import {toYaml} from '../yaml.ts';
import type {Move} from './change.ts';
import {rewriteText} from './rewrite-text.ts';

/** Edits the lines of a values file and keeps all other lines; writes the file anew where that is not possible, with its comments. */
export function editText(text: string, after: Values, moves: readonly Move[]): string {
  if (sameTree(valuesIn(text), after)) return text;
  const edited = editLines(text, after, moves);
  const isRight = (each: string | undefined): each is string => each !== undefined && sameTree(valuesIn(each), after);
  // Removed keys leave the empty lines around them.
  const tidy = /\n\n\n/.test(text) ? undefined : edited?.replaceAll(/\n{3,}/g, '\n\n');
  return [tidy, edited].find(isRight) ?? rewriteText(text, after, moves);
}

const move = (text: string, from: Path, to: Path): string | undefined => moveBlock(text, from, to, {keepsParents: true});

const valuesIn = (text: string): Values | undefined => readSource(text).source?.values;

function editLines(text: string, after: Values, moves: readonly Move[]): string | undefined {
  let current: string | undefined = text;
  for (const each of moves) {
    const values: Values = valuesIn(current) ?? {};
    const [from, to] = highest(each, moves, values);
    if (to === undefined || sameTree(from, to) || getAt(values, each.from) === undefined || getAt(values, to) !== undefined) continue;
    current = move(current, from, to) ?? move(current, each.from, each.to[0] as Path) ?? current;
  }
  const moved = valuesIn(current) ?? {};
  for (const path of leafPaths(moved)) {
    const [is, wanted] = [getAt(moved, path) as Tree, getAt(after, path)];
    if (sameTree(is, wanted)) continue;
    if (typeof wanted === 'string' || typeof wanted === 'number' || typeof wanted === 'boolean') {
      const fixed = applyFixes(current, [{path, value: wanted}]);
      if (fixed.applied.length > 0) {
        current = fixed.text;
        continue;
      }
    }
    const removed: string | undefined = removeAbove(current, path, after);
    if (removed === undefined) return undefined;
    current = removed;
  }
  for (;;) {
    const values: Values | undefined = valuesIn(current);
    const missing = values && leafPaths(after).find((path) => !sameTree(getAt(values, path), getAt(after, path)));
    if (values === undefined || missing === undefined) return values && current;
    const length = missing.findIndex((_, index) => getAt(values, missing.slice(0, index + 1)) === undefined) + 1;
    if (length === 0) return undefined;
    const path = missing.slice(0, length);
    const lines = toYaml({[path.at(-1) as string]: getAt(after, path) as Tree})
      .trimEnd()
      .split('\n');
    const added: string | undefined = insertBlock(current, path, lines);
    if (added === undefined) return undefined;
    current = added;
  }
}

/** The move of the highest section whose keys all move together. */
function highest({from, to: [to]}: Move, moves: readonly Move[], values: Values): [Path, Path | undefined] {
  if (to === undefined) return [from, to];
  let found: [Path, Path] = [from, to];
  for (let length = 1; from.at(-length) !== undefined && from.at(-length) === to.at(-length); length += 1) {
    const [source, target] = [from.slice(0, from.length - length + 1), to.slice(0, to.length - length + 1)];
    const isWhole = leafPaths(getAt(values, source) as Tree, source).every((leaf) =>
      moves.some((each) => sameTree(each.from, leaf) && sameTree(each.to[0], [...target, ...leaf.slice(source.length)])),
    );
    if (!isWhole || startsWith(target, source)) break;
    found = [source, target];
  }
  return found;
}

/** Removes the highest key whose whole content is gone; in a flow map, the map, which is then inserted again without the key. */
function removeAbove(text: string, path: Path, after: Values): string | undefined {
  if (getAt(valuesIn(text) ?? {}, path) === undefined) return text;
  const above = path.map((_, index) => path.slice(0, index + 1));
  const gone = above.find((each) => getAt(after, each) === undefined) ?? path;
  return [gone, ...above.filter((each) => each.length < gone.length).toReversed()]
    .map((each) => removeBlock(text, each))
    .find((edited) => edited !== undefined);
}
