import {setTimeout} from 'node:timers/promises';
import {describe, expect, test, vi} from 'vitest';
import {answeredStep} from '../../src/ui/prompt-frame.ts';
import {
  BACKSPACE,
  CTRL_D,
  CTRL_U,
  ENTER,
  ESC,
  LEFT,
  PromptTerminal,
} from '../support/prompt-terminal.ts';

const HELP = [
  'The address you open Scalr at.',
  'It is not the address of the API.',
  '--url URL. https://docs.scalr.io',
];
const ADDRESS = {
  message: 'Address',
  help: HELP,
  validate: (text: string) => (text.startsWith('https://') ? undefined : 'Not an https address'),
};
const CHOICE = {
  message: 'Which chart?',
  help: HELP,
  choices: [
    {value: 'local', label: 'agent-local', description: 'Runs share a container.'},
    {value: 'job', label: 'agent-job', disabled: 'needs Kubernetes 1.35'},
    {value: 'k8s', label: 'agent-k8s'},
  ],
};

const dumb = (columns = 80, signal?: AbortSignal) =>
  new PromptTerminal({isDumb: true, isAscii: true, columns, ...(signal ? {signal} : {})});

/** A pipe shows nothing of what is typed; it is only heard. */
const shown = (terminal: PromptTerminal): string => terminal.written;

test('prints plain lines without escape sequences', async () => {
  const terminal = dumb();
  const {prompter} = terminal;
  terminal.input.write('https://acme.scalr.io\n2\n3\ny\n');
  expect(
    await prompter.input({...ADDRESS, default: 'https://old.scalr.io', note: 'from the token …'}),
  ).toBe('https://acme.scalr.io');
  expect(await prompter.select({...CHOICE, default: 'local'})).toBe('k8s');
  expect(await prompter.confirm('Replace it?')).toBe(true);
  expect((await terminal.lines()).join('\n')).toMatchInlineSnapshot(`
    "? Address (https://old.scalr.io, from the token ...): ? Which chart?
      1. agent-local - Runs share a container.
      -. agent-job - needs Kubernetes 1.35
      3. agent-k8s
    ? Number (1):   Enter a number from 1 to 3
    ? Number (1): ? Replace it? (y/N):"
  `);
  expect(terminal.written).toMatch(/^[ -~\n]*$/);
});

test('keeps lines typed ahead, in one or several pieces, for their questions', async () => {
  const terminal = dumb();
  const any = {message: 'Name', help: []};
  const first = terminal.prompter.input(any);
  terminal.input.write('one\r\ntw');
  expect(await first).toBe('one');
  terminal.input.write('o\nthree\n');
  expect(await terminal.prompter.input(any)).toBe('two');
  expect(await terminal.prompter.input(any)).toBe('three');
});

test('joins a letter that arrives in two pieces', async () => {
  const terminal = dumb();
  const name = terminal.prompter.input({message: 'Name', help: []});
  const [first, second] = Buffer.from('é');
  terminal.input.write(Buffer.from([first as number]));
  await terminal.lines();
  terminal.input.write(Buffer.from([second as number, 0x0a]));
  expect(await name).toBe('é');
});

describe('a text', () => {
  test('takes the default on Enter', async () => {
    const terminal = dumb();
    terminal.input.write('\n');
    expect(await terminal.prompter.input({...ADDRESS, default: 'https://old.scalr.io'})).toBe(
      'https://old.scalr.io',
    );
  });

  test('is refused when it is invalid, and asked for again', async () => {
    const terminal = dumb();
    terminal.input.write('acme\nhttps://acme.scalr.io\n');
    expect(await terminal.prompter.input(ADDRESS)).toBe('https://acme.scalr.io');
    expect(await terminal.lines()).toEqual(['? Address:   Not an https address', '? Address:']);
  });

  test('is refused with the reason after an asynchronous check', async () => {
    const terminal = dumb();
    terminal.input.write('there.pem\nhere.pem\n');
    const validate = async (path: string) =>
      path === 'here.pem' ? undefined : `There is no ${path}`;
    expect(await terminal.prompter.input({...ADDRESS, validate})).toBe('here.pem');
    expect(shown(terminal)).toContain('  There is no there.pem\n');
  });

  test('shows wrapped help on ?, and keeps a ? inside the text', async () => {
    const terminal = dumb(30);
    terminal.input.write('?\nhttps://a?b\n');
    expect(await terminal.prompter.input(ADDRESS)).toBe('https://a?b');
    expect(shown(terminal)).toMatch(
      /^\? Address: {3}The address you open Scalr\n {2}at\.\n {2}It is not the address of the\n {2}API\.\n/,
    );
  });

  test.each([
    ['Enter keeps it', '', 'old'],
    ['- clears it', '-', ''],
    ['another text replaces it', 'new', 'new'],
  ])('has a prefilled default: %s', async (_, typed, expected) => {
    const terminal = dumb();
    terminal.input.write(`${typed}\n`);
    const question = {message: 'Name', help: [], isPrefilled: true, default: 'old'};
    expect(await terminal.prompter.input(question)).toBe(expected);
    expect(shown(terminal)).toBe('? Name (old, - to clear): ');
  });

  test('cannot be cleared when it may not be empty', async () => {
    const terminal = dumb();
    terminal.input.write('-\n\n');
    expect(
      await terminal.prompter.input({...ADDRESS, isPrefilled: true, default: 'https://a'}),
    ).toBe('https://a');
    expect(shown(terminal)).toBe(
      '? Address (https://a):   Not an https address\n? Address (https://a): ',
    );
  });

  test('ignores arrow keys, which such a terminal cannot follow', async () => {
    const terminal = dumb();
    terminal.input.write('\u001b[Aname\u001b[D\n');
    expect(await terminal.prompter.input({message: 'Name', help: []})).toBe('name');
  });
});

describe('a choice', () => {
  test.each(['2', '4', '0', 'x', '1 3'])('refuses %s and asks again', async (typed) => {
    const terminal = dumb();
    terminal.input.write(`${typed}\n3\n`);
    expect(await terminal.prompter.select(CHOICE)).toBe('k8s');
    expect(shown(terminal)).toContain('Enter a number from 1 to 3');
  });

  test('takes the default on Enter', async () => {
    const terminal = dumb();
    terminal.input.write('\n');
    expect(await terminal.prompter.select({...CHOICE, default: 'k8s'})).toBe('k8s');
  });
});

test('takes no as the default of a confirmation', async () => {
  const terminal = dumb();
  terminal.input.write('\n');
  expect(await terminal.prompter.confirm('Replace it?')).toBe(false);
});

describe('the end of a question', () => {
  const ask = (terminal: PromptTerminal) => terminal.prompter.input(ADDRESS);

  test('cancels on Ctrl-D', async () => {
    const terminal = dumb();
    terminal.input.write(CTRL_D);
    await expect(ask(terminal)).rejects.toMatchObject({name: 'PromptCanceled'});
  });

  test('cancels this and every later question when the terminal is gone', async () => {
    const terminal = dumb();
    const answer = ask(terminal);
    terminal.input.end();
    await expect(answer).rejects.toMatchObject({name: 'PromptCanceled'});
    await expect(ask(terminal)).rejects.toMatchObject({name: 'PromptCanceled'});
  });

  test('goes back on Esc and Enter when the question allows it', async () => {
    const terminal = dumb();
    terminal.input.write(`${ESC}\nhttps://a\n${ESC}\n`);
    await expect(terminal.prompter.input({...ADDRESS, canGoBack: true})).rejects.toMatchObject({
      name: 'GoBack',
    });
    expect(await ask(terminal)).toBe('https://a');
    await expect(terminal.prompter.select({...CHOICE, canGoBack: true})).rejects.toMatchObject({
      name: 'GoBack',
    });
  });

  test('cancels on a signal, also when the signal came before', async () => {
    const gone = new AbortController();
    const terminal = dumb(80, gone.signal);
    const answer = ask(terminal);
    gone.abort('SIGINT');
    await expect(answer).rejects.toMatchObject({name: 'PromptCanceled'});
    await expect(ask(terminal)).rejects.toMatchObject({name: 'PromptCanceled'});
    // What is said next begins a line.
    expect(shown(terminal)).toBe('? Address: \n');
  });
});

describe('for a screen reader', () => {
  const spoken = () =>
    new PromptTerminal({isDumb: true, isAccessible: true, isLive: false, columns: 100});

  test('numbers the choices, names every state, and takes words for keys', async () => {
    const terminal = spoken();
    terminal.input.write('help\n2\n3\n');
    expect(await terminal.prompter.select({...CHOICE, default: 'local', canGoBack: true})).toBe(
      'k8s',
    );
    expect(shown(terminal)).toMatchInlineSnapshot(`
      "Which chart?
        1. agent-local (default) - Runs share a container.
        -. agent-job - not available: needs Kubernetes 1.35
        3. agent-k8s
      Type a number, back, help or quit, then Enter:   The address you open Scalr at.
        It is not the address of the API.
        --url URL. https://docs.scalr.io
      Type a number, back, help or quit, then Enter:   Invalid answer: Enter a number from 1 to 3
      Type a number, back, help or quit, then Enter: "
    `);
    expect(terminal.written).toMatch(/^[ -~\n]*$/);
  });

  test.each([
    ['back', 'GoBack', spoken],
    ['quit', 'PromptCanceled', spoken],
    ['back', 'GoBack', dumb],
  ])('%s ends the question with %s', async (word, name, open) => {
    const terminal = open();
    terminal.input.write(`${word}\n`);
    await expect(terminal.prompter.input({...ADDRESS, canGoBack: true})).rejects.toMatchObject({
      name,
    });
  });

  test('hears the name of an answered step', () => {
    const step = (isAccessible: boolean) =>
      answeredStep('Where', ['prod-eks'], {hasColor: false, columns: 80, isAccessible});
    expect(step(true)).toBe('Answered: Where: prod-eks\n');
    expect(step(false)).toBe('◇  Where      prod-eks\n');
  });
});

describe('on a terminal, which shows nothing itself', () => {
  const NAME = {message: 'Name', help: []};
  const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJhY21lIn0.c2lnbmF0dXJl';
  const terminalOf = () => new PromptTerminal({isDumb: true, isAscii: true, isTTY: true});

  /** Asks for a name, and presses these keys one after the other. */
  async function typed(...keys: string[]) {
    const terminal = terminalOf();
    const answer = terminal.prompter.input({...NAME, canGoBack: true});
    answer.catch(() => undefined);
    for (const key of keys) await terminal.press(key);
    return {terminal, answer};
  }

  test('writes each character once, and erases only at the end of the line', async () => {
    const {terminal, answer} = await typed(
      'ä',
      'c',
      LEFT,
      BACKSPACE,
      'b',
      CTRL_U,
      '漢',
      BACKSPACE,
      'ok',
      ENTER,
    );
    expect(await answer).toBe('ok');
    expect(terminal.written).toBe('? Name: äc\b \bb\b \b\b \b漢\b \b\b \bok\n');
    expect(terminal.input.isRaw).toBe(false);
  });

  test.each([
    ['pasted', [TOKEN, ENTER]],
    ['pasted in two pieces', [TOKEN.slice(0, 30), TOKEN.slice(30), ENTER]],
    ['pasted with the Enter', [`${TOKEN}\r`]],
    ['pasted after other text', ['my ', TOKEN, ENTER]],
    ['typed', [...TOKEN, ENTER]],
  ])('neither shows nor takes a token that is %s', async (_, keys) => {
    const {terminal, answer} = await typed(...keys);
    await terminal.see('This is an agent pool token.');
    expect(terminal.written).toMatch(/^\? Name: .*\[hidden, \d+ characters\]\n/);
    await terminal.press(`Ada${ENTER}`);
    expect(await answer).toBe('Ada');
    for (let at = 7; at < TOKEN.length - 4; at++)
      expect(terminal.written).not.toContain(TOKEN.slice(at, at + 4));
  });

  test.each([
    ['in two lines', `${TOKEN.slice(0, 30)}\r${TOKEN.slice(30)}\r`],
    ['and other text', `${TOKEN}\rmore\r`],
  ])('takes a secret that is pasted %s', async (_, text) => {
    const terminal = terminalOf();
    const answer = terminal.prompter.password({
      ...NAME,
      validate: (secret) => (secret === TOKEN ? undefined : 'Incomplete'),
    });
    await terminal.press(text);
    expect(await answer).toBe(TOKEN);
    expect(terminal.written).not.toContain('Incomplete');
  });

  test('goes back on Esc and Enter', async () => {
    const {terminal, answer} = await typed('x', ESC);
    await setTimeout(100);
    await terminal.press(ENTER);
    await expect(answer).rejects.toMatchObject({name: 'GoBack'});
  });

  test('neither shows nor keeps what is typed during a wait, or after the answer of a paste', async () => {
    const terminal = terminalOf();
    let resolve = (): void => undefined;
    const work = new Promise<void>((end) => {
      resolve = end;
    });
    await terminal.prompter.session(async () => {
      const first = terminal.prompter.input(NAME);
      await terminal.press('one\rtwo\r');
      expect(await first).toBe('one');
      const waiting = terminal.prompter.wait('Reading', work);
      await terminal.press(`${TOKEN}\r`);
      resolve();
      await waiting;
      const second = terminal.prompter.input(NAME);
      expect(terminal.input.isRaw).toBe(true);
      await terminal.press('2\r');
      expect(await second).toBe('2');
    }, String);
    expect(terminal.written).toBe('? Name: one\n? Name: 2\n');
    expect(terminal.input.isRaw).toBe(false);
  });

  test('leaves it to Emacs, which shows a line before it sends it', async () => {
    const terminal = new PromptTerminal({isDumb: true, isAscii: true, isTTY: true, isEchoed: true});
    const answer = terminal.prompter.input(NAME);
    await terminal.press('one\n');
    expect(await answer).toBe('one');
    expect(terminal.written).toBe('? Name: ');
  });
});

test('says every 30 s that it is still working', async () => {
  vi.useFakeTimers({
    now: 0,
    toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'Date'],
  });
  const terminal = dumb();
  let resolve = (): void => undefined;
  const promise = new Promise<void>((end) => {
    resolve = end;
  });
  const waiting = terminal.prompter.wait('Reading the cluster', promise);
  vi.advanceTimersByTime(61_000);
  resolve();
  await waiting;
  vi.useRealTimers();
  await terminal.lines();
  expect(shown(terminal)).toBe(
    'Reading the cluster ...\nStill working: Reading the cluster (30 s)\nStill working: Reading the cluster (1 min)\n',
  );
});
