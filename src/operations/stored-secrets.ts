import {requireAnswer} from '../cluster/kubernetes/api-error.ts';
import type {SecretObject} from '../cluster/kubernetes/objects.ts';
import {getObject, REQUIRED_MS, type Reader} from '../cluster/kubernetes/resources.ts';
import {kubectlCommand, type ReleaseName} from '../ground/command-line.ts';
import {failed} from '../ground/errors.ts';
import {hasContent} from './install-secrets.ts';
import type {Plan} from './step.ts';

/** Reads the Secrets that the plan has written again: another program may have changed them back. @throws ExpectedError */
export async function requireStored(
  {steps}: Plan,
  {kubeTarget}: ReleaseName,
  kubernetes: Reader,
): Promise<void> {
  const {namespace} = kubeTarget;
  for (const {name, data} of steps.flatMap(({stores}) => stores ?? [])) {
    const signal = AbortSignal.timeout(REQUIRED_MS);
    const options = {signal, idleMs: REQUIRED_MS, namespace};
    const read = await getObject<SecretObject>(kubernetes, 'secrets', name, options);
    const {object} = requireAnswer(read, kubeTarget);
    const lost = Object.entries(data)
      .filter(([key, content]) => !hasContent(object, key, content))
      .map(([key]) => key);
    if (lost.length > 0) throw changedBack(name, lost, kubeTarget);
  }
}

const changedBack = (
  name: string,
  keys: readonly string[],
  kubeTarget: ReleaseName['kubeTarget'],
) =>
  failed(
    'OBJECT_NOT_OWNED',
    `Secret ${name} does not contain what this command has written: ${keys.join(', ')}.`,
    [
      `Another program has changed the Secret. Find out which: ${kubectlCommand(kubeTarget, 'get', 'secret', name, '--namespace', kubeTarget.namespace, '--show-managed-fields', '--output', 'jsonpath={.metadata.managedFields[*].manager}')}`,
      'Set the new content in that program, or use another Secret',
    ],
  );
