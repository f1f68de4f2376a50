import {mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {stripVTControlCharacters} from 'node:util';
import {describe, expect, test} from 'vitest';
import {Emulator} from '../support/emulator.ts';
import {onTerminal, type Step, type Terminal} from './terminal.ts';

const TOKEN = `e30.${Buffer.from('{"host":"late.scalr.io"}').toString('base64url')}.c2ln`;
const ENTER = '\r';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const ESCAPE = '\u001b[';

/** Runs the wizard without helm, kubectl and home directory. */
function converse(steps: readonly Step[], terminal: Terminal = {}, args: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  const env = {
    PATH: folder,
    HOME: folder,
    XDG_STATE_HOME: folder,
    NO_COLOR: undefined,
    ...terminal.env,
  };
  return onTerminal(args, steps, folder, {program: 'scalr-agent-install', ...terminal, env});
}

/** Answers two questions of different kinds, and leaves the third with Ctrl-C. */
const FEW: readonly Step[] = [
  {see: /Where\s+will\s+the\s+agent\s+run\?[\s\S]*Esc\s+quit/, press: ENTER},
  {see: /Agent pool token/, press: `${TOKEN}${ENTER}`},
  {see: /What\s+do\s+you\s+want\s+to\s+do\?[\s\S]*Esc\s+back/, press: CTRL_C},
];

/** The same without cursor movement. */
const DUMB: readonly Step[] = [{see: /Where will the agent run\?[\s\S]*Number.*: $/, press: ENTER}];

const colorsIn = (screen: string): string[] =>
  screen.split(ESCAPE).filter((each) => /^[\d;]*m/.test(each));

test('asks line by line without escape sequences when the terminal cannot move its cursor', async () => {
  const {screen, exit, left} = await converse(
    [
      {see: /Where will the agent run\?[\s\S]*Number.*: $/, press: ENTER},
      {see: /Agent pool token .*: $/, press: '?\r'},
      {see: /SCALR_AGENT_TOKEN[\s\S]*Agent pool token .*: $/, press: `nonsense\r`},
      {see: /incomplete[\s\S]*Agent pool token .*: $/, press: `${TOKEN}${ENTER}`},
      {
        see: /\[hidden, \d+ characters\]\r\n[\s\S]*What do you want to do\?[\s\S]*Number.*: $/,
        press: CTRL_C,
      },
    ],
    {env: {TERM: 'dumb'}},
  );
  expect({exit, left}).toEqual({exit: 130, left: 0});
  expect(screen).not.toContain('\u001b');
  expect(screen).not.toContain(TOKEN);
  expect(screen).toMatch(/^[ -~\s]*$/);
  expect(screen).toContain('Canceled. Nothing was changed.');
});

test.each([
  ['NO_COLOR', {NO_COLOR: '1'}, []],
  ['--no-color', {}, ['--no-color']],
])('%s removes colors from the questions', async (_, env, args) => {
  const {screen, exit, left} = await converse(FEW, {env}, args);
  expect({exit, left}).toEqual({exit: 130, left: 0});
  expect(colorsIn(screen)).toEqual([]);
});

test('shows colors by default', async () => {
  expect(colorsIn((await converse(FEW)).screen)).not.toEqual([]);
});

test('uses only ASCII in an ASCII locale', async () => {
  const {screen, left} = await converse(FEW, {env: {LANG: 'C'}});
  expect(left).toBe(0);
  expect(stripVTControlCharacters(screen)).toMatch(/^[ -~\s]*$/);
  expect(screen).toContain('Enter select - Esc back');
});

test('fits a window of 40×15 with whole lines, and shows neither answered questions nor the secret', async () => {
  const {screen, left} = await converse(FEW, {cols: 40, rows: 15});
  expect(left).toBe(0);
  expect(screen).not.toContain(TOKEN);
  const emulator = new Emulator({columns: 40, rows: 15});
  emulator.write(screen);
  expect(await emulator.broken()).toEqual([]);
  const text = (await emulator.lines()).join('\n');
  expect(text).not.toContain('Where will the agent run');
  expect(text).not.toContain('What do you want');
  expect(text).toContain('Canceled. Nothing was changed.');
});

test('draws the question again when the window becomes narrow during it', async () => {
  const {exit, left} = await converse(
    [
      {...(FEW[0] as Step), press: '', resize: [32, 24]},
      {see: /Where\s+will\s+the\s+agent\s+run\?[\s\S]*Esc\s+quit/, press: ENTER},
      ...FEW.slice(1),
    ],
    {env: {NO_COLOR: '1'}},
  );
  expect({exit, left}).toEqual({exit: 130, left: 0});
});

describe('the terminal after the program ends', () => {
  const shell = '"$@"; exit=$?; PATH=/usr/bin:/bin stty -a; exit $exit';

  test.each([
    ['a text', FEW.slice(0, 1), /Agent pool token[\s\S]*Esc back/, CTRL_C, 'xterm'],
    ['a list', [], /Where will the agent run\?[\s\S]*Esc quit/, CTRL_C, 'xterm'],
    ['a text left by the end of input', FEW.slice(0, 1), /token[\s\S]*Esc back/, CTRL_D, 'xterm'],
    [
      'a list left by the end of input',
      [],
      /Where will the agent run\?[\s\S]*Esc quit/,
      CTRL_D,
      'xterm',
    ],
    ['a secret on a terminal without a cursor', DUMB, /Agent pool token/, CTRL_C, 'dumb'],
  ] as const)('is restored: %s', async (_, before, see, press, TERM) => {
    const {screen, exit, left} = await converse([...before, {see, press}], {shell, env: {TERM}});
    expect({exit, left}).toEqual({exit: 130, left: 0});
    expect(screen).toContain('Canceled. Nothing was changed.');
    expect(screen.lastIndexOf(`${ESCAPE}?25h`)).toBeGreaterThanOrEqual(
      screen.lastIndexOf(`${ESCAPE}?25l`),
    );
    expect(screen).toMatch(/ icanon /);
    expect(screen).toMatch(/ echo /);
  });
});

test('ACCESSIBLE=1: one question per line with words for keys, nothing repainted', async () => {
  const {screen, exit, left} = await converse(
    [
      {see: /Where will the agent run\?[\s\S]*Type a number.*: $/, press: ENTER},
      {
        see: /Agent pool token[\s\S]*Type an answer, back, help or\s+quit, then\s+Enter: $/,
        press: `help${ENTER}`,
      },
      {see: /Type an answer, back, help or\s+quit, then\s+Enter: $/, press: `back${ENTER}`},
      {see: /Where will the agent run\?[\s\S]*Type a number.*: $/, press: `quit${ENTER}`},
    ],
    {env: {ACCESSIBLE: '1'}},
  );
  expect({exit, left}).toEqual({exit: 130, left: 0});
  expect(screen).toMatch(/^[ -~\s]*$/);
  expect(screen).toContain('Canceled. Nothing was changed.');
});
