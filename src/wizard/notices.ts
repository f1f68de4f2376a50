import {checksWith} from '../checks/preflight/checks/check.ts';
import {unverified} from '../checks/preflight/run-preflight.ts';
import type {ExpectedError} from '../ground/errors.ts';
import {type Finding, findingSentence, warningOf} from '../ground/finding.ts';
import {set} from '../settings/chart-values.ts';
import {planWarnings} from '../ui/review.ts';
import {FIXES} from './fixes.ts';
import {withoutFlags} from './possible-answers.ts';
import type {Reviewed} from './prepare-review.ts';

/** A problem of the review in the words of the questions, and the question whose answer removes it. */
export interface Notice extends Finding {
  /** ID of the question. */
  fix?: string | undefined;
}

/** Errors, then warnings, about the settings, the plan and the cluster. A check repeats what is already known from the settings. */
export function noticesOf({generated, prepared, host, problem}: Reviewed): Notice[] {
  const checks = prepared?.checks ?? [];
  const warnings = [
    ...unverified(generated?.warnings ?? [], checks),
    ...(host?.warnings ?? []),
    ...(prepared === undefined ? [] : planWarnings(prepared.plan)),
    ...(host?.plan?.warnings ?? []).map((message) => warningOf('DOCKER', message)),
  ];
  const all = [
    ...(problem === undefined ? [] : [ofError(problem)]),
    ...checksWith(checks, 'error').map((each) => ofFinding(each)),
    ...warnings.map((each) => ofFinding(each, each.subject.setting)),
    ...checksWith(checks, 'warning').map((each) => ofFinding(each)),
  ];
  return all.filter(
    ({message}, index) => all.findIndex((each) => each.message === message) === index,
  );
}

function ofFinding(finding: Finding, setting?: string): Notice {
  const {code, verdict, remedies} = finding;
  const fix = FIXES[code] ?? changedBy(finding) ?? setting;
  const message = withoutFlags(findingSentence(finding));
  return {
    code,
    verdict,
    subject: {},
    message: verdict === 'warning' && fix !== undefined ? firstSentence(message) : message,
    remedies: remedies.map(({text}) => ({text: inWords(text)})),
    fix,
  };
}

/** The fix of a warning tells the others. */
const firstSentence = (message: string): string => /^.+?\.(?= |$)/.exec(message)?.[0] ?? message;

const ofError = (error: ExpectedError): Notice => {
  const named = error.problems.flatMap(({subject}) => subject.setting ?? [])[0];
  return {...ofFinding(error), fix: named ?? FIXES[error.code]};
};

/** Without --set, which is no question. */
const changedBy = ({remedies}: Pick<Finding, 'remedies'>): string | undefined =>
  remedies.find(({setting}) => setting !== undefined && setting !== set.id)?.setting;

/** A command stays as it is, so that it can be copied. */
const inWords = (text: string): string =>
  text
    .split('; ')
    .map((part) => (COMMAND.test(part) ? part : withoutFlags(part)))
    .join('; ');

const COMMAND = /(?:^|[ `])(?:kubectl|helm|oc|scalr-agent) /;
