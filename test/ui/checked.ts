import type {CheckedGroup} from '../../src/values/validate/check-files.ts';

const TARGET = {chart: 'agent-job', version: '0.6.5'} as const;

/** A file as it looks after it was checked. */
export const checkedFile = (file: string, findings: KeyFinding[] = []): CheckedGroup => ({
  files: [{file, text: ''}],
  areLayers: false,
  target: TARGET,
  findings,
});

export const checkedLayers = (
  files: readonly string[],
  findings: KeyFinding[],
): CheckedGroup => ({
  files: files.map((file) => ({file, text: ''})),
  areLayers: true,
  target: TARGET,
  findings,
});

export const UNKNOWN: KeyFinding = {
  severity: 'error',
  code: 'UNKNOWN_KEY',
  path: 'agent.tokne',
  line: 3,
  column: 5,
  message: 'agent-job has no key <tokne> & "co".',
  suggestion: 'agent.token',
};
export const LOSER: KeyFinding = {
  severity: 'warning',
  code: 'KEY_OVERRIDDEN',
  path: 'agent.token',
  line: 4,
  column: 5,
  message: 'This token is dropped.',
};
export const MISSING: KeyFinding = {
  severity: 'error',
  code: 'NO_TOKEN',
  path: 'agent.token',
  message: 'There is no token.',
};
