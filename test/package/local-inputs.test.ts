import {mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, expect, test} from 'vitest';
import {findHelm} from '../cluster/helm/find-helm.ts';
import {findKubectl} from '../control-plane/kubectl.ts';
import {PROGRAM} from './built.ts';

const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(folder, {recursive: true, force: true}));
/** Contains neither helm nor kubectl. */
const bin = join(folder, 'bin');
mkdirSync(bin);
symlinkSync(process.execPath, join(bin, 'node'));
const [{path: helm} = {path: 'helm'}] = await findHelm();
const tools = ['--helm', helm, '--kubectl', await findKubectl()];

/** Without a terminal. */
const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  execa(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    env: {PATH: bin, HOME: folder, ...env},
    extendEnv: false,
    input: '',
    reject: false,
  });

/** An API server on this port, where every connection is counted and refused. */
async function closedApi() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const {port} = server.address() as {port: number};
  const kubeconfig = join(folder, `kubeconfig-${port}`);
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      contexts: [{name: 'c', context: {cluster: 'c', user: 'u'}}],
      clusters: [{name: 'c', cluster: {server: `https://127.0.0.1:${port}`}}],
      users: [{name: 'u', user: {token: 't'}}],
    }),
  );
  return {env: {KUBECONFIG: kubeconfig}, server, connections: () => connections};
}

const NO_URL =
  'Scalr URL is required (flag --url, variable SCALR_AGENT_INSTALL_URL, answers key url).';
const NO_TOKEN =
  'No agent pool token was given. It is required unless Secret scalr-agent-token exists in namespace scalr-agent.';

test('install lists everything that is missing without a terminal, helm, kubectl and a cluster', async () => {
  for (const args of [['install'], ['install', '--no-input'], ['install', '--yes']]) {
    const {stdout, stderr, exitCode} = await run(args);
    expect(stderr).toContain(
      `Error: ${NO_URL}\nhelm not found on PATH.\nkubectl not found on PATH.\n${NO_TOKEN}\nNext steps:\n`,
    );
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
  }
  const {stdout} = await run(['install', '--json']);
  expect(JSON.parse(stdout).error).toMatchObject({code: 'MISSING_SETTING', exit: 2});
});

test('contacts no cluster while something local is wrong', async () => {
  const {env, server, connections} = await closedApi();
  const url = ['--url', 'https://acme.scalr.io'];
  const wrong = ['--ca-file', 'missing.pem'];
  for (const args of [
    ['install', ...url, ...wrong],
    ['install', ...url, '--token-file', 'missing'],
    ['preflight', ...url, ...wrong],
    ['upgrade', '--values', 'missing.yaml'],
    ['status', '--values', 'missing.yaml'],
    ['uninstall', '--drain-timeout', 'soon'],
    ['rotate-token', '--token-file', 'missing'],
    ['debug', 'on', '--chart-source', './missing'],
    ['collect-logs', '--since', 'soon'],
    ['values', '--from-cluster', ...url, ...wrong],
  ]) {
    const {exitCode, stderr} = await run([...args, ...tools], env);
    expect({args, exitCode, connections: connections()}, stderr).toEqual({
      args,
      exitCode: 2,
      connections: 0,
    });
  }
  server.close();
});

test('says that no token was given when the cluster cannot be reached', async () => {
  const {env, server, connections} = await closedApi();
  const line = ['install', '--url', 'https://acme.scalr.io', '--yes', '--timeout', '5s', ...tools];
  const {stderr, exitCode} = await run(line, env);
  expect(stderr).toMatch(/^Error: Cannot reach the Kubernetes API/m);
  expect(stderr).toContain(NO_TOKEN);
  expect(exitCode).toBe(1);
  expect(connections()).toBeGreaterThan(0);
  expect((await run([...line, '--token-secret', 'own'], env)).stderr).not.toContain(NO_TOKEN);
  server.close();
});

test('reads a pipe once', async () => {
  writeFileSync(join(folder, 'values.yaml'), 'agent:\n  url: https://pipe.scalr.io\n');
  const script = `"$0" "$1" values --chart agent-local --values-file <(cat values.yaml) --json`;
  const {stdout} = await execa('bash', ['-c', script, process.execPath, PROGRAM], {cwd: folder});
  expect(JSON.parse(stdout)).toMatchObject({values: {agent: {url: 'https://pipe.scalr.io'}}});
});

test('does not start a tool that is a directory or may not be executed', async () => {
  writeFileSync(join(folder, 'plain'), '', {mode: 0o644});
  const {stderr} = await run(['status', '--kubectl', './plain', '--helm', bin]);
  expect(stderr).toContain(
    `Error: ${bin} cannot be executed: is a directory.\n./plain cannot be executed: permission denied.\nNext steps:\n`,
  );
});
