import {objectFact, REQUEST_MS} from '../../cluster/facts/answers.ts';
import {isKnown, knownValue} from '../../cluster/facts/fact.ts';
import {podTemplates} from '../../cluster/pod-specs.ts';
import type {KubernetesClient} from '../../kubernetes/client.ts';
import type {Need} from '../needed-permissions.ts';
import {permissionsOf} from '../permissions-of.ts';
import {resourceOf} from '../resources.ts';
import {roleFor} from '../role-for.ts';
import type {Situation} from '../situation.ts';
import {type ProbePlan, planProbe} from './plan-probe.ts';

/** Why there is no probe. */
export interface Unprobed {
  because: string;
  remedy?: string;
}

interface Asking {
  kubernetes: Pick<KubernetesClient, 'get' | 'post'>;
  over: AbortSignal;
}

/** Asks what else a probe has to know, and whether this account may make it; changes nothing. */
export async function prepareProbe(situation: Situation, {kubernetes, over}: Asking, seconds: number): Promise<ProbePlan | Unprobed> {
  const {manifest, readings, name, facts} = situation;
  const {place} = name;
  if (!isKnown(facts.versions.server)) return {because: `the API server does not answer: ${facts.versions.server.because}`};
  if (!isKnown(manifest)) return {because: `what the chart makes is not known: ${manifest.because}`};
  if (isKnown(readings.namespaceObject) && readings.namespaceObject.value === undefined)
    return {
      because: `the namespace ${place.namespace} is not there yet`,
      remedy: `Make it first: kubectl create namespace ${place.namespace}`,
    };
  const there = await usable(situation, {kubernetes, over});
  const plan = planProbe(situation, manifest.value, {there, seconds});
  if (plan === undefined) return {because: 'the chart makes no pod that stands for runs'};
  const permissions = await permissionsOf(needsOf(plan, place.namespace), kubernetes, over);
  if (!isKnown(permissions)) return {because: `whether the account may make a pod is not known: ${permissions.because}`};
  const missing = permissions.value.filter(({isAllowed}) => !isAllowed);
  if (missing.length === 0) return plan;
  return {
    because: `the account may not ${missing.map(({verb, resource}) => `${verb} ${resource}`).join(', ')}`,
    remedy: roleFor(missing, 'scalr-agent-probe'),
  };
}

function needsOf({objects}: ProbePlan, namespace: string): Need[] {
  const made = objects.flatMap((object) => ['create', 'delete'].map((verb) => ({verb, resource: resourceOf(object, [], [])})));
  const read = [
    {verb: 'list', resource: 'pods'},
    {verb: 'get', resource: 'pods'},
    {verb: 'get', resource: 'pods/log'},
  ];
  return [...made, ...read].map((each) => ({...each, namespace, isOptional: false}));
}

/** Only what is bound: a claim that waits for its first pod would get a volume by the probe. */
async function usable({manifest, secrets, claims, name: {place}}: Situation, {kubernetes, over}: Asking): Promise<Set<string>> {
  const accounts = (knownValue(manifest) ?? []).flatMap(podTemplates).map(({spec}) => spec['serviceAccountName']);
  const options = {over, idleMs: REQUEST_MS, namespace: place.namespace};
  const found = await Promise.all(
    [...new Set(accounts.filter((each) => typeof each === 'string'))].map(async (each) => ({
      spelled: `serviceaccounts/${each}`,
      account: await objectFact(kubernetes, 'serviceaccounts', each, options),
    })),
  );
  const bound = [...claims].filter(([, claim]) => {
    const {status, spec} = knownValue(claim) ?? {};
    // Such a claim may be mounted once, and who has it keeps it.
    return status?.phase === 'Bound' && !spec?.accessModes?.includes('ReadWriteOncePod');
  });
  return new Set([
    ...found.filter(({account}) => knownValue(account) !== undefined).map(({spelled}) => spelled),
    ...[...secrets].filter(([, secret]) => knownValue(secret) !== undefined).map(([secret]) => `secrets/${secret}`),
    ...bound.map(([claim]) => `persistentvolumeclaims/${claim}`),
  ]);
}
