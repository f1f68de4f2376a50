import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, describe, expect, test} from 'vitest';
import type {Workplace} from '../cluster/workplace.ts';
import {findHelm} from '../helm/find-helm.ts';
import {chartFlags, installPlace, TOKEN} from '../support/install-place.ts';
import {install, status} from '../support/run-on-cluster.ts';

const scratch = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
afterAll(() => rmSync(scratch, {recursive: true, force: true}));

const helms = await findHelm();
const [_first = {path: 'helm'}] = helms;
const LOCAL = await chartFlags('agent-local');

async function installed(helm: string, ...more: readonly string[]): Promise<Workplace> {
  const place = await installPlace();
  const {exit, stderr} = await install(place, helm, [...LOCAL, '--yes', ...more], {env: TOKEN});
  expect(exit, stderr).toBe(0);
  return place;
}

describe.each(helms)('with Helm $major', ({path: helm}) => {
  test('a healthy release fits on a screen', async () => {
    const place = await installed(helm);
    const start = Date.now();
    const {stdout, stderr, exit} = await status(place, helm, [], {resultScreen: {hasColor: false, columns: 80}});
    process.stderr.write(`${stdout}${stderr}\n${Date.now() - start} ms\n`);
    expect(exit).toBe(0);
  });
});
