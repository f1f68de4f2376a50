import {scalrChart} from '../charts/define.ts';
import {versionStatus} from '../charts/version-status.ts';
import type {ReleaseName} from '../ground/command-line.ts';
import {ExpectedError} from '../ground/errors.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import {newestRevision} from '../release/read-release.ts';
import {writtenSettings} from '../values/read-values.ts';
import type {InstalledAgent} from '../wizard/installed.ts';

/** The release of this name with its settings. Undefined if there is none, it cannot be read, or its version is too old to be read. */
export async function installedAgent(name: ReleaseName, access: ClusterAccess, signal: AbortSignal): Promise<InstalledAgent | undefined> {
  try {
    const found = await newestRevision(name, access, signal);
    const target = scalrChart(found?.chart ?? '');
    if (found === undefined || target === undefined || found.status === 'uninstalled') return undefined;
    if (versionStatus(target.chart, target.version).standing === 'older-than-known') return undefined;
    return {
      ...{release: name.release, namespace: name.kubeTarget.namespace, ...target, status: found.status},
      settings: writtenSettings(found.values, target),
    };
  } catch (error) {
    if (error instanceof ExpectedError) return undefined;
    throw error;
  }
}
