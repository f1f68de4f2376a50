import {describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import Migrate from '../../src/commands/migrate.ts';
import {memoryFiles} from '../support/memory-files.ts';
import {runCommand} from '../support/run-command.ts';

async function migrate(text: string, ...argv: string[]) {
  const {stdout, stderr, exit} = await runCommand(Migrate, ['command.txt', ...argv], {
    files: memoryFiles({'command.txt': text}),
  });
  return {values: exit === 2 ? undefined : parse(stdout), stdout, stderr, exit};
}

describe('docker run', () => {
  const TEXT = [
    '$ docker run -it --rm --pull=always --name scalr-agent \\',
    '    -e SCALR_URL=https://acme.scalr.io \\',
    '    -e "SCALR_AGENT_TOKEN=abc def" --env=SCALR_AGENT_CONCURRENCY=3 \\',
    '    --network host --memory 4g -v /var/run/docker.sock:/var/run/docker.sock \\',
    "    -l 'team=platform' scalr/agent:latest run --network ignored",
  ].join('\n');

  test('becomes the settings of a chart', async () => {
    const {values, stderr, stdout} = await migrate(TEXT, '--to', 'agent-local@0.6.5');
    expect(values).toMatchObject({
      replicaCount: 3,
      agent: {url: 'https://acme.scalr.io'},
      image: {pullPolicy: 'Always'},
    });
    expect(stderr).toContain('Migrated from: docker run, 1 agent.');
    expect(stderr).toContain('SCALR_AGENT_TOKEN is not written');
    expect(stdout).not.toContain('abc');
  });

  test('names options that no setting expresses, and none of the command in the container', async () => {
    const {stderr} = await migrate(TEXT, '--to', 'agent-local@0.6.5');
    expect(stderr.match(/--network is not carried over/g)).toHaveLength(1);
    expect(stderr).not.toContain('--rm');
  });
});

describe('helm', () => {
  test.each([
    'helm upgrade --install scalr-agent scalr-agent/agent-k8s --version 0.6.4 --set',
    'helm install agent-local agent-k8s --repo https://scalr.github.io/agent-helm/ --version=0.6.4 -n agents --create-namespace --set',
    'helm upgrade scalr ./agent-k8s-0.6.4.tgz --wait --timeout 5m \\\n  --set',
  ])('reads the values of "%s"', async (start) => {
    const text = `${start} agent.url=https://acme.scalr.io,workerNodeSelector."example\\.com/pool"=runs --set-string 'agent.kubernetes_task_annotations.a=1'`;
    const {values, stderr} = await migrate(text, '--to', 'agent-job@0.6.5');
    expect(values).toMatchObject({
      agent: {url: 'https://acme.scalr.io'},
      task: {nodeSelector: {'example.com/pool': 'runs'}},
    });
    expect(JSON.stringify(values)).toContain('"a":"1"');
    expect(stderr).toContain('agent-k8s@0.6.4 to agent-job@0.6.5');
  });

  test('keeps a token out of the values', async () => {
    const text =
      'helm install a x/agent-local --version 0.6.4 --set agent.token=secret-text --set replicaCount=2';
    const {values, stdout, stderr} = await migrate(text, '--to', 'agent-local@0.6.5');
    expect(values).toEqual({
      replicaCount: 2,
      agent: {tokenExistingSecret: {name: 'scalr-agent-token'}},
    });
    expect(`${stdout}${stderr}`).not.toContain('secret-text');
    expect(stdout).toMatch(
      /^# Values of agent-local 0\.6\.5 .*\n# Migrated by scalr-agent from agent-local 0\.6\.4\./,
    );
  });

  test('requires the installed version, and says that files are not read', async () => {
    const text =
      'helm upgrade --install scalr-agent scalr-agent/agent-k8s -f base.yaml --set agent.url=https://acme.scalr.io';
    const missing = await migrate(text, '--to', 'agent-job@0.6.5');
    expect(missing.exit).toBe(2);
    expect(missing.stderr).toContain('--from agent-k8s@VERSION');
    const {stderr} = await migrate(text, '--from', 'agent-k8s@0.6.4', '--to', 'agent-job@0.6.5');
    expect(stderr).toContain('Migrate the files of --values separately.');
  });
});
