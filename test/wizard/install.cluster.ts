import {execa} from 'execa';
import {expect, test} from 'vitest';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import type {ListQuestion} from '../../src/ground/system/system.ts';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {accountWith} from '../control-plane/accounts.ts';
import {setLogs} from '../control-plane/logs.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {commandsIn} from '../support/commands-in.ts';
import {chartFlags, installPlace} from '../support/install-place.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {install} from '../support/run-on-cluster.ts';
import {ENTER, type Line, scriptedPrompter} from '../support/scripted-prompter.ts';
import {ENV, jwt, KEPT, NO_DOCKER, shown} from './conversation.ts';

const TOKEN = jwt({iss: 'acme.scalr.io', exp: 4_000_000_000});

/** The nodes of the test cluster are of no known platform, which is an answer too. */
const TO_REVIEW: Line[] = [
  ['Where will the agent run', ENTER],
  ['Agent pool token', TOKEN],
];
const INSTALLED = 'is installed in';

const INSTALL: Line = ['What do you want to do?', 'install'];

const tokenIn = async ({kubectl, namespace}: Workplace): Promise<string> => {
  const path = ['--output', 'jsonpath={.data.token}', '--namespace', namespace];
  const data = await kubectl('get', 'secret', 'scalr-agent-token', ...path);
  return Buffer.from(data, 'base64').toString();
};

async function talk(
  lines: readonly Line[],
  argv: readonly string[],
  place: Workplace,
  files = memoryFiles(),
) {
  const [helm] = await findHelm();
  const operator = scriptedPrompter(lines);
  const result = await install(place, helm?.path as string, argv, {
    env: ENV,
    files,
    hasTerminal: true,
    host: NO_DOCKER,
    // Reads the clusters before choosing one: what is missing there is known at the next question.
    prompter: {
      ...operator.prompter,
      select: async (question) =>
        question.laterChoices?.then(() => operator.prompter.select(question)) ??
        operator.prompter.select(question),
    },
  });
  if (/This is a bug/.test(result.stderr)) throw new Error(result.stderr);
  operator.done();
  return {...result, files, asked: operator.asked};
}

test.each<ChartName>([
  'agent-local',
  'agent-k8s',
  'agent-job',
])('%s: a conversation installs it, and again there is nothing to do', async (chart) => {
  const place = await installPlace();
  const ownDirectory = chart === 'agent-k8s' ? ['--data-home', `/var/lib/${place.namespace}`] : [];
  const argv = [...(await chartFlags(chart)), ...ownDirectory];
  const first = await talk([...TO_REVIEW, INSTALL], argv, place);
  expect(first.exit, first.stderr).toBe(0);
  const [target] = first.asked as ListQuestion[];
  expect((await target?.laterChoices)?.[0]?.description).toMatch(
    /^current context: Kubernetes v1\.\d+\.\d+.*, \d nodes$/,
  );
  expect(first.stderr).toMatch(/Changes +.*Create Secret scalr-agent-token/);
  expect(first.stderr).not.toContain('requires Kubernetes 1.35 or newer');
  expect(first.stderr).toContain('Agent registered with acme.scalr.io');
  expect(first.files.written.map(({path}) => path)).toEqual(
    expect.arrayContaining(['scalr-agent/answers.yaml', 'scalr-agent/values.yaml']),
  );
  expect(first.stderr).not.toContain(TOKEN);
  expect(first.files.removed).toEqual([KEPT]);
  const reopened: Line[] = [TO_REVIEW[0] as Line, [INSTALLED, 'change']];
  const again = await talk([...reopened, INSTALL], argv, place);
  expect(again.stderr).toMatch(/Changes +none, the installed agent matches these settings/);
  expect(again.exit, again.stderr).toBe(0);
});

const AGAIN = {timeout: 240_000};

test('a token that Scalr rejects is replaced with --resume, or from the menu', AGAIN, async () => {
  const place = await installPlace();
  const says = (line: string) =>
    setLogs(place.kubeconfig, {namespace: place.namespace}, {'*': {current: [line]}});
  const REJECTED = '401 Client Error: Unauthorized for url: https://acme.scalr.io';
  const flags = [...(await chartFlags('agent-local')), '--timeout', '25s'];
  const files = memoryFiles();
  await says(REJECTED);
  const first = await talk([...TO_REVIEW, INSTALL], flags, place, files);
  expect(first.exit).not.toBe(0);
  const [progress, failure] = first.stderr.split('\nError: ');
  expect(progress).toContain('TOKEN_REJECTED');
  expect(failure).not.toMatch(/TOKEN_REJECTED|rotate-token|--token-file/);
  expect(failure).toMatch(/To enter a new token[^-]* run the command\s+again with --resume/);

  const [second, third] = ['second', 'third'].map((sub) => jwt({iss: 'acme.scalr.io', sub}));
  const resumed = await talk(
    [['Agent pool token', second as string], INSTALL],
    ['--resume', ...flags],
    place,
    files,
  );
  expect(resumed.exit).not.toBe(0);
  expect(await tokenIn(place)).toBe(second);

  const menu: Line[] = [TO_REVIEW[0] as Line, [INSTALLED, ENTER]];
  const replaced = await talk(
    [...menu, ['Agent pool token', third as string], INSTALL],
    flags,
    place,
  );
  expect(shown(replaced.asked)).toContain('× Scalr rejects the token of the agent.');
  expect(replaced.stderr).toContain('changed: token replaced');
  expect(await tokenIn(place)).toBe(third);

  await says('The agent is ready to receive tasks');
  const again = await talk([menu[0] as Line, [INSTALLED, 'change'], INSTALL], flags, place);
  expect(again.exit, again.stderr).toBe(0);
  expect(again.stderr).toMatch(/Changes +none, the installed agent matches these settings/);
});

/** Without what this program would write: a new install enables caches here. */
const VALUES = {
  agent: {url: 'https://acme.scalr.io', tokenExistingSecret: {name: 'mine'}},
  persistence: {cache: {enabled: true, hostPath: {path: '/var/cache/scalr'}}},
};

test('a release that somebody else has installed is not changed unless it is edited', async () => {
  const place = await installPlace();
  const [helm] = await findHelm();
  const flags = await chartFlags('agent-job');
  await place.kubectl('create', 'secret', 'generic', 'mine', '--from-literal=token=opaque');
  const where = ['--namespace', place.namespace, '--kubeconfig', place.kubeconfig];
  const args = ['install', 'scalr-agent', flags.at(-1) as string, ...where, '--values', '-'];
  await execa(helm?.path as string, args, {input: JSON.stringify(VALUES)});
  const {asked, stderr} = await talk(
    [
      TO_REVIEW[0] as Line,
      [INSTALLED, 'change'],
      ['What do you want to do?', 'quit'],
      ['Quit without saving files?', 'y'],
    ],
    flags,
    place,
  );
  expect(stderr).toMatch(/Changes +none/);
  expect(asked.at(-2)).toMatchObject({default: 'change'});
});

test.each<ChartName>([
  'agent-local',
  'agent-job',
])('%s: the printed command plans what the review showed', async (chart) => {
  const place = await installPlace();
  const lines: Line[] = [
    ...TO_REVIEW,
    ['What do you want to do?', 'save'],
    ['Directory to save to', '/srv'],
    ['What do you want to do?', 'quit'],
  ];
  const {files, stderr} = await talk(lines, await chartFlags(chart), place);
  const planned = /^ *Changes +(.*)$/m.exec(stderr)?.[1]?.split(' · ');
  expect(planned).toHaveLength(2);
  const answers = files.written.find(({path}) => path === '/srv/answers.yaml')?.text;
  expect(answers).toContain('target: kubernetes\n');
  expect(answers).toContain('url: https://acme.scalr.io\n');
  expect(answers).toMatch(
    /^# Saved for the kubeconfig context \S+\. Select it with --kube-context\.$/m,
  );
  const printed = commandsIn(stderr).find(({text}) => text.startsWith('scalr-agent install'));
  // install() adds the kubeconfig again.
  const words =
    printed?.args.slice(1).filter((word) => word !== '--kubeconfig' && word !== place.kubeconfig) ??
    [];
  const argv = words.map((word) => (word === '--yes' ? '--dry-run' : word));
  const [helm] = await findHelm();
  const saved = memoryFiles({
    [place.kubeconfig]: '',
    ...Object.fromEntries(files.written.map(({path, text}) => [path, text])),
  });
  const again = await install(place, helm?.path as string, [...argv, '--json'], {
    env: {...ENV, SCALR_AGENT_TOKEN: TOKEN},
    files: saved,
  });
  expect(again.exit, again.stdout).toBe(0);
  expect(JSON.parse(again.stdout)).toMatchObject({
    chart,
    steps: planned?.map((title) => ({title})),
  });
});

test('who may change nothing learns it at the second question, and goes home with files', async () => {
  const place = await installPlace();
  const reader = await accountWith('view', place);
  const argv = [...(await chartFlags('agent-local'))];
  const toReview = TO_REVIEW.toSpliced(1, 0, ['How do you want to continue?', 'continue']);
  const lines: Line[] = [
    ...toReview,
    ['What do you want to do?', 'save'],
    ['Directory to save to', '/srv'],
    ['What do you want to do?', ENTER],
  ];
  const {exit, stderr, files, asked} = await talk(lines, argv, {...place, kubeconfig: reader});
  expect(exit, stderr).toBe(0);
  expect(shown(asked)).toContain('× Your user cannot create secrets and deployments in namespace');
  expect(files.written.map(({path}) => path)).toEqual(
    expect.arrayContaining(['/srv/values.yaml', '/srv/answers.yaml']),
  );
  expect(asked.at(-1)).toMatchObject({default: 'quit'});
});

test('what fails keeps what was said', async () => {
  const place = await installPlace();
  await place.kubectl('create', 'quota', 'none', '--hard=pods=0');
  const argv = [...(await chartFlags('agent-local')), '--skip-preflight', '--timeout', '20s'];
  const {exit, stderr, files} = await talk([...TO_REVIEW, INSTALL], argv, place);
  expect(exit).not.toBe(0);
  expect(stderr).toContain(
    'To continue with your saved answers, run the command again with --resume',
  );
  expect(stderr).not.toContain('Run the same command again');
  expect(files.removed).toEqual([]);
});
