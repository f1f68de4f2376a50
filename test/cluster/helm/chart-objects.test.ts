import {devNull} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import {parseAllDocuments} from 'yaml';
import {newestOf} from '../../../src/charts/releases/target.ts';
import {CHART_OBJECTS} from '../../docs/chart-objects.ts';
import {CHART_NAMES} from '../../support/versions.ts';
import {REAL} from './charts-under-test.ts';
import {findHelm} from './find-helm.ts';

const VALUES = 'agent: {url: "https://acme.scalr.io", token: abc}\n';

const kindsOf = (objects: readonly {apiVersion?: string; kind?: string}[]): string[] =>
  [...new Set(objects.map(({apiVersion, kind}) => `${apiVersion} ${kind}`))].toSorted();

describe.skipIf(REAL === undefined)('objects of the permissions in docs/permissions.md', () => {
  test.each(CHART_NAMES)('are those that the newest %s renders', async (chart) => {
    const [helm] = await findHelm();
    const {stdout} = await execa(
      helm?.path ?? 'helm',
      [
        'template',
        'r',
        join(REAL as string, chart, newestOf(chart)),
        '--include-crds',
        '--kube-version',
        '1.35.4',
        '--values',
        '-',
      ],
      {
        input: VALUES,
        extendEnv: false,
        env: {PATH: process.env['PATH'] ?? '', HOME: '/nowhere', KUBECONFIG: devNull},
      },
    );
    const documents = parseAllDocuments(stdout, {uniqueKeys: false, logLevel: 'silent'});
    const rendered = (Array.isArray(documents) ? documents : []).map((each) => each.toJS());
    const own = rendered.filter((each) => each !== null && each.kind !== 'Secret');
    expect(kindsOf(own)).toEqual(kindsOf(CHART_OBJECTS[chart]));
  });
});
