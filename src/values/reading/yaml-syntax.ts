import {type Document, isScalar, LineCounter, parseAllDocuments} from 'yaml';
import type {SourcePosition} from './finding.ts';

/** The line and column of an offset. */
export type Locate = (offset: number) => SourcePosition;

/** Helm drops a byte order mark, and ends lines at CR and NEL too. Lines and columns stay the same. */
export const normalized = (text: string): string =>
  text.replace(/^\uFEFF/, '').replaceAll(/\r\n?|\u0085/g, '\n');

/** Only the syntax comes from the parser; helm-reader.ts gives scalars, keys and aliases their meaning. */
export const SYNTAX = {
  version: '1.1',
  schema: 'failsafe',
  resolveKnownTags: false,
  uniqueKeys: false,
  logLevel: 'error',
  prettyErrors: false,
} as const;

export function parseYaml(text: string, lineCounter = new LineCounter()): Document.Parsed[] {
  const documents = parseAllDocuments(text, {...SYNTAX, lineCounter});
  return Array.isArray(documents) ? documents : [];
}

/** True for a document or a key without a value, or with null. */
export const isEmptyNode = (contents: unknown): boolean =>
  contents === null ||
  (isScalar(contents) &&
    contents.type === 'PLAIN' &&
    /^(|~|null|Null|NULL)$/.test(contents.source ?? ''));

/** The lines and columns of a text that the counter has seen. */
export const positionsOf =
  (lines: LineCounter): Locate =>
  (offset) => {
    const {line, col} = lines.linePos(offset);
    return {line, column: col};
  };
