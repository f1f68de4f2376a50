import {type Fact, known, unknown} from '../ground/fact.ts';
import type {KubernetesClient} from './client.ts';
import {REQUEST_MS, unknownBy} from './fact-readers.ts';
import {attributesOf, type Permission} from './permissions.ts';
import {type ResourceAttributes, reviewAccess} from './resources.ts';

/** Sends an access review per permission: rule lists (`kubectl auth can-i --list`) omit permissions from webhooks. */
export async function reviewPermissions<T extends Permission>(
  needs: readonly T[],
  kubernetes: Pick<KubernetesClient, 'post'>,
  signal: AbortSignal,
): Promise<Fact<readonly (T & {isAllowed: boolean})[]>> {
  const attributesByKey = new Map(needs.flatMap(questionsOf).map((each) => [keyOf(each), each]));
  const answers = new Map(
    await Promise.all(
      [...attributesByKey].map(
        async ([key, attributes]) => [key, await reviewAccess(kubernetes, attributes, {signal, idleMs: REQUEST_MS})] as const,
      ),
    ),
  );
  for (const {trouble, isAllowed} of answers.values()) {
    if (trouble) return unknownBy(trouble);
    if (isAllowed === undefined) return unknown('failed', 'the API server did not answer every access review');
  }
  const isAllowed = (question: ResourceAttributes): boolean => answers.get(keyOf(question))?.isAllowed === true;
  return known(
    needs.map((need) => ({...need, isAllowed: questionsOf(need).some(isAllowed)})),
    'SelfSubjectAccessReview',
  );
}

/** Any of them is enough. */
function questionsOf({verb, resource, namespace, name, orElse}: Permission): ResourceAttributes[] {
  const scope = {...(namespace === undefined ? {} : {namespace}), ...(name === undefined ? {} : {name})};
  const own = {verb, ...attributesOf(resource), ...scope};
  if (orElse === undefined) return [own];
  const {verb: other, resource: on, namespace: where} = orElse;
  return [own, {verb: other, ...attributesOf(on), ...(where === undefined ? {} : {namespace: where})}];
}

const keyOf = ({verb, group, resource, subresource, namespace, name}: ResourceAttributes): string =>
  JSON.stringify([verb, group, resource, subresource, namespace, name]);
