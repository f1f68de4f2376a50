import type {Target} from '../../charts/define.ts';
import type {ChartRequirements} from '../../charts/recommend.ts';
import {ExpectedError, type Warning} from '../../ground/errors.ts';
import {type Setting, spell} from '../../settings/define.ts';
import {extraEnv, set, valuesFile} from '../../settings/escape-hatch.ts';
import type {Settings} from '../../settings/settings.ts';
import {valuesDocument} from '../document.ts';
import type {Generated} from '../generate.ts';
import {generate} from '../generate.ts';
import {dotted, isWithin, type ValuesFinding} from './finding.ts';
import {validate} from './validate.ts';

/**
 * Validates the generated file, knowing the settings that the file cannot contain. Returns the warnings that are
 * new. @throws ExpectedError for errors, and for a key that makes another setting ineffective
 */
export function checkGenerated(generated: Generated): Warning[] {
  const findings = validate(valuesDocument(generated), generated.target, generated.settings);
  const errors = findings.filter(({severity}) => severity === 'error');
  if (errors.length > 0) throw refusal(errors, generated);
  refuseDropped(generated, findings);
  const known = new Set(generated.warnings.map(({code}) => code));
  return findings.filter(({code}) => !known.has(code)).map((finding) => warningOf(finding, writerOf(finding, generated)));
}

/** The setting that wrote the key of a finding, explicit ones first; undefined for a key that nothing wrote. */
function writerOf({path}: ValuesFinding, {origins, settings}: Generated): Setting | undefined {
  const writers = origins.filter((each) => isWithin(path, dotted(each.path)) || isWithin(dotted(each.path), path));
  return (writers.findLast(({setting}) => settings.isExplicit(setting)) ?? writers.at(-1))?.setting;
}

function refusal(errors: readonly ValuesFinding[], generated: Generated): ExpectedError {
  const suggestions = errors.flatMap(({suggestion}) => (suggestion === undefined ? [] : [suggestion]));
  const lines = errors.map((finding) => {
    const writer = writerOf(finding, generated);
    return `${writer === undefined ? '' : `${spell(writer)}: `}${finding.path}: ${finding.message}`;
  });
  return new ExpectedError(lines.join('\n'), {
    code: 'INVALID_SETTING',
    suggestions: suggestions.length > 0 ? suggestions : ['Correct the value, or remove it'],
  });
}

/** Assignments may override each other on purpose; a flag that has no effect is a mistake. */
function refuseDropped({origins, settings}: Generated, findings: readonly ValuesFinding[]): void {
  for (const {code, path, message} of findings) {
    const lost = origins.find((each) => dotted(each.path) === path)?.setting;
    if (code !== 'OTHER_KEY_WINS' || lost === undefined || FREE.includes(lost.id) || !settings.isExplicit(lost)) continue;
    throw new ExpectedError(`${spell(lost)} has no effect. ${path}: ${message}`, {
      code: 'CONFLICTING_SETTINGS',
      suggestions: ['Use only one of them'],
    });
  }
}

const FREE: readonly string[] = [valuesFile, set, extraEnv].map(({id}) => id);

const warningOf = ({code, path, message, suggestion}: ValuesFinding, setting: Setting | undefined): Warning => ({
  code,
  ...(setting === undefined ? {} : {setting: setting.id}),
  message: `${path}: ${message}${suggestion === undefined ? '' : ` ${suggestion.replace(/[.]?$/, '.')}`}`,
});

/** Generates the values, and checks the file as `validate` does. @throws ExpectedError */
export function generateChecked(given: Settings, facts?: ChartRequirements, read?: Target): Generated {
  const generated = generate(given, facts, read);
  return {...generated, warnings: [...generated.warnings, ...checkGenerated(generated)]};
}
