import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, onTestFinished, test} from 'vitest';
import {migrateFile} from '../../../src/values/migrate/migrate-file.ts';
import {findHelmMatrix} from '../../cluster/helm/find-helm.ts';
import {EXAMPLES} from './examples.ts';

const charts = process.env['SCALR_CHARTS'];

describe.skipIf(charts === undefined)('the released charts', () => {
  test.each(EXAMPLES)('render the values of $name without warnings', {timeout: 60_000}, async ({
    from,
    to,
    text,
  }) => {
    const folder = mkdtempSync(join(tmpdir(), 'migrate-'));
    onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
    const file = join(folder, 'values.yaml');
    writeFileSync(file, migrateFile({file, text, from, to, keeps: 'security'}).yaml);
    const chart = join(charts as string, to.replace('@', '/'));
    for (const {path} of await findHelmMatrix()) {
      const args = ['template', 'agent', chart, '--values', file, '--kube-version', '1.35.0'];
      const {exitCode, stdout, stderr} = await execa(path, args, {reject: false});
      expect({exitCode, stderr}).toEqual({exitCode: 0, stderr: ''});
      expect(stdout).toContain('acme.scalr.io');
    }
  });
});
