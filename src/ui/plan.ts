import type {Inventory} from '../cluster/release/inventory.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {few} from '../ground/text.ts';
import type {Step} from '../operations/step.ts';
import type {KeptObject, LeftBehind} from '../operations/uninstall-keeps.ts';
import {paragraph, type Screen, theme} from './theme.ts';

export function planText(
  {steps}: {steps: readonly Step[]},
  {release, kubeTarget}: ReleaseName,
  {context, serverVersion}: Pick<InstallFacts, 'context' | 'serverVersion'>,
  screen: Screen,
): string {
  const cluster = `${context.cluster || context.server} ${theme(screen).dim(`${context.server}, Kubernetes ${serverVersion}`)}`;
  const place = {
    Cluster: cluster,
    Context: context.name || '(none, service account of this pod)',
    Namespace: kubeTarget.namespace,
    Release: release,
  };
  return stepsText(steps, place, screen);
}

const LABEL_WIDTH = 11;

/** Where the steps change something, and the steps. */
export function stepsText(
  steps: readonly Pick<Step, 'title' | 'isDestructive'>[],
  place: Readonly<Record<string, string>>,
  screen: Screen,
): string {
  const {bold, yellow} = theme(screen);
  const lines = steps.map(({title, isDestructive}, index) =>
    paragraph(
      `  ${index + 1}. `,
      `${title}${isDestructive ? yellow(' (cannot be undone)') : ''}`,
      screen,
    ),
  );
  const where = Object.entries(place).map(
    ([label, text]) => `${bold(label)}${' '.repeat(LABEL_WIDTH - label.length)}${text}\n`,
  );
  return [...where, '\n', ...lines].join('');
}

interface Account {
  removes: readonly string[];
  notRemoved?: readonly LeftBehind[];
  keeps: readonly KeptObject[];
}

/** Removed and remaining objects, before and after an uninstall. */
export function accountText(
  {removes, notRemoved = [], keeps}: Account,
  isDone: boolean,
  screen: Screen,
): string {
  const {bold} = theme(screen);
  const gone = removes.map((each) => paragraph('  - ', each, screen));
  const stays = keptLines(keeps, screen);
  return [
    ...(gone.length === 0 ? [] : [`${bold(isDone ? 'Removed:' : 'Will be removed:')}\n`, ...gone]),
    notRemovedText(notRemoved, screen),
    ...(stays.length === 0 ? [] : [`${bold(isDone ? 'Remaining:' : 'Will remain:')}\n`, ...stays]),
  ].join('');
}

/** Objects that could not be removed; empty if there are none. */
export function notRemovedText(notRemoved: readonly LeftBehind[], screen: Screen): string {
  if (notRemoved.length === 0) return '';
  const {red, bold} = theme(screen);
  return `${red('×')} ${bold('Not removed:')}\n${keptLines(notRemoved, screen).join('')}`;
}

const keptLines = (kept: readonly (KeptObject & {code?: string})[], screen: Screen): string[] =>
  kept.flatMap(({what, code, why, how}) => [
    paragraph(
      '  - ',
      `${code === undefined ? '' : `${theme(screen).bold(code)}  `}${what}: ${why}`,
      screen,
    ),
    // Not wrapped, so that the command can be copied.
    `    ${theme(screen).dim(how)}\n`,
  ]);

export function runsText({runs, runsOf, release}: Inventory, screen: Screen): string {
  if (release === undefined || runsOf === undefined) return '';
  const text =
    runs.length === 0
      ? 'none'
      : `${runs.length}: ${few(runs.map(({kind, name}) => `${kind} ${name}`))}`;
  return paragraph('Runs in flight: ', text, screen);
}
