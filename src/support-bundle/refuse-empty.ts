import {type ErrorCode, ExitCode, ExpectedError} from '../errors.ts';
import type {TroubleKind} from '../ports/cluster-api.ts';
import type {Prepared} from './prepare.ts';
import {isOfReleases} from './scope.ts';

const CODES: Readonly<Partial<Record<TroubleKind | 'no-room', ErrorCode>>> = {
  'not-logged-in': 'NOT_LOGGED_IN',
  forbidden: 'FORBIDDEN',
  over: 'TIMED_OUT',
};
const ADVICE: Readonly<Partial<Record<ErrorCode, string>>> = {
  NOT_LOGGED_IN: 'Log in to the cluster again, then repeat the command',
  FORBIDDEN: 'The role view of Kubernetes is enough: kubectl create rolebinding --clusterrole=view',
  TIMED_OUT: 'Give it more time with --timeout, and look whether the API server answers: kubectl get --raw /readyz?verbose',
};

/** A bundle without anything in it would only look like one. @throws ExpectedError */
export function refuseEmpty({scope, releases, gaps}: Prepared, place: string): void {
  if (releases.length > 0 || scope.objects.some(isOfReleases)) return;
  const serious = gaps.find(({isMinor}) => !isMinor);
  if (serious === undefined) {
    throw new ExpectedError(`There is nothing of a Scalr agent in namespace ${place}.`, {
      code: 'RELEASE_NOT_FOUND',
      exit: ExitCode.failed,
      suggestions: ['Name the namespace with --namespace', 'List releases: helm list --all-namespaces'],
    });
  }
  const {trouble, what} = serious;
  const code = CODES[trouble.kind] ?? 'CLUSTER_UNREACHABLE';
  throw new ExpectedError(`Nothing of namespace ${place} could be read, and no bundle was written. ${what}: ${trouble.message}`, {
    code,
    exit: code === 'TIMED_OUT' ? ExitCode.timedOut : ExitCode.failed,
    suggestions: [ADVICE[code] ?? 'Try: kubectl get --raw /readyz?verbose'],
  });
}
