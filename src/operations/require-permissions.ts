import type {ReleaseName} from '../ground/command-line.ts';
import {kubectlCommand} from '../ground/command-line.ts';
import {ExitCode, ExpectedError} from '../ground/errors.ts';
import {isKnown} from '../ground/fact.ts';
import type {ClusterAccess} from '../kubernetes/cluster-access.ts';
import {reviewPermissions} from '../kubernetes/review-permissions.ts';
import type {Step} from './step.ts';
import {permissionsOf, permissionText} from './step-permissions.ts';

const TIMEOUT_MS = 30_000;

/** Reviews the permissions of all steps, so that no plan stops halfway. @throws ExpectedError with the missing permissions of each step */
export async function requirePermissions(
  steps: readonly Step[],
  name: ReleaseName,
  {kubernetes}: Pick<ClusterAccess, 'kubernetes'>,
): Promise<void> {
  const needs = steps.flatMap((step) => permissionsOf(step, name).map((each) => ({...each, title: step.title})));
  const reviewed = await reviewPermissions(needs, kubernetes, AbortSignal.timeout(TIMEOUT_MS));
  // Without an answer, the step itself shows whether it is permitted.
  if (!isKnown(reviewed)) return;
  const missing = reviewed.value.filter(({isAllowed}) => !isAllowed);
  if (missing.length === 0) return;
  const lines = [...new Set(missing.map(({title}) => title))].map(
    (title) => `× ${title}: ${permissionText(missing.filter((each) => each.title === title))}`,
  );
  throw new ExpectedError(['Your Kubernetes user lacks permissions for these steps. Nothing was changed.', ...lines].join('\n'), {
    code: 'FORBIDDEN',
    exit: ExitCode.failed,
    suggestions: [
      'Request these permissions, then run the same command again',
      `List your permissions: ${kubectlCommand(name.place, 'auth', 'can-i', '--list', '--namespace', name.place.namespace)}`,
    ],
  });
}
