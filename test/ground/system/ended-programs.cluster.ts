import {once} from 'node:events';
import {mkdtempSync, readdirSync, rmSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {execa} from 'execa';
import {describe, expect, inject, onTestFinished, test} from 'vitest';
import {findKubectl} from '../../control-plane/kubectl.ts';
import {workplace} from '../../control-plane/workplace.ts';
import {readZipEntry} from '../../support/unzip.ts';
import {logOf, running} from './running-pods.ts';

/** A program of ours that runs until it is ended, with a folder for temporary files that nobody else uses. */
async function started(name: string, ...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'held-'));
  onTestFinished(() => rmSync(folder, {recursive: true}));
  const program = resolve(import.meta.dirname, name);
  // As a terminal does it: Ctrl-C goes to the whole group.
  const options = {env: {TMPDIR: folder}, detached: true, reject: false} as const;
  const child = execa(
    process.execPath,
    ['--import', 'tsx', program, inject('kubeconfig'), await findKubectl(), ...args],
    options,
  );
  const [said] = await once(child.stdout, 'data');
  const processes = async (): Promise<string[]> => {
    const {stdout} = await execa('pgrep', ['-f', folder], {reject: false});
    return stdout.split('\n').filter(Boolean);
  };
  const sockets = (): string[] =>
    readdirSync(folder).filter((each) => each.startsWith('scalr-agent-'));
  const end = async (signal: NodeJS.Signals): Promise<number | undefined> => {
    process.kill(-(child.pid as number), signal);
    return (await child).exitCode;
  };
  return {said: String(said), processes, sockets, end};
}

test.each([
  'SIGKILL',
  'SIGINT',
  'SIGTERM',
  'SIGHUP',
] as const)('%s to the whole program leaves neither process nor socket', async (signal) => {
  const {said, processes, sockets, end} = await started('holds-api.cli.ts');
  expect(JSON.parse(said)).toMatchObject({status: 200});
  expect(sockets()).toHaveLength(1);
  expect((await processes()).length).toBeGreaterThan(0);
  await end(signal);
  await expect.poll(processes).toEqual([]);
  expect(sockets()).toEqual([]);
});

describe.runIf(inject('simulated'))('a program that collects logs without an end', () => {
  const collecting = async () => {
    const place = await workplace();
    await running(place, 1, 2, ['first', 'second']);
    const directory = mkdtempSync(join(tmpdir(), 'bundle-'));
    onTestFinished(() => rmSync(directory, {recursive: true}));
    const paths = ['c0', 'c1'].map(
      (container) => `${logOf(place.namespace, 'agent-0', container)}&follow=true`,
    );
    return {
      directory,
      ...(await started('collects.cli.ts', join(directory, 'bundle.zip'), ...paths)),
    };
  };

  test('keeps what it has on Ctrl-C', async () => {
    const {directory, processes, sockets, end} = await collecting();
    expect(await end('SIGINT')).toBe(130);
    await expect.poll(processes).toEqual([]);
    expect(sockets()).toEqual([]);
    expect(readdirSync(directory)).toEqual(['bundle.zip']);
    const path = join(directory, 'bundle.zip');
    for (const name of ['0.log', '1.log'])
      expect(String(await readZipEntry(path, name))).toBe('first\nsecond\n');
    expect(JSON.parse(String(await readZipEntry(path, 'manifest.json')))).toMatchObject([
      {name: '0.log'},
      {name: '1.log'},
    ]);
  });

  test('leaves nothing behind when it is killed', async () => {
    const {directory, processes, sockets, end} = await collecting();
    for (const name of readdirSync(directory))
      expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
    await end('SIGKILL');
    await expect.poll(processes).toEqual([]);
    expect(sockets()).toEqual([]);
    await expect.poll(() => readdirSync(directory)).toEqual([]);
  });
});
