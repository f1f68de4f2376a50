import {statSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {machine, NEW, OLD, SHARED} from './machine.ts';

test('installs, updates, shows and uninstalls an agent in Docker', {
  timeout: 300_000,
}, async (context) => {
  const {install, json, containers, docker, cwd, run} = await machine(context);
  const dry = run('install', '--target', 'docker', ...SHARED, '--dry-run');
  expect(dry.status).toBe(0);
  expect(dry.stdout).toMatch(/^docker create --name scalr-agent\.next /m);
  expect(await containers()).toEqual([]);

  const first = json('install', ...SHARED, '--agent-image', OLD, '--yes');
  expect(first).toMatchObject({
    exit: 0,
    changed: true,
    agent: 'registered',
    containers: ['scalr-agent'],
    image: OLD,
  });
  expect(statSync(join(cwd, 'scalr-agent/agent.env')).mode & 0o777).toBe(0o600);
  const [before] = JSON.parse(await docker('inspect', 'scalr-agent'));
  expect(before.Config.Env).toContain('SCALR_AGENT_TOKEN=e30.e30.c2ln');
  expect(json('install', ...SHARED, '--agent-image', OLD, '--yes')).toMatchObject({
    changed: false,
    steps: [],
    agent: 'registered',
  });

  expect(run('collect-logs', '--target', 'docker', '--out', 'bundle.zip')).toMatchObject({
    status: 0,
    stdout: 'bundle.zip\n',
  });

  // Two agents with another image replace the first one; it is gone only after the image was there.
  const second = install('--agent-image', NEW, '--concurrency', '2', '--grace-period', '2m');
  expect(second.status, second.stderr).toBe(0);
  expect(second.stderr).toContain('Container scalr-agent gets up to 3660 s to stop.');
  expect(second.stderr).toContain(`Write files to ${join(cwd, 'scalr-agent')}`);
  expect(second.stderr).not.toContain('Wrote');
  expect(await containers()).toEqual([`scalr-agent-1 ${NEW}`, `scalr-agent-2 ${NEW}`]);

  expect(json('status')).toMatchObject({
    exit: 0,
    state: 'ready',
    agents: expect.arrayContaining([
      expect.objectContaining({object: 'container/scalr-agent-1', agent: 'registered', image: NEW}),
    ]),
  });
  const many = run('collect-logs', '--target', 'docker');
  expect(many.status).toBe(2);
  expect(many.stderr).toContain('scalr-agent collect-logs --docker scalr-agent-2');

  await docker('run', '--detach', '--name', 'neighbor', NEW, 'run');
  const removed = json('uninstall', '--yes');
  expect(removed).toMatchObject({
    exit: 0,
    changed: true,
    removed: expect.arrayContaining(['container scalr-agent-2']),
  });
  expect(removed.kept.map(({what}: {what: string}) => what)).toEqual([
    join(cwd, 'scalr-agent'),
    `image ${NEW}`,
  ]);
  expect(await containers()).toEqual([`neighbor ${NEW}`]);
  expect(json('uninstall', '--yes')).toMatchObject({changed: false});
});

test('explains an agent that cannot become ready, and leaves containers of others alone', {
  timeout: 300_000,
}, async (context) => {
  const {install, json, docker, containers} = await machine(context);
  const failed = install('--extra-env', 'FAIL_WITH=401 Unauthorized');
  expect(failed.status).toBe(1);
  expect(failed.stderr).toContain('Scalr seems to reject the token');
  const {exit, state, causes} = json('status');
  expect({exit, state}).toEqual({exit: 1, state: 'not-ready'});
  expect(causes).toContainEqual(
    expect.objectContaining({code: 'TOKEN_REJECTED', subject: {object: 'container/scalr-agent'}}),
  );
  expect(json('uninstall', '--yes').exit).toBe(0);

  await docker('create', '--name', 'scalr-agent', NEW, 'run');
  const refused = install();
  expect(refused.status).toBe(2);
  expect(refused.stderr).toContain(
    'Container scalr-agent already exists and was not started by this program.',
  );
  expect(await containers()).toEqual([`scalr-agent ${NEW}`]);
});

test('does not stop the running agent when the new image cannot be pulled', {
  timeout: 300_000,
}, async (context) => {
  const {install, json} = await machine(context);
  expect(install().status).toBe(0);
  const failed = install('--agent-image', '127.0.0.1:9/scalr/agent:2.0.0');
  expect(failed.status).toBe(1);
  expect(failed.stderr).toMatch(/docker pull failed: .*\n[\s\S]*Docker cannot reach the registry/);
  expect(json('status')).toMatchObject({state: 'ready', agents: [{image: NEW}]});
});
