import {isRbacDenial} from '../../ground/tool-errors.ts';
import {milliOf} from '../../settings/kinds/quantities.ts';
import type {KubernetesObject} from './objects.ts';
import {type PodTemplate, podTemplates} from './pod-specs.ts';

/** Objects for server-side dry runs, and what a rejection of them means. */

/** Kinds whose pods start with the change; others start them later, one per run. */
export const CONTROLLERS: ReadonlySet<string> = new Set(['Deployment', 'DaemonSet', 'StatefulSet']);

/**
 * A pod of each template, as its controller creates it: policies can reject pods without an owner. A pod whose service account does not exist yet
 * is tried with the default one.
 */
export const trialPods = (
  owner: KubernetesObject,
  isNewAccount: (name: string) => boolean,
): KubernetesObject[] =>
  podTemplates(owner).map((template) => podOf(owner, withExistingAccount(template, isNewAccount)));

function withExistingAccount(
  {metadata, spec}: PodTemplate,
  isNewAccount: (name: string) => boolean,
): PodTemplate {
  const {serviceAccountName, serviceAccount: _, ...rest} = spec;
  const isNew = typeof serviceAccountName === 'string' && isNewAccount(serviceAccountName);
  return {...(metadata === undefined ? {} : {metadata}), spec: isNew ? rest : spec};
}

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
  const suffix = `-${Math.floor(Math.random() * 16 ** 6)
    .toString(16)
    .padStart(6, '0')}`;
  return `${name.slice(0, MAX_NAME - suffix.length)}${suffix}`;
}

/** Why the rejection of one more pod does not reject the change; pods of an installed release use the quota at the moment. */
export function podExcuse(
  message: string,
  {kind = ''}: KubernetesObject,
  isInstalled: boolean,
): string | undefined {
  const isRun = !CONTROLLERS.has(kind);
  const [, quota, requested = '', limited = ''] =
    /exceeded quota: ([^,]+), requested: (.*), used: .*, limited: ([^\n]*)/.exec(message) ?? [];
  const fits = quota !== undefined && isWithin(requested, limited);
  // Pods that the change replaces, or other runs, use the quota at the moment.
  if (fits && (isRun || isInstalled))
    return `ResourceQuota ${quota} has no room beside the running pods`;
  return isRun && INVALID_ALONE.test(message)
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

/** Reasons that are not those of the object itself, in the message of the API server. */
export function untriedBecause(message: string): string | undefined {
  if (isRbacDenial(message)) {
    const [, verb, resource] = /cannot (\w+) resource "([^"]+)"/.exec(message) ?? [];
    return verb === undefined
      ? 'your user lacks the permission'
      : `your user cannot ${verb} ${resource}`;
  }
  const [, webhook] = /admission webhook "([^"]+)" does not support dry run/.exec(message) ?? [];
  return webhook === undefined
    ? undefined
    : `admission webhook ${webhook} does not support dry runs`;
}
