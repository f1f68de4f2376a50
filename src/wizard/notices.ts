import {type CheckFinding, checksWith} from '../checks/preflight/checks/check.ts';
import {unverified} from '../checks/preflight/run-preflight.ts';
import type {ExpectedError} from '../ground/errors.ts';
import {type Finding, findingSentence, type SettingFinding, warningOf} from '../ground/finding.ts';
import {set} from '../settings/chart-values.ts';
import {planWarnings} from '../ui/review.ts';
import {FIXES} from './fixes.ts';
import {withoutFlags} from './possible-answers.ts';
import type {Reviewed} from './prepare-review.ts';

/** A problem of the review, and the question whose answer removes it. */
export interface Notice {
  level: 'error' | 'warning';
  code: string;
  text: string;
  remedies: readonly string[];
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
    ...checksWith(checks, 'error').map((each) => ofCheck(each, 'error')),
    ...warnings.map(ofWarning),
    ...checksWith(checks, 'warning').map((each) => ofCheck(each, 'warning')),
  ];
  return all.filter(({text}, index) => all.findIndex((each) => each.text === text) === index);
}

const ofFinding = (
  finding: Pick<Finding, 'code' | 'remedies'>,
  level: Notice['level'],
  {text, setting}: {text: string; setting?: string | undefined},
): Notice => ({
  level,
  code: finding.code,
  text: withoutFlags(text),
  remedies: finding.remedies.map((remedy) => inWords(remedy.text)),
  fix: FIXES[finding.code] ?? changedBy(finding) ?? setting,
});

const ofWarning = (warning: SettingFinding): Notice =>
  ofFinding(warning, 'warning', {text: warning.message, setting: warning.subject.setting});

const ofCheck = (check: CheckFinding, level: Notice['level']): Notice =>
  ofFinding(check, level, {text: findingSentence(check)});

/** Without --set, which is no question. */
const changedBy = ({remedies}: Pick<Finding, 'remedies'>): string | undefined =>
  remedies.find(({setting}) => setting !== undefined && setting !== set.id)?.setting;

function ofError({code, message, suggestions, problems}: ExpectedError): Notice {
  return {
    level: 'error',
    code,
    text: withoutFlags(message),
    remedies: suggestions.map(inWords),
    fix: problems.flatMap(({subject}) => subject.setting ?? [])[0] ?? FIXES[code],
  };
}

/** A command stays as it is, so that it can be copied. */
const inWords = (text: string): string =>
  text
    .split('; ')
    .map((part) => (COMMAND.test(part) ? part : withoutFlags(part)))
    .join('; ');

const COMMAND = /(?:^|[ `])(?:kubectl|helm|oc|scalr-agent) /;
