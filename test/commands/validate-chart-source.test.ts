import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createTarGzip} from 'nanotar';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {chartSchema, defaultsOf} from '../../src/charts/releases/schema.ts';
import Validate from '../../src/commands/validate.ts';
import {NodeFiles} from '../../src/ground/system/node-files.ts';
import {toolNotFound} from '../../src/ground/system/node-processes.ts';
import {at, setAt} from '../../src/ground/tree.ts';
import {toYaml} from '../../src/values/document.ts';
import {runCommand} from '../support/run-command.ts';

/** A release this program does not know: a key more, a key less, and a schema with a word of its own. */
const metadata = 'apiVersion: v2\nname: agent-job\nversion: 0.7.0\nappVersion: 2.0.0\n';
const values = defaultsOf(chartSchema('agent-job'), '0.6.5');
setAt(values, at('agent.greeting'), 'hello');
delete values['otel'];
const schema = {
  $schema: 'https://json-schema.org/draft-07/schema#',
  properties: {agent: {type: 'object', properties: {greeting: {type: 'string', maxLength: 5}}}},
};

let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  mkdirSync(join(folder, 'agent-job'));
  const files = {
    'Chart.yaml': metadata,
    'values.yaml': toYaml(values),
    'values.schema.json': JSON.stringify(schema),
  };
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(folder, 'agent-job', name), text);
  const entries = Object.entries(files).map(([name, data]) => ({name: `agent-job/${name}`, data}));
  writeFileSync(join(folder, 'agent-job-0.7.0.tgz'), await createTarGzip(entries));
  writeFileSync(
    join(folder, 'values.yaml'),
    'agent: {token: abc, greeting: hello!, greting: x}\notel: {enabled: true}\n',
  );
  writeFileSync(join(folder, 'other.yaml'), 'name: something\nversion: 1.0.0\n');
});
afterAll(() => rmSync(folder, {recursive: true, force: true}));

const validate = (source: string, ...more: string[]) =>
  runCommand(
    Validate,
    [
      join(folder, 'values.yaml'),
      '--chart-source',
      source.includes('://') ? source : join(folder, source),
      ...more,
    ],
    {
      files: new NodeFiles(),
    },
  );

test.each([
  'agent-job',
  'agent-job/',
  'agent-job-0.7.0.tgz',
])('%s: checks a newer chart against its own keys, defaults and schema', async (source) => {
  const {stdout, stderr, exit} = await validate(source, '--json');
  const {chartVersion, findings} = JSON.parse(stdout) as {
    chartVersion: string;
    findings: {code: string; path: string}[];
  };
  expect(chartVersion).toBe('0.7.0');
  expect(findings.map(({code, path}) => `${code} ${path}`)).toEqual([
    'REFUSED_BY_CHART agent.greeting',
    'UNKNOWN_KEY agent.greting',
    'UNKNOWN_KEY otel',
  ]);
  expect(stderr).toContain(
    'Keys, types and defaults are read from the given chart. Rules between keys are those of 0.6.5.',
  );
  expect(exit).toBe(3);
});

test('refuses a newer version that it cannot read, and names two ways on', async () => {
  const processes = () => ({
    run: async () => Promise.reject(toolNotFound('helm', 'helm', false)),
    start: () => undefined as never,
  });
  const {stderr, exit} = await runCommand(
    Validate,
    [join(folder, 'values.yaml'), '--chart', 'agent-job', '--chart-version', '0.7.0'],
    {
      files: new NodeFiles(),
      processes,
    },
  );
  expect(stderr).toContain(
    'Cannot read agent-job 0.7.0. The newest known version is 0.6.5, so 0.7.0 is read from the chart itself.',
  );
  expect(stderr).toContain('--chart-source agent-job-0.7.0.tgz');
  expect(stderr).toContain('--chart-version 0.6.5');
  expect(exit).toBe(2);
});

test('validate --overlay reads a newer version too, and reports it for the cluster that it cannot read', async () => {
  mkdirSync(join(folder, 'clusters'));
  writeFileSync(
    join(folder, 'clusters/eu.yaml'),
    'url: https://acme.scalr.io\nchart: agent-job\nchart-version: 0.7.0\n',
  );
  const processes = () => ({
    run: async () => Promise.reject(toolNotFound('helm', 'helm', false)),
    start: () => undefined as never,
  });
  const {stdout, exit} = await runCommand(
    Validate,
    ['--overlay', join(folder, 'clusters'), '--json'],
    {files: new NodeFiles(), processes},
  );
  expect(JSON.parse(stdout)).toMatchObject({
    findings: [
      {
        severity: 'error',
        code: 'TOOL_NOT_FOUND',
        message: expect.stringContaining('Cannot read agent-job 0.7.0.'),
      },
    ],
  });
  expect(exit).toBe(3);
});

test.each([
  ['nowhere', 'UNREADABLE_FILE'],
  ['values.yaml', 'INVALID_CHART_SOURCE'],
  ['.', 'INVALID_CHART_SOURCE'],
])('refuses %s with %s', async (source, code) => {
  const {stdout, exit} = await validate(source, '--json');
  expect(JSON.parse(stdout).error.code).toBe(code);
  expect(exit).toBe(2);
});

test.each([
  ['--chart', 'agent-local'],
  ['--chart-version', '0.6.5'],
])('refuses %s when it contradicts the chart', async (flag, value) => {
  const {stderr, exit} = await validate('agent-job', flag, value);
  expect(stderr).toContain(
    `${flag} is ${value}, but the chart in --chart-source is agent-job 0.7.0.`,
  );
  expect(exit).toBe(2);
});
