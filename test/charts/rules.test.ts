import {describe, expect, test} from 'vitest';
import {CHARTS} from '../../src/charts/charts.ts';
import type {KubernetesVersions} from '../../src/charts/releases/versions.ts';
import {sharedRules} from '../../src/charts/shared/setting-rules.ts';
import {ExpectedError} from '../../src/ground/errors.ts';
import type {SettingFinding} from '../../src/ground/finding.ts';
import {generate} from '../../src/values/generate.ts';
import {certificates} from '../support/certificates.ts';
import {type RawFlags, settingsFrom} from '../support/settings-from.ts';
import {J, K, L, RULES, SHARED} from './rule-settings.ts';

/** Codes of the warnings, or of the refusal. */
async function findings(flags: RawFlags): Promise<string[]> {
  try {
    return generate(
      await settingsFrom({url: 'https://acme.scalr.io', ...flags}, certificates),
    ).warnings.map(({code}) => code);
  } catch (error) {
    if (error instanceof ExpectedError)
      return [
        error.code,
        ...(error.cause instanceof Error ? error.cause.message.split(', ') : [error.message]),
      ];
    throw error;
  }
}

test.each(RULES)('reports %s for %j, but not for similar settings', async (code, breaks, holds) => {
  expect(await findings(breaks)).toContain(code);
  const nearby = await findings(holds);
  expect(nearby).not.toContain(code);
  expect(nearby.filter((each) => /^(UNSUPPORTED|INVALID)/.test(each))).toEqual([]);
});

test('has a pair of cases for every rule', () => {
  const tested = new Set(RULES.map(([code, {chart}]) => `${chart} ${code}`));
  const own = Object.values(CHARTS).flatMap(({name, rules}) =>
    rules.filter((rule) => !sharedRules.includes(rule)).map(({code}) => `${name} ${code}`),
  );
  expect(own.filter((each) => !tested.has(each))).toEqual([]);
  const anywhere = new Set(RULES.map(([code]) => code));
  expect(sharedRules.filter(({code}) => !anywhere.has(code))).toEqual([]);
});

describe('--set', () => {
  test.each<RawFlags>([
    {...J, 'cache-size': '3Gi', set: ['persistence.cache.enabled=true']},
    {...J, ...SHARED, set: ['persistence.cache.hostPath.path=/var/x']},
  ])('refuses %j, which overrides a setting', async (flags) => {
    expect(await findings(flags)).toContain('CONFLICTING_SETTINGS');
  });

  test.each<RawFlags>([
    {...J, set: ['persistence.data.persistentVolumeClaim.subPath=x']},
    {...J, set: ['global.proxy.httpsProxy=http://p:1']},
    {...L, 'chart-version': '0.5.66', set: ['allowMetadataService=false']},
  ])('reports ignored keys in %j', async (flags) => {
    expect(await findings(flags)).toContain('IGNORED_KEY');
  });

  test('removes a limit of the chart when --set gives null', async () => {
    const {values} = generate(
      await settingsFrom({
        url: 'https://acme.scalr.io',
        ...L,
        set: ['resources.limits.cpu=null', 'securityContext.runAsUser=null'],
      }),
    );
    expect(values).toMatchObject({
      resources: {limits: {cpu: null}},
      securityContext: {runAsUser: null},
    });
  });
});

describe('agent-job on the Kubernetes versions of the cluster', () => {
  const warning = async (kubernetes?: KubernetesVersions): Promise<SettingFinding | undefined> => {
    const settings = await settingsFrom({url: 'https://acme.scalr.io', ...J});
    return generate(settings, kubernetes === undefined ? {} : {kubernetes}).warnings.find(
      ({code}) => code === 'NEEDS_KUBERNETES_1_35',
    );
  };
  const cluster = (server: string, node: string): KubernetesVersions => ({
    found: [
      {machines: 'control plane', version: server},
      {machines: '2 nodes', version: node},
    ],
    isComplete: true,
  });

  test('is not mentioned when all machines are new enough', async () => {
    expect(await warning(cluster('v1.35.4', 'v1.35.1-gke.100'))).toBeUndefined();
  });

  test.each([
    [
      cluster('v1.36.0', 'v1.34.9'),
      'Older: 2 nodes (v1.34.9). Upgrade them, or use --chart agent-local.',
    ],
    [
      cluster('v1.34.3-eks-abc', 'v1.33.1'),
      'Older: control plane (v1.34.3-eks-abc), 2 nodes (v1.33.1).',
    ],
    [{...cluster('v1.35.4', 'v1.34.9'), isComplete: false}, 'Older: 2 nodes (v1.34.9).'],
  ])('names the older machines, and suggests another chart: %j', async (versions, text) => {
    expect((await warning(versions))?.message).toContain(text);
  });

  test.each([
    undefined,
    {...cluster('v1.35.4', 'v1.35.4'), isComplete: false},
  ])('is not verified when a version is unknown: %j', async (versions) => {
    expect(await warning(versions)).toMatchObject({
      subject: {setting: 'chart'},
      message: expect.stringMatching(/^Not verified: this version requires/),
    });
  });
});

describe('a duplicate variable of a container', () => {
  test.each<RawFlags>([
    {...L, 'extra-env': ['SCALR_AGENT_NAME=x']},
    {...K, set: ['extraEnv.SCALR_AGENT_KUBERNETES_MODE=x']},
    {...J, set: ['task.worker.extraEnv.SCALR_AGENT_SENTRY_DSN=x']},
    {...J, 'extra-env': ['FOO=1'], set: ['task.worker.extraEnv.FOO=2']},
    {...J, set: ['agent.controller.extraEnv=[{"name":"SCALR_URL","value":"x"}]']},
    {...L, set: ['extraEnv.HTTPS_PROXY=http://p:1']},
    {...L, set: ['extraEnv={"HTTPS_PROXY":"http://p:1"}']},
  ])('is refused in %j', async (flags) => {
    expect((await findings(flags))[0]).toBe('RESERVED_VARIABLE');
  });

  test('is accepted when the containers differ', async () => {
    expect((await findings({...J, 'extra-env': ['FOO=1'], set: ['task.sidecars=[]']}))[0]).toBe(
      'NEEDS_KUBERNETES_1_35',
    );
  });
});

describe('a version without a chart', () => {
  test.each([
    ['0.5.60', 'agent-job'],
    ['0.5.79', 'agent-job'],
    ['0.5.64', 'agent-local'],
  ])('%s selects a chart that has this version', async (version, chart) => {
    const {target} = generate(
      await settingsFrom({url: 'https://acme.scalr.io', 'chart-version': version}),
    );
    expect(target).toEqual({chart, version});
  });
});
