import {createHash} from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import {createServer, type Server} from 'node:http';
import {createServer as createTlsServer} from 'node:https';
import {type AddressInfo, connect} from 'node:net';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {setTimeout} from 'node:timers/promises';
import {execa} from 'execa';
import {generate} from 'selfsigned';
import {describe, expect, onTestFinished, type TestContext, test} from 'vitest';
import {runBuilt} from '../package/built.ts';
import {certificates} from '../support/certificates.ts';
import {buildStandIns, type Engine, startDocker} from './docker.ts';
import {installed} from './tools.ts';

const URL = 'https://acme.scalr.io';
const TOKEN = 'e30.e30.c2ln';
const IMAGE = 'scalr/agent:1.4.0';

function workplace(): string {
  const folder = mkdtempSync(join(tmpdir(), 'export-'));
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
  for (const [name, content] of Object.entries(certificates))
    writeFileSync(join(folder, name), content);
  return folder;
}

/** Exports to `agent`, whose files name a directory of the test instead of /etc/scalr-agent. */
function exported(cwd: string, target: string, flags: readonly string[]): string {
  const {status, stderr} = runBuilt(
    'scalr-agent',
    ['export', target, '--url', URL, ...flags, '--out', 'agent'],
    {
      cwd,
      env: {SCALR_AGENT_TOKEN: TOKEN},
    },
  );
  expect({status, stderr}).toMatchObject({status: 0});
  expect(statSync(join(cwd, 'agent/agent.env')).mode & 0o777).toBe(0o600);
  for (const name of ['run.sh', 'compose.yaml']) {
    const path = join(cwd, 'agent', name);
    try {
      writeFileSync(
        path,
        readFileSync(path, 'utf8').replaceAll(/\/etc\/scalr-agent(-blue)?/g, `${cwd}/etc`),
      );
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOENT');
    }
  }
  return join(cwd, 'agent');
}

interface Seen {
  command: string;
  user: string;
  socket: string;
  env: Record<string, string>;
  /** Options by mount point. */
  mounts: Record<string, string>;
  hashes: Record<string, string>;
}

/** What the stand-in of the agent has printed. */
async function seenBy({docker}: Engine, name: string): Promise<Seen> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const lines = (await docker('logs', name)).split('\n');
    if (lines.includes('ready')) {
      const all = (kind: string) =>
        lines.flatMap((line) =>
          line.startsWith(`${kind}: `) ? [line.slice(kind.length + 2)] : [],
        );
      const pairs = (kind: string, separator: string) =>
        Object.fromEntries(
          all(kind).map((text) => [
            text.split(separator)[0] as string,
            text.slice(text.indexOf(separator) + 1),
          ]),
        );
      return {
        command: all('command')[0] ?? '',
        user: all('user')[0] ?? '',
        socket: all('socket')[0] ?? '',
        env: pairs('env', '='),
        mounts: pairs('mount', ' '),
        hashes: pairs('sha256', ' '),
      };
    }
    await setTimeout(100);
  }
  throw new Error(`${name} is not ready: ${await docker('logs', name)}`);
}

const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

async function engine(context: Pick<TestContext, 'skip'>, ...images: string[]): Promise<Engine> {
  const started = await startDocker(context);
  await buildStandIns(started, context, images.length === 0 ? [IMAGE] : images);
  return started;
}

const run = (folder: string, {env}: Engine) => execa('sh', ['run.sh'], {cwd: folder, env});

describe('docker', () => {
  test('starts agents with exactly what the settings say', {timeout: 300_000}, async (context) => {
    const docker = await engine(context);
    const cwd = workplace();
    const folder = exported(cwd, 'docker', [
      '--release',
      'blue',
      '--concurrency',
      '7',
      '--debug',
      '--run-memory-limit',
      '2Gi',
      '--module-cache',

      '--ca-file',
      'ca.pem',
      '--no-ca-public-roots',
      '--client-cert-file',
      'client.pem',
      '--client-key-file',
      'client.key',

      '--data-home',
      `${cwd}/data`,
      '--cache',
      'hostpath',
      '--cache-path',
      `${cwd}/cache`,
      '--writable-root',

      '--https-proxy',
      'http://user:p%24s%25@proxy.example.com:3128',
      '--grace-period',
      '10m',
      '--pod-label',
      'team=platform',

      '--extra-env',
      `GREETING=it's $5 "now"`,
      '--extra-env',
      `MY_PASSWORD=a 'quoted' $word \\ #1`,
    ]);
    await run(folder, docker);
    for (const [index, concurrency] of [
      ['1', '4'],
      ['2', '3'],
    ] as const) {
      const seen = await seenBy(docker, `blue-${index}`);
      expect(seen).toMatchObject({command: 'run', user: '0:0', socket: 'yes'});
      const {PATH: _, HOME: __, HOSTNAME: ___, PWD: ____, SHLVL: _____, ...env} = seen.env;
      expect(env).toEqual({
        SCALR_URL: URL,
        SCALR_AGENT_TOKEN: TOKEN,
        SCALR_AGENT_NAME: `blue-${index}`,
        SCALR_AGENT_CONCURRENCY: concurrency,
        SCALR_AGENT_DEBUG: '1',
        SCALR_AGENT_DATA_DIR: `${cwd}/data-${index}`,
        SCALR_AGENT_CACHE_DIR: `${cwd}/cache`,
        SCALR_AGENT_MODULE_CACHE_ENABLED: 'true',
        SCALR_AGENT_CONTAINER_TASK_MEM_LIMIT: '2048',
        SCALR_AGENT_WORKER_DRAIN_TIMEOUT: '540',
        SCALR_AGENT_CA_CERT: `${cwd}/etc/ca.pem`,
        SCALR_AGENT_TLS_CERT_FILE: `${cwd}/etc/client.crt`,
        SCALR_AGENT_TLS_KEY_FILE: `${cwd}/etc/client.key`,
        HTTPS_PROXY: 'http://user:p%24s%25@proxy.example.com:3128',
        NO_PROXY: 'localhost,127.0.0.1,169.254.169.254',
        GREETING: `it's $5 "now"`,
        MY_PASSWORD: `a 'quoted' $word \\ #1`,
      });
      expect(seen.mounts).toMatchObject({
        '/var/run/docker.sock': 'rw',
        [`${cwd}/data-${index}`]: 'rw',
        [`${cwd}/cache`]: 'rw',
        ...Object.fromEntries(
          ['ca.pem', 'client.crt', 'client.key'].map((file) => [`${cwd}/etc/${file}`, 'ro']),
        ),
      });
      expect(seen.hashes[`${cwd}/etc/ca.pem`]).toBe(sha256(readFileSync(join(folder, 'ca.pem'))));
      expect(seen.hashes[`${cwd}/etc/client.key`]).toBe(
        sha256(certificates['client.key'] as Buffer),
      );
    }
    const [{Config, HostConfig}] = JSON.parse(await docker.docker('inspect', 'blue-1'));
    expect(Config.Labels).toEqual({
      team: 'platform',
      'io.scalr.agent.release': 'blue',
      'io.scalr.agent.purpose': 'runs',
      'io.scalr.agent.version': '1.4.0',
    });
    expect(Config.StopTimeout).toBe(600);
    expect(HostConfig.RestartPolicy.Name).toBe('unless-stopped');
    expect(readFileSync(join(folder, 'run.sh'), 'utf8')).not.toContain(TOKEN);
  });

  test('replaces its own containers and no others', {timeout: 300_000}, async (context) => {
    const docker = await engine(context, IMAGE, 'scalr/agent:1.5.0');
    const cwd = workplace();
    const folder = exported(cwd, 'docker', ['--data-home', `${cwd}/data`]);
    await run(folder, docker);
    const {status} = runBuilt(
      'scalr-agent',
      [
        'export',
        'docker',
        '--url',
        URL,
        '--data-home',
        `${cwd}/data`,
        '--agent-image',
        'scalr/agent:1.5.0',
        '--out',
        'agent',
        '--yes',
      ],
      {cwd},
    );
    expect(status).toBe(0);
    await run(folder, docker);
    expect((await seenBy(docker, 'scalr-agent')).env['SCALR_AGENT_TOKEN']).toBe(TOKEN);
    expect(await docker.docker('ps', '--all', '--format', '{{.Names}} {{.Image}}')).toBe(
      'scalr-agent scalr/agent:1.5.0',
    );
    // Docker accepts it, but cannot start it.
    const script = readFileSync(join(folder, 'run.sh'), 'utf8');
    writeFileSync(
      join(folder, 'run.sh'),
      script.replace('docker create ', 'docker create --entrypoint /none '),
    );
    await expect(run(folder, docker)).rejects.toThrow(
      'The previous container scalr-agent is running again.',
    );
    expect(await docker.docker('ps', '--all', '--format', '{{.Names}} {{.State}}')).toBe(
      'scalr-agent running',
    );
    writeFileSync(join(folder, 'run.sh'), script);
    await docker.docker('rm', '--force', 'scalr-agent');
    await docker.docker('create', '--name', 'scalr-agent', IMAGE);
    await expect(run(folder, docker)).rejects.toThrow('this script did not start it');
  });

  test('gives VCS agents neither the socket nor a directory', {
    timeout: 300_000,
  }, async (context) => {
    const docker = await engine(context);
    await run(exported(workplace(), 'docker', ['--purpose', 'vcs']), docker);
    const {socket, mounts, env} = await seenBy(docker, 'scalr-agent');
    expect(socket).toBe('no');
    expect(Object.keys(mounts).filter((path) => /scalr|docker/.test(path))).toEqual([]);
    expect(
      Object.keys(env)
        .filter((name) => name.startsWith('SCALR_'))
        .toSorted(),
    ).toEqual(['SCALR_AGENT_TOKEN', 'SCALR_URL']);
  });
});

/** A TLS server for acme.scalr.io with a private CA, and a proxy that is the only way to it. */
async function privateNetwork(folder: string) {
  const ca = await generate([{name: 'commonName', value: 'private CA'}], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      {name: 'basicConstraints', cA: true, critical: true},
      {name: 'keyUsage', keyCertSign: true, critical: true},
    ],
  });
  const server = await generate([{name: 'commonName', value: 'acme.scalr.io'}], {
    keyType: 'ec',
    algorithm: 'sha256',
    ca: {key: ca.private, cert: ca.cert},
    extensions: [{name: 'subjectAltName', altNames: [{type: 2, value: 'acme.scalr.io'}]}],
  });
  const tls = createTlsServer({key: server.private, cert: server.cert}, (_, response) =>
    response.end('hello agent'),
  );
  const asked: string[] = [];
  const proxy = createServer().on('connect', ({url = ''}, socket) => {
    asked.push(url);
    const upstream = connect(portOf(tls), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  for (const each of [tls, proxy] as Server[]) {
    await new Promise<void>((resolve) => each.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void each.close());
  }
  writeFileSync(join(folder, 'private-ca.pem'), ca.cert);
  return {proxy: `http://127.0.0.1:${portOf(proxy)}`, asked};
}

const portOf = (server: {address(): unknown}): number => (server.address() as AddressInfo).port;

/** The image with the curl of this machine and its libraries. */
async function addCurl(
  {docker, folder}: Engine,
  context: Pick<TestContext, 'skip'>,
): Promise<void> {
  const curl = await installed('curl', 'curl', context);
  const {stdout} = await execa('ldd', [curl]);
  const build = join(folder, 'curl');
  for (const path of [
    curl,
    ...stdout.split('\n').flatMap((line) => /(\/\S+) \(/.exec(line)?.[1] ?? []),
  ]) {
    mkdirSync(join(build, dirname(path)), {recursive: true});
    cpSync(path, join(build, path), {dereference: true});
  }
  writeFileSync(join(build, 'Dockerfile'), `FROM ${IMAGE}\nCOPY . /\n`);
  await docker('build', '--network', 'none', '--tag', IMAGE, build);
}

test('reaches Scalr through the proxy with the private CA, and not without them', {
  timeout: 300_000,
}, async (context) => {
  const docker = await engine(context);
  await addCurl(docker, context);
  const cwd = workplace();
  const {proxy, asked} = await privateNetwork(cwd);
  const folder = exported(cwd, 'docker', [
    '--https-proxy',
    proxy,
    '--ca-file',
    'private-ca.pem',
    '--no-ca-public-roots',
    '--isolation',
    'shared',
  ]);
  const script = join(folder, 'run.sh');
  // The engine of this test has no network of its own.
  writeFileSync(
    script,
    readFileSync(script, 'utf8').replace('docker create ', 'docker create --network host '),
  );
  await run(folder, docker);
  await seenBy(docker, 'scalr-agent');
  // OpenSSL reads SSL_CERT_FILE, and curl the variables of the proxy.
  const request = (...clear: string[]) =>
    docker.docker(
      'exec',
      'scalr-agent',
      'env',
      ...clear.flatMap((name) => ['-u', name]),
      'sh',
      '-c',
      `curl --silent --show-error --cacert "\${SSL_CERT_FILE:-/none}" ${URL}`,
    );
  expect(await request()).toBe('hello agent');
  expect(asked).toEqual(['acme.scalr.io:443']);
  await expect(request('SSL_CERT_FILE')).rejects.toThrow(/certificate/);
  await expect(request('HTTPS_PROXY')).rejects.toThrow(/resolve host/);
});

describe('compose', () => {
  /** `docker compose`, or the older docker-compose. */
  async function composeCommand(
    {env}: Engine,
    {skip}: Pick<TestContext, 'skip'>,
  ): Promise<string[]> {
    for (const words of [['docker', 'compose'], ['docker-compose']]) {
      const [program = '', ...args] = words;
      if ((await execa(program, [...args, 'version'], {env, reject: false})).exitCode === 0)
        return words;
    }
    return skip('Docker Compose is not installed: apt-get install docker-compose');
  }

  test('starts agents with exactly what the settings say', {timeout: 300_000}, async (context) => {
    const docker = await engine(context);
    const [program = '', ...args] = await composeCommand(docker, context);
    const cwd = workplace();
    const folder = exported(cwd, 'compose', [
      '--isolation',
      'shared',
      '--concurrency',
      '2',
      '--cache',
      'hostpath',
      '--cache-path',
      `${cwd}/cache`,
      '--no-writable-root',

      '--ca-file',
      'ca.pem',
      '--no-ca-public-roots',
      '--grace-period',
      '90',
      '--pod-label',
      'team=platform',

      '--extra-env',
      `GREETING=it's $5 "now"`,
      '--extra-env',
      'MY_PASSWORD=a "quoted" $word #1',
    ]);
    const compose = (...more: string[]) =>
      execa(program, [...args, ...more], {cwd: folder, env: docker.env});
    // The engine of this test has no network of its own.
    const services = Object.fromEntries(
      ['scalr-agent-1', 'scalr-agent-2'].map((name) => [name, {network_mode: 'host'}]),
    );
    writeFileSync(join(folder, 'compose.override.yaml'), JSON.stringify({services}));
    await compose('up', '--detach');
    for (const index of ['1', '2']) {
      const seen = await seenBy(docker, `scalr-agent-${index}`);
      expect(seen).toMatchObject({command: 'run', user: '1000:1000', socket: 'no'});
      const {PATH: _, HOME: __, HOSTNAME: ___, PWD: ____, SHLVL: _____, ...env} = seen.env;
      expect(env).toEqual({
        SCALR_URL: URL,
        SCALR_AGENT_TOKEN: TOKEN,
        SCALR_AGENT_NAME: `scalr-agent-${index}`,
        SCALR_AGENT_CONCURRENCY: '1',
        SCALR_AGENT_DRIVER: 'local',
        SCALR_AGENT_CACHE_DIR: `${cwd}/cache`,
        SCALR_AGENT_WORKER_DRAIN_TIMEOUT: '30',
        SCALR_AGENT_CA_CERT: `${cwd}/etc/ca.pem`,
        SSL_CERT_FILE: `${cwd}/etc/ca.pem`,
        GREETING: `it's $5 "now"`,
        MY_PASSWORD: 'a "quoted" $word #1',
      });
      expect(seen.mounts).toMatchObject({[`${cwd}/cache`]: 'rw', [`${cwd}/etc/ca.pem`]: 'ro'});
      expect(seen.hashes[`${cwd}/etc/ca.pem`]).toBe(sha256(readFileSync(join(folder, 'ca.pem'))));
    }
    const [{Config}] = JSON.parse(await docker.docker('inspect', 'scalr-agent-1'));
    expect(Config.Labels).toMatchObject({team: 'platform', 'io.scalr.agent.version': '1.4.0'});
    expect(readFileSync(join(folder, 'compose.yaml'), 'utf8')).not.toContain(TOKEN);
    await compose('down');
  });
});

test('the Dockerfile builds, and adds plugins for the user of runs', {
  timeout: 300_000,
}, async (context) => {
  const docker = await engine(context, 'scalr/runner:0.2.0');
  const cwd = workplace();
  const plugin = 'plugins/registry.example.com/team/tool/1.0.0/linux_amd64';
  mkdirSync(join(cwd, plugin), {recursive: true});
  writeFileSync(join(cwd, plugin, 'terraform-provider-tool'), 'a plugin');
  const argv = [
    'export',
    'dockerfile',
    '--chart',
    'agent-job',
    '--plugins',
    'plugins',
    '--runner-image',
    'team/runner:1',
  ];
  const {stdout, status} = runBuilt('scalr-agent', argv, {cwd});
  expect(status).toBe(0);
  writeFileSync(join(cwd, 'Dockerfile'), stdout);
  await docker.docker('build', '--network', 'none', '--tag', 'team/runner:1', cwd);
  const path = plugin.replace('plugins', '/usr/local/share/opentofu/plugins');
  const shown = await docker.docker(
    'run',
    '--entrypoint',
    'sh',
    'team/runner:1',
    '-c',
    `id -u; cat ${path}/terraform-provider-tool`,
  );
  expect(shown).toBe('1000\na plugin');
});

describe('systemd', () => {
  const UNIT =
    '[Unit]\nDescription=stand-in for a unit of the package\n[Service]\nExecStart=/bin/true\n';

  /** The drop-ins of the export below units as the packages have them, checked by systemd. */
  async function verify(folder: string, analyze: string) {
    const root = join(folder, '../root');
    await execa('sh', ['install.sh', root], {cwd: folder});
    const units = join(root, 'etc/systemd/system');
    const names = ['scalr-agent.service', 'scalr-docker.service'];
    for (const name of names) writeFileSync(join(units, name), UNIT);
    const {exitCode, stderr} = await execa(
      analyze,
      ['verify', '--man=no', ...names.map((name) => join(units, name))],
      {
        env: {SYSTEMD_UNIT_PATH: `${units}:`},
        reject: false,
      },
    );
    return {
      exitCode,
      complaints: stderr.split('\n').filter((line) => line.includes('scalr-')),
      root,
    };
  }

  test('accepts every drop-in, and would complain of a wrong one', async (context) => {
    const analyze = await installed('systemd-analyze', 'systemd', context);
    const folder = exported(workplace(), 'systemd', [
      '--concurrency',
      '3',
      '--https-proxy',
      'http://user:p%25@proxy.example.com:3128',
      '--ca-file',
      'ca.pem',
      '--no-ca-public-roots',
      '--writable-root',
      '--extra-env',
      `GREETING=100% "it's" \\ $5`,
    ]);
    const {exitCode, complaints, root} = await verify(folder, analyze);
    expect({exitCode, complaints}).toEqual({exitCode: 0, complaints: []});
    expect(statSync(join(root, 'etc/scalr-agent/agent.env')).mode & 0o777).toBe(0o600);
    expect(
      statSync(join(root, 'etc/systemd/system/scalr-docker.service.d/scalr-proxy.conf')).mode &
        0o777,
    ).toBe(0o600);
    const dropIn = join(folder, 'scalr-agent.service.d/scalr-agent.conf');
    writeFileSync(
      dropIn,
      `${readFileSync(dropIn, 'utf8')}Environment="A=100%"\nEnvironmentFiles=/none\n`,
    );
    expect((await verify(folder, analyze)).complaints.join('\n')).toContain('EnvironmentFiles');
  });
});
