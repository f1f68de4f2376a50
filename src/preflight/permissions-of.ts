import {failureOf} from '../cluster/facts/answers.ts';
import {type Fact, known, unknown} from '../cluster/facts/fact.ts';
import {REQUEST_SECONDS} from '../cluster/facts/read-cluster.ts';
import {reviewAccess} from '../ports/kubectl.ts';
import type {Place} from '../ports/place.ts';
import type {Outcome, Processes} from '../ports/processes.ts';
import {jsonIn} from '../ports/tool-output.ts';
import {attributesOf} from './checks/permissions.ts';
import type {NeededPermission as Need, Permission} from './preflight-context.ts';

/** One kubectl sends its reviews one after another; a far API server takes a while for each. */
const AT_A_TIME = 40;

/** Asks the API server itself, whatever decides there: lists of rules (`kubectl auth can-i --list`) leave out what webhooks allow. */
export async function permissionsOf(
  needs: readonly Need[],
  place: Place,
  processes: Pick<Processes, 'run'>,
): Promise<Fact<readonly Permission[]>> {
  const asked = [...new Map(needs.flatMap(questionsOf).map((each) => [keyOf(each), each])).values()];
  const parts = Array.from({length: Math.ceil(asked.length / AT_A_TIME)}, (_, at) => asked.slice(at * AT_A_TIME, (at + 1) * AT_A_TIME));
  const outcomes = await Promise.all(parts.map((part) => processes.run(reviewAccess(place, part.map(reviewOf), REQUEST_SECONDS))));
  const failed = outcomes.find(({exitCode}) => exitCode !== 0);
  if (failed) return failureOf(failed);
  const answers = new Map(outcomes.flatMap(answersIn));
  const isAllowed = (question: Attributes): boolean => answers.get(keyOf(question)) === true;
  if (asked.some((each) => !answers.has(keyOf(each)))) return unknown('failed', 'the API server did not answer every access review');
  return known(
    needs.map((need) => ({
      verb: need.verb,
      resource: need.resource,
      ...(need.namespace === undefined ? {} : {namespace: need.namespace}),
      isAllowed: questionsOf(need).some(isAllowed),
      isOptional: need.isOptional,
    })),
    'SelfSubjectAccessReview',
  );
}

interface Attributes {
  verb: string;
  group?: string;
  resource: string;
  subresource?: string;
  namespace?: string;
  name?: string;
}

/** Any of them is enough. */
function questionsOf({verb, resource, namespace, name, orElse}: Need): Attributes[] {
  const scope = {...(namespace === undefined ? {} : {namespace}), ...(name === undefined ? {} : {name})};
  const own = {verb, ...attributesOf(resource), ...scope};
  if (orElse === undefined) return [own];
  const {verb: other, resource: on, namespace: where} = orElse;
  return [own, {verb: other, ...attributesOf(on), ...(where === undefined ? {} : {namespace: where})}];
}

const reviewOf = (resourceAttributes: Attributes): object => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  spec: {resourceAttributes},
});

const keyOf = ({verb, group, resource, subresource, namespace, name}: Attributes): string =>
  JSON.stringify([verb, group, resource, subresource, namespace, name]);

interface Review {
  spec?: {resourceAttributes?: Attributes};
  status?: {allowed?: boolean};
}

/** kubectl prints every object it made as a document of its own. */
function answersIn({stdout}: Outcome): [key: string, isAllowed: boolean][] {
  return stdout
    .split(/(?<=^\})\r?\n(?=\{)/m)
    .filter((text) => text.trim() !== '')
    .flatMap((text) => {
      // What is none is as good as no answer.
      const {spec, status} = (jsonIn(text) ?? {}) as Review;
      return spec?.resourceAttributes ? [[keyOf(spec.resourceAttributes), status?.allowed === true]] : [];
    });
}
