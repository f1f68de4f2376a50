import type {KeyFinding} from '../../src/ground/finding.ts';
import type {CheckedGroup} from '../../src/values/validate/check-files.ts';

const TARGET = {chart: 'agent-job', version: '0.6.5'} as const;

/** A file as it looks after it was checked. */
export const checkedFile = (file: string, findings: KeyFinding[] = []): CheckedGroup => ({
  files: [{file, text: ''}],
  areLayers: false,
  target: TARGET,
  findings,
});

export const checkedLayers = (files: readonly string[], findings: KeyFinding[]): CheckedGroup => ({
  files: files.map((file) => ({file, text: ''})),
  areLayers: true,
  target: TARGET,
  findings,
});

/** A finding of merged files. */
export const inFile = (finding: KeyFinding, file: string): KeyFinding => ({
  ...finding,
  subject: {...finding.subject, file},
});

export const UNKNOWN: KeyFinding = {
  verdict: 'error',
  code: 'UNKNOWN_KEY',
  subject: {path: 'agent.tokne', line: 3, column: 5},
  message: 'agent-job has no key <tokne> & "co".',
  remedies: [{text: 'agent.token'}],
};
export const LOSER: KeyFinding = {
  verdict: 'warning',
  code: 'KEY_OVERRIDDEN',
  subject: {path: 'agent.token', line: 4, column: 5},
  message: 'This token is dropped.',
  remedies: [],
};
export const MISSING: KeyFinding = {
  verdict: 'error',
  code: 'NO_TOKEN',
  subject: {path: 'agent.token'},
  message: 'There is no token.',
  remedies: [],
};
