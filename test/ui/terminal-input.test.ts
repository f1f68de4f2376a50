import {PassThrough} from 'node:stream';
import {setTimeout as sleep} from 'node:timers/promises';
import {expect, onTestFinished, test, vi} from 'vitest';
import {TerminalInput} from '../../src/ui/terminal-input.ts';
import {DOWN, ENTER, ESC, PromptTerminal} from '../support/prompt-terminal.ts';
import {jwt} from '../wizard/conversation.ts';

const TOKEN = jwt({iss: 'acme.scalr.io'});
const paste = (text: string): string => `\u001B[200~${text}\u001B[201~`;
const LIST = {
  message: 'Which?',
  help: [],
  choices: ['one', 'two'].map((value) => ({value, label: value})),
};

// At best: other work can delay it.
test('takes Esc as a key within a tenth of a second', {retry: 5}, async () => {
  const terminal = new PromptTerminal();
  const answer = terminal.prompter.select({...LIST, canGoBack: true});
  answer.catch(() => undefined);
  await terminal.see('Which?');
  const start = performance.now();
  await terminal.press(ESC);
  await expect(answer).rejects.toMatchObject({name: 'GoBack'});
  expect(performance.now() - start).toBeLessThan(250);
});

test('takes two Esc in one chunk as two keys, and an arrow after Esc as an arrow', async () => {
  const terminal = new PromptTerminal();
  const answer = terminal.prompter.select(LIST);
  await terminal.see('Which?');
  await terminal.press(`${ESC}${ESC}${DOWN}`);
  await terminal.see('❯ two');
  await terminal.press(ENTER);
  expect(await answer).toBe('two');
});

test.each([
  ['End', `${ESC}[F`],
  ['page down', `${ESC}[6~`],
  ['left', `${ESC}[D`],
  ['right', `${ESC}OC`],
  ['shift and tab', `${ESC}[Z`],
  ['F1', `${ESC}OP`],
  ['Alt with x', `${ESC}x`],
  ['Ctrl-U', '\u0015'],
])('stays in a list where it is after %s', async (_, key) => {
  const terminal = new PromptTerminal();
  const answer = terminal.prompter.select(LIST);
  await terminal.see('Which?');
  await terminal.press(DOWN);
  await terminal.see('❯ two');
  await terminal.press(key);
  await terminal.press(ENTER);
  expect(await answer).toBe('two');
});

test('drops keys between two questions of a session, without a mark on the screen', async () => {
  const terminal = new PromptTerminal();
  await terminal.prompter.session(
    async () => {
      const first = terminal.prompter.select({...LIST, heading: ['Step 1']});
      await terminal.see('Which?');
      await terminal.press(ENTER);
      await first;
      expect(terminal.input.isRaw).toBe(true);
      await terminal.press(`early${ENTER}${ENTER}`);
      const second = terminal.prompter.input({message: 'Name', help: [], heading: ['Step 2']});
      expect(await terminal.see('Name')).toEqual(['◆  Name', '   Step 2']);
      await terminal.press(`late${ENTER}`);
      expect(await second).toBe('late');
    },
    () => '',
  );
  expect(terminal.input.isRaw).toBe(false);
});

test('never selects with a paste, even when it ends with a line break', async () => {
  const terminal = new PromptTerminal();
  const answer = terminal.prompter.select(LIST);
  await terminal.see('Which?');
  await terminal.press(paste(`2${ENTER}`));
  expect(await terminal.see('Which?')).toContain('❯ one');
  await terminal.press(`${DOWN}${ENTER}`);
  expect(await answer).toBe('two');
});

test.each([
  ['pasted', paste(TOKEN)],
  ['typed', TOKEN],
])('never shows a token that is %s into the wrong question', async (_, keys) => {
  const terminal = new PromptTerminal();
  const answer = terminal.prompter.input({message: 'Name', help: []});
  await terminal.see('Name');
  await terminal.press(keys);
  await terminal.see('●●●●●●●●');
  // Neither is what an edit leaves of it.
  await terminal.press('\u0001\u001B[3~');
  await terminal.press(ENTER);
  await terminal.see('This is an agent pool token.');
  await terminal.press(`\u0005\u0015Ada${ENTER}`);
  expect(await answer).toBe('Ada');
  expect(terminal.written).not.toContain(TOKEN.slice(8, 20));
});

test.each([
  ['pasted', paste(TOKEN)],
  ['pasted without marks', `${TOKEN}\r`],
])('neither shows a token that is %s at a confirmation, nor takes it as yes', async (_, keys) => {
  const terminal = new PromptTerminal();
  const answer = terminal.prompter.confirm('Replace it?');
  await terminal.see('Replace');
  await terminal.press(keys);
  expect((await terminal.see('●●●●●●●●')).join('\n')).toContain('Replace it? (y/N)');
  await terminal.press('\u0015');
  await terminal.press(ENTER);
  expect(await answer).toBe(false);
  expect(terminal.written).not.toContain(TOKEN.slice(8, 20));
});

test('says what a secret is when it is pasted, in one repaint', async () => {
  const terminal = new PromptTerminal();
  const answer = terminal.prompter.password({
    message: 'Token',
    help: [],
    confirms: (text) => (text === TOKEN ? 'Token for acme' : undefined),
  });
  await terminal.see('Token');
  const before = terminal.written.length;
  await terminal.press(paste(`${TOKEN.slice(0, 30)}\r\n${TOKEN.slice(30)}\n`));
  expect(await terminal.see('acme')).toEqual([
    `? Token ${'●'.repeat(32)}  ${TOKEN.length} characters`,
    '   ✔ Token for acme',
  ]);
  expect(terminal.written.length - before).toBeLessThan(1500);
  await terminal.press(ENTER);
  expect(await answer).toBe(TOKEN);
});

test('draws the question again after a resize, with what is above it, the typed text and the position', async () => {
  const terminal = new PromptTerminal();
  await terminal.prompter.session(
    async () => {
      terminal.output.write('old\r\n');
      const name = terminal.prompter.input({message: 'Name', help: []});
      await terminal.see('Name');
      await terminal.press('half');
      terminal.output.emit('resize');
      await sleep(150);
      expect(await terminal.see('half')).toEqual(['new', '? Name half']);
      await terminal.press(`way${ENTER}`);
      expect(await name).toBe('halfway');
      const choice = terminal.prompter.select(LIST);
      await terminal.see('Which?');
      await terminal.press(DOWN);
      terminal.output.emit('resize');
      await sleep(150);
      await terminal.see('❯ two');
      await terminal.press(ENTER);
      expect(await choice).toBe('two');
    },
    () => 'new\r\n',
  );
});

test('wraps around at both ends of a list', async () => {
  const terminal = new PromptTerminal();
  const answer = terminal.prompter.select(LIST);
  await terminal.see('Which?');
  await terminal.press(`${DOWN}${DOWN}`);
  await terminal.see('❯ one');
  await terminal.press(`\u001B[A${ENTER}`);
  expect(await answer).toBe('two');
});

test('removes a secret that is refused, so that the next paste replaces it', async () => {
  const terminal = new PromptTerminal();
  const answer = terminal.prompter.password({
    message: 'Token',
    help: [],
    validate: async (text) => (text === TOKEN ? undefined : 'The token is incomplete'),
  });
  await terminal.see('Token');
  await terminal.press(paste(TOKEN.slice(0, 40)));
  await terminal.press(ENTER);
  expect((await terminal.see('The token is incomplete')).join('\n')).not.toContain('●');
  await terminal.press(paste(TOKEN));
  expect((await terminal.lines()).join('\n')).toContain(`${TOKEN.length} characters`);
  await terminal.press(ENTER);
  expect(await answer).toBe(TOKEN);
});

test('takes no notice of Ctrl-Z where a process cannot be stopped', async () => {
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw new TypeError('Unknown signal: SIGTSTP');
  });
  onTestFinished(() => kill.mockRestore());
  const output = new PassThrough();
  const keyboard = new PassThrough();
  const input = new TerminalInput({input: keyboard, output, canStop: false});
  let keys = '';
  input.on('data', (chunk: Buffer) => {
    keys += chunk.toString();
  });
  input.on('keypress', (text: string) => {
    keys += text;
  });
  input.hold();
  keyboard.write('ab\u001Acd');
  keyboard.write('\u001A');
  await sleep(0);
  expect({keys, written: output.read(), calls: kill.mock.calls}).toEqual({
    keys: 'abcd',
    written: null,
    calls: [],
  });
  input.release();
});
