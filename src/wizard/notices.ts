import {checksWith} from '../checks/preflight/checks/check.ts';
import {unverified} from '../checks/preflight/run-preflight.ts';
import type {ExpectedError} from '../ground/errors.ts';
import {
  type Finding,
  findingSentence,
  type ObjectFinding,
  remedyText,
  warningOf,
} from '../ground/finding.ts';
import {url} from '../settings/agent.ts';
import {set} from '../settings/chart-values.ts';
import {settingLabel} from '../settings/define.ts';
import {planWarnings} from '../ui/review.ts';
import {FIXES, WITHOUT_FIX} from './fixes.ts';
import type {Reviewed} from './prepare-review.ts';
import {settingOf, spellRemedy} from './spell-remedy.ts';

/** A problem of the review in the words of the questions, and the question whose answer removes it. */
export interface Notice extends Finding {
  /** ID of the question. */
  fix?: string | undefined;
  /** The answer that a remedy recommends. */
  recommended?: string | undefined;
  /** Enter must not pass it: why the installed release is not ready, or an agent that cannot register. */
  isUrgent?: boolean;
  /** ID of the setting whose row is marked. */
  marks?: string | undefined;
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
  const question = FIXES[code] ?? changedBy(finding) ?? setting;
  const fix = WITHOUT_FIX.has(code) ? undefined : question;
  const message = findingSentence(finding);
  return {
    code,
    verdict,
    subject: {},
    message: verdict === 'warning' && question !== undefined ? firstSentence(message) : message,
    // The Fix row of the menu names the setting.
    remedies: code === 'MISSING_SETTING' && fix !== undefined ? [] : remedies.map(spellRemedy),
    fix,
    recommended: recommendedFor(question, finding),
    marks: question,
    isUrgent: question === url.id,
  };
}

/** Why the installed release is not ready, and the question that its remedy names. */
export function noticeOfCause(cause: ObjectFinding): Notice {
  const {code, remedies} = cause;
  const flags = [...remedyText(cause).matchAll(/--([a-z-]+)/g)].map(([, id]) => id);
  const fix = FIXES[code] ?? flags.find((id) => settingOf(id) !== undefined);
  return {
    code,
    verdict: 'warning',
    subject: {},
    message: `now: ${findingSentence(cause)}`,
    isUrgent: true,
    // The Fix row of the menu names the setting.
    remedies: fix === undefined ? remedies : [],
    fix,
    marks: fix,
  };
}

const recommendedFor = (
  question: string | undefined,
  {remedies}: Pick<Finding, 'remedies'>,
): string | undefined =>
  remedies
    .flatMap(({parts = []}) => parts)
    .filter((part) => typeof part !== 'string')
    .find(({setting}) => setting === question)?.value;

/** `explain` prints the rest. */
const firstSentence = (message: string): string => /^.+?\.(?= |$)/.exec(message)?.[0] ?? message;

function ofError(error: ExpectedError): Notice {
  const [problem] = error.problems;
  const named = problem?.subject.setting;
  if (error.code !== 'INVALID_SETTING' || problem === undefined || named === undefined)
    return {...ofFinding(error), fix: named ?? changedBy(error) ?? FIXES[error.code]};
  const notice = ofFinding({...error, message: problemsText(error)});
  // What is missing is named by the remedy.
  return {...notice, fix: changedBy(problem) ?? named};
}

/** The invalid settings, by the names that the questions have. */
const problemsText = ({problems}: ExpectedError): string =>
  problems
    .map(({subject, message}) => {
      const setting = settingOf(subject.setting);
      return setting === undefined ? message : `${settingLabel(setting)}: ${message}`;
    })
    .join('\n');

/** Without --set and flags of the cluster, which are no questions. */
const changedBy = ({remedies}: Pick<Finding, 'remedies'>): string | undefined =>
  remedies.find(({setting}) => setting !== set.id && settingOf(setting) !== undefined)?.setting;
