import {describe, expect, test} from 'vitest';
import {InvalidValue} from '../../src/settings/define.ts';
import {parseAssignment} from '../../src/values/render.ts';

const JOB = {chart: 'agent-job', version: '0.6.5'} as const;
const LOCAL = {chart: 'agent-local', version: '0.6.5'} as const;

test.each([
  ['agent.replicaCount', '2', ['agent', 'replicaCount'], 2],
  ['agent.image.tag', '1.10', ['agent', 'image', 'tag'], '1.10'],
  ['rbac.create', 'false', ['rbac', 'create'], false],
  ['global.podAnnotations.sidecar\\.istio\\.io/inject', 'false', ['global', 'podAnnotations', 'sidecar.istio.io/inject'], 'false'],
  ['agent.nodeSelector.pool', '1', ['agent', 'nodeSelector', 'pool'], '1'],
  ['task.sidecars', '[{"name":"x"}]', ['task', 'sidecars'], [{name: 'x'}]],
  ['agent.affinity', '{"nodeAffinity":{}}', ['agent', 'affinity'], {nodeAffinity: {}}],
  ['task.podDisruptionBudget.maxUnavailable', 'null', ['task', 'podDisruptionBudget', 'maxUnavailable'], null],
  ['persistence.cache', '{"emptyDir":{"sizeLimit":"2Gi"}}', ['persistence', 'cache'], {emptyDir: {sizeLimit: '2Gi'}}],
])('%s=%s is written as the type that agent-job wants', (text, value, path, tree) => {
  expect(parseAssignment(text, value, JOB)).toEqual({path, value: tree});
});

function refusal(text: string, value: string, target: typeof JOB | typeof LOCAL = JOB): InvalidValue {
  try {
    parseAssignment(text, value, target);
  } catch (error) {
    if (error instanceof InvalidValue) return error;
    throw error;
  }
  throw new Error(`${text}=${value} was accepted`);
}

test.each([
  ['a misspelt key', 'agent.replicaCout', '2', 'Did you mean agent.replicaCount?'],
  ['a key in the wrong place', 'nodeSelector.pool', 'x', 'See the values.yaml of agent-job 0.6.5'],
  ['a key of the prototype', 'constructor', '1', 'See the values.yaml of agent-job 0.6.5'],
  ['a key of the prototype below a map', 'agent.toString', '1', 'See the values.yaml of agent-job 0.6.5'],
  ['a text for a number', 'agent.replicaCount', 'two', 'Give it as integer'],
  ['a number that is none', 'agent.replicaCount', '.nan', 'Give it as integer'],
  ['a negative number', 'agent.replicaCount', '-1', 'Give a number from 0 on'],
  ['a text for a switch', 'rbac.create', 'no thanks', 'Give it as boolean'],
  ['a size the templates cannot read', 'agent.providerCache.sizeLimit', '1.5Gi', 'It has to match ^[0-9]+(Gi|Mi|G|M)$'],
  ['an unknown key inside a map', 'persistence.cache', '{"enable":true}', 'Keys there: enabled, hostPath, emptyDir, persistentVolumeClaim'],
  ['a wrong type inside a map', 'agent.image', '{"tag":1.10}', 'Give it as string'],
  ['a number among annotations', 'global.podAnnotations', '{"a":1}', 'Give it as string'],
  ['broken JSON', 'task.sidecars', '[{', `Write lists and maps as JSON: --set 'task.sidecars=["a"]'`],
])('%s is refused with a next step', (_, text, value, suggestion) => {
  expect(refusal(text, value).suggestion).toBe(suggestion);
});

describe('what is secret', () => {
  test.each([
    [JOB, 'agent.token', 'hunter2'],
    [JOB, 'agent', '{"token":"hunter2"}'],
    [JOB, 'global.tls.clientKey', '-----BEGIN'],
    [LOCAL, 'agent.tls.clientKey', '-----BEGIN'],
    [LOCAL, 'agent.providerNetworkMirrors', '[{"url":"https://m","token":"hunter2"}]'],
  ] as const)('%o %s is kept out of the file', (target, text, value) => {
    const {message} = refusal(text, value, target);
    expect(message).toContain('is secret');
    expect(message).not.toContain('hunter2');
  });
});

test('a key of a later release is named with the release that brings it', () => {
  expect(() => parseAssignment('task.job.backoffLimit', '2', {chart: 'agent-job', version: '0.6.3'})).toThrow(
    expect.objectContaining({suggestion: 'It exists since 0.6.4'}),
  );
});
