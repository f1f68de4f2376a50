import type {DesiredRelease} from '../../cluster/release/desired-release.ts';
import {failed} from '../../ground/errors.ts';
import {headline, remedyTexts, type SettingFinding} from '../../ground/finding.ts';
import type {GeneratedValues} from '../../values/generate.ts';
import {accountChecks} from './checks/account.ts';
import {type Check, type CheckReport, checksWith, runChecks} from './checks/check.ts';
import {clusterChecks, toolChecks} from './checks/cluster.ts';
import {namespaceChecks} from './checks/namespace.ts';
import {networkChecks} from './checks/network.ts';
import {nodeChecks} from './checks/nodes.ts';
import {permissionChecks} from './checks/permissions.ts';
import {releaseChecks} from './checks/release.ts';
import {secretChecks} from './checks/secrets.ts';
import {storageChecks} from './checks/storage.ts';
import {mirrorChecks, mirrorProbeChecks} from './probe/mirror-checks.ts';
import {probeChecks} from './probe/probe-checks.ts';
import {type AlreadyRead, type ReadingDeps, readPreflightContext} from './read-context.ts';

/** Every check, in the order in which they are printed. */
export const CHECKS: readonly Check[] = [
  ...toolChecks,
  ...clusterChecks,
  ...permissionChecks,
  ...namespaceChecks,
  ...releaseChecks,
  ...secretChecks,
  ...storageChecks,
  ...networkChecks,
  ...mirrorChecks,
  ...nodeChecks,
  ...accountChecks,
  ...probeChecks,
  ...mirrorProbeChecks,
];

const MAX_TIMEOUT_MS = 30_000;

type CheckDeps = Omit<ReadingDeps, 'signal'> & {timeoutMs: number};

/** Runs every check before an install begins. */
export async function readChecks(
  generated: GeneratedValues,
  desired: DesiredRelease,
  {timeoutMs, ...deps}: CheckDeps,
  already: AlreadyRead = {},
): Promise<CheckReport[]> {
  const signal = AbortSignal.timeout(Math.min(timeoutMs, MAX_TIMEOUT_MS));
  const context = await readPreflightContext(generated, desired, {...deps, signal}, already);
  return runChecks(CHECKS, context);
}

/** The same; a failed check stops the install. @throws ExpectedError */
export async function runPreflight(
  generated: GeneratedValues,
  desired: DesiredRelease,
  deps: CheckDeps,
  already: AlreadyRead = {},
): Promise<CheckReport[]> {
  const checks = await readChecks(generated, desired, deps, already);
  refuseFailed(checks);
  return checks;
}

/** @throws ExpectedError when a check failed */
export function refuseFailed(checks: readonly CheckReport[]): void {
  const found = checksWith(checks, 'error');
  if (found.length === 0) return;
  const lines = found.map((each) => `× ${headline(each)}`);
  throw failed(
    'PREFLIGHT_FAILED',
    ['Preflight checks failed. Nothing was changed.', ...lines].join('\n'),
    [
      ...remedyTexts(found),
      'Show all checks: run scalr-agent preflight with the same settings',
      'Skip the checks: --skip-preflight',
    ],
  );
}

/** Checks that find out what a warning about the settings cannot know, by the code of the warning. */
export const VERIFIED_BY: Readonly<Record<string, readonly Check['id'][]>> = {
  NEEDS_KUBERNETES_1_35: ['server-version', 'node-versions'],
  PVC_MUST_BE_SHARED: ['pvc-access-mode'],
  POLICY_ENFORCEMENT: ['metadata-block'],
  POLICY_AGAINST_CLOUD_DNS: ['metadata-dns'],
  OPENSHIFT_SCC: ['openshift-scc'],
};

/** True for a warning that a check can answer. */
export const isVerifiable = ({code}: SettingFinding): boolean => code in VERIFIED_BY;

/** The warnings about the settings that these checks have not answered: one that could not run answers nothing. */
export const unverified = (
  warnings: readonly SettingFinding[],
  checks: readonly CheckReport[],
): SettingFinding[] =>
  warnings.filter(({code}) => {
    const answers = VERIFIED_BY[code]?.map(
      (id) => checks.find(({code: found}) => found === id)?.verdict ?? 'unknown',
    );
    return answers === undefined || answers.includes('unknown');
  });
