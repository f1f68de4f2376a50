import type {ChartRequirements} from '../charts/recommend.ts';
import type {Setting} from '../settings/define.ts';
import {extraEnv, set, valuesFile} from '../settings/escape-hatch.ts';
import type {Settings} from '../settings/settings.ts';
import {type Generated, generate} from './generate.ts';

/** Generates the values. If values files or --set and --extra-env options were given, checks the result like `validate`. @throws ExpectedError */
export async function generateChecked(given: Settings, facts?: ChartRequirements): Promise<Generated> {
  const generated = generate(given, facts);
  const free = [valuesFile, set, extraEnv].map((each) => each as Setting).filter((setting) => given.get(setting) !== undefined);
  if (free.length === 0) return generated;
  const {checkGenerated} = await import('./validate/check-generated.ts');
  return {...generated, warnings: [...generated.warnings, ...checkGenerated(generated, free)]};
}
