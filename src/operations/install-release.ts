import type {Cause} from '../diagnose/cause.ts';
import {explainSnapshot} from '../diagnose/explain.ts';
import {
  type Call,
  type ClusterTarget,
  type ReleaseName,
  reportCommands,
} from '../ground/command-line.ts';
import {ExpectedError, failed, maskSecrets, onFailure} from '../ground/errors.ts';
import {ADVICE, changedDefinition, toolFailure} from '../ground/tool-errors.ts';
import {isMap, type Tree, type Values} from '../ground/tree.ts';
import {helmVersion, rollback, uninstall} from '../helm/helm.ts';
import type {ReleaseRecord} from '../helm/release-record.ts';
import type {ClusterAccess} from '../helm/releases.ts';
import {dryRunApply, dryRunMerge, dryRunOf} from '../kubernetes/kubectl.ts';
import {
  type DefinitionObject,
  type Event,
  isSameRef,
  type KubernetesObject,
  refOf,
  type Snapshot,
} from '../kubernetes/objects.ts';
import {REQUIRED_MS, type Reader, servedResources} from '../kubernetes/resources.ts';
import type {Files, Processes} from '../ports/system.ts';
import {type InstallFacts, isPending, newestRevision} from '../release/read-release.ts';
import {readSnapshot} from '../release/read-snapshot.ts';
import {type RunStepsDeps, runSteps} from './run-steps.ts';
import {ofPhase, type Plan, type Step} from './step.ts';
import type {Rollback} from './upgrade.ts';
import {
  releaseText,
  requireReady,
  requireRecord,
  requireSameRevision,
  type WatchDeps,
  type Watched,
  watchRelease,
  withRecord,
} from './watch-release.ts';

/** Validates all objects with a server-side dry run. Returns the result as text. @throws ExpectedError */
export async function dryRun(
  plan: Plan,
  objects: readonly KubernetesObject[],
  {kubeTarget}: ReleaseName,
  facts: Pick<InstallFacts, 'namespace' | 'installed' | 'release'>,
  {kubernetes, processes}: {kubernetes: Reader; processes: Pick<Processes, 'run'>},
): Promise<string> {
  const {namespace} = kubeTarget;
  if (facts.namespace?.metadata.deletionTimestamp !== undefined)
    throw failed(
      ADVICE.terminating.code,
      `Namespace ${namespace} is being deleted. Nothing was changed.`,
      ADVICE.terminating.suggestions(),
    );
  if (plan.steps.length === 0) return 'No changes.\n';
  const exists = facts.namespace !== undefined;
  // Objects in a namespace that does not exist yet cannot be validated.
  const applied = plan.steps
    .filter(({phase, call}) => call.args[0] === 'apply' && (phase === 'namespace' || exists))
    .map(({call}) => dryRunOf(call));
  for (const call of applied) await ask(call, processes);
  if (!exists) {
    return `The API server accepts the namespace. Objects in ${namespace} cannot be validated until it exists.\n`;
  }
  const early = await undefinedYet(objects, plan, kubernetes);
  const ready = objects.filter((object) => !early.includes(object));
  for (const call of callsFor(ready, kubeTarget, facts)) await ask(call, processes);
  if (facts.release === undefined) await requireDefinitions(plan, objects, kubeTarget, processes);
  if (early.length === 0) return 'The API server accepts all objects.\n';
  const names = early.map(({kind, metadata}) => `${kind} ${metadata.name}`).join(', ');
  return `The API server accepts all other objects. These cannot be validated until their CRDs are installed: ${names}.\n`;
}

async function ask(call: Call, processes: Pick<Processes, 'run'>): Promise<void> {
  const outcome = await processes.run(call);
  if (outcome.exitCode !== 0) throw toolFailure(call, outcome);
}

/** Helm 4 applies the CRDs of a new release, and fails where others changed them. Helm 3 leaves existing CRDs as they are. */
async function requireDefinitions(
  {steps}: Plan,
  objects: readonly KubernetesObject[],
  kubeTarget: ClusterTarget,
  processes: Pick<Processes, 'run'>,
): Promise<void> {
  const definitions = objects.filter(({kind}) => kind === 'CustomResourceDefinition');
  const install = ofPhase(steps, 'release')[0]?.call;
  if (definitions.length === 0 || install === undefined) return;
  if ((await processes.run(helmVersion)).stdout.startsWith('v3.')) return;
  const call = dryRunApply(kubeTarget, definitions, {asHelm: true});
  const outcome = await processes.run(call);
  if (outcome.exitCode === 0) return;
  if (!outcome.stderr.includes('conflict')) throw toolFailure(call, outcome);
  throw failed(
    'OBJECT_NOT_OWNED',
    `Helm cannot install the CRDs of the chart: ${outcome.stderr.trim()}`,
    changedDefinition(kubeTarget, install.args),
  );
}

/** Custom resources whose CRDs the install creates. */
async function undefinedYet(
  objects: readonly KubernetesObject[],
  {steps}: Plan,
  kubernetes: Reader,
): Promise<KubernetesObject[]> {
  const definitions = objects.filter(
    ({kind}) => kind === 'CustomResourceDefinition',
  ) as DefinitionObject[];
  if (definitions.length === 0) return [];
  const {served} = await servedResources(kubernetes, {
    signal: new AbortController().signal,
    idleMs: REQUIRED_MS,
  });
  const changes = ofPhase(steps, 'definitions').length > 0;
  const comes = definitions.filter(({metadata}) => changes || !served.has(metadata.name));
  return objects.filter(({apiVersion = '', kind}) =>
    comes.some(({spec}) => spec?.names?.kind === kind && apiVersion.startsWith(`${spec?.group}/`)),
  );
}

/** Helm removes fields that it installed before; for any other field manager the API server would keep them. */
function callsFor(
  objects: readonly KubernetesObject[],
  kubeTarget: ClusterTarget,
  {installed}: Pick<InstallFacts, 'installed'>,
): Call[] {
  const merged = objects
    .filter(({kind = ''}) => !APPLIED_KINDS.has(kind))
    .map((object) =>
      mergePatch(
        tree(object),
        tree(installed.find((each) => isSameRef(refOf(each), refOf(object)))),
      ),
    );
  const applied = objects.filter(({kind = ''}) => APPLIED_KINDS.has(kind));
  return [
    ...(merged.length === 0 ? [] : [dryRunMerge(kubeTarget, merged as object[])]),
    ...(applied.length === 0 ? [] : [dryRunApply(kubeTarget, applied)]),
  ];
}

const APPLIED_KINDS: ReadonlySet<string> = new Set([
  'Secret',
  'ConfigMap',
  'CustomResourceDefinition',
]);

const tree = (object: KubernetesObject | undefined): Tree => (object ?? {}) as unknown as Tree;

/** An object with null for every field that only the former object has, so that a merge removes it. */
export function mergePatch(after: Tree, before: Tree | undefined): Tree {
  if (Array.isArray(after)) {
    const former = Array.isArray(before) ? before : [];
    return after.map((each) =>
      mergePatch(
        each,
        isNamed(each)
          ? former.find((other) => isNamed(other) && other.name === each.name)
          : undefined,
      ),
    );
  }
  if (!isMap(after)) return after;
  const known = isMap(before) ? before : {};
  const gone = Object.keys(known).filter((key) => after[key] === undefined);
  return {
    ...Object.fromEntries(
      Object.entries(after).map(([key, below]) => [key, mergePatch(below, known[key])]),
    ),
    ...Object.fromEntries(gone.map((key) => [key, null])),
  };
}

/** Containers, variables and volumes are merged by their names. */
const isNamed = (tree: Tree): tree is Values & {name: string} =>
  isMap(tree) && typeof tree['name'] === 'string';

export interface InstallReleaseDeps extends WatchDeps, Pick<RunStepsDeps, 'onStep'> {
  files: Files;
}

interface BringUpOptions {
  waits: boolean;
  /** On failure the release is rolled back, and the diagnostics are saved at this path. */
  rollBackWith?: string | undefined;
  /** How a change of an installed release is rolled back (default: with one call of helm). */
  rollback?: Pick<Rollback, 'steps'> | undefined;
}

/** Runs the plan of an install and watches until the release is ready. @throws ExpectedError */
export async function installRelease(
  {steps}: Plan,
  name: ReleaseName,
  facts: InstallFacts,
  {waits, rollBackWith, rollback: given}: BringUpOptions,
  deps: InstallReleaseDeps,
): Promise<Watched | undefined> {
  const {release} = facts;
  await requireSameRevision(name, facts, deps);
  let isNeeded = false;
  const withoutHelm = new Set<Step>(
    [...ofPhase(steps, 'drain'), ...ofPhase(steps, 'replace')].filter(({workloads}) => workloads),
  );
  try {
    const onStep: typeof deps.onStep = (step, ...news) => {
      isNeeded ||= withoutHelm.has(step);
      deps.onStep(step, ...news);
    };
    const atFailure = async (failure: ExpectedError): Promise<never> => {
      throw rollBackWith === undefined ? await withRecord(failure, name, release, deps) : failure;
    };
    await runSteps(steps, {...deps, onStep}).catch(onFailure(atFailure));
    if (!waits) return undefined;
    // Helm has ended, so its record can be read while the pods start.
    const record = requireRecord(name, deps);
    record.catch(() => undefined);
    const watched = await watchRelease(name, deps);
    requireReady(watched, releaseText(name, rollBackWith === undefined), deps);
    await record;
    return watched;
  } catch (error) {
    if (
      rollBackWith === undefined ||
      !(error instanceof ExpectedError) ||
      error.code === 'INTERRUPTED'
    )
      throw error;
    throw await rollBack(name, release, error, {
      ...deps,
      diagnosticsPath: rollBackWith,
      steps: given?.steps,
      isNeeded,
    });
  }
}

const SNAPSHOT_TIMEOUT_MS = 30_000;

interface RollBackDeps extends ClusterAccess {
  files: Pick<Files, 'write'>;
  now(): Date;
  diagnosticsPath: string;
  steps?: readonly Pick<Step, 'call' | 'tolerates'>[] | undefined;
  /** Even if Helm created no new revision. */
  isNeeded?: boolean;
}

/** Saves the diagnostics if possible, then rolls a failed release back. Returns the failure with the result of the rollback. */
async function rollBack(
  name: ReleaseName,
  before: ReleaseRecord | undefined,
  failure: ExpectedError,
  deps: RollBackDeps,
): Promise<ExpectedError> {
  const rollBackError = (what: string, ...suggestions: readonly string[]): ExpectedError =>
    failure.with(`${failure.message}\n${what}`, [...failure.suggestions, ...suggestions]);
  const {processes} = deps;
  try {
    const state = await newestRevision(name, deps);
    if (state === undefined || (state.revision === before?.revision && !deps.isNeeded))
      return rollBackError('Nothing to roll back: Helm created no new revision.');
    if (isPending(state)) return rollBackError(`Not rolled back: the release is ${state.status}.`);
    if (before !== undefined && before.status !== 'deployed')
      return rollBackError(`Not rolled back: the previous revision was ${before.status}.`);
    const lost = await saveDiagnostics(name, deps).catch(onFailure((failure) => failure));
    for (const {call, tolerates} of deps.steps ?? [
      {call: before === undefined ? uninstall(name) : rollback(name, before.revision)},
    ]) {
      const outcome = await processes.start(call).outcome;
      if (outcome.exitCode !== 0 && !tolerates?.test(outcome.stderr))
        throw toolFailure(call, outcome);
    }
    const done =
      before === undefined
        ? 'Rolled back: the release was uninstalled. Secrets and the namespace remain for the next install.'
        : `Rolled back to revision ${before.revision}.`;
    if (lost === undefined)
      return rollBackError(done, `Diagnostics from before the rollback: ${deps.diagnosticsPath}`);
    return rollBackError(
      `${done}\nCannot save the diagnostics from before the rollback: ${lost.message}`,
      ...lost.suggestions,
    );
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return rollBackError(`Not rolled back: ${error.message}`, ...error.suggestions);
  }
}

/** @throws ExpectedError, which is only reported: a rollback without diagnostics is better than a broken release */
async function saveDiagnostics(
  name: ReleaseName,
  {kubernetes, files, now, diagnosticsPath}: RollBackDeps,
): Promise<undefined> {
  const {snapshot} = await readSnapshot(name, kubernetes, AbortSignal.timeout(SNAPSHOT_TIMEOUT_MS));
  const text = diagnosticsText(name, snapshot, explainSnapshot(snapshot, now()), now());
  await files.write(diagnosticsPath, text, {isPrivate: true, flag: '--save'});
}

/** The state of a release that did not become ready, as JSON: no specs, which may contain secrets, and no passwords in strings. */
function diagnosticsText(
  name: ReleaseName,
  {workloads, pods, claims, events, logs}: Snapshot,
  causes: readonly Cause[],
  now: Date,
): string {
  const states = [...workloads, ...pods, ...claims].map(({kind, metadata: {name}, status}) => ({
    kind,
    name,
    status,
  }));
  const {release} = name;
  const diagnostics = {
    release,
    time: now.toISOString(),
    causes,
    states,
    events: events.map(eventOf),
    logs,
    page: reportCommands(name),
  };
  return `${JSON.stringify(diagnostics, (_, value: unknown) => (typeof value === 'string' ? maskSecrets(value) : value), 2)}\n`;
}

const eventOf = ({
  type,
  reason,
  message,
  count,
  lastTimestamp,
  eventTime,
  involvedObject,
}: Event): object => ({
  type,
  reason,
  message,
  count,
  time: lastTimestamp ?? eventTime,
  object: `${involvedObject?.kind}/${involvedObject?.name}`,
});
