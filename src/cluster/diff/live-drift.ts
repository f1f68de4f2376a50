import type {ClusterTarget} from '../../ground/command-line.ts';
import type {ExpectedError} from '../../ground/errors.ts';
import {jsonIn} from '../../ground/json.ts';
import type {Processes} from '../../ground/system/system.ts';
import {apiFailure} from '../kubernetes/api-error.ts';
import type {RequestOptions} from '../kubernetes/client.ts';
import {dryRunApply} from '../kubernetes/dry-runs.ts';
import {objectPath, pluralOfKind} from '../kubernetes/kinds.ts';
import {isSameRef, kindAndName, refOf} from '../kubernetes/object-refs.ts';
import type {KubernetesObject, Workload} from '../kubernetes/objects.ts';
import {isUserManager} from '../kubernetes/own-objects.ts';
import {listAll, type Reader} from '../kubernetes/resources.ts';
import {comparePaths, fieldsOf, type LiveObject, liveView} from './live-diff.ts';

/** An object of a release that is not in the cluster as its manifest has it. */
export interface ObjectDrift {
  /** Kind and name: Deployment scalr-agent */
  object: string;
  /**
   * Helm creates `missing` objects and reverts what was `changed`. It keeps `added` fields, which are not in the manifest, and cannot revert
   * `overridden` ones, which another program sets.
   */
  problem: 'missing' | 'changed' | 'added' | 'overridden';
  /** The fields, such as spec.template.spec.containers[agent].image; none of a missing object. */
  paths: readonly string[];
  /** The field manager that sets overridden fields. */
  manager?: string;
  /** The admission webhooks that may set them; empty if this account may not list webhooks. */
  webhooks?: readonly string[];
}

/** True for everything except fields that another program sets. */
export const differs = ({problem}: ObjectDrift): boolean => problem !== 'overridden';

/** True for what the next install changes back. */
export const isRestored = ({problem}: ObjectDrift): boolean =>
  problem === 'missing' || problem === 'changed';

export interface LiveDrift {
  differences: readonly ObjectDrift[];
  /** Rendered objects that exist, with the values of the cluster; fields that are not in the manifest are omitted. */
  live: readonly KubernetesObject[];
  /** False if changes could not be compared with what an apply would make of them. */
  isVerified: boolean;
  /** Why objects could not be compared, one for each reason. */
  failures: readonly ExpectedError[];
  /** How many pods the manifest has for each Deployment, by its name. */
  replicas: Readonly<Record<string, number>>;
}

/** How objects are compared. Without `processes`, nothing is tried, and nothing is verified. */
interface Comparer {
  kubeTarget: ClusterTarget;
  kubernetes: Reader;
  processes?: Pick<Processes, 'run'>;
}

interface Changed {
  object: KubernetesObject;
  live: LiveObject;
  paths: readonly string[];
}

/** Compares the objects of a release, as helm rendered them, with those in the cluster. Changes nothing. */
export async function readLiveDrift(
  rendered: readonly KubernetesObject[],
  comparer: Comparer,
  options: RequestOptions,
): Promise<LiveDrift> {
  const {kubeTarget, kubernetes} = comparer;
  const failures = new Map<string, ExpectedError>();
  const differences: ObjectDrift[] = [];
  const changes: Changed[] = [];
  const views = new Map<KubernetesObject, KubernetesObject>(
    rendered.map((object) => [object, object]),
  );
  await Promise.all(
    rendered.map(async (object) => {
      const answer = await kubernetes.get(objectPath(object, kubeTarget.namespace), options);
      if (answer.error?.kind === 'not-found') {
        views.delete(object);
        differences.push({object: kindAndName(object), problem: 'missing', paths: []});
      } else if (answer.error) {
        const failure = apiFailure(answer.error, kubeTarget);
        failures.set(failure.message, failure);
      } else {
        const live = answer.body as LiveObject;
        const {changed, added} = comparePaths(object, live);
        if (changed.length > 0) changes.push({object, live, paths: changed});
        if (added.length > 0)
          differences.push({object: kindAndName(object), problem: 'added', paths: added});
      }
    }),
  );
  const {overridden, isVerified} = await overriddenFields(changes, comparer, options);
  for (const {object, live, paths} of changes) {
    const others = new Set(
      overridden.flatMap((each) => (each.object === kindAndName(object) ? each.paths : [])),
    );
    const restored = paths.filter((path) => !others.has(path));
    if (restored.length > 0)
      differences.push({object: kindAndName(object), problem: 'changed', paths: restored});
    views.set(object, liveView(object, live, others));
  }
  const order = rendered.map(kindAndName);
  const deployments = (rendered as readonly Workload[]).filter(({kind}) => kind === 'Deployment');
  return {
    differences: [...differences, ...overridden].toSorted(
      (one, other) => order.indexOf(one.object) - order.indexOf(other.object),
    ),
    live: [...views.values()],
    isVerified,
    failures: [...failures.values()],
    replicas: Object.fromEntries(
      deployments.map(({metadata, spec}) => [metadata.name, spec?.replicas ?? 1]),
    ),
  };
}

/**
 * Changed fields that a new apply of the manifest would not change back: those of another field manager, and those that the API server
 * changes again while it admits the object. `isVerified` is false if this account may not try the manifest, or the API server rejects it.
 */
async function overriddenFields(
  changes: readonly Changed[],
  comparer: Comparer,
  options: RequestOptions,
): Promise<{overridden: ObjectDrift[]; isVerified: boolean}> {
  const managed = changes.flatMap(fieldsOfManagers);
  const open = changes.flatMap((each) => {
    const theirs = new Set(
      managed.flatMap(({object, paths}) => (object === kindAndName(each.object) ? paths : [])),
    );
    const paths = each.paths.filter((path) => !theirs.has(path));
    return paths.length === 0 ? [] : [{...each, paths}];
  });
  const tried = await tryManifest(open, comparer, options.signal);
  const admitted = open.flatMap(({object, paths}) => {
    const result = tried.find((each) => isSameRef(refOf(each), refOf(object)));
    const kept = new Set(result && comparePaths(object, result).changed);
    const again = paths.filter((path) => kept.has(path));
    return again.length === 0 ? [] : [{object, paths: again}];
  });
  const webhooks = admitted.length === 0 ? () => [] : await webhooksIn(comparer, options);
  return {
    overridden: [
      ...managed,
      ...admitted.map(({object, paths}) => ({
        object: kindAndName(object),
        problem: 'overridden' as const,
        paths,
        webhooks: webhooks(object),
      })),
    ],
    isVerified: tried.length === open.length,
  };
}

function fieldsOfManagers({object, live, paths}: Changed): ObjectDrift[] {
  const managers = (live.metadata.managedFields ?? [])
    .filter(({manager = '', subresource}) => subresource !== 'status' && !isUserManager(manager))
    .map(({manager = '', fieldsV1 = {}}) => ({manager, fields: fieldsOf(fieldsV1)}));
  const isOf = (fields: readonly string[], path: string) =>
    fields.some((each) => isWithin(path, each) || isWithin(each, path));
  return managers.flatMap(({manager, fields}) => {
    const theirs = paths.filter((path) => isOf(fields, path));
    return theirs.length === 0
      ? []
      : [{object: kindAndName(object), problem: 'overridden' as const, paths: theirs, manager}];
  });
}

const isWithin = (path: string, outer: string): boolean =>
  path === outer || (path.startsWith(outer) && /^[.[]/.test(path.slice(outer.length)));

/** What the API server would make of the manifests. */
async function tryManifest(
  changes: readonly Changed[],
  {kubeTarget, processes}: Comparer,
  signal: AbortSignal,
): Promise<LiveObject[]> {
  if (changes.length === 0 || processes === undefined) return [];
  const objects = changes.map(({object}) => object);
  const {stdout} = await processes.run(dryRunApply(kubeTarget, objects, {asJson: true}), {signal});
  const result = jsonIn(stdout) as LiveObject & {items?: LiveObject[]};
  return result?.items ?? (result ? [result] : []);
}

interface WebhookConfiguration extends KubernetesObject {
  webhooks?: readonly {
    name: string;
    rules?: readonly {apiGroups?: string[]; resources?: string[]; operations?: string[]}[];
  }[];
}

/** The webhooks that can change an object, as far as this account may list them. */
async function webhooksIn(
  {kubernetes}: Comparer,
  options: RequestOptions,
): Promise<(object: KubernetesObject) => string[]> {
  const {items} = await listAll(
    kubernetes,
    '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
    options,
  );
  const all = (items as readonly WebhookConfiguration[]).flatMap(({webhooks = []}) => webhooks);
  const matches = (desired: string, patterns: readonly string[] = []): boolean =>
    patterns.some((each) => each === '*' || each === '*/*' || each === desired);
  return ({apiVersion = '', kind = ''}) => {
    const group = apiVersion.includes('/') ? (apiVersion.split('/', 1)[0] as string) : '';
    const isOf = ({
      apiGroups,
      resources,
      operations,
    }: {
      apiGroups?: string[];
      resources?: string[];
      operations?: string[];
    }): boolean =>
      matches(group, apiGroups) &&
      matches(pluralOfKind(kind), resources) &&
      matches('UPDATE', operations);
    return all.filter(({rules = []}) => rules.some(isOf)).map(({name}) => name);
  };
}
