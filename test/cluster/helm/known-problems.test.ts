import {execa} from 'execa';
import {expect, test} from 'vitest';
import {advise} from '../../../src/charts/advise.ts';
import type {ChartName} from '../../../src/charts/releases/chart-name.ts';
import {compare, within} from '../../../src/charts/releases/versions.ts';
import {objectsIn} from '../../../src/cluster/helm/release-record.ts';
import type {KubernetesObject} from '../../../src/cluster/kubernetes/objects.ts';
import type {Values} from '../../../src/ground/tree.ts';
import {effectiveValues} from '../../../src/values/reading/read-values.ts';
import {directoryOf, REAL, targets} from './charts-under-test.ts';
import {findHelm} from './find-helm.ts';

const [{path: helm} = {path: 'helm'}] = await findHelm();

/** Values with a PVC of the chart; `isSplit` writes the keys of agent-local since 0.6.1. */
function valuesOf(chart: ChartName, version: string, isSplit: boolean): Values {
  const isFlat = chart === 'agent-job' && within(version, '<=0.5.63');
  const cache = {enabled: true};
  const isOld = isFlat || (chart === 'agent-local' && !isSplit);
  return {
    agent: {url: 'https://acme.scalr.io', tokenExistingSecret: isFlat ? 'pool' : {name: 'pool'}},
    persistence: isOld ? cache : {cache},
    // Up to 0.5.63 a template reads this key, which the values of the chart lack.
    ...(isFlat ? {secret: {annotations: {}}} : {}),
  };
}

async function objectsOf(
  chart: ChartName,
  version: string,
  release: string,
  isSplit: boolean,
): Promise<readonly KubernetesObject[]> {
  const args = [
    'template',
    release,
    await directoryOf({chart, version}, ''),
    '--include-crds',
    '--kube-version',
    '1.35.4',
    '--values',
    '-',
  ];
  const {stdout} = await execa(helm, args, {
    input: JSON.stringify(valuesOf(chart, version, isSplit)),
  });
  return objectsIn(stdout);
}

const named = (objects: readonly KubernetesObject[], kind: string): string[] =>
  objects.filter((each) => each.kind === kind).map(({metadata}) => metadata.name);

const selectors = (objects: readonly KubernetesObject[]): Map<string, string> =>
  new Map(
    objects
      .filter(({kind}) => kind === 'Deployment')
      .map((each) => [
        each.metadata.name,
        JSON.stringify((each as {spec?: {selector?: object}}).spec?.selector),
      ]),
  );

const SPLIT = '0.5.74 || >=0.6.1';

/** The rows are claims about released charts. */
test.runIf(REAL).each([
  ['agent-job', 'scalr-agent'],
  ['agent-job', 'prod'],
  ['agent-local', 'scalr-agent'],
] as const)(
  'the known problems of %s as %s are those of the released charts, for every newer version',
  {timeout: 300_000},
  async (chart, release) => {
    const versions = targets.filter((each) => each.chart === chart).map(({version}) => version);
    const rendered = new Map<string, readonly KubernetesObject[]>();
    const objects = async (version: string, isSplit: boolean) => {
      const key = `${version} ${isSplit}`;
      const found = rendered.get(key) ?? (await objectsOf(chart, version, release, isSplit));
      rendered.set(key, found);
      return found;
    };
    const wrong: string[] = [];
    for (const from of versions) {
      for (const to of versions.filter((each) => compare(each, from) > 0)) {
        const isSplit = within(from, SPLIT);
        // A migration keeps the old keys of agent-local where the chart reads them.
        const before = await objects(from, isSplit);
        const after = await objects(to, isSplit && within(to, SPLIT));
        const installed = {chart, version: from};
        const facts = {
          release,
          values: effectiveValues(valuesOf(chart, from, isSplit), installed),
          server: 'v1.35.4',
          nodes: [],
        };
        const codes = new Set(
          advise(installed, {chart, version: to}, facts).flatMap(({code, verdict}) =>
            verdict === 'error' ? [code] : [],
          ),
        );
        const claims = named(after, 'PersistentVolumeClaim');
        const old = selectors(before);
        const truth = {
          PVC_RENAMED: named(before, 'PersistentVolumeClaim').some(
            (name) => !claims.includes(name),
          ),
          SELECTOR_CHANGED: [...selectors(after)].some(
            ([name, selector]) => old.has(name) && old.get(name) !== selector,
          ),
          CRD_RENAMED: named(after, 'CustomResourceDefinition').some(
            (name) => !named(before, 'CustomResourceDefinition').includes(name),
          ),
        };
        for (const [code, applies] of Object.entries(truth))
          if (codes.has(code) !== applies) wrong.push(`${from} → ${to}: ${code} is ${applies}`);
      }
    }
    expect(wrong).toEqual([]);
  },
);
