import {count} from '../ground/text.ts';
import {asciiFallback, paragraph, type Screen, theme} from '../ui/theme.ts';
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
  const isMarked = ({settings}: ReviewRow): boolean =>
    notices.some(({fix}) => settings.some(({id}) => id === fix));
  const marked = rows.filter(isMarked);
  const hasMore = notices.length + notes.length > 0 || reviewed.prepared || reviewed.host;
  const lines = [
    titleText(content, screen),
    ...marked.map((row) => rowText(row, true, screen)),
    ...rows.filter((row) => !isMarked(row)).map((row) => rowText(row, false, screen)),
    ...(hasMore ? ['\n'] : []),
    ...checksText(reviewed, screen),
    ...notices.map((notice) => noticeText(notice, screen)),
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
  const text = `${bold('Review')}  ${chart}${placeText(view.state.place)}`;
  return `\n${paragraph(`${cyan('◆')}  `, text, screen)}`;
}

function rowText({label, value, about}: ReviewRow, isMarked: boolean, screen: Screen): string {
  const {yellow} = theme(screen);
  const mark = isMarked ? yellow('!') : ' ';
  const first = ` ${mark} ${label.padEnd(LABEL_WIDTH)}`;
  if (screen.isAccessible)
    return paragraph('', `${label}: ${[value, about].filter(Boolean).join('; ')}`, screen);
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
  const passed = prepared?.checks.filter(({status}) => status === 'pass').length ?? 0;
  const skipped = prepared?.checks.filter(({status}) => status === 'skip').length ?? 0;
  if (passed === 0) return [];
  const more = skipped === 0 ? '' : `, ${skipped} not possible`;
  return [
    paragraph(`   ${theme(screen).green('✔')} `, `${count(passed, 'check')} passed${more}`, screen),
  ];
}

function noticeText({level, code, text, remedies}: Notice, screen: Screen): string {
  const {red, yellow, dim, bold} = theme(screen);
  const mark = level === 'error' ? red('×') : yellow('!');
  const [first = '', ...lines] = text.split('\n');
  return [
    paragraph(`   ${mark} `, `${bold(code)}  ${first}`, screen),
    ...lines.map((line) => paragraph('     ', line, screen)),
    // On one line, so that a command can be copied.
    ...remedies.map((remedy) =>
      asciiFallback(`     ${dim('→')} ${remedy.replaceAll('\n', '\n       ')}\n`, screen),
    ),
  ].join('');
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
