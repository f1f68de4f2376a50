import type {ChartRequirements} from '../charts/recommend.ts';
import {type Setting, spell} from '../settings/define.ts';
import {extraEnv, set, valuesFile} from '../settings/escape-hatch.ts';
import type {Settings} from '../settings/settings.ts';
import {type Generated, generate} from './generate.ts';

/** Generates the values and checks what settings without rules of their own gave, as `validate` does. @throws ExpectedError */
export async function generateChecked(given: Settings, facts?: ChartRequirements): Promise<Generated> {
  const generated = generate(given, facts);
  const free = [valuesFile, set, extraEnv].map((each) => each as Setting).filter((setting) => given.get(setting) !== undefined);
  if (free.length > 0) {
    const {refuseBrokenAssignments} = await import('./validate/validate.ts');
    refuseBrokenAssignments(generated.values, generated.target, free.map(spell).join(' or '));
  }
  return generated;
}
