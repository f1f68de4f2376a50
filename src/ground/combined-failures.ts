import {type DecisionOption, ExpectedError} from './errors.ts';
import type {SettingFinding} from './finding.ts';

/** Several failures as one, which lists all messages and next steps. The code is that of the first. */
export function combined(
  failures: readonly [ExpectedError, ...(readonly ExpectedError[])],
): ExpectedError {
  const [first, ...others] = failures;
  if (others.length === 0) return first;
  // Checks that read the same file report it in the same line.
  return new ExpectedError(
    unique(failures.flatMap(({message}) => message.split('\n'))).join('\n'),
    {
      code: first.code,
      suggestions: failures.flatMap(({suggestions}) => suggestions),
      problems: failures.flatMap(problemsIn),
      options: combinedOptions(failures),
      cause: first.cause,
    },
  );
}

/** The parts of a failure; without parts, the failure itself. */
export const problemsIn = ({
  problems,
  code,
  verdict,
  subject,
  message,
  remedies,
}: ExpectedError): readonly SettingFinding[] =>
  problems.length > 0 ? problems : [{code, verdict, subject, message, remedies}];

/** The first option of each failure, all at once; none if one of the failures is not solved by an option. */
function combinedOptions(failures: readonly ExpectedError[]): DecisionOption[] {
  if (failures.some(({options}) => options.length === 0)) return [];
  const adds = failures.flatMap(({options: [option]}) => option?.add ?? []);
  return [{add: adds.join(' '), when: 'Set what is missing'}];
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];
