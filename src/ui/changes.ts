import {count} from '../ground/text.ts';
import type {Change} from '../values/migrate/change.ts';
import {paragraph, type Screen, theme} from './theme.ts';

const TITLES: readonly (readonly [Change['kind'], string])[] = [
  ['requirement', 'Requirements'],
  ['dropped', 'Not carried over'],
  ['default-changed', 'Changed defaults'],
  ['kept', 'Kept keys and defaults'],
  ['renamed', 'Renamed'],
];

/** The changes of a migration, the most important ones first. */
export function changesText(changes: readonly Change[], screen: Screen): string {
  const {bold, dim} = theme(screen);
  return TITLES.map(([kind, title]) => {
    const own = changes.filter((each) => each.kind === kind);
    if (own.length === 0) return '';
    const lines = own.map(({path, message, remedy}) => {
      const place = path === '' || message.includes(path) ? '' : `${bold(path)}: `;
      return paragraph('  - ', `${place}${message}`, screen) + (remedy === undefined ? '' : paragraph('    → ', dim(remedy), screen));
    });
    return `${bold(title)} (${own.length})\n${lines.join('')}`;
  }).join('');
}

/** One line about the result. */
export const changesSummary = (from: string, to: string, changes: readonly Change[]): string =>
  changes.length === 0 ? `${from} to ${to}: no changes.` : `${from} to ${to}: ${count(changes.length, 'change')}.`;
