import {kubectlCommand} from '../../../ground/command-line.ts';
import {isKnown} from '../../../ground/fact.ts';
import {count, few, groupsOf} from '../../../ground/text.ts';
import {
  type AdmissionTrial,
  NO_NAMESPACE,
  type PreflightContext,
  type RejectedTrial,
} from '../facts/context.ts';
import {admissionRemedies} from './admission-remedies.ts';
import {check} from './check.ts';
import {type CheckResult, ifKnown, notChecked, pass} from './check-result.ts';

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
  return notChecked(
    message,
    isNew ? `Create the namespace, and run preflight again: ${create}` : undefined,
  );
}

const whatOf = (trials: readonly AdmissionTrial[]): string =>
  few([...new Set(trials.map(({what}) => what))], 3);
