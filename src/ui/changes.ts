import type {UpgradeAdvice} from '../charts/advise.ts';
import type {Target} from '../charts/define.ts';
import {commandLine} from '../ground/command-line.ts';
import {count} from '../ground/text.ts';
import type {PreparedUpgrade} from '../operations/prepare-upgrade.ts';
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

const LEVELS: Readonly<Record<UpgradeAdvice['level'], string>> = {blocking: 'Hazards:', behavior: 'Changes in behavior:', info: 'Also:'};

/** What an upgrade changes and gains, before its steps. */
export function upgradeText(
  from: Target,
  to: Target,
  {advice, gains, changes, rollback}: Pick<PreparedUpgrade, 'advice' | 'gains' | 'changes' | 'rollback'>,
  screen: Screen,
): string {
  const {bold} = theme(screen);
  const section = (title: string, lines: readonly string[]): string => (lines.length === 0 ? '' : `${bold(title)}\n${lines.join('')}`);
  const levels = ['blocking', 'behavior', 'info'] as const;
  const sections = [
    `${bold('Upgrade')}    ${from.chart} ${from.version} → ${to.chart} ${to.version}\n`,
    ...levels.map((level) =>
      section(
        LEVELS[level],
        advice.filter((each) => each.level === level).map((each) => adviceText(each, screen)),
      ),
    ),
    section(
      'Values:',
      changes
        .filter(({kind}) => kind !== 'kept')
        .map(({message, remedy}) => paragraph('  - ', [message, remedy].filter(Boolean).join(' '), screen)),
    ),
    section(
      'New settings:',
      gains.map(({setting, summary}) => paragraph('  - ', `--${setting}: ${summary}`, screen)),
    ),
    section('Rollback:', [...(rollback?.limits ?? []).map((each) => paragraph('  - ', each, screen)), ...byHand(rollback, screen)]),
  ];
  return `${sections.filter((each) => each !== '').join('\n')}\n`;
}

/** A rollback with several steps is more than the `helm rollback` that everybody knows. */
function byHand(rollback: PreparedUpgrade['rollback'], screen: Screen): string[] {
  if (rollback === undefined || rollback.steps.length < 2) return [];
  const isTried = rollback.steps.some(({tolerates}) => tolerates !== undefined);
  return [
    paragraph(
      '  - ',
      `--rollback-on-failure does all of it. By hand, run${isTried ? ' (the first rollback fails, because it has to record the kept PVCs)' : ''}:`,
      screen,
    ),
    ...rollback.steps.map(({call}) => `      ${commandLine(call)}\n`),
  ];
}

function adviceText({level, reason, remedy, versions, handled}: UpgradeAdvice, screen: Screen): string {
  const {red, yellow, green, dim} = theme(screen);
  const mark = handled ? green('✓') : level === 'blocking' ? red('×') : level === 'behavior' ? yellow('!') : '-';
  const next = handled ? `Done by the plan: ${remedy}.` : `${remedy}.`;
  return paragraph(`  ${mark} `, `${reason} ${dim(`(${versions})`)}. ${next}`, screen);
}
