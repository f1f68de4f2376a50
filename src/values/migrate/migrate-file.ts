import type {Target} from '../../charts/define.ts';
import {newestOf} from '../../charts/target.ts';
import {ExitCode, ExpectedError, type Warning} from '../../errors.ts';
import {Settings} from '../../settings/settings.ts';
import {guessChart} from '../validate/check-files.ts';
import type {Finding} from '../validate/finding.ts';
import type {Change} from './change.ts';
import {migrateText} from './migrate-text.ts';
import {checkTarget, parseTarget} from './target.ts';

export interface MigrationRequest {
  file: string;
  text: string;
  /** CHART@VERSION; undefined if the file names them. */
  from: string | undefined;
  to: string | undefined;
}

export interface MigratedFile {
  from: string;
  to: string;
  /** The whole new file. */
  yaml: string;
  changes: readonly Change[];
  findings: readonly Finding[];
  /** The chart that the findings refer to. */
  target: Target;
  warnings: readonly Warning[];
  notes: readonly string[];
}

/** Migrates a file to another chart version or chart. Pure. @throws ExpectedError */
export function migrateFile(request: MigrationRequest): MigratedFile {
  return migrateValuesFile(request);
}

export const spellTarget = ({chart, version}: Target): string => `${chart}@${version}`;

function migrateValuesFile({file, text, from, to}: MigrationRequest): MigratedFile {
  const source = sourceOf(file, text, from);
  const target = targetOf(to);
  const migrated = migrateText(file, text, source.target, target.target);
  return {
    from: spellTarget(source.target),
    to: spellTarget(target.target),
    yaml: migrated.text,
    changes: migrated.changes,
    findings: migrated.findings,
    target: target.target,
    warnings: [...source.warnings, ...target.warnings],
    notes: source.notes,
  };
}

/** @throws ExpectedError without --to */
export function targetOf(to: string | undefined): {target: Target; warnings: Warning[]} {
  if (to !== undefined) return parseTarget('--to', to);
  throw missing('--to is required: the chart and version to migrate to.', [`Example: --to agent-job@${newestOf('agent-job')}`]);
}

interface Source {
  target: Target;
  warnings: readonly Warning[];
  notes: readonly string[];
}

/** The chart version of the values: given, or found in the file. */
export function sourceOf(file: string, text: string, from: string | undefined): Source {
  if (from !== undefined) return {...parseTarget('--from', from), notes: []};
  const {name, version, source} = guessChart({files: [{file, text}], areLayers: false}, new Settings(new Map()));
  if (name === undefined) throw missing('Cannot tell which chart this file is for.', ['Example: --from agent-k8s@0.5.58']);
  if (version === undefined)
    throw missing(`The values are for ${name}, but the file does not name the chart version.`, [`Add --from ${name}@VERSION`]);
  return {...checkTarget('--from', name, version), notes: [`Migrated from ${name} ${version}, detected from ${source}.`]};
}

export const missing = (message: string, suggestions: readonly string[]): ExpectedError =>
  new ExpectedError(message, {code: 'MISSING_SETTING', exit: ExitCode.usage, suggestions});
