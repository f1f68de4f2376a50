import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import Values from '../../src/commands/values.ts';
import {NodeFiles} from '../../src/ground/system/node-files.ts';
import {runCommand} from '../support/run-command.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  for (const [name, version] of [
    ['agent-job', '0.6.1'],
    ['nginx', '1.0.0'],
  ] as const) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'Chart.yaml'), `name: ${name}\nversion: ${version}\n`);
    writeFileSync(join(folder, name, 'values.yaml'), '{}\n');
  }
});
afterAll(() => rmSync(folder, {recursive: true, force: true}));

async function values(...args: string[]) {
  const {stdout, exit} = await runCommand(
    Values,
    ['--url', 'https://acme.scalr.io', '--json', ...args],
    {files: new NodeFiles()},
  );
  return {
    ...(JSON.parse(stdout) as {
      chart?: string;
      chartVersion?: string;
      error?: {code: string; message: string};
    }),
    exit,
  };
}

describe('a chart that --chart-source names says itself what it is', () => {
  test.each([
    ['a directory', () => join(folder, 'agent-job'), 'agent-job', '0.6.1'],
    ['an OCI reference', () => 'oci://registry.example.com/scalr/agent-k8s', 'agent-k8s', '0.6.5'],
    [
      'an OCI reference with a tag',
      () => 'oci://registry.example.com/scalr/agent-k8s:0.6.2',
      'agent-k8s',
      '0.6.2',
    ],
    [
      'an archive on a server',
      () => 'https://charts.example.com/agent-job-0.6.3.tgz',
      'agent-job',
      '0.6.3',
    ],
  ])('%s', async (_, source, chart, chartVersion) => {
    expect(await values('--chart-source', source())).toMatchObject({chart, chartVersion, exit: 0});
  });

  test('what is said agrees with it', async () => {
    const source = join(folder, 'agent-job');
    expect(
      await values('--chart-source', source, '--chart', 'agent-job', '--chart-version', '0.6.1'),
    ).toMatchObject({exit: 0});
    const {error, exit} = await values('--chart-source', source, '--chart', 'agent-local');
    expect({code: error?.code, exit}).toEqual({code: 'CONFLICTING_SETTINGS', exit: 2});
    expect(error?.message).toContain(
      '--chart is agent-local, but the chart in --chart-source is agent-job 0.6.1.',
    );
  });

  test.each(['nginx', 'nowhere'])('%s is refused', async (name) => {
    const {error, exit} = await values('--chart-source', join(folder, name));
    expect(error?.code).toMatch(/INVALID_CHART_SOURCE|UNREADABLE_FILE/);
    expect(exit).toBe(2);
  });

  test.each([
    '5',
    '[a]',
    '"a\\0b"',
    '"a\\x1b[31m"',
    '""',
  ])('%s in an answers file is refused as any setting is', async (written) => {
    writeFileSync(join(folder, 'answers.yaml'), `chart-source: ${written}\n`);
    const {error, exit} = await values('--answers', join(folder, 'answers.yaml'));
    expect({code: error?.code, exit}).toEqual({code: 'INVALID_SETTING', exit: 2});
    expect(error?.message).toContain('chart-source');
  });

  test('one that lies elsewhere need not be read where it is said which one it is', async () => {
    expect(
      await values('--chart-source', '/mnt/usb/agent-job.tgz', '--chart', 'agent-job'),
    ).toMatchObject({chart: 'agent-job', exit: 0});
  });
});
