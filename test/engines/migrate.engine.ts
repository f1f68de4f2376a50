import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {parse} from 'yaml';
import {runBuilt} from '../package/built.ts';
import {buildStandIns, startDocker} from './docker.ts';

const TOKEN = 'eyJhbGciOiJub25lIn0.eyJqdGkiOiJ4In0.c2lnbmF0dXJl';
const FLAGS =
  '--url https://acme.scalr.io --isolation shared --concurrency 2 --debug --run-memory-limit 4Gi --run-cpu-limit 2 --extra-env TF_LOG=debug';

test('migrates running containers from what docker inspect prints', {
  timeout: 300_000,
}, async (context) => {
  const engine = await startDocker(context);
  await buildStandIns(engine, context, ['scalr/agent:1.4.0']);
  const cwd = mkdtempSync(join(tmpdir(), 'migrate-'));
  onTestFinished(() => rmSync(cwd, {recursive: true, force: true}));
  const env = {SCALR_AGENT_TOKEN: TOKEN};
  const {status, stderr} = runBuilt(
    'scalr-agent',
    ['export', 'docker', ...FLAGS.split(' '), '--out', 'agent'],
    {cwd, env},
  );
  expect({status, stderr}).toMatchObject({status: 0});
  execFileSync('sh', ['agent/run.sh'], {cwd, env: {...process.env, ...engine.env}, stdio: 'pipe'});
  const names = (await engine.docker('ps', '--format', '{{.Names}}'))
    .split('\n')
    .filter((name) => name.startsWith('scalr-agent'));
  expect(names).toHaveLength(2);
  writeFileSync(join(cwd, 'agents.json'), await engine.docker('inspect', ...names));
  const result = runBuilt('scalr-agent', ['migrate', 'agents.json', '--to', 'agent-local@0.6.5'], {
    cwd,
    env: {},
  });
  expect(result.status, result.stderr).toBe(0);
  expect(parse(result.stdout)).toEqual({
    agent: {url: 'https://acme.scalr.io', tokenExistingSecret: {name: 'scalr-agent-token'}},
    replicaCount: 2,
    extraEnv: {SCALR_AGENT_DEBUG: '1', TF_LOG: 'debug'},
    resources: {limits: {cpu: '2', memory: '4Gi'}},
  });
  expect(result.stdout + result.stderr).not.toContain(TOKEN);
});
