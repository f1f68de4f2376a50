import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {AGENT_LOG_ROWS} from '../../src/checks/diagnose/agent-log-rows.ts';
import {storageChecks} from '../../src/checks/preflight/checks/storage.ts';
import {root} from './commands.ts';

const readme = readFileSync(join(root, 'README.md'), 'utf8');

test('README.md has at most 120 lines', () =>
  expect(readme.split('\n').length).toBeLessThanOrEqual(120));

test('README.md shows a check and a cause in the words of today', () => {
  const [finding = '', title] =
    /^ {2}× storage-class {2}([^:]+): .*\n {4}→ .*$/m.exec(readme) ?? [];
  expect(storageChecks.map((each) => each.title)).toContain(title);
  const shown = readFileSync(
    join(root, 'test/checks/preflight/checks/messages/storage.txt'),
    'utf8',
  );
  const names = (text: string): string =>
    text
      .replaceAll(/\n {4,}(?!→)(?=\S)/g, ' ')
      .replaceAll(/StorageClass \S+ of PVC \S+/g, 'StorageClass NAME of PVC NAME')
      .replaceAll(/existing: [^)]*/g, 'existing: NAMES');
  expect(names(shown)).toContain(names(finding));
  const remedies = AGENT_LOG_ROWS.map((row) => row.remedy.kubernetes);
  expect(
    remedies.filter((each) => each !== undefined && readme.includes(`    → ${each}\n`)),
  ).toHaveLength(1);
});
