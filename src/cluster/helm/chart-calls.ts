import type {ChartReference, HelmCall} from '../../ground/call.ts';
import {CHART_REPOSITORY, type ReleaseName} from '../../ground/command-line.ts';

/** Calls of helm about charts, which need no cluster. */

/** Manifest of an install for a Kubernetes version, including the CRDs of the chart. */
export const template = (
  name: ReleaseName,
  chart: ChartReference,
  values: string,
  kubeVersion: string,
): HelmCall => ({
  tool: 'helm',
  verb: 'template',
  ...name,
  chart,
  flags: ['--include-crds', ...(kubeVersion ? ['--kube-version', kubeVersion] : [])],
  input: values,
});

/** Chart.yaml, as a test that the chart can be downloaded. */
export const showChart = (chart: ChartReference): HelmCall => ({
  tool: 'helm',
  verb: 'show chart',
  chart,
});

export const pull = (chart: ChartReference, directory: string): HelmCall => ({
  tool: 'helm',
  verb: 'pull',
  chart,
  flags: ['--destination', directory],
});

/** Verifies an archive on this machine with the .prov file beside it. */
export const verifyArchive = (archive: string, keyring: string): HelmCall => ({
  tool: 'helm',
  verb: 'verify',
  flags: [archive, '--keyring', keyring],
});

export const showNewest = (chart: string): HelmCall => ({
  tool: 'helm',
  verb: 'show chart',
  flags: [chart, '--repo', CHART_REPOSITORY],
});

/** CRDs of a chart, as a manifest. */
export const showDefinitions = (chart: ChartReference): HelmCall => ({
  tool: 'helm',
  verb: 'show crds',
  chart,
});
