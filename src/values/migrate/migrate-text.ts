import type {Target} from '../../charts/define.ts';
import {pinnedAgents} from '../../charts/images.ts';
import {agentVersionOf} from '../../charts/version-status.ts';
import {ExitCode, ExpectedError} from '../../ground/errors.ts';
import {at} from '../../ground/tree.ts';
import {quote} from '../../settings/settings.ts';
import {inChartOrder} from '../document.ts';
import {effectiveValues} from '../read-values.ts';
import type {ValuesFinding} from '../validate/finding.ts';
import {readSource} from '../validate/source.ts';
import {validate} from '../validate/validate.ts';
import {type Change, changeOf, targetName} from './change.ts';
import {editText, lostComments, rewriteText} from './edit-text.ts';
import {type MigrationOptions, migrateValues} from './migrate.ts';

export interface MigratedText {
  text: string;
  changes: readonly Change[];
  /** Findings in the new text, without warnings that the old text has too. */
  findings: readonly ValuesFinding[];
}

interface TextOptions extends MigrationOptions {
  /** False for values inside of another file. */
  isWhole?: boolean;
}

/** Findings after which the meaning of the old values is unknown. */
const UNUSABLE = ['WRONG_TYPE', 'TEXT_FOR_SWITCH', 'NULL_DELETES_DEFAULT', 'MANIFEST', 'NESTED_VALUES'];

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
  const unusable = before.filter(({severity, code}) => severity === 'error' && (source === undefined || UNUSABLE.includes(code)));
  if (source === undefined || unusable.length > 0) throw cannotRead(file, unusable, from);
  const {values, changes, moves} = migrateValues(source.values, from, to, options);
  const written =
    from.chart === to.chart
      ? withHeader(editText(text, values, moves), from, to)
      : rewriteText(text, inChartOrder(values, to), moves, isWhole ? headerOf(from, to) : []);
  const pinned = pinnedAgents(effectiveValues(values, to), to).map(({key, keys, message}) =>
    changeOf('kept', at(key), `${message}.`, `Remove ${keys}, so that the chart selects the agent version`),
  );
  // A pinned agent is one of the changes.
  const known = new Set([...before.map(({code}) => code), 'AGENT_VERSION']);
  const findings = validate(written, to).filter(({severity, code}) => severity === 'error' || !known.has(code));
  return {text: written, changes: [...changes, ...pinned, ...lost(text, written, isWhole)], findings};
}

function lost(before: string, after: string, isWhole: boolean): Change[] {
  const lines = lostComments(before, after);
  if (lines.length === 0) return [];
  const which = isWhole ? ` (line ${lines.join(', ')})` : '';
  return [changeOf('dropped', [], `${lines.length === 1 ? '1 comment is' : `${lines.length} comments are`} not carried over${which}.`)];
}

export const headerOf = (from: Target | string, to: Target): string[] => [
  `Values of ${targetName(to)} (agent ${agentVersionOf(to) ?? 'version unknown'}).`,
  `Migrated by scalr-agent from ${typeof from === 'string' ? from : targetName(from)}.`,
];

/** A header names the chart version and the command that wrote the file. */
function withHeader(text: string, from: Target, to: Target): string {
  if (from.version === to.version) return text;
  const header = headerOf(from, to).map((line) => `# ${line}\n`);
  return text.replace(/^# Values of agent-(?:k8s|local|job) \d.*\n(?:#.*\n)*/, header.join(''));
}

function cannotRead(file: string, findings: readonly ValuesFinding[], {chart, version}: Target): ExpectedError {
  const name = file === '-' ? 'standard input' : file;
  const lines = findings.map(
    ({line, path, message}) => `  ${line === undefined ? '' : `line ${line}: `}${path === '' ? '' : `${path}: `}${message}`,
  );
  return new ExpectedError([`Cannot migrate ${name}: it is not valid for ${chart} ${version}.`, ...lines].join('\n'), {
    code: 'UNREADABLE_FILE',
    exit: ExitCode.findings,
    suggestions: [`List all findings: scalr-agent validate ${quote(file)} --chart ${chart} --chart-version ${version}`],
  });
}
