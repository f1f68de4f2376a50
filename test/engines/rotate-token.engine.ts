import {statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, onTestFinished, type TestContext, test} from 'vitest';
import {poolTokenOf, type Stored, USER_TOKEN} from '../extensions/account/mock-account.ts';
import {mockApi} from '../extensions/account/mock-api.ts';
import {PROGRAM} from '../package/built.ts';
import {violations} from '../support/output-schema.ts';
import {intercepted, machine} from './machine.ts';

/** An agent in Docker, and an account that sees it while it runs. */
async function installed(context: Pick<TestContext, 'skip'>) {
  const here = await machine(context);
  const {docker, cwd} = here;
  const env = {...here.env, PATH: String(process.env['PATH']), HOME: cwd};
  const api = await mockApi();
  const pool = api.account.pool('edge');
  writeFileSync(join(cwd, 'ca.pem'), api.ca);
  const flags = [
    'install',
    '--target',
    'docker',
    '--url',
    api.url,
    '--isolation',
    'shared',
    '--yes',
  ];
  const install = await execa(process.execPath, [PROGRAM, ...flags], {
    cwd,
    reject: false,
    env: {...env, SCALR_AGENT_TOKEN: 'e30.e30.c2ln'},
  });
  expect(install.exitCode, install.stderr).toBe(0);
  const timer = setInterval(async () => {
    const {stdout} = await execa(
      'sh',
      ['-c', "docker inspect --format '{{.Config.Hostname}}' $(docker ps --quiet)"],
      {env, reject: false},
    );
    const running = stdout.split('\n').filter(Boolean);
    const agents = api.account.ofType('agents');
    for (const name of running) {
      const found =
        agents.find(({attributes}) => attributes['name'] === name) ?? api.account.agent(pool, name);
      found.attributes['last-seen-at'] = new Date().toISOString();
    }
    for (const {attributes} of agents)
      attributes['status'] = running.includes(String(attributes['name'])) ? 'idle' : 'offline';
  }, 1000);
  onTestFinished(() => clearInterval(timer));
  const run = async (more: Readonly<Record<string, string>>, ...args: string[]) => {
    const account = {...api.deps.env, SSL_CERT_FILE: join(cwd, 'ca.pem')};
    return execa(
      process.execPath,
      [PROGRAM, 'rotate-token', '--target', 'docker', '--yes', '--json', ...args],
      {
        cwd,
        reject: false,
        extendEnv: false,
        env: {...env, ...account, ...more},
      },
    );
  };
  const rotated = async (...args: string[]) => {
    const {stdout, stderr, exitCode} = await run({}, ...args);
    expect(exitCode, stderr + stdout).toBe(0);
    expect(violations('rotate-token', stdout)).toEqual([]);
    return JSON.parse(stdout);
  };
  const tokenInContainer = async (): Promise<string | undefined> =>
    (
      JSON.parse(
        await docker('inspect', '--format', '{{json .Config.Env}}', 'scalr-agent'),
      ) as string[]
    )
      .find((each) => each.startsWith('SCALR_AGENT_TOKEN='))
      ?.replace('SCALR_AGENT_TOKEN=', '');
  const tokens = (): string[] => api.account.ofType('access-tokens').map(({id}) => id);
  return {...here, api, pool, run, rotated, tokens, tokenInContainer};
}

test('replaces the token of an agent in Docker, and revokes the old one', {
  timeout: 600_000,
}, async (context) => {
  const {api, pool, rotated, tokens, tokenInContainer, cwd, run, containers, json} =
    await installed(context);
  const log = join(cwd, 'docker.log');
  const before = await containers();
  const first = await rotated('--pool', 'edge');
  expect(first).toMatchObject({
    target: 'docker',
    release: 'scalr-agent',
    changed: true,
    revoked: null,
  });
  expect(await tokenInContainer()).toBe(poolTokenOf(api.host, pool.id, first.token));
  const file = join(cwd, 'scalr-agent/agent.env');
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const second = await run(await intercepted(cwd, `echo "$*" >> ${log}`));
  expect(JSON.parse(second.stdout)).toMatchObject({revoked: first.token});
  expect(tokens()).toEqual([JSON.parse(second.stdout).token]);
  expect(await containers()).toEqual(before);
  expect(json('status')).toMatchObject({exit: 0, state: 'ready'});
  const calls = (await execa('cat', [log])).stdout;
  expect(calls).toContain('create --name scalr-agent.next');
  const secrets = [USER_TOKEN, (await tokenInContainer()) as string];
  for (const secret of secrets) expect(calls + second.stdout + second.stderr).not.toContain(secret);
});

test('a rotation that is killed continues with the next run', {
  timeout: 900_000,
}, async (context) => {
  const {api, pool, run, rotated, tokens, tokenInContainer, containers, cwd} =
    await installed(context);
  const before = await containers();
  let {token: old} = await rotated('--pool', 'edge');
  const theirs = api.account.token(pool, {
    description: 'scalr-agent-install engine=OTHER release=scalr-agent',
  }) as Stored;
  for (const call of ['create', 'start']) {
    const killed = await run(
      await intercepted(cwd, `case "$1" in ${call}) "$real" "$@"; kill -9 $PPID; exit 1 ;; esac`),
    );
    expect(killed.exitCode, call).not.toBe(0);
    expect(tokens()).toContain(old);
    const {revoked} = await rotated();
    expect(revoked, call).toBe(old);
    old = tokens().find((id) => id !== theirs.id);
    expect(tokens().toSorted()).toEqual([old, theirs.id].toSorted());
    expect(await tokenInContainer()).toBe(poolTokenOf(api.host, pool.id, old));
    expect(await containers()).toEqual(before);
  }
});
