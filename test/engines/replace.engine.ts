import {existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, onTestFinished, test} from 'vitest';
import {certificates} from '../support/certificates.ts';
import {intercepted, machine, NEW, OLD, SHARED} from './machine.ts';

type Machine = Awaited<ReturnType<typeof machine>>;

const INSTALL = ['install', '--target', 'docker', ...SHARED, '--yes'];

async function idOf({docker}: Machine, name: string): Promise<string> {
  return docker('inspect', '--format', '{{.Id}} {{.State.Running}}', name);
}

test('keeps the running agent when Docker rejects the new one', {
  timeout: 600_000,
}, async (context) => {
  const here = await machine(context);
  const {install, json, containers, docker} = here;
  expect(install('--agent-image', OLD)).toMatchObject({status: 0});
  const before = await idOf(here, 'scalr-agent');
  for (const [flags, reason] of [
    [['--run-memory-limit', '1Mi'], 'Minimum memory limit allowed is 6MB'],
    [['--run-cpu-limit', '64'], 'Range of CPUs is from'],
    [['--agent-image', 'nope/x:1', '--image-pull-policy', 'Never'], 'No such image'],
  ] as const) {
    const failed = install(...flags);
    expect(failed.status, failed.stderr).toBe(1);
    expect(failed.stderr).toContain(reason);
    expect(failed.stderr).toContain('The previous container scalr-agent still runs.');
    expect(await idOf(here, 'scalr-agent')).toBe(before);
    expect(await containers()).toEqual([`scalr-agent ${OLD}`]);
  }
  // Docker accepts it, but cannot start it.
  const unstartable = join(here.cwd, 'unstartable');
  mkdirSync(unstartable);
  writeFileSync(join(unstartable, 'Dockerfile'), `FROM ${NEW}\nENTRYPOINT ["/none"]\n`);
  await docker('build', '--network', 'none', '--tag', 'team/agent:broken', unstartable);
  const failed = install('--agent-image', 'team/agent:broken');
  expect(failed.status).toBe(1);
  expect(failed.stderr).toContain('The previous container scalr-agent is running again.');
  expect(await idOf(here, 'scalr-agent')).toBe(before);

  const silent = install('--extra-env', 'SILENT=1', '--timeout', '10s');
  expect(silent.status, silent.stderr).toBe(6);
  expect(silent.stderr).toContain('The previous container scalr-agent is running again.');
  expect(silent.stderr).toContain('docker logs scalr-agent.failed');
  expect(await docker('logs', 'scalr-agent.failed')).toContain('env: SILENT=1');
  expect(await idOf(here, 'scalr-agent')).toBe(before);
  // It has just been started, and may not have logged yet.
  await expect
    .poll(() => json('status'), {interval: 1000})
    .toMatchObject({exit: 0, state: 'ready', agents: [{object: 'container/scalr-agent'}]});
  expect(install('--agent-image', NEW)).toMatchObject({status: 0});
  expect(await containers()).toEqual([`scalr-agent ${NEW}`]);
});

test('says what is left when the Docker daemon dies, and continues when it runs again', {
  timeout: 600_000,
}, async (context) => {
  const here = await machine(context);
  const {install, runIn, cwd, crash, containers, json} = here;
  expect(install('--agent-image', OLD)).toMatchObject({status: 0});
  const marker = join(cwd, 'stopped');
  // Waits before the new container starts, until the daemon is dead.
  const env = await intercepted(
    cwd,
    `[ "$1" != start ] || { touch ${marker}; while "$real" info >/dev/null 2>&1; do sleep 0.2; done; }`,
  );
  const dying = (async () => {
    while (!existsSync(marker)) await new Promise((resolve) => setTimeout(resolve, 100));
    return crash();
  })();
  const child = execa(
    process.execPath,
    [
      new URL('../../dist/bin/scalr-agent.js', import.meta.url).pathname,
      ...INSTALL,
      '--agent-image',
      NEW,
    ],
    {
      cwd,
      env: {...here.env, ...env, HOME: cwd, SCALR_AGENT_TOKEN: 'e30.e30.c2ln'},
      reject: false,
    },
  );
  const [restart, failed] = await Promise.all([dying, child]);
  expect(failed.exitCode).toBe(1);
  expect(failed.stderr).toContain('It is unknown whether scalr-agent runs');
  expect(failed.stderr).toContain('When Docker responds, run the same command again');
  await restart();
  expect(runIn(cwd, {}, ...INSTALL, '--agent-image', NEW)).toMatchObject({status: 0});
  expect(await containers()).toEqual([`scalr-agent ${NEW}`]);
  expect(json('status')).toMatchObject({state: 'ready'});
});

test('converges after being killed at any change of a container', {
  timeout: 900_000,
}, async (context) => {
  const here = await machine(context);
  const {cwd, runIn, containers, install} = here;
  const changes = [
    'create',
    'stop',
    'rename scalr-agent ',
    'rename scalr-agent.next',
    'start',
    'rm',
  ];
  expect(install('--agent-image', OLD, '--log-format', 'plain')).toMatchObject({status: 0});
  for (const [index, change] of changes.entries()) {
    for (const moment of ['before', 'after'] as const) {
      const kill =
        moment === 'before' ? 'kill -9 $PPID; exit 1' : '"$real" "$@"; kill -9 $PPID; exit 1';
      const env = await intercepted(cwd, `case "$* " in "${change}"*) ${kill} ;; esac`);
      const image = (index * 2 + (moment === 'after' ? 1 : 0)) % 2 === 0 ? NEW : OLD;
      const killed = runIn(cwd, env, ...INSTALL, '--agent-image', image);
      expect(killed.status, `${moment} ${change}: ${killed.stderr}`).not.toBe(0);
      const repeated = runIn(cwd, {}, ...INSTALL, '--agent-image', image);
      expect(repeated.status, `${moment} ${change}: ${repeated.stderr}`).toBe(0);
      expect(await containers(), `${moment} ${change}`).toEqual([`scalr-agent ${image}`]);
    }
  }
});

test('gives a second release its own directories, and offers none that is in use', {
  timeout: 600_000,
}, async (context) => {
  const here = await machine(context);
  const {json, docker, cwd} = here;
  const settings = ['--url', 'https://acme.scalr.io', '--yes'];
  const first = json('install', ...settings);
  expect(first).toMatchObject({exit: 0});
  const mounts = async (name: string) =>
    JSON.parse(await docker('inspect', '--format', '{{json .Mounts}}', name)) as {
      Source: string;
      Destination: string;
    }[];
  const dataOf = async (name: string) =>
    (await mounts(name)).map(({Source}) => Source).find((path) => path.startsWith('/var/lib'));
  expect(json('install', ...settings, '--release', 'second')).toMatchObject({exit: 0});
  expect(await dataOf('scalr-agent')).toBe('/var/lib/scalr-agent');
  expect(await dataOf('second')).toBe('/var/lib/scalr-agent-second');
  onTestFinished(() => rmSync('/var/lib/scalr-agent-second', {recursive: true, force: true}));
  // As an earlier version of this program has installed it.
  await docker(
    'run',
    '--detach',
    '--name',
    'third',
    '--label',
    'io.scalr.agent.release=third',
    '--volume',
    '/var/lib/scalr-agent:/var/lib/scalr-agent',
    NEW,
    'run',
  );
  const third = json('uninstall', '--release', 'third', '--yes');
  expect(third.kept).toContainEqual({
    what: '/var/lib/scalr-agent',
    why: 'used by container scalr-agent',
    how: 'Keep it',
  });
  const second = json('uninstall', '--release', 'second', '--yes');
  expect(second.kept).toContainEqual(
    expect.objectContaining({how: 'sudo rm -r /var/lib/scalr-agent-second'}),
  );
  expect(second.kept).toContainEqual(
    expect.objectContaining({how: `rm -r ${join(cwd, 'second')}`}),
  );
});

test('mounts the socket of the engine, and no other', {timeout: 600_000}, async (context) => {
  const here = await machine(context);
  const {run, docker, folder, env} = here;
  const settings = ['install', '--target', 'docker', '--url', 'https://acme.scalr.io', '--yes'];
  const hadSocket = existsSync('/var/run/docker.sock');
  expect(run(...settings)).toMatchObject({status: 0});
  const [{Mounts}] = JSON.parse(await docker('inspect', 'scalr-agent'));
  expect(Mounts).toContainEqual(
    expect.objectContaining({
      Source: join(folder, 'docker.sock'),
      Destination: '/var/run/docker.sock',
    }),
  );
  expect(await docker('logs', 'scalr-agent')).toContain('socket: yes');
  expect(existsSync('/var/run/docker.sock')).toBe(hadSocket);
  if (hadSocket) expect(lstatSync('/var/run/docker.sock').isSocket()).toBe(true);

  await docker('context', 'create', 'other', '--docker', `host=${env['DOCKER_HOST']}`);
  const {DOCKER_HOST: _, ...withoutHost} = env;
  const byContext = here.runIn(
    here.cwd,
    {...withoutHost, DOCKER_HOST: '', DOCKER_CONTEXT: 'other'},
    ...settings,
  );
  expect(byContext.stderr).toContain('is up to date and ready');

  // The engine answers at an address of the network too.
  const {connect} = await import('node:net');
  const server = createServer((socket) => {
    const upstream = connect(join(folder, 'docker.sock'));
    socket.pipe(upstream).pipe(socket);
    for (const each of [socket, upstream]) each.on('error', () => each.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = `tcp://127.0.0.1:${(server.address() as {port: number}).port}`;
  const child = await execa(
    process.execPath,
    [new URL('../../dist/bin/scalr-agent.js', import.meta.url).pathname, ...settings],
    {
      cwd: here.cwd,
      env: {...env, DOCKER_HOST: address, SCALR_AGENT_TOKEN: 'e30.e30.c2ln'},
      reject: false,
    },
  );
  expect(child.exitCode).toBe(2);
  expect(child.stderr).toContain(
    `Docker is at ${address}, but the agent must mount the Docker socket of its own machine.`,
  );
});

test('is the same install from every directory, and needs no file of it', {
  timeout: 600_000,
}, async (context) => {
  const here = await machine(context);
  const {runIn, cwd, docker, json, run} = here;
  const [one, two] = ['one', 'two'].map((name) => {
    mkdirSync(join(cwd, name));
    for (const [file, content] of Object.entries(certificates))
      writeFileSync(join(cwd, name, file), content);
    return join(cwd, name);
  }) as [string, string];
  const args = [
    ...INSTALL,
    '--client-cert-file',
    'client.pem',
    '--client-key-file',
    'client.key',
    '--no-writable-root',
  ];
  const first = runIn(one, {}, ...args);
  expect(first.status, first.stderr).toBe(0);
  const before = await idOf(here, 'scalr-agent');
  expect(runIn(two, {}, ...args).stderr).toContain('is up to date and ready');
  rmSync(one, {recursive: true});
  await docker('restart', 'scalr-agent');
  expect(await docker('exec', 'scalr-agent', 'cat', '/etc/scalr-agent/client.key')).toBe(
    readFileSync(join(two, 'client.key'), 'utf8').trimEnd(),
  );
  expect(await idOf(here, 'scalr-agent')).toBe(before);

  await docker('pause', 'scalr-agent');
  expect(json('status')).toMatchObject({
    exit: 1,
    state: 'not-ready',
    causes: [{code: 'PAUSED', remedies: [{text: 'Continue it: docker unpause scalr-agent'}]}],
  });
  const continued = runIn(two, {}, ...args);
  expect(continued.stderr).toContain('Continue the paused container scalr-agent');
  expect(await idOf(here, 'scalr-agent')).toBe(before);
  expect(run('uninstall', '--target', 'docker', '--yes')).toMatchObject({status: 0});

  const silent = runIn(two, {}, ...INSTALL, '--extra-env', 'SILENT=1', '--timeout', '5s');
  expect(silent.status).toBe(6);
  expect(json('status')).toMatchObject({
    exit: 1,
    state: 'not-ready',
    causes: [{code: 'NOT_REGISTERED'}],
  });
});
