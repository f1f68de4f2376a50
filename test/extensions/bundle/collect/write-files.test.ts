import {expect, test} from 'vitest';
import {writeBundleFiles} from '../../../../src/extensions/bundle/collect/write-files.ts';
import {redactor} from '../../../../src/extensions/bundle/redact/redactor.ts';
import {known} from '../redact/helpers.ts';

test('serves signals and time-outs while a text is redacted', async () => {
  let turns = 0;
  let next: NodeJS.Immediate;
  const turn = (): void => {
    turns += 1;
    next = setImmediate(turn);
  };
  next = setImmediate(turn);
  const archive = {add: async () => ({bytes: 0, lines: 0})} as never;
  const deps = {
    archive,
    redactor: redactor({knownSecrets: known({})}),
    signal: new AbortController().signal,
    onFile() {},
  };
  const texts = [{name: 'objects.json', text: '{"token": ['.repeat(40_000)}];
  await writeBundleFiles({texts, logs: [], api: {} as never, maxBytes: 1}, deps);
  clearImmediate(next);
  expect(turns).toBeGreaterThanOrEqual(6);
});
