import {describe, expect, test} from 'vitest';
import type {KubernetesObject, Pod} from '../../src/cluster/objects.ts';
import {findingsIn} from '../../src/support-bundle/findings.ts';
import {summaryText} from '../../src/support-bundle/summary.ts';
import {TODAY} from '../support/settings-from.ts';

const pod = (status: Pod['status'], name = 'agent-1'): Pod => ({
  kind: 'Pod',
  metadata: {name, uid: name},
  status: {phase: 'Running', ...status},
});
const find = (objects: readonly KubernetesObject[], more: Partial<Parameters<typeof findingsIn>[0]> = {}) =>
  findingsIn({objects, logs: [], releases: [], now: TODAY, ...more});

describe('what stands out', () => {
  test('is why a pod is not well, with the log to read', () => {
    const crash = pod({
      containerStatuses: [
        {
          name: 'agent',
          ready: false,
          restartCount: 9,
          state: {waiting: {reason: 'CrashLoopBackOff'}},
          lastState: {terminated: {exitCode: 1}},
        },
      ],
    });
    const [finding] = find([crash], {logs: [{file: 'logs/agent-1/agent.previous.log', bytes: 4, tail: 'no\n'}]});
    expect(finding).toMatchObject({object: 'pod/agent-1', code: 'CRASH_LOOP', evidence: 'logs/agent-1/agent.previous.log'});
  });

  test('is what the agent says itself, behind the times that the node puts before its lines', () => {
    const status = {name: 'agent', ready: false, restartCount: 1, state: {running: {}}, lastState: {terminated: {exitCode: 1}}};
    const said = `${TODAY.toISOString()} {"level":"error","event":"Invalid agent token","timestamp":"${TODAY.toISOString()}"}\n`;
    const logs = [
      {file: 'logs/agent-1/agent.log', bytes: said.length, tail: said},
      {file: 'logs/agent-1/agent.previous.log', bytes: 0, tail: 'something older\n'},
    ];
    expect(find([pod({containerStatuses: [status]})], {logs})).toContainEqual(expect.objectContaining({code: 'TOKEN_REJECTED'}));
  });

  test('is memory that ran out, although the pod is well again', () => {
    const status = {
      name: 'agent',
      ready: true,
      restartCount: 2,
      state: {running: {}},
      lastState: {terminated: {reason: 'OOMKilled', exitCode: 137}},
    };
    const [finding] = find([pod({containerStatuses: [status], conditions: [{type: 'Ready', status: 'True'}]})]);
    expect(finding).toMatchObject({severity: 'warning', code: 'OOM_KILLED', evidence: 'logs/agent-1/agent.previous.log'});
    expect(finding?.message).toBe('container agent restarted 2 times: OOMKilled (exit code 137)');
  });

  test('is what the values of a release do wrong in its very version', () => {
    const values = {agent: {url: 'https://acme.scalr.io', tokn: 'x', tokenExistingSecret: {name: 'mine'}}};
    const found = find([], {releases: [{name: 'mine', target: {chart: 'agent-local', version: '0.6.5'}, values}]});
    expect(found).toContainEqual(
      expect.objectContaining({code: 'UNKNOWN_KEY', object: 'release/mine', evidence: 'releases/mine/values.json'}),
    );
  });

  test('is nothing where all is well', () => {
    const status = {name: 'agent', ready: true, restartCount: 0, state: {running: {}}};
    expect(find([pod({containerStatuses: [status], conditions: [{type: 'Ready', status: 'True'}]})])).toEqual([]);
  });
});

test('the summary says what was found, what is missing and what was hidden', () => {
  const text = summaryText({
    at: TODAY,
    about: 'namespace scalr-agent',
    releases: [{name: 'mine', chart: 'agent-local', version: '0.6.5', status: 'deployed'}],
    findings: [
      {severity: 'error', code: 'CRASH_LOOP', object: 'pod/a', message: 'it crashes', evidence: 'logs/a/b.log', remedy: 'Read it'},
    ],
    gaps: [{what: 'Secrets', trouble: {kind: 'forbidden', message: 'you may not'}}],
    redactions: {total: 3, rules: {token: 3}},
    logs: [{file: 'logs/a/b.log', cut: 17}],
    containers: 2,
  });
  expect(text).toContain('- mine: agent-local 0.6.5, deployed');
  expect(text).toContain('- **error** pod/a (CRASH_LOOP): it crashes\n  - do: Read it\n  - see: logs/a/b.log');
  expect(text).toContain('- Secrets: you may not\n- logs/a/b.log: 17 bytes of its middle');
  expect(text).toContain('## Redaction: 3 places\n\n- token: 3');
});
