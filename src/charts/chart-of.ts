import {at, type Path, spellPath, startsWith} from '../ground/tree.ts';
import {CHARTS} from './charts.ts';
import type {Chart, Refusal, Row, Target, UpstreamChange} from './define.ts';
import {compare, within} from './releases.ts';
import {type ChartSchema, closedSchema, nodeAt, schemaOf} from './schema.ts';
import {newestOf, releasesOf} from './target.ts';

const ofSchema = new WeakMap<ChartSchema, Chart>();

/** The description of a chart version. Settings whose keys the chart no longer has are refused, with the words of its change list. */
export function chartFor(target: Target): Chart {
  const known = CHARTS[target.chart];
  if (target.schema === undefined) return known;
  const found = ofSchema.get(target.schema) ?? withoutGoneKeys(known, target);
  ofSchema.set(target.schema, found);
  return found;
}

/** True for a version that only the chart itself can describe: a newer one than all known ones, or another one if its source is known. */
export function isUnknown({chart, version}: Target, hasSource: boolean): boolean {
  const known = releasesOf(chart);
  return !known.includes(version) && compare(version, hasSource ? (known[0] as string) : newestOf(chart)) > 0;
}

function withoutGoneKeys(known: Chart, target: Target): Chart {
  const has = (path: Path): boolean => knowsKey(target, path);
  const [rows, gone]: [Row[], Refusal[]] = [[], []];
  for (const row of known.rows) {
    const missing = within(target.version, row.in) ? row.paths.filter((path) => !has(path)) : [];
    if (missing.length > 0) gone.push({setting: row.setting, reason: goneText(missing, target)});
    if (missing.length > 0 && missing.length === row.paths.length) continue;
    const accepts: Row['accepts'] = (value, scope) =>
      (row.accepts?.(value, scope) ?? true) && row.write(value, scope).every(([path]) => has(path));
    rows.push(missing.length === 0 ? row : {...row, paths: row.paths.filter(has), accepts});
  }
  return {...known, rows, refusals: [...known.refusals, ...gone]};
}

/** True if the chart version has the key, or a map or a Kubernetes type above it. */
export const knowsKey = (target: Target, path: Path): boolean => nodeAt(closedSchema(schemaOf(target), target.version), path) !== undefined;

function goneText(missing: readonly Path[], target: Target): string {
  const notes = [...new Set(missing.flatMap((path) => upstreamNotes(path, target)))];
  const keys = missing.map(spellPath).join(', ');
  return [`it has no key ${keys}`, ...(notes.length === 0 ? [] : [`Change list of the chart: ${notes.join(' ')}`])]
    .join('. ')
    .replace(/\.$/, '');
}

/** What the change list of the chart says about a key: the entries that name it, or else the ones that name the closest key above it. */
export function upstreamNotes(path: Path, {changes = []}: Target): string[] {
  const found = changes.map((change) => ({
    change,
    depth: Math.max(0, ...keysIn(change).map((key) => (startsWith(path, key) ? key.length : 0))),
  }));
  const deepest = Math.max(0, ...found.map(({depth}) => depth));
  return found.flatMap(({change, depth}) => (depth > 0 && depth === deepest ? [noteText(change)] : []));
}

export const noteText = ({kind, description}: UpstreamChange): string =>
  `${kind === undefined ? '' : `${kind}: `}"${description.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()}"`;

/** The keys that an entry names: dotted, or in backquotes; `persistence.{data,cache}.mode` names two. */
const keysIn = ({description}: UpstreamChange): Path[] =>
  [...description.matchAll(/`([A-Za-z][\w.{},*-]*)`|\b([A-Za-z]\w*(?:\.[\w{},*]+)+)/g)]
    .flatMap(([, quoted, plain]) => spread((quoted ?? plain) as string))
    .map((name) => at(name.replace(/(\.\*)+$/, '')));

function spread(name: string): string[] {
  const [, before, words, after] = /^(.*?)\{([^}]*)\}(.*)$/.exec(name) ?? [];
  return words === undefined ? [name] : words.split(',').flatMap((word) => spread(`${before}${word}${after}`));
}
