import {execa} from 'execa';
import {expect, test} from 'vitest';
import Validate from '../../../src/commands/validate.ts';
import type {FindingDocument} from '../../../src/ui/findings.ts';
import {findHelm} from '../../cluster/helm/find-helm.ts';
import {workplace} from '../../control-plane/workplace.ts';
import {chartFlags} from '../../support/install-place.ts';
import {memoryFiles} from '../../support/memory-files.ts';
import {runCommand} from '../../support/run-command.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();

test('helm get values prints what validate reads', async () => {
  const {namespace, kubeconfig} = await workplace();
  const flags = await chartFlags('agent-local');
  const directory = flags.at(-1) as string;
  const target = ['--namespace', namespace, '--kubeconfig', kubeconfig];
  const values = [
    'agent.url=https://acme.scalr.io',
    'agent.tokenExistingSecret.name=t',
    'replicas=2',
  ];
  const sets = values.flatMap((each) => ['--set', each]);
  await execa(helm, ['install', 'scalr-agent', directory, ...target, ...sets]);
  const found = async (...output: string[]): Promise<string[]> => {
    const {stdout} = await execa(helm, ['get', 'values', 'scalr-agent', ...target, ...output]);
    const argv = ['-', '--chart', 'agent-local', '--chart-version', '0.6.5', '--json'];
    const run = await runCommand(Validate, argv, {files: memoryFiles({}, stdout)});
    const {findings} = JSON.parse(run.stdout) as {findings: FindingDocument[]};
    return findings.map(({code, path}) => `${code} ${path}`);
  };
  const unknown = 'UNKNOWN_KEY replicas';
  expect(await found('--output', 'yaml')).toEqual([unknown]);
  expect(await found('--output', 'json')).toEqual([unknown]);
  expect(await found()).toEqual(['UNKNOWN_KEY USER-SUPPLIED VALUES', unknown]);
});
