import {expect, test} from 'vitest';
import {HelmReleases} from '../../../../src/cluster/helm/helm-releases.ts';
import {StoredReleases} from '../../../../src/cluster/helm/stored-releases.ts';
import {findReleases, readRelease} from '../../../../src/extensions/bundle/collect/tools.ts';
import {argumentsOf} from '../../../../src/ground/call-arguments.ts';
import type {ProcessResult} from '../../../../src/ground/command-line.ts';
import {fakeKubernetes} from '../../../support/fake-kubernetes.ts';
import {chartObject, helmRecord} from '../../../support/helm-record.ts';

const place = {namespace: 'n'};
const signal = new AbortController().signal;
const saying = (stdout: string) =>
  new HelmReleases({run: async (): Promise<ProcessResult> => ({exitCode: 0, stdout, stderr: ''})});

const NO_JSON = 'the output of helm is not JSON: WARNING: a wrapper';

test.each([
  ['', 'helm returned no output'],
  ['WARNING: a wrapper\nand more', NO_JSON],
  ['[{"name": "mine", "chart": "agent-local-0.6.5"', 'helm returned incomplete or unexpected JSON'],
  ['{"name": "mine"}', 'helm returned incomplete or unexpected JSON'],
  ['[{"name": 7, "chart": null}]', 'helm returned incomplete or unexpected JSON'],
])('a release list of %j is reported as missing', async (stdout, message) => {
  expect(await findReleases(place, saying(stdout), signal)).toEqual({
    releases: [],
    gaps: [{what: 'Helm releases', error: {kind: 'refused', message}, isMinor: false}],
  });
});

test('every Helm file that is not JSON is a gap', async () => {
  const {files, gaps, values} = await readRelease(
    'mine',
    place,
    saying('WARNING: a wrapper\nand more\n'),
    signal,
  );
  expect({files: files(() => () => ''), values}).toEqual({files: [], values: undefined});
  const error = {kind: 'refused', message: NO_JSON};
  const names = ['history.json', 'values.json', 'manifest'];
  expect(gaps).toEqual(
    names.map((file) => ({what: `releases/mine/${file}`, error, isMinor: false})),
  );
});

const HISTORY = [
  {revision: 1, status: 'deployed', chart: 'agent-local-0.6.5', updated: '2026-11-22T12:00:00Z'},
];
const printing = (manifest: string) =>
  new HelmReleases({
    run: async (call): Promise<ProcessResult> => {
      const [command, what] = argumentsOf(call);
      const history = JSON.stringify(HISTORY);
      const given = what === 'metadata' ? '{}' : 'null';
      return {
        exitCode: 0,
        stdout: command === 'history' ? history : what === 'manifest' ? manifest : given,
        stderr: '',
      };
    },
  });

test('null means no values', async () => {
  const {files, gaps} = await readRelease('mine', place, printing(''), signal);
  expect(gaps).toEqual([]);
  expect(files(() => () => '')).toContainEqual({name: 'releases/mine/values.json', text: '{}\n'});
});

test.each([
  'WARNING: a wrapper\nand more\n',
  'a: *missing\n',
])('a manifest of %j is a gap', async (manifest) => {
  const {gaps, values} = await readRelease('mine', place, printing(manifest), signal);
  expect(values).toEqual({});
  expect(gaps).toMatchObject([
    {
      what: 'releases/mine/manifest',
      error: {message: 'the record of Helm contains no valid manifest'},
    },
  ]);
});

test('a newest record that cannot be read is a gap beside the older revisions', async () => {
  const agent = {name: 'mine', namespace: 'n', chart: 'agent-local-0.6.5'};
  const broken = {...helmRecord({...agent, revision: 5}), data: {release: 'bm8gcmVsZWFzZQ=='}};
  const objects = [helmRecord({...agent, status: 'superseded'}), broken, chartObject(agent)];
  const releases = new StoredReleases(fakeKubernetes({objects}));
  expect(await findReleases(place, releases, signal)).toEqual({
    releases: [{name: 'mine', status: 'deployed', chart: 'agent-local', version: '0.6.5'}],
    gaps: [],
  });
  const {files, gaps} = await readRelease('mine', place, releases, signal);
  expect(files(() => () => '').map(({name}) => name)).toEqual(['releases/mine/history.json']);
  expect(gaps.map(({what, isMinor}) => [what, isMinor])).toEqual([
    ['releases/mine/history.json', false],
    ['releases/mine/values.json', false],
    ['releases/mine/manifest', false],
  ]);
});
