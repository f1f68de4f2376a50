import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {findHelm} from '../../cluster/helm/find-helm.ts';
import {buildBeforeTests, builtTool} from '../../engines/tools.ts';
import {fleetPlace, installedObjects, manifestOf, TOKEN} from './fleet-place.ts';

const JOB = {chart: 'agent-job', version: '0.6.5'} as const;
const LOCAL = {chart: 'agent-local', version: '0.6.5'} as const;
const FLAGS = [
  '--url',
  'https://acme.scalr.io',
  '--concurrency',
  '2',
  '--pod-annotation',
  'team=a',
];
const isFull = Boolean(process.env['TEST_FULL']);

buildBeforeTests('helmfile');

test('helmfile sync installs what install does', async (context) => {
  const helmfile = await builtTool('helmfile', context);
  const place = await fleetPlace([LOCAL]);
  place.exportFiles('helmfile', '--chart', 'agent-local', ...FLAGS);
  await place.run(helmfile, ['sync']);
  expect(await manifestOf(place.helm, place)).toEqual(
    await installedObjects(LOCAL, place.folder, FLAGS),
  );
  const labels = await place.kubectl(
    'get',
    'namespace',
    place.namespace,
    '-o',
    'jsonpath={.metadata.labels}',
  );
  expect(JSON.parse(labels)).toMatchObject({'app.kubernetes.io/managed-by': 'helmfile'});
});

test.skipIf(!isFull).each(await findHelm())(
  'with Helm $major, an upgrade of agent-job applies new CRDs in one cluster of two',
  async ({path}) => {
    const helmfile = await builtTool('helmfile', {skip: expect.unreachable as never});
    const place = await fleetPlace(
      [{chart: 'agent-job', version: '0.5.67'}, {chart: 'agent-job', version: '0.5.68'}, JOB],
      path,
    );
    const {cwd, kubectl} = place;
    const context = await kubectl('config', 'current-context');
    mkdirSync(join(cwd, 'clusters'));
    writeFileSync(
      join(cwd, 'answers.yaml'),
      'url: https://acme.scalr.io\nchart: agent-job\nchart-version: 0.5.67\nnode-selector: {team: a}\n',
    );
    writeFileSync(
      join(cwd, 'clusters/one.yaml'),
      `kube-context: ${context}\nrelease: fleet-one\ntoken-secret: scalr-agent-token\n`,
    );
    writeFileSync(join(cwd, 'clusters/two.yaml'), `kube-context: ${context}\nrelease: fleet-two\n`);
    writeFileSync(join(cwd, 'clusters/rings.yaml'), '- name: canary\n  clusters: [one]\n');
    const overlay = ['--answers', 'answers.yaml', '--overlay', 'clusters'];
    place.exportFiles('helmfile', ...overlay);
    await place.run(helmfile, ['--environment', 'one', 'sync']);
    const before = readFileSync(join(cwd, 'fleet/clusters/two.yaml'), 'utf8');
    writeFileSync(
      join(cwd, 'clusters/rings.yaml'),
      '- name: canary\n  clusters: [one]\n  answers: {chart-version: 0.5.68}\n',
    );
    place.exportFiles('helmfile', ...overlay);
    expect(readFileSync(join(cwd, 'fleet/clusters/two.yaml'), 'utf8')).toBe(before);
    await place.run(helmfile, ['--environment', 'one', 'sync']);
    const managers = [
      '--show-managed-fields',
      '-o',
      'jsonpath={.metadata.managedFields[?(@.operation=="Apply")].manager}',
    ];
    expect(await kubectl('get', 'crd', 'agenttasktemplates.scalr.io', ...managers)).toContain(
      'kubectl',
    );
    expect(
      await kubectl(
        'get',
        'deployments',
        '-o',
        'jsonpath={.items[*].metadata.labels.helm\\.sh/chart}',
      ),
    ).toContain('agent-job-0.5.68');
    expect(
      `${readFileSync(join(cwd, 'fleet/helmfile.yaml.gotmpl'), 'utf8')}${before}`,
    ).not.toContain(TOKEN);
  },
);
