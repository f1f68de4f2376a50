import {describe, expect, test} from 'vitest';
import {
  advise,
  kubernetesAdvice,
  newSettingsOf,
  type UpgradeFacts,
} from '../../src/charts/advise.ts';
import {KNOWN_PROBLEMS} from '../../src/charts/known-problems.ts';
import type {ChartName} from '../../src/charts/releases/chart-name.ts';
import {releasesOf} from '../../src/charts/releases/target.ts';
import {within} from '../../src/charts/releases/versions.ts';
import type {Tree} from '../../src/ground/tree.ts';
import {effectiveValues} from '../../src/values/reading/read-values.ts';
import {CHART_NAMES} from '../support/versions.ts';
import {CASES, CLAIM, valuesOf} from './advise-cases.ts';

const codes = (
  chart: ChartName,
  from: string,
  to: string,
  entries: Readonly<Record<string, Tree>> = {},
  more: Partial<UpgradeFacts> = {},
) => {
  const installed = {chart, version: from};
  const values = effectiveValues(valuesOf(entries), installed);
  return advise(
    installed,
    {chart, version: to},
    {release: 'agent', values, server: 'v1.35.1', nodes: [], ...more},
  ).map(({code}) => code);
};

test.each(CASES)('advises $code of $chart on its side of the boundary only: $hit', ({
  code,
  chart,
  hit,
  miss,
  values,
  without,
  facts,
  withoutFacts,
}) => {
  for (const [from, to] of hit) expect(codes(chart, from, to, values, facts)).toContain(code);
  for (const [from, to] of miss) expect(codes(chart, from, to, values, facts)).not.toContain(code);
  for (const [from, to] of hit) {
    if (without) expect(codes(chart, from, to, without, facts)).not.toContain(code);
    if (withoutFacts) expect(codes(chart, from, to, values, withoutFacts)).not.toContain(code);
  }
});

test.each(CHART_NAMES)('every known problem of %s has a test for each of its ranges', (chart) => {
  const cases = CASES.filter((each) => each.chart === chart);
  const untested = KNOWN_PROBLEMS[chart].filter(
    (row) =>
      !cases.some(
        ({code, hit}) =>
          code === row.code &&
          hit.some(([from, to]) => within(from, row.from) && within(to, row.to)),
      ),
  );
  expect(untested).toEqual([]);
});

test.each(CHART_NAMES)('no known problem of %s applies if the version stays the same', (chart) => {
  for (const version of releasesOf(chart))
    expect(
      codes(chart, version, version, {'persistence.enabled': true}, {release: 'scalr-agent'}),
    ).toEqual([]);
});

test('a walk over several boundaries lists all of them, the worst first', () => {
  const found = codes('agent-job', '0.5.67', '0.6.5', CLAIM, {
    release: 'scalr-agent',
    server: 'v1.34.3-eks-abc',
  });
  expect(found.slice(0, 4)).toEqual([
    'KUBERNETES_TOO_OLD',
    'CRD_RENAMED',
    'PVC_RENAMED',
    'SELECTOR_CHANGED',
  ]);
  expect(found).toEqual(
    expect.arrayContaining(['RUNS_BLOCK_DRAINS', 'RUNS_RETRIED', 'REUSE_VALUES']),
  );
});

describe('Kubernetes floor', () => {
  const nodes = [
    {name: 'new', version: 'v1.35.1-gke.100'},
    {name: 'old', version: 'v1.34.9'},
  ];

  test('blocks when only a node is too old, and names the last version that runs there', () => {
    expect(
      kubernetesAdvice({chart: 'agent-job', version: '0.6.5'}, {server: 'v1.35.1', nodes}),
    ).toMatchObject([
      {
        verdict: 'error',
        message: expect.stringContaining('node old (v1.34.9)'),
        remedies: [{text: expect.stringContaining('--chart-version 0.5.68')}],
      },
    ]);
  });

  test('only advises when the README requires a version that nothing enforces', () => {
    expect(
      kubernetesAdvice({chart: 'agent-local', version: '0.6.5'}, {server: 'v1.30.0', nodes: []}),
    ).toMatchObject([{verdict: 'warning'}]);
  });

  test('says nothing when control plane and nodes are new enough or unknown', () => {
    expect(
      kubernetesAdvice(
        {chart: 'agent-job', version: '0.6.5'},
        {server: 'v1.35.0', nodes: [{name: 'a', version: ''}]},
      ),
    ).toEqual([]);
  });
});

test('derives gained settings from the rows', () => {
  const gained = (chart: ChartName, from: string, to: string) =>
    newSettingsOf({chart, version: from}, {chart, version: to}).map(({setting}) => setting);
  expect(gained('agent-job', '0.5.75', '0.6.5')).toContain('client-cert-secret');
  expect(gained('agent-job', '0.6.1', '0.6.5')).not.toContain('client-cert-secret');
  expect(gained('agent-local', '0.5.64', '0.6.5')).toEqual(
    expect.arrayContaining(['client-cert-secret', 'ca-secret']),
  );
  expect(gained('agent-k8s', '0.6.5', '0.6.5')).toEqual([]);
});
