import type {ChartReference} from '../ground/call.ts';

import type {ChartSignature} from '../operations/read-chart.ts';
import {toolPaths} from './connection-flags.ts';
import type {ChartDeps} from './read-chart.ts';

/** The signature of the chart with --verify; undefined without the flag. @throws ExpectedError if it cannot be verified */
export async function signatureOf(
  {chart: name, version, source}: ChartReference,
  keyring: string | undefined,
  {app, flags}: ChartDeps,
): Promise<ChartSignature | undefined> {
  if (keyring === undefined) return undefined;
  const {verifyChart} = await import('../operations/read-chart.ts');
  const chart = {chart: name, version, keyring, ...(source === undefined ? {} : {source})};
  return verifyChart(chart, {
    charts: app.charts,
    processes: {run: (call) => app.processes(toolPaths(flags)).run(call)},
  });
}

export const signatureText = (signature: ChartSignature | undefined): string =>
  signature === undefined
    ? ''
    : `Chart signature verified: ${signature.signer}, key ${signature.fingerprint}, SHA-256 ${signature.digest}.\n`;
