import {copyFileSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {directoryOf} from '../../test/cluster/helm/charts-under-test.ts';
import {findHelm} from '../../test/cluster/helm/find-helm.ts';
import {PROGRAM} from '../../test/package/built.ts';
import {measure, median, row} from './measure.ts';

const FILES = 100;
const TARGET = {chart: 'agent-job', version: '0.6.5'} as const;
const VALUES = 'test/golden/documents/agent-job-0.6.5-cache-pvc.yaml';

/** A hundred files in one call, as a part of what a hundred calls of `helm lint` take, on a small chart unless SCALR_CHARTS names the real ones. Build first. */
export async function manyFiles(rounds: number): Promise<void> {
  const {path: helm} = (await findHelm())[0] as {path: string};
  const folder = mkdtempSync(join(tmpdir(), 'scalr-agent-'));
  try {
    const files = Array.from({length: FILES}, (_, index) => join(folder, `${index}.yaml`));
    const chart = await directoryOf(TARGET, folder);
    for (const file of files) copyFileSync(VALUES, file);
    const lint = (): number =>
      files.reduce(
        (sum, file) => sum + measure(helm, ['lint', chart, '--quiet', '--values', file]),
        0,
      );
    const times = Array.from({length: rounds}, () => ({
      ours: measure(process.execPath, [PROGRAM, 'validate', ...files]),
      theirs: lint(),
    }));
    const theirs = median(times.map((each) => each.theirs));
    row('many-files', `${FILES} × helm lint`, theirs, theirs, `${FILES} × helm lint`);
    row(
      'many-files',
      `validate ${FILES} files`,
      median(times.map((each) => each.ours)),
      theirs,
      `${FILES} × helm lint`,
    );
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}
