import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {languageServer} from '../support/language-server.ts';
import {PROGRAM} from './built.ts';

let folder = '';
let server: Awaited<ReturnType<typeof languageServer>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'editors-'));
  server = await languageServer();
});
afterAll(() => {
  server.close();
  rmSync(folder, {recursive: true, force: true});
});

const run = (...args: string[]) =>
  execa(process.execPath, [PROGRAM, ...args], {cwd: folder, env: {CI: 'true'}});
/** The values of a chart with their schema beside them, as the command of the guide writes them. */
async function generate(chart: ChartName): Promise<{path: string; text: string}> {
  const name = `${chart}.yaml`;
  await run(
    'values',
    '--url',
    'https://acme.scalr.io',
    '--chart',
    chart,
    '--schema',
    `${chart}.schema.json`,
    '--out',
    name,
    '--yes',
  );
  const text = readFileSync(join(folder, name), 'utf8');
  expect(text.split('\n')[0]).toBe(`# yaml-language-server: $schema=${chart}.schema.json`);
  return {path: join(folder, name), text};
}

/** Per chart: a key of runs, a part of its description, a key with a fixed set of values, and a key of Kubernetes. */
const CASES = {
  'agent-local': {
    key: 'terminationGracePeriodSeconds',
    flag: '--grace-period',
    choice: 'image:\n  pullPolicy: ',
    options: ['Always', 'Never'],
  },
  'agent-job': {
    key: 'imagePullSecrets',
    flag: '--image-pull-secret',
    choice: 'agent:\n  logFormat: ',
    options: ['plain', 'json'],
  },
  'agent-k8s': {
    key: 'workerNodeSelector',
    flag: '--node-selector',
    choice: 'agent:\n  container_task_image_mode: ',
    options: ['legacy', 'golden'],
  },
} as const;
const above = {'agent-local': '', 'agent-job': 'global:\n  ', 'agent-k8s': ''} as const;

describe.each(Object.keys(CASES) as ChartName[])('yaml-language-server with %s', (chart) => {
  const {key, flag, choice, options} = CASES[chart];
  const header = `# yaml-language-server: $schema=${chart}.schema.json\n`;

  test('accepts the generated values', async () => {
    const {path, text} = await generate(chart);
    expect((await server.open(path, text)).diagnostics).toEqual([]);
  });

  test('marks a misspelled key', async () => {
    const {path, text} = await generate(chart);
    const {diagnostics} = await server.open(
      `${path}.wrong.yaml`,
      text.replace('tokenExistingSecret', 'tokenExistingSecert'),
    );
    expect(diagnostics).toMatchObject([{message: 'Property tokenExistingSecert is not allowed.'}]);
    expect(text.split('\n')[diagnostics[0]?.range.start.line as number]).toContain(
      'tokenExistingSecret',
    );
  });

  test('completes keys with their descriptions', async () => {
    const text = `${header}${above[chart]}${key.slice(0, 5)}\n`;
    const items = await (await server.open(join(folder, `${chart}-keys.yaml`), text)).completion(
      key.slice(0, 5),
    );
    expect(items).toContainEqual(
      expect.objectContaining({label: key, documentation: expect.stringContaining(flag)}),
    );
  });

  test('completes the values of a choice', async () => {
    const {completion} = await server.open(
      join(folder, `${chart}-choice.yaml`),
      `${header}${choice}\n`,
    );
    expect((await completion(choice)).map(({label}) => label)).toEqual(
      expect.arrayContaining([...options]),
    );
  });

  test('shows the description and the default of a key', async () => {
    const {hover} = await server.open(
      join(folder, `${chart}-hover.yaml`),
      `${header}agent:\n  url: https://acme.scalr.io\n`,
    );
    expect(await hover('ur')).toContain('Flag: --url.');
  });
});

test('marks deprecated keys with their successor', async () => {
  await run(
    'schema',
    '--chart',
    'agent-job',
    '--chart-version',
    '0.5.63',
    '--out',
    'old.schema.json',
  );
  const text =
    '# yaml-language-server: $schema=old.schema.json\nimagePullSecrets: [{name: mirror}]\nworkerNodeSelector: {a: b}\n';
  const {diagnostics} = await server.open(join(folder, 'old.yaml'), text);
  expect(diagnostics.map(({message}) => message)).toEqual([
    'agent-job 0.6.5 does not have this key. It has global.imagePullSecrets.',
    'Ignored: it is set on the Job instead of the pod.',
  ]);
});

test('describes a chart that only exists on this machine', async () => {
  const values = {agent: {url: '', greeting: 'hello'}};
  writeFileSync(
    join(folder, 'Chart.yaml'),
    'apiVersion: v2\nname: agent-local\nversion: 0.9.0\nappVersion: 2.0.0\n',
  );
  writeFileSync(join(folder, 'values.yaml'), JSON.stringify(values));
  writeFileSync(
    join(folder, 'values.schema.json'),
    JSON.stringify({properties: {agent: {type: 'object'}}}),
  );
  const {stdout} = await run('schema', '--chart-source', '.');
  const {title, properties} = parse(stdout) as {title: string; properties: object};
  expect(title).toBe('Values of agent-local 0.9.0');
  expect(properties).toMatchObject({
    agent: {
      additionalProperties: false,
      properties: {greeting: {type: ['string'], default: 'hello'}},
    },
  });
  expect(Object.keys(properties)).toEqual(['agent']);
});
