import type {Pod} from '../../cluster/kubernetes/objects.ts';
import type {Snapshot} from '../../cluster/kubernetes/snapshot.ts';
import {oneLine} from '../../ground/one-line.ts';
import {type CauseTable, type Symptom, singleCause, unwrap} from './cause.ts';
import {eventCount, eventsOf, firstTimeOf} from './events.ts';
import {
  type ContainerView,
  containersOf,
  isBeingCreated,
  isContainerUnhealthy,
  unhealthySince,
} from './pod-state.ts';
import {unhealthyPods} from './rollout.ts';

/** Containers whose image is not pulled. The text is the waiting reason. */
const notPulled = (snapshot: Snapshot): Symptom[] =>
  unhealthyPods(snapshot).flatMap((pod) =>
    containersOf(pod)
      .filter(isContainerUnhealthy)
      .map(({spec, image, state}) => {
        const {reason: text = '', message} = state?.waiting ?? {};
        return {
          object: pod,
          text,
          reason: oneLine(`${text}: ${message || spec?.image || image || ''}`),
          since: unhealthySince(pod),
        };
      }),
  );

const PULLING = [
  'ErrImagePull',
  'ImagePullBackOff',
  'RegistryUnavailable',
  'ImageInspectError',
  'SignatureValidationFailed',
];
/** The first failure may be temporary; the kubelet retries after ten seconds. */
const MIN_FAILED_PULLS = 2;

interface Pull extends Symptom {
  object: Pod;
}

/** Containers with a failed image pull. */
const failedPulls = (snapshot: Snapshot): Pull[] =>
  unhealthyPods(snapshot).flatMap((pod) =>
    containersOf(pod)
      .filter(({state}) => PULLING.includes(state?.waiting?.reason ?? ''))
      .map((container) => failedPull(snapshot, pod, container)),
  );

function failedPull(snapshot: Snapshot, pod: Pod, {image, spec, state}: ContainerView): Pull {
  const name = spec?.image ?? image ?? '';
  const failed = eventsOf(snapshot, pod, ['Failed']).findLast(({message = ''}) =>
    message.startsWith(`Failed to pull image "${name}"`),
  );
  // Older kubelets write only "Back-off pulling image" to the status; the event has the message.
  const text =
    unwrap(state?.waiting?.message ?? '') || unwrap(failed?.message ?? '') || 'no reason given';
  return {
    object: pod,
    text,
    reason: oneLine(`${pullState(state)}: ${name}: ${text}`),
    since: (failed && firstTimeOf(failed)) ?? unhealthySince(pod),
    isPermanent: failed && eventCount(failed) >= MIN_FAILED_PULLS ? true : undefined,
  };
}

/** Two states alternate, and get one name. */
function pullState(state: ContainerView['state']): string {
  const reason = state?.waiting?.reason ?? '';
  return reason === 'ErrImagePull' || reason === '' ? 'ImagePullBackOff' : reason;
}

export const imageCauses: readonly CauseTable[] = [
  {
    symptoms: notPulled,
    rows: [
      {
        // Reported for names that only a new manifest can change.
        code: 'IMAGE_NAME_INVALID',
        pattern: /^InvalidImageName$/,
        permanentAfter: 0,
        remedy: 'Correct the image name: --agent-image, --image-registry',
      },
      {
        code: 'IMAGE_NEVER_PULLED',
        pattern: /^ErrImageNeverPull$/,
        permanentAfter: 30,
        remedy: 'Load the image onto the node, or set the pull policy to IfNotPresent',
      },
    ],
  },
  singleCause({
    // For a missing pull secret, the kubelet only warns: the pull must fail as well.
    code: 'PULL_SECRET_NOT_FOUND',
    permanentAfter: 30,
    remedy: 'Create the pull secret in the release namespace, or correct --image-pull-secret',
    symptoms: (snapshot) =>
      failedPulls(snapshot).flatMap((pull) => {
        const missing = eventsOf(snapshot, pull.object, ['FailedToRetrieveImagePullSecret']).at(-1);
        return missing ? [{...pull, reason: oneLine(`ImagePullBackOff: ${missing.message}`)}] : [];
      }),
  }),
  {
    symptoms: failedPulls,
    textIn: (line) => {
      const [message = ''] =
        /ImagePullBackOff: \S+: .*|(?:Failed to pull|Back-off pulling) image ".*|pull access denied for .*|failed to authorize: .*|no basic auth credentials|toomanyrequests: .*|manifest unknown.*|Get "https?:\/\/[^"/]+\/v2\/(?:"|\S+\/(?:manifests|blobs)\/).*/s.exec(
          line,
        ) ?? [];
      return unwrap(message.replace(/^ImagePullBackOff: \S+: /, '')) || undefined;
    },
    rows: [
      {
        // The kubelet removes unused images first.
        code: 'NODE_DISK_FULL',
        pattern: /no space left on device|disk quota exceeded/i,
        permanentAfter: 120,
        ignoresTries: true,
        remedy:
          'The disk of the node is full: use a larger one, or free space on the node, then delete the pod',
      },
      {
        code: 'IMAGE_SHORT_NAME',
        pattern: /short[- ]name|ambiguous list|did not resolve to an alias/i,
        permanentAfter: 0,
        remedy:
          'The nodes accept no image name without a registry, as CRI-O 1.34 and newer: use --image-registry docker.io',
      },
      {
        code: 'IMAGE_ARCHITECTURE',
        pattern: /no match(ing manifest| for platform)/i,
        permanentAfter: 30,
        remedy:
          'The image does not support the node architecture: use an image that does, or select nodes with --node-selector kubernetes.io/arch=amd64',
      },
      {
        // Rate limits of public registries last for hours, but another node may have its own limit.
        code: 'IMAGE_RATE_LIMIT',
        pattern: /toomanyrequests|429 Too Many|rate limit/i,
        permanentAfter: 120,
        ignoresTries: true,
        remedy: 'Pull with credentials (--image-pull-secret) or from a mirror (--image-registry)',
      },
      {
        code: 'IMAGE_DENIED',
        pattern:
          /access denied|access forbidden|insufficient_scope|authorization failed|unauthorized|authentication required|no basic auth|denied:|40[13] (Unauthorized|Forbidden)/i,
        permanentAfter: 30,
        remedy:
          'Check the image name, and whether the pull secret (--image-pull-secret) is valid for this registry',
      },
      {
        code: 'REGISTRY_UNREACHABLE',
        pattern:
          /i\/o timeout|no such host|connection refused|connection reset|handshake timeout|deadline exceeded|Client\.Timeout|proxyconnect|unreachable|x509:|\bEOF\b|server misbehaving|50[0-4] /i,
        permanentAfter: 120,
        ignoresTries: true,
        remedy:
          'The node cannot reach the registry: check its proxy, firewall and trusted CAs, or use a mirror with --image-registry',
      },
      {
        code: 'IMAGE_NOT_FOUND',
        pattern: /not found|manifest unknown|name unknown|does not exist/i,
        permanentAfter: 30,
        remedy: 'Check the repository and the tag of the image: --agent-image, --image-registry',
      },
      {
        code: 'IMAGE_PULL_FAILED',
        permanentAfter: 60,
        ignoresTries: true,
        remedy: 'Pull the image manually on a node, and fix the error reported by the registry',
      },
    ],
  },
];

const FAILURES = ['FailedMount', 'FailedMapVolume', 'FailedAttachVolume', 'FailedCreatePodSandBox'];
/** Each of these events shows that an earlier failure is resolved. */
const SUCCESSES = ['SuccessfulAttachVolume', 'Pulling', 'Pulled', 'Created', 'Started'];

const failuresInStatus = (pod: Pod): Symptom[] =>
  containersOf(pod).flatMap(({state}) => {
    const {reason = '', message = ''} = state?.waiting ?? {};
    return ['CreateContainerConfigError', 'CreateContainerError'].includes(reason)
      ? [startFailure(pod, reason, message, unhealthySince(pod))]
      : [];
  });

function failureInEvents(snapshot: Snapshot, pod: Pod): Symptom[] {
  if (!isBeingCreated(pod)) return [];
  const newest = eventsOf(snapshot, pod, [...FAILURES, ...SUCCESSES]).at(-1);
  if (newest === undefined || !FAILURES.includes(newest.reason ?? '')) return [];
  // "Unable to attach or mount volumes" is only a summary; an earlier event can have the reason.
  const telling = /timed out waiting/.test(newest.message ?? '')
    ? eventsOf(snapshot, pod, FAILURES).findLast(
        ({message = ''}) => !/timed out waiting/.test(message),
      )
    : undefined;
  const {reason = newest.reason, message = newest.message} = telling ?? newest;
  return [startFailure(pod, reason ?? '', message ?? '', firstTimeOf(telling ?? newest))];
}

/** Events without their reason are known by their words. */
const WITHOUT_REASON: readonly [RegExp, string][] = [
  [/AttachVolume\.|Multi-Attach/, 'FailedAttachVolume'],
  [/MountVolume\.|(?:attach or )?mount volumes/, 'FailedMount'],
  [/failed to create pod sandbox/i, 'FailedCreatePodSandBox'],
  [
    /(?:secret|configmap)s? "[^"]+" not found|couldn't find key|runAsNonRoot/,
    'CreateContainerConfigError',
  ],
];

/** As `startFailure` writes it. */
function startFailureIn(line: string): string | undefined {
  const [reason, message = ''] =
    /(?:Failed(?:Mount|MapVolume|AttachVolume|CreatePodSandBox)|CreateContainer(?:Config)?Error)\b:?\s*(.*)/s.exec(
      line,
    ) ?? [];
  if (reason !== undefined) return `${/^\w+/.exec(reason)?.[0]}: ${unwrap(message)}`;
  const known = WITHOUT_REASON.find(([pattern]) => pattern.test(line));
  return known && `${known[1]}: ${unwrap(line)}`;
}

function startFailure(
  pod: Pod,
  reason: string,
  message: string,
  since: string | undefined,
): Symptom {
  const text = `${reason}: ${unwrap(message)}`;
  return {object: pod, text, reason: oneLine(text), since};
}

/** A secrets operator or a second apply can still create missing objects within this time. */
const CREATION_DELAY_SECONDS = 60;

/** Failures before a container starts, from its status or from events of its pod. */
export const startCauses: CauseTable = {
  symptoms: (snapshot) =>
    unhealthyPods(snapshot).flatMap((pod) => [
      ...failuresInStatus(pod),
      ...failureInEvents(snapshot, pod),
    ]),
  textIn: startFailureIn,
  rows: [
    {
      code: 'KEY_NOT_FOUND',
      pattern: /couldn't find key|references non-existent (secret|config) key/,
      permanentAfter: CREATION_DELAY_SECONDS,
      remedy:
        'Add the key to the Secret, or set the existing key: --token-secret-key, --ca-secret-key',
    },
    {
      code: 'SECRET_NOT_FOUND',
      pattern: /secrets? "[^"]+" not found/i,
      permanentAfter: CREATION_DELAY_SECONDS,
      remedy:
        'Create the Secret in the release namespace, or correct its name: --token-secret, --ca-secret, --client-cert-secret',
    },
    {
      code: 'CONFIG_MAP_NOT_FOUND',
      pattern: /configmaps? "[^"]+" not found/i,
      permanentAfter: CREATION_DELAY_SECONDS,
      remedy: 'Create the ConfigMap in the release namespace, or remove it from the values',
    },
    {
      // Image and security context contradict each other; only new values change that.
      code: 'RUNS_AS_ROOT',
      pattern: /runAsNonRoot|non-numeric user/,
      permanentAfter: 0,
      remedy: 'Set runAsUser in the security context to a number other than 0',
    },
    {
      code: 'HOST_PATH_UNUSABLE',
      pattern: /hostPath type check failed|mkdir .*(read-only|permission denied)/i,
      permanentAfter: CREATION_DELAY_SECONDS,
      remedy: 'Prepare the directory on the node, or set another one: --data-home, --cache-path',
    },
    {
      // In a rolling update, the old pod may still terminate; detaching from a lost node takes six minutes.
      code: 'VOLUME_IN_USE',
      pattern: /Multi-Attach|already (exclusively )?attached|already used by/i,
      remedy:
        'The volume is attached to another node: delete the pod that uses it, or use ReadWriteMany (--cache-storage-class, --cache-access-mode)',
    },
    {
      code: 'ATTACH_FAILED',
      pattern: /^FailedAttachVolume: /,
      permanentAfter: 120,
      remedy: 'Fix the error reported by the storage driver',
    },
    {
      code: 'MOUNT_FAILED',
      pattern: /^Failed(Mount|MapVolume): /,
      permanentAfter: 120,
      remedy: 'Fix the volume error reported by the node',
    },
    {
      code: 'SANDBOX_FAILED',
      pattern: /^FailedCreatePodSandBox: /,
      permanentAfter: 120,
      remedy: 'Check the network plugin and the container runtime of the node, and their logs',
    },
    {
      code: 'CONTAINER_CONFIG',
      pattern: /^CreateContainerConfigError: /,
      permanentAfter: CREATION_DELAY_SECONDS,
      remedy: 'Correct the configuration of the container',
    },
    {
      code: 'CREATE_CONTAINER_FAILED',
      pattern: /^CreateContainerError: /,
      permanentAfter: CREATION_DELAY_SECONDS,
      remedy: 'Fix the error reported by the container runtime',
    },
  ],
};
