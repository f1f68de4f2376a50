import {scalrChart} from '../../../charts/releases/chart-name.ts';
import {helmVersion} from '../../../cluster/helm/release-calls.ts';
import {objectsIn, type Releases, type Revision} from '../../../cluster/helm/release-record.ts';
import {clientVersion} from '../../../cluster/kubernetes/kubectl.ts';
import type {KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {abortReason, withTimeout} from '../../../ground/async.ts';
import type {Call} from '../../../ground/call.ts';
import type {ClusterTarget, ProcessResult} from '../../../ground/command-line.ts';
import {onFailure} from '../../../ground/errors.ts';
import type {ReadError} from '../../../ground/fact.ts';
import {jsonText} from '../../../ground/json.ts';
import type {Processes} from '../../../ground/system/system.ts';
import {isForbidden} from '../../../ground/tool-errors.ts';
import {type Gap, optionalGap} from './gap.ts';
import {type HideIn, objectFiles, type TextFile} from './read-objects.ts';
import type {BundledRelease} from './scope.ts';

/** Calls helm and kubectl; errors are part of the result. */
export type Tools = Pick<Processes, 'run'>;

/** Helm has no request timeout. */
const CALL_MS = 30_000;
/** As in shells. */
const NOT_FOUND = 127;

/** Tools may be missing or not respond: the bundle is written without their output. */
export const toolsWithTimeout = (processes: Processes, signal: AbortSignal): Tools => ({
  run: (call) =>
    withTimeout(CALL_MS, signal, (either) =>
      processes
        .run(call, {signal: either})
        .catch(onFailure(({message}) => ({exitCode: NOT_FOUND, stdout: '', stderr: message}))),
    ),
});

/** A missing result of a tool. Helm data is optional for an account that cannot read it. */
export function toolGap(what: string, outcome: ProcessResult, signal: AbortSignal): Gap {
  if (signal.aborted)
    return {what, error: {kind: 'aborted', message: abortReason(signal)}, isMinor: false};
  const message = outcome.stderr.trim().split('\n').at(-1) ?? '';
  if (outcome.isTimedOut) return {what, error: {kind: 'stalled', message}, isMinor: false};
  return optionalGap(what, {kind: isForbidden(outcome) ? 'forbidden' : 'refused', message});
}

/** Versions of the tools, null if a tool reports none. */
export async function readToolVersions(
  kubeTarget: ClusterTarget,
  tools: Tools,
  signal: AbortSignal,
) {
  const gaps: Gap[] = [];
  const version = async (call: Call): Promise<string | null> => {
    const outcome = await tools.run(call);
    const [found = null] = /v?\d+\.\d+\.\d+[\w.+-]*/.exec(outcome.stdout) ?? [];
    if (outcome.exitCode !== 0) gaps.push(toolGap(`version of ${call.tool}`, outcome, signal));
    return found;
  };
  const [helm, kubectl] = await Promise.all([
    version(helmVersion),
    version(clientVersion(kubeTarget)),
  ]);
  return {
    versions: {helm, kubectl, node: process.version, system: `${process.platform} ${process.arch}`},
    gaps,
  };
}

export type FoundRelease = Omit<BundledRelease, 'runsOf'> & {status: string};

/** Scalr agent releases of the namespace from Helm; empty if the account cannot read them. */
export async function findReleases(
  kubeTarget: ClusterTarget,
  releases: Releases,
  signal: AbortSignal,
): Promise<{releases: FoundRelease[]; gaps: Gap[]}> {
  const {items, error} = await releases.list(kubeTarget, {everywhere: false, signal});
  if (error) return {releases: [], gaps: [optionalGap('Helm releases', error)]};
  return {
    releases: items.flatMap(({name, chart, status}) => {
      const ours = scalrChart(chart);
      return ours === undefined ? [] : [{name, status, ...ours}];
    }),
    gaps: [],
  };
}

/** Releases according to workload labels, for accounts that cannot read Helm data. */
export function labeledReleases(objects: readonly KubernetesObject[]): readonly FoundRelease[] {
  const found = objects.flatMap(({kind, metadata: {labels}}) => {
    const name = labels?.['app.kubernetes.io/instance'];
    const ours = scalrChart(labels?.['helm.sh/chart'] ?? '');
    const isAgent = kind === 'Deployment' || kind === 'DaemonSet';
    return name === undefined || ours === undefined || !isAgent
      ? []
      : [{name, status: 'unknown', ...ours}];
  });
  return [...new Map(found.map((release) => [release.name, release])).values()];
}

/** Helm data of a release: history, user-supplied values and manifest, without Secrets. */
export async function readRelease(
  release: string,
  kubeTarget: ClusterTarget,
  releases: Releases,
  signal: AbortSignal,
) {
  const folder = `releases/${release}`;
  const name = {release, kubeTarget};
  const [history, newest] = await Promise.all([
    releases.history(name, {signal}),
    releases.newest(name, {signal}),
  ]);
  const manifest = newest.object && objectsOf(newest.object.manifest);
  return {
    files: (hideIn: HideIn): TextFile[] => [
      ...(history.items.length > 0
        ? [{name: `${folder}/history.json`, text: jsonText(history.items.map(lineOf))}]
        : []),
      ...(newest.object
        ? [{name: `${folder}/values.json`, text: jsonText(newest.object.values)}]
        : []),
      ...objectFiles(manifest ?? [], hideIn, (file) =>
        file.replace(/^objects/, `${folder}/manifest`),
      ),
    ],
    gaps: [
      ...(history.error ? [optionalGap(`${folder}/history.json`, history.error)] : []),
      ...(newest.error
        ? ['values.json', 'manifest'].map((file) =>
            optionalGap(`${folder}/${file}`, newest.error as ReadError),
          )
        : []),
      ...(newest.object && manifest === undefined
        ? [optionalGap(`${folder}/manifest`, NO_MANIFEST)]
        : []),
    ],
    revision: newest.object,
    values: newest.object?.values,
    manifest: manifest ?? [],
  };
}

/** As `helm history` prints it. */
const lineOf = ({
  revision,
  updated,
  status,
  chart,
  app_version,
  description,
}: Revision): object => ({
  revision,
  updated,
  status,
  chart,
  app_version,
  description,
});

const NO_MANIFEST: ReadError = {
  kind: 'refused',
  message: 'the record of Helm contains no valid manifest',
};

/** A line that is not empty, a comment or a separator of documents. */
const CONTENT = /^(?!\s*(?:#|$)|---)/m;

/** Undefined if it is no manifest: an alias without an anchor, too many aliases, or other content. */
function objectsOf(manifest: string): KubernetesObject[] | undefined {
  try {
    const objects = objectsIn(manifest);
    // Only lines of a wrapper. A chart without objects renders comments and separators at most.
    if (objects.length === 0 && CONTENT.test(manifest)) return undefined;
    return objects.every(({metadata}) => typeof metadata?.name === 'string') ? objects : undefined;
  } catch {
    return undefined;
  }
}
