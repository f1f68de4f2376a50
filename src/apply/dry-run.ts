import {isMap, type Tree, type Values} from '../charts/tree.ts';
import type {InstallFacts} from '../cluster/install-facts.ts';
import {objectsIn} from '../cluster/manifest.ts';
import type {KubernetesObject} from '../cluster/objects.ts';
import {REQUIRED_MS} from '../cluster/read-facts.ts';
import {servedResources} from '../kubernetes/discovery.ts';
import {dryRunApply, dryRunMerge} from '../kubernetes/kubectl.ts';
import type {Reader} from '../kubernetes/queries.ts';
import type {Plan} from '../plan/step.ts';
import type {Call, Place, Processes, ReleaseName} from '../ports/processes.ts';
import {toolFailure} from '../tool-errors.ts';

/** Asks the API server about everything without keeping any of it. Returns what it said. @throws ExpectedError */
export async function dryRun(
  plan: Plan,
  manifest: string,
  {place}: ReleaseName,
  facts: Pick<InstallFacts, 'namespace' | 'installed'>,
  {kubernetes, processes}: {kubernetes: Reader; processes: Pick<Processes, 'run'>},
): Promise<string> {
  if (plan.steps.length === 0) return 'Nothing is to do.\n';
  const exists = facts.namespace !== undefined;
  // What lies in a namespace that does not exist yet cannot be tried.
  const applied = plan.steps
    .filter(({id, call}) => call.args[0] === 'apply' && (id === 'namespace' || exists))
    .map(({call}) => tried(call));
  for (const call of applied) await ask(call, processes);
  if (!exists) {
    return `The API server accepts the namespace. What goes into ${place.namespace} could not be tried, because it does not exist yet.\n`;
  }
  const objects = objectsIn(manifest);
  const early = await undefinedYet(objects, plan, kubernetes);
  const ready = objects.filter((object) => !early.includes(object));
  for (const call of callsFor(ready, place, facts)) await ask(call, processes);
  if (early.length === 0) return 'The API server accepts all of it.\n';
  const names = early.map(({kind, metadata}) => `${kind} ${metadata.name}`).join(', ');
  return `The API server accepts it. What the install itself defines could not be tried: ${names}.\n`;
}

async function ask(call: Call, processes: Pick<Processes, 'run'>): Promise<void> {
  const outcome = await processes.run(call);
  if (outcome.exitCode !== 0) throw toolFailure(call, outcome);
}

const tried = (call: Call): Call => ({...call, args: ['apply', '--dry-run=server', ...call.args.slice(1)]});

interface Definition extends KubernetesObject {
  spec?: {group?: string; names?: {kind?: string}};
}

/** Resources of definitions that the install only brings. */
async function undefinedYet(objects: readonly KubernetesObject[], {steps}: Plan, kubernetes: Reader): Promise<KubernetesObject[]> {
  const definitions = objects.filter(({kind}) => kind === 'CustomResourceDefinition') as Definition[];
  if (definitions.length === 0) return [];
  const {served} = await servedResources(kubernetes, {over: new AbortController().signal, idleMs: REQUIRED_MS});
  const changes = steps.some(({id}) => id === 'definitions');
  const comes = definitions.filter(({metadata}) => changes || !served.has(metadata.name));
  return objects.filter(({apiVersion = '', kind}) =>
    comes.some(({spec}) => spec?.names?.kind === kind && apiVersion.startsWith(`${spec?.group}/`)),
  );
}

/** Helm remembers what it installed and takes away what is no more of it; of any other account the API server would keep it. */
function callsFor(objects: readonly KubernetesObject[], place: Place, {installed}: Pick<InstallFacts, 'installed'>): Call[] {
  const merged = objects
    .filter(({kind = ''}) => !UNFIT.has(kind))
    .map((object) => mergePatch(tree(object), tree(formerOf(object, installed))));
  const applied = objects.filter(({kind = ''}) => UNFIT.has(kind));
  return [
    ...(merged.length === 0 ? [] : [dryRunMerge(place, merged as object[])]),
    ...(applied.length === 0 ? [] : [dryRunApply(place, applied)]),
  ];
}

const UNFIT: ReadonlySet<string> = new Set(['Secret', 'ConfigMap', 'CustomResourceDefinition']);

const formerOf = ({kind, metadata}: KubernetesObject, installed: readonly KubernetesObject[]): KubernetesObject | undefined =>
  installed.find((each) => each.kind === kind && each.metadata.name === metadata.name);

const tree = (object: KubernetesObject | undefined): Tree => (object ?? {}) as unknown as Tree;

/** An object with a null for everything that the one before had and this one has not: merged into that one, it would stay otherwise. */
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
