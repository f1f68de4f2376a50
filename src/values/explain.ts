import {sameTree} from '../charts/tree.ts';
import {maskSecrets} from '../errors.ts';
import {catalogue} from '../settings/catalogue.ts';
import {chart, chartVersion} from '../settings/release.ts';
import type {AnswerSource} from '../settings/settings.ts';
import type {Generated} from './generate.ts';

/** A setting that holds after the install, and who said so. */
export interface Explained {
  id: string;
  value: unknown;
  source: AnswerSource;
  because?: string;
}

/** Every setting that holds after the install, in the order of the catalogue, secrets left out. */
export function explain({settings, effective, target}: Generated): Explained[] {
  const chosen: Readonly<Record<string, string>> = {[chart.id]: target.chart, [chartVersion.id]: target.version};
  return catalogue.flatMap((setting): Explained[] => {
    if (setting.kind.isSecret) return [];
    const answer = settings.answer(setting);
    const read = effective.get(setting.id);
    const isOverruled = answer !== undefined && !settings.isExplicit(setting) && read !== undefined && !sameTree(read, answer.value);
    if (isOverruled) return [{id: setting.id, value: read, source: 'flag', because: 'by way of --set'}];
    if (answer) {
      const shown = answer.given ?? setting.kind.shown?.(answer.value) ?? answer.value;
      const value = typeof shown === 'string' ? maskSecrets(shown) : shown;
      return [{id: setting.id, value, source: answer.source, ...(answer.because ? {because: answer.because} : {})}];
    }
    if (chosen[setting.id] !== undefined) return [{id: setting.id, value: chosen[setting.id], source: 'default'}];
    return read === undefined ? [] : [{id: setting.id, value: read, source: 'chart'}];
  });
}
