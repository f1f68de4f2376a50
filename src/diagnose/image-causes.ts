import type {Pod, Snapshot} from '../cluster/objects.ts';
import {type CauseTable, type Symptom, singleCause} from './cause.ts';
import {oneLine, unwrap} from './error-text.ts';
import {troubledPods} from './readiness.ts';
import {
  type ContainerView,
  containersOf,
  countOf,
  eventsOf,
  firstTimeOf,
  isContainerTroubled,
  newestEvent,
  troubleSince,
} from './snapshot-queries.ts';

/** Containers whose image is not even pulled. The text is why they wait. */
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
/** The first failure may be a hiccup of the registry; the kubelet tries again after ten seconds. */
const ENOUGH_TRIES = 2;

interface Pull extends Symptom {
  object: Pod;
}

/** Containers whose image cannot be pulled. The two states of it alternate, so both have one name. */
const failedPulls = (snapshot: Snapshot): Pull[] =>
  troubledPods(snapshot).flatMap((pod) =>
    containersOf(pod)
      .filter(({state}) => PULLING.includes(state?.waiting?.reason ?? ''))
      .map((container) => failedPull(snapshot, pod, container)),
  );

function failedPull(snapshot: Snapshot, pod: Pod, {image, spec, state}: ContainerView): Pull {
  const name = spec?.image ?? image ?? '';
  const failed = eventsOf(snapshot, pod, ['Failed']).findLast(({message = ''}) => message.startsWith(`Failed to pull image "${name}"`));
  // Older kubelets write only "Back-off pulling image" into the status; then the event has the message.
  const text = unwrap(state?.waiting?.message ?? '') || unwrap(failed?.message ?? '') || 'no reason is given';
  return {
    object: pod,
    text,
    reason: oneLine(`ImagePullBackOff: ${name}: ${text}`),
    since: (failed && firstTimeOf(failed)) ?? troubleSince(pod),
    isHopeless: failed && countOf(failed) >= ENOUGH_TRIES ? true : undefined,
  };
}

export const imageCauses: readonly CauseTable[] = [
  {
    symptoms: notPulled,
    rows: [
      {
        // The kubelet reports it for names that only a new manifest can change.
        code: 'IMAGE_NAME_INVALID',
        pattern: /^InvalidImageName$/,
        hopelessAfter: 0,
        remedy: 'Correct the name of the image: --agent-image, --image-registry',
      },
      {
        code: 'IMAGE_NEVER_PULLED',
        pattern: /^ErrImageNeverPull$/,
        hopelessAfter: 30,
        remedy: 'Put the image onto the node, or let the pull policy be IfNotPresent',
      },
    ],
  },
  singleCause({
    // For a missing pull secret the kubelet only warns: the pull itself has to fail as well.
    code: 'PULL_SECRET_NOT_FOUND',
    hopelessAfter: 30,
    remedy: 'Create the pull secret in the namespace of the release, or correct --image-pull-secret',
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
          'The image has no build for the architecture of the node: name one that has, or choose nodes with --node-selector kubernetes.io/arch=amd64',
      },
      {
        // Limits of public registries last for hours, but another node may have its own.
        code: 'IMAGE_RATE_LIMIT',
        pattern: /toomanyrequests|429 Too Many|rate limit/i,
        hopelessAfter: 120,
        ignoresTries: true,
        remedy: 'Pull with an account (--image-pull-secret) or from a mirror (--image-registry)',
      },
      {
        code: 'IMAGE_DENIED',
        pattern:
          /access denied|access forbidden|insufficient_scope|authorization failed|unauthorized|authentication required|no basic auth|denied:|40[13] (Unauthorized|Forbidden)/i,
        hopelessAfter: 30,
        remedy: 'Check the name of the image, and whether the pull secret (--image-pull-secret) opens this registry',
      },
      {
        code: 'REGISTRY_UNREACHABLE',
        pattern:
          /i\/o timeout|no such host|connection refused|connection reset|handshake timeout|deadline exceeded|proxyconnect|unreachable|x509:|\bEOF\b|server misbehaving|50[0-4] /i,
        hopelessAfter: 120,
        ignoresTries: true,
        remedy:
          'The node does not reach the registry: check its proxy, firewall and trusted authorities, or use a mirror with --image-registry',
      },
      {
        code: 'IMAGE_NOT_FOUND',
        pattern: /not found|manifest unknown|name unknown|does not exist/i,
        hopelessAfter: 30,
        remedy: 'Check repository and tag of the image: --agent-image, --image-registry',
      },
      {
        code: 'IMAGE_PULL_FAILED',
        hopelessAfter: 60,
        ignoresTries: true,
        remedy: 'Pull the image by hand on a node, and mend what the registry says',
      },
    ],
  },
];
