import type {Target} from '../../charts/define.ts';
import type {Values} from '../../charts/tree.ts';
import {ExitCode, ExpectedError} from '../../errors.ts';
import {checkKeys} from './check-keys.ts';
import {checkValuesRules} from './check-rules.ts';
import {hold} from './held.ts';
import {hideSecrets} from './hide-secrets.ts';
import type {Source} from './source.ts';

/**
 * Holds values with keys given by --set against what `validate` knows of keys: settings alone never break it.
 * @throws ExpectedError
 */
export function refuseBrokenAssignments(values: Values, target: Target): void {
  const source: Source = {values, locate: () => undefined, written: () => undefined};
  const findings = [...checkKeys(source, target), ...checkValuesRules(hold(source, target), target)];
  const errors = hideSecrets(findings, source).filter(({severity}) => severity === 'error');
  if (errors.length === 0) return;
  const suggestions = errors.flatMap(({suggestion}) => (suggestion === undefined ? [] : [suggestion]));
  throw new ExpectedError(errors.map(({path, message}) => `--set: ${path}: ${message}`).join('\n'), {
    code: 'INVALID_SETTING',
    exit: ExitCode.usage,
    suggestions: suggestions.length > 0 ? suggestions : ['Correct the value, or leave it out'],
  });
}
