import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import satisfies from 'semver/functions/satisfies.js';
import {expect, test} from 'vitest';
import {compare, within} from '../../src/charts/releases.ts';
import {TARGETS} from '../support/versions.ts';

const root = join(import.meta.dirname, '../..');
const sources = ['src/charts', 'schemas'].flatMap((folder) =>
  readdirSync(join(root, folder), {recursive: true, encoding: 'utf8'})
    .filter((file) => /\.(ts|json)$/.test(file))
    .map((file) => readFileSync(join(root, folder, file), 'utf8')),
);
const VERSION = String.raw`\d+\.\d+\.\d+`;
const PART = `(?:(?:[<>]=?)?${VERSION})(?: - ${VERSION}| [<>]=?${VERSION})?`;
const ranges = new Set(
  sources.flatMap((text) => text.match(new RegExp(`(?<=['"])(?:\\*|${PART}(?: \\|\\| ${PART})*)(?=['"])`, 'g')) ?? []),
);

test('a version lies in a range where semver says so', () => {
  expect(ranges.size).toBeGreaterThan(40);
  for (const range of ranges) {
    for (const version of new Set(TARGETS.map((target) => target.version))) {
      expect(within(version, range), `${version} in ${range}`).toBe(satisfies(version, range));
    }
  }
});

test('of a pre-release only the numbers count', () => {
  expect(within('0.7.0-rc.1', '>=0.6.4')).toBe(true);
  expect(compare('0.7.0-rc.1', '0.6.9')).toBeGreaterThan(0);
  expect(compare('0.10.0', '0.9.9')).toBeGreaterThan(0);
});
