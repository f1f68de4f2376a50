import {describe, expect, test} from 'vitest';
import Migrate from '../../src/commands/migrate.ts';
import Schema from '../../src/commands/schema.ts';
import Values from '../../src/commands/values.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {violations} from '../support/output-schema.ts';
import {runCommand} from '../support/run-command.ts';

const URL = ['--url', 'https://acme.scalr.io', '--chart', 'agent-local'];
const FIRST = '# yaml-language-server: $schema=';

describe('schema', () => {
  test('prints the schema of one version as JSON, in a document with --json', async () => {
    const argv = ['--chart', 'agent-k8s', '--chart-version', '0.5.66'];
    const {stdout, exit} = await runCommand(Schema, argv);
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      title: 'Values of agent-k8s 0.5.66',
      additionalProperties: false,
    });
    const {stdout: document} = await runCommand(Schema, [...argv, '--json']);
    expect(violations('schema', document)).toEqual([]);
    expect(JSON.parse(document)).toMatchObject({
      chart: 'agent-k8s',
      chartVersion: '0.5.66',
      schema: JSON.parse(stdout),
    });
  });

  test('requires the chart', async () => {
    const {stderr, exit} = await runCommand(Schema, []);
    expect(exit).toBe(2);
    expect(stderr).toContain('For agent-local: scalr-agent schema --chart agent-local\n');
  });

  test('never replaces a file without confirmation', async () => {
    const files = memoryFiles({'s.json': 'mine'});
    const {stderr, exit} = await runCommand(Schema, ['--chart', 'agent-job', '--out', 's.json'], {
      files,
    });
    expect(exit).toBe(2);
    expect(stderr).toContain('s.json already exists.');
    expect(String(await files.read('s.json'))).toBe('mine');
  });
});

describe('values --schema', () => {
  test('refers to the schema from the directory of the values', async () => {
    const files = memoryFiles({'prod/.keep': '', 'schemas/.keep': ''});
    const argv = [
      ...URL,
      '--schema',
      'schemas/values.schema.json',
      '--out',
      'prod/values.yaml',
      '--json',
    ];
    const {stdout} = await runCommand(Values, argv, {files});
    expect(violations('values', stdout)).toEqual([]);
    expect(JSON.parse(stdout)).toMatchObject({
      file: 'prod/values.yaml',
      schemaFile: 'schemas/values.schema.json',
    });
    const text = String(await files.read('prod/values.yaml'));
    expect(text.split('\n')[0]).toBe(`${FIRST}../schemas/values.schema.json`);
    expect(text).toContain('--schema ../schemas/values.schema.json');
    expect(JSON.parse(String(await files.read('schemas/values.schema.json')))).toMatchObject({
      title: 'Values of agent-local 0.6.5',
    });
  });

  test('writes the schema and prints the values without --out', async () => {
    const files = memoryFiles();
    const {stdout, stderr} = await runCommand(Values, [...URL, '--schema', 's.json'], {files});
    expect(stdout).toMatch(
      /^# yaml-language-server: \$schema=s\.json\n# Values of agent-local 0\.6\.5/,
    );
    expect(stderr).toContain('Wrote s.json.');
    expect(stderr).not.toContain('Next step');
  });

  test('writes neither file if one of them exists, and names the flag of that file', async () => {
    const files = memoryFiles({'s.json': 'mine'});
    const {stderr, exit} = await runCommand(
      Values,
      [...URL, '--schema', 's.json', '--out', 'values.yaml'],
      {files},
    );
    expect(exit).toBe(2);
    expect(stderr).toContain('another name with --schema');
    expect(await files.kindOf('values.yaml')).toBe('nothing');
  });

  test.each(['-', '', 'values.yaml'])('refuses the file "%s"', async (path) => {
    const {stderr, exit} = await runCommand(Values, [
      ...URL,
      '--schema',
      path,
      '--out',
      'values.yaml',
    ]);
    expect(exit).toBe(2);
    expect(stderr).toContain('--schema requires a separate file.');
  });
});

test('migrate keeps the reference to the schema above the new header', async () => {
  const files = memoryFiles();
  await runCommand(Values, [...URL, '--schema', 's.json', '--out', 'values.yaml'], {files});
  const {stdout} = await runCommand(Migrate, ['values.yaml', '--to', 'agent-local@0.6.4'], {files});
  expect(stdout).toMatch(
    /^# yaml-language-server: \$schema=s\.json\n# Values of agent-local 0\.6\.4 .*\n# Migrated by scalr-agent from agent-local 0\.6\.5\.\n/,
  );
  expect(stdout.match(/# Values of/g)).toHaveLength(1);
});
