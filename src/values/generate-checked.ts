import type {ChartRequirements} from '../charts/recommend.ts';
import {ExitCode, ExpectedError, type Warning} from '../errors.ts';
import {type Setting, spell} from '../settings/define.ts';
import {extraEnv, set, valuesFile} from '../settings/escape-hatch.ts';
import type {Settings} from '../settings/settings.ts';
import {valuesDocument} from './document.ts';
import {type Generated, generate} from './generate.ts';
import {dotted, type Finding} from './validate/finding.ts';

/**
 * Generates the values. Where settings without rules of their own wrote some of them, `validate` checks the whole file:
 * its errors are refused, its warnings are those of the values. @throws ExpectedError
 */
export async function generateChecked(given: Settings, facts?: ChartRequirements): Promise<Generated> {
  const generated = generate(given, facts);
  const free = [valuesFile, set, extraEnv].map((each) => each as Setting).filter((setting) => given.get(setting) !== undefined);
  const [first] = free;
  if (first === undefined) return generated;
  const {validate} = await import('./validate/validate.ts');
  const findings = validate(valuesDocument(generated), generated.target);
  const errors = findings.filter(({severity}) => severity === 'error');
  if (errors.length > 0) throw refusal(errors, free.map(spell).join(' or '));
  refuseDropped(generated, findings, free);
  const known = new Set(generated.warnings.map(({code}) => code));
  const more = findings.filter(({code}) => !known.has(code)).map((each) => warningOf(each, first));
  return {...generated, warnings: [...generated.warnings, ...more]};
}

/** A key that --set or a file wrote must not take away what another setting says. */
function refuseDropped({origins, settings}: Generated, findings: readonly Finding[], free: readonly Setting[]): void {
  for (const {code, path, message} of findings) {
    const lost = origins.find((each) => dotted(each.path) === path)?.setting;
    if (code !== 'OTHER_KEY_WINS' || lost === undefined || free.includes(lost) || !settings.isExplicit(lost)) continue;
    throw new ExpectedError(`${spell(lost)} has no effect. ${path}: ${message}`, {
      code: 'CONFLICTING_SETTINGS',
      exit: ExitCode.usage,
      suggestions: ['Keep one of the two'],
    });
  }
}

function refusal(errors: readonly Finding[], flags: string): ExpectedError {
  const suggestions = errors.flatMap(({suggestion}) => (suggestion === undefined ? [] : [suggestion]));
  return new ExpectedError(errors.map(({path, message}) => `${flags}: ${path}: ${message}`).join('\n'), {
    code: 'INVALID_SETTING',
    exit: ExitCode.usage,
    suggestions: suggestions.length > 0 ? suggestions : ['Correct the value, or leave it out'],
  });
}

const warningOf = ({code, path, message, suggestion}: Finding, setting: Setting): Warning => ({
  code,
  setting: setting.id,
  message: `${path}: ${message}${suggestion === undefined ? '' : ` ${suggestion.replace(/[.]?$/, '.')}`}`,
});
