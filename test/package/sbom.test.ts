import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {ROOT} from './built.ts';

interface Bom {
  bomFormat: string;
  metadata: {component: {name: string; version: string}};
  components: {type: string; group?: string; name: string; version: string; purl: string; licenses: unknown[]}[];
}

test('the bill of materials names every package that is bundled, and no other', () => {
  const {stdout, stderr, status} = spawnSync('npx', ['cyclonedx-esbuild', 'dist/meta.json', '--output-reproducible'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  const {bomFormat, metadata, components} = JSON.parse(stdout) as Bom;
  const {name, version} = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {name: string; version: string};
  expect({bomFormat, ...metadata.component}).toMatchObject({bomFormat: 'CycloneDX', name, version});
  for (const component of components) {
    expect(component.purl).toMatch(/^pkg:npm\//);
    expect(component.licenses.length).toBeGreaterThan(0);
  }
  const named = components.map((each) => `${each.group ? `${each.group}/` : ''}${each.name} ${each.version}`);
  const licences = readFileSync(join(ROOT, 'dist/THIRD_PARTY_LICENSES.txt'), 'utf8');
  const bundled = [...licences.matchAll(/^((?:@[\w-]+\/)?[\w.-]+ \d+\.\d+\.\d+\S*) \([\w. -]+\)$/gm)].map(([, each]) => each);
  expect(named.toSorted()).toEqual(bundled.toSorted());
});
