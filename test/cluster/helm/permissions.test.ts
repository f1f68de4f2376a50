import {devNull} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {beforeAll, describe, expect, test} from 'vitest';
import {parseAllDocuments} from 'yaml';
import {within} from '../../../src/charts/releases/versions.ts';
import {validate} from '../../../src/values/validate/validate.ts';
import {TARGETS} from '../../support/versions.ts';
import {REAL} from './charts-under-test.ts';
import {findHelm} from './find-helm.ts';
import {type KubeObject, podTemplates} from './workloads.ts';

const JOBS = TARGETS.filter(({chart}) => chart === 'agent-job');
const TOKEN = 'agent: {url: "https://acme.scalr.io", token: abc}\n';

let helm = '';
beforeAll(async () => {
  [{path: helm} = {path: ''}] = await findHelm();
}, 120_000);

async function objectsOf(version: string, values: string): Promise<KubeObject[]> {
  const args = [
    'template',
    'r',
    join(REAL as string, 'agent-job', version),
    '--kube-version',
    '1.35.4',
    '--values',
    '-',
  ];
  const env = {PATH: process.env['PATH'] ?? '', HOME: '/nowhere', KUBECONFIG: devNull};
  const {stdout} = await execa(helm, args, {input: values, extendEnv: false, env});
  const documents = parseAllDocuments(stdout, {uniqueKeys: false, logLevel: 'silent'});
  return (Array.isArray(documents) ? documents : []).flatMap(
    (each) => (each.toJS() as KubeObject | null) ?? [],
  );
}

const controllerOf = (objects: readonly KubeObject[]) =>
  podTemplates(objects).find(({owner}) => owner.kind === 'Deployment')?.spec;

const codes = (values: string, version: string): string[] =>
  validate(values, {chart: 'agent-job', version}).map(({code}) => code);

describe.skipIf(REAL === undefined)(
  'permissions that the values take from the controller of agent-job',
  () => {
    test.each(JOBS)('$version: reports a service account without its token', async ({version}) => {
      const values = `${TOKEN}serviceAccount: {automountToken: false}\n`;
      expect(controllerOf(await objectsOf(version, values))).toMatchObject({
        automountServiceAccountToken: false,
      });
      expect(codes(values, version)).toContain('NO_PERMISSIONS');
      expect(codes(TOKEN, version)).not.toContain('NO_PERMISSIONS');
    });

    test.each(JOBS)('$version: reports a missing service account and Role', async ({version}) => {
      const rbac = within(version, '>=0.5.64') ? 'rbac: {create: false}\n' : '';
      const values = `${TOKEN}${rbac}serviceAccount: {create: false}\n`;
      const objects = await objectsOf(version, values);
      expect(objects.filter(({kind}) => /Role|ServiceAccount/.test(kind))).toEqual([]);
      expect(controllerOf(objects)?.['serviceAccountName'] ?? 'default').toBe('default');
      expect(codes(values, version)).toContain('NO_PERMISSIONS');
    });
  },
);
