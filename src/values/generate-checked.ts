import type {ChartRequirements} from '../charts/recommend.ts';
import type {Settings} from '../settings/settings.ts';
import {type Generated, generate} from './generate.ts';

/** Generates the values, and checks the file as `validate` does. @throws ExpectedError */
export async function generateChecked(given: Settings, facts?: ChartRequirements): Promise<Generated> {
  const generated = generate(given, facts);
  const {checkGenerated} = await import('./validate/check-generated.ts');
  return {...generated, warnings: [...generated.warnings, ...checkGenerated(generated)]};
}
