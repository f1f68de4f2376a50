import {CHECKS} from '../../src/checks/preflight/run-preflight.ts';
import {MACHINE_CHECKS} from '../../src/extensions/machine/preflight/machine-checks.ts';
import {codesPage} from './codes-page.ts';

/** Every check, in the order in which they are printed. */
export const ALL_CHECKS = [...CHECKS, ...MACHINE_CHECKS];

/** docs/preflight.md: every check, with its group and its reference. */
export const preflightPage = (): string =>
  codesPage('preflight.md', (code) =>
    ALL_CHECKS.filter(({id}) => id === code).map(
      ({group, ref}) => `Group: ${group}. Reference: ${ref.replaceAll(/https:[^\s,;]+/g, '<$&>')}`,
    ),
  );
