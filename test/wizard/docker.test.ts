import {describe, expect, test} from 'vitest';
import ExportCommand from '../../src/commands/export.ts';
import Install from '../../src/commands/install.ts';
import Upgrade from '../../src/commands/upgrade.ts';
import Values from '../../src/commands/values.ts';
import type {HostTools} from '../../src/ground/system/system.ts';
import {commandsIn} from '../support/commands-in.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';
import {ENTER, type Line} from '../support/scripted-prompter.ts';
import {
  change,
  choicesOf,
  ENV,
  jwt,
  QUIT,
  QUIT_STALE,
  reviewsIn,
  rowOf,
  talk,
} from './conversation.ts';

/** A Docker Engine without containers that has every image. */
const DOCKER: HostTools = {
  run: async () => ({stdout: ''}),
  stream: async () => ({error: {kind: 'not-found', message: ''}}),
};

const TOKEN = jwt({});
const ANSWERS: Line[] = [
  ['Agent pool token', TOKEN],
  ['Scalr URL', 'https://acme.scalr.io'],
];

test('ends in a review with an install when Docker answers', async () => {
  const {asked, stderr} = await talk(
    [['Where will the agent run', 'docker'], ...ANSWERS, ...QUIT],
    {host: DOCKER},
  );
  expect(rowOf(stderr, 'Isolation')).toBe('Isolation a container per run');
  expect(rowOf(stderr, 'Runs')).toBe('Runs 5 at a time');
  expect(rowOf(stderr, 'Cache')).toMatch(/^Cache Directory on this machine/);
  expect(stderr).toContain('Create container scalr-agent');
  expect(choicesOf(asked, 'What do you want to do?')[0]).toMatchObject({
    value: 'install',
    label: 'Install',
    disabled: undefined,
  });
  expect(stderr).not.toContain(TOKEN);
});

test('speaks of this machine where a cluster is not meant', async () => {
  const lines: Line[] = [
    ['Where will the agent run', 'docker'],
    ...ANSWERS,
    ...change(
      'Proxy',
      ['Proxy for https:// URLs', 'http://p:3128'],
      ['Hosts and networks that bypass the proxy', ENTER],
    ),
    ...change('Isolation', ['Isolate each run in its own container?', ENTER]),
  ];
  const {asked} = await talk([...lines, ...QUIT], {host: DOCKER});
  expect(asked.find(({message}) => message.startsWith('Hosts and networks'))?.note).toBe(
    'local addresses only',
  );
});

test('writes files and prints their commands when Docker does not answer', async () => {
  const files = memoryFiles();
  const lines: Line[] = [
    ['Where will the agent run', 'docker'],
    ...ANSWERS,
    ['What do you want to do?', 'save'],
    ['Directory to save to', ENTER],
    ['What do you want to do?', 'quit'],
  ];
  const {asked, written, stderr} = await talk(lines, {files});
  const review = choicesOf(asked, 'What do you want to do?');
  expect(review[0]).toMatchObject({value: 'install', disabled: 'not possible, see above'});
  expect([...written.keys()].filter((path) => path.startsWith('scalr-agent/')).toSorted()).toEqual([
    'scalr-agent/.gitignore',
    'scalr-agent/agent.env',
    'scalr-agent/answers.yaml',
    'scalr-agent/run.sh',
  ]);
  expect(written.get('scalr-agent/agent.env')).toContain(`SCALR_AGENT_TOKEN=${TOKEN}`);
  expect(written.get('scalr-agent/answers.yaml')).not.toContain(TOKEN);
  expect(written.get('scalr-agent/answers.yaml')).toContain('target: docker\n');
  expect(stderr).toContain(
    'scalr-agent install --target docker --yes \\\n  --save scalr-agent \\\n  --answers scalr-agent/answers.yaml\n',
  );
  expect(stderr).toContain('sh run.sh');
});

/** Runs a printed command of this program without a terminal. */
async function run(
  printed: string,
  [start, command]: [start: string, command: Parameters<typeof runCommand>[0]],
  place: NonNullable<Parameters<typeof runCommand>[2]>,
) {
  const found = commandsIn(printed).find(({text}) => text.startsWith(start));
  expect(found, printed).toBeDefined();
  return runCommand(command, found?.args.slice(1) ?? [], {env: ENV, ...place});
}

describe('the saved answers', () => {
  const SAVE: Line[] = [
    ['What do you want to do?', 'save'],
    ['Directory to save to', '/srv/my agent'],
    ['What do you want to do?', 'quit'],
  ];
  /** The Scalr URL is in the token only. */
  const NAMED = jwt({iss: 'acme.scalr.io'});
  const answers: Line[] = [
    ['Agent pool token', NAMED],
    ...change('Runs', ['Maximum concurrent runs', '7'], ['Memory limit', ENTER]),
  ];

  test('install the same containers in Docker', async () => {
    const files = memoryFiles();
    const {stderr} = await talk([['Where will the agent run', 'docker'], ...answers, ...SAVE], {
      host: DOCKER,
      files,
    });
    const planned = /^ *Changes +(.*)$/m.exec(reviewsIn(stderr).at(-1) ?? '')?.[1]?.split(' · ');
    expect(planned).toHaveLength(6);
    const saved = memoryFiles(
      Object.fromEntries(files.written.map(({path, text}) => [path, text])),
    );
    const again = await run(
      stderr.replace(' --yes', ' --dry-run --json'),
      ['scalr-agent install', Install],
      {files: saved, host: DOCKER},
    );
    expect(again.exit, again.stderr).toBe(0);
    expect(JSON.parse(again.stdout).steps.map(({title}: {title: string}) => title)).toEqual(
      planned,
    );
  });

  test('write the same files for a virtual machine', async () => {
    const files = memoryFiles();
    const lines: Line[] = [
      ['Where will the agent run', 'systemd'],
      ['Agent pool token', NAMED],
    ];
    const {stderr} = await talk([...lines, ...SAVE], {files});
    expect(stderr).not.toContain('scalr-agent install');
    const saved = memoryFiles(
      Object.fromEntries(files.written.map(({path, text}) => [path, text])),
    );
    const again = await run(stderr, ['scalr-agent-install export', ExportCommand], {files: saved});
    expect(again.exit, again.stderr).toBe(0);
    expect(again.stderr).toContain('/srv/my agent/agent.env is up to date.');
    expect(again.stderr).not.toContain('Wrote');
  });

  type Run = (
    argv: string[],
    place: NonNullable<Parameters<typeof runCommand>[2]>,
  ) => ReturnType<typeof runCommand>;
  test.each<[string, Run, string]>([
    ['docker', (...args) => runCommand(Values, ...args), 'scalr-agent install --target docker'],
    ['systemd', (...args) => runCommand(Upgrade, ...args), 'scalr-agent-install export systemd'],
  ])('for %s never reach a cluster', async (target, runIt, suggestion) => {
    const files = memoryFiles({'answers.yaml': `target: ${target}\nurl: https://acme.scalr.io\n`});
    const {exit, stderr} = await runIt(['--answers', 'answers.yaml'], {env: ENV, files});
    expect(exit).toBe(2);
    expect(stderr).toContain(`supports only Kubernetes, but --target is ${target}.`);
    expect(stderr).toContain(suggestion);
  });
});

test('never uses saved files of other answers', async () => {
  const files = memoryFiles();
  const lines: Line[] = [
    ['Where will the agent run', 'docker'],
    ...ANSWERS,
    ['What do you want to do?', 'save'],
    ['Directory to save to', ENTER],
    ...change('Runs', ['Maximum concurrent runs', '3'], ['Memory limit', ENTER]),
    ['What do you want to do?', 'print'],
    ...QUIT_STALE,
  ];
  const {stderr} = await talk(lines, {files});
  expect(stderr).toContain('(out of date, save again)');
  expect(stderr).not.toContain('sh run.sh');
  expect(stderr).toContain(
    'scalr-agent install --target docker --yes \\\n  --url https://acme.scalr.io',
  );
});

test('writes the configuration of a virtual machine, and never offers to install it', async () => {
  const lines: Line[] = [
    ['Where will the agent run', 'systemd'],
    ...ANSWERS,
    ['What do you want to do?', 'view'],
    ...QUIT,
  ];
  const {asked, stderr} = await talk(lines);
  expect(choicesOf(asked, 'What do you want to do?').map(({value}) => value)).not.toContain(
    'install',
  );
  expect(stderr).toContain('# scalr-agent.service.d/scalr-agent.conf');
  expect(stderr).toContain('deprecated since 2026-03-31');
});
