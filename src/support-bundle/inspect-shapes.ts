import type {Entry} from '../ports/archive.ts';
import {type Fields, isFields} from './fields.ts';
import type {Finding} from './findings/finding.ts';
import type {RedactionReport} from './redaction/redactor.ts';

/** What could not be read when the bundle was made, as errors.json holds it. */
export interface Unread {
  what: string;
  kind: string;
  message: string;
  isMinor?: boolean;
}

export interface Manifest {
  schemaVersion: 1;
  containers?: number;
  entries: readonly Entry[];
}

const hasTexts = (value: unknown, ...names: string[]): value is Fields =>
  isFields(value) && names.every((name) => typeof value[name] === 'string');
const isCounts = (value: unknown): boolean => isFields(value) && Object.values(value).every(Number.isInteger);

// A bundle comes from somebody else: what has another form is passed over.

export const isManifest = (value: unknown): value is Manifest =>
  isFields(value) &&
  value['schemaVersion'] === 1 &&
  (value['containers'] === undefined || Number.isSafeInteger(value['containers'])) &&
  Array.isArray(value['entries']) &&
  value['entries'].every((entry) => hasTexts(entry, 'name', 'sha256') && Number.isSafeInteger(entry['bytes']));

export const isFinding = (value: unknown): value is Finding =>
  hasTexts(value, 'code', 'object', 'message', 'remedy') &&
  (value['severity'] === 'error' || value['severity'] === 'warning') &&
  ['string', 'undefined'].includes(typeof value['evidence']) &&
  (value['line'] === undefined || Number.isSafeInteger(value['line']));

export const isUnread = (value: unknown): value is Unread => hasTexts(value, 'what', 'kind', 'message');

export const isReport = (value: unknown): value is RedactionReport =>
  isFields(value) &&
  Number.isInteger(value['total']) &&
  isCounts(value['rules']) &&
  isFields(value['files']) &&
  Object.values(value['files']).every(isCounts) &&
  isCounts(value['knownValues']);
