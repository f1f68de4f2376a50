import {readdirSync, readFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {describe, expect, test} from 'vitest';
import {parse} from 'yaml';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = join(ROOT, '.github/workflows');

interface Workflow {
  permissions: object;
  jobs: Record<string, {uses?: string; permissions: object; steps?: {uses?: string; run?: string}[]}>;
}

const workflows = readdirSync(FOLDER).map((file) => ({file, ...(parse(readFileSync(join(FOLDER, file), 'utf8')) as Workflow)}));

describe.each(workflows)('$file', ({permissions, jobs}) => {
  test('actions are pinned to a commit, because a tag may move', () => {
    const used = Object.values(jobs).flatMap(({uses, steps = []}) => [uses, ...steps.map((step) => step.uses)]);
    for (const action of used.filter((each) => each !== undefined)) expect(action).toMatch(/^(\.\/\S+|[\w-]+\/[\w-]+@[0-9a-f]{40})$/);
  });

  test('no job may more than it says', () => {
    expect(permissions).toEqual({});
    for (const job of Object.values(jobs)) expect(job.permissions).toBeDefined();
  });
});

test('CI runs the script that every submission has to pass', () => {
  const steps = workflows.flatMap(({jobs}) => Object.values(jobs).flatMap((job) => job.steps ?? []));
  expect(steps.map(({run}) => run)).toContain('.ci/run');
});

test('the change log begins with this version', () => {
  const {version} = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {version: string};
  expect(/^## (\S+)$/m.exec(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'))?.[1]).toBe(version);
});
