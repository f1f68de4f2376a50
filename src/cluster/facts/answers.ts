import {getAt, isMap, type Values} from '../../charts/tree.ts';
import type {Outcome} from '../../ports/processes.ts';
import {jsonIn} from '../../ports/tool-output.ts';
import type {KubernetesObject} from '../objects.ts';
import {type Fact, known, type Unknown, type UnknownReason, unknown} from './fact.ts';

interface Refusal {
  /** The kind it is about, `daemonsets.apps`, or a single object, `services/kube-dns`; undefined where it does not say. */
  about?: string;
  failure: Unknown;
}

const REASONS: readonly [stderr: RegExp, reason: UnknownReason][] = [
  [/forbidden/i, 'forbidden'],
  [/timeout|timed out|deadline exceeded|time allotted|no answer in time/i, 'timed-out'],
  [/NotFound|could not find the requested resource|doesn't have a resource type/, 'not-served'],
];

/** What stderr says, line by line; warnings and the log of the client are none of it. */
function refusalsIn(stderr: string): Refusal[] {
  return stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^([EWIF]\d{4} |warning)/i.test(line))
    .map((line): Refusal => {
      const reason = REASONS.find(([pattern]) => pattern.test(line))?.[1] ?? 'failed';
      const failure = unknown(reason, line.replace(/^error( from server \(\w+\))?:\s*/i, ''));
      const [, kind, name] = /\(Forbidden\): ([\w.-]+)(?: "([^"]+)")? is forbidden/.exec(line) ?? [];
      return kind === undefined ? {failure} : {about: name === undefined ? kind : `${kind}/${name}`, failure};
    });
}

/** The whole call failed. */
export const failureOf = ({stderr, exitCode}: Outcome): Unknown =>
  refusalsIn(stderr).at(-1)?.failure ?? unknown('failed', `it ended with ${exitCode}`);

/** What a call answers as JSON, a mapping or a list. */
export function jsonOf<T extends object>(outcome: Outcome, source: string, isRight: (answer: unknown) => boolean): Fact<T> {
  if (outcome.exitCode !== 0) return failureOf(outcome);
  const answer = jsonIn(outcome.stdout);
  return isRight(answer) ? known(answer as T, source) : unknown('failed', `${source} is not what was asked for`);
}

/** The objects of each kind out of one call for several, with the failure of each. Kinds are spelled `daemonsets.apps`. */
export function listsOf(outcome: Outcome, kinds: readonly string[]): Readonly<Record<string, Fact<readonly KubernetesObject[]>>> {
  const items = itemsOf(outcome);
  const refusals = refusalsIn(outcome.stderr);
  return Object.fromEntries(
    kinds.map((kind) => {
      const found = items.filter((item) => isOfKind(item, kind));
      const failure = found.length > 0 ? undefined : failureFor(kind, refusals, outcome);
      return [kind, failure ?? known(found, kind)];
    }),
  );
}

/** The same for single objects, spelled `services/kube-dns`; undefined where there is none. */
export function objectsOf(outcome: Outcome, objects: readonly string[]): Readonly<Record<string, Fact<KubernetesObject | undefined>>> {
  const items = itemsOf(outcome);
  const refusals = refusalsIn(outcome.stderr);
  return Object.fromEntries(
    objects.map((object) => {
      const [kind = '', name] = object.split('/');
      const found = items.find((item) => isOfKind(item, kind) && item.metadata.name === name);
      const failure = found ? undefined : failureFor(object, refusals, outcome);
      return [object, failure ?? known(found, object)];
    }),
  );
}

/** Where a line names something else, the others were answered; one that names nothing may be about all of them. */
function failureFor(about: string, refusals: readonly Refusal[], {exitCode}: Outcome): Unknown | undefined {
  if (exitCode === 0) return undefined;
  const own = refusals.find((each) => each.about === about) ?? refusals.find((each) => each.about === undefined);
  if (own) return own.failure;
  return refusals.length === 0 ? unknown('failed', `it ended with ${exitCode}`) : undefined;
}

function itemsOf(outcome: Outcome): readonly KubernetesObject[] {
  const answer = jsonIn(outcome.stdout);
  if (!isMap(answer)) return [];
  const items: readonly unknown[] = Array.isArray(answer['items']) ? answer['items'] : [answer];
  return items.filter((each): each is Values & KubernetesObject => isMap(each) && typeof getAt(each, ['metadata', 'name']) === 'string');
}

/** Plural and group of `daemonsets.apps` against kind and apiVersion of the object. */
function isOfKind({kind = '', apiVersion = ''}: KubernetesObject, resource: string): boolean {
  const [plural = '', ...group] = resource.split('.');
  const ofObject = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
  const singular = kind.toLowerCase();
  return group.join('.') === ofObject && [`${singular}s`, `${singular}es`, singular.replace(/y$/, 'ies')].includes(plural);
}
