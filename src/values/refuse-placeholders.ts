import {startsWith} from '../charts/tree.ts';
import {ExitCode, ExpectedError} from '../errors.ts';
import {spell} from '../settings/define.ts';
import type {Rendered} from './render.ts';
import {dotted} from './validate/finding.ts';
import {openTexts} from './validate/placeholders.ts';

/** What `validate` calls a placeholder is not written in the first place. @throws ExpectedError */
export function refusePlaceholders({values, origins}: Pick<Rendered, 'values' | 'origins'>): void {
  const [found] = openTexts(values);
  if (found === undefined) return;
  const writer = origins.findLast(({path}) => startsWith(found.path.map(String), path));
  throw new ExpectedError(`${writer ? `${spell(writer.setting)}: ` : ''}${dotted(found.path)} is a placeholder that nobody filled in.`, {
    code: 'INVALID_SETTING',
    exit: ExitCode.usage,
    suggestions: ['Replace it by the real value'],
  });
}
