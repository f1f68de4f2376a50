import {createHash} from 'node:crypto';
import {cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {createServer, type Server} from 'node:http';
import {type AddressInfo, connect} from 'node:net';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {createServer as createTlsServer} from 'node:https';
import {setTimeout} from 'node:timers/promises';
import {execa} from 'execa';
import {generate} from 'selfsigned';
import {describe, expect, onTestFinished, test, type TestContext} from 'vitest';
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
  for (const [name, content] of Object.entries(certificates)) writeFileSync(join(folder, name), content);
  return folder;
}

/** Exports to `agent`, whose files name a directory of the test instead of /etc/scalr-agent. */
function exported(cwd: string, target: string, flags: readonly string[]): string {
  const {status, stderr} = runBuilt('scalr-agent', ['export', target, '--url', URL, ...flags, '--out', 'agent'], {cwd, env: {SCALR_AGENT_TOKEN: TOKEN}});
  expect({status, stderr}).toMatchObject({status: 0});
  expect(statSync(join(cwd, 'agent/agent.env')).mode & 0o777).toBe(0o600);
  for (const name of ['run.sh', 'compose.yaml']) {
    const path = join(cwd, 'agent', name);
    try {
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll('/etc/scalr-agent', `${cwd}/etc`));
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
      const all = (kind: string) => lines.flatMap((line) => (line.startsWith(`${kind}: `) ? [line.slice(kind.length + 2)] : []));
      const pairs = (kind: string, separator: string) =>
        Object.fromEntries(all(kind).map((text) => [text.split(separator)[0] as string, text.slice(text.indexOf(separator) + 1)]));
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
      ...['--release', 'blue', '--concurrency', '7', '--debug', '--run-memory-limit', '2Gi', '--module-cache'],
      ...['--ca-file', 'ca.pem', '--no-ca-public-roots', '--client-cert-file', 'client.pem', '--client-key-file', 'client.key'],
      ...['--data-home', `${cwd}/data`, '--cache', 'hostpath', '--cache-path', `${cwd}/cache`, '--writable-root'],
      ...['--https-proxy', 'http://user:p%24s%25@proxy.example.com:3128', '--grace-period', '10m', '--pod-label', 'team=platform'],
      ...['--extra-env', `GREETING=it's $5 "now"`, '--extra-env', `MY_PASSWORD=a 'quoted' $word \\ #1`],
    ]);
    await run(folder, docker);
    for (const [index, concurrency] of [['1', '4'], ['2', '3']] as const) {
      const seen = await seenBy(docker, `blue-${index}`);
      expect(seen).toMatchObject({command: 'run', user: '0:0'});
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
        '/run/docker.sock': 'rw',
        [`${cwd}/data-${index}`]: 'rw',
        [`${cwd}/cache`]: 'rw',
        ...Object.fromEntries(['ca.pem', 'client.crt', 'client.key'].map((file) => [`${cwd}/etc/${file}`, 'ro'])),
      });
      expect(seen.hashes[`${cwd}/etc/ca.pem`]).toBe(sha256(readFileSync(join(folder, 'ca.pem'))));
      expect(seen.hashes[`${cwd}/etc/client.key`]).toBe(sha256(certificates['client.key'] as Buffer));
    }
    const [{Config, HostConfig}] = JSON.parse(await docker.docker('inspect', 'blue-1'));
    expect(Config.Labels).toEqual({team: 'platform', 'io.scalr.agent.release': 'blue', 'io.scalr.agent.purpose': 'runs', 'io.scalr.agent.version': '1.4.0'});
    expect(Config.StopTimeout).toBe(600);
    expect(HostConfig.RestartPolicy.Name).toBe('unless-stopped');
    expect(readFileSync(join(folder, 'run.sh'), 'utf8')).not.toContain(TOKEN);
  });

  test('replaces its own containers and no others', {timeout: 300_000}, async (context) => {
    const docker = await engine(context, IMAGE, 'scalr/agent:1.5.0');
    const cwd = workplace();
    const folder = exported(cwd, 'docker', ['--data-home', `${cwd}/data`]);
    await run(folder, docker);
    const {status} = runBuilt('scalr-agent', ['export', 'docker', '--url', URL, '--data-home', `${cwd}/data`, '--agent-image', 'scalr/agent:1.5.0', '--out', 'agent', '--yes'], {cwd});
    expect(status).toBe(0);
    await run(folder, docker);
    expect((await seenBy(docker, 'scalr-agent')).env['SCALR_AGENT_TOKEN']).toBe(TOKEN);
    expect(await docker.docker('ps', '--all', '--format', '{{.Names}} {{.Image}}')).toBe('scalr-agent scalr/agent:1.5.0');
    await docker.docker('rm', '--force', 'scalr-agent');
    await docker.docker('create', '--name', 'scalr-agent', IMAGE);
    await expect(run(folder, docker)).rejects.toThrow('this script did not start it');
  });

  test('gives VCS agents neither the socket nor a directory', {timeout: 300_000}, async (context) => {
    const docker = await engine(context);
    await run(exported(workplace(), 'docker', ['--purpose', 'vcs']), docker);
    const {socket, mounts, env} = await seenBy(docker, 'scalr-agent');
    expect(socket).toBe('no');
    expect(Object.keys(mounts).filter((path) => /scalr|docker/.test(path))).toEqual([]);
    expect(Object.keys(env).filter((name) => name.startsWith('SCALR_'))).toEqual(['SCALR_URL', 'SCALR_AGENT_TOKEN'].toSorted());
  });
});
