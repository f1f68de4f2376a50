import {describe, expect, test} from 'vitest';
import {releasesOf} from '../../src/charts/releases/target.ts';
import {withDebug} from '../../src/values/debug.ts';
import {CHART_NAMES} from '../support/versions.ts';

const ALL = CHART_NAMES.flatMap((chart) => releasesOf(chart).map((version) => ({chart, version})));
const GIVEN = {
  agent: {url: 'https://acme.scalr.io'},
  extraEnv: {TEAM: 'a'},
  nodeSelector: {'kubernetes.io/os': 'linux'},
};

test.each(
  ALL,
)('switches debug on once, and restores the values when switched off: $chart $version', (target) => {
  const on = withDebug(GIVEN, target, true);
  expect(on).toMatchObject({
    isChanged: true,
    keys: [expect.stringMatching(/^(agent\.debug|extraEnv\.SCALR_AGENT_DEBUG)$/)],
  });
  expect(on.values).toMatchObject(GIVEN);
  expect(withDebug(on.values, target, true)).toMatchObject({isChanged: false, values: on.values});
  expect(withDebug(on.values, target, false)).toMatchObject({isChanged: true, values: GIVEN});
  expect(withDebug(GIVEN, target, false)).toMatchObject({isChanged: false, values: GIVEN});
});

describe('withDebug', () => {
  const local = {chart: 'agent-local', version: '0.6.5'} as const;
  const job = {chart: 'agent-job', version: '0.6.5'} as const;

  test('reads numbers and words that helm --set wrote', () => {
    expect(withDebug({agent: {debug: 1}}, job, true).isChanged).toBe(false);
    expect(withDebug({extraEnv: {SCALR_AGENT_DEBUG: true}}, local, false)).toMatchObject({
      isChanged: true,
      values: {},
    });
    expect(withDebug({extraEnv: null}, local, true).values).toEqual({
      extraEnv: {SCALR_AGENT_DEBUG: '1'},
    });
  });

  test('reports that agent-job up to 0.5.63 switches the controller only', () => {
    expect(withDebug({}, {chart: 'agent-job', version: '0.5.63'}, true).limits.join()).toContain(
      'controller only',
    );
  });

  test.each([
    [
      {chart: 'agent-k8s', version: '0.6.5'},
      {extraEnv: {SCALR_AGENT_DEBUG: '1'}},
      'extraEnv.SCALR_AGENT_DEBUG',
    ],
    [
      job,
      {task: {worker: {extraEnv: {SCALR_AGENT_DEBUG: '1'}}}},
      'task.worker.extraEnv.SCALR_AGENT_DEBUG',
    ],
    [
      job,
      {agent: {controller: {extraEnv: [{name: 'SCALR_AGENT_DEBUG', value: '1'}]}}},
      'agent.controller.extraEnv',
    ],
  ] as const)('refuses a second switch in the values: %o', (target, values, key) => {
    const given = structuredClone(values) as unknown as Parameters<typeof withDebug>[0];
    for (const isOn of [true, false])
      expect(() => withDebug(given, target, isOn)).toThrow(
        expect.objectContaining({
          code: 'CONFLICTING_SETTINGS',
          message: expect.stringContaining(`in ${key},`),
        }),
      );
  });
});
