import {expect, test} from 'vitest';
import type {CheckDocument} from '../../src/checks/preflight/checks/check.ts';
import {machine, NEW, SHARED} from './machine.ts';

test('checks a machine with Docker, its agents and their directories', {
  timeout: 300_000,
}, async (context) => {
  const {json, docker, env} = await machine(context);
  const resultsOf = (...args: string[]): Record<string, CheckDocument> =>
    Object.fromEntries(
      json('preflight', '--url', 'https://acme.invalid', ...args).checks.map(
        (each: CheckDocument) => [each.id, each],
      ),
    );
  const before = resultsOf('--concurrency', '2');
  for (const id of ['docker-version', 'docker-socket', 'host-directories'])
    expect(before[id], id).toMatchObject({status: 'pass'});
  // Where systemd is installed and does not run, nobody knows whether there is an agent of the Linux packages.
  expect(['pass', 'skip']).toContain(before['other-purpose']?.status);
  expect(before['docker-version']?.message).toMatch(/^Docker \d+\.\d+/);
  expect(before['docker-socket']?.message).toBe(env['DOCKER_HOST']?.replace('unix://', ''));
  expect(before['host-disk']?.message).toMatch(/\d GB free for \//);
  expect(before['host-memory']?.message).toMatch(/GiB/);
  expect(before['host-scalr']).toMatchObject({
    status: 'fail',
    message: expect.stringContaining('acme.invalid:443'),
  });

  const labels = ['--label', 'io.scalr.agent.release=vcs', '--label', 'io.scalr.agent.purpose=vcs'];
  await docker(
    'create',
    '--name',
    'vcs',
    ...labels,
    '--volume',
    '/var/lib/scalr-agent-x:/var/lib/scalr-agent-x',
    NEW,
    'run',
  );
  const after = resultsOf('--data-home', '/var/lib/scalr-agent-x');
  expect(after['other-purpose']).toMatchObject({
    status: 'warn',
    message: expect.stringContaining('vcs: VCS agents'),
  });
  expect(after['host-directories']).toMatchObject({
    status: 'fail',
    message: expect.stringContaining('also mounted by container vcs'),
  });

  // The list of hosts depends on the settings in the same way.
  const {hosts} = json('network', ...SHARED, '--image-registry', 'registry.example.com');
  expect(hosts.filter(({purpose}: {purpose: string}) => purpose === 'images')).toMatchObject([
    {host: 'registry.example.com', from: 'docker'},
  ]);
});
