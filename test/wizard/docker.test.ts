import {expect, test} from 'vitest';
import type {HostTools} from '../../src/ports/host-tools.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {ENTER, type Line} from '../support/scripted-prompter.ts';
import {choicesOf, jwt, QUIT, shown, talk} from './conversation.ts';

/** A Docker Engine without containers that has every image. */
const DOCKER: HostTools = {run: async () => ({stdout: ''}), stream: async () => ({trouble: {kind: 'not-found', message: ''}})};

const TOKEN = jwt({});
const ANSWERS: Line[] = [
  ['Agent pool token', TOKEN],
  ['Scalr URL', 'https://acme.scalr.io'],
  ['What is the agent pool used for', ENTER],
  ['Isolate each run in its own container?', ENTER],
  ['Which of these apply to your network', ENTER],
  ['Where should provider', ENTER],
  ['Maximum concurrent runs', '7'],
];

test('ends in a review with an install when Docker answers', async () => {
  const {asked, stderr} = await talk([['Where will the agent run', 'docker'], ...ANSWERS, ...QUIT], {host: DOCKER});
  expect(choicesOf(asked, 'Which of these apply').map(({label}) => label)).toEqual(['HTTP(S) proxy', 'Private CA', 'Registry mirror']);
  expect(choicesOf(asked, 'Where should provider').map(({label}) => label)).toEqual(['Default', 'Directory on this machine']);
  expect(shown(asked)).toContain('Step 6 of 6');
  expect(shown(asked)).toContain('Create container scalr-agent-2.next (scalr/agent:');
  expect(choicesOf(asked, 'What do you want to do?')[0]).toEqual({value: 'install', label: 'Install'});
  expect(stderr).not.toContain(TOKEN);
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
  expect(review[0]).toEqual({value: 'install', label: 'Install', disabled: 'not possible, see above'});
  expect([...written.keys()].filter((path) => path.startsWith('scalr-agent/')).toSorted()).toEqual([
    'scalr-agent/.gitignore',
    'scalr-agent/agent.env',
    'scalr-agent/answers.yaml',
    'scalr-agent/run.sh',
  ]);
  expect(written.get('scalr-agent/agent.env')).toContain(`SCALR_AGENT_TOKEN=${TOKEN}`);
  expect(written.get('scalr-agent/answers.yaml')).not.toContain(TOKEN);
  expect(stderr).toContain('scalr-agent install --target docker --yes \\\n  --url https://acme.scalr.io');
  expect(stderr).toContain('sh run.sh');
});

test('writes the configuration of a virtual machine, and never offers to install it', async () => {
  const lines: Line[] = [
    ['Where will the agent run', 'systemd'],
    ...ANSWERS.slice(0, 3),
    ...ANSWERS.slice(4, 6),
    ['Maximum concurrent runs', ENTER],
    ['What do you want to do?', 'view'],
    ...QUIT,
  ];
  const {asked, stderr} = await talk(lines);
  expect(choicesOf(asked, 'What do you want to do?').map(({value}) => value)).not.toContain('install');
  expect(stderr).toContain('# scalr-agent.service.d/scalr-agent.conf');
  expect(shown(asked)).toContain('deprecated since 2026-03-31');
});
