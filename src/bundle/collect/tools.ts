import {scalrChart} from '../../charts/define.ts';
import type {Call, ClusterTarget, ProcessResult} from '../../ground/command-line.ts';
import {ExpectedError} from '../../ground/errors.ts';
import {type Answer, isFields, isListOf, jsonText, readJson} from '../../ground/json.ts';
import {abortReason, withTimeout} from '../../ground/signals.ts';
import {isForbidden} from '../../ground/tool-errors.ts';
import type {Values} from '../../ground/tree.ts';
import {helmVersion, listReleases, releaseHistory, releaseManifest, releaseValues} from '../../helm/helm.ts';
import {objectsIn} from '../../helm/manifest.ts';
import {clientVersion} from '../../kubernetes/kubectl.ts';
import type {KubernetesObject} from '../../kubernetes/objects.ts';
import type {Processes} from '../../ports/processes.ts';
import {type HideIn, objectFiles, type TextFile} from './object-files.ts';
import type {Gap} from './read-namespace.ts';
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
    withTimeout(CALL_MS, signal, async (either): Promise<ProcessResult> => {
      try {
        return await processes.run(call, {signal: either});
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        return {exitCode: NOT_FOUND, stdout: '', stderr: error.message};
      }
    }),
});

/** A missing result of a tool. Helm data is optional for an account that cannot read it. */
export function toolGap(what: string, outcome: ProcessResult, signal: AbortSignal): Gap {
  const message = signal.aborted ? abortReason(signal) : (outcome.stderr.trim().split('\n').at(-1) ?? '');
  const kind = signal.aborted
    ? 'aborted'
    : /timed out waiting for a response/.test(message)
      ? 'stalled'
      : isForbidden(outcome)
        ? 'forbidden'
        : 'refused';
  return {what, trouble: {kind, message}, isMinor: kind === 'forbidden'};
}

export interface ToolVersions {
  /** Null if the tool reports no version. */
  versions: Readonly<Record<string, string | null>>;
  gaps: readonly Gap[];
}

/** Versions of this program and its tools. */
export async function readTools(place: ClusterTarget, tools: Tools, signal: AbortSignal): Promise<ToolVersions> {
  const gaps: Gap[] = [];
  const version = async (call: Call): Promise<string | null> => {
    const outcome = await tools.run(call);
    const [found = null] = /v?\d+\.\d+\.\d+[\w.+-]*/.exec(outcome.stdout) ?? [];
    if (outcome.exitCode !== 0) gaps.push(toolGap(`version of ${call.tool}`, outcome, signal));
    return found;
  };
  const [helm, kubectl] = await Promise.all([version(helmVersion), version(clientVersion(place))]);
  return {versions: {helm, kubectl, node: process.version, system: `${process.platform} ${process.arch}`}, gaps};
}

export type FoundRelease = Omit<BundledRelease, 'runsOf'> & {status: string};

export interface FoundReleases {
  releases: readonly FoundRelease[];
  gaps: readonly Gap[];
}

const WHAT = 'Helm releases';

const isListed = isListOf('name', 'chart', 'status');

/** Scalr agent releases of the namespace from Helm; empty if the account cannot read them. */
export async function findReleases(place: ClusterTarget, tools: Tools, signal: AbortSignal): Promise<FoundReleases> {
  const outcome = await tools.run(listReleases(place, {everywhere: false}));
  if (outcome.exitCode !== 0) return {releases: [], gaps: [toolGap(WHAT, outcome, signal)]};
  const listed = readJson('helm', outcome.stdout, isListed);
  if (listed.trouble) return {releases: [], gaps: [{what: WHAT, trouble: listed.trouble}]};
  return {
    releases: listed.value.flatMap(({name, chart, status}) => {
      const ours = scalrChart(chart);
      return ours === undefined ? [] : [{name, status, ...ours}];
    }),
    gaps: [],
  };
}

/** Releases according to workload labels, for accounts that cannot read Helm data. */
export function labelledReleases(objects: readonly KubernetesObject[]): readonly FoundRelease[] {
  const found = objects.flatMap(({kind, metadata: {labels}}) => {
    const name = labels?.['app.kubernetes.io/instance'];
    const ours = scalrChart(labels?.['helm.sh/chart'] ?? '');
    return name === undefined || ours === undefined || !WORKLOADS.has(kind) ? [] : [{name, status: 'unknown', ...ours}];
  });
  return [...new Map(found.map((release) => [release.name, release])).values()];
}

const WORKLOADS: ReadonlySet<string | undefined> = new Set(['Deployment', 'DaemonSet']);

interface ReadResult<T> {
  /** Undefined if there is a gap. */
  value?: T;
  gaps: readonly Gap[];
}

interface Read {
  files(hideIn: HideIn): readonly TextFile[];
  gaps: readonly Gap[];
  /** User-supplied values. */
  values: Values | undefined;
  /** Objects of the Helm manifest. */
  manifest: readonly KubernetesObject[];
}

/** Helm data of a release: history, values and manifest, without Secrets. */
export async function readRelease(release: string, place: ClusterTarget, tools: Tools, signal: AbortSignal): Promise<Read> {
  const folder = `releases/${release}`;
  const name = {release, place};
  const ask = async <T>(file: string, call: Call, read: (text: string) => Answer<T>): Promise<ReadResult<T>> => {
    const outcome = await tools.run(call);
    if (outcome.exitCode !== 0) return {gaps: [toolGap(`${folder}/${file}`, outcome, signal)]};
    const {trouble, ...answer} = read(outcome.stdout);
    return trouble ? {gaps: [{what: `${folder}/${file}`, trouble}]} : {...answer, gaps: []};
  };
  const [history, values, manifest] = await Promise.all([
    ask('history.json', releaseHistory(name), (text) => readJson('helm', text, isListOf())),
    ask('values.json', releaseValues(name), (text) => readJson('helm', text || '{}', isGiven)),
    ask('manifest', releaseManifest(name), readObjects),
  ]);
  return {
    files: (hideIn) => [
      ...('value' in history ? [{name: `${folder}/history.json`, text: jsonText(history.value)}] : []),
      ...('value' in values ? [{name: `${folder}/values.json`, text: jsonText(values.value ?? {})}] : []),
      ...objectFiles(manifest.value ?? [], hideIn, (file) => file.replace(/^objects/, `${folder}/manifest`)),
    ],
    gaps: [history, values, manifest].flatMap(({gaps}) => gaps),
    values: values.value ?? undefined,
    manifest: manifest.value ?? [],
  };
}

/** Helm prints null if there are no values. */
const isGiven = (value: unknown): value is Values | null => value === null || isFields(value);

function readObjects(text: string): Answer<KubernetesObject[]> {
  try {
    const objects = objectsIn(text);
    if (objects.every(({metadata}) => typeof metadata?.name === 'string')) return {value: objects};
  } catch {
    // An alias without an anchor, or too many aliases.
  }
  return {trouble: {kind: 'refused', message: 'the output of helm is not a manifest'}};
}
