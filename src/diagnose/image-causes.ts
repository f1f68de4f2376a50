import type {Pod, Snapshot} from '../kubernetes/objects.ts';
import {type CauseTable, oneLine, type Symptom, singleCause, unwrap} from './cause.ts';
import {
  type ContainerView,
  containersOf,
  eventCount,
  eventsOf,
  firstTimeOf,
  isContainerTroubled,
  newestEvent,
  troubledPods,
  troubleSince,
} from './snapshot-queries.ts';

/** Containers whose image is not pulled. The text is the waiting reason. */
const notPulled = (snapshot: Snapshot): Symptom[] =>
  troubledPods(snapshot).flatMap((pod) =>
    containersOf(pod)
      .filter(isContainerTroubled)
      .map(({spec, image, state}) => {
        const {reason: text = '', message} = state?.waiting ?? {};
        return {object: pod, text, reason: oneLine(`${text}: ${message || spec?.image || image || ''}`), since: troubleSince(pod)};
      }),
  );

const PULLING = ['ErrImagePull', 'ImagePullBackOff', 'RegistryUnavailable', 'ImageInspectError', 'SignatureValidationFailed'];
/** The first failure may be temporary; the kubelet retries after ten seconds. */
const MIN_FAILED_PULLS = 2;

interface Pull extends Symptom {
  object: Pod;
}

/** Containers with a failed image pull. Both alternating states have one name. */
const failedPulls = (snapshot: Snapshot): Pull[] =>
  troubledPods(snapshot).flatMap((pod) =>
    containersOf(pod)
      .filter(({state}) => PULLING.includes(state?.waiting?.reason ?? ''))
      .map((container) => failedPull(snapshot, pod, container)),
  );

function failedPull(snapshot: Snapshot, pod: Pod, {image, spec, state}: ContainerView): Pull {
  const name = spec?.image ?? image ?? '';
  const failed = eventsOf(snapshot, pod, ['Failed']).findLast(({message = ''}) => message.startsWith(`Failed to pull image "${name}"`));
  // Older kubelets write only "Back-off pulling image" to the status; the event has the message.
  const text = unwrap(state?.waiting?.message ?? '') || unwrap(failed?.message ?? '') || 'no reason given';
  return {
    object: pod,
    text,
    reason: oneLine(`ImagePullBackOff: ${name}: ${text}`),
    since: (failed && firstTimeOf(failed)) ?? troubleSince(pod),
    isPermanent: failed && eventCount(failed) >= MIN_FAILED_PULLS ? true : undefined,
  };
}

export const imageCauses: readonly CauseTable[] = [
  {
    symptoms: notPulled,
    rows: [
      {
        // Reported for names that only a new manifest can change.
        code: 'IMAGE_NAME_INVALID',
        pattern: /^InvalidImageName$/,
        hopelessAfter: 0,
        remedy: 'Correct the image name: --agent-image, --image-registry',
      },
      {
        code: 'IMAGE_NEVER_PULLED',
        pattern: /^ErrImageNeverPull$/,
        hopelessAfter: 30,
        remedy: 'Load the image onto the node, or set the pull policy to IfNotPresent',
      },
    ],
  },
  singleCause({
    // For a missing pull secret, the kubelet only warns: the pull must fail as well.
    code: 'PULL_SECRET_NOT_FOUND',
    hopelessAfter: 30,
    remedy: 'Create the pull secret in the release namespace, or correct --image-pull-secret',
    symptoms: (snapshot) =>
      failedPulls(snapshot).flatMap((pull) => {
        const missing = newestEvent(snapshot, pull.object, ['FailedToRetrieveImagePullSecret']);
        return missing ? [{...pull, reason: oneLine(`ImagePullBackOff: ${missing.message}`)}] : [];
      }),
  }),
  {
    symptoms: failedPulls,
    rows: [
      {
        code: 'IMAGE_ARCHITECTURE',
        pattern: /no match(ing manifest| for platform)/i,
        hopelessAfter: 30,
        remedy:
          'The image does not support the node architecture: use an image that does, or select nodes with --node-selector kubernetes.io/arch=amd64',
      },
      {
        // Rate limits of public registries last for hours, but another node may have its own limit.
        code: 'IMAGE_RATE_LIMIT',
        pattern: /toomanyrequests|429 Too Many|rate limit/i,
        hopelessAfter: 120,
        ignoresTries: true,
        remedy: 'Pull with credentials (--image-pull-secret) or from a mirror (--image-registry)',
      },
      {
        code: 'IMAGE_DENIED',
        pattern:
          /access denied|access forbidden|insufficient_scope|authorization failed|unauthorized|authentication required|no basic auth|denied:|40[13] (Unauthorized|Forbidden)/i,
        hopelessAfter: 30,
        remedy: 'Check the image name, and whether the pull secret (--image-pull-secret) is valid for this registry',
      },
      {
        code: 'REGISTRY_UNREACHABLE',
        pattern:
          /i\/o timeout|no such host|connection refused|connection reset|handshake timeout|deadline exceeded|proxyconnect|unreachable|x509:|\bEOF\b|server misbehaving|50[0-4] /i,
        hopelessAfter: 120,
        ignoresTries: true,
        remedy: 'The node cannot reach the registry: check its proxy, firewall and trusted CAs, or use a mirror with --image-registry',
      },
      {
        code: 'IMAGE_NOT_FOUND',
        pattern: /not found|manifest unknown|name unknown|does not exist/i,
        hopelessAfter: 30,
        remedy: 'Check the repository and the tag of the image: --agent-image, --image-registry',
      },
      {
        code: 'IMAGE_PULL_FAILED',
        hopelessAfter: 60,
        ignoresTries: true,
        remedy: 'Pull the image manually on a node, and fix the error reported by the registry',
      },
    ],
  },
];
