import {cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {expect, onTestFinished, test} from 'vitest';
import {parseAllDocuments} from 'yaml';
import {readFiles} from '../../../src/values/embedded/read-files.ts';
import {sourceOf} from '../../../src/values/validate/check-files.ts';
import {directoryOf} from './charts-under-test.ts';
import {findHelm} from './find-helm.ts';

const LOCAL = {chart: 'agent-local', version: '0.6.5'} as const;

/** Anchors, two layers of values, and a values file beside it. */
const KUSTOMIZATION = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
helmGlobals: {chartHome: charts}
helmCharts:
- name: agent-local
  releaseName: scalr-agent
  version: 0.6.5
  namespace: agents
  valuesFile: base.yaml
  valuesInline:
    replicaCount: 3
    podAnnotations: &notes {team: a}
    extraEnv: {<<: *notes, TZ: UTC}
`;
const BASE =
  'agent: {url: "https://acme.scalr.io", tokenExistingSecret: {name: t}}\nreplicaCount: 2\nnodeSelector: {pool: a}\n';

const objectsIn = (text: string): unknown[] =>
  parseAllDocuments(text)
    .map((each) => each.toJS() as {kind: string} | null)
    .filter((each) => each !== null)
    .toSorted((one, other) => one.kind.localeCompare(other.kind));

// Kustomize calls only Helm 3.
const helm = (await findHelm()).find(({major}) => major === 3)?.path;
const KUBECTL = 'kubectl';
const kubectl = await execa(KUBECTL, ['kustomize', '--help'], {reject: false});

test.skipIf(helm === undefined || kubectl.failed)(
  'the values that are read from a Kustomization render what Kustomize renders',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kustomize-'));
    onTestFinished(() => rmSync(folder, {recursive: true}));
    cpSync(await directoryOf(LOCAL, join(folder, 'scratch')), join(folder, 'charts/agent-local'), {
      recursive: true,
    });
    writeFileSync(join(folder, 'kustomization.yaml'), KUSTOMIZATION);
    writeFileSync(join(folder, 'base.yaml'), BASE);
    const build = ['kustomize', folder, '--enable-helm', '--helm-command', helm as string];
    const {stdout: built} = await execa(KUBECTL, build);

    const file = join(folder, 'kustomization.yaml');
    const groups = await readFiles([{file, text: KUSTOMIZATION}], async (path) =>
      readFileSync(path, 'utf8'),
    );
    const [release] = groups.flat();
    expect(release?.release).toMatchObject({...LOCAL, unread: []});
    const values = JSON.stringify(sourceOf(release as NonNullable<typeof release>).values);
    const {stdout: rendered} = await execa(
      helm as string,
      [
        ...['template', 'scalr-agent', join(folder, 'charts/agent-local')],
        ...['--namespace', 'agents', '--values', '-'],
      ],
      {input: values},
    );
    expect(objectsIn(built).length).toBeGreaterThan(0);
    expect(objectsIn(rendered)).toEqual(objectsIn(built));
  },
);
