import {stripVTControlCharacters} from 'node:util';
import {describe, expect, test} from 'vitest';
import type {Choice, ListQuestion} from '../../src/ground/system/system.ts';
import {
  BACKSPACE,
  CTRL_C,
  CTRL_D,
  DOWN,
  ENTER,
  ESC,
  PromptTerminal,
  UP,
} from '../support/prompt-terminal.ts';

const KINDS: readonly Choice[] = [
  {value: 'local', label: 'agent-local', description: 'Runs share a container.'},
  {value: 'job', label: 'agent-job', disabled: 'needs Kubernetes 1.35'},
  {value: 'k8s', label: 'agent-k8s', description: 'Every run gets a pod.'},
];
const QUESTION: ListQuestion = {
  message: 'Which chart?',
  help: ['Compare them.', 'It can be changed.', 'https://docs.scalr.io'],
  choices: KINDS,
};
const named = (names: readonly string[]): Choice[] =>
  names.map((name) => ({value: name, label: name}));

async function asked<Kind extends 'select' | 'search' | 'checkbox' = 'select'>(
  question: Partial<ListQuestion> = {},
  {terminal = new PromptTerminal(), kind = 'select' as Kind} = {},
) {
  const answer = terminal.prompter[kind]({...QUESTION, ...question}) as ReturnType<
    PromptTerminal['prompter'][Kind]
  >;
  answer.catch(() => undefined);
  await terminal.see('Which chart?');
  return {terminal, answer};
}

describe('select', () => {
  test('offers the first choice that is not disabled, with descriptions beside the choices', async () => {
    const {terminal, answer} = await asked();
    expect(await terminal.lines()).toEqual([
      '? Which chart?',
      '❯ agent-local  Runs share a container.',
      '  agent-job    needs Kubernetes 1.35',
      '  agent-k8s    Every run gets a pod.',
      '  Enter to select · ? for help',
    ]);
    expect(await terminal.press(ENTER)).toEqual(['✔ Which chart? agent-local']);
    expect(await answer).toBe('local');
  });

  test('keeps its groups apart, unless the list would not fit then', async () => {
    const heading = [
      'Review',
      'Size\t5 runs',
      '',
      '! 2 warnings:',
      `  - ${'one '.repeat(14).trim()}`,
      '  - two',
    ];
    const shownIn = async (rows: number): Promise<string[]> => {
      const {terminal} = await asked(
        {heading},
        {terminal: new PromptTerminal({columns: 61, rows})},
      );
      return (await terminal.lines()).slice(0, -5);
    };
    const warnings = [
      '│  ! 2 warnings:',
      `│    - ${'one '.repeat(13).trim()}`,
      '│      one',
      '│    - two',
    ];
    expect(await shownIn(12)).toEqual(['◆  Review', '│  Size       5 runs', '│', ...warnings]);
    expect(await shownIn(11)).toEqual(['◆  Review', '│  Size       5 runs', ...warnings]);
  });

  test('shortens only the longest paragraphs of its heading', async () => {
    const heading = [
      'Review',
      ...['one ', 'two '].map((word, index) => word.repeat(20 + 20 * index).trim()),
      'x'.repeat(70),
    ];
    const shownIn = async (rows: number): Promise<string[]> => {
      const {terminal} = await asked(
        {heading},
        {terminal: new PromptTerminal({columns: 50, rows})},
      );
      return (await terminal.lines()).slice(1, -5);
    };
    const one = 'one one one one one one one one one one one one';
    const two = 'two two two two two two two two two two two two';
    const x = 'x'.repeat(49);
    expect(await shownIn(13)).toEqual([
      one,
      expect.stringMatching(/^one/),
      `${two.slice(0, -4)} …`,
      x,
      expect.stringMatching(/^x+$/),
    ]);
    expect(await shownIn(9)).toEqual([
      `${one.slice(0, -4)} …`,
      `${two.slice(0, -4)} …`,
      expect.stringMatching(/^x+ …$/),
    ]);
  });

  test('shows the description after a long choice, and under the list in a narrow window', async () => {
    const label = 'One that needs a long name to be told from the others';
    const choices = [{value: 'long', label, disabled: 'not here'}, ...KINDS];
    const {terminal} = await asked({choices});
    expect(await terminal.lines()).toEqual([
      '? Which chart?',
      `  ${label}  not here`,
      `❯ ${'agent-local'.padEnd(33)}  Runs share a container.`,
      `  ${'agent-job'.padEnd(33)}  needs Kubernetes 1.35`,
      `  ${'agent-k8s'.padEnd(33)}  Every run gets a pod.`,
      '  Enter to select · ? for help',
    ]);
    const narrow = await asked({choices}, {terminal: new PromptTerminal({columns: 50})});
    expect(await narrow.terminal.lines()).toEqual([
      '? Which chart?',
      '  One that needs a long name to be told from the',
      '  others - not here',
      '❯ agent-local',
      '  agent-job - needs Kubernetes 1.35',
      '  agent-k8s',
      '  Runs share a container.',
      '  Enter to select · ? for help',
    ]);
  });

  test('offers the default unless it is disabled', async () => {
    const {terminal, answer} = await asked({default: 'k8s', note: 'what fits'});
    const lines = await terminal.lines();
    expect(lines[0]).toBe('? Which chart? (what fits)');
    expect(lines[3]).toContain('❯ agent-k8s');
    await terminal.press(ENTER);
    expect(await answer).toBe('k8s');
    const other = await asked({default: 'job'});
    await other.terminal.press(ENTER);
    expect(await other.answer).toBe('local');
  });

  test.each([
    ['the arrow', DOWN, 'k8s'],
    ['j', 'j', 'k8s'],
    ['the arrow there and back', `${DOWN}${UP}`, 'local'],
    ['j and k', 'jk', 'local'],
    ['arrows past the end', DOWN.repeat(5), 'k8s'],
    ['the number of a choice', '3', 'k8s'],
    ['the number of a disabled choice', '2', 'local'],
    ['a number that does not exist', '9', 'local'],
    ['a key without a function', 'x', 'local'],
    ['Esc without a way back', ESC, 'local'],
  ])('reaches only enabled choices with %s', async (_, keys, expected) => {
    const {terminal, answer} = await asked();
    for (const key of keys.startsWith(ESC) ? [keys] : keys) await terminal.press(key);
    await terminal.press(ENTER);
    expect(await answer).toBe(expected);
  });

  test('? opens and closes help under the list and keeps the position', async () => {
    const {terminal} = await asked();
    const list = (await terminal.press(DOWN)).slice(0, 4);
    expect(await terminal.press('?')).toEqual([
      ...list,
      ...QUESTION.help.map((line) => `  ${line}`),
      '  Enter to select · ? for help',
    ]);
    expect(await terminal.press('?')).toEqual([...list, '  Enter to select · ? for help']);
  });

  test('hides the cursor during the question and shows it afterwards', async () => {
    const {terminal, answer} = await asked();
    expect(terminal.showsCursor).toBe(false);
    await terminal.press(ENTER);
    await answer;
    expect(terminal.showsCursor).toBe(true);
  });

  test.each([
    ['Ctrl-C', CTRL_C],
    ['Ctrl-D', CTRL_D],
  ])('cancels on %s and shows the cursor', async (_, key) => {
    const {terminal, answer} = await asked();
    await terminal.press(key);
    await expect(answer).rejects.toMatchObject({name: 'PromptCanceled'});
    await terminal.lines();
    expect(terminal.showsCursor).toBe(true);
    expect(terminal.input.isRaw).toBe(false);
  });

  test('goes back on Esc when the question allows it, and erases the question', async () => {
    const {terminal, answer} = await asked({canGoBack: true});
    expect((await terminal.lines()).at(-1)).toBe('  Enter to select · Esc to go back · ? for help');
    await terminal.press(ESC);
    await expect(answer).rejects.toMatchObject({name: 'GoBack'});
    expect(await terminal.lines()).toEqual([]);
  });

  test('removes the question on a signal', async () => {
    const gone = new AbortController();
    const {answer} = await asked({}, {terminal: new PromptTerminal({signal: gone.signal})});
    gone.abort('SIGTERM');
    await expect(answer).rejects.toMatchObject({name: 'PromptCanceled'});
  });
});

describe('a list', () => {
  const many = named(Array.from({length: 40}, (_, index) => `cluster-${index + 1}`));

  test('scrolls when it has more than fifteen choices', async () => {
    const {terminal, answer} = await asked({choices: many});
    expect((await terminal.lines()).slice(1, -1).map((line) => line.trim())).toEqual([
      '❯ cluster-1',
      ...many.slice(1, 15).map(({label}) => label),
    ]);
    const lines = await terminal.press(DOWN.repeat(39));
    expect(lines).toHaveLength(17);
    expect(lines.at(-1)).toMatch(/^ {2}↑ 25 more · Enter/);
    expect(lines.at(-2)).toBe('❯ cluster-40');
    await terminal.press(ENTER);
    expect(await answer).toBe('cluster-40');
  });

  test.each([
    ['the first row', 0, '↓ 30 more', 'row-1', 'row-10'],
    ['a row in the middle', 19, '↑ 15 more · ↓ 15 more', 'row-16', 'row-25'],
    ['the last row', 39, '↑ 30 more', 'row-31', 'row-40'],
  ])('counts the rows above and below, not the lines, on %s', async (_, active, counts, first, last) => {
    const rows = Array.from({length: 40}, (_, index) => `row-${index + 1}`);
    const description =
      'ReadWriteOnce, ReadOnlyMany, ReadWriteMany and ReadWriteOncePod, if the driver has the right version';
    const choices = rows.map((name, index) => ({
      value: name,
      label: name,
      ...(index % 2 === 0 ? {description} : {}),
    }));
    const {terminal} = await asked({choices, default: rows[active]});
    const lines = await terminal.lines();
    expect(lines.at(-1)).toContain(`  ${counts} · Enter`);
    expect(
      lines.filter((line) => /^. row-/.test(line)).map((line) => line.slice(2).split(' ')[0]),
    ).toEqual(rows.slice(rows.indexOf(first), rows.indexOf(last) + 1));
  });

  test('fits a small window, without scrolling the question away', async () => {
    const terminal = new PromptTerminal({columns: 40, rows: 15});
    const long = [1, 2, 3].map(
      (each) => `arn:aws:eks:eu-west-1:123456789012:cluster/${'very-long-name-'.repeat(5)}${each}`,
    );
    await asked({choices: named(long)}, {terminal});
    for (const key of ['?', DOWN, DOWN, '?', UP])
      expect((await terminal.press(key)).length).toBeLessThanOrEqual(15);
    expect((await terminal.press(ENTER)).join('').replaceAll(/\s/g, '')).toContain(
      long[1] as string,
    );
  });

  test('keeps three lines, and hides help, in a window of five rows', async () => {
    const {terminal} = await asked({choices: many}, {terminal: new PromptTerminal({rows: 5})});
    expect(await terminal.press('?')).toHaveLength(5);
  });

  test('wraps a long choice under its own text', async () => {
    const terminal = new PromptTerminal({columns: 50});
    const description = 'Volumes of the node are not allowed, nor is root.';
    await asked(
      {choices: [{value: 'openshift', label: 'openshift', description}, ...named(['a name'])]},
      {terminal},
    );
    expect((await terminal.lines()).slice(1, 3)).toEqual([
      '❯ openshift  Volumes of the node are not allowed,',
      '             nor is root.',
    ]);
    const other = new PromptTerminal({columns: 30});
    await asked(
      {choices: named(['one two three four five six seven eight nine ten'])},
      {terminal: other},
    );
    expect((await other.lines()).slice(1, 3)).toEqual([
      '❯ one two three four five six',
      '  seven eight nine ten',
    ]);
  });
});

describe('search', () => {
  const choices = named(['prod-eu', 'prod-us', 'staging-eu']);
  const searched = (question: Partial<ListQuestion> = {}) =>
    asked({choices, ...question}, {kind: 'search'});

  test('keeps the choices that contain the typed letters, ignoring case', async () => {
    const {terminal, answer} = await searched();
    expect((await terminal.lines()).at(-1)).toBe('  type to search · Enter to select · ? for help');
    expect((await terminal.press('EU')).slice(0, -1)).toEqual([
      '? Which chart? EU',
      '❯ prod-eu',
      '  staging-eu',
    ]);
    expect(terminal.cursor).toEqual({row: 0, column: '? Which chart? EU'.length});
    await terminal.press(DOWN);
    expect(await terminal.press(ENTER)).toEqual(['✔ Which chart? staging-eu']);
    expect(await answer).toBe('staging-eu');
  });

  test('says when nothing matches, ignores Enter then, and keeps the typed letters', async () => {
    const {terminal, answer} = await searched();
    await terminal.press('usx');
    expect((await terminal.press(ENTER)).slice(0, 2)).toEqual([
      '? Which chart? usx',
      '  No matches',
    ]);
    expect((await terminal.press(BACKSPACE)).slice(0, -1)).toEqual([
      '? Which chart? us',
      '❯ prod-us',
    ]);
    await terminal.press(ENTER);
    expect(await answer).toBe('prod-us');
  });

  test('offers the default, and searches for digits, j and blanks too', async () => {
    const {terminal} = await searched({choices: named(['a j1', 'b']), default: 'b'});
    expect(await terminal.lines()).toContain('❯ b');
    expect((await terminal.press(' j1')).slice(0, 2)).toEqual(['? Which chart?  j1', '❯ a j1']);
  });

  test('? opens help only as the first letter', async () => {
    const {terminal} = await searched();
    expect(await terminal.press('?')).toContain('  Compare them.');
    expect((await terminal.press('p?'))[0]).toBe('? Which chart? p?');
  });
});

describe('checkbox', () => {
  const ticked = (question: Partial<ListQuestion> = {}, terminal = new PromptTerminal()) =>
    asked(question, {terminal, kind: 'checkbox'});

  test('toggles a choice on space and confirms on Enter', async () => {
    const {terminal, answer} = await ticked();
    expect(await terminal.lines()).toContain('  Space to toggle · Enter to confirm · ? for help');
    expect((await terminal.press(` ${DOWN} `)).slice(1, 4)).toEqual([
      '  ◉ agent-local  Runs share a container.',
      '  ◯ agent-job    needs Kubernetes 1.35',
      '❯ ◉ agent-k8s    Every run gets a pod.',
    ]);
    await terminal.press(' ');
    expect(await terminal.press(ENTER)).toEqual(['✔ Which chart? agent-local']);
    expect(await answer).toEqual(['local']);
  });

  test('returns choices in the order of the list, not in the order of selection', async () => {
    const {terminal, answer} = await ticked();
    for (const key of [DOWN, ' ', UP, ' ']) await terminal.press(key);
    expect(await terminal.press(ENTER)).toEqual(['✔ Which chart? agent-local, agent-k8s']);
    expect(await answer).toEqual(['local', 'k8s']);
  });

  test('keeps the ticks when ? opens help', async () => {
    const {terminal} = await ticked();
    await terminal.press(' ');
    expect(await terminal.press('?')).toEqual(
      expect.arrayContaining(['❯ ◉ agent-local  Runs share a container.', '  Compare them.']),
    );
  });

  test('returns none on Enter alone', async () => {
    const {terminal, answer} = await ticked();
    expect(await terminal.press(ENTER)).toEqual(['✔ Which chart? none']);
    expect(await answer).toEqual([]);
  });

  test('confirms on Enter even when no choice is enabled', async () => {
    const {terminal, answer} = await ticked({choices: KINDS.slice(1, 2)});
    await terminal.press(` ${ENTER}`);
    expect(await answer).toEqual([]);
  });

  test('shows marks and boxes in ASCII on an ASCII terminal', async () => {
    const {terminal, answer} = await ticked({}, new PromptTerminal({isAscii: true}));
    expect((await terminal.press(' ')).slice(0, 3)).toEqual([
      '? Which chart?',
      '> [x] agent-local  Runs share a container.',
      '  [ ] agent-job    needs Kubernetes 1.35',
    ]);
    expect(await terminal.press(ENTER)).toEqual(['+ Which chart? agent-local']);
    expect(stripVTControlCharacters(terminal.written)).toMatch(/^[ -~\n]*$/);
    await answer;
  });
});

test('colors the active choice, and uses no color codes without colors', async () => {
  const plain = new PromptTerminal();
  const colored = new PromptTerminal({hasColor: true});
  for (const terminal of [plain, colored]) await asked({}, {terminal});
  expect(plain.written.split('\u001b').filter((each) => /^\[[\d;]*m/.test(each))).toEqual([]);
  expect(colored.written).toContain('\u001b[36m❯ agent-local  \u001b[39m');
});
