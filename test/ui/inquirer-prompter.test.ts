import {setTimeout as sleep} from 'node:timers/promises';
import {describe, expect, test} from 'vitest';
import type {InputQuestion} from '../../src/ground/system/system.ts';
import {
  BACKSPACE,
  CTRL_A,
  CTRL_C,
  CTRL_D,
  CTRL_U,
  ENTER,
  ESC,
  LEFT,
  PromptTerminal,
  RIGHT,
} from '../support/prompt-terminal.ts';

const HELP = [
  'The address you open Scalr at.',
  'It is not the address of the API.',
  '--url URL. https://docs.scalr.io',
];
const ADDRESS: InputQuestion = {
  message: 'Address of your account',
  help: HELP,
  validate: (text) => (text.startsWith('https://') ? undefined : 'Not an https address'),
};
const ANYTHING = {validate: () => undefined};

/** Asks on a terminal that already shows the question. */
async function asked(question: Partial<InputQuestion>, terminal = new PromptTerminal()) {
  const answer = terminal.prompter.input({...ADDRESS, ...question});
  answer.catch(() => undefined);
  await terminal.see((question.message ?? ADDRESS.message).slice(0, 10));
  return {terminal, answer};
}

test('takes the default on Enter, and shows it with its source after the question', async () => {
  const {terminal, answer} = await asked({
    default: 'https://acme.scalr.io',
    note: 'from the token',
  });
  expect(await terminal.lines()).toEqual([
    '? Address of your account (https://acme.scalr.io, from the token)',
  ]);
  expect(terminal.cursor).toEqual({row: 1, column: 2});
  expect(await terminal.press(ENTER)).toEqual(['✔ Address of your account https://acme.scalr.io']);
  expect(await answer).toBe('https://acme.scalr.io');
});

test('trims blanks around the answer', async () => {
  const {terminal, answer} = await asked({default: 'https://acme.scalr.io'});
  await terminal.press(`  https://other.scalr.io ${ENTER}`);
  expect(await answer).toBe('https://other.scalr.io');
});

test('shows what an empty answer means after Enter', async () => {
  const {terminal, answer} = await asked({...ANYTHING, note: 'no proxy'});
  expect(await terminal.press(ENTER)).toEqual(['✔ Address of your account no proxy']);
  expect(await answer).toBe('');
});

describe('a prefilled default', () => {
  const prefilled = {isPrefilled: true, default: 'https://acme.scalr.io', ...ANYTHING};

  test('is kept by Enter', async () => {
    const {terminal, answer} = await asked(prefilled);
    expect(await terminal.lines()).toEqual([
      '? Address of your account',
      '  https://acme.scalr.io',
    ]);
    await terminal.press(ENTER);
    expect(await answer).toBe('https://acme.scalr.io');
  });

  test('can be edited anywhere', async () => {
    const {terminal, answer} = await asked(prefilled);
    for (const key of [CTRL_A, RIGHT.repeat(8), 'm', 'y', '.']) await terminal.press(key);
    expect((await terminal.lines())[1]).toBe('  https://my.acme.scalr.io');
    for (const key of [LEFT, BACKSPACE, 't', ENTER]) await terminal.press(key);
    expect(await answer).toBe('https://mt.acme.scalr.io');
  });

  test('is kept by Enter on an emptied line, as shown there, and removed by Backspace', async () => {
    const {terminal, answer} = await asked(prefilled);
    expect((await terminal.press(CTRL_U))[1]).toBe('  (https://acme.scalr.io, Backspace to clear)');
    await terminal.press(ENTER);
    expect(await answer).toBe('https://acme.scalr.io');
    const other = await asked(prefilled);
    await other.terminal.press(CTRL_U);
    expect(await other.terminal.press(BACKSPACE)).toEqual(['? Address of your account']);
    expect(await other.terminal.press(ENTER)).toEqual(['✔ Address of your account none']);
    expect(await other.answer).toBe('');
  });
});

describe('an invalid text', () => {
  test('is refused only on Enter, and stays in the line for correction', async () => {
    const {terminal, answer} = await asked({});
    expect(await terminal.press('ttps://a')).toEqual(['? Address of your account', '  ttps://a']);
    expect(await terminal.press(ENTER)).toEqual([
      '? Address of your account',
      '  ttps://a',
      '  Not an https address',
    ]);
    expect(await terminal.press(`${CTRL_A}h`)).toEqual([
      '? Address of your account',
      '  https://a',
    ]);
    await terminal.press(ENTER);
    expect(await answer).toBe('https://a');
    expect(await terminal.lines()).toEqual(['✔ Address of your account https://a']);
  });

  test('is refused even when it is empty', async () => {
    const {terminal} = await asked({});
    expect(await terminal.press(ENTER)).toEqual([
      '? Address of your account',
      '',
      '  Not an https address',
    ]);
  });

  test('may be refused after an asynchronous check', async () => {
    const validate = async (path: string) =>
      path === 'here.pem' ? undefined : `There is no ${path}`;
    const {terminal, answer} = await asked({validate});
    expect((await terminal.press(`there.pem${ENTER}`)).slice(1)).toEqual([
      '  there.pem',
      '  There is no there.pem',
    ]);
    await terminal.press(`${CTRL_U}here.pem${ENTER}`);
    expect(await answer).toBe('here.pem');
  });

  test('does not reappear after Ctrl-C during the check', async () => {
    let refuse = (_: string): void => undefined;
    const {terminal, answer} = await asked({
      validate: () => new Promise<string>((resolve) => (refuse = resolve)),
    });
    await terminal.press(`a${ENTER}${CTRL_C}`);
    await expect(answer).rejects.toMatchObject({name: 'PromptCanceled'});
    refuse('There is no a');
    expect(await terminal.lines()).toEqual([]);
    expect(terminal.input.isPaused()).toBe(true);
  });
});

describe('?', () => {
  test('opens and closes help under the question', async () => {
    const {terminal} = await asked({});
    expect(await terminal.press('?')).toEqual([
      '? Address of your account',
      ...HELP.map((line) => `  ${line}`),
    ]);
    expect(terminal.cursor).toEqual({row: 4, column: 2});
    expect(await terminal.press('?')).toEqual(['? Address of your account']);
  });

  test('leaves no help behind when the question is answered', async () => {
    const {terminal, answer} = await asked({});
    await terminal.press('?');
    expect((await terminal.press('https://a')).at(-1)).toBe('  https://a');
    expect(await terminal.press(ENTER)).toEqual(['✔ Address of your account https://a']);
    expect(await answer).toBe('https://a');
  });

  test('is part of the text after another key', async () => {
    const {terminal, answer} = await asked({});
    await terminal.press(`https://a?b${ENTER}`);
    expect(await answer).toBe('https://a?b');
  });

  test('is text when the question has no help', async () => {
    const {terminal, answer} = await asked({...ANYTHING, help: []});
    await terminal.press(`?${ENTER}`);
    expect(await answer).toBe('?');
  });
});

describe('Esc', () => {
  test('goes back when the question allows it, and erases the question', async () => {
    const {terminal, answer} = await asked({canGoBack: true});
    await terminal.press('half');
    await terminal.press(ESC);
    await expect(answer).rejects.toMatchObject({name: 'GoBack'});
    expect(await terminal.lines()).toEqual([]);
  });

  test('does nothing when the question does not allow it', async () => {
    const {terminal, answer} = await asked({});
    await terminal.press(ESC);
    // Node.js waits this long for the rest of an escape sequence.
    await sleep(600);
    await terminal.press(`https://a${ENTER}`);
    expect(await answer).toBe('https://a');
  });
});

describe('long texts', () => {
  test('shows all of a pasted path of 200 characters, with the cursor at the end', async () => {
    const path = `/etc/${'certificates/'.repeat(15)}ca.pem`;
    const {terminal, answer} = await asked({message: 'CA file', ...ANYTHING});
    const lines = await terminal.press(path);
    expect(lines.join('').replaceAll(' ', '')).toBe(`?CAfile${path}`);
    expect(terminal.cursor).toEqual({row: lines.length - 1, column: (2 + path.length) % 80});
    await terminal.press(ENTER);
    expect(await answer).toBe(path);
  });

  test('wraps a question between words and aligns its lines', async () => {
    const message = 'Address of your account as you would type it into a browser';
    const {terminal, answer} = await asked({message}, new PromptTerminal({columns: 40, rows: 15}));
    expect(await terminal.press('https://a')).toEqual([
      '? Address of your account as you would',
      '  type it into a browser',
      '  https://a',
    ]);
    expect(await terminal.press(ENTER)).toEqual([
      '✔ Address of your account as you would',
      '  type it into a browser https://a',
    ]);
    await answer;
  });
});

test('takes no as the default of a confirmation, and shows how the answer was understood', async () => {
  const terminal = new PromptTerminal();
  const first = terminal.prompter.confirm('Replace it?');
  expect(await terminal.see('Replace')).toEqual(['? Replace it? (y/N)']);
  await terminal.press(ENTER);
  expect(await first).toBe(false);
  const second = terminal.prompter.confirm('Sure?');
  await terminal.see('Sure?');
  await terminal.press(`yep${BACKSPACE}s${ENTER}`);
  expect(await second).toBe(true);
  const third = terminal.prompter.confirm('Really?');
  await terminal.see('Really?');
  await terminal.press(`maybe${ENTER}`);
  await terminal.see('Enter y or n');
  await terminal.press(`${BACKSPACE.repeat('maybe'.length)}n${ENTER}`);
  expect(await third).toBe(false);
  expect(await terminal.lines()).toEqual(['✔ Replace it? no', '✔ Sure? yes', '✔ Really? no']);
});

describe('the end of a question', () => {
  test.each([
    ['Ctrl-C', CTRL_C],
    ['Ctrl-D', CTRL_D],
  ])('cancels the question on %s, shows the cursor and restores the terminal', async (_, key) => {
    const {terminal, answer} = await asked({});
    expect(terminal.input.isRaw).toBe(true);
    await terminal.press(key);
    await expect(answer).rejects.toMatchObject({name: 'PromptCanceled'});
    await terminal.lines();
    expect(terminal.showsCursor).toBe(true);
    expect(terminal.input.isRaw).toBe(false);
  });

  test('deletes a character on Ctrl-D inside a text', async () => {
    const {terminal, answer} = await asked({});
    await terminal.press(`https://ab${LEFT}${CTRL_D}${ENTER}`);
    expect(await answer).toBe('https://a');
  });

  test('cancels the question when the terminal is gone', async () => {
    const {terminal, answer} = await asked({});
    terminal.input.end();
    await expect(answer).rejects.toMatchObject({name: 'PromptCanceled'});
  });

  test('removes the question on a signal', async () => {
    const gone = new AbortController();
    const {terminal, answer} = await asked({}, new PromptTerminal({signal: gone.signal}));
    gone.abort('SIGTERM');
    await expect(answer).rejects.toMatchObject({name: 'PromptCanceled'});
    expect(terminal.input.isRaw).toBe(false);
  });

  test('shows no question when the signal came before it', async () => {
    const terminal = new PromptTerminal({signal: AbortSignal.abort('SIGTERM')});
    await expect(terminal.prompter.input(ADDRESS)).rejects.toMatchObject({name: 'PromptCanceled'});
    expect(terminal.input.isRaw).toBe(false);
    expect(await terminal.lines()).toEqual([]);
  });
});
