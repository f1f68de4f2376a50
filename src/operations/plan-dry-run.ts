import {helmVersion} from '../cluster/helm/release-calls.ts';
import {servedResources} from '../cluster/kubernetes/discovery.ts';
import {dryRunApply, dryRunCreate, dryRunMerge, dryRunOf} from '../cluster/kubernetes/dry-runs.ts';
import {isWideObject} from '../cluster/kubernetes/kinds.ts';
import {
  includesRef,
  isSameRef,
  kindAndName,
  type ObjectRef,
  refOf,
} from '../cluster/kubernetes/object-refs.ts';
import type {DefinitionObject, KubernetesObject} from '../cluster/kubernetes/objects.ts';
import {REQUIRED_MS, type Reader} from '../cluster/kubernetes/resources.ts';
import {temporaryName} from '../cluster/kubernetes/trial-objects.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import type {Call} from '../ground/call.ts';
import type {ClusterTarget, ReleaseName} from '../ground/command-line.ts';
import {failed} from '../ground/errors.ts';
import {ADVICE, changedDefinition} from '../ground/known-failures.ts';
import type {Processes} from '../ground/system/system.ts';
import {groupsOf} from '../ground/text.ts';
import {toolFailure} from '../ground/tool-errors.ts';
import {isMap, type Tree, type Values} from '../ground/tree.ts';
import {requireHelmContext} from './helm-context.ts';
import {podBatches} from './pod-trials.ts';
import {
  deletionBatches,
  type NotChecked,
  requireAccepted,
  type TrialBatch,
} from './server-dry-run.ts';
import type {ReleaseStep, Step} from './step.ts';

/** What is tried of a plan before its first step. */
export interface TriedPlan {
  /** Steps without a phase are not tried. */
  steps: readonly (Step & Partial<Pick<ReleaseStep, 'phase'>>)[];
  name: ReleaseName;
  /** Rendered objects of the release that helm applies. */
  objects: readonly KubernetesObject[];
  facts: Pick<InstallFacts, 'namespace' | 'installed' | 'release' | 'drift'>;
}

interface TrialDeps {
  kubernetes: Reader;
  processes: Pick<Processes, 'run'>;
}

/** The result of a server-side dry run. */
export interface PlanCheck {
  /** For a person who asked for a dry run. */
  text: string;
  /** What could not be tried, although it can be before the change. */
  notChecked: readonly NotChecked[];
  /** What can be tried only in the middle of the change. */
  later: readonly NotChecked[];
}

/** Tries every object, one pod per template and every deletion with a server-side dry run. @throws ExpectedError if one is rejected */
export async function dryRunPlan(tried: TriedPlan, deps: TrialDeps): Promise<PlanCheck> {
  const {steps, name, objects, facts} = tried;
  const {namespace} = name.kubeTarget;
  if (facts.namespace?.metadata.deletionTimestamp !== undefined)
    throw failed(
      ADVICE.terminating.code,
      `Namespace ${namespace} is being deleted. Nothing was changed.`,
      ADVICE.terminating.suggestions(),
    );
  if (steps.length === 0) return {text: 'No changes.\n', notChecked: [], later: []};
  const early = await untriable(tried, deps.kubernetes);
  const ready = objects.filter((object) => !early.some((each) => each.object === object));
  const [notChecked] = await Promise.all([
    requireAccepted(batchesOf(tried, ready), deps.processes),
    requireHelmContext(steps, name.kubeTarget, deps.processes),
  ]);
  if (facts.release === undefined) await requireDefinitions(tried, deps.processes);
  const later = early.map(({object, reason}) => ({what: kindAndName(object), reason}));
  return {text: checkText([...notChecked, ...later]), notChecked, later};
}

/** Tries steps that create nothing, and every deletion. @throws ExpectedError if one is rejected */
export const dryRunSteps = (
  steps: TriedPlan['steps'],
  kubeTarget: ClusterTarget,
  processes: TrialDeps['processes'],
): Promise<NotChecked[]> =>
  requireAccepted(
    [
      ...steps.flatMap((step) => stepBatch(step, true)),
      ...deletionBatches(
        steps.flatMap(({deletes = []}) => deletes),
        kubeTarget,
      ),
    ],
    processes,
  );

function checkText(left: readonly NotChecked[]): string {
  if (left.length === 0) return 'The API server accepts all objects.\n';
  const lines = groupsOf(left, ({reason}) => reason).map(
    (same) => `  - ${same.map(({what}) => what).join(', ')}: ${same[0].reason}\n`,
  );
  return `The API server accepts all other objects. Not checked:\n${lines.join('')}`;
}

/** `ready` are the objects that can exist before others of the plan. */
function batchesOf(tried: TriedPlan, ready: readonly KubernetesObject[]): TrialBatch[] {
  const {steps, name, facts} = tried;
  const {kubeTarget} = name;
  const exists = facts.namespace !== undefined;
  const replaced = steps.flatMap(({phase, workloads = []}) =>
    phase === 'replace' ? workloads : [],
  );
  return [
    ...steps.flatMap((step) => stepBatch(step, exists)),
    ...objectBatches(
      ready.filter((each) => isSent(each, tried)),
      replaced,
      tried,
    ),
    ...(exists ? podBatches(tried, kubeTarget) : []),
    ...deletionBatches(
      steps.flatMap(({deletes = []}) => deletes),
      kubeTarget,
    ),
  ];
}

/** Later steps change what earlier ones have made. */
const TRIED_PHASES: ReadonlySet<ReleaseStep['phase'] | undefined> = new Set([
  'namespace',
  'secrets',
  'start',
  'keep',
  'definitions',
  'drain',
  'unlock',
]);

function stepBatch(
  {phase, title, call, tolerates}: TriedPlan['steps'][number],
  exists: boolean,
): TrialBatch[] {
  if (call.tool !== 'kubectl' || call.requests === undefined) return [];
  const isRestart = call.verb === 'rollout restart';
  const isTried = isRestart || (TRIED_PHASES.has(phase) && (exists || phase === 'namespace'));
  if (!isTried) return [];
  const excuses = (stderr: string): string | undefined =>
    tolerates?.test(stderr) ? '' : undefined;
  const trial = dryRunOf(call);
  return [{call: trial, trials: [{what: title, call: trial, excuses}]}];
}

/** With client-side apply, helm sends only what it changes; CRDs only with a new release. */
function isSent(object: KubernetesObject, {facts}: TriedPlan): boolean {
  const {release, installed, drift} = facts;
  if (release === undefined) return true;
  if (object.kind === 'CustomResourceDefinition') return false;
  const before = installed.find((each) => isSameRef(refOf(each), refOf(object)));
  return (
    release.isServerSide === true ||
    before === undefined ||
    JSON.stringify(before) !== JSON.stringify(object) ||
    drift.some((each) => each.object === kindAndName(object))
  );
}

/** Helm removes fields that it installed before; for any other field manager the API server would keep them. */
function objectBatches(
  objects: readonly KubernetesObject[],
  replaced: readonly ObjectRef[],
  {name: {kubeTarget}, facts: {installed}}: TriedPlan,
): TrialBatch[] {
  const isReplaced = (object: KubernetesObject): boolean => includesRef(refOf(object), replaced);
  const kept = objects.filter((object) => !isReplaced(object));
  const isApplied = ({kind = ''}: KubernetesObject): boolean => APPLIED_KINDS.has(kind);
  const merge = (some: readonly KubernetesObject[]): Call => {
    const former = (object: KubernetesObject) =>
      installed.find((each) => isSameRef(refOf(each), refOf(object)));
    const patches = some.map((object) => mergePatch(tree(object), tree(former(object))));
    return dryRunMerge(kubeTarget, patches as unknown as KubernetesObject[]);
  };
  const apply = (some: readonly KubernetesObject[]): Call => dryRunApply(kubeTarget, some);
  return [
    ...batchOf(
      kept.filter((each) => !isApplied(each)),
      merge,
    ),
    ...batchOf(kept.filter(isApplied), apply),
    ...objects.filter(isReplaced).flatMap((each) => batchOf([each], createTemporary(kubeTarget))),
  ];
}

function batchOf(
  objects: readonly KubernetesObject[],
  callFor: (some: readonly KubernetesObject[]) => Call,
): TrialBatch[] {
  if (objects.length === 0) return [];
  const trials = objects.map((each) => ({what: kindAndName(each), call: callFor([each])}));
  return [{call: callFor(objects), trials}];
}

/** What is deleted first still has its name. */
const createTemporary =
  (kubeTarget: ClusterTarget) =>
  ([object]: readonly KubernetesObject[]): Call => {
    const {metadata, ...rest} = object as KubernetesObject;
    const name = temporaryName(metadata.name);
    return dryRunCreate(kubeTarget, {...rest, metadata: {...metadata, name}});
  };

interface Untriable {
  object: KubernetesObject;
  reason: string;
}

/** Objects that cannot exist before other objects of the plan. */
async function untriable(
  {steps, name, objects, facts}: TriedPlan,
  kubernetes: Reader,
): Promise<Untriable[]> {
  if (facts.namespace === undefined) {
    const reason = `namespace ${name.kubeTarget.namespace} does not exist yet`;
    return objects
      .filter((object) => !isWideObject(object, objects))
      .map((object) => ({object, reason}));
  }
  return (await undefinedYet(objects, steps, kubernetes)).map((object) => ({
    object,
    reason: 'its CRD is not installed yet',
  }));
}

/** Helm 4 applies the CRDs of a new release, and fails where others changed them. Helm 3 leaves existing CRDs as they are. */
async function requireDefinitions(
  {steps, objects, name: {kubeTarget}}: TriedPlan,
  processes: Pick<Processes, 'run'>,
): Promise<void> {
  const definitions = objects.filter(({kind}) => kind === 'CustomResourceDefinition');
  const install = steps.find(({phase}) => phase === 'release')?.call;
  if (definitions.length === 0 || install === undefined) return;
  if (/^v3\./m.test((await processes.run(helmVersion)).stdout)) return;
  const call = dryRunApply(kubeTarget, definitions, {asHelm: true});
  const outcome = await processes.run(call);
  if (outcome.exitCode === 0) return;
  if (!outcome.stderr.includes('conflict')) throw toolFailure(call, outcome);
  throw failed(
    'OBJECT_NOT_OWNED',
    `Helm cannot install the CRDs of the chart: ${outcome.stderr.trim()}`,
    changedDefinition(kubeTarget, install),
  );
}

/** Custom resources whose CRDs the install creates. */
async function undefinedYet(
  objects: readonly KubernetesObject[],
  steps: TriedPlan['steps'],
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
  const changes = steps.some(({phase}) => phase === 'definitions');
  const comes = definitions.filter(({metadata}) => changes || !served.has(metadata.name));
  return objects.filter(({apiVersion = '', kind}) =>
    comes.some(({spec}) => spec?.names?.kind === kind && apiVersion.startsWith(`${spec?.group}/`)),
  );
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
