import type {Event, Snapshot} from '../cluster/objects.ts';
import {maskSecrets} from '../errors.ts';
import type {Cause} from './cause.ts';

/** What was seen of a release that did not become ready, as JSON: no specification, which may hold secrets, and no password in a text. */
export function evidenceText(
  release: string,
  {workloads, pods, claims, events, logs}: Snapshot,
  causes: readonly Cause[],
  now: Date,
): string {
  const states = [...workloads, ...pods, ...claims].map(({kind, metadata: {name}, status}) => ({kind, name, status}));
  const evidence = {release, time: now.toISOString(), causes, states, events: events.map(eventOf), logs};
  return `${JSON.stringify(evidence, (_, value: unknown) => (typeof value === 'string' ? maskSecrets(value) : value), 2)}\n`;
}

const eventOf = ({type, reason, message, count, lastTimestamp, eventTime, involvedObject}: Event): object => ({
  type,
  reason,
  message,
  count,
  time: lastTimestamp ?? eventTime,
  object: `${involvedObject?.kind}/${involvedObject?.name}`,
});
