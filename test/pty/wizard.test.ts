import {execFile, spawn} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {stripVTControlCharacters} from 'node:util';
import {beforeEach, describe, expect, test} from 'vitest';
import {PROGRAM, WIZARD} from '../package/built.ts';
import {Emulator} from '../support/emulator.ts';
import {jwt} from '../wizard/conversation.ts';
import {onTerminal, type Step} from './terminal.ts';

const TOKEN = jwt({iss: 'acme.scalr.io', exp: 4_000_000_000});

const ENTER = '\r';
const ESC = '\u001B';
const CTRL_C = '\u0003';
const EMPTY_LINE = '\u0015';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
});

/** Separate home directory, without helm and kubectl. */
const environment = () => ({HOME: folder, PATH: folder, SCALR_AGENT_TOKEN: '', KUBECONFIG: ''});

const talk = (steps: readonly Step[], args: readonly string[] = []) =>
  onTerminal(args, steps, folder, {program: 'scalr-agent-install', env: environment()});

const AGENT: Step[] = [
  {see: /Where will the agent run\?[\s\S]*❯ Files only[\s\S]*Esc quit/, press: ENTER},
  {see: /Agent pool token[\s\S]*Esc back/, press: `${TOKEN}${ENTER}`},
];
const REVIEW = /What do you want to do\?[\s\S]*❯ Save[\s\S]*Esc back/;
const SAVE_AND_QUIT: Step[] = [
  {see: REVIEW, press: ENTER},
  {see: /Directory to save to[\s\S]*Esc back/, press: `~/out${ENTER}`},
  {see: /What do you want to do\?[\s\S]*❯ Quit[\s\S]*Esc back/, press: ENTER},
];
const CHANGE = /◆ {2}Change[\s\S]*Esc back/;

/** The screen after this output. */
async function displayed(output: string, columns = 80, rows = 24): Promise<string[]> {
  const emulator = new Emulator({columns, rows});
  emulator.write(output);
  return emulator.lines();
}

/** Generates the same values from the saved answers, without a terminal. */
const replayed = (): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [PROGRAM, 'values', '--answers', 'out/answers.yaml'],
      {cwd: folder},
      (error, stdout) => (error === null ? resolve(stdout) : reject(error)),
    );
  });

const saved = (name: string): string => readFileSync(join(folder, 'out', name), 'utf8');
const kept = (): string => join(folder, '.local/state/scalr-agent-install/resume.json');

describe('the happy path', () => {
  test.each([
    ['agent-local', []],
    ['agent-job', [{see: /Chart to install[\s\S]*Esc back/, press: `agent-j${ENTER}`}]],
    [
      'agent-k8s',
      [
        {see: /Chart to install[\s\S]*Esc back/, press: `agent-k${ENTER}`},
        {see: /Operating system of the nodes[\s\S]*Esc back/, press: ENTER},
      ],
    ],
  ] as const)('%s: writes files that can be replayed byte for byte', async (chart, choice) => {
    const change: Step[] = [
      {see: REVIEW, press: `ch${ENTER}`},
      {see: CHANGE, press: `ch${ENTER}`},
      ...choice,
      {see: CHANGE, press: ESC},
    ];
    const steps = [...AGENT, ...(choice.length === 0 ? [] : change), ...SAVE_AND_QUIT];
    const {screen, exit, left} = await talk(steps);
    expect({exit, left}, screen).toEqual({exit: 0, left: 0});
    expect(saved('values.yaml')).toContain(`Values of ${chart} `);
    expect(await replayed()).toBe(saved('values.yaml'));
    expect(statSync(join(folder, 'out/answers.yaml')).mode & 0o777).toBe(0o600);
    expect(screen).not.toContain(TOKEN);
    expect(screen).toContain('helm upgrade --install scalr-agent');
    expect(existsSync(kept())).toBe(false);
  });
});

test('changes a setting from the review', async () => {
  const steps: Step[] = [
    ...AGENT,
    {see: REVIEW, press: `ch${ENTER}`},
    {see: CHANGE, press: `ru${ENTER}`},
    {see: /Maximum concurrent runs[\s\S]*Esc back/, press: `${EMPTY_LINE}7${ENTER}`},
    {see: /Memory limit of a run[\s\S]*Esc back/, press: `2500${ENTER}`},
    {see: /no unit/i, press: `${EMPTY_LINE}3Gi${ENTER}`},
    {see: /Runs {8}7 at a time[\s\S]*Esc back/, press: `ba${ENTER}`},
    {see: /Runs {6}7 at a time/, press: ''},
    ...SAVE_AND_QUIT,
  ];
  const {screen, exit, left} = await talk(steps);
  expect({exit, left}, screen).toEqual({exit: 0, left: 0});
  expect(saved('answers.yaml')).toContain('run-memory-limit: 3Gi');
});

describe('going back', () => {
  test('returns over steps, erases their lines, and keeps the answers', async () => {
    const steps: Step[] = [
      ...AGENT,
      {see: REVIEW, press: ESC},
      {see: /Agent pool token \(unchanged\)[\s\S]*Esc back/, press: ESC},
      {see: /Where will the agent run\?[\s\S]*❯ Files only[\s\S]*Esc quit/, press: ENTER},
      {see: /Agent pool token \(unchanged\)[\s\S]*Esc back/, press: ENTER},
      {see: REVIEW, press: CTRL_C},
    ];
    const {screen, exit, left} = await talk(steps);
    expect({exit, left}, screen).toEqual({exit: 130, left: 0});
    const lines = await displayed(screen, 80, 60);
    expect(
      lines.filter((line) => line.startsWith('◇')).map((line) => line.slice(3, 12).trim()),
    ).toEqual(['Where', 'Agent']);
    expect(lines.filter((line) => line.includes('Review'))).toHaveLength(1);
  });

  test('asks at the first question whether to quit', async () => {
    const {screen, exit, left} = await talk([
      {see: /Where will the agent run\?[\s\S]*Esc quit/, press: ESC},
      {see: /Quit without changes\?/, press: `y${ENTER}`},
    ]);
    expect({exit, left}, screen).toEqual({exit: 130, left: 0});
  });
});

describe('the screen', () => {
  test.each([
    [80, 24],
    [50, 15],
    [120, 40],
  ])('shows the review and its menu at %i × %i, without broken lines', async (cols, rows) => {
    const terminal = {program: 'scalr-agent-install', env: environment(), cols, rows} as const;
    const steps: Step[] = [
      {see: /Where will the agent run\?[\s\S]*Esc\s+quit/, press: ENTER},
      {see: /Agent pool token/, press: `${TOKEN}${ENTER}`},
      {see: /What do you want to do\?[\s\S]*Esc\s+back/, press: CTRL_C},
    ];
    const {screen, left} = await onTerminal([], steps, folder, terminal);
    expect(left, screen).toBe(0);
    const review = screen.slice(0, screen.lastIndexOf('back') + 4);
    const emulator = new Emulator({columns: cols, rows});
    emulator.write(review);
    const visible = (await emulator.visible()).join('\n');
    expect(visible).toContain('What do you want to do?');
    expect(visible).toContain('❯ Save files');
    expect(visible).toContain('Quit');
    expect((await emulator.lines()).join('\n')).toMatch(/◆ {2}Review {2}agent-local/);
  });

  test('is plain text with TERM=dumb: numbered choices, steps as lines', async () => {
    const terminal = {
      program: 'scalr-agent-install',
      env: {...environment(), TERM: 'dumb'},
    } as const;
    const steps: Step[] = [
      {
        see: /At each question: back, help or quit\.[\s\S]*Number \(4\):/,
        press: ENTER,
      },
      {see: /Agent pool token[\s\S]*: $/, press: '\u001B\r'},
      {see: /Where will the agent run[\s\S]*Number \(4\):/, press: ENTER},
      {see: /Agent pool token[\s\S]*: $/, press: `back${ENTER}`},
      {see: /Where will the agent run[\s\S]*Number \(4\):/, press: ENTER},
      {see: /Agent pool token[\s\S]*: $/, press: `${TOKEN}${ENTER}`},
      {see: /Review {2}agent-local[\s\S]*Number \(3\):/, press: CTRL_C},
    ];
    const {screen, left} = await onTerminal([], steps, folder, terminal);
    expect(left, screen).toBe(0);
    expect(screen).not.toMatch(/[^\p{ASCII}]/u);
    expect(stripVTControlCharacters(screen)).toBe(screen);
  });

  test('has no colors with NO_COLOR', async () => {
    const terminal = {
      program: 'scalr-agent-install',
      env: {...environment(), NO_COLOR: '1'},
    } as const;
    const {screen} = await onTerminal(
      [],
      [...AGENT, {see: REVIEW, press: CTRL_C}],
      folder,
      terminal,
    );
    for (const color of ['\u001B[1m', '\u001B[2m', '\u001B[36m'])
      expect(screen).not.toContain(color);
  });

  test('shows values.yaml and the commands below the review, and the menu again', async () => {
    const {screen, left} = await talk([
      ...AGENT,
      {see: REVIEW, press: `v${ENTER}`},
      {see: /Values of agent-local[\s\S]*❯ View values.yaml/, press: `sh${ENTER}`},
      {see: /helm upgrade --install[\s\S]*❯ Show commands[\s\S]*Esc back/, press: CTRL_C},
    ]);
    expect(left, screen).toBe(0);
    const lines = await displayed(screen.slice(0, screen.lastIndexOf('Esc back')));
    expect(lines.join('\n')).toContain('--values values.yaml');
  });
});

describe('Ctrl-C', () => {
  test.each([
    ['at the first question', [{see: /Where will the agent run/, press: CTRL_C}], false],
    ['in the middle', [...AGENT.slice(0, 1), {see: /Agent pool token/, press: CTRL_C}], true],
    ['at the review', [...AGENT, {see: REVIEW, press: CTRL_C}], true],
    [
      'at Change',
      [...AGENT, {see: REVIEW, press: `ch${ENTER}`}, {see: CHANGE, press: CTRL_C}],
      true,
    ],
  ] as const)('exits with 130 and changes nothing %s', async (_, steps, isKept) => {
    const {screen, exit, left} = await talk(steps);
    expect({exit, left}, screen).toEqual({exit: 130, left: 0});
    expect(screen).toContain('Canceled. Nothing was changed.');
    expect(screen.includes('--resume')).toBe(isKept);
    expect(existsSync(kept())).toBe(isKept);
    expect(screen).not.toContain(TOKEN);
  });

  test('stops the wizard and its tools while they query the cluster', async () => {
    const view = `{"current-context":"blue","contexts":[{"name":"blue"}]}`;
    const kubectl = `#!/bin/sh\ncase "$*" in *view*) echo '${view}';; *) exec /bin/sleep 600;; esac\n`;
    writeFileSync(join(folder, 'kubectl'), kubectl, {mode: 0o755});
    const steps: Step[] = [
      {see: /helm not found on PATH[\s\S]*Try again[\s\S]*Esc back/, press: `co${ENTER}`},
      {see: /Agent pool token/, press: `${TOKEN}${ENTER}`},
      {see: /Reading the cluster/, press: CTRL_C},
    ];
    const {screen, exit, left} = await talk(steps);
    expect({exit, left}, screen).toEqual({exit: 130, left: 0});
    expect(screen).toContain('Canceled. Nothing was changed.');
  });

  test('is reported like SIGTERM, which exits with 143', async () => {
    const {screen, exit, left} = await talk([
      ...AGENT,
      {see: REVIEW, press: '', signal: 'SIGTERM'},
    ]);
    expect({exit, left}, screen).toEqual({exit: 143, left: 0});
    expect(screen).toContain('Canceled. Nothing was changed.');
    expect(screen.lastIndexOf('\u001B[?25h')).toBeGreaterThan(screen.lastIndexOf('\u001B[?25l'));
  });

  test('keeps the answers for --resume, and deletes them when the wizard is done', async () => {
    await talk([...AGENT, {see: REVIEW, press: CTRL_C}]);
    expect(statSync(kept()).mode & 0o777).toBe(0o600);
    expect(readFileSync(kept(), 'utf8')).not.toContain(TOKEN);
    const steps: Step[] = [{see: /Agent pool token/, press: `${TOKEN}${ENTER}`}, ...SAVE_AND_QUIT];
    const {screen, exit, left} = await talk(steps, ['--resume']);
    expect({exit, left}, screen).toEqual({exit: 0, left: 0});
    expect(existsSync(kept())).toBe(false);
  });
});

test('shows errors at the question after wrong answers', async () => {
  writeFileSync(join(folder, 'ca.pem'), 'no certificate');
  const steps: Step[] = [
    ...AGENT.slice(0, 1),
    {see: /Agent pool token/, press: `two words${ENTER}`},
    {see: /The token contains whitespace/, press: `${EMPTY_LINE}${jwt({})}${ENTER}`},
    {see: /Scalr URL/, press: `ftp://acme${ENTER}`},
    {see: /"ftp:\/\/acme"/, press: `${EMPTY_LINE}https://acme.scalr.io${ENTER}`},
    {see: REVIEW, press: `ch${ENTER}`},
    {see: CHANGE, press: `pri${ENTER}`},
    {see: /File with private CA/, press: `nowhere.pem${ENTER}`},
    {see: /Cannot read nowhere\.pem/, press: `${EMPTY_LINE}ca.pem${ENTER}`},
    {see: /the file is neither PEM nor DER/, press: CTRL_C},
  ];
  const {screen, exit, left} = await talk(steps);
  expect({exit, left}, screen).toEqual({exit: 130, left: 0});
});

describe('a token', () => {
  const first = TOKEN.slice(0, 40);
  const rest = TOKEN.slice(40);
  const TARGET = AGENT.slice(0, 1);
  const LEAVE: Step = {see: REVIEW, press: CTRL_C};

  test('is joined and never shown when pasted over several lines', async () => {
    const paste = `\u001B[200~${first}\r\n  ${rest}\r\n\u001B[201~`;
    const {screen, left} = await talk([
      ...TARGET,
      {see: /Agent pool token/, press: paste},
      {see: /●{32} +\d+ characters[\s\S]*Token for acme\.scalr\.io, expires on/, press: ENTER},
      LEAVE,
    ]);
    expect(left, screen).toBe(0);
    expect(screen).toContain('acme.scalr.io · token');
    expect(screen).not.toContain(rest);
  });

  test.each([
    {ACCESSIBLE: '1'},
    {TERM: 'dumb'},
  ])('is never shown in plain lines, at whatever question it is pasted: %o', async (env) => {
    const steps: Step[] = [
      {see: /Where will the agent run\?/, press: `${TOKEN}${ENTER}`},
      {see: /\[hidden, \d+ characters\][\s\S]*This is an agent pool token\./, press: ENTER},
      {see: /Agent pool token/, press: `${TOKEN.slice(0, 40)}`},
      {see: /: $/, press: `${TOKEN.slice(40)}${ENTER}${TOKEN}${ENTER}`},
      {see: /What do you want to do\?/, press: CTRL_C},
    ];
    const terminal = {program: 'scalr-agent-install', env: {...environment(), ...env}} as const;
    const {screen, exit, left} = await onTerminal([], steps, folder, terminal);
    expect({exit, left}, screen).toEqual({exit: 130, left: 0});
    for (let at = 0; at < TOKEN.length - 12; at++)
      expect(screen).not.toContain(TOKEN.slice(at, at + 12));
  });

  test('is taken without the text pasted after it', async () => {
    const {screen, left} = await talk([
      ...TARGET,
      {see: /Agent pool token/, press: `${TOKEN}${ENTER}more-of-the-paste${ENTER}`},
      LEAVE,
    ]);
    expect(left, screen).toBe(0);
    expect(screen).not.toContain('more-of-the-paste');
  });

  test('is replaced with the next paste after an error, and read without quotes', async () => {
    const paste = (text: string): string => `\u001B[200~${text}\u001B[201~`;
    const {screen, left} = await talk([
      ...TARGET,
      {see: /Agent pool token/, press: `${paste(first)}${ENTER}`},
      {see: /The token is incomplete/, press: paste(`export SCALR_AGENT_TOKEN="${TOKEN}"`)},
      {see: /✔ Token for acme\.scalr\.io, expires on/, press: ENTER},
      LEAVE,
    ]);
    expect(left, screen).toBe(0);
    expect(screen).not.toContain(first);
  });

  test.each([
    ['https://acme.scalr.io', 'This is a URL'],
    [jwt({iss: 'user', jti: 'at-v0'}), 'This is a user token'],
    [jwt({iss: 'acme.scalr.io', exp: 1_700_000_000}), 'The token expired on 2023-11-14'],
    [first, 'The token is incomplete'],
    [`${TOKEN}\u200B`, 'invisible characters'],
  ])('is refused with the reason when it is invalid: %s', async (text, reason) => {
    const {screen, left} = await talk([
      ...TARGET,
      {see: /Agent pool token/, press: `${text}${ENTER}`},
      {see: new RegExp(reason), press: CTRL_C},
    ]);
    expect(left, screen).toBe(0);
  });
});

test.each([
  [80, 24],
  [50, 15],
] as const)('draws the question again after a resize to %i × %i, and goes back with Esc', async (cols, rows) => {
  const {screen, exit, left} = await onTerminal(
    [],
    [
      ...AGENT.slice(0, 1),
      {see: /Agent pool token/, press: 'abc', resize: [cols, rows]},
      {see: /\[H.\[2J[\s\S]*Agent pool token[\s\S]*●●●/, press: ESC},
      {see: /Where will the agent run\?[\s\S]*Esc\s+quit/, press: CTRL_C},
    ],
    folder,
    {program: 'scalr-agent-install', env: environment(), cols: 100, rows: 30},
  );
  expect({exit, left}, screen).toEqual({exit: 130, left: 0});
  const redrawn = screen.slice(screen.indexOf('\u001B[2J'));
  const emulator = new Emulator({columns: cols, rows});
  emulator.write(redrawn);
  expect(await emulator.broken()).toEqual([]);
});

test.each([
  undefined,
  '1',
])('continues after Ctrl-Z and fg, and asks the question again (ACCESSIBLE=%s)', async (ACCESSIBLE) => {
  const steps: Step[] = [
    {see: /Where will the agent run\?[\s\S]*(Esc quit|Enter: $)/, press: ENTER},
    {see: /Agent pool token/, press: '\u001A'},
    {see: /"\$@"/, press: ''},
    {see: /Agent pool token/, press: `${TOKEN}${ENTER}`},
    {see: /What do you want to do\?/, press: CTRL_C},
  ];
  // A shell with job control: fg prints the command, and continues it once it is stopped.
  const terminal = {
    program: 'scalr-agent-install',
    shell: 'set -m; "$@"; fg',
    env: {...environment(), ACCESSIBLE},
  } as const;
  const {screen, exit, left} = await onTerminal([], steps, folder, terminal);
  expect({exit, left}, screen).toEqual({exit: 130, left: 0});
});

describe('without a terminal', () => {
  const pipe = (input: string | undefined) =>
    new Promise<{stderr: string; exit: number}>((resolve) => {
      const child = spawn(process.execPath, [WIZARD], {
        cwd: folder,
        env: {...process.env, ...environment()},
      });
      let stderr = '';
      child.stderr.on('data', (chunk) => {
        stderr += String(chunk);
      });
      child.on('close', (code) => resolve({stderr, exit: code ?? -1}));
      if (input !== undefined) child.stdin.end(input);
    });

  test.each([
    ['ignores the content of a pipe', 'https://acme.scalr.io\n'],
    ['does not wait for a pipe that nobody writes to', undefined],
  ])('%s', async (_, input) => {
    const {stderr, exit} = await pipe(input);
    expect(exit).toBe(2);
    expect(stderr).toContain('(flag --url, variable SCALR_AGENT_INSTALL_URL, answers key url)');
    expect(stderr).not.toContain('?');
  });

  test.each([
    [{CI: 'true'}, []] as const,
    [{}, ['--no-input']] as const,
  ])('asks nothing on a terminal with %o %o', async (env, args) => {
    const {screen, exit} = await onTerminal([...args], [], folder, {
      program: 'scalr-agent-install',
      env: {...environment(), ...env},
    });
    expect(exit, screen).toBe(2);
    expect(screen).toContain('SCALR_AGENT_INSTALL_URL');
  });
});

/** Traces of a question, which is erased when it is answered. */
const TRACES =
  /❯|Esc (back|quit)|What do you want to do|Maximum concurrent|no unit|Change…|[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/;

test.each([
  [80, 24],
  [120, 40],
] as const)('a raw recording at %i × %i has no line of a question left', async (cols, rows) => {
  const steps: Step[] = [
    ...AGENT,
    {see: REVIEW, press: `ch${ENTER}`},
    {see: CHANGE, press: `ru${ENTER}`},
    {see: /Maximum concurrent runs[\s\S]*Esc back/, press: `${EMPTY_LINE}7${ENTER}`},
    {see: /Memory limit of a run[\s\S]*Esc back/, press: `3${ENTER}`},
    {see: /no unit/i, press: ESC},
    {see: /Maximum concurrent runs[\s\S]*Esc back/, press: ESC},
    {see: CHANGE, press: ESC},
    {see: /What do you want to do\?[\s\S]*❯ Change…[\s\S]*Esc back/, press: `sh${ENTER}`},
    {see: /helm upgrade --install[\s\S]*❯ Show commands[\s\S]*Esc back/, press: `sa${ENTER}`},
    {see: /Directory to save to[\s\S]*Esc back/, press: `~/out${ENTER}`},
    {see: /What do you want to do\?[\s\S]*❯ Quit[\s\S]*Esc back/, press: ENTER},
  ];
  const {screen, exit, left} = await onTerminal([], steps, folder, {
    program: 'scalr-agent-install',
    env: environment(),
    cols,
    rows,
  });
  expect({exit, left}, screen).toEqual({exit: 0, left: 0});
  const emulator = new Emulator({columns: cols, rows});
  emulator.write(screen);
  const lines = rows === 24 ? await emulator.visible() : await emulator.lines();
  expect(lines.filter((line) => TRACES.test(line))).toEqual([]);
  const titles = (await emulator.lines()).filter((line) => line.startsWith('◆'));
  if (rows > 24) expect(titles, (await emulator.lines()).join('\n')).toHaveLength(1);
  expect(screen.lastIndexOf('\u001B[?25h')).toBeGreaterThan(screen.lastIndexOf('\u001B[?25l'));
  expect(screen.lastIndexOf('\u001B[?2004l')).toBeGreaterThan(screen.lastIndexOf('\u001B[?2004h'));
});
