import {expect, onTestFinished, test} from 'vitest';
import {sleep} from '../../src/ground/async.ts';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import {faultyApi} from '../control-plane/faulty-api.ts';
import {startCluster} from '../control-plane/start-cluster.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {poolTokenOf, type Stored, USER_TOKEN} from '../extensions/account/mock-account.ts';
import {installPlace, stepFlags, TOKEN} from '../support/install-place.ts';
import {startProgram} from '../support/killed-run.ts';
import {violations} from '../support/output-schema.ts';
import {
  agentsOf,
  installWithPool,
  type PoolAccount,
  poolAccount,
  poolIn,
  secretOf,
  tokensIn,
} from '../support/pool-account.ts';
import {install, rotateToken, status, uninstall} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelmMatrix();
const argv = [...(await stepFlags('agent-local')), '--shutdown-mode', 'force'];

interface Held {
  place: Workplace;
  own: PoolAccount;
  /** ID of the token before the rotation. */
  old: string;
}

async function installed(): Promise<Held> {
  const place = await installPlace();
  const own = await poolAccount(argv);
  agentsOf(place, own.api);
  expect(await installWithPool(place, helm, own)).toMatchObject({exit: 0});
  own.api.sent.length = 0;
  return {place, own, old: (await secretOf(place)).id};
}

/** Waits at most a moment, however long the command wants to watch the old token. */
const quick = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  sleep(Math.min(milliseconds, 300), signal);

async function rotated({place, own}: Pick<Held, 'place' | 'own'>, ...more: string[]) {
  const {stdout, stderr, exit} = await rotateToken(place, helm, ['--yes', '--json', ...more], {
    env: own.env,
    sleep: quick,
  });
  expect(stdout + stderr).not.toContain(USER_TOKEN.split('.')[1]);
  const document = JSON.parse(stdout);
  if (document.error === undefined) expect(violations('rotate-token', stdout), stdout).toEqual([]);
  return {...document, stderr, exit};
}

const annotations = async ({kubectl}: Workplace): Promise<Record<string, string>> =>
  JSON.parse(await kubectl('get', 'secret', 'scalr-agent-token', '--output', 'json')).metadata
    .annotations;

test('replaces the token, restarts the agent, and revokes the old token when Scalr reports the new agent', async () => {
  const held = await installed();
  const {place, own, old} = held;
  const dry = await rotateToken(place, helm, ['--dry-run'], {env: own.env});
  expect(dry.stderr).toMatch(
    /1\. Create a token of agent pool eks-prod[\s\S]*1\. Update Secret scalr-agent-token/,
  );
  expect(dry.stderr).toContain(
    `1. Revoke token ${old} of agent pool eks-prod when every agent uses the new one (cannot be undone)`,
  );
  expect(own.api.changes()).toEqual([]);

  const result = await rotated(held);
  const {token, id} = await secretOf(place);
  expect(result).toMatchObject({
    exit: 0,
    changed: true,
    token: id,
    revoked: old,
    agents: [expect.stringContaining('scalr-agent-agent-local-')],
  });
  expect(tokensIn(own.api)).toEqual([id]);
  expect(token).toBe(poolTokenOf(own.api.host, poolIn(own.api).id, id));
  expect(JSON.stringify(result)).not.toContain(token);
  expect(await annotations(place)).not.toHaveProperty(['scalr.io/previous-token-id']);
  // The next rotation starts from the new token.
  expect(await rotated(held)).toMatchObject({exit: 0, revoked: id});
});

test.each([
  ['before the Secret has the token', /\/secrets\/scalr-agent-token/, 'stall'],
  ['after the Secret has the token', /\/secrets\/scalr-agent-token/, 'lose'],
  ['before the restart', /\/deployments\//, 'stall'],
  ['after the restart', /\/deployments\//, 'lose'],
] as const)('a run that is killed %s continues with the next one', async (_, path, fault) => {
  const held = await installed();
  const {place, own, old} = held;
  const server = await faultyApi(place.kubeconfig);
  const injected = server.inject('PATCH', path, fault, 1);
  const run = startProgram('rotate-token', place, server, helm, ['--yes'], own.env);
  await injected.hit;
  run.signal('SIGKILL');
  await run.ended;
  expect(tokensIn(own.api)).toContain(old);
  const theirs = own.api.account.token(poolIn(own.api), {
    description: 'scalr-agent-install cluster=other namespace=scalr release=scalr-agent',
  }).id;
  expect(await rotated(held)).toMatchObject({exit: 0, revoked: old});
  const {id} = await secretOf(place);
  expect(tokensIn(own.api).toSorted()).toEqual([id, theirs].toSorted());
});

test('agents of others keep the old token valid, and --confirm revokes it', async () => {
  const held = await installed();
  const {own, old} = held;
  own.api.account.agent(poolIn(own.api), 'agent-of-another-cluster');
  const {error} = await rotated(held);
  expect(error).toMatchObject({
    code: 'OBJECT_NOT_OWNED',
    exit: 2,
    message: expect.stringContaining('agent-of-another-cluster'),
  });
  expect(tokensIn(own.api)).toHaveLength(2);
  expect(await rotated(held, '--confirm', 'other')).toMatchObject({
    error: {code: 'INVALID_SETTING'},
  });
  expect(await rotated(held, '--confirm', 'scalr-agent')).toMatchObject({exit: 0, revoked: old});
  expect(tokensIn(own.api)).toHaveLength(1);
});

test('a token that is still used is not revoked', async () => {
  const held = await installed();
  const {own, old} = held;
  const {attributes} = own.api.account.objects.get(old) as Stored;
  const timer = setInterval(() => {
    attributes['last-used-at'] = new Date().toISOString();
  }, 20);
  const {error} = await rotated(held);
  clearInterval(timer);
  expect(error).toMatchObject({
    code: 'OBJECT_NOT_OWNED',
    message: expect.stringContaining(`Token ${old} is still valid`),
  });
  expect(await rotated(held)).toMatchObject({exit: 0, revoked: old, steps: [{id: 'revoke-token'}]});
});

test('an agent that does not come back keeps the old token valid', async () => {
  const held = await installed();
  const {own, old} = held;
  const offline = setInterval(() => {
    for (const {attributes} of own.api.account.ofType('agents')) attributes['status'] = 'errored';
  }, 20);
  const {error} = await rotated(held, '--timeout', '20s');
  clearInterval(offline);
  expect(error).toMatchObject({
    code: 'TIMED_OUT',
    exit: 6,
    message: expect.stringContaining('(errored)'),
  });
  expect(tokensIn(own.api)).toContain(old);
});

test('a token file replaces the token without the account', async () => {
  const place = await installPlace();
  await install(place, helm, [...argv, '--yes'], {env: TOKEN});
  const given = {env: {SCALR_AGENT_TOKEN: 'a-new-token'}};
  const {stderr, exit} = await rotateToken(place, helm, ['--yes'], given);
  expect({exit}, stderr).toEqual({exit: 0});
  expect(stderr).toContain('Revoke the old token in Scalr');
  const {data} = JSON.parse(
    await place.kubectl('get', 'secret', 'scalr-agent-token', '--output', 'json'),
  );
  expect(Buffer.from(data.token, 'base64').toString()).toBe('a-new-token');
  expect((await rotateToken(place, helm, ['--yes'], given)).stderr).toContain(
    'already uses this token. Nothing was changed.',
  );
  const missing = await rotateToken(place, helm, ['--yes', '--json'], {env: {}});
  expect(JSON.parse(missing.stdout).error).toMatchObject({code: 'MISSING_SETTING', exit: 2});
});

test('creates a Secret that was deleted, as the remedy of status says', async () => {
  const place = await installPlace();
  expect(await install(place, helm, [...argv, '--yes'], {env: TOKEN})).toMatchObject({exit: 0});
  await place.kubectl('delete', 'secret', 'scalr-agent-token');
  const found = await status(place, helm, ['--json']);
  expect(JSON.parse(found.stdout).causes).toContainEqual(
    expect.objectContaining({
      code: 'SECRET_NOT_FOUND',
      remedies: [{text: expect.stringContaining('scalr-agent rotate-token ')}],
    }),
  );
  const {stdout, exit} = await rotateToken(place, helm, ['--yes', '--json'], {
    env: {SCALR_AGENT_TOKEN: 'a-new-token'},
  });
  expect(exit, stdout).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    changed: true,
    steps: [{title: 'Create Secret scalr-agent-token'}, {}, {}],
  });
  expect((await secretOf(place)).token).toBe('a-new-token');
  const after = await status(place, helm, ['--json']);
  expect(after.stdout).not.toContain('SECRET_NOT_FOUND');
});

test('a Secret of others is not written', async () => {
  const held = await installed();
  const {place, own} = held;
  await place.kubectl(
    'label',
    'secret',
    'scalr-agent-token',
    'app.kubernetes.io/managed-by=external-secrets',
    '--overwrite',
  );
  expect((await rotated(held)).error).toMatchObject({code: 'OBJECT_NOT_OWNED', exit: 2});
  expect(own.api.sent).toEqual([]);
});

test('a Secret without a record of its token keeps every token of the pool', async () => {
  const held = await installed();
  const {place, own, old} = held;
  await place.kubectl(
    'annotate',
    'secret',
    'scalr-agent-token',
    'scalr.io/token-id-',
    'scalr.io/agent-pool-id-',
    'scalr.io/account-',
  );
  const result = await rotated(held, '--pool', 'eks-prod');
  expect(result).toMatchObject({exit: 0, revoked: null});
  expect(result.stderr).toContain('does not record the ID of the old token');
  expect(tokensIn(own.api)).toEqual([old, result.token]);
});

test('two clusters on one pool: rotating and uninstalling in one leaves the other alone', {
  timeout: 240_000,
}, async () => {
  const {place, own, old} = await installed();
  const second = await startCluster();
  onTestFinished(() => second.stop());
  // The same names as in the first cluster.
  const other = await installPlace(second.kubeconfig, place.namespace);
  agentsOf(other, own.api);
  expect(await installWithPool(other, helm, own)).toMatchObject({exit: 0});
  const theirs = await secretOf(other);
  const seen = async (): Promise<string[]> => [
    await other.kubectl(
      'get',
      'secrets',
      '--output',
      'jsonpath={.items[*].metadata.resourceVersion}',
    ),
    await other.kubectl(
      'get',
      'deployments',
      '--output',
      'jsonpath={.items[*].metadata.generation}',
    ),
  ];
  const before = await seen();
  const description = (id: string) => own.api.account.objects.get(id)?.attributes['description'];
  expect(description(theirs.id)).not.toBe(description(old));
  // An interrupted rotation of the other cluster.
  const orphan = own.api.account.token(poolIn(own.api), {description: description(theirs.id)}).id;
  expect(await rotated({place, own})).toMatchObject({exit: 2, error: {code: 'OBJECT_NOT_OWNED'}});
  expect(tokensIn(own.api)).toEqual(expect.arrayContaining([old, theirs.id]));
  expect(await rotated({place, own}, '--confirm', 'scalr-agent')).toMatchObject({
    exit: 0,
    revoked: old,
  });
  const {id} = await secretOf(place);
  expect(tokensIn(own.api).toSorted()).toEqual([theirs.id, id, orphan].toSorted());
  expect(
    await uninstall(place, helm, ['--yes', '--json', '--revoke-token'], {env: own.env}),
  ).toMatchObject({exit: 0});
  expect(tokensIn(own.api)).toEqual([theirs.id, orphan]);
  expect(own.api.account.names('agent-pools')).toEqual(['eks-prod']);
  expect(await seen()).toEqual(before);
});
