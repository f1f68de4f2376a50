import {describe, expect, test} from 'vitest';
import type {TextQuestion} from '../../../src/ports/prompter.ts';
import {BACKSPACE, CTRL_A, CTRL_C, CTRL_D, CTRL_U, ENTER, LEFT, PromptTerminal, RIGHT} from '../../support/prompt-terminal.ts';

const HELP = ['The address you open Scalr at.', 'It is not the address of the API.', '--url URL. https://docs.scalr.io'];
const ADDRESS: TextQuestion = {
  message: 'Address of your account',
  help: HELP,
  problem: (text) => (text.startsWith('https://') ? undefined : 'Not an https address'),
};

/** Asks on a terminal that already shows the question. */
async function asked(question: Partial<TextQuestion>, terminal = new PromptTerminal()) {
  const answer = terminal.prompter.text({...ADDRESS, ...question});
  answer.catch(() => undefined);
  await terminal.see((question.message ?? ADDRESS.message).slice(0, 10));
  return {terminal, answer};
}

test('Enter alone takes the default, which stands behind the question with where it is from', async () => {
  const {terminal, answer} = await asked({default: 'https://acme.scalr.io', note: 'from the token'});
  expect(await terminal.lines()).toEqual(['? Address of your account (https://acme.scalr.io, from the token)', '  ? explains']);
  expect(await terminal.press(ENTER)).toEqual(['✔ Address of your account https://acme.scalr.io']);
  expect(await answer).toBe('https://acme.scalr.io');
});

test('blanks around what was typed are no part of it', async () => {
  const {terminal, answer} = await asked({default: 'https://acme.scalr.io'});
  await terminal.press(`  https://other.scalr.io ${ENTER}`);
  expect(await answer).toBe('https://other.scalr.io');
});

test('where Enter alone says nothing, the answer is shown as what that means', async () => {
  const {terminal, answer} = await asked({problem: () => undefined, note: 'no proxy'});
  expect(await terminal.press(ENTER)).toEqual(['✔ Address of your account no proxy']);
  expect(await answer).toBe('');
});

describe('a default that stands in the line', () => {
  const edited = {isEdited: true, default: 'https://acme.scalr.io', problem: () => undefined};

  test('is kept by Enter', async () => {
    const {terminal, answer} = await asked(edited);
    expect((await terminal.lines())[0]).toBe('? Address of your account https://acme.scalr.io');
    await terminal.press(ENTER);
    expect(await answer).toBe('https://acme.scalr.io');
  });

  test('can be changed anywhere', async () => {
    const {terminal, answer} = await asked(edited);
    await terminal.press(`${CTRL_A}${RIGHT.repeat(8)}my.`);
    expect(await terminal.lines()).toEqual(['? Address of your account https://my.acme.scalr.io']);
    await terminal.press(`${LEFT}${BACKSPACE}t${ENTER}`);
    expect(await answer).toBe('https://mt.acme.scalr.io');
  });

  test('can be emptied, and that is an answer', async () => {
    const {terminal, answer} = await asked(edited);
    await terminal.press(CTRL_U);
    await terminal.press(ENTER);
    expect(await answer).toBe('');
  });
});

describe('a text that cannot be', () => {
  test('is said to be wrong while it is typed, and no more once it is right', async () => {
    const {terminal} = await asked({});
    expect(await terminal.press('http')).toEqual(['? Address of your account http', '  Not an https address']);
    expect(await terminal.press('s://a')).toEqual(['? Address of your account https://a']);
  });

  test('is refused on Enter, stays in the line and is corrected there', async () => {
    const {terminal, answer} = await asked({});
    expect(await terminal.press(`ttps://a${ENTER}`)).toEqual(['? Address of your account ttps://a', '  Not an https address']);
    await terminal.press(`${CTRL_A}h${ENTER}`);
    expect(await answer).toBe('https://a');
    expect(await terminal.lines()).toEqual(['✔ Address of your account https://a']);
  });

  test('is refused even where nothing was typed', async () => {
    const {terminal} = await asked({});
    expect(await terminal.press(ENTER)).toEqual(['? Address of your account', '  Not an https address', '  ? explains']);
  });
});

describe('what has to be looked up', () => {
  test('is refused with the reason, and asked for again', async () => {
    const check = async (path: string) => (path === 'here.pem' ? undefined : `There is no ${path}`);
    const {terminal, answer} = await asked({problem: () => undefined, check});
    expect(await terminal.press(`there.pem${ENTER}`)).toEqual(['? Address of your account there.pem', '  There is no there.pem']);
    await terminal.press(`${CTRL_U}here.pem${ENTER}`);
    expect(await answer).toBe('here.pem');
  });

  test('takes no keys meanwhile', async () => {
    let refuse = (_: string): void => undefined;
    const check = () => new Promise<string>((resolve) => (refuse = resolve));
    const {terminal} = await asked({problem: () => undefined, check});
    await terminal.press(`a${ENTER}`);
    await terminal.press('lost');
    refuse('There is no a');
    await terminal.see('There is no a');
    expect((await terminal.press('b'))[0]).toBe('? Address of your account ab');
  });
});

describe('?', () => {
  test('explains in three lines, and takes them away again', async () => {
    const {terminal} = await asked({});
    expect(await terminal.press('?')).toEqual(['? Address of your account', ...HELP.map((line) => `  ${line}`)]);
    expect(await terminal.press('?')).toEqual(['? Address of your account', '  ? explains']);
  });

  test('leaves nothing behind once the question is answered', async () => {
    const {terminal} = await asked({});
    await terminal.press('?');
    await terminal.press('https://a');
    expect(await terminal.press(ENTER)).toEqual(['✔ Address of your account https://a']);
  });

  test('inside a text is a part of it', async () => {
    const {terminal, answer} = await asked({});
    await terminal.press(`https://a?b${ENTER}`);
    expect(await answer).toBe('https://a?b');
  });
});

describe('long texts', () => {
  const path = `/etc/${'certificates/'.repeat(15)}ca.pem`;

  test('a pasted path of 200 characters is seen whole, in rows under the question, the cursor behind it', async () => {
    const {terminal, answer} = await asked({message: 'CA file', problem: () => undefined});
    const lines = await terminal.press(path);
    expect(lines).toEqual(['? CA file', `  ${path.slice(0, 77)}`, `  ${path.slice(77, 154)}`, `  ${path.slice(154)}`]);
    expect(terminal.cursor).toEqual({row: 3, column: 2 + path.length - 154});
    await terminal.press(ENTER);
    expect(await answer).toBe(path);
  });

  test('the cursor can go up into its first row', async () => {
    const {terminal, answer} = await asked({message: 'CA file', problem: () => undefined});
    await terminal.press(path);
    await terminal.press(CTRL_A);
    expect(terminal.cursor).toEqual({row: 1, column: 2});
    expect((await terminal.press('.'))[1]).toBe(`  .${path.slice(0, 76)}`);
    expect(terminal.cursor).toEqual({row: 1, column: 3});
    await terminal.press(ENTER);
    expect(await answer).toBe(`.${path}`);
  });

  test('a question wraps between words, under its first', async () => {
    const message = 'Address of your account as you would type it into a browser';
    const {terminal, answer} = await asked({message}, new PromptTerminal({columns: 40, rows: 15}));
    expect(await terminal.lines()).toEqual(['? Address of your account as you would', '  type it into a browser', '  ? explains']);
    const answered = ['Address of your account as you would', '  type it into a browser https://a'];
    expect(await terminal.press('https://a')).toEqual([`? ${answered[0]}`, answered[1]]);
    expect(await terminal.press(ENTER)).toEqual([`✔ ${answered[0]}`, answered[1]]);
    await answer;
  });

  test('a text in wide characters puts the cursor where it belongs', async () => {
    const {terminal} = await asked({message: 'CA file'});
    await terminal.press(`証明書${LEFT}`);
    expect(terminal.cursor).toEqual({row: 0, column: '? CA file '.length + 4});
  });

  test('tabs and escape sequences in what is pasted move nothing', async () => {
    const {terminal} = await asked({message: 'CA file', problem: () => undefined});
    expect(await terminal.press('a\tb')).toEqual(['? CA file a b']);
  });
});

test('a confirmation is no by default, and shown as what was meant', async () => {
  const terminal = new PromptTerminal();
  const first = terminal.prompter.confirm('Replace it?');
  expect(await terminal.see('Replace')).toEqual(['? Replace it? (y/N)']);
  expect(await terminal.press('maybe')).toEqual(['? Replace it? (y/N) maybe', '  Type y or n']);
  await terminal.press(`${CTRL_U}${ENTER}`);
  expect(await first).toBe(false);
  const second = terminal.prompter.confirm('Sure?');
  await terminal.see('Sure?');
  await terminal.press(`yep${BACKSPACE}s${ENTER}`);
  expect(await second).toBe(true);
  expect(await terminal.lines()).toEqual(['✔ Replace it? no', '✔ Sure? yes']);
});

describe('the end of a question', () => {
  test.each([
    ['Ctrl-C', CTRL_C],
    ['Ctrl-D', CTRL_D],
  ])('%s rejects it, shows the cursor, and gives the terminal back', async (_, key) => {
    const {terminal, answer} = await asked({});
    expect(terminal.input.isRaw).toBe(true);
    await terminal.press(key);
    await expect(answer).rejects.toMatchObject({name: 'ExitPromptError'});
    await terminal.lines();
    expect(terminal.showsCursor).toBe(true);
    expect(terminal.input.isRaw).toBe(false);
  });

  test('a terminal that is gone ends it', async () => {
    const {terminal, answer} = await asked({});
    terminal.input.end();
    await expect(answer).rejects.toMatchObject({name: 'ExitPromptError'});
  });

  test('a signal takes the question away', async () => {
    const gone = new AbortController();
    const {terminal, answer} = await asked({}, new PromptTerminal({signal: gone.signal}));
    gone.abort('SIGTERM');
    await expect(answer).rejects.toMatchObject({name: 'AbortPromptError'});
    expect(terminal.input.isRaw).toBe(false);
  });

  test('a signal that was there before takes it away before it comes', async () => {
    const terminal = new PromptTerminal({signal: AbortSignal.abort('SIGTERM')});
    await expect(terminal.prompter.text(ADDRESS)).rejects.toMatchObject({name: 'ExitPromptError'});
    expect(terminal.input.isRaw).toBe(false);
    expect(await terminal.lines()).toEqual([]);
  });
});
