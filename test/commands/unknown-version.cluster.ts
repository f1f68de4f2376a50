import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {execa} from 'execa';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {directoryOf} from '../cluster/helm/charts-under-test.ts';
import {findHelmMatrix} from '../cluster/helm/find-helm.ts';
import type {Workplace} from '../control-plane/workplace.ts';
import {installPlace, TOKEN} from '../support/install-place.ts';
import {
  type ChartServer,
  madeUpChart,
  makeKey,
  serveCharts,
  signFlags,
} from '../support/made-up-charts.ts';
import {install, preflight, status, upgrade} from '../support/run-on-cluster.ts';

const KNOWN = '0.6.5';
const OLDER = '0.5.72';
const NEXT = '0.7.0';
const SIGNER = 'Chart Signer';

const folder = mkdtempSync(join(tmpdir(), 'scalr-unknown-'));
const at = (name: string): string => join(folder, name);
const mine = at('mine.gpg');
const other = at('other.gpg');
const helms = await findHelmMatrix();
let server: ChartServer;

/** A repository with the newest known agent-job, two versions of agent-local, and a signed agent-job that nobody knew: it renames agent.logFormat. */
beforeAll(async () => {
  await Promise.all([makeKey(SIGNER, mine), makeKey('Somebody Else', other)]);
  const known = await directoryOf({chart: 'agent-job', version: KNOWN}, at('known'));
  const others = [
    await directoryOf({chart: 'agent-local', version: OLDER}, at('known')),
    await directoryOf({chart: 'agent-local', version: KNOWN}, at('known')),
  ];
  const next = madeUpChart(
    {chart: 'agent-job', version: NEXT},
    dirname(dirname(known)),
    at('next'),
  );
  const helm = helms[0]?.path ?? 'helm';
  for (const chart of [known, ...others])
    await execa(helm, ['package', chart, '--destination', at('served')]);
  await execa(helm, ['package', next, '--destination', at('served'), ...signFlags(SIGNER, mine)]);
  server = await serveCharts(helm, at('served'));
});

afterAll(() => {
  server.close();
  rmSync(folder, {recursive: true, force: true});
});

const NEWER = `agent-job ${NEXT} is newer than ${KNOWN}. To use it, add --chart-version ${NEXT}.\n`;
const FLAGS = [
  '--chart',
  'agent-job',
  '--skip-preflight',
  '--cloud',
  'other',
  '--node-os',
  'other',
  '--yes',
];

/** What an install or upgrade changes first: the releases of helm, and the objects that it would create. */
const contentOf = ({kubectl}: Workplace): Promise<string> =>
  kubectl(
    'get',
    'secrets,deployments,serviceaccounts',
    '--output',
    'jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.uid} {.metadata.generation}{"\\n"}{end}',
  );

const chartOf = ({kubectl}: Workplace): Promise<string> =>
  kubectl(
    'get',
    'deployment',
    'scalr-agent',
    '--output',
    'jsonpath={.metadata.labels.helm\\.sh/chart}',
  );

describe.each(helms)('with Helm $major', ({path: helm}) => {
  const deps = () => ({env: TOKEN, processes: server.processes});

  test('uses the newest known version, names the newer one, and refuses an upgrade that would lose a key', async () => {
    const place = await installPlace();
    const first = await install(place, helm, [...FLAGS, '--log-format', 'plain'], deps());
    expect(first.exit, first.stderr).toBe(0);
    expect(first.stderr).toContain(NEWER);
    expect(await chartOf(place)).toBe(`agent-job-${KNOWN}`);
    const before = await contentOf(place);

    const same = await upgrade(place, helm, ['--yes'], deps());
    expect(same.exit, same.stderr).toBe(0);
    expect(same.stderr).toContain(`Release scalr-agent already uses agent-job ${KNOWN}.`);
    expect(same.stderr).toContain(NEWER);
    const refused = await upgrade(
      place,
      helm,
      ['--chart-version', NEXT, '--yes', '--json'],
      deps(),
    );
    expect(refused.exit, refused.stderr).toBe(3);
    expect(JSON.parse(refused.stdout).error).toMatchObject({
      code: 'UPGRADE_BLOCKED',
      message: expect.stringMatching(
        /agent\.logFormat[\s\S]*`agent\.logFormat` is renamed to `agent\.logging\.format`/,
      ),
    });
    expect(await contentOf(place)).toBe(before);

    const known = await status(place, helm, ['--newest'], deps());
    expect(known.stdout).toContain(`newest known version; newest in the repository: ${NEXT}`);
    const asked = await status(place, helm, ['--newest', '--json'], deps());
    expect(JSON.parse(asked.stdout).chart).toMatchObject({version: KNOWN, newest: NEXT});

    writeFileSync(at('moved.yaml'), 'agent: {logFormat: null, logging: {format: plain}}\n');
    const done = await upgrade(
      place,
      helm,
      ['--chart-version', NEXT, '--values', at('moved.yaml'), '--yes', '--json'],
      deps(),
    );
    expect(done.exit, done.stdout + done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({
      to: {chartVersion: NEXT},
      changed: true,
      agent: 'registered',
      warnings: [],
    });
    expect(await chartOf(place)).toBe(`agent-job-${NEXT}`);
    const variables = await place.kubectl(
      'get',
      'deployment',
      'scalr-agent',
      '--output',
      'jsonpath={..containers[0].env}',
    );
    expect(variables).toMatch(/"SCALR_AGENT_LOG_FORMAT","value":"plain"/);
    const again = await upgrade(place, helm, ['--yes', '--json'], deps());
    expect(JSON.parse(again.stdout)).toMatchObject({to: {chartVersion: NEXT}, changed: false});
    const after = await status(place, helm, ['--newest'], deps());
    expect(after.stdout).toContain(
      `newer than the newest known version ${KNOWN}; newest in the repository: ${NEXT}`,
    );
  });

  test('installs a version that nobody knew if it is named, and refuses a setting without a key in it', async () => {
    const place = await installPlace();
    const flags = [...FLAGS, '--chart-version', NEXT];
    const before = await contentOf(place);
    const refused = await install(place, helm, [...flags, '--log-format', 'plain'], deps());
    expect(refused.exit, refused.stderr).toBe(2);
    expect(refused.stderr).toContain('it has no key agent.logFormat');
    expect(await contentOf(place)).toBe(before);

    const done = await install(place, helm, [...flags, '--json'], deps());
    expect(done.exit, done.stdout + done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({chartVersion: NEXT, agent: 'registered'});
    expect(done.stderr).not.toContain('To use it, add');
    expect(await chartOf(place)).toBe(`agent-job-${NEXT}`);
    const again = await install(place, helm, [...flags, '--json'], deps());
    expect(JSON.parse(again.stdout)).toMatchObject({changed: false, agent: 'registered'});
    const changed = await install(
      place,
      helm,
      [...FLAGS, '--extra-env', 'TEAM=a', '--json'],
      deps(),
    );
    expect(changed.exit, changed.stdout + changed.stderr).toBe(0);
    expect(JSON.parse(changed.stdout)).toMatchObject({chartVersion: NEXT, changed: true});
    expect(await chartOf(place)).toBe(`agent-job-${NEXT}`);
  });

  test('keeps the version of an installed release, unless another version or chart is named', async () => {
    const place = await installPlace();
    const planned = async (...argv: string[]) => {
      const [, , ...flags] = FLAGS;
      const done = await install(place, helm, [...flags, ...argv, '--json'], deps());
      expect(done.exit, done.stdout + done.stderr).toBe(0);
      const {chart, chartVersion, steps} = JSON.parse(done.stdout);
      return {chart, chartVersion, steps, stderr: done.stderr};
    };
    await planned('--chart', 'agent-local', '--chart-version', OLDER);

    const changed = await planned('--extra-env', 'TEAM=a');
    expect(changed).toMatchObject({
      chart: 'agent-local',
      chartVersion: OLDER,
      steps: [{title: `Update release scalr-agent (agent-local-${OLDER})`}],
    });
    const kept = `Chart version ${OLDER} (cluster: release scalr-agent)`;
    expect(changed.stderr).toContain(kept);
    expect(changed.stderr).toMatch(
      /agent-local 0\.6\.5 is newer than 0\.5\.72\. To use it, run: scalr-agent upgrade .*--chart-version 0\.6\.5 --dry-run\n/,
    );
    expect((await preflight(place, helm, [], deps())).stderr).toContain(kept);

    const named = [
      ['--chart-version', KNOWN],
      ['--no-from-cluster', '--chart', 'agent-local'],
    ];
    for (const argv of named)
      expect(await planned(...argv, '--dry-run')).toMatchObject({
        chart: 'agent-local',
        chartVersion: KNOWN,
      });
    expect(await planned('--chart', 'agent-job', '--dry-run')).toMatchObject({
      chart: 'agent-job',
      chartVersion: KNOWN,
    });
  });

  test('installs and upgrades to a signed chart with --verify, and changes nothing for another key', async () => {
    const fresh = await installPlace();
    const flags = [...FLAGS, '--chart-version', NEXT, '--json'];
    const empty = await contentOf(fresh);
    const stopped = await install(fresh, helm, [...flags, '--verify', other], deps());
    expect({exit: stopped.exit, code: JSON.parse(stopped.stdout).error?.code}).toEqual({
      exit: 1,
      code: 'CHART_NOT_VERIFIED',
    });
    expect(await contentOf(fresh)).toBe(empty);
    const signed = await install(fresh, helm, [...flags, '--verify', mine], deps());
    expect(signed.exit, signed.stdout + signed.stderr).toBe(0);
    expect(JSON.parse(signed.stdout)).toMatchObject({
      agent: 'registered',
      signature: {signer: SIGNER},
    });

    const place = await installPlace();
    const old = await install(place, helm, FLAGS, deps());
    expect(old.exit, old.stderr).toBe(0);
    const before = await contentOf(place);
    const argv = ['--chart-version', NEXT, '--yes', '--json', '--verify'];
    const refused = await upgrade(place, helm, [...argv, other], deps());
    expect({exit: refused.exit, code: JSON.parse(refused.stdout).error?.code}).toEqual({
      exit: 1,
      code: 'CHART_NOT_VERIFIED',
    });
    expect(await contentOf(place)).toBe(before);
    const done = await upgrade(place, helm, [...argv, mine], deps());
    expect(done.exit, done.stdout + done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({
      to: {chartVersion: NEXT},
      signature: {signer: SIGNER},
    });
    expect(await chartOf(place)).toBe(`agent-job-${NEXT}`);
  });
});
