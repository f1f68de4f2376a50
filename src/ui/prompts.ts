import {stripVTControlCharacters} from 'node:util';
import {cursorHide} from '@inquirer/ansi';
import {
  createPrompt,
  isDownKey,
  isEnterKey,
  isNumberKey,
  isSpaceKey,
  isUpKey,
  useEffect,
  useKeypress,
  useState,
} from '@inquirer/core';
import width from 'fast-string-width';
import type {CheckboxQuestion, Choice, ListQuestion} from '../ground/system/system.ts';
import {escText, frameOf, indented, questionText} from './prompt-frame.ts';
import {TOKEN} from './prompt-text.ts';
import {asciiFallback, paragraph, type Screen, SPINNER, theme} from './theme.ts';

/** What the user has done in a list; it outlives a redraw. */
export interface Chosen {
  term: string;
  active?: number;
  ticked?: ReadonlySet<string>;
  isHelpOpen: boolean;
}

interface ListConfig {
  question: ListQuestion & Pick<CheckboxQuestion, 'selected'>;
  kind: 'select' | 'search' | 'checkbox';
  chosen: Chosen;
  /** The screen with its present width. */
  screen(): Screen & {columns: number};
  output: {rows?: number};
}

/** Maximum and minimum lines of the list. */
const MAX_LINES = 15;
const MIN_LINES = 3;
/** A window of this height shows more of a list than of its heading. */
const HIGH = 12;
const MIN_LINES_HIGH = 5;
/** Narrower terminals show the description of the active choice only, under the list. */
const WIDE = 60;
const FRAME_MS = 100;

/**
 * The list of select, search and checkbox. The lists of @inquirer/prompts cannot open help on ?: they redraw only when a
 * choice changes, and asking again loses the position and all ticks. They also wrap a long choice at the left edge.
 */
export const listPrompt = createPrompt<readonly Choice[], ListConfig>(
  ({question, kind, chosen, output, ...config}, done) => {
    const [term, setTerm] = useState(chosen.term);
    const [offered, setOffered] = useState(question.choices);
    const choices = matching(offered, term);
    const [active, setActive] = useState(
      () => chosen.active ?? firstOf(question.choices, question.default),
    );
    const [ticked, setTicked] = useState<ReadonlySet<string>>(
      () => chosen.ticked ?? new Set(question.selected),
    );
    const [isHelpOpen, openHelp] = useState(chosen.isHelpOpen);
    Object.assign(chosen, {term, active, ticked, isHelpOpen});
    const current = choices[active];

    useEffect(() => {
      let isOpen = true;
      void question.laterChoices?.then((later) => isOpen && setOffered(later));
      return () => {
        isOpen = false;
      };
    }, []);

    useKeypress((key, rl) => {
      const {line} = rl;
      const vim = kind === 'search' ? [] : (['vim'] as const);
      // The readline buffer holds the search term and nothing else.
      const setLine = (text: string): void => {
        rl.clearLine(0);
        rl.write(text);
      };
      setLine(term);
      if (isEnterKey(key) && kind === 'checkbox')
        done(choices.filter(({value}) => ticked.has(value)));
      else if (isEnterKey(key) && current !== undefined) done([current]);
      else if (isUpKey(key, vim)) setActive(next(choices, active, -1));
      else if (isDownKey(key, vim)) setActive(next(choices, active, 1));
      else if (line === '?') openHelp(!isHelpOpen);
      else if (kind === 'search' && line !== term && !isEnterKey(key)) {
        setLine(line);
        setTerm(line);
        setActive(firstOf(matching(question.choices, line)));
      } else if (isNumberKey(key) && isAvailable(choices[Number(key.name) - 1]))
        setActive(Number(key.name) - 1);
      else if (isSpaceKey(key) && current !== undefined) setTicked(toggled(ticked, current.value));
    });

    const whole = config.screen();
    const {dim} = theme(whole);
    const {mark, first, indent, above} = frameOf(question.heading, whole);
    // Choices have a mark of their own.
    const rail = question.heading === undefined ? '' : indent;
    const screen = {...whole, columns: whole.columns - width(rail)};
    const asking = `${first}${questionText(question.message, question.note, whole, indent)} ${kind === 'search' ? term.replaceAll(TOKEN, '') : cursorHide}`;
    const longest = Math.max(...offered.map(({label}) => label.length));
    const isWide = whole.columns >= WIDE || longest <= whole.columns / 3;
    const column = Math.min(longest, Math.floor(whole.columns / 2) - 6);
    const rowTexts = choices.map((choice, index) => {
      const box = kind === 'checkbox' ? `${ticked.has(choice.value) ? '◉' : '◯'} ` : '';
      const isActive = index === active;
      return itemText(choice, `${isActive ? '❯' : ' '} ${box}`, {
        isActive,
        column: isWide ? column : undefined,
        screen,
      });
    });
    const length = Math.min(rowTexts.join('\n').split('\n').length, MAX_LINES);
    const least = Math.min((output.rows ?? 24) < HIGH ? MIN_LINES : MIN_LINES_HIGH, length);
    const room = (output.rows ?? 24) - asking.split('\n').length - least - 1;
    const heading = fitting(above, room, room + least - length);
    const rows = (output.rows ?? 24) - asking.split('\n').length - heading.length;
    const footerFor = (page: Omit<ListPage, 'text'>): string[] => {
      const dimmed = (line: string): string[] =>
        indented(dim(line), whole, indent || '  ').split('\n');
      const about = [
        ...(!isWide && current?.description !== undefined ? [current.description] : []),
        ...(isHelpOpen ? question.help : []),
      ];
      const keys = dimmed([...countsOf(page), keysOf(kind, question)].join(' · '));
      const lines = [...about.flatMap(dimmed), ...keys];
      const most = Math.max(rows - least, 0) || lines.length;
      return lines.length <= most
        ? lines
        : [...lines.slice(0, -keys.length), keys[0] as string].slice(-most);
    };
    const pageAbove = (footer: readonly string[]): ListPage => {
      const lines = Math.max(least, Math.min(MAX_LINES, rows - footer.length));
      return pageOf(rowTexts, active, {lines, columns: screen.columns});
    };
    const all = pageAbove(footerFor({above: 0, below: 0}));
    // The counts can make the footer longer.
    const page =
      countsOf(all).length === 0
        ? all
        : pageAbove(footerFor({above: choices.length, below: choices.length}));
    const shown = (page.text || indented('No matches', screen)).replace(/^/gm, rail);
    return [
      [
        ...heading.slice(0, 1).map((line) => mark + line),
        ...heading.slice(1),
        heading.length > 0 ? asking : mark + asking,
      ].join('\n'),
      [shown, ...footerFor(page)].join('\n'),
    ];
  },
);

/** Shows a spinner until the promise settles. Keys are ignored. */
export const waitPrompt = createPrompt<
  'done',
  {message: string; heading?: readonly string[]; until: Promise<unknown>; screen(): Screen}
>(({message, heading, until, ...config}, done) => {
  const [frame, setFrame] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => setFrame((frame + 1) % SPINNER.length), FRAME_MS);
    return () => clearTimeout(timer);
  }, [frame]);
  useEffect(() => {
    const end = (): void => done('done');
    void until.then(end, end);
  }, []);
  useKeypress((_, rl) => rl.clearLine(0));
  const screen = config.screen();
  const {mark, first, above} = frameOf(heading, screen);
  const text = `${asciiFallback(theme(screen).cyan(SPINNER[frame] as string), screen)} ${message}${cursorHide}`;
  return above.length === 0
    ? text
    : [`${mark}${above[0]}`, ...above.slice(1), `${first}${text}`].join('\n');
});

/**
 * The first line and as many of the last ones as fit `room`, the longest paragraphs as their first line where that is necessary.
 * Blank lines are for windows in which the whole list fits as well, which leaves `ample` lines.
 */
function fitting([first, ...others]: readonly string[], room: number, ample: number): string[] {
  const heightOf = (texts: readonly string[]): number =>
    texts.reduce((sum, text) => sum + text.split('\n').length, 0);
  const dense =
    heightOf(others) < ample
      ? others
      : others.filter((text) => !/^[│|]?\s*$/.test(stripVTControlCharacters(text)));
  const firstLine = (text: string): string =>
    text.replace(/(?: \S*|\S{2})?\n[\s\S]*$/, text.includes('\u001B') ? ' …\u001B[0m' : ' …');
  let shown = dense;
  while (heightOf(shown) >= room && shown.some((text) => text.includes('\n'))) {
    const heights = shown.map((text) => heightOf([text]));
    const highest = heights.indexOf(Math.max(...heights));
    shown = shown.with(highest, firstLine(shown[highest] as string));
  }
  const kept = shown.filter((_, index) => heightOf(shown.slice(index)) < room);
  return first === undefined
    ? []
    : [...first.split('\n'), ...kept.flatMap((text) => text.split('\n'))];
}

/** A choice with its description, or why it is disabled, in a column of its own. */
function itemText(
  {label, description = '', disabled}: Choice,
  mark: string,
  {isActive, column, screen}: {isActive: boolean; column: number | undefined; screen: Screen},
): string {
  const {cyan, dim} = theme(screen);
  const color = disabled !== undefined ? dim : isActive ? cyan : (text: string) => text;
  if (column === undefined)
    return color(
      paragraph(mark, disabled === undefined ? label : `${label} - ${disabled}`, screen).trimEnd(),
    );
  const about = disabled ?? description;
  const isLong = label.length > column;
  if (isLong) return color(paragraph(mark, `${label}  ${dim(about)}`.trimEnd(), screen).trimEnd());
  return paragraph(color(`${mark}${label.padEnd(column)}  `), dim(about), screen).trimEnd();
}

/** How many rows are out of sight. */
const countsOf = ({above, below}: Omit<ListPage, 'text'>): string[] => [
  ...(above > 0 ? [`↑ ${above} more`] : []),
  ...(below > 0 ? [`↓ ${below} more`] : []),
];

function keysOf(kind: ListConfig['kind'], {help, canGoBack}: ListQuestion): string {
  const enter = {
    select: ['Enter to select'],
    search: ['type to search', 'Enter to select'],
    checkbox: ['Space to toggle', 'Enter to confirm'],
  }[kind];
  return [
    ...enter,
    ...(canGoBack ? [escText(canGoBack)] : []),
    ...(help.length > 0 ? ['? for help'] : []),
  ].join(' · ');
}

const matching = (choices: readonly Choice[], term: string): readonly Choice[] =>
  choices.filter(({label}) => label.toLowerCase().includes(term.toLowerCase()));

const isAvailable = (choice: Choice | undefined): boolean =>
  choice !== undefined && choice.disabled === undefined;

/** Index of the preferred choice, or of the first, that is not disabled; -1 if all are. */
function firstOf(choices: readonly Choice[], preferred?: string): number {
  const index = choices.findIndex((choice) => choice.value === preferred && isAvailable(choice));
  return index >= 0 ? index : choices.findIndex(isAvailable);
}

/** Index of the nearest choice in that direction that is not disabled; the list has no end. */
function next(choices: readonly Choice[], from: number, step: 1 | -1): number {
  const {length} = choices;
  for (let moved = 1; moved < length; moved += 1) {
    const at = (from + step * moved + length * moved) % length;
    if (isAvailable(choices[at])) return at;
  }
  return from;
}

function toggled(ticked: ReadonlySet<string>, value: string): ReadonlySet<string> {
  const after = new Set(ticked);
  if (!after.delete(value)) after.add(value);
  return after;
}

/** The visible part of a list. */
export interface ListPage {
  text: string;
  /** Number of rows above and below it. */
  above: number;
  below: number;
}

/** The rows that fit into `lines`, with the active row in the middle if possible. A row may have several lines. */
export function pageOf(
  rows: readonly string[],
  active: number,
  {lines, columns}: {lines: number; columns: number},
): ListPage {
  const heightOf = (index: number): number =>
    rows[index]
      ?.split('\n')
      .reduce((sum, line) => sum + Math.max(1, Math.ceil(width(line) / columns)), 0) ??
    Number.POSITIVE_INFINITY;
  const middle = Math.max(active, 0);
  let first = middle;
  let last = middle;
  let left = lines - heightOf(middle);
  for (;;) {
    const fitsAbove = heightOf(first - 1) <= left;
    const fitsBelow = heightOf(last + 1) <= left;
    if (!fitsAbove && !fitsBelow) break;
    if (fitsAbove && (!fitsBelow || middle - first < last - middle)) left -= heightOf(--first);
    else left -= heightOf(++last);
  }
  const text = rows.slice(first, last + 1).join('\n');
  return {
    text: text.split('\n').slice(0, lines).join('\n'),
    above: first,
    below: Math.max(0, rows.length - 1 - last),
  };
}
