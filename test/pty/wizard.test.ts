import {execFile, spawn} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {PROGRAM, WIZARD} from '../package/built.ts';
import {jwt} from '../wizard/conversation.ts';
import {onTerminal, type Step} from './terminal.ts';

const TOKEN = jwt({iss: 'acme.scalr.io', exp: 4_000_000_000});

const ENTER = '\r';
const DOWN = '\u001B[B';
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
  {see: /Agent pool token/, press: `${TOKEN}${ENTER}`},
  {see: /Scalr URL \(https:\/\/acme\.scalr\.io, from the token\)/, press: ENTER},
];
const TO_PURPOSE: Step[] = [
  ...AGENT,
  {see: /Where does the cluster run\?/, press: ENTER},
  {see: /What is the agent pool used for\?/, press: ENTER},
];
const QUIET: Step[] = [
  {see: /Which of these apply to the network/, press: ENTER},
  {see: /Where should provider/, press: ENTER},
  {see: /Maximum concurrent runs/, press: ENTER},
];
const SAVE_AND_LEAVE: Step[] = [
  {see: /What do you want to do\?[\s\S]*❯ Save/, press: ENTER},
  {see: /Directory to save to/, press: ENTER},
  {see: /What do you want to do\?[\s\S]*❯ Exit/, press: ENTER},
];

/** Generates the same values from the saved answers, without a terminal. */
const replayed = (): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(process.execPath, [PROGRAM, 'values', '--answers', 'answers.yaml'], {cwd: folder}, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
  });

const saved = (name: string): string => readFileSync(join(folder, name), 'utf8');
const kept = (): string => join(folder, '.local/state/scalr-agent-install/resume.json');

describe('the happy path', () => {
  test.each([
    ['agent-local', [{see: /Isolate each run/, press: ENTER}], [{see: /Chart to install/, press: ENTER}]],
    ['agent-job', [{see: /Isolate each run/, press: `${DOWN}${DOWN}${ENTER}`}], [{see: /Chart to install/, press: ENTER}]],
    [
      'agent-k8s',
      [{see: /Isolate each run/, press: ENTER}],
      [
        {see: /Chart to install/, press: `3${ENTER}`},
        {see: /Operating system of the nodes/, press: ENTER},
      ],
    ],
  ] as const)('%s: writes files that can be replayed byte for byte', async (chart, isolation, choice) => {
    const steps = [...TO_PURPOSE, ...isolation, ...QUIET, ...choice, ...SAVE_AND_LEAVE];
    const {screen, exit, left} = await talk(steps);
    expect({exit, left}, screen).toEqual({exit: 0, left: 0});
    expect(saved('values.yaml')).toContain(`Values of ${chart} `);
    expect(await replayed()).toBe(saved('values.yaml'));
    expect(statSync(join(folder, 'answers.yaml')).mode & 0o777).toBe(0o600);
    expect(screen).not.toContain(TOKEN);
    expect(screen).toContain('helm upgrade scalr-agent');
    expect(existsSync(kept())).toBe(false);
  });
});

test('changes a setting from the review', async () => {
  const steps: Step[] = [
    ...TO_PURPOSE,
    {see: /Isolate each run/, press: ENTER},
    ...QUIET,
    {see: /Chart to install/, press: ENTER},
    {see: /What do you want to do\?/, press: `2${ENTER}`},
    {see: /What do you want to change\?/, press: `8${ENTER}`},
    {see: /Size: which setting do you want to change\?/, press: `3${ENTER}`},
    {see: /\? Memory request of a run/, press: `2${ENTER}`},
    {see: /unit/i, press: `${EMPTY_LINE}2Gi${ENTER}`},
    {see: /Size: which setting do you want to change\?/, press: `5${ENTER}`},
    ...SAVE_AND_LEAVE,
  ];
  const {screen, exit, left} = await talk(steps);
  expect({exit, left}, screen).toEqual({exit: 0, left: 0});
  expect(saved('answers.yaml')).toContain('run-memory-request: 2Gi');
});

describe('Ctrl-C', () => {
  test.each([
    ['at the first question', [{see: /Agent pool token/, press: CTRL_C}], false],
    ['in the middle', [...TO_PURPOSE, {see: /Isolate each run/, press: CTRL_C}], true],
    [
      'at the review',
      [
        ...TO_PURPOSE,
        {see: /Isolate each run/, press: ENTER},
        ...QUIET,
        {see: /Chart to install/, press: ENTER},
        {see: /What do you want to do\?/, press: CTRL_C},
      ],
      true,
    ],
  ] as const)('exits with 130 and changes nothing %s', async (_, steps, isKept) => {
    const {screen, exit, left} = await talk(steps);
    expect({exit, left}, screen).toEqual({exit: 130, left: 0});
    expect(screen).toContain('Cancelled. Nothing was changed.');
    expect(screen.includes('--resume')).toBe(isKept);
    expect(existsSync(kept())).toBe(isKept);
    expect(screen).not.toContain(TOKEN);
  });

  test('stops the wizard and its tools while they query the cluster', async () => {
    for (const tool of ['kubectl', 'helm']) writeFileSync(join(folder, tool), '#!/bin/sh\nexec /bin/sleep 600\n', {mode: 0o755});
    const steps: Step[] = [
      ...TO_PURPOSE,
      {see: /Isolate each run/, press: ENTER},
      ...QUIET,
      {see: /Chart to install/, press: ENTER},
      {see: /Checking the cluster/, press: CTRL_C},
    ];
    const {screen, exit, left} = await talk(steps);
    expect({exit, left}, screen).toEqual({exit: 130, left: 0});
    expect(screen).toContain('Cancelled. Nothing was changed.');
    expect(screen).not.toContain('Cannot install:');
  });

  test('is reported like SIGTERM, which exits with 143', async () => {
    const {screen, exit, left} = await talk([...AGENT, {see: /Where does the cluster run/, press: '', signal: 'SIGTERM'}]);
    expect({exit, left}, screen).toEqual({exit: 143, left: 0});
    expect(screen).toContain('Cancelled. Nothing was changed.');
    expect(screen.lastIndexOf('\u001B[?25h')).toBeGreaterThan(screen.lastIndexOf('\u001B[?25l'));
  });

  test('keeps the answers for --resume, and deletes them when the wizard is done', async () => {
    await talk([...TO_PURPOSE, {see: /Isolate each run/, press: CTRL_C}]);
    expect(statSync(kept()).mode & 0o777).toBe(0o600);
    expect(readFileSync(kept(), 'utf8')).not.toContain(TOKEN);
    const steps: Step[] = [
      {see: /Agent pool token/, press: `${TOKEN}${ENTER}`},
      {see: /What is the agent pool used for\? .*runs.*earlier answer[\s\S]*Isolate each run/, press: ENTER},
      ...QUIET,
      {see: /Chart to install/, press: ENTER},
      ...SAVE_AND_LEAVE,
    ];
    const {screen, exit, left} = await talk(steps, ['--resume']);
    expect({exit, left}, screen).toEqual({exit: 0, left: 0});
    expect(existsSync(kept())).toBe(false);
  });
});

test('shows errors at the question after wrong answers', async () => {
  writeFileSync(join(folder, 'ca.pem'), 'no certificate');
  const steps: Step[] = [
    {see: /Agent pool token/, press: `two words${ENTER}`},
    {see: /The token contains whitespace/, press: `${EMPTY_LINE}${TOKEN}${ENTER}`},
    {see: /Scalr URL/, press: `ftp://acme${ENTER}`},
    {see: /ftp/, press: `${EMPTY_LINE}${ENTER}`},
    ...TO_PURPOSE.slice(2),
    {see: /Isolate each run/, press: ENTER},
    {see: /Which of these apply to the network/, press: `${DOWN} ${ENTER}`},
    {see: /File with private CA/, press: `nowhere.pem${ENTER}`},
    {see: /Cannot read nowhere\.pem/, press: `${EMPTY_LINE}ca.pem${ENTER}`},
    {see: /The file is neither PEM nor DER/, press: `${EMPTY_LINE}ca.pem${ENTER}${CTRL_C}`},
  ];
  const {screen, exit, left} = await talk(steps);
  expect({exit, left}, screen).toEqual({exit: 130, left: 0});
});

describe('a token', () => {
  const [first, rest] = [TOKEN.slice(0, 40), TOKEN.slice(40)];
  const LEAVE: Step = {see: /Scalr URL/, press: CTRL_C};

  test('is joined and never shown when pasted over several lines', async () => {
    const paste = `\u001B[200~${first}\r\n  ${rest}\r\n\u001B[201~`;
    const {screen, left} = await talk([{see: /Agent pool token/, press: paste}, {see: /\*{40}/, press: ENTER}, LEAVE]);
    expect(left, screen).toBe(0);
    expect(screen).toContain(`[hidden, ${TOKEN.length} characters]`);
    expect(screen).not.toContain(rest);
  });

  test('is taken without the text pasted after it', async () => {
    const {screen, left} = await talk([
      {see: /Agent pool token/, press: `${TOKEN}${ENTER}more-of-the-paste${ENTER}`},
      {see: /Scalr URL \(https:\/\/acme\.scalr\.io, from the token\)/, press: CTRL_C},
    ]);
    expect(left, screen).toBe(0);
    expect(screen).not.toContain('more-of-the-paste');
  });

  test.each([
    ['https://acme.scalr.io', 'This is a URL'],
    [`"${TOKEN}"`, 'quotes'],
    [first, 'The token is incomplete'],
    [`${TOKEN}\u200B`, 'invisible characters'],
  ])('is refused with the reason when it is invalid: %s', async (text, reason) => {
    const {screen, left} = await talk([
      {see: /Agent pool token/, press: `${text}${ENTER}`},
      {see: new RegExp(reason), press: CTRL_C},
    ]);
    expect(left, screen).toBe(0);
  });
});

test('continues after Ctrl-Z and fg, and asks the question again', async () => {
  const {screen, exit, left} = await talk([
    {see: /Agent pool token/, press: '\u001A'},
    {see: /existing Secret/, press: '', signal: 'SIGCONT'},
    {see: /Agent pool token/, press: `${TOKEN}${ENTER}`},
    {see: /Scalr URL/, press: CTRL_C},
  ]);
  expect({exit, left}, screen).toEqual({exit: 130, left: 0});
});

describe('without a terminal', () => {
  const pipe = (input: string | undefined) =>
    new Promise<{stderr: string; exit: number}>((resolve) => {
      const child = spawn(process.execPath, [WIZARD], {cwd: folder, env: {...process.env, ...environment()}});
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

  test.each([[{CI: 'true'}, []] as const, [{}, ['--no-input']] as const])('asks nothing on a terminal with %o %o', async (env, args) => {
    const {screen, exit} = await onTerminal([...args], [], folder, {program: 'scalr-agent-install', env: {...environment(), ...env}});
    expect(exit, screen).toBe(2);
    expect(screen).toContain('SCALR_AGENT_INSTALL_URL');
  });
});
