import {type Check, fail, type Outcome, pass} from '../../check.ts';
import type {Volume} from '../../probe/findings.ts';
import {worstOf} from '../outcomes.ts';
import {ifSaid} from './said.ts';

export const probeVolume: Check = {
  id: 'probe-volume',
  group: 'Probe',
  title: 'a run can write to its volumes and execute what lies there',
  ref: 'https://kubernetes.io/docs/tasks/configure-pod-container/security-context/',
  test: (situation) => ifSaid(situation, ({volumes}) => worstOf(volumes.map((each) => MEANINGS[each.state](each)))),
};

/** Terraform executes providers where it unpacks them. */
const MEANINGS: Readonly<Record<Volume['state'], (volume: Volume) => Outcome>> = {
  ok: ({directory}) => pass(directory),
  noexec: ({directory}) =>
    fail(
      `${directory} is mounted so that nothing in it can be executed, and providers lie there`,
      'Use a directory on a file system without noexec: --data-home, --cache-path, or another --cache',
    ),
  'read-only': ({directory}) => fail(`${directory} can only be read`, 'Use a volume that can be written: --cache, --data-home'),
  full: ({directory}) => fail(`There is no room left in ${directory}`, 'Make room, or use a larger volume: --cache-size'),
  denied: ({directory}) =>
    fail(
      `The user of the container may not write to ${directory}`,
      'Give the directory to the user of the security context, or set podSecurityContext.fsGroup',
    ),
};
