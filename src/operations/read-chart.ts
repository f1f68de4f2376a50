import {digestOf} from '../charts/charts.ts';
import type {ChartName} from '../charts/releases/chart-name.ts';
import type {Target} from '../charts/releases/target.ts';
import {newestOf} from '../charts/releases/target.ts';
import {pull, showNewest, verifyArchive} from '../cluster/helm/chart-calls.ts';
import type {Call, ChartReference} from '../ground/call.ts';

import {ExpectedError, failed} from '../ground/errors.ts';
import type {Charts, Processes} from '../ground/system/system.ts';
import {toolFailure} from '../ground/tool-errors.ts';
import {readMetadata, targetOfChart} from '../values/chart-files.ts';

/** A chart that was read, and its directory or archive on this machine. */
export interface ReadChart {
  target: Target;
  path: string;
}

interface ReadChartDeps {
  charts: Charts;
  processes: Pick<Processes, 'run'>;
}

/** Reads a chart of an unknown version from --chart-source, or downloads it. @throws ExpectedError */
export async function readChart(
  desired: ChartReference,
  {charts, processes}: ReadChartDeps,
): Promise<ReadChart> {
  const {source} = desired;
  const path = isOnDisk(source)
    ? source
    : await charts.download((directory) => download(desired, directory, processes));
  return {
    target: await targetOfChart(
      source ?? `${desired.chart} ${desired.version}`,
      await charts.read(path),
    ),
    path,
  };
}

async function download(
  desired: ChartReference,
  directory: string,
  processes: ReadChartDeps['processes'],
): Promise<void> {
  const call = pull(desired, directory);
  try {
    const outcome = await processes.run(call);
    if (outcome.exitCode !== 0) throw toolFailure(call, outcome);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    const {chart, version, source} = desired;
    if (source !== undefined) {
      const steps =
        error.code === 'CHART_NOT_FOUND'
          ? ['Check the address in --chart-source, or use a directory or a .tgz file']
          : error.suggestions;
      throw error.with(`Cannot read the chart in --chart-source.\n${error.message}`, steps);
    }
    throw error.with(
      `Cannot read ${chart} ${version}. The newest known version is ${newestOf(chart as Target['chart'])}, so ${version} is read from the chart itself.\n${error.message}`,
      [
        ...error.suggestions,
        `Use a downloaded chart: --chart-source ${chart}-${version}.tgz`,
        `Use the newest known version: --chart-version ${newestOf(chart as Target['chart'])}`,
      ],
    );
  }
}

export interface ChartSignature {
  signer: string;
  /** Of the key. */
  fingerprint: string;
  /** SHA-256 of the archive. */
  digest: string;
}

/** Verifies the signature of a chart with helm. @throws ExpectedError */
export async function verifyChart(
  chart: ChartReference & {keyring: string},
  {charts, processes}: ReadChartDeps,
): Promise<ChartSignature> {
  const {source, keyring, version} = chart;
  const name = source ?? `${chart.chart} ${version}`;
  let report = '';
  const verify = async (call: Call): Promise<void> => {
    const {exitCode, stdout, stderr} = await processes.run(call);
    if (exitCode !== 0) throw notVerified(name, stderr.trim().replace(/^Error: /, ''));
    report = stdout;
  };
  if (isOnDisk(source)) await verify(verifyArchive(source, keyring));
  else await charts.download((directory) => verify(pull(chart, directory)));
  const [signer, fingerprint, digest] = [
    /^Signed by: *(.*)$/m,
    /Fingerprint: *(\S+)/,
    /Hash Verified: *sha256:(\S+)/,
  ].map((pattern) => pattern.exec(report)?.[1]);
  if (signer === undefined || fingerprint === undefined || digest === undefined)
    throw notVerified(name, 'helm reports no signature');
  const known = source === undefined ? digestOf(chart.chart as ChartName, version) : undefined;
  if (known !== undefined && known !== digest)
    throw notVerified(name, `the archive has the SHA-256 ${digest} instead of ${known}`);
  return {signer, fingerprint, digest};
}

const notVerified = (name: string, reason: string): ExpectedError => {
  const [, step] = VERIFY_STEPS.find(([pattern]) =>
    pattern.test(reason),
  ) as (typeof VERIFY_STEPS)[number];
  return failed(
    'CHART_NOT_VERIFIED',
    `Cannot verify the signature of ${name}: ${reason}. Nothing was changed.`,
    [step],
  );
};

/** What to do, by the reason of helm. */
const VERIFY_STEPS: readonly [RegExp, string][] = [
  [
    /provenance/i,
    'The chart is not signed. Charts are signed since 0.6.2: use --chart-version with 0.6.2 or newer, or omit --verify',
  ],
  [/sha-?256/i, 'The archive is not the one that was signed: do not use it'],
  [
    /^/,
    'Check that --verify specifies a binary keyring with the public key (gpg --export, or gpg --dearmor for an .asc file)',
  ],
];

const isOnDisk = (source: string | undefined): source is string =>
  source !== undefined && !/^[a-z]+:\/\//i.test(source);

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
