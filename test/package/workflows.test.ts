import {readdirSync, readFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {execaSync} from 'execa';
import {describe, expect, test} from 'vitest';
import {parse} from 'yaml';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = join(ROOT, '.github/workflows');

interface Workflow {
  permissions: object;
  jobs: Record<
    string,
    {uses?: string; permissions: object; steps?: {uses?: string; run?: string}[]}
  >;
}

const workflows = readdirSync(FOLDER).map((file) => ({
  file,
  ...(parse(readFileSync(join(FOLDER, file), 'utf8')) as Workflow),
}));

describe.each(workflows)('$file', ({permissions, jobs}) => {
  test('pins actions to a commit, because a tag may move', () => {
    const used = Object.values(jobs).flatMap(({uses, steps = []}) => [
      uses,
      ...steps.map((step) => step.uses),
    ]);
    for (const action of used.filter((each) => each !== undefined))
      expect(action).toMatch(/^(\.\/\S+|[\w-]+\/[\w-]+@[0-9a-f]{40})$/);
  });

  test('gives jobs only the permissions they declare', () => {
    expect(permissions).toEqual({});
    for (const job of Object.values(jobs)) expect(job.permissions).toBeDefined();
  });
});

test('runs in CI the script that every submission has to pass', () => {
  const steps = workflows.flatMap(({jobs}) =>
    Object.values(jobs).flatMap((job) => job.steps ?? []),
  );
  expect(steps.map(({run}) => run)).toContain('.ci/run');
});

const {version} = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};
const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');

test('publishes the part of the changelog about this version as release notes', () => {
  const command = /awk -v .* CHANGELOG\.md/.exec(
    readFileSync(join(FOLDER, 'release.yml'), 'utf8'),
  )?.[0];
  const {stdout} = execaSync('sh', ['-c', command ?? 'false'], {
    cwd: ROOT,
    env: {GITHUB_REF_NAME: `v${version}`},
  });
  expect(stdout.match(/^## .*$/gm)).toEqual([`## ${version}`]);
  expect(stdout.split('\n').length).toBeGreaterThan(3);
});

test('lists releases in the changelog, with at most ten bullets for what is unreleased', () => {
  const [newest, next] = [...changelog.matchAll(/^## (\S+)$/gm)].map(([, name]) => name);
  expect(newest === 'Unreleased' ? next : newest).toBe(version);
  const unreleased = /^## Unreleased$(.*?)(?=^## )/ms.exec(changelog)?.[1] ?? '';
  expect((unreleased.match(/^- /gm) ?? []).length).toBeLessThanOrEqual(10);
});
