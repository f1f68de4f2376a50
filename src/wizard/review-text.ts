import {checksWith, passedChecks} from '../checks/preflight/checks/check.ts';
import {count} from '../ground/text.ts';
import {namespace, release} from '../settings/release.ts';
import {findingText} from '../ui/finding-text.ts';
import {paragraph, type Screen, theme} from '../ui/theme.ts';
import type {Notice} from './notices.ts';
import {placeText} from './place.ts';
import type {Reviewed} from './prepare-review.ts';
import type {ReviewRow} from './review-rows.ts';
import type {TopicView} from './topics.ts';

export interface ReviewContent {
  view: TopicView;
  reviewed: Reviewed;
  rows: readonly ReviewRow[];
  notices: readonly Notice[];
  notes: readonly string[];
}

const LABEL_WIDTH = 10;
/** Narrower terminals have the reasons below the values. */
const WIDE = 70;
const VALUE_WIDTH = 17;

/** The review: what will be installed and why, problems and warnings, and the planned changes. */
export function reviewScreen(content: ReviewContent, screen: Screen): string {
  const {rows, notices, notes, reviewed} = content;
  const isMarked = ({settings, isRisky = false}: ReviewRow): boolean =>
    isRisky || notices.some(({marks}) => settings.some(({id}) => id === marks));
  // What deserves a look stands beside the notices, where a small terminal still shows it.
  const lines = [
    titleText(content, screen),
    ...rows.filter((row) => !isMarked(row)).map((row) => rowText(row, false, screen)),
    ...rows.filter(isMarked).map((row) => rowText(row, true, screen)),
    ...checksText(reviewed, screen),
    ...notices.map((notice) => findingText(notice, screen, {margin: '   '})),
    ...stepsText(reviewed, screen),
    ...notes.map((note) => paragraph('   ', note, screen)),
  ];
  return `${lines.join('')}\n`;
}

function titleText({reviewed, view}: ReviewContent, screen: Screen): string {
  const {bold, cyan} = theme(screen);
  const {generated} = reviewed;
  const chart =
    generated === undefined ? '' : `${generated.target.chart} ${generated.target.version} → `;
  const {answers, installed, place} = view.state;
  const name =
    installed === undefined
      ? ''
      : ` · ${answers.get(release)} in namespace ${answers.get(namespace)}`;
  const text = `${bold('Review')}  ${chart}${placeText(place)}${name}`;
  return paragraph(`${cyan('◆')}  `, text, screen);
}

function rowText({label, value, about}: ReviewRow, isMarked: boolean, screen: Screen): string {
  const {yellow} = theme(screen);
  const mark = isMarked ? yellow('!') : ' ';
  const first = ` ${mark} ${label.padEnd(LABEL_WIDTH)}`;
  const spoken = isMarked ? `${label}, to be checked` : label;
  if (screen.isAccessible)
    return paragraph('', `${spoken}: ${[value, about].filter(Boolean).join('; ')}`, screen);
  if (about === undefined) return paragraph(first, value, screen);
  const isColumn = (screen.columns ?? 80) >= WIDE && value.length <= VALUE_WIDTH;
  const cell = isColumn ? value + ' '.repeat(VALUE_WIDTH - value.length) : value;
  const lines = paragraph(
    isColumn ? `${first}${cell}  ` : first,
    isColumn ? about : `${value}  ${about}`,
    screen,
  );
  return lines;
}

function checksText({prepared}: Reviewed, screen: Screen): string[] {
  const passed = passedChecks(prepared?.checks ?? []).length;
  const skipped = checksWith(prepared?.checks ?? [], 'unknown');
  if (passed === 0) return [];
  const titles = skipped.map(({subject}) => subject.requirement).join(', ');
  const more = skipped.length === 0 ? '' : `, ${skipped.length} not possible: ${titles}`;
  return [
    paragraph(`   ${theme(screen).green('✔')} `, `${count(passed, 'check')} passed${more}`, screen),
  ];
}

function stepsText({prepared, host}: Reviewed, screen: Screen): string[] {
  const plan = prepared?.plan ?? host?.plan;
  const steps = [...(prepared?.accountSteps ?? []), ...(plan?.steps ?? [])].map(({title}) => title);
  const {green} = theme(screen);
  const row = (label: string, text: string): string =>
    screen.isAccessible
      ? paragraph('', `${label}: ${text}`, screen)
      : paragraph(`   ${green(label.padEnd(LABEL_WIDTH))}`, text, screen);
  return [
    ...(plan === undefined
      ? []
      : [row('Changes', steps.join(' · ') || 'none, the installed agent matches these settings')]),
    ...(host === undefined ? [] : [row('Files', host.files.map(({path}) => path).join(' · '))]),
    ...(host?.notes ?? []).map((note) => paragraph('   ', note, screen)),
  ];
}
