import {type Document, isMap, isScalar, Lexer, type Pair, parseDocument, type Scalar, type YAMLMap} from 'yaml';
import {getAt, leafPaths, type Path, sameTree, startsWith, type Values} from '../../ground/tree.ts';
import {readSource} from '../validate/source.ts';
import {toYaml} from '../yaml.ts';
import type {Move} from './change.ts';

/** Writes the values in the order given. A comment goes to the key that its key became; for a section, to the first one below it. */
export function rewriteText(text: string, after: Values, moves: readonly Move[], header: readonly string[] = []): string {
  const written = toYaml(after);
  const [old, fresh] = [parse(text), parse(written)];
  const {head, comments} = commentsOf(old);
  const leaves = leafPaths(readSource(text).source?.values ?? {});
  const placeOf = (path: Path): Path | undefined => {
    const places = leaves.filter((leaf) => startsWith(leaf, path)).map((leaf) => sectionOf(leaf, path));
    // A key of the same name is the better place, even if its values moved below it.
    return places.find((place) => place && startsWith(place, path)) ? path : places.find((place) => place !== undefined);
  };
  const isKept = (leaf: Path): boolean => !moves.some(({from}) => sameTree(from, leaf)) && getAt(after, leaf) !== undefined;
  const sectionOf = (leaf: Path, path: Path): Path | undefined => {
    const to = isKept(leaf) ? leaf : moves.find(({from}) => sameTree(from, leaf))?.to[0];
    const below = leaf.slice(path.length);
    const isMoved = to !== undefined && to.length > below.length && sameTree(to.slice(to.length - below.length), below);
    return isMoved ? to.slice(0, to.length - below.length) : to;
  };
  for (const {path, above, behind} of comments) {
    const place = placeOf(path);
    const to = place && pairAt(fresh, place);
    if (to === undefined) continue;
    const isFree = isScalar(to.value) && !to.value.comment;
    if (behind !== '' && isFree) (to.value as Scalar).comment = behind;
    const lines = [to.key.commentBefore, above, isFree ? '' : behind].filter((part) => part);
    if (lines.length > 0) to.key.commentBefore = lines.join('\n');
  }
  if (old.comment) fresh.comment = old.comment;
  const top = [header.map((line) => ` ${line}`).join('\n'), head].filter((part) => part !== '');
  const result = `${top.map((part) => `${part.replaceAll(/^(?=.)/gm, '#')}\n\n`).join('')}${fresh.toString({lineWidth: 0})}`;
  return sameTree(readSource(result).source?.values, after) ? result : written;
}

/** The lines of comments in a values file that another text does not contain, without the header of a generated file. */
export function lostComments(before: string, after: string): number[] {
  const kept = new Set(commentLines(after).map(({text}) => text));
  const header = /^# Values of agent-(?:k8s|local|job) \d.*\n(?:#.*\n)*/.exec(before)?.[0].split('\n').length ?? 0;
  return commentLines(before).flatMap(({text, line}) => (line < header || text === '' || kept.has(text) ? [] : [line]));
}

function commentLines(text: string): {text: string; line: number}[] {
  const found: {text: string; line: number}[] = [];
  let [line, isContent] = [1, false];
  for (const token of new Lexer().lex(text)) {
    if (token.startsWith('#') && !isContent) found.push({text: token.slice(1).trim(), line});
    line += token.split('\n').length - 1;
    isContent = token === SCALAR;
  }
  return found;
}

/** What the lexer puts before the content of a scalar. */
const SCALAR = '\u001F';

const parse = (text: string): Document =>
  parseDocument(text, {version: '1.1', schema: 'failsafe', resolveKnownTags: false, uniqueKeys: false, logLevel: 'silent'});

type KeyValue = Pair<Scalar, unknown>;

function pairAt(document: Document, path: Path): KeyValue | undefined {
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  return isMap(parent) ? (parent as YAMLMap<Scalar, unknown>).items.find(({key}) => isScalar(key) && key.value === path.at(-1)) : undefined;
}

/** The comments of a key: above it, and behind its value. */
interface Comments {
  path: Path;
  above: string;
  behind: string;
}

/** The comment at the top of the file, and those of keys in the order of the file. */
function commentsOf(document: Document): {head: string; comments: Comments[]} {
  const comments: Comments[] = [];
  const collect = (map: YAMLMap<Scalar, unknown>, above: string, parent: Path): void => {
    for (const [index, pair] of map.items.entries()) {
      // In the syntax tree, a comment above the first key belongs to the map.
      const comment = [index === 0 ? above : '', pair.key.commentBefore ?? ''].filter((part) => part !== '').join('\n');
      const path = [...parent, String(pair.key.value)];
      comments.push({path, above: comment, behind: (isScalar(pair.value) && pair.value.comment) || ''});
      if (isMap(pair.value)) collect(pair.value as YAMLMap<Scalar, unknown>, pair.value.commentBefore ?? '', path);
    }
  };
  const {contents, commentBefore} = document;
  if (!isMap(contents)) return {head: '', comments};
  const [first, ...others] = [commentBefore, contents.commentBefore, contents.items[0] && (contents.items[0].key as Scalar).commentBefore]
    .filter((part) => part)
    .join('\n\n')
    .split(/\n\n+/)
    .toReversed();
  collect(contents as YAMLMap<Scalar, unknown>, '', []);
  const [top] = comments;
  // Only what is directly above the first key belongs to it.
  const isApart = commentBefore !== null && commentBefore !== undefined && !contents.commentBefore;
  if (top && first) top.above = isApart ? '' : first;
  const head = (isApart ? [first ?? '', ...others] : others).filter((part) => !isGenerated(part));
  return {head: head.toReversed().join('\n\n'), comments};
}

/** The header of a generated file describes another command. */
const isGenerated = (comment: string): boolean =>
  comment.includes('Generated by scalr-agent.') || comment.includes('Migrated by scalr-agent');
