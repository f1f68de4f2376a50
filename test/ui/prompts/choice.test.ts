import {stripVTControlCharacters} from 'node:util';
import {describe, expect, test} from 'vitest';
import type {Choice, ChoiceQuestion} from '../../../src/ports/prompter.ts';
import {CTRL_C, CTRL_D, DOWN, ENTER, PromptTerminal, UP} from '../../support/prompt-terminal.ts';

const KINDS: readonly Choice[] = [
  {value: 'local', label: 'agent-local', meaning: 'Runs share a container.'},
  {value: 'job', label: 'agent-job', unavailable: 'needs Kubernetes 1.35'},
  {value: 'k8s', label: 'agent-k8s', meaning: 'Every run gets a pod.'},
];
const QUESTION: ChoiceQuestion = {
  message: 'Which chart?',
  help: ['Compare them.', 'It can be changed.', 'https://docs.scalr.io'],
  choices: KINDS,
};
const named = (names: readonly string[]): Choice[] => names.map((name) => ({value: name, label: name}));

async function asked(question: Partial<ChoiceQuestion> = {}, terminal = new PromptTerminal()) {
  const answer = terminal.prompter.choose({...QUESTION, ...question});
  answer.catch(() => undefined);
  await terminal.see('Which chart?');
  return {terminal, answer};
}

describe('one of several', () => {
  test('the first that can be taken is offered, with what follows from it', async () => {
    const {terminal, answer} = await asked();
    expect(await terminal.lines()).toEqual([
      '? Which chart?',
      '❯ agent-local',
      '  agent-job - needs Kubernetes 1.35',
      '  agent-k8s',
      '  Runs share a container.',
      '  Enter takes · ? explains',
    ]);
    expect(await terminal.press(ENTER)).toEqual(['✔ Which chart? agent-local']);
    expect(await answer).toBe('local');
  });

  test('the default is offered where there is one that can be taken', async () => {
    const {terminal, answer} = await asked({default: 'k8s', note: 'what fits'});
    expect((await terminal.lines()).slice(0, 4)).toEqual([
      '? Which chart? (what fits)',
      '  agent-local',
      '  agent-job - needs Kubernetes 1.35',
      '❯ agent-k8s',
    ]);
    await terminal.press(ENTER);
    expect(await answer).toBe('k8s');
    const other = await asked({default: 'job'});
    await other.terminal.press(ENTER);
    expect(await other.answer).toBe('local');
  });

  test.each([
    ['the arrow', DOWN, 'k8s'],
    ['j', 'j', 'k8s'],
    ['there and back', `${DOWN}${UP}`, 'local'],
    ['j and k', 'jk', 'local'],
    ['further than the end', DOWN.repeat(5), 'k8s'],
    ['its number', '3', 'k8s'],
    ['the number of one that cannot be taken', '2', 'local'],
    ['a number that there is not', '9', 'local'],
    ['a key that means nothing', 'x', 'local'],
  ])('%s leads only to what can be taken', async (_, keys, expected) => {
    const {terminal, answer} = await asked();
    await terminal.press(keys);
    await terminal.press(ENTER);
    expect(await answer).toBe(expected);
  });

  test('? explains under the list, and no more once it is pressed again', async () => {
    const {terminal} = await asked();
    expect((await terminal.press('?')).slice(4)).toEqual([
      '  Runs share a container.',
      ...QUESTION.help.map((line) => `  ${line}`),
      '  Enter takes · ? explains',
    ]);
    expect((await terminal.press('?')).slice(4)).toEqual(['  Runs share a container.', '  Enter takes · ? explains']);
  });

  test('the cursor is hidden while it is asked and shown afterwards', async () => {
    const {terminal, answer} = await asked();
    expect(terminal.showsCursor).toBe(false);
    await terminal.press(ENTER);
    await answer;
    expect(terminal.showsCursor).toBe(true);
  });

  test.each([
    ['Ctrl-C', CTRL_C],
    ['Ctrl-D', CTRL_D],
  ])('%s ends it with the cursor shown', async (_, key) => {
    const {terminal, answer} = await asked();
    await terminal.press(key);
    await expect(answer).rejects.toMatchObject({name: 'ExitPromptError'});
    await terminal.lines();
    expect(terminal.showsCursor).toBe(true);
    expect(terminal.input.isRaw).toBe(false);
  });

  test('a signal takes the question away', async () => {
    const gone = new AbortController();
    const {answer} = await asked({}, new PromptTerminal({signal: gone.signal}));
    gone.abort('SIGTERM');
    await expect(answer).rejects.toMatchObject({name: 'AbortPromptError'});
  });
});

describe('a list', () => {
  const many = named(Array.from({length: 40}, (_, index) => `cluster-${index + 1}`));

  test('longer than twelve is a page that goes along', async () => {
    const {terminal, answer} = await asked({choices: many});
    expect((await terminal.lines()).slice(1, -1).map((line) => line.trim())).toEqual([
      '❯ cluster-1',
      ...many.slice(1, 12).map(({label}) => label),
    ]);
    const lines = await terminal.press(DOWN.repeat(39));
    expect(lines).toHaveLength(14);
    expect(lines.at(-2)).toBe('❯ cluster-40');
    await terminal.press(ENTER);
    expect(await answer).toBe('cluster-40');
  });

  test('stays where it is while it is walked through, however long what is said of each choice', async () => {
    const choices = many.slice(0, 3).map((choice, index) => ({...choice, meaning: 'It goes on and on. '.repeat(1 + index * 6)}));
    const terminal = new PromptTerminal({rows: 10});
    terminal.output.write('before\n'.repeat(8));
    await asked({choices}, terminal);
    const first = (await terminal.lines()).indexOf('? Which chart?');
    for (const key of [DOWN, DOWN, UP]) expect((await terminal.press(key)).indexOf('? Which chart?')).toBe(first);
  });

  test('on a small window is never higher than it, and nothing scrolls away', async () => {
    const terminal = new PromptTerminal({columns: 40, rows: 15});
    const long = [1, 2, 3].map((each) => `arn:aws:eks:eu-west-1:123456789012:cluster/${'very-long-name-'.repeat(5)}${each}`);
    await asked({choices: named(long)}, terminal);
    for (const key of ['?', DOWN, DOWN, '?', UP]) expect((await terminal.press(key)).length).toBeLessThanOrEqual(15);
    expect((await terminal.press(ENTER)).join('').replaceAll(/\s/g, '')).toContain(long[1] as string);
  });

  test('wraps a long name under its beginning', async () => {
    const {terminal} = await asked(
      {choices: named(['one two three four five six seven eight nine ten'])},
      new PromptTerminal({columns: 30}),
    );
    expect((await terminal.lines()).slice(1, 3)).toEqual(['❯ one two three four five six', '  seven eight nine ten']);
  });
});

describe('any number of them', () => {
  async function severalAsked(question: Partial<ChoiceQuestion> = {}) {
    const terminal = new PromptTerminal();
    const answer = terminal.prompter.chooseSeveral({...QUESTION, ...question});
    await terminal.see('Which chart?');
    return {terminal, answer};
  }

  test('space takes and gives back, Enter goes on', async () => {
    const {terminal, answer} = await severalAsked();
    expect(await terminal.lines()).toContain('  space takes · Enter goes on · ? explains');
    expect((await terminal.press(` ${DOWN} `)).slice(1, 4)).toEqual([
      '  ◉ agent-local',
      '  ◯ agent-job - needs Kubernetes 1.35',
      '❯ ◉ agent-k8s',
    ]);
    await terminal.press(' ');
    expect(await terminal.press(ENTER)).toEqual(['✔ Which chart? agent-local']);
    expect(await answer).toEqual(['local']);
  });

  test('they come in the order of the list, whichever was taken first', async () => {
    const {terminal, answer} = await severalAsked();
    expect(await terminal.press(`${DOWN} ${UP} ${ENTER}`)).toEqual(['✔ Which chart? agent-local, agent-k8s']);
    expect(await answer).toEqual(['local', 'k8s']);
  });

  test('Enter alone is none', async () => {
    const {terminal, answer} = await severalAsked();
    expect(await terminal.press(ENTER)).toEqual(['✔ Which chart? none']);
    expect(await answer).toEqual([]);
  });

  test('Enter goes on even where none can be taken', async () => {
    const {terminal, answer} = await severalAsked({choices: KINDS.slice(1, 2)});
    await terminal.press(` ${ENTER}`);
    expect(await answer).toEqual([]);
  });
});

test('on a terminal without such signs, marks and boxes are of ASCII', async () => {
  const terminal = new PromptTerminal({isAscii: true});
  const answer = terminal.prompter.chooseSeveral(QUESTION);
  await terminal.see('Which chart?');
  expect((await terminal.press(' ')).slice(0, 3)).toEqual([
    '? Which chart?',
    '> [x] agent-local',
    '  [ ] agent-job - needs Kubernetes 1.35',
  ]);
  expect(await terminal.press(ENTER)).toEqual(['+ Which chart? agent-local']);
  expect(stripVTControlCharacters(terminal.written)).toMatch(/^[ -~\n]*$/);
  await answer;
});

test('without colours there is no colour code, with them the offered choice has one', async () => {
  const [plain, coloured] = [new PromptTerminal(), new PromptTerminal({hasColor: true})];
  for (const terminal of [plain, coloured]) await asked({}, terminal);
  expect(plain.written.split('\u001b').filter((each) => /^\[[\d;]*m/.test(each))).toEqual([]);
  expect(coloured.written).toContain('\u001b[36m❯ agent-local\u001b[39m');
});
