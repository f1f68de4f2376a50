import {type Document, isMap, isScalar, Lexer, type Pair, type Scalar, type YAMLMap} from 'yaml';
import {pinnedAgents} from '../../charts/images.ts';
import {agentVersionOf} from '../../charts/releases/schema.ts';
import type {Target} from '../../charts/releases/target.ts';
import {ExitCode, type ExpectedError, failed} from '../../ground/errors.ts';
import {
  at,
  getAt,
  leafPaths,
  type Path,
  sameTree,
  startsWith,
  type Tree,
  type Values,
} from '../../ground/tree.ts';
import {quote} from '../../settings/settings.ts';
import {inChartOrder, toYaml} from '../document.ts';
import {effectiveValues} from '../read-values.ts';
import type {ValuesFinding} from '../validate/finding.ts';
import {readSource} from '../validate/source.ts';
import {validate} from '../validate/validate.ts';
import {pairAt, YamlText} from '../yaml-text.ts';
import {type Change, changeOf, type Move, targetName} from './change.ts';
import {type MigrationOptions, migrateValues} from './migrate.ts';

interface MigratedText {
  text: string;
  /** The old values. */
  before: Values;
  changes: readonly Change[];
  /** Findings in the new text, without warnings that the old text has too. */
  findings: readonly ValuesFinding[];
}

interface TextOptions extends MigrationOptions {
  /** False for values inside of another file. */
  isWhole?: boolean;
}

/** Findings after which the meaning of the old values is unknown. */
const UNUSABLE = [
  'WRONG_TYPE',
  'STRING_NOT_BOOLEAN',
  'NULL_DELETES_DEFAULT',
  'MANIFEST',
  'NESTED_VALUES',
];

/**
 * Migrates the text of a values file. Within a chart it keeps all lines that do not change; for another chart it is written anew, with
 * the comments of keys that have a counterpart. Pure. @throws ExpectedError if the values cannot be read
 */
export function migrateText(
  file: string,
  text: string,
  from: Target,
  to: Target,
  {isWhole = true, ...options}: TextOptions = {},
): MigratedText {
  const before = validate(text, from);
  const {source} = readSource(text);
  const unusable = before.filter(
    ({severity, code}) => severity === 'error' && (source === undefined || UNUSABLE.includes(code)),
  );
  if (source === undefined || unusable.length > 0) throw cannotRead(file, unusable, from);
  const {values, changes, moves} = migrateValues(source.values, from, to, options);
  const written =
    from.chart === to.chart
      ? withHeader(editText(text, values, moves), from, to)
      : rewriteText(text, inChartOrder(values, to), moves, isWhole ? headerOf(from, to) : []);
  const pinned = pinnedAgents(effectiveValues(values, to), to).map(({key, keys, message}) =>
    changeOf(
      'kept',
      at(key),
      `${message}.`,
      `Remove ${keys}, so that the chart selects the agent version`,
    ),
  );
  // A pinned agent is one of the changes.
  const known = new Set([...before.map(({code}) => code), 'AGENT_VERSION']);
  const findings = validate(written, to).filter(
    ({severity, code}) => severity === 'error' || !known.has(code),
  );
  return {
    text: written,
    before: source.values,
    changes: [...changes, ...pinned, ...lost(text, written, isWhole)],
    findings,
  };
}

function lost(before: string, after: string, isWhole: boolean): Change[] {
  const lines = lostComments(before, after);
  if (lines.length === 0) return [];
  const which = isWhole ? ` (line ${lines.join(', ')})` : '';
  return [
    changeOf(
      'dropped',
      [],
      `${lines.length === 1 ? '1 comment is' : `${lines.length} comments are`} not carried over${which}.`,
    ),
  ];
}

const headerOf = (from: Target | string, to: Target): string[] => [
  `Values of ${targetName(to)} (agent ${agentVersionOf(to) ?? 'version unknown'}).`,
  `Migrated by scalr-agent from ${typeof from === 'string' ? from : targetName(from)}.`,
];

/** The header of a generated file; before it, the reference to a schema for editors. */
const HEADER =
  /^(# yaml-language-server: .*\n)?# Values of agent-(?:k8s|local|job) \d.*\n(?:#.*\n)*/;

/** A header names the chart version and the command that wrote the file. */
function withHeader(text: string, from: Target, to: Target): string {
  if (from.version === to.version) return text;
  const header = headerOf(from, to).map((line) => `# ${line}\n`);
  return text.replace(
    HEADER,
    (_, reference: string | undefined) => (reference ?? '') + header.join(''),
  );
}

function cannotRead(
  file: string,
  findings: readonly ValuesFinding[],
  {chart, version}: Target,
): ExpectedError {
  const name = file === '-' ? 'standard input' : file;
  const lines = findings.map(
    ({line, path, message}) =>
      `  ${line === undefined ? '' : `line ${line}: `}${path === '' ? '' : `${path}: `}${message}`,
  );
  return failed(
    'UNREADABLE_FILE',
    [`Cannot migrate ${name}: it is not valid for ${chart} ${version}.`, ...lines].join('\n'),
    [
      `List all findings: scalr-agent validate ${quote(file)} --chart ${chart} --chart-version ${version}`,
    ],
    {exit: ExitCode.findings},
  );
}

/** Edits the lines of a values file and keeps all other lines; writes the file anew where that is not possible, with its comments. */
function editText(text: string, after: Values, moves: readonly Move[]): string {
  const old = new YamlText(text);
  if (sameTree(old.values, after)) return text;
  const edited = editLines(old, after, moves);
  // Removed keys leave the empty lines around them.
  const tidy =
    edited && !/\n\n\n/.test(text)
      ? new YamlText(edited.text.replaceAll(/\n{3,}/g, '\n\n'))
      : undefined;
  const kept = [tidy, edited].find((each) => each && sameTree(each.values, after))?.text;
  const lost = kept === undefined ? 0 : lostComments(text, kept).length;
  if (kept !== undefined && lost === 0) return kept;
  const written = rewriteText(text, after, moves);
  // Removed lines take their comments with them, even if the key has become another one.
  return kept !== undefined && lost <= lostComments(text, written).length ? kept : written;
}

function editLines(text: YamlText, after: Values, moves: readonly Move[]): YamlText | undefined {
  let current: YamlText | undefined = moves.reduce(
    (moved, each) => withMove(moved, each, moves),
    text,
  );
  const {values: moved = {}} = current;
  for (const path of leafPaths(moved).filter(
    (each) => !sameTree(getAt(moved, each), getAt(after, each)),
  )) {
    const desired = getAt(after, path);
    const fixed: YamlText | undefined =
      typeof desired === 'object' || desired === undefined
        ? undefined
        : current.fixed({path, value: desired});
    current = fixed ?? withoutKey(current, path, after);
    if (current === undefined) return undefined;
  }
  for (const leaf of leafPaths(after)) {
    const {values = {}}: YamlText = current;
    if (sameTree(getAt(values, leaf), getAt(after, leaf))) continue;
    const path = firstMissing(values, leaf);
    const lines = path && toYaml({[path.at(-1) as string]: getAt(after, path) as Tree}).trimEnd();
    current = path && current.inserted(path, (lines as string).split('\n'));
    if (current === undefined) return undefined;
  }
  return current;
}

function withMove(text: YamlText, move: Move, moves: readonly Move[]): YamlText {
  const {values = {}} = text;
  const [from, to] = highest(move, moves, values);
  if (
    to === undefined ||
    sameTree(from, to) ||
    getAt(values, move.from) === undefined ||
    getAt(values, to) !== undefined
  )
    return text;
  const keeps = {keepsParents: true};
  return text.moved(from, to, keeps) ?? text.moved(move.from, move.to[0] as Path, keeps) ?? text;
}

/** The highest key on the way that the values do not have. */
const firstMissing = (values: Values, path: Path): Path | undefined =>
  path
    .map((_, index) => path.slice(0, index + 1))
    .find((each) => getAt(values, each) === undefined);

/** The move of the highest section whose keys all move together. */
function highest(
  {from, to: [to]}: Move,
  moves: readonly Move[],
  values: Values,
): [Path, Path | undefined] {
  if (to === undefined) return [from, to];
  let found: [Path, Path] = [from, to];
  for (
    let length = 1;
    from.at(-length) !== undefined && from.at(-length) === to.at(-length);
    length += 1
  ) {
    const source = from.slice(0, from.length - length + 1);
    const target = to.slice(0, to.length - length + 1);
    const isWhole = leafPaths(getAt(values, source) as Tree, source).every((leaf) =>
      moves.some(
        (each) =>
          sameTree(each.from, leaf) &&
          sameTree(each.to[0], [...target, ...leaf.slice(source.length)]),
      ),
    );
    if (!isWhole || startsWith(target, source)) break;
    found = [source, target];
  }
  return found;
}

/** Removes the highest key whose whole content is gone; in a flow map, the map, which is then inserted again without the key. */
function withoutKey(text: YamlText, path: Path, after: Values): YamlText | undefined {
  if (getAt(text.values ?? {}, path) === undefined) return text;
  const gone = firstMissing(after, path) ?? path;
  for (let length = gone.length; length > 0; length -= 1) {
    const removed = text.removed(path.slice(0, length));
    if (removed) return removed;
  }
  return undefined;
}

/** Writes the values in the order given. A comment goes to the key that its key became; for a section, to the first one below it. */
function rewriteText(
  text: string,
  after: Values,
  moves: readonly Move[],
  header: readonly string[] = [],
): string {
  const written = toYaml(after);
  const old = new YamlText(text);
  const fresh = new YamlText(written).document;
  const {head, comments} = commentsOf(old.document);
  const leaves = leafPaths(old.values ?? {});
  const placeOf = (path: Path): Path | undefined => {
    const places = leaves
      .filter((leaf) => startsWith(leaf, path))
      .map((leaf) => sectionOf(leaf, path));
    // A key of the same name is the better place, even if its values moved below it.
    return places.find((place) => place && startsWith(place, path))
      ? path
      : places.find((place) => place !== undefined);
  };
  const isKept = (leaf: Path): boolean =>
    !moves.some(({from}) => sameTree(from, leaf)) && getAt(after, leaf) !== undefined;
  const sectionOf = (leaf: Path, path: Path): Path | undefined => {
    const to = isKept(leaf) ? leaf : moves.find(({from}) => sameTree(from, leaf))?.to[0];
    const below = leaf.slice(path.length);
    const isMoved =
      to !== undefined &&
      to.length > below.length &&
      sameTree(to.slice(to.length - below.length), below);
    return isMoved ? to.slice(0, to.length - below.length) : to;
  };
  for (const {path, above, behind} of comments) {
    const place = placeOf(path);
    const to = place && (pairAt(fresh, place) as Pair<Scalar, unknown> | undefined);
    if (to === undefined) continue;
    const isFree = isScalar(to.value) && !to.value.comment;
    if (behind !== '' && isFree) (to.value as Scalar).comment = behind;
    const lines = [to.key.commentBefore, above, isFree ? '' : behind].filter((part) => part);
    if (lines.length > 0) to.key.commentBefore = lines.join('\n');
  }
  if (old.document.comment) fresh.comment = old.document.comment;
  const top = [header.map((line) => ` ${line}`).join('\n'), head].filter((part) => part !== '');
  const result = `${top.map((part) => `${part.replaceAll(/^(?=.)/gm, '#')}\n\n`).join('')}${fresh.toString({lineWidth: 0})}`;
  return sameTree(new YamlText(result).values, after) ? result : written;
}
/** The lines of comments in a values file that another text does not contain, without the header of a generated file. */
function lostComments(before: string, after: string): number[] {
  const kept = new Set(commentLines(after).map(({text}) => text));
  const header = HEADER.exec(before)?.[0].split('\n').length ?? 0;
  return commentLines(before).flatMap(({text, line}) =>
    line < header || text === '' || kept.has(text) ? [] : [line],
  );
}

function commentLines(text: string): {text: string; line: number}[] {
  const found: {text: string; line: number}[] = [];
  let line = 1;
  let isContent = false;
  for (const token of new Lexer().lex(text)) {
    if (token.startsWith('#') && !isContent) found.push({text: token.slice(1).trim(), line});
    line += token.split('\n').length - 1;
    isContent = token === SCALAR;
  }
  return found;
}

/** What the lexer puts before the content of a scalar. */
const SCALAR = '\u001F';

/** The comments of a key: above it, and behind its value. */
interface Comments {
  path: Path;
  above: string;
  behind: string;
}

/** The comment at the top of the file, and those of keys in the order of the file. */
function commentsOf({contents, commentBefore}: Pick<Document, 'contents' | 'commentBefore'>): {
  head: string;
  comments: Comments[];
} {
  const comments: Comments[] = [];
  const collect = (map: YAMLMap<Scalar, unknown>, above: string, parent: Path): void => {
    for (const [index, pair] of map.items.entries()) {
      // In the syntax tree, a comment above the first key belongs to the map.
      const comment = [index === 0 ? above : '', pair.key.commentBefore ?? '']
        .filter((part) => part !== '')
        .join('\n');
      const path = [...parent, String(pair.key.value)];
      comments.push({
        path,
        above: comment,
        behind: (isScalar(pair.value) && pair.value.comment) || '',
      });
      if (isMap(pair.value))
        collect(pair.value as YAMLMap<Scalar, unknown>, pair.value.commentBefore ?? '', path);
    }
  };
  if (!isMap(contents)) return {head: '', comments};
  const [first, ...others] = [
    commentBefore,
    contents.commentBefore,
    contents.items[0] && (contents.items[0].key as Scalar).commentBefore,
  ]
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
