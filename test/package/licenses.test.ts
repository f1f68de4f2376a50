import {existsSync, readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {built, ROOT} from './built.ts';

/** The package that a file belongs to: the nearest package.json above it that names one. */
function packageOf(file: string): string {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const path = join(ROOT, folder, 'package.json');
    const {name, version, license} = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
    if (name !== undefined && version !== undefined) return `${name} ${version} (${license})`;
  }
}

test('includes exactly the licenses of the bundled packages', () => {
  const {outputs} = JSON.parse(readFileSync(built('dist/meta.json'), 'utf8')) as {
    outputs: Record<string, {inputs: object}>;
  };
  const inputs = Object.values(outputs).flatMap((output) => Object.keys(output.inputs));
  const bundled = new Set(inputs.filter((path) => path.startsWith('node_modules/')).map(packageOf));
  const parts = readFileSync(built('dist/THIRD_PARTY_LICENSES.txt'), 'utf8').split(
    `\n${'-'.repeat(80)}\n`,
  );
  const titles = parts.flatMap((part) => part.trim().split('\n\n')[0]?.split('\n') ?? []);
  // Copyright notices are indented below their package.
  const named = titles.filter((line) => !line.startsWith('  '));
  expect(titles.length).toBeGreaterThan(1.5 * named.length);
  expect(named.toSorted()).toEqual([...bundled].toSorted());
  for (const part of parts)
    expect(part).toMatch(
      /Permission (is hereby|to use)|Apache License|Blue Oak Model License|Redistribution and use/,
    );
});
