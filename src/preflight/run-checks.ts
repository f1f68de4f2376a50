import type {Check, Checked} from './check.ts';
import type {Situation} from './situation.ts';

/** Makes every check that these settings have need of. Pure. */
export const runChecks = (checks: readonly Check[], situation: Situation): Checked[] =>
  checks.flatMap(({id, group, title, ref, test}) => {
    const outcome = test(situation);
    return outcome === undefined ? [] : [{id, group, title, ref, ...outcome}];
  });
