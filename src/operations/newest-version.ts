import type {ChartName} from '../charts/schema.ts';
import {ExpectedError} from '../ground/errors.ts';
import {showNewest} from '../helm/helm.ts';
import type {Processes} from '../ports/system.ts';
import {readMetadata} from '../values/chart-files.ts';

/** The newest version in the public repository; undefined if helm cannot read it. */
export async function newestInRepository(
  chart: ChartName,
  processes: Pick<Processes, 'run'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const {exitCode, stdout} = await processes.run(showNewest(chart), {signal});
    return exitCode === 0 ? readMetadata(chart, stdout).version : undefined;
  } catch (error) {
    if (error instanceof ExpectedError) return undefined;
    throw error;
  }
}
