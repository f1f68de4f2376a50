import type {KubernetesClient} from '../../../cluster/kubernetes/client.ts';
import {resourceOf} from '../../../cluster/kubernetes/kinds.ts';
import {objectFact} from '../../../cluster/kubernetes/object-facts.ts';
import {reviewPermissions} from '../../../cluster/kubernetes/permissions.ts';
import {podTemplates} from '../../../cluster/kubernetes/pod-specs.ts';
import {REQUEST_MS} from '../../../cluster/kubernetes/resources.ts';
import {kubectlCommand} from '../../../ground/command-line.ts';
import {isKnown, knownValue} from '../../../ground/fact.ts';
import {serverProblem} from '../../../ground/unreachable.ts';
import {grantFor} from '../checks/permissions.ts';
import type {NeededPermission, PreflightContext} from '../facts/context.ts';
import type {ProbePlan, SkippedProbe} from '../facts/probe.ts';
import {planProbe} from './plan-probe.ts';

interface ProbeAccess {
  kubernetes: Pick<KubernetesClient, 'get' | 'post'>;
  signal: AbortSignal;
}

/** Plans a probe that runs for at most `seconds`, where this account may create one; changes nothing. */
export async function prepareProbe(
  context: PreflightContext,
  {kubernetes, signal}: ProbeAccess,
  {seconds, urls}: {seconds: number; urls: readonly string[]},
): Promise<ProbePlan | SkippedProbe> {
  const {manifest, readings, name, facts} = context;
  const {kubeTarget} = name;
  if (!isKnown(facts.versions.server)) return {because: serverProblem(facts.versions.server)};
  if (!isKnown(manifest)) return {because: `the chart cannot be rendered: ${manifest.because}`};
  if (isKnown(readings.namespaceObject) && readings.namespaceObject.value === undefined)
    return {
      because: `namespace ${kubeTarget.namespace} does not exist yet`,
      remedy: `Create it first: ${kubectlCommand(kubeTarget, 'create', 'namespace', kubeTarget.namespace)}`,
    };
  const existing = await usableObjects(context, {kubernetes, signal});
  const plan = planProbe(context, manifest.value, {existing, seconds, urls});
  if (plan === undefined) return {because: 'the chart creates no pod for runs'};
  const permissions = await reviewPermissions(
    neededFor(plan, kubeTarget.namespace),
    kubernetes,
    signal,
  );
  if (!isKnown(permissions))
    return {because: `cannot determine whether your user can create a pod: ${permissions.because}`};
  const missing = permissions.value.filter(({isAllowed}) => !isAllowed);
  if (missing.length === 0) return plan;
  return {
    because: `your user cannot ${missing.map(({verb, resource}) => `${verb} ${resource}`).join(', ')}`,
    remedy: grantFor(permissions.value, 'probe', context),
  };
}

function neededFor({objects}: ProbePlan, namespace: string): NeededPermission[] {
  const changes = objects.flatMap((object) =>
    ['create', 'delete'].map((verb) => ({verb, resource: resourceOf(object, [], [])})),
  );
  const reads = [
    {verb: 'list', resource: 'pods'},
    {verb: 'get', resource: 'pods'},
    {verb: 'get', resource: 'pods/log'},
  ];
  return [...changes, ...reads].map((each) => ({...each, namespace, isOptional: false}));
}

/** What the pod can mount now. Only bound PVCs: the probe would bind a PVC that waits for its first consumer. */
async function usableObjects(
  {manifest, secrets, claims, name: {kubeTarget}}: PreflightContext,
  {kubernetes, signal}: ProbeAccess,
): Promise<Set<string>> {
  const accounts = (knownValue(manifest) ?? [])
    .flatMap(podTemplates)
    .map(({spec}) => spec['serviceAccountName']);
  const options = {signal, idleMs: REQUEST_MS, namespace: kubeTarget.namespace};
  const found = await Promise.all(
    [...new Set(accounts.filter((each) => typeof each === 'string'))].map(async (each) => ({
      spelled: `serviceaccounts/${each}`,
      account: await objectFact(kubernetes, 'serviceaccounts', each, options),
    })),
  );
  const bound = [...claims].filter(([, claim]) => {
    const {status, spec} = knownValue(claim) ?? {};
    // Only one pod at a time can mount such a PVC.
    return status?.phase === 'Bound' && !spec?.accessModes?.includes('ReadWriteOncePod');
  });
  return new Set([
    ...found.filter(({account}) => knownValue(account) !== undefined).map(({spelled}) => spelled),
    ...[...secrets]
      .filter(([, secret]) => knownValue(secret) !== undefined)
      .map(([secret]) => `secrets/${secret}`),
    ...bound.map(([claim]) => `persistentvolumeclaims/${claim}`),
  ]);
}
