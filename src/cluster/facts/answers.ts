import type {KubernetesVersions} from '../../charts/kubernetes-versions.ts';
import type {ChartRequirements} from '../../charts/recommend.ts';
import {getAt, isMap, type Values} from '../../charts/tree.ts';
import {isVersion} from '../../charts/version-status.ts';
import {errorLine} from '../../kubernetes/api-error.ts';
import {type Found, getObject, type Listing, listObjects, type Reader} from '../../kubernetes/queries.ts';
import type {ApiError} from '../../ports/log-stream.ts';
import type {ProcessResult} from '../../ports/processes.ts';
import {jsonIn} from '../../tool-errors.ts';
import type {KubernetesObject} from '../objects.ts';
import type {ClusterFacts} from './cluster-facts.ts';
import {type Fact, isKnown, known, knownValue, type Unknown, type UnknownReason, unknown} from './fact.ts';
import type {Versions} from './versions.ts';

/** Milliseconds for a single request of a reading. */
export const REQUEST_MS = 5000;

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
  const reason = REASONS.find(([pattern]) => pattern.test(line))?.[1] ?? 'failed';
  return unknown(reason, line.replace(/^error( from server \(\w+\))?:\s*/i, ''));
}

/** Why the API server did not answer a request. */
export function unknownBy(error: ApiError): Unknown {
  const {kind, message} = error;
  if (kind === 'forbidden') return unknown('forbidden', message);
  if (kind === 'not-found') return unknown('not-served', message);
  const text = kind === 'server' ? message : errorLine(error);
  return unknown(TIMED_OUT.test(text) ? 'timed-out' : 'failed', text);
}

/** The JSON output of a call, a mapping or a list. */
export function jsonOf<T extends object>(outcome: ProcessResult, source: string, isRight: (answer: unknown) => boolean): Fact<T> {
  if (outcome.exitCode !== 0) return failureOf(outcome);
  const answer = jsonIn(outcome.stdout);
  return isRight(answer) ? known(answer as T, source) : unknown('failed', `unexpected response from ${source}`);
}

type Options = Parameters<typeof listObjects>[2];

/** The objects of a kind such as `daemonsets.apps`. */
export async function listFact(client: Reader, resource: string, options: Options): Promise<Fact<readonly KubernetesObject[]>> {
  const {items, trouble}: Listing = await listObjects(client, resource, options);
  return trouble ? unknownBy(trouble) : known(items.filter(isObject), resource);
}

/** A single object; undefined if not found. The source has the form `services/kube-dns`. */
export async function objectFact(
  client: Reader,
  resource: string,
  name: string,
  options: Options,
): Promise<Fact<KubernetesObject | undefined>> {
  const {object, trouble}: Found<unknown> = await getObject(client, resource, name, options);
  return trouble ? unknownBy(trouble) : known(isObject(object) ? object : undefined, `${resource}/${name}`);
}

const isObject = (each: unknown): each is Values & KubernetesObject =>
  isMap(each as Values) && typeof getAt(each as Values, ['metadata', 'name']) === 'string';

/** The facts that the chart recommendation uses; unknown ones are left out. */
export function recommendFactsOf({versions, forbidsHostPath}: ClusterFacts): ChartRequirements {
  const forbids = knownValue(forbidsHostPath);
  return {
    kubernetes: kubernetesVersions(versions),
    ...(forbids === undefined ? {} : {forbidsHostPath: forbids}),
  };
}

function kubernetesVersions({server, kubelets}: Versions): KubernetesVersions {
  const controlPlane = isKnown(server) ? [{machines: 'control plane', version: server.value}] : [];
  const nodes = Object.entries(knownValue(kubelets) ?? {}).map(([version, count]) => ({
    machines: `${count} ${count === 1 ? 'node' : 'nodes'}`,
    version,
  }));
  const found = [...controlPlane, ...nodes].filter(({version}) => isVersion(version));
  return {found, isComplete: controlPlane.length > 0 && nodes.length > 0 && found.length === controlPlane.length + nodes.length};
}
