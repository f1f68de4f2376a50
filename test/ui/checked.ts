import type {ValuesFinding} from '../../src/values/reading/finding.ts';
import type {CheckedGroup} from '../../src/values/validate/check-files.ts';

const TARGET = {chart: 'agent-job', version: '0.6.5'} as const;

/** A file as it looks after it was checked. */
export const checkedFile = (file: string, findings: ValuesFinding[] = []): CheckedGroup => ({
  files: [{file, text: ''}],
  areLayers: false,
  target: TARGET,
  findings,
});

export const checkedLayers = (
  files: readonly string[],
  findings: ValuesFinding[],
): CheckedGroup => ({
  files: files.map((file) => ({file, text: ''})),
  areLayers: true,
  target: TARGET,
  findings,
});

export const UNKNOWN: ValuesFinding = {
  severity: 'error',
  code: 'UNKNOWN_KEY',
  path: 'agent.tokne',
  line: 3,
  column: 5,
  message: 'agent-job has no key <tokne> & "co".',
  suggestion: 'agent.token',
};
export const LOSER: ValuesFinding = {
  severity: 'warning',
  code: 'KEY_OVERRIDDEN',
  path: 'agent.token',
  line: 4,
  column: 5,
  message: 'This token is dropped.',
};
export const MISSING: ValuesFinding = {
  severity: 'error',
  code: 'NO_TOKEN',
  path: 'agent.token',
  message: 'There is no token.',
};
