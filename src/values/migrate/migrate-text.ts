import {Lexer} from 'yaml';
import {pinnedAgents} from '../../charts/images.ts';
import {agentVersionOf} from '../../charts/releases/schema.ts';
import type {Target} from '../../charts/releases/target.ts';
import {type ExpectedError, failed} from '../../ground/errors.ts';
import type {KeyFinding} from '../../ground/finding.ts';
import {at, getAt, isMap, leafPaths, sameTree, type Tree, type Values} from '../../ground/tree.ts';
import type {ValuesFile} from '../../settings/chart-values.ts';
import {quote} from '../../settings/settings.ts';
import {inChartOrder, toYaml} from '../document.ts';
import {commentsOf, EditedValues} from '../edited-values.ts';
import {effectiveValues} from '../reading/read-values.ts';
import {readSource} from '../reading/source.ts';
import type {TreePath} from '../reading/tree-path.ts';
import {isAnchorHolder} from '../rules/anchor-holders.ts';
import {certainFindings} from '../validate/certain-findings.ts';
import {validate} from '../validate/validate.ts';
import {type Change, changeOf, type Move, targetName} from './change.ts';
import {type MigrationOptions, migrateValues} from './migrate.ts';

export interface MigratedText {
  text: string;
  /** The old values. */
  before: Values;
  changes: readonly Change[];
  /** Findings in the new text, without warnings that the old text has too. */
  findings: readonly KeyFinding[];
}

interface TextOptions extends MigrationOptions {
  /** False for values inside of another file. */
  isWhole?: boolean;
  /** Other values of the release are not known. */
  isPartial?: boolean;
}

/** Findings after which the meaning of the old values is unknown. */
const UNUSABLE = [
  'WRONG_TYPE',
  'UNQUOTED_TEXT',
  'STRING_NOT_BOOLEAN',
  'NULL_DELETES_DEFAULT',
  'NESTED_VALUES',
];

/** Migrates a values file; its comments go with their keys. Pure. @throws ExpectedError if the values cannot be read */
export function migrateText(
  {file, text}: ValuesFile,
  from: Target,
  to: Target,
  {isWhole = true, isPartial = false, ...options}: TextOptions = {},
): MigratedText {
  const {source} = readSource(text);
  const findingsFor = (written: string, target: Target): KeyFinding[] => {
    const found = validate(written, target);
    const {values = {}} = readSource(written).source ?? {};
    return isWhole ? found : certainFindings(found, values, isPartial);
  };
  const before = findingsFor(text, from);
  const unusable = before.filter(
    ({verdict, code}) => verdict === 'error' && (source === undefined || UNUSABLE.includes(code)),
  );
  if (source === undefined || unusable.length > 0) throw cannotRead(file, unusable, from);
  const {holders, others} = withoutHolders(source.values);
  const {values: migrated, changes, moves} = migrateValues(others, from, to, options);
  const values = {...holders, ...migrated};
  const migration = {before: source.values, after: values, moves};
  const written =
    from.chart === to.chart
      ? withHeader(withinChart(text, migration), from, to)
      : forOtherChart(
          text,
          {...migration, after: {...holders, ...inChartOrder(migrated, to)}},
          isWhole ? headerOf(from, to) : [],
        );
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
  const findings = findingsFor(written, to).filter(
    ({verdict, code}) => verdict === 'error' || !known.has(code),
  );
  return {
    text: written,
    before: source.values,
    changes: [...changes, ...pinned, ...lost(text, written, isWhole)],
    findings,
  };
}

/** Keys that only define anchors have no place in a chart, and stay at the top. */
function withoutHolders(values: Values): {holders: Values; others: Values} {
  const entries = Object.entries(values);
  return {
    holders: Object.fromEntries(entries.filter(([key]) => isAnchorHolder(key))),
    others: Object.fromEntries(entries.filter(([key]) => !isAnchorHolder(key))),
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

const headerOf = (from: Target, to: Target): string[] => [
  `Values of ${targetName(to)} (agent ${agentVersionOf(to) ?? 'version unknown'}).`,
  `Migrated by scalr-agent from ${targetName(from)}.`,
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
  findings: readonly KeyFinding[],
  {chart, version}: Target,
): ExpectedError {
  const name = file === '-' ? 'standard input' : file;
  const lines = findings.map(
    ({subject: {line, path}, message}) =>
      `  ${line === undefined ? '' : `line ${line}: `}${path === '' ? '' : `${path}: `}${message}`,
  );
  return failed(
    'INVALID_VALUES',
    [`Cannot migrate ${name}: it is not valid for ${chart} ${version}.`, ...lines].join('\n'),
    [
      `List all findings: scalr-agent validate ${quote(file)} --chart ${chart} --chart-version ${version}`,
    ],
  );
}

const withinChart = (text: string, migration: Migration): string => {
  if (sameTree(migration.before, migration.after)) return text;
  return editText(text, migration, false) ?? toYaml(migration.after);
};

/** The keys are in the order of the chart. */
function forOtherChart(text: string, migration: Migration, header: readonly string[]): string {
  const written = editText(text, migration, true) ?? toYaml(migration.after);
  const lines = header.map((line) => `# ${line}\n`);
  return lines.length === 0 ? written : `${lines.join('')}\n${written}`;
}

/** What becomes of values. */
interface Migration {
  before: Values;
  after: Values;
  moves: readonly Move[];
}

/**
 * Writes the new values into the syntax tree of the old file, so that comments, quotes and anchors go with their keys. Undefined where Helm
 * would read something else, such as an alias without its anchor.
 */
function editText(text: string, migration: Migration, isSorted: boolean): string | undefined {
  const {after} = migration;
  const edited = new EditedValues(text);
  moveKeys(edited, migration);
  if (isSorted) {
    edited.sort(after);
    edited.removeHead(isGenerated);
  }
  const written = edited.print();
  return sameTree(written && readSource(written).source?.values, after) ? written : undefined;
}

function moveKeys(edited: EditedValues, {before, after, moves}: Migration): void {
  const isKept = (path: TreePath): boolean => isMap(getAt(after, path.map(String)));
  const places = moves.flatMap(({from, to: [to]}) =>
    to && !sameTree(from, to) ? [{from, to}] : [],
  );
  const moving = places.flatMap((each) => {
    const pair = edited.take(each.from);
    return pair ? [{...each, pair}] : [];
  });
  const dropped = leafPaths(before).filter((leaf) => getAt(after, leaf) === undefined);
  for (const leaf of dropped) edited.take(leaf);
  for (const {from, to, pair} of moving) {
    const above = edited.prune(from, isKept);
    // Several keys can become one.
    if (!edited.put(to, pair, above))
      edited.addComment(to, [above, commentsOf(pair)].filter(Boolean).join('\n'));
  }
  for (const leaf of dropped) edited.prune(leaf, isKept);
  for (const leaf of leafPaths(after)) {
    const origin = moving.find(({to}) => sameTree(to, leaf))?.from ?? leaf;
    const value = getAt(after, leaf) as Tree;
    if (!sameTree(getAt(before, origin), value)) edited.set(leaf, value);
  }
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

/** The header of a generated file describes another command. */
const isGenerated = (comment: string): boolean =>
  comment.includes('Generated by scalr-agent.') || comment.includes('Migrated by scalr-agent');
