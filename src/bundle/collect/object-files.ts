import {jsonText} from '../../ground/json.ts';
import type {Event, KubernetesObject} from '../../kubernetes/objects.ts';
import {withoutSecrets} from '../../redact/objects.ts';

export interface TextFile {
  name: string;
  text: string;
}

/** Returns the placeholder of a secret value in a file. */
export type HideIn = (file: string) => (value: string) => string;

/** One file per object, by kind; all events in one file, newest last. `placed` changes the path of a file. */
export function objectFiles(
  objects: readonly KubernetesObject[],
  hideIn: HideIn,
  placed: (name: string) => string = (name) => name,
): TextFile[] {
  const events = objects.filter(({kind}) => kind === 'Event') as Event[];
  const others = objects.filter(({kind}) => kind !== 'Event');
  const times = new Map<string, number>();
  // A chart can create objects with the same name in two namespaces.
  const nameOf = ({kind = 'object', metadata}: KubernetesObject): string => {
    const name = `objects/${kind.toLowerCase()}/${metadata.name}`;
    const before = times.get(name) ?? 0;
    times.set(name, before + 1);
    return placed(before === 0 ? `${name}.json` : `${name}.${before + 1}.json`);
  };
  return [
    ...others.map((object) => {
      const name = nameOf(object);
      return {name, text: jsonText(withoutSecrets(object, hideIn(name)))};
    }),
    ...(events.length === 0 ? [] : [{name: placed('events.txt'), text: events.toSorted(byTime).map(eventLine).join('')}]),
  ];
}

const timeOf = ({series, lastTimestamp, eventTime, firstTimestamp, metadata}: Event): string =>
  series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? firstTimestamp ?? metadata.creationTimestamp ?? '';

const byTime = (one: Event, other: Event): number => timeOf(one).localeCompare(timeOf(other));

const eventLine = (event: Event): string => {
  const {type = '', reason = '', message = '', count = event.series?.count ?? 1, involvedObject: about} = event;
  return `${timeOf(event)}  ${type}  ${about?.kind}/${about?.name}  ${reason}  ${message.replaceAll('\n', ' ')}${count > 1 ? `  (${count} times)` : ''}\n`;
};
