import {expect, test} from 'vitest';
import type {ChartName} from '../../src/charts/schema.ts';
import type {ListQuestion} from '../../src/ports/system.ts';
import {accountWith} from '../cluster/accounts.ts';
import {findHelm} from '../helm/find-helm.ts';
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
  ['What is the agent pool used for', ENTER],
  ['Isolate each run', ENTER],
  ['Which of these apply to your network', ENTER],
  ['Where should provider', ENTER],
  ['Maximum concurrent runs', ENTER],
];

/** Only agent-local limits the number of runs. */
const toReviewOf = (chart: ChartName): Line[] =>
  chart === 'agent-local' ? TO_REVIEW : TO_REVIEW.slice(0, -1);

async function talk(
  lines: readonly Line[],
  argv: readonly string[],
  place: Awaited<ReturnType<typeof installPlace>>,
) {
  const [helm] = await findHelm();
  const operator = scriptedPrompter(lines);
  const files = memoryFiles();
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
  const first = await talk(
    [...toReviewOf(chart), ['What do you want to do?', 'install']],
    argv,
    place,
  );
  expect(first.exit, first.stderr).toBe(0);
  const [target] = first.asked as ListQuestion[];
  expect((await target?.laterChoices)?.[0]?.description).toMatch(
    / \(current context\), Kubernetes v1\.\d+\.\d+.*, \d nodes$/,
  );
  expect(shown(first.asked)).toMatch(/Changes\t.*Create Secret scalr-agent-token/);
  expect(shown(first.asked)).not.toContain('requires Kubernetes 1.35 or newer');
  expect(first.stderr).toContain('Agent registered with acme.scalr.io');
  expect(first.files.written.map(({path}) => path)).toEqual(
    expect.arrayContaining(['scalr-agent/answers.yaml', 'scalr-agent/values.yaml']),
  );
  expect(first.stderr).not.toContain(TOKEN);
  expect(first.files.removed).toEqual([KEPT]);
  const reopened: Line[] = [
    TO_REVIEW[0] as Line,
    ['What do you want to do with the installed agent?', 'change'],
  ];
  const again = await talk([...reopened, ['What do you want to do?', 'install']], argv, place);
  expect(shown(again.asked)).toContain('Changes\tnone, the installed agent matches these settings');
  expect(again.exit, again.stderr).toBe(0);
});

test.each<ChartName>([
  'agent-local',
  'agent-job',
])('%s: the printed command plans what the review showed', async (chart) => {
  const place = await installPlace();
  const lines: Line[] = [
    ...toReviewOf(chart),
    ['What do you want to do?', 'save'],
    ['Directory to save to', '/srv'],
    ['What do you want to do?', 'quit'],
  ];
  const {asked, files, stderr} = await talk(lines, await chartFlags(chart), place);
  const planned = /^Changes\t(.*)$/m.exec(shown(asked))?.[1]?.split(' · ');
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
  const saved = memoryFiles(Object.fromEntries(files.written.map(({path, text}) => [path, text])));
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
  // Who may not read the nodes is asked where they are.
  const toReview = TO_REVIEW.toSpliced(2, 0, ['Where does the cluster run', ENTER]).toSpliced(
    1,
    0,
    ['How do you want to continue?', 'continue'],
  );
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
  const {exit, stderr, files} = await talk(
    [...TO_REVIEW, ['What do you want to do?', 'install']],
    argv,
    place,
  );
  expect(exit).not.toBe(0);
  expect(stderr).toContain(
    'To continue with your saved answers, run the command again with --resume',
  );
  expect(stderr).not.toContain('Run the same command again');
  expect(files.removed).toEqual([]);
});
