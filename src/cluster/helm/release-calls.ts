import type {ChartReference, HelmCall} from '../../ground/call.ts';
import type {ClusterTarget, ReleaseName} from '../../ground/command-line.ts';

/** Calls of helm about releases. */

const JSON_OUTPUT = ['--output', 'json'];

/**
 * Installs or upgrades without waiting, because this program watches the release. `forcesConflicts` overwrites fields of other owners; only Helm 4
 * has the flag, and only for releases with server-side apply.
 */
export const upgradeInstall = (
  name: ReleaseName,
  chart: ChartReference,
  values: string,
  {forcesConflicts = false}: {forcesConflicts?: boolean} = {},
): HelmCall => ({
  tool: 'helm',
  verb: 'upgrade',
  ...name,
  chart,
  flags: ['--install', '--reset-values', ...(forcesConflicts ? ['--force-conflicts'] : [])],
  input: values,
});

/** For the user to run: upgrades to another version with the values that were given to Helm before. */
export const upgradeWithValues = (name: ReleaseName, chart: ChartReference): HelmCall => ({
  tool: 'helm',
  verb: 'upgrade',
  ...name,
  chart,
  flags: ['--reset-then-reuse-values'],
});

/** With Helm 4, `applyMethod` is the apply method of the release: "ssa" (server-side) or "csa" (client-side). */
export const releaseMetadata = (name: ReleaseName): HelmCall => ({
  tool: 'helm',
  verb: 'get metadata',
  ...name,
  flags: JSON_OUTPUT,
});

export const helmVersion: HelmCall = {
  tool: 'helm',
  verb: 'version',
  flags: ['--template', '{{.Version}}'],
};

/** Of the newest revision by default; `--all` includes the chart defaults. */
export const releaseValues = (
  name: ReleaseName,
  revision?: number,
  ...more: '--all'[]
): HelmCall => ({
  tool: 'helm',
  verb: 'get values',
  ...name,
  ...(revision === undefined ? {} : {revision}),
  flags: [...more, ...JSON_OUTPUT],
});

/** Rendered objects, of the newest revision by default, which helm deletes when it uninstalls the release. */
export const releaseManifest = (name: ReleaseName, revision?: number): HelmCall => ({
  tool: 'helm',
  verb: 'get manifest',
  ...name,
  ...(revision === undefined ? {} : {revision}),
});

/** Releases in every state except superseded. Helm 4 has no --all, and both versions list at most 256 by default. */
export const listReleases = (
  kubeTarget: ClusterTarget,
  {everywhere}: {everywhere: boolean},
): HelmCall => ({
  tool: 'helm',
  verb: 'list',
  kubeTarget,
  flags: [
    ...(everywhere ? ['--all-namespaces'] : []),
    '--deployed',
    '--failed',
    '--pending',
    '--uninstalling',
    '--max',
    '0',
    ...JSON_OUTPUT,
  ],
});

export const releaseHistory = (name: ReleaseName): HelmCall => ({
  tool: 'helm',
  verb: 'history',
  ...name,
  flags: JSON_OUTPUT,
});

/** Without --wait: a Ctrl-C would leave the release partly uninstalled. */
export const uninstall = (name: ReleaseName): HelmCall => ({
  tool: 'helm',
  verb: 'uninstall',
  ...name,
  flags: ['--debug'],
});

/** Rolls back to the previous revision by default. */
export const rollback = (name: ReleaseName, revision?: number): HelmCall => ({
  tool: 'helm',
  verb: 'rollback',
  ...name,
  ...(revision === undefined ? {} : {revision}),
});
