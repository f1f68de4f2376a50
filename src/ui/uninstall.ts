import type {Inventory} from '../cluster/inventory.ts';
import type {Kept} from '../plan/uninstall-keeps.ts';
import {paragraph, type Screen, theme} from './theme.ts';

interface Account {
  removes: readonly string[];
  keeps: readonly Kept[];
}

/** What goes and what stays, by class; before it is done as a promise, after it as a report. */
export function accountText({removes, keeps}: Account, isDone: boolean, screen: Screen): string {
  const {bold, dim} = theme(screen);
  const gone = removes.map((each) => paragraph('  - ', each, screen));
  const stays = keeps.flatMap(({what, why, how}) => [
    paragraph('  - ', `${what}: ${why}`, screen),
    // A command has to stay whole to be copied.
    `    ${dim(how)}\n`,
  ]);
  return [
    ...(gone.length === 0 ? [] : [`${bold(isDone ? 'Gone:' : 'Will go:')}\n`, ...gone]),
    ...(stays.length === 0 ? [] : [`${bold(isDone ? 'Still there:' : 'Will stay:')}\n`, ...stays]),
  ].join('');
}

const MOST_NAMES = 5;

/** What works right now. */
export function runsText({runs, runsOf, release}: Inventory, screen: Screen): string {
  if (release === undefined || runsOf === undefined) return '';
  const names = runs.slice(0, MOST_NAMES).map(({kind, name}) => `${kind} ${name}`);
  const more = runs.length > MOST_NAMES ? ` and ${runs.length - MOST_NAMES} more` : '';
  const text = runs.length === 0 ? 'none' : `${runs.length}: ${names.join(', ')}${more}`;
  return paragraph('Runs in flight: ', text, screen);
}
