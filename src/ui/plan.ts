import type {Watched} from '../apply/watch-release.ts';
import type {InstallFacts} from '../cluster/install-facts.ts';
import type {Inventory} from '../cluster/inventory.ts';
import {commandLine, ownCommand} from '../command-line.ts';
import {releaseValues} from '../helm/helm.ts';
import {releaseLogs} from '../kubernetes/kubectl.ts';
import type {Plan, Step} from '../plan/step.ts';
import type {Kept} from '../plan/uninstall-keeps.ts';
import type {ReleaseName} from '../ports/processes.ts';
import {paragraph, type Screen, theme} from './theme.ts';

/** Where something will happen, and what, before anything does. */
export function planText(
  {steps}: Plan,
  {release, place}: ReleaseName,
  {context, serverVersion}: Pick<InstallFacts, 'context' | 'serverVersion'>,
  screen: Screen,
): string {
  const {bold, dim, yellow} = theme(screen);
  const where = [
    `${bold('Cluster')}    ${context.cluster || context.server} ${dim(`${context.server}, Kubernetes ${serverVersion}`)}`,
    `${bold('Context')}    ${context.name || '(none)'}`,
    `${bold('Namespace')}  ${place.namespace}`,
    `${bold('Release')}    ${release}`,
  ];
  const lines = steps.map(({title, isDestructive}, index) =>
    paragraph(`  ${index + 1}. `, `${title}${isDestructive ? yellow(' (cannot be undone)') : ''}`, screen),
  );
  return `${where.join('\n')}\n\n${lines.join('')}`;
}

/** Every call as a shell takes it. */
export const callsText = ({steps}: Plan): string => steps.map(({call}) => `${commandLine(call)}\n`).join('');

export function stepText({title, call}: Step, state: 'started' | 'waiting' | 'ending', runs?: string): string {
  if (state === 'started') return `${title} …\n`;
  if (state === 'waiting') return `  In flight: ${runs}\n`;
  return `Interrupted: waiting for ${call.tool} to end in good order. A second Ctrl-C leaves at once.\n`;
}

interface Outcome {
  name: ReleaseName;
  hasChanged: boolean;
  agent: Watched['agent'];
  /** What the release consists of. */
  objects: readonly string[];
  /** Files that were written. */
  saved: readonly string[];
}

/** What came out, and the next useful commands. */
export function resultText({name, hasChanged, agent, objects, saved}: Outcome, screen: Screen): string {
  const {bold, green} = theme(screen);
  const head = hasChanged ? `Release ${name.release} is ready` : `Nothing was to do: release ${name.release} is as it should be, and ready`;
  const said =
    agent === 'registered'
      ? ', and its log says that the agent has registered.'
      : '. Its log does not say whether the agent has registered.';
  const next = [commandLine(releaseValues(name)), commandLine(releaseLogs(name)), ownCommand('uninstall', name, '--dry-run')];
  return [
    `${green('✓')} ${head}${said}\n`,
    ...(hasChanged ? [paragraph('It has: ', objects.join(', '), screen)] : []),
    ...(saved.length === 0 ? [] : [paragraph('Saved: ', saved.join(', '), screen)]),
    `${bold('Next steps:')}\n${next.map((line) => `  - ${line}\n`).join('')}`,
  ].join('');
}

interface Account {
  removes: readonly string[];
  notRemoved?: readonly Kept[];
  keeps: readonly Kept[];
}

/** What goes and what stays, by class; before it is done as a promise, after it as a report. */
export function accountText({removes, notRemoved = [], keeps}: Account, isDone: boolean, screen: Screen): string {
  const {bold} = theme(screen);
  const gone = removes.map((each) => paragraph('  - ', each, screen));
  const stays = keptLines(keeps, screen);
  return [
    ...(gone.length === 0 ? [] : [`${bold(isDone ? 'Gone:' : 'Will go:')}\n`, ...gone]),
    notRemovedText(notRemoved, screen),
    ...(stays.length === 0 ? [] : [`${bold(isDone ? 'Still there:' : 'Will stay:')}\n`, ...stays]),
  ].join('');
}

/** What should be gone and is not; nothing where everything is. */
export function notRemovedText(notRemoved: readonly Kept[], screen: Screen): string {
  if (notRemoved.length === 0) return '';
  const {red, bold} = theme(screen);
  return `${red('×')} ${bold('Not removed:')}\n${keptLines(notRemoved, screen).join('')}`;
}

const keptLines = (kept: readonly Kept[], screen: Screen): string[] =>
  kept.flatMap(({what, why, how}) => [
    paragraph('  - ', `${what}: ${why}`, screen),
    // A command has to stay whole to be copied.
    `    ${theme(screen).dim(how)}\n`,
  ]);

const MOST_NAMES = 5;

/** What works right now. */
export function runsText({runs, runsOf, release}: Inventory, screen: Screen): string {
  if (release === undefined || runsOf === undefined) return '';
  const names = runs.slice(0, MOST_NAMES).map(({kind, name}) => `${kind} ${name}`);
  const more = runs.length > MOST_NAMES ? ` and ${runs.length - MOST_NAMES} more` : '';
  const text = runs.length === 0 ? 'none' : `${runs.length}: ${names.join(', ')}${more}`;
  return paragraph('Runs in flight: ', text, screen);
}
