import {apiFailure} from '../../cluster/kubernetes/api-error.ts';
import {kubectlCommand, listCommand} from '../../ground/command-line.ts';
import {type ExpectedError, type FailureCode, failed} from '../../ground/errors.ts';
import type {ReadErrorKind} from '../../ground/fact.ts';
import {statusesOf} from './collect/log-items.ts';
import type {BundleOptions, PreparedBundle} from './collect/prepare.ts';
import {hasRunId, nameContainsRun} from './collect/scope.ts';

/** What read errors mean for the whole bundle; others mean that the cluster is unreachable. */
const FAILURES: Readonly<
  Partial<Record<ReadErrorKind, readonly [code: FailureCode, ...advice: string[]]>>
> = {
  forbidden: ['FORBIDDEN'],
  aborted: ['TIMED_OUT', 'Wait longer with --timeout'],
};

/** Errors that are not about the namespace. */
const ABOUT_ACCESS: readonly ReadErrorKind[] = ['unreachable', 'not-logged-in', 'web-page'];

/** An empty bundle would be misleading. `access` says how to grant read access. */
export function emptyError(
  {gaps, present}: PreparedBundle,
  {kubeTarget, release}: Pick<BundleOptions, 'kubeTarget' | 'release'>,
  access?: string,
): ExpectedError {
  const {namespace} = kubeTarget;
  const serious = gaps.find(({isMinor, isOfSecrets}) => !isMinor && !isOfSecrets);
  if (serious === undefined) {
    const others = present?.releases ?? [];
    const what = release === undefined ? 'Scalr agent' : `Scalr agent release ${release}`;
    return failed(
      'RELEASE_NOT_FOUND',
      `No ${what} found in namespace ${namespace}.`,
      others.length > 0
        ? [`Existing releases: ${others.join(', ')}`, 'Omit --release to collect all releases']
        : ['Set the namespace with --namespace', `List agents: ${listCommand(kubeTarget)}`],
    );
  }
  const {error, what} = serious;
  const [code, ...advice] = FAILURES[error.kind] ?? ['CLUSTER_UNREACHABLE'];
  if (ABOUT_ACCESS.includes(error.kind)) {
    const failure = apiFailure(error, kubeTarget);
    return failure.with(`${failure.message} No bundle was written.`, failure.suggestions);
  }
  return failed(
    code,
    `Cannot read namespace ${namespace}. No bundle was written. ${what}: ${error.message}`,
    [
      ...advice,
      ...(code === 'FORBIDDEN'
        ? []
        : [
            `Check the API server: ${kubectlCommand(kubeTarget, 'get', '--raw', '/readyz?verbose')}`,
          ]),
      ...(access === undefined ? [] : [access]),
    ],
  );
}

/** Rejects unknown runs and containers, because a bundle without them would look complete. @throws ExpectedError */
export function requireExisting(prepared: PreparedBundle, options: Selection): void {
  // If pods could not be listed, unknown names are accepted.
  if (prepared.gaps.some(({what}) => what === 'Pod objects')) return;
  requireRun(prepared, options);
  requireContainer(prepared, options);
}

type Selection = Pick<BundleOptions, 'run' | 'container' | 'kubeTarget'>;

function requireRun({scope, present}: PreparedBundle, {run, kubeTarget}: Selection): void {
  if (run === undefined) return;
  // Its events exist for an hour, and its Job may still exist.
  const isThere =
    scope.pods.some((pod) => hasRunId(pod, run)) ||
    scope.objects.some(({metadata}) => nameContainsRun(metadata.name, run));
  if (isThere) return;
  const runs = present?.runs ?? [];
  throw failed('INVALID_SETTING', `Run ${run} not found in namespace ${kubeTarget.namespace}.`, [
    runs.length > 0
      ? `Existing runs: ${runs.join(', ')}`
      : 'No runs found: the pods of a run are deleted one minute after it ends',
    `Follow the run from its start: --watch --run ${run}`,
  ]);
}

function requireContainer(
  {scope}: PreparedBundle,
  {container, kubeTarget: {namespace}}: Selection,
): void {
  // Includes containers that have not started.
  const containers = scope.pods.flatMap((pod) => [
    ...statusesOf(pod),
    ...(pod.spec?.initContainers ?? []),
    ...(pod.spec?.containers ?? []),
  ]);
  const known = [...new Set(containers.map(({name}) => name))].toSorted();
  if (container === undefined || known.length === 0 || known.includes(container)) return;
  throw failed('INVALID_SETTING', `Container ${container} not found in namespace ${namespace}.`, [
    `Existing containers: ${known.join(', ')}`,
  ]);
}
