import {CONTROLLERS} from '../../../cluster/kubernetes/trial-objects.ts';
import {kubectlCommand} from '../../../ground/command-line.ts';
import {isKnown} from '../../../ground/fact.ts';
import {changing} from '../../../ground/finding.ts';
import {count, few, groupsOf} from '../../../ground/text.ts';
import {set} from '../../../settings/chart-values.ts';
import {podLabel} from '../../../settings/placement.ts';
import {withValue} from '../../../settings/spelling.ts';
import {
  type AdmissionTrial,
  NO_NAMESPACE,
  type PreflightContext,
  type RejectedTrial,
} from '../facts/context.ts';
import {RUN_POD} from '../facts/pod-groups.ts';
import {admissionRemedies} from './admission-remedies.ts';
import {check} from './check.ts';
import {type CheckResult, ifKnown, notChecked, pass, warn} from './check-result.ts';

export const admission = check('Namespace', 'admission', 'Admission control', {
  ref: 'https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/',
  run: (context) =>
    ifKnown(context.admission, 'ask the API server', (trials): CheckResult => {
      const rejected = trials.filter((each): each is RejectedTrial => isRejected(each, context));
      if (rejected.length > 0)
        return {
          verdict: 'error',
          message: rejectionText(rejected),
          remedies: admissionRemedies(rejected, context),
        };
      const untried = trials.filter((each): each is UntriedTrial => each.untried !== undefined);
      if (untried.length > 0) return untriedResult(untried, context);
      return pass(`The API server admits ${count(trials.length, 'object')}`);
    }),
});

type UntriedTrial = AdmissionTrial & {untried: string};

/** A service mesh adds sidecars that do not end, so the pod of a run does not end either. */
export const injectedSidecars = check('Namespace', 'injected-sidecars', 'Sidecars of runs', {
  ref: 'https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/',
  run: ({admission: asked, target}) =>
    ifKnown(asked, 'ask the API server', (trials): CheckResult => {
      const ofRuns = trials.filter(isOfRuns);
      const added = [...new Set(ofRuns.flatMap(({injected = []}) => injected))];
      if (added.length > 0)
        return warn(
          `Webhooks add ${added.join(', ')} to run pods. The pod of a finished run remains until they end too`,
          target.chart === 'agent-job' ? EXCLUDED : EXCLUDED_BY_LABEL,
        );
      const failed = ofRuns.find(({injected}) => injected === undefined);
      if (failed !== undefined) return notChecked(`${failed.what} was not admitted`);
      return pass(
        ofRuns.length > 0
          ? 'Webhooks add no containers to run pods'
          : `${target.chart} has no run pods`,
      );
    }),
});

const isOfRuns = ({what, owner}: AdmissionTrial): boolean =>
  what === RUN_POD || (owner !== undefined && !CONTROLLERS.has(owner.kind ?? ''));

const NATIVE = 'Or use native sidecars, which end with the run';
const EXCLUDED = changing`Exclude run pods, with Istio: ${withValue(set, "'task.podLabels.sidecar\\.istio\\.io/inject=false'")}. ${NATIVE}`;
const EXCLUDED_BY_LABEL = changing`Exclude run pods, with Istio: ${withValue(podLabel, 'sidecar.istio.io/inject=false')}. ${NATIVE}`;

/** The check of quotas counts all runs; the API server was asked about one. */
const isRejected = ({rejection}: AdmissionTrial, {live}: PreflightContext): boolean =>
  rejection !== undefined && !(isKnown(live.quotas) && rejection.includes('exceeded quota: '));

/** Each reason once. */
const rejectionText = (rejected: readonly RejectedTrial[]): string =>
  groupsOf(rejected, ({rejection}) => reasonIn(rejection))
    .map((same) => `${whatOf(same)}: ${reasonIn(same[0].rejection)}`)
    .join('; ');

/** On one line, and without the temporary name of a pod. */
const reasonIn = (rejection: string): string =>
  rejection.replace(/^[\w.]+ "[^"]*" is forbidden: /, '').replaceAll(/\s+/g, ' ');

function untriedResult(untried: readonly UntriedTrial[], {name}: PreflightContext): CheckResult {
  const {kubeTarget} = name;
  const isNew = untried.some((each) => each.untried === NO_NAMESPACE);
  const message = groupsOf(untried, (each) => each.untried)
    .map((same) => `${whatOf(same)} not tried: ${same[0].untried}`)
    .join('; ');
  const create = kubectlCommand(kubeTarget, 'create', 'namespace', kubeTarget.namespace);
  return notChecked(message, isNew ? `Create the namespace first: ${create}` : undefined);
}

const whatOf = (trials: readonly AdmissionTrial[]): string =>
  few([...new Set(trials.map(({what}) => what))], 3);
