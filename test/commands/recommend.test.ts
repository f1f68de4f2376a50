import {expect, test} from 'vitest';
import Recommend from '../../src/commands/recommend.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

test('recommends agent-local without any setting, with reasons for all three charts', async () => {
  const {stdout, exit} = await runCommand(Recommend, []);
  expect(exit).toBe(0);
  expect(stdout).toMatch(
    /^Recommended chart: agent-local \(runs share pods that are always running\)\n {2}\+ /,
  );
  expect(stdout).toMatch(/\nagent-job \(.*\)\n {2}\+ [\s\S]*\nagent-k8s \(.*\)\n/);
});

test('gives the source of every reason with --json', async () => {
  const {stdout} = await runCommand(Recommend, [
    '--isolation',
    'per-run',
    '--concurrency',
    '4',
    '--run-memory-limit',
    '4Gi',
    '--json',
  ]);
  expect(violations('recommend', stdout)).toEqual([]);
  const {chart, rejected, sizing} = JSON.parse(stdout);
  expect(chart).toBe('agent-job');
  expect(rejected.map((each: {chart: string}) => each.chart).toSorted()).toEqual([
    'agent-k8s',
    'agent-local',
  ]);
  expect(sizing).toMatchObject({concurrency: 4, memoryLimit: '20Gi', cpuRequested: '3'});
});

test('names the settings that no single chart supports', async () => {
  const {stderr, exit} = await runCommand(Recommend, [
    '--purpose',
    'vcs',
    '--controller-replicas',
    '2',
  ]);
  expect(stderr).toContain('No chart supports all settings');
  expect(exit).toBe(2);
});
