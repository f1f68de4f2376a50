import {count} from '../ground/text.ts';
import type {Event, KubernetesObject, Pod} from '../kubernetes/objects.ts';
import {isOfRun, type RunsOf} from '../release/inventory.ts';

/** A possible improvement of a healthy release. */
export interface Advice {
  code: string;
  message: string;
  remedy: string;
}

/** Shorter pulls are not worth a change. */
const LONG_SECONDS = 20;

/** Finds runs that spend most of their start-up time on image pulls. Pure. */
export function pullAdvice(objects: readonly KubernetesObject[], of: RunsOf): Advice[] {
  const pods = objects.filter((object) => object.kind === 'Pod' && isOfRun(object, of)) as Pod[];
  const events = objects.filter(({kind}) => kind === 'Event') as Event[];
  const slow = pods
    .map(({metadata: {name}}) => startUp(events.filter(({involvedObject: about}) => about?.kind === 'Pod' && about.name === name)))
    .filter(({pullSeconds, seconds}) => pullSeconds >= LONG_SECONDS && pullSeconds * 2 >= seconds);
  if (slow.length === 0) return [];
  const longest = Math.max(...slow.map(({pullSeconds}) => pullSeconds));
  return [
    {
      code: 'SLOW_IMAGE_PULLS',
      message: `Image pulls take most of the start-up time in ${slow.length} of ${count(pods.length, 'run')} (up to ${Math.round(longest)}s)`,
      remedy:
        'Pre-pull the images with a DaemonSet, use a registry mirror in the region of the nodes (--image-registry), or enable image streaming (GKE)',
    },
  ];
}

/** Seconds from scheduling to the last started container, and seconds of image pulls. */
function startUp(events: readonly Event[]): {seconds: number; pullSeconds: number} {
  const times = (reason: string): number[] =>
    events
      .filter((event) => event.reason === reason)
      .map(({eventTime, firstTimestamp, lastTimestamp}) => Date.parse(eventTime ?? firstTimestamp ?? lastTimestamp ?? ''))
      .filter((time) => !Number.isNaN(time));
  const pullSeconds = events.reduce((sum, {reason, message = ''}) => sum + (reason === 'Pulled' ? pulledIn(message) : 0), 0);
  const seconds = (Math.max(...times('Started')) - Math.min(...times('Scheduled'))) / 1000;
  return {seconds: Number.isFinite(seconds) ? seconds : pullSeconds, pullSeconds};
}

/** Successfully pulled image "scalr/runner:0.2.0" in 1m2.5s (1m2.5s including waiting). An image that already exists has no time. */
function pulledIn(message: string): number {
  const [, minutes = '0', seconds = '0', milliseconds = '0'] =
    /^Successfully pulled image .* in (?:(\d+)m(?!s))?(?:([\d.]+)s)?(?:([\d.]+)ms)?(?=\s|$)/.exec(message) ?? [];
  return Number(minutes) * 60 + Number(seconds) + Number(milliseconds) / 1000;
}
