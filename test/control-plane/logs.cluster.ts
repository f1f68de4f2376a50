import {execa} from 'execa';
import {describe, expect, onTestFinished, test} from 'vitest';
import {findKubectl} from './kubectl.ts';
import {appendLog, setLogs} from './logs.ts';
import {pod} from './objects.ts';
import {workplace} from './workplace.ts';

describe('kubectl logs', () => {
  test('says what the test wants, by container', async () => {
    const {kubectl, kubeconfig, namespace} = await workplace();
    const containers = ['agent', 'sidecar', 'other'].map((name) => ({
      name,
      image: 'scalr/agent:1',
    }));
    await kubectl.apply(pod('agent', {spec: {containers}}));
    await kubectl('wait', 'pod/agent', '--for=condition=Ready', '--timeout=10s');
    await setLogs(
      kubeconfig,
      {namespace},
      {agent: {current: ['connected', 'polling']}, '*': {current: ['hello']}},
    );
    await expect
      .poll(() => kubectl('logs', 'agent', '-c', 'agent').catch(String))
      .toBe('connected\npolling');
    expect(await kubectl('logs', 'agent', '-c', 'agent', '--tail=1')).toBe('polling');
    expect(await kubectl('logs', 'agent', '-c', 'sidecar')).toBe('hello');
  });

  test('has the last words of a crashed program', async () => {
    const {kubectl, kubeconfig, namespace} = await workplace();
    await kubectl.apply(pod('agent', {outcome: 'crash-loop'}));
    await kubectl('wait', 'pod/agent', '--for=condition=Ready=false', '--timeout=10s');
    const texts = {current: ['starting'], previous: ['starting', 'the token was refused']};
    await setLogs(kubeconfig, {namespace, pod: 'agent'}, {'*': texts});
    await expect
      .poll(() => kubectl('logs', 'agent', '--previous').catch(String))
      .toBe('starting\nthe token was refused');
    expect(await kubectl('logs', 'agent')).toBe('starting');
  });

  test('follows', async () => {
    const {kubectl, kubeconfig, namespace} = await workplace();
    await kubectl.apply(pod('agent'));
    await kubectl('wait', 'pod/agent', '--for=condition=Ready', '--timeout=10s');
    await setLogs(kubeconfig, {namespace}, {'*': {current: ['one']}});
    await expect.poll(() => kubectl('logs', 'agent').catch(String)).toBe('one');
    const args = [
      '--kubeconfig',
      kubeconfig,
      '--namespace',
      namespace,
      'logs',
      '--follow',
      'agent',
    ];
    const following = execa(await findKubectl(), args, {reject: false});
    onTestFinished(() => void following.kill());
    let said = '';
    following.stdout.on('data', (chunk) => {
      said += chunk;
    });
    await expect.poll(() => said).toBe('one\n');
    // A line written while the follower starts is delivered with the next line.
    await expect
      .poll(
        async () => {
          await appendLog(kubeconfig, {namespace}, '*', 'two');
          return said;
        },
        {interval: 200, timeout: 10_000},
      )
      .toMatch(/^one\ntwo\n/);
  });
});
