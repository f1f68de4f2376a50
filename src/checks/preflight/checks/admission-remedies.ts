import {within} from '../../../charts/releases/versions.ts';
import {kubectlCommand} from '../../../ground/command-line.ts';
import {changing, joined, type Remedy} from '../../../ground/finding.ts';
import {policyRemedies} from '../../../ground/policy-remedies.ts';
import {set} from '../../../settings/chart-values.ts';
import {chart} from '../../../settings/release.ts';
import {withValue} from '../../../settings/spelling.ts';
import type {PreflightContext, RejectedTrial} from '../facts/context.ts';
import {amountRemedies, isOfAmounts} from './admission-amounts.ts';
import {withoutHostPath} from './cluster.ts';

/** What makes the API server admit these objects, each once. */
export function admissionRemedies(
  rejected: readonly RejectedTrial[],
  context: PreflightContext,
): readonly Remedy[] {
  const byAmounts = rejected.filter(({rejection}) => isOfAmounts(rejection));
  const byPodSecurity = rejected.filter(({rejection}) => POD_SECURITY.test(rejection));
  const others = rejected.filter(
    (each) => !byAmounts.includes(each) && !byPodSecurity.includes(each),
  );
  const remedies = new Map(others.flatMap(remediesFor).map((each) => [each.text, each]));
  return [
    ...amountRemedies(byAmounts, context),
    ...podSecurityRemedies(byPodSecurity, context),
    ...remedies.values(),
  ];
}

function remediesFor({rejection, object}: RejectedTrial): Remedy[] {
  if (rejection.includes('exceeded quota: '))
    return [{text: 'Request less, or raise the ResourceQuota of the namespace'}];
  if (/ is invalid: /.test(rejection))
    return [{text: 'Correct the settings that the message lists'}];
  return policyRemedies(rejection, object.kind);
}

const POD_SECURITY = /violates PodSecurity "(\w+):[^"]*": (.*)/;

/** Settings that comply with the level of the namespace; its label is relaxed only if there are none. */
function podSecurityRemedies(
  rejected: readonly RejectedTrial[],
  context: PreflightContext,
): Remedy[] {
  const violations = rejected.map(({rejection}) => POD_SECURITY.exec(rejection)?.[2] ?? '');
  if (violations.length === 0) return [];
  const {target, name} = context;
  const {kubeTarget} = name;
  const level = violations.some((each) => OF_BASELINE.test(each)) ? 'privileged' : 'baseline';
  const label = `pod-security.kubernetes.io/enforce=${level}`;
  const allow = `Allow these pods: ${kubectlCommand(kubeTarget, 'label', 'namespace', kubeTarget.namespace, label, '--overwrite')}`;
  if (violations.every((each) => ONLY_HOST_PATH.test(each)))
    return [withoutHostPath(context), {text: allow}];
  const isRestricted = rejected.some(({rejection}) => rejection.includes('"restricted:'));
  const row = RESTRICTED.find(
    (each) => each.chart === target.chart && within(target.version, each.in),
  );
  if (isRestricted && row !== undefined)
    return [changing`Use settings that comply:\n${joined(row.options, ' ')}`];
  const other = changing`No settings of ${target.chart} ${target.version} are known to comply. Use ${withValue(chart, 'agent-local')} in this namespace`;
  return [...(isRestricted ? [other] : []), {text: allow}];
}

/** What the level baseline forbids too, in the words of the API server. */
const OF_BASELINE =
  /host namespaces|privileged \(|non-default capabilities|hostPath|hostPort|\/proc mount|sysctls|AppArmor|seLinuxOptions|hostProcess|Unconfined/;
const ONLY_HOST_PATH =
  /^(?:hostPath volumes \([^)]*|restricted volume types \([^)]*hostPath[^)]*)\)$/;

const CONTAINER = {
  allowPrivilegeEscalation: 'false',
  runAsNonRoot: 'true',
  'capabilities.drop': '["ALL"]',
};
const containerOptions = (path: string): Remedy[] =>
  Object.entries(CONTAINER).map(
    ([key, value]) => changing`${withValue(set, `'${path}.${key}=${value}'`)}`,
  );

/** What makes the pods of a chart comply with the level restricted; test/commands asks an API server. */
const RESTRICTED = [
  {
    chart: 'agent-local',
    in: '*',
    options: [
      changing`${withValue(set, 'securityContext.allowPrivilegeEscalation=false')}`,
      changing`${withValue(set, 'podSecurityContext.seccompProfile.type=RuntimeDefault')}`,
    ],
  },
  {
    chart: 'agent-job',
    in: '>=0.5.64',
    options: [
      ...containerOptions('agent.controller.securityContext'),
      ...containerOptions('task.worker.securityContext'),
    ],
  },
] as const;
