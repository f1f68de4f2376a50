import {copyFileSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {mkdir} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {chartSchema, defaultsOf} from '../../../src/charts/releases/schema.ts';
import {template} from '../../../src/cluster/helm/chart-calls.ts';

import Images from '../../../src/commands/images.ts';
import {NodeFiles} from '../../../src/ground/system/node-files.ts';
import {type ChartServer, makeKey, serveCharts, signFlags} from '../../support/made-up-charts.ts';
import {runCommand} from '../../support/run-command.ts';
import {findHelm, type Helm} from './find-helm.ts';

const SIGNER = 'Chart Signer';

const folder = mkdtempSync(join(tmpdir(), 'scalr-signed-'));
const at = (name: string): string => join(folder, name);
const mine = at('mine.gpg');
const other = at('other.gpg');
let helms: readonly Helm[] = [];
let server: ChartServer;

beforeAll(async () => {
  helms = await findHelm();
  await Promise.all([makeKey(SIGNER, mine), makeKey('Somebody Else', other)]);
  // Unknown to the program, so that no digest is known either.
  const chart = at('agent-local');
  await mkdir(join(chart, 'templates'), {recursive: true});
  writeFileSync(
    join(chart, 'Chart.yaml'),
    'apiVersion: v2\nname: agent-local\nversion: 9.9.9\nappVersion: 9.9.9\n',
  );
  writeFileSync(
    join(chart, 'values.yaml'),
    JSON.stringify(defaultsOf(chartSchema('agent-local'), '0.6.5')),
  );
  writeFileSync(
    join(chart, 'templates/map.yaml'),
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
  );
  await execa(helms[0]?.path as string, [
    'package',
    chart,
    ...signFlags(SIGNER, mine),
    '--destination',
    folder,
  ]);
  server = await serveCharts(helms[0]?.path as string, folder);
});

afterAll(() => {
  server.close();
  rmSync(folder, {recursive: true, force: true});
});

/** Both versions of Helm verify with different libraries. */
describe.each([3, 4] as const)('Helm %i', (major) => {
  const tools = () =>
    server.processes({
      helm: (helms.find((each) => each.major === major) ?? (helms[0] as Helm)).path,
    });
  const images = (keyring: string, ...flags: readonly string[]) => {
    const deps = {files: new NodeFiles(), processes: tools};
    return runCommand(
      Images,
      [
        '--chart',
        'agent-local',
        '--chart-version',
        '9.9.9',
        '--verify',
        keyring,
        '--json',
        ...flags,
      ],
      deps,
    );
  };

  test('names the signer and the digest of a chart in the repository', async () => {
    const {stdout, stderr, exit} = await images(mine);
    expect(exit, stderr).toBe(0);
    expect(JSON.parse(stdout).signature).toEqual({
      signer: SIGNER,
      fingerprint: expect.stringMatching(/^[0-9A-F]{40}$/),
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test('verifies an archive on this machine', async () => {
    const {stdout} = await images(mine, '--chart-source', at('agent-local-9.9.9.tgz'));
    expect(JSON.parse(stdout).signature.signer).toBe(SIGNER);
  });

  test('stops for the key of somebody else, also where helm uses the chart', async () => {
    const {stdout, stderr, exit} = await images(other);
    const {code, suggestions} = JSON.parse(stdout || stderr).error;
    expect({exit, code, suggestions}).toEqual({
      exit: 1,
      code: 'CHART_NOT_VERIFIED',
      suggestions: [expect.stringContaining('keyring')],
    });
    const name = {release: 'agent', kubeTarget: {namespace: 'agent'}};
    const rendered = (keyring: string) =>
      tools().run(template(name, {chart: 'agent-local', version: '9.9.9', keyring}, '{}\n', ''));
    expect((await rendered(other)).exitCode).not.toBe(0);
    expect(await rendered(mine)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('kind: ConfigMap'),
    });
  });

  test('stops for an archive that was changed after it was signed', async () => {
    const changed = mkdtempSync(at('changed-'));
    const archive = join(changed, 'agent-local-9.9.9.tgz');
    copyFileSync(at('agent-local-9.9.9.tgz.prov'), `${archive}.prov`);
    await execa('tar', ['-czf', archive, '-C', folder, 'agent-local']);
    const {stdout, stderr, exit} = await images(mine, '--chart-source', archive);
    expect(exit).toBe(1);
    rmSync(`${archive}.prov`);
    expect((await images(mine, '--chart-source', archive)).stdout).toContain(
      'The chart is not signed.',
    );
    expect(`${stdout}${stderr}`).toMatch(/CHART_NOT_VERIFIED[\s\S]*sha256[\s\S]*do not use it/i);
  });
});
