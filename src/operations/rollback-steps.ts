import {rollback} from '../cluster/helm/release-calls.ts';
import type {Call} from '../ground/call.ts';
import {callText} from '../ground/call-arguments.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import type {Step} from './step.ts';

/** For the user to run after a failed upgrade, whose record lacks objects that it did not delete yet. The rollback records them. */
export const rollbackHints = (calls: readonly Call[]): string[] => [
  ...calls.map((call) => `Roll back to the revision that ran before: ${callText(call)}`),
  ...calls
    .slice(-1)
    .map((call) => `If helm does not find an object, run this a second time: ${callText(call)}`),
];

/** The rollback of a change that keeps PVCs: the first one records the PVCs and fails, the second one finds them in that record. */
export function rollbackSteps(
  name: ReleaseName,
  revision: number,
  keptClaims: readonly string[],
): Step[] {
  const back: Step = {
    id: 'rollback',
    title: `Roll back to revision ${revision}`,
    call: rollback(name, revision),
  };
  const adopt: Step = {
    ...back,
    id: 'adopt',
    title: 'Record the kept PVCs in the release',
    tolerates: /PersistentVolumeClaim with the name .* found/,
  };
  return keptClaims.length === 0 ? [back] : [adopt, back];
}
