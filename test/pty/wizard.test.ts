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

/** A home of its own, and neither helm nor kubectl. */
const environment = () => ({HOME: folder, PATH: folder, SCALR_AGENT_TOKEN: '', KUBECONFIG: ''});

const talk = (steps: readonly Step[], args: readonly string[] = []) =>
  onTerminal(args, steps, folder, {program: 'scalr-agent-install', env: environment()});

const AGENT: Step[] = [
  {see: /Agent pool token/, press: `${TOKEN}${ENTER}`},
  {see: /Address of the Scalr account \(https:\/\/acme\.scalr\.io, the token\)/, press: ENTER},
];
const TO_PURPOSE: Step[] = [
  ...AGENT,
  {see: /Where does the cluster run\?/, press: ENTER},
  {see: /What is the agent pool for\?/, press: ENTER},
];
const QUIET: Step[] = [
  {see: /What does the network/, press: ENTER},
  {see: /Where do providers/, press: ENTER},
  {see: /How many runs/, press: ENTER},
];
const SAVE_AND_LEAVE: Step[] = [
  {see: /What now\?[\s\S]*❯ Save/, press: ENTER},
  {see: /Into which directory\?/, press: ENTER},
  {see: /What now\?[\s\S]*❯ Leave/, press: ENTER},
];

/** The same values from the saved answers, without a terminal. */
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
    ['agent-local', [{see: /May runs share/, press: ENTER}], [{see: /Which chart\?/, press: ENTER}]],
    ['agent-job', [{see: /May runs share/, press: `${DOWN}${DOWN}${ENTER}`}], [{see: /Which chart\?/, press: ENTER}]],
    [
      'agent-k8s',
      [{see: /May runs share/, press: ENTER}],
      [
        {see: /Which chart\?/, press: `3${ENTER}`},
        {see: /Which system do the nodes run/, press: ENTER},
      ],
    ],
  ] as const)('%s: ends in files that can be replayed byte for byte', async (chart, isolation, choice) => {
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

test('a setting is changed from the review', async () => {
  const steps: Step[] = [
    ...TO_PURPOSE,
    {see: /May runs share/, press: ENTER},
    ...QUIET,
    {see: /Which chart\?/, press: ENTER},
    {see: /What now\?/, press: `2${ENTER}`},
    {see: /What do you want to change\?/, press: `8${ENTER}`},
    {see: /Size: which setting\?/, press: `3${ENTER}`},
    {see: /\? Memory a run asks for/, press: `2${ENTER}`},
    {see: /unit/i, press: `${EMPTY_LINE}2Gi${ENTER}`},
    {see: /Size: which setting\?/, press: `5${ENTER}`},
    ...SAVE_AND_LEAVE,
  ];
  const {screen, exit, left} = await talk(steps);
  expect({exit, left}, screen).toEqual({exit: 0, left: 0});
  expect(saved('answers.yaml')).toContain('run-memory-request: 2Gi');
});

describe('Ctrl-C', () => {
  test.each([
    ['at the first question', [{see: /Agent pool token/, press: CTRL_C}], false],
    ['in the middle', [...TO_PURPOSE, {see: /May runs share/, press: CTRL_C}], true],
    [
      'at the review',
      [
        ...TO_PURPOSE,
        {see: /May runs share/, press: ENTER},
        ...QUIET,
        {see: /Which chart\?/, press: ENTER},
        {see: /What now\?/, press: CTRL_C},
      ],
      true,
    ],
  ] as const)('%s ends with 130 and changes nothing', async (_, steps, isKept) => {
    const {screen, exit, left} = await talk(steps);
    expect({exit, left}, screen).toEqual({exit: 130, left: 0});
    expect(screen).toContain('Cancelled. Nothing was changed.');
    expect(screen.includes('--resume')).toBe(isKept);
    expect(existsSync(kept())).toBe(isKept);
    expect(screen).not.toContain(TOKEN);
  });

  test('while the cluster is looked at ends it, and the tools that look', async () => {
    for (const tool of ['kubectl', 'helm']) writeFileSync(join(folder, tool), '#!/bin/sh\nexec /bin/sleep 600\n', {mode: 0o755});
    const steps: Step[] = [
      ...TO_PURPOSE,
      {see: /May runs share/, press: ENTER},
      ...QUIET,
      {see: /Which chart\?/, press: ENTER},
      {see: /Looking at the cluster/, press: CTRL_C},
    ];
    const {screen, exit, left} = await talk(steps);
    expect({exit, left}, screen).toEqual({exit: 130, left: 0});
    expect(screen).toContain('Cancelled. Nothing was changed.');
    expect(screen).not.toContain('An install from here is not possible');
  });

  test('a system that has to end says the same, and ends with 143', async () => {
    const {screen, exit, left} = await talk([...AGENT, {see: /Where does the cluster run/, press: '', signal: 'SIGTERM'}]);
    expect({exit, left}, screen).toEqual({exit: 143, left: 0});
    expect(screen).toContain('Cancelled. Nothing was changed.');
    expect(screen.lastIndexOf('\u001B[?25h')).toBeGreaterThan(screen.lastIndexOf('\u001B[?25l'));
  });

  test('what was said is gone on with, and the file is gone when it is done', async () => {
    await talk([...TO_PURPOSE, {see: /May runs share/, press: CTRL_C}]);
    expect(statSync(kept()).mode & 0o777).toBe(0o600);
    expect(readFileSync(kept(), 'utf8')).not.toContain(TOKEN);
    const steps: Step[] = [
      {see: /Agent pool token/, press: `${TOKEN}${ENTER}`},
      {see: /What is the agent pool for\? .*runs.*said before[\s\S]*May runs share/, press: ENTER},
      ...QUIET,
      {see: /Which chart\?/, press: ENTER},
      ...SAVE_AND_LEAVE,
    ];
    const {screen, exit, left} = await talk(steps, ['--resume']);
    expect({exit, left}, screen).toEqual({exit: 0, left: 0});
    expect(existsSync(kept())).toBe(false);
  });
});

test('wrong answers are said at the question', async () => {
  writeFileSync(join(folder, 'ca.pem'), 'no certificate');
  const steps: Step[] = [
    {see: /Agent pool token/, press: `two words${ENTER}`},
    {see: /Holds blanks/, press: `${EMPTY_LINE}${TOKEN}${ENTER}`},
    {see: /Address of the Scalr account/, press: `ftp://acme${ENTER}`},
    {see: /ftp/, press: `${EMPTY_LINE}${ENTER}`},
    ...TO_PURPOSE.slice(2),
    {see: /May runs share/, press: ENTER},
    {see: /What does the network/, press: `${DOWN} ${ENTER}`},
    {see: /File with private CA/, press: `nowhere.pem${ENTER}`},
    {see: /Cannot read nowhere\.pem/, press: `${EMPTY_LINE}ca.pem${ENTER}`},
    {see: /Is neither PEM nor DER/, press: `${EMPTY_LINE}ca.pem${ENTER}${CTRL_C}`},
  ];
  const {screen, exit, left} = await talk(steps);
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
    ['what stands in a pipe is no answer', 'https://acme.scalr.io\n'],
    ['a pipe that nobody writes to does not hold it', undefined],
  ])('%s', async (_, input) => {
    const {stderr, exit} = await pipe(input);
    expect(exit).toBe(2);
    expect(stderr).toContain('(flag --url, variable SCALR_AGENT_INSTALL_URL, answers key url)');
    expect(stderr).not.toContain('?');
  });

  test.each([[{CI: 'true'}, []] as const, [{}, ['--no-input']] as const])('%o %o on a terminal asks nothing either', async (env, args) => {
    const {screen, exit} = await onTerminal([...args], [], folder, {program: 'scalr-agent-install', env: {...environment(), ...env}});
    expect(exit, screen).toBe(2);
    expect(screen).toContain('SCALR_AGENT_INSTALL_URL');
  });
});
