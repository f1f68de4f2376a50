import {
  type Call,
  CHART_REPOSITORY,
  type ClusterTarget,
  type ReleaseName,
} from '../../ground/command-line.ts';

/** An exact chart version, from the public repository or from a custom source. */
export interface ChartReference {
  chart: string;
  version: string;
  /** OCI reference, directory or archive. */
  source?: string | undefined;
  /** File with public keys, with which helm verifies the signature before it uses the chart. */
  keyring?: string | undefined;
}

const helm = (
  kubeTarget: ClusterTarget | undefined,
  args: readonly string[],
  input?: string,
): Call => ({
  tool: 'helm',
  args: [
    ...args,
    ...(kubeTarget ? ['--namespace', kubeTarget.namespace] : []),
    ...(kubeTarget?.kubeContext ? ['--kube-context', kubeTarget.kubeContext] : []),
    ...(kubeTarget?.kubeconfig ? ['--kubeconfig', kubeTarget.kubeconfig] : []),
  ],
  ...(input === undefined ? {} : {input}),
});

const chartArgs = ({chart, version, source, keyring}: ChartReference): string[] => {
  const verified = keyring === undefined ? [] : ['--verify', '--keyring', keyring];
  if (source === undefined)
    return [chart, '--repo', CHART_REPOSITORY, '--version', version, ...verified];
  return [source, ...(source.startsWith('oci://') ? ['--version', version] : []), ...verified];
};

/**
 * Installs or upgrades without waiting, because this program watches the release. Values are passed on standard input. `forcesConflicts` overwrites fields
 * of other owners; only Helm 4 has the flag, and only for releases with server-side apply.
 */
export const upgradeInstall = (
  {release, kubeTarget}: ReleaseName,
  chart: ChartReference,
  values: string,
  {forcesConflicts = false}: {forcesConflicts?: boolean} = {},
): Call =>
  helm(
    kubeTarget,
    [
      'upgrade',
      release,
      ...chartArgs(chart),

      '--install',
      '--reset-values',
      ...(forcesConflicts ? ['--force-conflicts'] : []),
      '--values',
      '-',
    ],
    values,
  );

/** For the user to run: upgrades to another version with the values that were given to Helm before. */
export const upgradeWithValues = (
  {release, kubeTarget}: ReleaseName,
  chart: ChartReference,
): Call => helm(kubeTarget, ['upgrade', release, ...chartArgs(chart), '--reset-then-reuse-values']);

/** With Helm 4, `applyMethod` is the apply method of the release: "ssa" (server-side) or "csa" (client-side). */
export const releaseMetadata = ({release, kubeTarget}: ReleaseName): Call =>
  helm(kubeTarget, ['get', 'metadata', release, '--output', 'json']);

/** Manifest of an install for a Kubernetes version, including the CRDs of the chart. */
export const template = (
  {release, kubeTarget}: ReleaseName,
  chart: ChartReference,
  values: string,
  kubeVersion: string,
): Call =>
  helm(
    kubeTarget,
    [
      'template',
      release,
      ...chartArgs(chart),
      '--include-crds',
      ...(kubeVersion ? ['--kube-version', kubeVersion] : []),
      '--values',
      '-',
    ],
    values,
  );

/** Chart.yaml, as a test that the chart can be downloaded. */
export const showChart = (chart: ChartReference): Call =>
  helm(undefined, ['show', 'chart', ...chartArgs(chart)]);

export const helmVersion: Call = helm(undefined, ['version', '--template', '{{.Version}}']);

const revisionArgs = (revision: number | undefined): string[] =>
  revision === undefined ? [] : ['--revision', String(revision)];

/** Of the newest revision by default; `--all` includes the chart defaults. */
export const releaseValues = (
  {release, kubeTarget}: ReleaseName,
  revision?: number,
  ...more: '--all'[]
): Call =>
  helm(kubeTarget, [
    'get',
    'values',
    release,
    ...more,
    ...revisionArgs(revision),
    '--output',
    'json',
  ]);

/** Rendered objects, of the newest revision by default, which helm deletes when it uninstalls the release. */
export const releaseManifest = ({release, kubeTarget}: ReleaseName, revision?: number): Call =>
  helm(kubeTarget, ['get', 'manifest', release, ...revisionArgs(revision)]);

/** Releases in every state except superseded. Helm 4 has no --all, and both versions list at most 256 by default. */
export const listReleases = (
  kubeTarget: ClusterTarget,
  {everywhere}: {everywhere: boolean},
): Call =>
  helm(kubeTarget, [
    'list',
    ...(everywhere ? ['--all-namespaces'] : []),
    '--deployed',
    '--failed',
    '--pending',
    '--uninstalling',
    '--max',
    '0',
    '--output',
    'json',
  ]);

export const releaseHistory = ({release, kubeTarget}: ReleaseName): Call =>
  helm(kubeTarget, ['history', release, '--output', 'json']);

/** Without --wait: a Ctrl-C would leave the release partly uninstalled. */
export const uninstall = ({release, kubeTarget}: ReleaseName): Call =>
  helm(kubeTarget, ['uninstall', release, '--debug']);

/** Rolls back to the previous revision by default. */
export const rollback = ({release, kubeTarget}: ReleaseName, revision?: number): Call =>
  helm(kubeTarget, ['rollback', release, ...(revision === undefined ? [] : [String(revision)])]);

export const pull = (chart: ChartReference, directory: string): Call =>
  helm(undefined, ['pull', ...chartArgs(chart), '--destination', directory]);

/** Verifies an archive on this machine with the .prov file beside it. */
export const verifyArchive = (archive: string, keyring: string): Call =>
  helm(undefined, ['verify', archive, '--keyring', keyring]);

export const showNewest = (chart: string): Call =>
  helm(undefined, ['show', 'chart', chart, '--repo', CHART_REPOSITORY]);

/** CRDs of a chart, as a manifest. */
export const showDefinitions = (chart: ChartReference): Call =>
  helm(undefined, ['show', 'crds', ...chartArgs(chart)]);
