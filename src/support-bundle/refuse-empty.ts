import {type ErrorCode, ExitCode, ExpectedError} from '../errors.ts';
import type {ApiErrorKind} from '../ports/log-stream.ts';
import type {BundleWish, Prepared} from './prepare.ts';
import {isOfReleases} from './scope.ts';

const CODES: Readonly<Partial<Record<ApiErrorKind | 'no-room', ErrorCode>>> = {
  'not-logged-in': 'NOT_LOGGED_IN',
  forbidden: 'FORBIDDEN',
  over: 'TIMED_OUT',
};
const ADVICE: Readonly<Partial<Record<ErrorCode, (namespace: string) => readonly string[]>>> = {
  NOT_LOGGED_IN: () => ['Log in to the cluster again, then repeat the command'],
  FORBIDDEN: (namespace) => [
    `The role view of Kubernetes is enough: kubectl create rolebinding collect-logs --clusterrole=view --namespace=${namespace} --user=<YOU>`,
    'kubectl auth whoami says who you are; for a service account: --serviceaccount=<NAMESPACE>:<NAME> instead of --user',
  ],
  TIMED_OUT: () => ['Give it more time with --timeout, and look whether the API server answers: kubectl get --raw /readyz?verbose'],
};

/** A bundle without anything in it would only look like one. @throws ExpectedError */
export function refuseEmpty(
  {scope, releases, gaps, present}: Prepared,
  {place: {namespace}, release}: Pick<BundleWish, 'place' | 'release'>,
): void {
  if (releases.length > 0 || scope.objects.some(isOfReleases)) return;
  const serious = gaps.find(({isMinor}) => !isMinor);
  if (serious === undefined) {
    const others = present?.releases ?? [];
    const what = release === undefined ? 'nothing of a Scalr agent' : `no release ${release} of a Scalr agent`;
    throw new ExpectedError(`There is ${what} in namespace ${namespace}.`, {
      code: 'RELEASE_NOT_FOUND',
      exit: ExitCode.failed,
      suggestions:
        others.length > 0
          ? [`Releases that are there: ${others.join(', ')}`, 'Leave out --release for all of them']
          : ['Name the namespace with --namespace', 'List releases: helm list --all-namespaces'],
    });
  }
  const {trouble, what} = serious;
  const code = CODES[trouble.kind] ?? 'CLUSTER_UNREACHABLE';
  throw new ExpectedError(`Nothing of namespace ${namespace} could be read, and no bundle was written. ${what}: ${trouble.message}`, {
    code,
    exit: code === 'TIMED_OUT' ? ExitCode.timedOut : ExitCode.failed,
    suggestions: ADVICE[code]?.(namespace) ?? ['Try: kubectl get --raw /readyz?verbose'],
  });
}
