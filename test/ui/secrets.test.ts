import {expect, test} from 'vitest';
import type {TextQuestion} from '../../src/ground/system/system.ts';
import {BACKSPACE, CTRL_C, CTRL_U, ENTER, PromptTerminal, UP} from '../support/prompt-terminal.ts';

/** Signs that neither the question nor an escape sequence has. */
const SECRET = 'żółwßøµ';
const QUESTION: TextQuestion = {message: 'Token', help: ['From the agent pool.']};

/** Asks, answers with these keys, and proves that no sign of the secret was ever written. */
async function asked(
  keys: readonly string[],
  question: Partial<TextQuestion> = {},
  isDumb = false,
) {
  const terminal = new PromptTerminal({isDumb});
  const answer = terminal.prompter.password({...QUESTION, ...question});
  answer.catch(() => undefined);
  await terminal.see('? Token');
  for (const each of keys) {
    await terminal.press(each);
    for (const sign of SECRET) expect(terminal.written).not.toContain(sign);
  }
  return {terminal, answer};
}

test.each([
  false,
  true,
])('shows only the length of a secret, also on a dumb terminal (%s)', async (isDumb) => {
  const {terminal, answer} = await asked([...SECRET, ENTER], {}, isDumb);
  expect(await answer).toBe(SECRET);
  expect((await terminal.lines()).join('\n')).toMatch(/^[✔?] Token:? \[hidden, 7 characters\]$/);
});

test.each([
  false,
  true,
])('deletes a character on Backspace and all on Ctrl-U, also on a dumb terminal (%s)', async (isDumb) => {
  const {answer} = await asked([SECRET, CTRL_U, SECRET, BACKSPACE, BACKSPACE, ENTER], {}, isDumb);
  expect(await answer).toBe(SECRET.slice(0, -2));
});

test.each([
  false,
  true,
])('takes a whole paste of 2000 characters, also on a dumb terminal (%s)', async (isDumb) => {
  const long = SECRET.repeat(300).slice(0, 2000);
  const {terminal, answer} = await asked([long, ENTER], {}, isDumb);
  expect(await answer).toBe(long);
  expect(terminal.written).toContain('[hidden, 2000 characters]');
});

test.each([
  false,
  true,
])('takes the first line of a paste as the answer and drops the rest, also on a dumb terminal (%s)', async (isDumb) => {
  const {terminal, answer} = await asked([`${SECRET}\n${SECRET}\n`], {}, isDumb);
  expect(await answer).toBe(SECRET);
  const next = terminal.prompter.input({message: 'Name', help: [], note: 'none'});
  await terminal.see('Name');
  await terminal.press(ENTER);
  expect(await next).toBe('');
});

test.each([
  false,
  true,
])('shows nothing of a secret after a refusal or an arrow key, also on a dumb terminal (%s)', async (isDumb) => {
  const validate = (text: string) => (text === SECRET ? 'That is no token' : undefined);
  const {terminal, answer} = await asked(
    [SECRET, ENTER, UP, CTRL_U, 'x', ENTER],
    {validate},
    isDumb,
  );
  expect(await answer).toBe('x');
  expect(terminal.written).toContain('That is no token');
});

test('shows one dot per character during typing', async () => {
  const {terminal} = await asked([SECRET]);
  expect((await terminal.lines()).at(-1)).toBe('  ●●●●●●●');
});

test.each([
  false,
  true,
])('cancels on Ctrl-C and restores the echo, also on a dumb terminal (%s)', async (isDumb) => {
  const {terminal, answer} = await asked([SECRET], {}, isDumb);
  expect(terminal.input.isRaw).toBe(true);
  await terminal.press(CTRL_C);
  await expect(answer).rejects.toMatchObject({name: 'PromptCanceled'});
  expect(terminal.input.isRaw).toBe(false);
});

test('restores the echo after a signal during a secret, also on a dumb terminal', async () => {
  const gone = new AbortController();
  const terminal = new PromptTerminal({isDumb: true, signal: gone.signal});
  const answer = terminal.prompter.password(QUESTION);
  expect(terminal.input.isRaw).toBe(true);
  gone.abort('SIGTERM');
  await expect(answer).rejects.toMatchObject({name: 'PromptCanceled'});
  expect(terminal.input.isRaw).toBe(false);
});
