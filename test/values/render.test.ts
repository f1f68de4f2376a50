import {describe, expect, test} from 'vitest';
import {getAt} from '../../src/ground/tree.ts';
import {InvalidValue} from '../../src/settings/kinds/kind.ts';
import {parseAssignment} from '../../src/values/assignment.ts';
import {generate} from '../../src/values/generate.ts';
import {generateChecked} from '../../src/values/validate/validate.ts';
import {settingsFrom} from '../support/settings-from.ts';

const JOB = {chart: 'agent-job', version: '0.6.5'} as const;
const LOCAL = {chart: 'agent-local', version: '0.6.5'} as const;

test.each([
  ['agent.replicaCount', '2', ['agent', 'replicaCount'], 2],
  ['agent.image.tag', '1.10', ['agent', 'image', 'tag'], '1.10'],
  ['rbac.create', 'false', ['rbac', 'create'], false],
  [
    'global.podAnnotations.sidecar\\.istio\\.io/inject',
    'false',
    ['global', 'podAnnotations', 'sidecar.istio.io/inject'],
    'false',
  ],
  ['agent.nodeSelector.pool', '1', ['agent', 'nodeSelector', 'pool'], '1'],
  ['task.sidecars', '[{"name":"x"}]', ['task', 'sidecars'], [{name: 'x'}]],
  ['agent.affinity', '{"nodeAffinity":{}}', ['agent', 'affinity'], {nodeAffinity: {}}],
  [
    'task.podDisruptionBudget.maxUnavailable',
    'null',
    ['task', 'podDisruptionBudget', 'maxUnavailable'],
    null,
  ],
  [
    'persistence.cache',
    '{"emptyDir":{"sizeLimit":"2Gi"}}',
    ['persistence', 'cache'],
    {emptyDir: {sizeLimit: '2Gi'}},
  ],
])('writes %s=%s with the type of the agent-job schema', (text, value, path, tree) => {
  expect(parseAssignment(text, value, JOB)).toEqual({path, value: tree});
});

function refusal(
  text: string,
  value: string,
  target: typeof JOB | typeof LOCAL = JOB,
): InvalidValue {
  try {
    parseAssignment(text, value, target);
  } catch (error) {
    if (error instanceof InvalidValue) return error;
    throw error;
  }
  throw new Error(`${text}=${value} was accepted`);
}

test.each([
  ['a misspelled key', 'agent.replicaCout', '2', 'Did you mean agent.replicaCount?'],
  [
    'a documented key that was never released',
    'controller.resources.requests.cpu',
    '1',
    'Did you mean agent.resources.requests.cpu?',
  ],
  [
    'a documented key for the token',
    'agent.auth.token',
    'x',
    'Use --token-file or SCALR_AGENT_TOKEN',
  ],
  [
    'a key of an older version that has a flag',
    'restrictMetadataService',
    'true',
    'Use --metadata-service',
  ],
  [
    'a key in the wrong place',
    'nodeSelector.pool',
    'x',
    'List the keys: helm show values agent-job --repo https://scalr.github.io/agent-helm/ --version 0.6.5',
  ],
  [
    'a key of the prototype',
    'constructor',
    '1',
    'List the keys: helm show values agent-job --repo https://scalr.github.io/agent-helm/ --version 0.6.5',
  ],
  [
    'a key of the prototype below a map',
    'agent.toString',
    '1',
    'List the keys: helm show values agent-job --repo https://scalr.github.io/agent-helm/ --version 0.6.5',
  ],
  [
    'a text for a number',
    'agent.replicaCount',
    'two',
    'Set a value of the type that the key requires',
  ],
  [
    'a value that is not a number',
    'agent.replicaCount',
    '.nan',
    'Set a value of the type that the key requires',
  ],
  [
    'a text for a switch',
    'rbac.create',
    'no thanks',
    'Set a value of the type that the key requires',
  ],
  [
    'a wrong type inside a map',
    'agent.image',
    '{"tag":1.10}',
    'Set a value of the type that the key requires',
  ],
  [
    'a number among annotations',
    'global.podAnnotations',
    '{"a":1}',
    'Set a value of the type that the key requires',
  ],
  [
    'broken JSON',
    'task.sidecars',
    '[{',
    `Write lists and maps as JSON: --set 'task.sidecars=["a"]'`,
  ],
])('rejects %s with a next step', (_, text, value, suggestion) => {
  expect(refusal(text, value).suggestion?.text).toBe(suggestion);
});

test.each([
  [
    'a negative number',
    'agent.replicaCount=-1',
    'agent.replicaCount: Invalid value -1: must be greater than or equal to 0.',
  ],
  [
    'a size the templates cannot read',
    'agent.providerCache.sizeLimit=1.5Gi',
    'must match ^[0-9]+(Gi|Mi|G|M)$',
  ],
  [
    'an unknown key inside a map',
    'persistence.cache={"enable":true}',
    'persistence.cache.enable: agent-job 0.6.5 has no key',
  ],
])('the check of the generated file rejects %s', async (_, set, message) => {
  const settings = await settingsFrom({
    url: 'https://acme.scalr.io',
    chart: JOB.chart,
    'chart-version': JOB.version,
    set: [set],
  });
  expect(() => generateChecked(settings)).toThrow(message);
});

describe('a secret', () => {
  test.each([
    [JOB, 'agent.token', 'hunter2'],
    [JOB, 'agent', '{"token":"hunter2"}'],
    [JOB, 'global.tls.clientKey', '-----BEGIN'],
    [LOCAL, 'agent.tls.clientKey', '-----BEGIN'],
    [LOCAL, 'agent.providerNetworkMirrors', '[{"url":"https://m","token":"hunter2"}]'],
  ] as const)('is rejected: %o %s', (target, text, value) => {
    const {message} = refusal(text, value, target);
    expect(message).toContain('is a secret');
    expect(message).not.toContain('hunter2');
  });
});

test('names the first release that has the key', () => {
  expect(() =>
    parseAssignment('task.job.backoffLimit', '2', {chart: 'agent-job', version: '0.6.3'}),
  ).toThrow('agent-job 0.6.3 has no key task.job.backoffLimit (available: since 0.6.4)');
});

test('keeps a cache limit that equals the chart default when the user sets it', async () => {
  const flags = {
    url: 'https://acme.scalr.io',
    chart: JOB.chart,
    cache: 'pvc',
    'cache-size': '20Gi',
    'provider-cache-limit': '40Gi',
  };
  const {values} = generate(await settingsFrom({...flags, 'chart-version': JOB.version}));
  expect(getAt(values, ['agent', 'providerCache'])).toEqual({enabled: true});
});
