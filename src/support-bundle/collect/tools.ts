import type {Values} from '../../charts/tree.ts';
import {scalrChart} from '../../cluster/facts/releases.ts';
import {objectsIn} from '../../cluster/manifest.ts';
import type {KubernetesObject} from '../../cluster/objects.ts';
import {ExpectedError} from '../../errors.ts';
import {helmVersion, listReleases, releaseHistory, releaseManifest, releaseValues} from '../../helm/helm.ts';
import {clientVersion} from '../../kubernetes/kubectl.ts';
import type {Call, Outcome, Place, Processes} from '../../ports/processes.ts';
import {abortReason, withTimeout} from '../../signals.ts';
import {isForbidden} from '../../tool-errors.ts';
import {type Answer, isFields, isListOf, jsonText, readJson} from '../json.ts';
import {type HideIn, objectFiles, type TextFile} from './object-files.ts';
import type {Gap} from './read-namespace.ts';
import type {BundledRelease} from './scope.ts';

/** Reads with helm and kubectl; whatever befalls a call is an outcome. */
export type Tools = Pick<Processes, 'run'>;

/** Helm has no limit of its own for a request. */
const CALL_MS = 30_000;
/** As shells say it. */
const NOT_THERE = 127;

/** Tools that may be missing and do not answer for ever: the bundle is made without what they would have said. */
export const patientTools = (processes: Processes, over: AbortSignal): Tools => ({
  run: (call) =>
    withTimeout(CALL_MS, over, async (signal): Promise<Outcome> => {
      try {
        return await processes.run(call, {over: signal});
      } catch (error) {
        if (!(error instanceof ExpectedError)) throw error;
        return {exitCode: NOT_THERE, stdout: '', stderr: error.message};
      }
    }),
});

/** What a tool did not say. A modest account may not read what helm keeps, and loses little by it. */
export function toolGap(what: string, outcome: Outcome, over: AbortSignal): Gap {
  const message = over.aborted ? abortReason(over) : (outcome.stderr.trim().split('\n').at(-1) ?? '');
  const kind = over.aborted ? 'over' : /no answer in time/.test(message) ? 'stalled' : isForbidden(outcome) ? 'forbidden' : 'refused';
  return {what, trouble: {kind, message}, isMinor: kind === 'forbidden'};
}

export interface ToolVersions {
  /** Null where a tool did not say. */
  versions: Readonly<Record<string, string | null>>;
  gaps: readonly Gap[];
}

/** What wrote the bundle, and with what. */
export async function readTools(place: Place, tools: Tools, over: AbortSignal): Promise<ToolVersions> {
  const gaps: Gap[] = [];
  const version = async (call: Call): Promise<string | null> => {
    const outcome = await tools.run(call);
    const [found = null] = /v?\d+\.\d+\.\d+[\w.+-]*/.exec(outcome.stdout) ?? [];
    if (outcome.exitCode !== 0) gaps.push(toolGap(`version of ${call.tool}`, outcome, over));
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

const WHAT = 'releases of helm';

const isListed = isListOf('name', 'chart', 'status');

/** Releases of a Scalr agent in the namespace as helm knows them, or nothing where it may not look. */
export async function findReleases(place: Place, tools: Tools, over: AbortSignal): Promise<FoundReleases> {
  const outcome = await tools.run(listReleases(place, {everywhere: false}));
  if (outcome.exitCode !== 0) return {releases: [], gaps: [toolGap(WHAT, outcome, over)]};
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

/** What the labels of workloads say of their releases, for an account that may not see what helm keeps. */
export function labelledReleases(objects: readonly KubernetesObject[]): readonly FoundRelease[] {
  const found = objects.flatMap(({kind, metadata: {labels}}) => {
    const name = labels?.['app.kubernetes.io/instance'];
    const ours = scalrChart(labels?.['helm.sh/chart'] ?? '');
    return name === undefined || ours === undefined || !WORKLOADS.has(kind) ? [] : [{name, status: 'unknown', ...ours}];
  });
  return [...new Map(found.map((release) => [release.name, release])).values()];
}

const WORKLOADS: ReadonlySet<string | undefined> = new Set(['Deployment', 'DaemonSet']);

interface Asked<T> {
  /** Undefined where there is a gap. */
  value?: T;
  gaps: readonly Gap[];
}

interface Read {
  files(hideIn: HideIn): readonly TextFile[];
  gaps: readonly Gap[];
  /** What was given to helm. */
  values: Values | undefined;
  /** Objects of the manifest, as helm has them. */
  manifest: readonly KubernetesObject[];
}

/** What helm knows of a release: its history, the values given and the objects it made, without their Secrets. */
export async function readRelease(release: string, place: Place, tools: Tools, over: AbortSignal): Promise<Read> {
  const folder = `releases/${release}`;
  const name = {release, place};
  const ask = async <T>(file: string, call: Call, read: (text: string) => Answer<T>): Promise<Asked<T>> => {
    const outcome = await tools.run(call);
    if (outcome.exitCode !== 0) return {gaps: [toolGap(`${folder}/${file}`, outcome, over)]};
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

/** Helm prints null where nothing was given. */
const isGiven = (value: unknown): value is Values | null => value === null || isFields(value);

function readObjects(text: string): Answer<KubernetesObject[]> {
  try {
    const objects = objectsIn(text);
    if (objects.every(({metadata}) => typeof metadata?.name === 'string')) return {value: objects};
  } catch {
    // An alias without an anchor, or more of them than anybody would write.
  }
  return {trouble: {kind: 'refused', message: 'what helm said is no manifest'}};
}
