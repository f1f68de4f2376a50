import {expect, test} from 'vitest';
import type {Outcome} from '../../../src/ports/processes.ts';
import {findReleases, readRelease} from '../../../src/support-bundle/collect/tools.ts';

const place = {namespace: 'n'};
const over = new AbortController().signal;
const saying = (stdout: string) => ({run: async (): Promise<Outcome> => ({exitCode: 0, stdout, stderr: ''})});

const NO_JSON = 'what helm said is no JSON: WARNING: a wrapper';

test.each([
  ['', 'helm said nothing'],
  ['WARNING: a wrapper\nand more', NO_JSON],
  ['[{"name": "mine", "chart": "agent-local-0.6.5"', 'what helm said is not the JSON it should be, or not all of it'],
  ['{"name": "mine"}', 'what helm said is not the JSON it should be, or not all of it'],
  ['[{"name": 7, "chart": null}]', 'what helm said is not the JSON it should be, or not all of it'],
])('of releases that helm tells as %j nothing is known, and that is said', async (stdout, message) => {
  expect(await findReleases(place, saying(stdout), over)).toEqual({
    releases: [],
    gaps: [{what: 'releases of helm', trouble: {kind: 'refused', message}}],
  });
});

test('what helm keeps of a release is a gap for each file that it says no JSON for', async () => {
  const {files, gaps, values} = await readRelease('mine', place, saying('WARNING: a wrapper\nand more\n'), over);
  expect({files: files(() => () => ''), values}).toEqual({files: [], values: undefined});
  expect(gaps).toEqual([
    {what: 'releases/mine/history.json', trouble: {kind: 'refused', message: NO_JSON}},
    {what: 'releases/mine/values.json', trouble: {kind: 'refused', message: NO_JSON}},
    {what: 'releases/mine/manifest', trouble: {kind: 'refused', message: 'what helm said is no manifest'}},
  ]);
});

test('where no values were given helm says null, or nothing', async () => {
  for (const stdout of ['null', '']) {
    const {files, gaps} = await readRelease('mine', place, saying(stdout), over);
    expect(files(() => () => '').map(({name}) => name)).toContain('releases/mine/values.json');
    expect(gaps.map(({what}) => what)).not.toContain('releases/mine/values.json');
  }
});
