import {REQUEST_MS, unknownBy} from '../cluster/facts/answers.ts';
import {type Fact, known, unknown} from '../cluster/facts/fact.ts';
import type {KubernetesClient} from '../kubernetes/client.ts';
import {type ResourceAttributes, reviewAccess} from '../kubernetes/queries.ts';
import {attributesOf} from './checks/permissions.ts';
import type {NeededPermission as Need, Permission} from './preflight-context.ts';

/** Asks the API server itself, whatever decides there: lists of rules (`kubectl auth can-i --list`) leave out what webhooks allow. */
export async function permissionsOf(
  needs: readonly Need[],
  kubernetes: Pick<KubernetesClient, 'post'>,
  over: AbortSignal,
): Promise<Fact<readonly Permission[]>> {
  const asked = new Map(needs.flatMap(questionsOf).map((each) => [keyOf(each), each]));
  const answers = new Map(
    await Promise.all(
      [...asked].map(async ([key, attributes]) => [key, await reviewAccess(kubernetes, attributes, {over, idleMs: REQUEST_MS})] as const),
    ),
  );
  for (const {trouble, isAllowed} of answers.values()) {
    if (trouble) return unknownBy(trouble);
    if (isAllowed === undefined) return unknown('failed', 'the API server did not answer every access review');
  }
  const isAllowed = (question: ResourceAttributes): boolean => answers.get(keyOf(question))?.isAllowed === true;
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

/** Any of them is enough. */
function questionsOf({verb, resource, namespace, name, orElse}: Need): ResourceAttributes[] {
  const scope = {...(namespace === undefined ? {} : {namespace}), ...(name === undefined ? {} : {name})};
  const own = {verb, ...attributesOf(resource), ...scope};
  if (orElse === undefined) return [own];
  const {verb: other, resource: on, namespace: where} = orElse;
  return [own, {verb: other, ...attributesOf(on), ...(where === undefined ? {} : {namespace: where})}];
}

const keyOf = ({verb, group, resource, subresource, namespace, name}: ResourceAttributes): string =>
  JSON.stringify([verb, group, resource, subresource, namespace, name]);
