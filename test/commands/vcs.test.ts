import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import {HOST_TARGETS} from '../../src/charts/host/host.ts';
import ExportCommand from '../../src/commands/export.ts';
import Recommend from '../../src/commands/recommend.ts';
import Values from '../../src/commands/values.ts';
import {catalog} from '../../src/settings/catalog.ts';
import {spell} from '../../src/settings/define.ts';
import {readValues} from '../../src/values/reading/read-values.ts';
import {rawOf} from '../support/raw-settings.ts';
import {runCommand} from '../support/run-command.ts';
import {TARGETS} from '../support/versions.ts';

const VCS = ['--url', 'https://acme.scalr.io', '--purpose', 'vcs'];
const FOR_RUNS = catalog.filter(({isForRuns}) => isForRuns);

/** A flag with some value that the setting accepts. */
function flagsOf(setting: (typeof catalog)[number]): string[] {
  const raw = rawOf(setting);
  const [value] =
    raw === undefined ? [setting.kind.options?.[0] ?? ''] : fc.sample(raw, {numRuns: 1, seed: 1});
  if (setting.kind.isSwitch) return [`--${setting.id}`];
  return [`--${setting.id}`, String([value].flat()[0])];
}

describe('flags that only matter to runs', () => {
  test.each(
    FOR_RUNS.map((setting) => [spell(setting), setting] as const),
  )('%s is refused on every platform', async (flag, setting) => {
    const values = await runCommand(Values, [...VCS, ...flagsOf(setting)]);
    expect(values).toMatchObject({exit: 2, stdout: ''});
    expect(values.stderr).toContain(
      `${flag}: Requires --purpose runs, because VCS agents execute no runs.`,
    );
    for (const target of HOST_TARGETS) {
      const {exit, stderr} = await runCommand(ExportCommand, [target, ...VCS, ...flagsOf(setting)]);
      expect({exit, stderr}).toEqual({
        exit: 2,
        stderr: expect.stringContaining(`${flag}: Requires --purpose runs`),
      });
    }
  });
});

test.each(
  TARGETS.filter(({chart}) => chart === 'agent-local'),
)('agent-local $version gets no values for runs', async ({chart, version}) => {
  const {stdout, exit} = await runCommand(Values, [
    ...VCS,
    '--chart',
    chart,
    '--chart-version',
    version,
  ]);
  expect(exit).toBe(0);
  const values = parse(stdout);
  expect(Object.keys(values).toSorted()).toEqual(['agent', 'podAnnotations']);
  expect(values.podAnnotations).toEqual({'scalr.io/purpose': 'vcs'});
  expect(readValues(values, {chart, version}).settings.get('purpose')).toBe('vcs');
});

test.each(
  TARGETS.filter(({chart}) => chart !== 'agent-local'),
)('$chart $version is refused', async ({chart, version}) => {
  const {stderr, exit} = await runCommand(Values, [
    ...VCS,
    '--chart',
    chart,
    '--chart-version',
    version,
  ]);
  expect(exit).toBe(2);
  expect(stderr).toContain(
    `${chart} ${version} does not support --purpose vcs: only agent-local supports VCS agent pools.`,
  );
  expect(stderr).toContain('Use --chart agent-local');
});

test('keeps the annotations of the user beside its own', async () => {
  const {stdout} = await runCommand(Values, [...VCS, '--pod-annotation', 'example.com/team=a']);
  expect(parse(stdout).podAnnotations).toEqual({
    'scalr.io/purpose': 'vcs',
    'example.com/team': 'a',
  });
});

test('recommend explains the network of a VCS agent, and says nothing about runs', async () => {
  const {stdout} = await runCommand(Recommend, ['--purpose', 'vcs']);
  expect(stdout).toContain('It requires no ingress, no Service and no open port.');
  expect(stdout).toContain('1 agent: 1 CPU and 1Gi memory requested, memory limit 2Gi');
  expect(stdout.split('\nagent-job\n')[0]).not.toMatch(/replica|isolat|HorizontalPodAutoscaler/);
  expect(
    JSON.parse((await runCommand(Recommend, ['--purpose', 'vcs', '--json'])).stdout).sizing
      .concurrency,
  ).toBe(0);
});

test('export explains the network of a VCS agent', async () => {
  const {stderr} = await runCommand(ExportCommand, ['docker', ...VCS]);
  expect(stderr).toContain(
    'The agent opens HTTPS connections to Scalr and to the VCS server. It requires no open port.',
  );
});
