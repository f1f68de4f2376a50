import type {ChartName} from '../../charts/schema.ts';
import {type ExpectedError, failed} from '../../ground/errors.ts';
import type {SourceProblem} from '../validate/finding.ts';
import type {Edit} from '../yaml-text.ts';

/** A release in a file of another engine: its chart, its version and its inline values. */
export interface EmbeddedRelease {
  kind: string;
  chart: ChartName;
  version: string | undefined;
  /** The values as a file of their own; undefined if the release has none inline. */
  values: string | undefined;
  /** The inline values at their lines and columns in the file, with blanks around them. */
  inPlace: string | undefined;
  /** Values files that the inline values override, once for each environment. */
  fileSets: readonly (readonly string[])[];
  /** Values come from other places too. */
  hasOtherValues: boolean;
  /** Names of single values that are set beside the inline values and override them. */
  parameters: readonly string[];
  /** Problems of the file around the values. */
  problems: readonly SourceProblem[];
  /** The edits that write another chart, version and values. */
  edits(chart: ChartName, version: string, values: string | undefined): Edit[];
}

/** The text with blanks before `start` and behind `end`. */
export const blankAround = (text: string, start: number, end: number): string => {
  const blank = (part: string): string => part.replaceAll(/[^\r\n]/g, ' ');
  return `${blank(text.slice(0, start))}${text.slice(start, end)}${blank(text.slice(end))}`;
};

/** Only another program can evaluate the file. */
export const notReadable = (file: string, reason: string, suggestions: readonly string[]): ExpectedError =>
  failed('UNREADABLE_FILE', `Cannot read the values in ${file}: ${reason}.`, suggestions);

/** A text with this many blanks less at the start of its lines. */
export const dedent = (text: string, column: number): string => text.replaceAll(new RegExp(`(?<=^|\\n) {0,${column}}`, 'g'), '');

/** A text with this many blanks more at the start of its filled lines. */
export const indent = (text: string, column: number): string => text.trimEnd().replaceAll(/(?<=^|\n)(?=[^\n])/g, ' '.repeat(column));

/** The smallest indentation of a text. */
export const columnOf = (text: string): number => {
  const columns = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.search(/\S/)]));
  return columns.length > 0 ? Math.min(...columns) : 0;
};
