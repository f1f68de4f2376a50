import {execFileSync} from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import ExportCommand from '../../../src/commands/export.ts';
import Migrate from '../../../src/commands/migrate.ts';
import Schema from '../../../src/commands/schema.ts';
import Validate from '../../../src/commands/validate.ts';
import Values from '../../../src/commands/values.ts';
import type {Call} from '../../../src/ground/call.ts';
import {argumentsOf} from '../../../src/ground/call-arguments.ts';
import {NodeFiles} from '../../../src/ground/system/node-files.ts';
import {
  type ChartServer,
  MADE_UP,
  madeUpChart,
  NO_CHARTS,
  serveCharts,
} from '../../support/made-up-charts.ts';
import {runCommand} from '../../support/run-command.ts';
import {REAL} from './charts-under-test.ts';
import {findHelm, type Helm} from './find-helm.ts';

const ROOT = join(import.meta.dirname, '../../..');

let folder = '';
let helms: readonly Helm[] = [];
let server: ChartServer | undefined;

beforeAll(async () => {
  if (REAL === undefined) return;
  helms = await findHelm();
  folder = mkdtempSync(join(tmpdir(), 'scalr-made-up-'));
  const served = join(folder, 'served');
  const [helm] = helms;
  for (const target of MADE_UP) {
    const charts = [madeUpChart(target, REAL, folder), join(REAL, target.chart, '0.6.5')];
    for (const chart of charts)
      await execa(helm?.path as string, ['package', chart, '--destination', served]);
  }
  server = await serveCharts(helm?.path as string, served);
});

afterAll(() => {
  server?.close();
  if (folder !== '') rmSync(folder, {recursive: true, force: true});
});

/** helm with the made-up repository in the place of the public one. */
function depsOf(helm: Helm, calls: string[] = []) {
  const {run, start} = (server as ChartServer).processes({helm: helm.path});
  const processes = () => ({
    run: async (call: Call) => {
      calls.push(argumentsOf(call)[0] as string);
      return run(call);
    },
    start,
  });
  return {files: new NodeFiles(), processes};
}

const FLAGS = ['--url', 'https://acme.scalr.io', '--chart-version', '0.7.0'];

// Both versions of Helm: they print and reject differently.
describe.skipIf(REAL === undefined).each([3, 4] as const)(`Helm %i (${NO_CHARTS})`, (major) => {
  const helm = (): Helm => helms.find((each) => each.major === major) ?? (helms[0] as Helm);
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };

  test('writes values of a version that nobody knew, with one render for each key', async () => {
    const calls: string[] = [];
    const {stdout, stderr, exit} = await runCommand(
      Values,
      [...FLAGS, '--chart', 'agent-local', '--cache', 'pvc'],
      depsOf(helm(), calls),
    );
    expect({
      exit,
      unconfirmed: stderr.includes('not confirmed') || stderr.includes('no effect'),
    }).toEqual({exit: 0, unconfirmed: false});
    expect(stdout).toContain('# Values of agent-local 0.7.0 (agent 1.9.0)');
    expect(stdout).toContain('cache:');
    expect(calls.filter((each) => each === 'template').length).toBeLessThanOrEqual(42);
  });

  test('refuses a setting whose key was renamed, in the words of the change list', async () => {
    const {stderr, exit} = await runCommand(
      Values,
      [...FLAGS, '--chart', 'agent-job', '--log-format', 'plain'],
      depsOf(helm()),
    );
    expect(exit).toBe(2);
    expect(stderr).toContain(
      'it has no key agent.logFormat. Chart changelog: changed: "`agent.logFormat` is renamed to',
    );
  });

  test('names steps that work with --chart-source too', async () => {
    const source = join(folder, 'agent-job', '0.7.0');
    const flags = ['--url', 'https://acme.scalr.io', '--chart-source', source];
    const refused = await runCommand(Values, [...flags, '--log-format', 'plain'], depsOf(helm()));
    expect(refused.stderr).toContain(
      'Use --chart agent-job --chart-version 0.6.5 instead of --chart-source',
    );
    expect(refused.stderr).toContain('If the chart has another key for it, use --set');
    const {stdout, stderr, exit} = await runCommand(
      Values,
      [...flags, '--set', 'agent.logging.format=plain'],
      depsOf(helm()),
    );
    expect({exit, stdout}).toEqual({exit: 0, stdout: expect.stringContaining('format: "plain"')});
    // The chart is known, so a cluster could not affect it.
    expect(stderr).not.toContain('The cluster was not read');
    const missing = `${(server as ChartServer).address}agent-job-9.9.9.tgz`;
    const unread = await runCommand(
      Values,
      [...flags.slice(0, 2), '--chart-source', missing],
      depsOf(helm()),
    );
    expect(unread.stderr).toContain(
      'Check the address in --chart-source, or use a directory or a .tgz file',
    );
    expect(unread.stderr).not.toContain('--chart-version');
  });

  test('says which known versions have a key that is gone, and where the version comes from', async () => {
    const path = file(
      'gone.yaml',
      '# Values of agent-job 0.6.5\nagent: {url: "https://acme.scalr.io", logFormat: plain}\n',
    );
    const {stdout, stderr} = await runCommand(
      Validate,
      [path, '--chart-version', '0.7.0'],
      depsOf(helm()),
    );
    expect(stdout).toContain(
      'agent-job 0.7.0 has no key agent.logFormat (available: 0.5.64 to 0.6.5).',
    );
    expect(stderr).toContain(
      'Checked against agent-job 0.7.0: chart detected from the file header.',
    );
  });

  test('names a key that no template reads, and takes a new one', async () => {
    const values =
      'agent: {url: "https://acme.scalr.io", terminationGracePeriodSeconds: 300, logging: {format: plain}, tokenExistingSecret: {name: tok}}\n';
    const {stdout} = await runCommand(
      Validate,
      [file('dead.yaml', values), '--chart', 'agent-job', '--chart-version', '0.7.0', '--json'],
      depsOf(helm()),
    );
    const {findings} = JSON.parse(stdout) as {findings: {code: string; path: string}[]};
    expect(findings.map(({code, path}) => `${code} ${path}`)).toEqual([
      'UNCONFIRMED_KEY agent.terminationGracePeriodSeconds',
    ]);
  });

  test('prints the schema of a version that nobody knew', async () => {
    const {stdout, exit} = await runCommand(
      Schema,
      ['--chart', 'agent-job', '--chart-version', '0.7.0'],
      depsOf(helm()),
    );
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      properties: {agent: {properties: {logging: {properties: {format: {}}}}}},
    });
    expect(stdout).not.toContain('"logFormat"');
  });

  test('writes files for fleets with the keys of that version, and downloads it once', async () => {
    const calls: string[] = [];
    const clusters = join(folder, `clusters-${major}`);
    mkdirSync(clusters);
    for (const name of ['a', 'b'])
      writeFileSync(join(clusters, `${name}.yaml`), `release: ${name}\n`);
    const flags = [
      'argocd',
      ...FLAGS,
      '--chart',
      'agent-local',
      '--overlay',
      clusters,
      '--git-url',
      'https://git.example.com/a.git',
    ];
    const {stderr, exit} = await runCommand(
      ExportCommand,
      [...flags, '--dry-run'],
      depsOf(helm(), calls),
    );
    expect({exit, isTreatedAsOld: stderr.includes('is treated like')}).toEqual({
      exit: 0,
      isTreatedAsOld: false,
    });
    expect(calls.filter((each) => each === 'pull')).toHaveLength(1);
    expect(calls.filter((each) => each === 'template').length).toBeLessThanOrEqual(42);
    const refused = await runCommand(
      ExportCommand,
      ['argocd', ...FLAGS, '--chart', 'agent-job', '--log-format', 'plain'],
      depsOf(helm()),
    );
    expect(refused.stderr).toContain('it has no key agent.logFormat');
  });

  test('checks the clusters of an overlay with the keys of that version', async () => {
    const calls: string[] = [];
    const clusters = join(folder, `checked-${major}`);
    mkdirSync(clusters);
    const files = {
      plain: 'log-format: plain\n',
      one: 'concurrency: 1\ncache: pvc\ncache-access-mode: ReadWriteOncePod\n',
      two: 'concurrency: 2\n',
    };
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(clusters, `${name}.yaml`), `chart: agent-local\n${text}`);
    writeFileSync(join(clusters, 'job.yaml'), 'chart: agent-job\nlog-format: plain\n');
    const answers = file('answers.yaml', 'url: https://acme.scalr.io\nchart-version: 0.7.0\n');
    const argv = ['--answers', answers, '--overlay', clusters, '--json'];
    const {stdout, stderr, exit} = await runCommand(Validate, argv, depsOf(helm(), calls));
    expect(exit, stderr).toBe(3);
    const {files: checked} = JSON.parse(stdout) as {
      files: {findings: {code: string; severity: string; message: string}[]}[];
    };
    const found = checked.map(({findings}) =>
      findings.map(({code, severity}) => `${severity} ${code}`),
    );
    // The values of "one" and "two" are valid, and would contradict each other if they were merged.
    const valid = ['warning UNKNOWN_VERSION'];
    expect(found).toEqual([['error UNSUPPORTED_SETTING'], valid, valid, valid]);

    // Only the cluster whose values the chart rejects has an error.
    writeFileSync(
      join(clusters, 'rejected.yaml'),
      'chart: agent-local\nset: {workload.kind: CronJob}\n',
    );
    for (const name of ['one', 'job']) rmSync(join(clusters, `${name}.yaml`));
    calls.splice(0);
    const again = await runCommand(Validate, argv, depsOf(helm(), calls));
    expect(again.exit, again.stderr).toBe(3);
    const {files: results} = JSON.parse(again.stdout) as {
      files: {findings: {code: string; message: string}[]}[];
    };
    expect(results.map(({findings}) => findings.map(({code}) => code))).toEqual([
      ['UNKNOWN_VERSION'],
      ['INVALID_SETTING'],
      ['UNKNOWN_VERSION'],
    ]);
    expect(results[1]?.findings[0]?.message).toContain(
      'workload.kind must be Deployment or StatefulSet',
    );
    expect(calls.filter((each) => each === 'template').length).toBeLessThanOrEqual(42);
    const exported = await runCommand(
      ExportCommand,
      ['flux', ...argv.slice(0, 4), '--dry-run'],
      depsOf(helm()),
    );
    expect(exported).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(
        `${join(clusters, 'rejected.yaml')} over ${answers}: agent-local`,
      ),
    });
  });

  test('reports which of several files the chart rejects', async () => {
    const values = (kind: string) =>
      `# Values of agent-local 0.7.0\nagent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: tok}}\nworkload: {kind: ${kind}}\n`;
    const files = [
      file('wrong.yaml', values('CronJob')),
      file('right.yaml', values('StatefulSet')),
    ];
    const {stdout, exit} = await runCommand(Validate, [...files, '--json'], depsOf(helm()));
    const {files: results} = JSON.parse(stdout) as {files: {findings: {code: string}[]}[]};
    expect(
      results.map(({findings}) =>
        findings.map(({code}) => code).filter((code) => code === 'REFUSED_BY_CHART'),
      ),
    ).toEqual([['REFUSED_BY_CHART'], []]);
    expect(exit).toBe(3);
  });

  test('confirms the keys of files of two unknown versions, downloaded once each', async () => {
    const calls: string[] = [];
    const token = 'tokenExistingSecret: {name: tok}';
    const files = [
      file(
        'local.yaml',
        `# Values of agent-local 0.7.0\nagent: {url: "https://acme.scalr.io", ${token}}\nreplicaCount: 2\npodLabels: {a: b}\n`,
      ),
      file(
        'job.yaml',
        `# Values of agent-job 0.7.0\nagent: {url: "https://acme.scalr.io", logging: {format: plain}, ${token}}\n`,
      ),
    ];
    const {stdout} = await runCommand(Validate, [...files, '--json'], depsOf(helm(), calls));
    expect(stdout).not.toMatch(/"severity": ?"error"/);
    expect(calls.filter((each) => each === 'pull')).toHaveLength(2);
    const renders = calls.filter((each) => each === 'template').length;
    expect(renders).toBeGreaterThan(2);
    expect(renders).toBeLessThanOrEqual(42);
  });

  test('reports what the templates of the chart reject', async () => {
    const values =
      'agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: tok}}\nworkload: {kind: CronJob}\n';
    const source = join(folder, 'agent-local', '0.7.0');
    const {stdout, exit} = await runCommand(
      Validate,
      [file('pod.yaml', values), '--chart-source', source, '--json'],
      depsOf(helm()),
    );
    expect(exit).toBe(3);
    expect(stdout).toContain('workload.kind must be Deployment or StatefulSet');
  });

  test('migrates to it, and lists moved, removed and changed keys', async () => {
    const values =
      'agent: {url: "https://acme.scalr.io", logFormat: plain, tokenExistingSecret: {name: tok}}\ntask: {startupTimeoutSeconds: 300}\n';
    const source = join(folder, 'served', 'agent-job-0.7.0.tgz');
    const {stdout} = await runCommand(
      Migrate,
      [file('old.yaml', values), '--from', 'agent-job@0.6.5', '--chart-source', source, '--json'],
      depsOf(helm()),
    );
    const {yaml, changes} = JSON.parse(stdout) as {
      yaml: string;
      changes: {kind: string; path: string; message: string}[];
    };
    expect(yaml).not.toMatch(/logFormat|startupTimeoutSeconds/);
    expect(changes.map(({kind, path}) => `${kind} ${path}`)).toEqual([
      'dropped agent.logFormat',
      'dropped task.startupTimeoutSeconds',
      'default-changed persistence.cache.emptyDir.sizeLimit',
    ]);
    expect(changes[1]?.message).toContain('the agent decides');
  });
});

test.skipIf(REAL === undefined)(
  `update-charts imports new releases and says what to review (${NO_CHARTS})`,
  () => {
    const copy = join(folder, 'checkout');
    mkdirSync(copy);
    for (const name of [
      'src',
      'schemas',
      'scripts',
      'test/charts',
      'package.json',
      'tsconfig.json',
    ])
      cpSync(join(ROOT, name), join(copy, name), {recursive: true});
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    const update = (from: string): string =>
      execFileSync(
        join(ROOT, 'node_modules/.bin/tsx'),
        ['scripts/update-charts.ts', '--from', from, '--no-test'],
        {
          cwd: copy,
          encoding: 'utf8',
        },
      );
    const summary = update(join(folder, 'served'));
    expect(summary).toContain('## agent-local 0.6.5 → 0.7.0');
    expect(summary).toContain('- `persistence.enabled`\n');
    const unread = (chart: string): string =>
      `### Keys that no template reads, for ignoredKeys in src/charts/${chart}/versions.ts\n\n`;
    expect(summary).toContain(`${unread('agent-local')}- \`metrics.port\`\n\n`);
    expect(summary).toContain(
      `${unread('agent-job')}- \`agent.terminationGracePeriodSeconds\`\n\n`,
    );
    expect(summary).toContain('- `persistence.cache.emptyDir.sizeLimit`: "1Gi" → "5Gi"');
    expect(summary).toContain(
      '- `--log-format` (>=0.5.64) writes `agent.logFormat`, which is gone',
    );
    const releases = JSON.parse(readFileSync(join(copy, 'schemas/agent-job.json'), 'utf8'))[
      'x-releases'
    ];
    expect(releases.at(-1)).toMatchObject({
      version: '0.7.0',
      appVersion: '1.9.0',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const history = JSON.parse(readFileSync(join(copy, 'test/charts/values-history.json'), 'utf8'));
    expect(history['agent-local'].at(-1).versions).toEqual(['0.7.0']);
    expect(update(join(folder, 'served'))).toBe('No new chart versions.\n');
  },
);
