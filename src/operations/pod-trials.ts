import {randomBytes} from 'node:crypto';
import {dryRunCreate} from '../cluster/kubernetes/dry-runs.ts';
import {
  includesRef,
  kindAndName,
  type ObjectRef,
  refOf,
} from '../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject} from '../cluster/kubernetes/objects.ts';
import {haveSamePods, type PodTemplate, podTemplates} from '../cluster/kubernetes/pod-specs.ts';
import type {InstallFacts} from '../cluster/release/read-release.ts';
import type {ClusterTarget} from '../ground/command-line.ts';
import {milliOf} from '../settings/kinds/quantities.ts';

import type {TrialBatch} from './server-dry-run.ts';
import type {Step} from './step.ts';

/** Kinds whose pods start with the change; others start them later, one per run. */
export const CONTROLLERS: ReadonlySet<string> = new Set(['Deployment', 'DaemonSet', 'StatefulSet']);

interface Started {
  steps: readonly Step[];
  /** Rendered objects of the release. */
  objects: readonly KubernetesObject[];
  facts: Pick<InstallFacts, 'installed' | 'release' | 'drift'>;
}

/** One pod of every template that gets new pods: admission checks pods on their own, and refuses them after the change. */
export function podBatches(started: Started, kubeTarget: ClusterTarget): TrialBatch[] {
  const {objects, facts} = started;
  return objects
    .filter((object) => getsPods(object, started))
    .flatMap((owner) =>
      podTemplates(owner).map((template) => {
        const pod = podOf(owner, withExistingAccount(template, started));
        const call = dryRunCreate(kubeTarget, pod);
        const what = `Pod of ${kindAndName(owner)}`;
        const excuses = (stderr: string): string | undefined => excuse(stderr, owner, facts);
        return {call, trials: [{what, call, excuses}]};
      }),
    );
}

/** Its template is new or changed, or a step starts or restarts it. */
function getsPods(object: KubernetesObject, {steps, facts}: Started): boolean {
  const before = facts.installed.find((each) => kindAndName(each) === kindAndName(object));
  const isDrifted = facts.drift.some((each) => each.object === kindAndName(object));
  const isNew = before === undefined || !haveSamePods(before, object);
  return isNew || isDrifted || includesRef(refOf(object), workloadsOf(steps));
}

const workloadsOf = (steps: readonly Step[]): ObjectRef[] =>
  steps.flatMap(({workloads = []}) => workloads);

/** A service account that the change creates does not exist yet, so the pod is tried with the default one. */
function withExistingAccount(
  {metadata, spec}: PodTemplate,
  {objects, facts}: Started,
): PodTemplate {
  const {serviceAccountName, serviceAccount: _, ...rest} = spec;
  const isThis = ({kind, metadata: {name}}: KubernetesObject): boolean =>
    kind === 'ServiceAccount' && name === serviceAccountName;
  const isMissing = facts.drift.some(
    ({object, problem}) =>
      problem === 'missing' && object === `ServiceAccount ${serviceAccountName}`,
  );
  const isCreated = objects.some(isThis) && (isMissing || !facts.installed.some(isThis));
  return {...(metadata === undefined ? {} : {metadata}), spec: isCreated ? rest : spec};
}

/** As its controller creates it: policies can reject pods without an owner. */
function podOf(owner: KubernetesObject, {metadata, spec}: PodTemplate): KubernetesObject {
  const {labels = {}, annotations = {}} = metadata ?? {};
  const controller = {...controllerOf(owner), uid: NO_UID, controller: true};
  const name = temporaryName(owner.metadata.name);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name, labels, annotations, ownerReferences: [controller]},
    spec,
  } as KubernetesObject;
}

const NO_UID = '00000000-0000-0000-0000-000000000000';

function controllerOf({apiVersion, kind = '', metadata: {name}}: KubernetesObject) {
  if (kind === 'Deployment') return {apiVersion: 'apps/v1', kind: 'ReplicaSet', name};
  if (CONTROLLERS.has(kind)) return {apiVersion, kind, name};
  return {apiVersion: 'batch/v1', kind: 'Job', name};
}

/** The longest name of a pod that its hostname can have. */
const MAX_NAME = 63;

export function temporaryName(name: string): string {
  const suffix = `-${randomBytes(3).toString('hex')}`;
  return `${name.slice(0, MAX_NAME - suffix.length)}${suffix}`;
}

/** Why the rejection of one more pod does not reject the change. */
function excuse(
  stderr: string,
  {kind = ''}: KubernetesObject,
  {release}: Pick<InstallFacts, 'release'>,
): string | undefined {
  const isRun = !CONTROLLERS.has(kind);
  const [, quota, requested = '', limited = ''] =
    /exceeded quota: ([^,]+), requested: (.*), used: .*, limited: ([^\n]*)/.exec(stderr) ?? [];
  const fits = quota !== undefined && isWithin(requested, limited);
  // Pods that the change replaces, or other runs, use the quota at the moment.
  if (fits && (isRun || release !== undefined))
    return `ResourceQuota ${quota} has no room beside the running pods`;
  return isRun && INVALID_ALONE.test(stderr)
    ? 'the controller completes the template before it creates a pod'
    : undefined;
}

/** A validation error, and not a policy. */
const INVALID_ALONE = /Pod "[^"]*" is invalid: (?!: )/;

/** pods=1,requests.cpu=2 */
function isWithin(requested: string, limited: string): boolean {
  const limits = amountsIn(limited);
  return [...amountsIn(requested)].every(
    ([resource, amount]) => amount <= (limits.get(resource) ?? 0n),
  );
}

const amountsIn = (text: string): Map<string, bigint> =>
  new Map(
    text.split(',').map((each) => {
      const [resource = '', quantity = ''] = each.trim().split('=');
      return [resource, milliOf(quantity) ?? 0n];
    }),
  );
