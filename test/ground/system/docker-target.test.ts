import {mkdtempSync, rmSync} from 'node:fs';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterEach, expect, onTestFinished, test, vi} from 'vitest';
import {nodeApp} from '../../../src/cli/app.ts';
import type {Call} from '../../../src/ground/call.ts';

const {failed: isMissing} = await execa('docker', ['--version'], {reject: false});
const signal = new AbortController().signal;
afterEach(() => vi.unstubAllEnvs());

/** An engine that answers what the tests ask, and records what it was told to change. */
async function engine(folder: string, id: string) {
  const changes: string[] = [];
  const state = {answers: true};
  const server = createServer(({method, url = ''}, response) => {
    const path = url.replace(/^\/v[\d.]+/, '');
    response.setHeader('Api-Version', '1.47');
    response.setHeader('Content-Type', 'application/json');
    if (path === '/info' && !state.answers) {
      response.statusCode = 500;
      return response.end(JSON.stringify({message: 'the engine is starting'}));
    }
    if (path === '/_ping') return response.end('OK');
    if (path === '/info') return response.end(JSON.stringify({ID: id}));
    if (path.startsWith('/containers/json'))
      return response.end(JSON.stringify([{Id: id, Names: [`/${id}`], Image: 'x', Labels: {}}]));
    changes.push(`${method} ${path}`);
    response.statusCode = 204;
    return response.end();
  });
  const socket = join(folder, `${id}.sock`);
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  onTestFinished(() => void server.close());
  return {address: `unix://${socket}`, changes, state};
}

/** Two engines with a context each; the context one is current. */
async function twoEngines(variables: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'docker-'));
  onTestFinished(() => rmSync(folder, {recursive: true}));
  for (const name of ['DOCKER_HOST', 'DOCKER_CONTEXT']) vi.stubEnv(name, variables[name]);
  vi.stubEnv('DOCKER_CONFIG', folder);
  const docker = (...args: string[]) => execa('docker', args, {env: {DOCKER_HOST: ''}});
  const one = await engine(folder, 'one');
  const two = await engine(folder, 'two');
  await docker('context', 'create', 'one', '--docker', `host=${one.address}`);
  await docker('context', 'create', 'two', '--docker', `host=${two.address}`);
  await docker('context', 'use', 'one');
  return {docker, one, two};
}

const LIST = {tool: 'docker', args: ['ps', '--all', '--quiet', '--no-trunc']} as const;
const START: Call = {tool: 'docker', args: ['start', 'agent']};

test.skipIf(isMissing)('another current context does not move the calls of a command', async () => {
  const {docker, one, two} = await twoEngines();
  const {host, processes} = nodeApp();
  expect((await host.run(LIST, {signal})).stdout).toBe('one\n');
  await docker('context', 'use', 'two');
  expect((await host.run(LIST, {signal})).stdout).toBe('one\n');
  expect(await processes({}).start(START).outcome).toMatchObject({exitCode: 0});
  expect([one.changes, two.changes]).toEqual([['POST /containers/agent/start'], []]);
});

test.skipIf(isMissing)('a context that selects another engine stops a change', async () => {
  const {docker, one, two} = await twoEngines();
  const {host, processes} = nodeApp();
  expect((await host.run(LIST, {signal})).stdout).toBe('one\n');
  await docker('context', 'update', 'one', '--docker', `host=${two.address}`);
  await expect(processes({}).start(START).outcome).rejects.toMatchObject({
    code: 'TARGET_CHANGED',
    message:
      'Docker context one no longer selects the Docker Engine of the plan. Its ID was one, and now it is two. Nothing more was changed.',
    suggestions: [
      'Check which engine is selected: docker --context one info',
      'Select the engine of the plan again, then run the same command',
    ],
  });
  expect([one.changes, two.changes]).toEqual([[], []]);
});

test.skipIf(isMissing)('an engine that does not say who it is now is not changed', async () => {
  const {one} = await twoEngines();
  const {host, processes} = nodeApp();
  await host.run(LIST, {signal});
  expect(await processes({}).start(START).outcome).toMatchObject({exitCode: 0});
  one.state.answers = false;
  await new Promise((resolve) => setTimeout(resolve, 1100));
  expect(await processes({}).start(START).outcome).toMatchObject({
    exitCode: 1,
    stderr: 'docker info printed no ID of the engine',
  });
  expect(one.changes).toEqual(['POST /containers/agent/start']);
});

test.skipIf(isMissing)('DOCKER_CONTEXT selects the engine', async () => {
  const {one, two} = await twoEngines({DOCKER_CONTEXT: 'two'});
  const {host, processes} = nodeApp();
  expect((await host.run(LIST, {signal})).stdout).toBe('two\n');
  await processes({}).start(START).outcome;
  expect([one.changes, two.changes]).toEqual([[], ['POST /containers/agent/start']]);
});

test.skipIf(isMissing)('DOCKER_HOST selects the engine, whatever the context is', async () => {
  const {two} = await twoEngines();
  vi.stubEnv('DOCKER_HOST', two.address);
  const {host} = nodeApp();
  expect((await host.run(LIST, {signal})).stdout).toBe('two\n');
  const inspect = ['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'];
  expect((await host.run({tool: 'docker', args: inspect}, {signal})).stdout).toBe(
    `${two.address}\n`,
  );
});
