import type {Advice} from '../../ground/errors.ts';
import {count, groupsOf} from '../../ground/text.ts';

export interface Finding extends Advice {
  /** `info` is not a problem, but a note for support. */
  severity: 'error' | 'warning' | 'info';
  /** Affected object: pod/name, release/name. */
  object: string;
  /** File of the bundle that shows the problem. */
  file?: string;
  /** 1-based line in that file. */
  line?: number;
}

/** Equal findings for pods of one workload are merged. */
export const mergeFindings = (found: readonly {key: string; finding: Finding}[]): Finding[] =>
  groupsOf(found, ({key}) => key).map((alike) => {
    const [{finding}] = alike;
    const more = new Set(alike.map((each) => each.finding.object)).size - 1;
    return more === 0
      ? finding
      : {...finding, message: `${finding.message} (and ${count(more, 'more pod')})`};
  });
