import {expect, test} from 'vitest';
import {findReleases, readRelease} from '../../../src/bundle/collect/tools.ts';
import type {ProcessResult} from '../../../src/ground/command-line.ts';

const place = {namespace: 'n'};
const signal = new AbortController().signal;
const saying = (stdout: string) => ({run: async (): Promise<ProcessResult> => ({exitCode: 0, stdout, stderr: ''})});

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
    gaps: [{what: 'Helm releases', trouble: {kind: 'refused', message}}],
  });
});

test('every Helm file that is not JSON is a gap', async () => {
  const {files, gaps, values} = await readRelease('mine', place, saying('WARNING: a wrapper\nand more\n'), signal);
  expect({files: files(() => () => ''), values}).toEqual({files: [], values: undefined});
  expect(gaps).toEqual([
    {what: 'releases/mine/history.json', trouble: {kind: 'refused', message: NO_JSON}},
    {what: 'releases/mine/values.json', trouble: {kind: 'refused', message: NO_JSON}},
    {what: 'releases/mine/manifest', trouble: {kind: 'refused', message: 'the output of helm is not a manifest'}},
  ]);
});

test('null and empty output mean no values', async () => {
  for (const stdout of ['null', '']) {
    const {files, gaps} = await readRelease('mine', place, saying(stdout), signal);
    expect(files(() => () => '').map(({name}) => name)).toContain('releases/mine/values.json');
    expect(gaps.map(({what}) => what)).not.toContain('releases/mine/values.json');
  }
});
