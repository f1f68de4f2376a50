import type {Pod, Snapshot} from '../cluster/objects.ts';
import type {CauseRecord, Finding} from './cause.ts';
import {oneLine, unwrap} from './error-text.ts';
import {troubledPods} from './readiness.ts';
import {containersOf, eventsOf, firstTimeOf, isBeingCreated, troubleSince} from './snapshot-queries.ts';

/** What went wrong before a container could start, wherever it is said. */
interface Obstacle {
  pod: Pod;
  reason: string;
  words: string;
  since: string | undefined;
}

const BAD = ['FailedMount', 'FailedMapVolume', 'FailedAttachVolume', 'FailedCreatePodSandBox'];
/** Each of these shows that what failed before has come right. */
const GOOD = ['SuccessfulAttachVolume', 'Pulling', 'Pulled', 'Created', 'Started'];

export function obstacles(snapshot: Snapshot): Obstacle[] {
  return troubledPods(snapshot).flatMap((pod) => [...ofContainers(pod), ...ofEvents(snapshot, pod)]);
}

const ofContainers = (pod: Pod): Obstacle[] =>
  containersOf(pod).flatMap(({state}) => {
    const {reason = '', message = ''} = state?.waiting ?? {};
    return ['CreateContainerConfigError', 'CreateContainerError'].includes(reason)
      ? [{pod, reason, words: unwrap(message), since: troubleSince(pod)}]
      : [];
  });

function ofEvents(snapshot: Snapshot, pod: Pod): Obstacle[] {
  if (!isBeingCreated(pod)) return [];
  const newest = eventsOf(snapshot, pod, [...BAD, ...GOOD]).at(-1);
  if (newest === undefined || !BAD.includes(newest.reason ?? '')) return [];
  const {reason = '', message = ''} = newest;
  // "Unable to attach or mount volumes" only sums up; an earlier event may say what is behind it.
  const telling = /timed out waiting/.test(message)
    ? eventsOf(snapshot, pod, BAD).findLast((each) => !/timed out waiting/.test(each.message ?? ''))
    : undefined;
  return [{pod, reason: telling?.reason ?? reason, words: unwrap(telling?.message ?? message), since: firstTimeOf(telling ?? newest)}];
}

const toFinding = ({pod, reason, words, since}: Obstacle): Finding => ({object: pod, reason: oneLine(`${reason}: ${words}`), since});

const obstacle = (code: string, hopelessAfter: number | undefined, remedy: string, test: (each: Obstacle) => boolean): CauseRecord => ({
  code,
  ...(hopelessAfter === undefined ? {} : {hopelessAfter}),
  remedy,
  test: (snapshot) => obstacles(snapshot).filter(test).map(toFinding),
});

/** An operator for secrets, or a second apply, may still bring what is missing; after this time it would have. */
const SOMEBODY_ELSE = 60;

export const missingCauses: readonly CauseRecord[] = [
  obstacle(
    'KEY_NOT_FOUND',
    SOMEBODY_ELSE,
    'Add the key to the Secret, or name the one it has: --token-secret-key, --ca-secret-key',
    ({words}) => /couldn't find key|references non-existent (secret|config) key/.test(words),
  ),
  obstacle(
    'SECRET_NOT_FOUND',
    SOMEBODY_ELSE,
    'Create the Secret in the namespace of the release, or correct its name: --token-secret, --ca-secret, --client-cert-secret',
    ({words}) => /secrets? "[^"]+" not found/i.test(words),
  ),
  obstacle(
    'CONFIG_MAP_NOT_FOUND',
    SOMEBODY_ELSE,
    'Create the ConfigMap in the namespace of the release, or take it out of the values',
    ({words}) => /configmaps? "[^"]+" not found/i.test(words),
  ),
  // Image and security context contradict each other; only new values change that.
  obstacle('RUNS_AS_ROOT', 0, 'Set runAsUser in the security context to a number other than 0', ({words}) =>
    /runAsNonRoot|non-numeric user/.test(words),
  ),
  obstacle(
    'HOST_PATH_UNUSABLE',
    SOMEBODY_ELSE,
    'Prepare the directory on the node, or choose another: --data-home, --cache-path',
    ({words}) => /hostPath type check failed|mkdir .*(read-only|permission denied)/i.test(words),
  ),
  // In a rolling update the old pod may still leave; detaching from a lost node takes six minutes.
  obstacle(
    'VOLUME_IN_USE',
    undefined,
    'The volume is attached to another node: end the pod that has it, or use a ReadWriteMany class (--cache-storage-class, --cache-access-mode)',
    ({words}) => /Multi-Attach|already (exclusively )?attached|already used by/i.test(words),
  ),
  obstacle('ATTACH_FAILED', 120, 'Mend what the storage driver says', ({reason}) => reason === 'FailedAttachVolume'),
  obstacle('MOUNT_FAILED', 120, 'Mend what the node says about the volume', ({reason}) => /^Failed(Mount|MapVolume)$/.test(reason)),
  obstacle('SANDBOX_FAILED', 120, 'The network plugin or runtime of the node has a problem; look at its own pods and logs', ({reason}) =>
    /SandBox/.test(reason),
  ),
  obstacle('CONTAINER_CONFIG', SOMEBODY_ELSE, 'Correct what the container is given', ({reason}) => reason === 'CreateContainerConfigError'),
  obstacle('CREATE_CONTAINER_FAILED', SOMEBODY_ELSE, 'Correct what the runtime refuses', ({reason}) => reason === 'CreateContainerError'),
];
