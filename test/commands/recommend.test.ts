import {expect, test} from 'vitest';
import Recommend from '../../src/commands/recommend.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

test('without any setting it recommends agent-local and argues about all three', async () => {
  const {stdout, exit} = await runCommand(Recommend, []);
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^agent-local is recommended\n/);
  expect(stdout).toMatch(/\nagent-job\n[\s\S]*\nagent-k8s\n/);
});

test('--json says of every reason where the fact comes from', async () => {
  const {stdout} = await runCommand(Recommend, ['--isolation', 'per-run', '--concurrency', '4', '--run-memory-limit', '4Gi', '--json']);
  expect(violations('recommend', stdout)).toEqual([]);
  const {chart, rejected, sizing} = JSON.parse(stdout);
  expect(chart).toBe('agent-job');
  expect(rejected.map((each: {chart: string}) => each.chart).toSorted()).toEqual(['agent-k8s', 'agent-local']);
  expect(sizing).toMatchObject({concurrency: 4, memoryLimit: '16Gi', cpuRequested: '2'});
});

test('settings no chart can bring together are refused by name', async () => {
  const {stderr, exit} = await runCommand(Recommend, ['--purpose', 'vcs', '--isolation', 'per-run']);
  expect(stderr).toContain('No chart can do all of this');
  expect(exit).toBe(2);
});
