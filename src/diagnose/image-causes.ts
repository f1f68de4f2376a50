import type {Pod, Snapshot} from '../cluster/objects.ts';
import type {CauseRecord, Finding} from './cause.ts';
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

const PULLING = ['ErrImagePull', 'ImagePullBackOff', 'RegistryUnavailable', 'ImageInspectError', 'SignatureValidationFailed'];
/** The first failure may be a hiccup of the registry; the kubelet tries again after ten seconds. */
const ENOUGH_TRIES = 2;

interface Pull {
  pod: Pod;
  words: string;
  finding: Finding;
}

/** Containers whose image does not come. The two states of it alternate, so both have one name. */
function pulls(snapshot: Snapshot): Pull[] {
  return troubledPods(snapshot).flatMap((pod) =>
    containersOf(pod)
      .filter(({state}) => PULLING.includes(state?.waiting?.reason ?? ''))
      .map((container) => asPull(snapshot, pod, container)),
  );
}

function asPull(snapshot: Snapshot, pod: Pod, {image, spec, state}: ContainerView): Pull {
  const name = spec?.image ?? image ?? '';
  const failed = eventsOf(snapshot, pod, ['Failed']).findLast(({message = ''}) => message.startsWith(`Failed to pull image "${name}"`));
  // Older kubelets say nothing but "Back-off pulling image" in the status; then the event has the words.
  const words = unwrap(state?.waiting?.message ?? '') || unwrap(failed?.message ?? '') || 'no reason is given';
  return {
    pod,
    words,
    finding: {
      object: pod,
      reason: oneLine(`ImagePullBackOff: ${name}: ${words}`),
      since: (failed && firstTimeOf(failed)) ?? troubleSince(pod),
      isHopeless: failed && countOf(failed) >= ENOUGH_TRIES ? true : undefined,
    },
  };
}

const pull = (code: string, words: RegExp, hopelessAfter: number, remedy: string): CauseRecord => ({
  code,
  hopelessAfter,
  remedy,
  test: (snapshot) => pulls(snapshot).flatMap((each) => (words.test(each.words) ? [each.finding] : [])),
});

/** For what another moment or another node may mend, two tries prove nothing. */
const slowPull = (...[code, words, hopelessAfter, remedy]: Parameters<typeof pull>): CauseRecord => ({
  code,
  hopelessAfter,
  remedy,
  test: (snapshot) => pulls(snapshot).flatMap(({words: said, finding}) => (words.test(said) ? [{...finding, isHopeless: undefined}] : [])),
});

const waitingFor = (code: string, reason: string, hopelessAfter: number, remedy: string): CauseRecord => ({
  code,
  hopelessAfter,
  remedy,
  test: (snapshot) =>
    troubledPods(snapshot).flatMap((pod) =>
      containersOf(pod)
        .filter((each) => isContainerTroubled(each) && each.state?.waiting?.reason === reason)
        .map(({spec, image, state}) => ({
          object: pod,
          reason: oneLine(`${reason}: ${state?.waiting?.message || spec?.image || image || ''}`),
          since: troubleSince(pod),
        })),
    ),
});

export const imageCauses: readonly CauseRecord[] = [
  // The kubelet says it about names only a new manifest can change.
  waitingFor('IMAGE_NAME_INVALID', 'InvalidImageName', 0, 'Correct the name of the image: --agent-image, --image-registry'),
  waitingFor('IMAGE_NEVER_PULLED', 'ErrImageNeverPull', 30, 'Put the image onto the node, or let the pull policy be IfNotPresent'),
  {
    code: 'PULL_SECRET_NOT_FOUND',
    // A missing pull secret is only a warning of the kubelet: the pull itself has to fail as well.
    hopelessAfter: 30,
    remedy: 'Create the pull secret in the namespace of the release, or correct --image-pull-secret',
    test: (snapshot) =>
      pulls(snapshot).flatMap(({pod, finding}) => {
        const missing = newestEvent(snapshot, pod, ['FailedToRetrieveImagePullSecret']);
        return missing ? [{...finding, reason: oneLine(`ImagePullBackOff: ${missing.message}`)}] : [];
      }),
  },
  pull(
    'IMAGE_ARCHITECTURE',
    /no match(ing manifest| for platform)/i,
    30,
    'The image has no build for the architecture of the node: name one that has, or choose nodes with --node-selector kubernetes.io/arch=amd64',
  ),
  // Limits of public registries last for hours, but another node may have its own.
  slowPull(
    'IMAGE_RATE_LIMIT',
    /toomanyrequests|429 Too Many|rate limit/i,
    120,
    'Pull with an account (--image-pull-secret) or from a mirror (--image-registry)',
  ),
  pull(
    'IMAGE_DENIED',
    /access denied|access forbidden|insufficient_scope|authorization failed|unauthorized|authentication required|no basic auth|denied:|40[13] (Unauthorized|Forbidden)/i,
    30,
    'Check the name of the image, and whether the pull secret (--image-pull-secret) opens this registry',
  ),
  slowPull(
    'REGISTRY_UNREACHABLE',
    /i\/o timeout|no such host|connection refused|connection reset|handshake timeout|deadline exceeded|proxyconnect|unreachable|x509:|\bEOF\b|server misbehaving|50[0-4] /i,
    120,
    'The node does not reach the registry: check its proxy, firewall and trusted authorities, or use a mirror with --image-registry',
  ),
  pull(
    'IMAGE_NOT_FOUND',
    /not found|manifest unknown|name unknown|does not exist/i,
    30,
    'Check repository and tag of the image: --agent-image, --image-registry',
  ),
  slowPull('IMAGE_PULL_FAILED', /./, 60, 'Pull the image by hand on a node, and mend what the registry says'),
];
