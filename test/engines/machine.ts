import {chmodSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, onTestFinished, type TestContext} from 'vitest';
import {runBuilt} from '../package/built.ts';
import {WITHOUT_ENGINE} from '../support/host-shims.ts';
import {violations} from '../support/output-schema.ts';
import {buildStandIns, startDocker} from './docker.ts';

export const OLD = 'scalr/agent:1.3.0';
export const NEW = 'scalr/agent:1.4.0';
export const SHARED = ['--url', 'https://acme.scalr.io', '--isolation', 'shared'];

/** A Docker Engine with two stand-ins for the agent, and commands of this program for it. */
export async function machine(context: Pick<TestContext, 'skip'>) {
  const engine = await startDocker(context);
  await buildStandIns(engine, context, [OLD, NEW]);
  const cwd = mkdtempSync(join(tmpdir(), 'install-'));
  onTestFinished(() => rmSync(cwd, {recursive: true, force: true}));
  const env = {
    ...engine.env,
    PATH: process.env['PATH'] as string,
    HOME: cwd,
    SCALR_AGENT_TOKEN: 'e30.e30.c2ln',
  };
  const runIn = (directory: string, more: Readonly<Record<string, string>>, ...args: string[]) =>
    runBuilt('scalr-agent', args, {cwd: directory, env: {...env, ...more}, timeoutMs: 120_000});
  const run = (...args: string[]) => runIn(cwd, {}, ...args);
  return {
    ...engine,
    cwd,
    run,
    runIn,
    install: (...more: string[]) =>
      run('install', '--target', 'docker', ...SHARED, '--yes', ...more),
    json(command: string, ...args: string[]) {
      const {stdout, status} = run(command, '--target', 'docker', ...args, '--json');
      expect(violations(command, stdout)).toEqual([]);
      return {...JSON.parse(stdout), exit: status};
    },
    containers: async () =>
      (await engine.docker('ps', '--all', '--format', '{{.Names}} {{.Image}}'))
        .split('\n')
        .filter(Boolean)
        .toSorted(),
  };
}

/** Runs a script before a command of docker, which gets its engine from the variables; the path of the real one is in $real. */
export async function intercepted(folder: string, script: string): Promise<{PATH: string}> {
  const {stdout: real} = await execa('sh', ['-c', 'command -v docker']);
  const bin = mkdtempSync(join(folder, 'bin-'));
  writeFileSync(
    join(bin, 'docker'),
    `#!/bin/sh\nreal=${real}\n${WITHOUT_ENGINE}\n${script}\nexec "$real" "$@"\n`,
  );
  chmodSync(join(bin, 'docker'), 0o755);
  return {PATH: `${bin}:${process.env['PATH']}`};
}
