import {describe, expect, test} from 'vitest';
import Validate from '../../../src/commands/validate.ts';
import {memoryFiles} from '../../support/memory-files.ts';
import {violations} from '../../support/output-schema.ts';
import {runCommand} from '../../support/run-command.ts';

const VALUES = 'agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}';
const flux = (version: string, more = ''): string =>
  `kind: HelmRelease\nmetadata: {name: a, namespace: agents}\nspec:\n  chart: {spec: {chart: agent-local, version: "${version}"}}\n  values:\n    ${VALUES}\n${more}`;

const FILES = {
  'range.yaml': flux('>=0.7.0'),
  'templated.yaml': flux('0.6.5', '    replicaCount: ${REPLICAS}\n'),
  'rendered.yaml': flux('0.6.5', '    replicaCount: {{ .Values.replicas }}\n'),
  'exact.yaml': flux('0.6.5'),
};

async function check(...argv: string[]) {
  const {exit, stdout} = await runCommand(Validate, argv, {files: memoryFiles(FILES)});
  return {exit, stdout};
}

describe('what was not checked is never valid', () => {
  test.each([
    ['range.yaml', 'a version range that no known version is in', 'UNCHECKED_FILE', '>=0.7.0'],
    ['templated.yaml', 'a value that Flux replaces', 'UNCHECKED_VALUE', 'replicaCount'],
    ['rendered.yaml', 'a file that only Helm renders', 'UNCHECKED_FILE', 'rendered only by Helm'],
  ])('%s: %s', async (file, _, code, says) => {
    const {stdout} = await check(file);
    expect(stdout).toMatch(new RegExp(`^${file}[\\d:]* not checked: .* ${code}$`, 'm'));
    expect(stdout).toContain(says);
    const json = (await check(file, '--json')).stdout;
    expect(violations('validate', json)).toEqual([]);
    expect(JSON.parse(json)).toMatchObject({valid: false, findings: [{code, severity: 'unknown'}]});
  });

  test.each([
    [['exact.yaml'], 0, 0],
    [['range.yaml'], 2, 2],
    [['range.yaml', 'exact.yaml'], 0, 4],
    [['templated.yaml'], 0, 4],
    [['templated.yaml', 'exact.yaml'], 0, 4],
  ])('%j: exit %i, and %i with --strict', async (files, exit, strict) => {
    expect((await check(...files)).exit).toBe(exit);
    expect((await check(...files, '--strict')).exit).toBe(strict);
  });
});
