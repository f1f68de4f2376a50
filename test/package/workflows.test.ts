import {readdirSync, readFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
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

test('begins the change log with this version', () => {
  const {version} = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
  };
  expect(/^## (\S+)$/m.exec(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'))?.[1]).toBe(version);
});
