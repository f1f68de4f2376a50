import {expect, test} from 'vitest';
import {argumentsOf} from '../../src/ground/call-arguments.ts';
import type {ListQuestion, Processes} from '../../src/ground/system/system.ts';
import {type MockApi, mockApi} from '../extensions/account/mock-api.ts';
import {fakeKubernetes} from '../support/fake-kubernetes.ts';
import {ENTER, ESC, type Line} from '../support/scripted-prompter.ts';
import {choicesOf, jwt, QUIT, shown, talk} from './conversation.ts';

const TARGET: Line = ['Where will the agent run', ENTER];
const NAMED: Line[] = [['Name of the new agent pool', ENTER]];
/** One context, and a helm that renders nothing. */
const helm: Processes['run'] = async (call) => {
  const args = argumentsOf(call);
  const contexts = [{name: 'arn:aws:eks:eu-1:1:cluster/prod-eks', context: {cluster: 'prod'}}];
  if (args.includes('view'))
    return {
      exitCode: 0,
      stdout: JSON.stringify({'current-context': contexts[0]?.name, contexts}),
      stderr: '',
    };
  return args[0] === 'template'
    ? {exitCode: 0, stdout: '', stderr: ''}
    : {exitCode: 1, stdout: '', stderr: 'Error: release: not found'};
};

const run = (api: MockApi, lines: readonly Line[], argv: readonly string[] = []) =>
  talk(lines, {
    argv: ['--ca-file', 'ca.pem', '--ca-public-roots', '--skip-preflight', ...argv],
    env: api.deps.env,
    files: api.deps.files,
    answer: helm,
    kubernetes: fakeKubernetes(),
  });

test.each([
  [['alpha'], undefined, 'prod-eks'],
  [['alpha', 'prod-eks'], 'prod-eks', 'prod-eks-2'],
])('with the pools %j, that of the cluster is preselected, or a new one', async (names, preselected, free) => {
  const api = await mockApi();
  for (const name of names) api.account.pool(name);
  const question = `Which agent pool of ${api.host}?`;
  const {asked} = await run(api, [
    TARGET,
    [question, ENTER],
    ...(preselected ? [] : NAMED),
    ...QUIT,
  ]);
  const list = asked.find(({message}) => message === question) as ListQuestion;
  expect(list.choices.find(({value}) => value === list.default)?.label).toBe(
    preselected ?? 'Create a new pool',
  );
  expect(list.choices[0]?.description).toBe(`for example ${free}`);
});

test('are offered with their agents instead of the question for a token, and one is created by the install only', async () => {
  const api = await mockApi();
  const production = api.account.pool('production');
  api.account.agent(production, 'agent-1', {status: 'idle'});
  api.account.pool('staging');
  const question = `Which agent pool of ${api.host}?`;
  const lines: Line[] = [
    TARGET,
    [question, ''],
    ['Name of the new agent pool', ESC],
    [question, ''],
    ['Name of the new agent pool', ENTER],
    ['What do you want to do?', 'print'],
    ...QUIT,
  ];
  const {asked, stderr} = await run(api, lines);
  expect(
    choicesOf(asked, question).map(({label, description}) => `${label}: ${description}`),
  ).toEqual([
    'Create a new pool: for example prod-eks',
    'production: agents: 1 idle · nothing is linked to it',
    'staging: no agents · nothing is linked to it',
    'Paste a token instead: undefined',
  ]);
  expect(stderr).toContain(`◇  Agent      ${api.host} · agent pool prod-eks (new)\n`);
  expect(stderr).toMatch(
    /Changes +Create agent pool prod-eks · Create a token of agent pool prod-eks/,
  );
  expect(stderr).toContain('--pool prod-eks --create-pool');
  const account = `--url https://${api.host} --ca-file ca.pem --yes`;
  expect(stderr, 'Helm alone needs the Secret').toContain(
    [
      '# Requires your Scalr API token. Each run creates another token in agent pool prod-eks',
      `scalr-agent pool create prod-eks ${account}`,
      `token=$(scalr-agent pool token create prod-eks ${account}) &&`,
      '  printf %s "$token" | kubectl create secret generic scalr-agent-token --from-file=token=/dev/stdin --namespace scalr-agent --dry-run=client --output=yaml',
    ].join('\n'),
  );
  expect(api.changes()).toEqual([]);
});

test('decide the purpose when one is selected', async () => {
  const api = await mockApi();
  api.account.pool('vcs', {'vcs-enabled': true});
  const {stderr} = await run(api, [TARGET, [`Which agent pool of ${api.host}?`, 'vcs'], ...QUIT]);
  expect(stderr).toContain('the only chart for VCS agent pools');
  expect(stderr).toMatch(/Changes +Create a token of agent pool vcs/);
});

test('can be left for a token', async () => {
  const api = await mockApi();
  const lines: Line[] = [
    TARGET,
    [`Which agent pool of ${api.host}?`, '…'],
    ['Agent pool token', jwt({iss: 'acme.scalr.io'})],
  ];
  const {stderr} = await run(api, [...lines, ...QUIT]);
  expect(stderr).toContain('◇  Agent      acme.scalr.io · token\n');
});

test('that cannot be read are named where a token is asked for instead', async () => {
  const api = await mockApi();
  const {asked} = await talk([TARGET, ['Agent pool token', jwt({iss: 'acme.scalr.io'})], ...QUIT], {
    argv: ['--ca-file', 'ca.pem', '--ca-public-roots', '--skip-preflight'],
    env: {...api.deps.env, SCALR_TOKEN: 'revoked'},
    files: api.deps.files,
    answer: helm,
    kubernetes: fakeKubernetes(),
  });
  expect(shown(asked)).toContain(`The agent pools of ${api.host} cannot be read: `);
});

test('are given by --pool in the wizard, too', async () => {
  const api = await mockApi();
  api.account.pool('production');
  const lines: Line[] = [TARGET, ...QUIT];
  const {stderr} = await run(api, lines, ['--pool', 'production']);
  expect(stderr).toContain(`◇  Agent      ${api.host} · agent pool production\n`);
  expect(stderr).toMatch(/Changes +Create a token of agent pool production/);
});

test.each([
  ['there is no token of a user', {SCALR_TOKEN: ''}, []],
  ['its host is not the one of --url', {}, ['--url', 'https://other.scalr.io']],
  ['--no-account is set', {}, ['--no-account']],
])('are not asked for, and nothing is contacted, when %s', async (_, env, argv) => {
  const api = await mockApi();
  const lines: Line[] = [TARGET, ['Agent pool token', jwt({iss: 'acme.scalr.io'})], ...QUIT];
  const {asked} = await run(
    {...api, deps: {...api.deps, env: {...api.deps.env, ...env}}},
    lines,
    argv,
  );
  expect(
    (asked as ListQuestion[]).filter(({message}) => message.startsWith('Which agent pool')),
  ).toEqual([]);
  expect(api.sent).toEqual([]);
});
