import type {Call, ClusterTarget, ReleaseName} from '../ground/command-line.ts';
import {failed} from '../ground/errors.ts';
import {changedDefinition, toolFailure} from '../ground/tool-errors.ts';
import {isMap, type Tree, type Values} from '../ground/tree.ts';
import {helmVersion} from '../helm/helm.ts';
import {dryRunApply, dryRunMerge, dryRunOf} from '../kubernetes/kubectl.ts';
import type {KubernetesObject} from '../kubernetes/objects.ts';
import {REQUIRED_MS, type Reader, servedResources} from '../kubernetes/resources.ts';
import type {Processes} from '../ports/system.ts';
import type {InstallFacts} from '../release/read-release.ts';
import {ofPhase, type Plan} from './step.ts';

/** Validates all objects with a server-side dry run. Returns the result as text. @throws ExpectedError */
export async function dryRun(
  plan: Plan,
  objects: readonly KubernetesObject[],
  {kubeTarget}: ReleaseName,
  facts: Pick<InstallFacts, 'namespace' | 'installed' | 'release'>,
  {kubernetes, processes}: {kubernetes: Reader; processes: Pick<Processes, 'run'>},
): Promise<string> {
  if (plan.steps.length === 0) return 'No changes.\n';
  const exists = facts.namespace !== undefined;
  // Objects in a namespace that does not exist yet cannot be validated.
  const applied = plan.steps
    .filter(({phase, call}) => call.args[0] === 'apply' && (phase === 'namespace' || exists))
    .map(({call}) => dryRunOf(call));
  for (const call of applied) await ask(call, processes);
  if (!exists) {
    return `The API server accepts the namespace. Objects in ${kubeTarget.namespace} cannot be validated until it exists.\n`;
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

interface Definition extends KubernetesObject {
  spec?: {group?: string; names?: {kind?: string}};
}

/** Custom resources whose CRDs the install creates. */
async function undefinedYet(objects: readonly KubernetesObject[], {steps}: Plan, kubernetes: Reader): Promise<KubernetesObject[]> {
  const definitions = objects.filter(({kind}) => kind === 'CustomResourceDefinition') as Definition[];
  if (definitions.length === 0) return [];
  const {served} = await servedResources(kubernetes, {signal: new AbortController().signal, idleMs: REQUIRED_MS});
  const changes = ofPhase(steps, 'definitions').length > 0;
  const comes = definitions.filter(({metadata}) => changes || !served.has(metadata.name));
  return objects.filter(({apiVersion = '', kind}) =>
    comes.some(({spec}) => spec?.names?.kind === kind && apiVersion.startsWith(`${spec?.group}/`)),
  );
}

/** Helm removes fields that it installed before; for any other field manager the API server would keep them. */
function callsFor(objects: readonly KubernetesObject[], kubeTarget: ClusterTarget, {installed}: Pick<InstallFacts, 'installed'>): Call[] {
  const merged = objects
    .filter(({kind = ''}) => !APPLIED_KINDS.has(kind))
    .map((object) => mergePatch(tree(object), tree(formerOf(object, installed))));
  const applied = objects.filter(({kind = ''}) => APPLIED_KINDS.has(kind));
  return [
    ...(merged.length === 0 ? [] : [dryRunMerge(kubeTarget, merged as object[])]),
    ...(applied.length === 0 ? [] : [dryRunApply(kubeTarget, applied)]),
  ];
}

const APPLIED_KINDS: ReadonlySet<string> = new Set(['Secret', 'ConfigMap', 'CustomResourceDefinition']);

const formerOf = ({kind, metadata}: KubernetesObject, installed: readonly KubernetesObject[]): KubernetesObject | undefined =>
  installed.find((each) => each.kind === kind && each.metadata.name === metadata.name);

const tree = (object: KubernetesObject | undefined): Tree => (object ?? {}) as unknown as Tree;

/** An object with null for every field that only the former object has, so that a merge removes it. */
export function mergePatch(after: Tree, before: Tree | undefined): Tree {
  if (Array.isArray(after)) {
    const former = Array.isArray(before) ? before : [];
    return after.map((each) =>
      mergePatch(each, isNamed(each) ? former.find((other) => isNamed(other) && other.name === each.name) : undefined),
    );
  }
  if (!isMap(after)) return after;
  const known = isMap(before) ? before : {};
  const gone = Object.keys(known).filter((key) => after[key] === undefined);
  return {
    ...Object.fromEntries(Object.entries(after).map(([key, below]) => [key, mergePatch(below, known[key])])),
    ...Object.fromEntries(gone.map((key) => [key, null])),
  };
}

/** Containers, variables and volumes are merged by their names. */
const isNamed = (tree: Tree): tree is Values & {name: string} => isMap(tree) && typeof tree['name'] === 'string';
