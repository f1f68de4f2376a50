import {checksWith} from '../checks/preflight/checks/check.ts';
import {unverified} from '../checks/preflight/run-preflight.ts';
import type {ExpectedError} from '../ground/errors.ts';
import {
  type Finding,
  findingSentence,
  type Mention,
  type Remedy,
  warningOf,
} from '../ground/finding.ts';
import {catalog} from '../settings/catalog.ts';
import {set} from '../settings/chart-values.ts';
import {settingLabel, spell} from '../settings/define.ts';
import {spellAsQuestion} from '../settings/spelling.ts';
import {planWarnings} from '../ui/review.ts';
import {FIXES, WITHOUT_FIX} from './fixes.ts';
import type {Reviewed} from './prepare-review.ts';

/** A problem of the review in the words of the questions, and the question whose answer removes it. */
export interface Notice extends Finding {
  /** ID of the question. */
  fix?: string | undefined;
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
    remedies: remedies.map(asAsked),
    fix,
    marks: question,
  };
}

/** The question, or `explain`, tells the others. */
const firstSentence = (message: string): string => /^.+?\.(?= |$)/.exec(message)?.[0] ?? message;

function ofError(error: ExpectedError): Notice {
  const [problem] = error.problems;
  const named = problem?.subject.setting;
  if (error.code !== 'INVALID_SETTING' || problem === undefined || named === undefined)
    return {...ofFinding(error), fix: named ?? FIXES[error.code]};
  const notice = ofFinding({...error, message: problemsText(error)});
  // What is missing is named by the remedy.
  return {...notice, fix: changedBy(problem) ?? named};
}

/** The invalid settings, by the names that the questions have. */
const problemsText = ({problems}: ExpectedError): string =>
  problems
    .map(({subject, message}) => {
      const setting = catalog.find(({id}) => id === subject.setting);
      return setting === undefined ? message : `${settingLabel(setting)}: ${message}`;
    })
    .join('\n');

/** Without --set, which is no question. */
const changedBy = ({remedies}: Pick<Finding, 'remedies'>): string | undefined =>
  remedies.find(({setting}) => setting !== undefined && setting !== set.id)?.setting;

/** A remedy that spells settings as the wizard asks for them. */
const asAsked = ({text, parts = [text]}: Remedy): Remedy => ({
  text: parts.map((part) => (typeof part === 'string' ? part : asQuestion(part))).join(''),
});

function asQuestion({setting: id, value}: Mention): string {
  const setting = catalog.find((each) => each.id === id);
  if (setting === undefined) return id;
  return setting.group === 'Chart values' ? spell(setting, value) : spellAsQuestion(setting, value);
}
