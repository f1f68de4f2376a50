import {setTimeout as sleep} from 'node:timers/promises';
import {describe, expect, test} from 'vitest';
import type {InputQuestion} from '../../src/ground/system/system.ts';
import {
  CTRL_A,
  CTRL_C,
  CTRL_D,
  CTRL_U,
  DOWN,
  ENTER,
  ESC,
  PromptTerminal,
} from '../support/prompt-terminal.ts';

const URL: InputQuestion = {
  message: 'Scalr URL',
  help: ['The URL in your browser.', '--url URL. https://docs.scalr.io'],
  validate: (text) => (text.startsWith('https://') ? undefined : 'Not an https URL'),
};
const CHOICES = [
  {value: 'eks', label: 'prod-eks', description: 'current context: EKS 1.35, 6 nodes'},
  {value: 'docker', label: 'Docker', description: 'on this machine'},
  {
    value: 'vm',
    label: 'Virtual machine',
    disabled: 'not possible here, because this machine has no systemd, which the packages require',
  },
];
const LIST = {
  message: 'Where will the agent run?',
  heading: [],
  help: ['Nothing is changed until you choose Install.'],
  choices: CHOICES,
  canGoBack: true,
};

/** Asks on a terminal that already shows the question. */
async function asked(question: Partial<InputQuestion>, terminal = new PromptTerminal()) {
  const answer = terminal.prompter.input({...URL, ...question});
  answer.catch(() => undefined);
  await terminal.see('Scalr URL');
  return {terminal, answer};
}

describe('a text', () => {
  test('has one line that explains it, and its default on the line below', async () => {
    const {terminal, answer} = await asked({
      default: 'https://acme.scalr.io',
      note: 'from the token',
    });
    expect(await terminal.lines()).toEqual([
      '? Scalr URL (from the token)',
      '  The URL in your browser.',
      '  (https://acme.scalr.io)',
    ]);
    expect(await terminal.press(ENTER)).toEqual(['✔ Scalr URL https://acme.scalr.io']);
    expect(await answer).toBe('https://acme.scalr.io');
  });

  test('is trimmed', async () => {
    const {terminal, answer} = await asked({});
    await terminal.press(`  https://acme.scalr.io ${ENTER}`);
    expect(await answer).toBe('https://acme.scalr.io');
  });

  test('that is prefilled can be edited, or deleted', async () => {
    const prefilled = {isPrefilled: true, default: 'https://acme', validate: () => undefined};
    const {terminal, answer} = await asked(prefilled);
    expect((await terminal.lines()).at(-1)).toBe('  https://acme');
    await terminal.press(`.scalr.io${ENTER}`);
    expect(await answer).toBe('https://acme.scalr.io');
    const other = await asked(prefilled);
    expect((await other.terminal.press(CTRL_U)).at(-1)).toBe('  (empty)');
    await other.terminal.press(ENTER);
    expect(await other.answer).toBe('');
  });

  test('is refused on Enter, and stays for correction', async () => {
    const {terminal, answer} = await asked({});
    await terminal.press('ttps://a');
    expect(await terminal.press(ENTER)).toContain('   Not an https URL');
    await terminal.press(`${CTRL_A}h`);
    await terminal.press(ENTER);
    expect(await answer).toBe('https://a');
    expect(await terminal.lines()).toEqual(['✔ Scalr URL https://a']);
  });

  test('does not reappear after Ctrl-C during a check', async () => {
    let refuse = (_: string): void => undefined;
    const validate = () => new Promise<string>((resolve) => (refuse = resolve));
    const {terminal, answer} = await asked({validate});
    await terminal.press(`a${ENTER}${CTRL_C}`);
    await expect(answer).rejects.toMatchObject({name: 'PromptCanceled'});
    refuse('There is no a');
    expect(await terminal.lines()).toEqual([]);
    expect(terminal.input.isPaused()).toBe(true);
  });
});

describe('a list', () => {
  test('has the meanings beside the choices, and the keys below', async () => {
    const terminal = new PromptTerminal();
    const answer = terminal.prompter.select({...LIST, default: 'eks'});
    expect(await terminal.see('Esc back')).toEqual([
      '◆  Where will the agent run?',
      '   Nothing is changed until you choose Install.',
      '❯ prod-eks         current context: EKS 1.35, 6 nodes',
      '  Docker           on this machine',
      '- Virtual machine  not possible here, because this machine has no systemd, wh…',
      '',
      '   ↑↓ move · type to jump · Enter select · Esc back',
    ]);
    await terminal.press('do');
    await terminal.press(ENTER);
    expect(await answer).toBe('docker');
    expect(await terminal.lines()).toEqual([]);
  });

  test('with consequences is not answered by a key that is held down', async () => {
    const terminal = new PromptTerminal();
    const answer = terminal.prompter.select({...LIST, isConsequential: true});
    await terminal.press(ENTER.repeat(5));
    await terminal.see('Enter select');
    await terminal.press(ENTER);
    await terminal.press(DOWN);
    await terminal.press(ENTER);
    expect(await answer).toBe('docker');
  });

  test('says why a choice is not possible', async () => {
    const terminal = new PromptTerminal();
    const answer = terminal.prompter.select(LIST);
    await terminal.see('Esc back');
    await terminal.press(`${DOWN}${DOWN}`);
    expect((await terminal.lines()).join(' ')).toContain('because this machine has no systemd');
    expect(await terminal.press(ENTER)).toContain('   This choice is not possible.');
    await terminal.press(`${DOWN}${ENTER}`);
    expect(await answer).toBe('eks');
  });

  test('fits a window of 50×15', async () => {
    const terminal = new PromptTerminal({columns: 50, rows: 15});
    const choices = Array.from({length: 20}, (_, index) => ({
      value: String(index),
      label: `row ${index}`,
      description: 'a meaning that has no room beside its choice here',
    }));
    void terminal.prompter.select({...LIST, choices}).catch(() => undefined);
    const lines = await terminal.see('Enter select');
    expect(lines.length).toBeLessThan(15);
    expect(lines[0]).toBe('◆  Where will the agent run?');
    expect(lines).toContain('❯ row 0');
  });

  test('shows facts that arrive late, and keeps the position', async () => {
    const terminal = new PromptTerminal();
    let arrive = (_: typeof CHOICES): void => undefined;
    const laterChoices = new Promise<typeof CHOICES>((resolve) => (arrive = resolve));
    const answer = terminal.prompter.select({...LIST, laterChoices});
    await terminal.see('Esc back');
    await terminal.press(DOWN);
    arrive(CHOICES.map((each) => ({...each, label: `${each.label}!`})));
    await terminal.see('❯ Docker!');
    await terminal.press(ENTER);
    expect(await answer).toBe('docker');
  });

  test('can be filtered, without showing a token', async () => {
    const terminal = new PromptTerminal();
    const answer = terminal.prompter.search(LIST);
    await terminal.see('type to filter');
    await terminal.press('dock');
    await terminal.see('❯ Docker');
    await terminal.press(ENTER);
    expect(await answer).toBe('docker');
  });

  test('has no colors and no Unicode where the terminal has none', async () => {
    const terminal = new PromptTerminal({isAscii: true});
    void terminal.prompter.select(LIST).catch(() => undefined);
    await terminal.see('Enter select');
    expect((await terminal.lines()).join('')).toMatch(/^[ -~]*$/);
    expect(terminal.written.split('\u001b').filter((each) => /^\[[\d;]*m/.test(each))).toEqual([]);
  });
});

describe('Esc', () => {
  test('goes back when the question allows it, and erases the question', async () => {
    const {terminal, answer} = await asked({canGoBack: true});
    await terminal.press(ESC);
    await expect(answer).rejects.toMatchObject({name: 'GoBack'});
    expect(await terminal.lines()).toEqual([]);
  });

  test('does nothing when the question does not allow it', async () => {
    const {terminal, answer} = await asked({});
    await terminal.press(ESC);
    await sleep(100);
    await terminal.press(`https://a${ENTER}`);
    expect(await answer).toBe('https://a');
  });

  test('is no to a confirmation', async () => {
    const terminal = new PromptTerminal();
    const answer = terminal.prompter.confirm('Replace it?');
    expect(await terminal.see('y/N')).toEqual(['? Replace it? (y/N)']);
    await terminal.press(ESC);
    expect(await answer).toBe(false);
  });
});

describe('the end of a question', () => {
  test.each([
    ['Ctrl-C', CTRL_C],
    ['Ctrl-D', CTRL_D],
  ])('%s cancels it, and leaves the terminal as it was', async (_, key) => {
    const {terminal, answer} = await asked({});
    await terminal.press(key);
    await expect(answer).rejects.toMatchObject({name: 'PromptCanceled'});
    expect(await terminal.lines()).toEqual([]);
    expect(terminal.input.isRaw).toBe(false);
  });

  test('a signal removes it, and none is shown after the signal', async () => {
    const ending = new AbortController();
    const terminal = new PromptTerminal({signal: ending.signal});
    const {answer} = await asked({}, terminal);
    ending.abort();
    await expect(answer).rejects.toMatchObject({name: 'PromptCanceled'});
    await expect(terminal.prompter.input(URL)).rejects.toMatchObject({name: 'PromptCanceled'});
    const forever = new Promise<never>(() => undefined);
    await expect(terminal.prompter.wait('Reading', forever)).rejects.toMatchObject({
      name: 'PromptCanceled',
    });
  });
});

test('a wait shows at once that something happens, and leaves no mark', async () => {
  const terminal = new PromptTerminal();
  let end = (_: string): void => undefined;
  const waited = terminal.prompter.wait(
    'Reading the cluster',
    new Promise<string>((resolve) => (end = resolve)),
  );
  expect(await terminal.lines()).toEqual(['⠋  Reading the cluster']);
  end('read');
  expect(await waited).toBe('read');
  expect(await terminal.lines()).toEqual([]);
  expect(terminal.showsCursor).toBe(true);
});
