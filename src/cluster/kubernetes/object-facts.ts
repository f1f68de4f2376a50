import type {ProcessResult} from '../../ground/command-line.ts';
import {
  type Fact,
  known,
  type ReadError,
  type Unknown,
  type UnknownReason,
  unknown,
} from '../../ground/fact.ts';
import {anonymousText, isAnonymousRefusal, userIn} from '../../ground/identity.ts';
import {jsonIn} from '../../ground/json.ts';
import {getAt, isMap, type Values} from '../../ground/tree.ts';
import {webPageIn, webPageText} from '../../ground/web-page.ts';
import {errorLine} from './api-error.ts';
import type {KubernetesObject} from './objects.ts';
import {getObject, listObjects, type ObjectOptions, type Reader} from './resources.ts';

const TIMED_OUT = /timeout|timed out|deadline exceeded|time allotted/i;

const REASONS: readonly [stderr: RegExp, reason: UnknownReason][] = [
  [/forbidden/i, 'forbidden'],
  [TIMED_OUT, 'timed-out'],
  [/NotFound|could not find the requested resource|doesn't have a resource type/, 'not-served'],
];

/** Why a call of helm or kubectl failed: the last line of stderr that is neither a warning nor a client log. */
export function failureOf({stderr, exitCode}: ProcessResult): Unknown {
  const line = stderr
    .split('\n')
    .map((each) => each.trim())
    .findLast((each) => each !== '' && !/^([EWIF]\d{4} |warning)/i.test(each));
  if (line === undefined) return unknown('failed', `exited with code ${exitCode}`);
  const access = accessProblem(line);
  if (access !== undefined) return access;
  const reason = REASONS.find(([pattern]) => pattern.test(line))?.[1] ?? 'failed';
  return unknown(reason, line.replace(/^error( from server \(\w+\))?:\s*/i, ''));
}

function reasonOf({kind, message}: ReadError): UnknownReason {
  if (kind === 'not-logged-in') return kind;
  if (kind === 'stalled' || kind === 'aborted') return 'timed-out';
  return kind !== 'web-page' && TIMED_OUT.test(message) ? 'timed-out' : 'failed';
}

/** Not what kubectl and helm make of it: a missing permission. */
function accessProblem(line: string): Unknown | undefined {
  const page = webPageIn(line);
  if (page !== undefined) return unknown('failed', webPageText(page));
  return isAnonymousRefusal(line)
    ? unknown('not-logged-in', anonymousText(userIn(line)))
    : undefined;
}

/** Why the API server did not answer a request. */
export function unknownBy(error: ReadError): Unknown {
  const {kind, message, steps} = error;
  if (kind === 'forbidden') return unknown('forbidden', message);
  if (kind === 'not-found') return unknown('not-served', message);
  const text = kind === 'server' ? message : errorLine(error);
  return {...unknown(reasonOf(error), text), ...(steps === undefined ? {} : {steps})};
}

/** The JSON output of a call, a mapping or a list. */
export function jsonOf<T extends object>(
  outcome: ProcessResult,
  source: string,
  isRight: (answer: unknown) => boolean,
): Fact<T> {
  if (outcome.exitCode !== 0) return failureOf(outcome);
  const answer = jsonIn(outcome.stdout);
  return isRight(answer)
    ? known(answer as T, source)
    : unknown('failed', `unexpected response from ${source}`);
}

export async function listFact<T extends KubernetesObject>(
  client: Reader,
  resource: string,
  options: ObjectOptions,
): Promise<Fact<readonly T[]>> {
  const {items, error} = await listObjects<T>(client, resource, options);
  return error ? unknownBy(error) : known(items.filter(isObject), resource);
}

/** A single object; undefined if not found. The source has the form `services/kube-dns`. */
export async function objectFact<T extends KubernetesObject>(
  client: Reader,
  resource: string,
  name: string,
  options: ObjectOptions,
): Promise<Fact<T | undefined>> {
  const {object, error} = await getObject<T>(client, resource, name, options);
  return error
    ? unknownBy(error)
    : known(isObject(object) ? object : undefined, `${resource}/${name}`);
}

const isObject = (each: unknown): boolean =>
  isMap(each as Values) && typeof getAt(each as Values, ['metadata', 'name']) === 'string';
