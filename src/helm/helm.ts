import type {Call, Place, ReleaseName} from '../ports/processes.ts';

/** Where upstream serves its charts. */
const REPOSITORY = 'https://scalr.github.io/agent-helm/';

/** An exact chart: of the public repository, or at a source of the operator's. */
export interface ChartReference {
  chart: string;
  version: string;
  /** OCI reference, directory or archive. */
  source?: string;
}

const helm = (place: Place | undefined, args: readonly string[], input?: string): Call => ({
  tool: 'helm',
  args: [
    ...args,
    ...(place ? ['--namespace', place.namespace] : []),
    ...(place?.kubeContext ? ['--kube-context', place.kubeContext] : []),
    ...(place?.kubeconfig ? ['--kubeconfig', place.kubeconfig] : []),
  ],
  ...(input === undefined ? {} : {input}),
});

const chartArgs = ({chart, version, source}: ChartReference): string[] => {
  if (source === undefined) return [chart, '--repo', REPOSITORY, '--version', version];
  return source.startsWith('oci://') ? [source, '--version', version] : [source];
};

/**
 * Installs or upgrades without waiting: this program watches itself. Values travel on standard input. `forcesConflicts` takes back fields that
 * others changed; only Helm 4 has the flag, and only for a release that it applies on the server.
 */
export const upgradeInstall = (
  {release, place}: ReleaseName,
  chart: ChartReference,
  values: string,
  {forcesConflicts = false}: {forcesConflicts?: boolean} = {},
): Call =>
  helm(
    place,
    [
      'upgrade',
      release,
      ...chartArgs(chart),
      ...['--install', '--reset-values', ...(forcesConflicts ? ['--force-conflicts'] : []), '--values', '-'],
    ],
    values,
  );

/** With Helm 4, `applyMethod` says whether it applies the release on the server ("ssa") or in the client ("csa"). */
export const releaseMetadata = ({release, place}: ReleaseName): Call => helm(place, ['get', 'metadata', release, '--output', 'json']);

/** What an install would create on a server of that version, with the CRDs of the chart. */
export const template = ({release, place}: ReleaseName, chart: ChartReference, values: string, kubeVersion: string): Call =>
  helm(
    place,
    ['template', release, ...chartArgs(chart), '--include-crds', ...(kubeVersion ? ['--kube-version', kubeVersion] : []), '--values', '-'],
    values,
  );

export const helmVersion: Call = helm(undefined, ['version', '--template', '{{.Version}}']);

export const releaseValues = ({release, place}: ReleaseName): Call => helm(place, ['get', 'values', release, '--output', 'json']);

/** With the defaults of the chart. */
export const effectiveValues = ({release, place}: ReleaseName): Call =>
  helm(place, ['get', 'values', release, '--all', '--output', 'json']);

/** The objects helm deletes when it uninstalls, as they were rendered. */
export const releaseManifest = ({release, place}: ReleaseName): Call => helm(place, ['get', 'manifest', release]);

/** Releases in any state but a former one; Helm 4 knows no --all, and both stop at 256 unless told otherwise. */
export const listReleases = (place: Place, {everywhere}: {everywhere: boolean}): Call =>
  helm(place, [
    'list',
    ...(everywhere ? ['--all-namespaces'] : []),
    ...['--deployed', '--failed', '--pending', '--uninstalling', '--max', '0', '--output', 'json'],
  ]);

export const releaseHistory = ({release, place}: ReleaseName): Call => helm(place, ['history', release, '--output', 'json']);

/** Without Helm's own wait: a Ctrl-C in it would leave a release that is neither there nor gone. */
export const uninstall = ({release, place}: ReleaseName): Call => helm(place, ['uninstall', release]);

/** To the revision before where none is named. */
export const rollback = ({release, place}: ReleaseName, revision?: number): Call =>
  helm(place, ['rollback', release, ...(revision === undefined ? [] : [String(revision)])]);

/** The definitions of a chart, as a manifest. */
export const showDefinitions = (chart: ChartReference): Call => helm(undefined, ['show', 'crds', ...chartArgs(chart)]);
