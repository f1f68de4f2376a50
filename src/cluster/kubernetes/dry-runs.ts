import type {KubectlCall} from '../../ground/call.ts';
import type {ClusterTarget} from '../../ground/command-line.ts';
import {applyRequest, createObject, FIELD_MANAGER, objectInput} from './changes.ts';
import {JSON_OUTPUT, requestTimeout} from './kubectl.ts';
import type {KubernetesObject} from './objects.ts';

/** Calls of kubectl that the API server only tries. */

/** The same change. */
export function dryRunOf(call: KubectlCall): KubectlCall {
  const requests = call.requests?.map((each) => ({...each, path: `${each.path}&dryRun=All`}));
  const tried = {...call, isDryRun: true, ...(requests === undefined ? {} : {requests})};
  if (call.verb !== 'rollout restart') return tried;
  // `kubectl rollout restart` has no dry run, so its patch is tried.
  const patch = `--patch=${call.requests?.[0]?.body.reveal()}`;
  return {...tried, verb: 'patch', flags: ['--type=strategic', patch]};
}

/** Server dry run of a new object, under its own name or a temporary one. */
export const dryRunCreate = (kubeTarget: ClusterTarget, object: KubernetesObject): KubectlCall =>
  dryRunOf(createObject(kubeTarget, object));

/** Server dry run of deletions in the namespace of the target. Objects that do not exist are ignored. */
export const dryRunDelete = (
  kubeTarget: ClusterTarget,
  objects: readonly KubernetesObject[],
): KubectlCall => ({
  tool: 'kubectl',
  verb: 'delete',
  kubeTarget,
  isDryRun: true,
  flags: ['--ignore-not-found', '--wait=false'],
  ...requestTimeout(kubeTarget),
  ...objectInput(objects),
});

/** Server dry run. Objects are merged with existing ones, as helm does it; null removes a field. */
export function dryRunMerge(
  kubeTarget: ClusterTarget,
  objects: readonly KubernetesObject[],
): KubectlCall {
  // kubectl itself rejects null, for example as an annotation.
  const validation = JSON.stringify(objects).includes(':null') ? ['--validate=false'] : [];
  return {
    tool: 'kubectl',
    verb: 'apply',
    kubeTarget,
    isDryRun: true,
    flags: ['--field-manager', FIELD_MANAGER, ...validation],
    ...requestTimeout(kubeTarget),
    ...objectInput(objects),
  };
}

/** The same for objects that are too large or too secret for the last-applied annotation of a merge. `asHelm` reports conflicts as Helm would. */
export function dryRunApply(
  kubeTarget: ClusterTarget,
  objects: readonly KubernetesObject[],
  {asHelm = false, asJson = false} = {},
): KubectlCall {
  const manager = asHelm
    ? ['--field-manager', 'helm']
    : ['--force-conflicts', '--field-manager', FIELD_MANAGER];
  const query = asHelm ? {fieldManager: 'helm'} : {force: 'true'};
  const output = asJson ? [...JSON_OUTPUT, '--show-managed-fields=false'] : [];
  return {
    tool: 'kubectl',
    verb: 'apply',
    kubeTarget,
    isDryRun: true,
    flags: ['--server-side', ...manager, ...output],
    ...requestTimeout(kubeTarget),
    ...objectInput(objects),
    requests: objects.map((each) => applyRequest(each, kubeTarget, {...query, dryRun: 'All'})),
  };
}
