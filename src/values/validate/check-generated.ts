import {ExitCode, ExpectedError, type Warning} from '../../errors.ts';
import {type Setting, spell} from '../../settings/define.ts';
import {valuesDocument} from '../document.ts';
import type {Generated} from '../generate.ts';
import {dotted, type Finding} from './finding.ts';
import {validate} from './validate.ts';

/**
 * Validates the generated file as a whole, because the `free` settings write any key. Returns the warnings that are
 * new. @throws ExpectedError for errors, and for a key that makes another setting ineffective
 */
export function checkGenerated(generated: Generated, free: readonly Setting[]): Warning[] {
  const findings = validate(valuesDocument(generated), generated.target);
  const errors = findings.filter(({severity}) => severity === 'error');
  if (errors.length > 0) throw refusal(errors, free.map(spell).join(' or '));
  refuseDropped(generated, findings, free);
  const known = new Set(generated.warnings.map(({code}) => code));
  return findings.filter(({code}) => !known.has(code)).map((each) => warningOf(each, free[0] as Setting));
}

function refusal(errors: readonly Finding[], flags: string): ExpectedError {
  const suggestions = errors.flatMap(({suggestion}) => (suggestion === undefined ? [] : [suggestion]));
  return new ExpectedError(errors.map(({path, message}) => `${flags}: ${path}: ${message}`).join('\n'), {
    code: 'INVALID_SETTING',
    exit: ExitCode.usage,
    suggestions: suggestions.length > 0 ? suggestions : ['Correct the value, or remove it'],
  });
}

function refuseDropped({origins, settings}: Generated, findings: readonly Finding[], free: readonly Setting[]): void {
  for (const {code, path, message} of findings) {
    const lost = origins.find((each) => dotted(each.path) === path)?.setting;
    if (code !== 'OTHER_KEY_WINS' || lost === undefined || free.includes(lost) || !settings.isExplicit(lost)) continue;
    throw new ExpectedError(`${spell(lost)} has no effect. ${path}: ${message}`, {
      code: 'CONFLICTING_SETTINGS',
      exit: ExitCode.usage,
      suggestions: ['Use only one of them'],
    });
  }
}

const warningOf = ({code, path, message, suggestion}: Finding, setting: Setting): Warning => ({
  code,
  setting: setting.id,
  message: `${path}: ${message}${suggestion === undefined ? '' : ` ${suggestion.replace(/[.]?$/, '.')}`}`,
});
