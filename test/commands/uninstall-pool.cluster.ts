import {expect, test} from 'vitest';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {USER_TOKEN} from '../extensions/account/mock-account.ts';
import {installPlace, stepFlags, TOKEN} from '../support/install-place.ts';
import {violations} from '../support/output-schema.ts';
import {
  agentsOf,
  installWithPool,
  type PoolAccount,
  poolAccount,
  poolIn,
  tokensIn,
} from '../support/pool-account.ts';
import {install, uninstall} from '../support/run-on-cluster.ts';

const [{path: helm} = {path: 'helm'}] = await findHelmMatrix();
const argv = [...(await stepFlags('agent-local')), '--shutdown-mode', 'force'];

async function installed(): Promise<{place: Workplace; own: PoolAccount}> {
  const place = await installPlace();
  const own = await poolAccount(argv);
  agentsOf(place, own.api);
  expect(await installWithPool(place, helm, own)).toMatchObject({exit: 0});
  own.api.sent.length = 0;
  return {place, own};
}

async function uninstalled(place: Workplace, {env}: PoolAccount, ...more: string[]) {
  const {stdout, stderr, exit} = await uninstall(place, helm, ['--yes', '--json', ...more], {env});
  expect(stdout + stderr).not.toContain(USER_TOKEN.split('.')[1]);
  const document = JSON.parse(stdout);
  if (document.error === undefined) expect(violations('uninstall', stdout), stdout).toEqual([]);
  return {...document, stderr, exit};
}

const pods = ({kubectl}: Workplace): Promise<string> =>
  kubectl('get', 'deployments', '--output', 'name');

test('an uninstall leaves the account alone, and offers to revoke the token', async () => {
  const {place, own} = await installed();
  const {kept, exit} = await uninstalled(place, own);
  expect(exit).toBe(0);
  expect(own.api.sent).toEqual([]);
  expect(kept).toContainEqual({
    what: `Token ${tokensIn(own.api)} of agent pool ${poolIn(own.api).id} on ${own.api.host}`,
    why: 'created by an install; uninstall does not revoke it by default',
    how: expect.stringMatching(/^scalr-agent uninstall .*--revoke-token$/),
  });
  // The Secret still records it.
  expect(await uninstalled(place, own, '--revoke-token')).toMatchObject({
    exit: 0,
    changed: true,
    steps: [{id: 'revoke-token'}],
  });
  expect(tokensIn(own.api)).toEqual([]);
  expect(await uninstalled(place, own, '--revoke-token')).toMatchObject({
    exit: 0,
    changed: false,
    steps: [],
  });
});

test('revokes the token and deletes the pool after the release is gone', async () => {
  const {place, own} = await installed();
  const dry = await uninstall(place, helm, ['--revoke-token', '--delete-pool', '--dry-run'], {
    env: own.env,
  });
  expect(dry.stdout).toMatch(
    /helm uninstall [\s\S]*\nDELETE \/access-tokens\/at-\S+\nDELETE \/agent-pools\/apool-\S+\n$/,
  );
  expect(own.api.changes()).toEqual([]);
  const {exit, kept} = await uninstalled(place, own, '--revoke-token', '--delete-pool');
  expect(exit).toBe(0);
  expect(kept.map(({what, why}: Record<string, string>) => `${what}: ${why}`)).toContain(
    'Secret scalr-agent-token: its token becomes invalid',
  );
  expect(own.api.account.ofType('agent-pools')).toEqual([]);
  expect(tokensIn(own.api)).toEqual([]);
  expect(await pods(place)).toBe('');
  expect(await uninstalled(place, own, '--delete-pool')).toMatchObject({exit: 0, changed: false});
});

test('a pool that others use is not deleted, and nothing else is', async () => {
  const {place, own} = await installed();
  const {api} = own;
  const others = api.account.token(poolIn(api));
  expect(await uninstalled(place, own, '--revoke-token', '--delete-pool')).toMatchObject({
    error: {
      code: 'OBJECT_NOT_OWNED',
      message: `Others may use agent pool eks-prod: it has token ${others.id}.`,
    },
  });
  api.account.objects.delete(others.id);
  api.account.agent(poolIn(api), 'agent-of-another-cluster');
  expect((await uninstalled(place, own, '--delete-pool')).error.message).toContain(
    'agent agent-of-another-cluster',
  );
  expect(api.changes()).toEqual([]);
  expect(await pods(place)).not.toBe('');
});

test('a revocation that fails after the uninstall is reported, and the next run repeats it', async () => {
  const {place, own} = await installed();
  own.api.inject('DELETE', /access-tokens/, {status: 403});
  const {error} = await uninstalled(place, own, '--revoke-token');
  expect(error.message).toMatch(
    /^Release scalr-agent is uninstalled\. Cannot revoke token at-\S+: permission denied/,
  );
  expect(await uninstalled(place, own, '--revoke-token')).toMatchObject({
    exit: 0,
    steps: [{id: 'revoke-token'}],
  });
  expect(tokensIn(own.api)).toEqual([]);
});

test('a release without a pool is refused before anything changes', async () => {
  const place = await installPlace();
  const own = await poolAccount(argv);
  await install(place, helm, [...argv, '--yes'], {env: TOKEN});
  expect((await uninstalled(place, own, '--revoke-token')).error).toMatchObject({
    code: 'SCALR_NOT_FOUND',
    exit: 2,
  });
  expect(own.api.sent).toEqual([]);
  expect(await pods(place)).not.toBe('');
});
