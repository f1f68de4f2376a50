import type {ObjectFinding} from '../../ground/finding.ts';
import {count, groupsOf} from '../../ground/text.ts';

/** Equal findings for pods of one workload are merged. */
export const mergeFindings = (
  found: readonly {key: string; finding: ObjectFinding}[],
): ObjectFinding[] =>
  groupsOf(found, ({key}) => key).map((alike) => {
    const [{finding}] = alike;
    const more = new Set(alike.map((each) => each.finding.subject.object)).size - 1;
    return more === 0
      ? finding
      : {...finding, message: `${finding.message} (and ${count(more, 'more pod')})`};
  });
