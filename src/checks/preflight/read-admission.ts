import {errorLine} from '../../cluster/kubernetes/api-error.ts';
import {servedResources} from '../../cluster/kubernetes/discovery.ts';
import {resourceOf, siblingsPath} from '../../cluster/kubernetes/kinds.ts';
import {kindAndName} from '../../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject} from '../../cluster/kubernetes/objects.ts';
import {ownLabels} from '../../cluster/kubernetes/own-objects.ts';
import {mapsIn} from '../../cluster/kubernetes/pod-specs.ts';
import {
  podExcuse,
  temporaryName,
  trialPods,
  untriedBecause,
} from '../../cluster/kubernetes/trial-objects.ts';
import type {DesiredRelease, DesiredSecret} from '../../cluster/release/desired-release.ts';
import {
  type Fact,
  isKnown,
  known,
  knownValue,
  type ReadError,
  type ReadErrorKind,
} from '../../ground/fact.ts';
import {at, getAt, type Tree} from '../../ground/tree.ts';
import type {Get} from '../../settings/define.ts';
import {isOfAmounts} from './checks/admission-amounts.ts';
import type {ClusterReading} from './cluster-reading.ts';
import {
  type AdmissionTrial,
  type LiveState,
  NO_NAMESPACE,
  type PreflightContext,
} from './facts/context.ts';
import {RUN_POD, runContainer} from './facts/pod-groups.ts';

/** What an install may create, and what exists of it. */
interface Created {
  manifest: Fact<readonly KubernetesObject[]>;
  desired: Pick<DesiredRelease, 'secrets' | 'name' | 'chart' | 'effective'>;
  get: Get;
  secrets: PreflightContext['secrets'];
  live: Pick<LiveState, 'objects'>;
}

/** An object to try, and what a rejection of it may say about something else. */
interface Trial {
  what: string;
  object: KubernetesObject;
  owner?: KubernetesObject;
  excuse?(message: string): string | undefined;
}

/** What the API server answers to every object of an install, and to one pod of each template, without storing them: it asks its policies, quotas and webhooks. */
export async function readAdmission(
  created: Created,
  {kubernetes, name, options}: ClusterReading,
): Promise<Fact<readonly AdmissionTrial[]>> {
  const {manifest} = created;
  if (!isKnown(manifest)) return manifest;
  const {served} = await servedResources(kubernetes, options);
  const objects = manifest.value.filter(
    (each) => served.has(resourceOf(each)) && each.kind !== 'CustomResourceDefinition',
  );
  const {namespace} = name.kubeTarget;
  const answerTo = async ({what, object, owner, excuse}: Trial): Promise<AdmissionTrial> => {
    const path = `${siblingsPath(object, namespace)}?dryRun=All`;
    const answer = await kubernetes.post(path, object, options);
    const tried = {what, object, ...(owner && {owner})};
    return answer.error === undefined
      ? {...tried, injected: injectedInto(object, answer.body as Tree)}
      : {...tried, ...outcomeOf(answer.error, excuse)};
  };
  const trials = [
    ...objects.map((object) => trialOf(object, created)),
    ...givenSecrets(created).map((object) => ({what: kindAndName(object), object})),
    ...manifest.value.flatMap((owner) => podTrials(owner, manifest.value, created)),
    ...runTrials(created),
  ];
  return known(await Promise.all(trials.map(answerTo)), 'server-side dry run');
}

/** An object that exists counts against a quota already. */
const trialOf = (object: KubernetesObject, {live}: Created): Trial => ({
  what: kindAndName(object),
  object,
  excuse: (message) =>
    isLive(object, live) && message.includes('exceeded quota: ') ? '' : undefined,
});

const isLive = (object: KubernetesObject, {objects}: Created['live']): boolean => {
  const found = objects.get(kindAndName(object));
  return found !== undefined && knownValue(found) !== undefined;
};

/** The Secrets that an install creates, without their content. */
function givenSecrets({desired, secrets}: Created): KubernetesObject[] {
  const isNew = ({name, data}: DesiredSecret): boolean => {
    const found = secrets.get(name);
    const isMissing = found !== undefined && isKnown(found) && found.value === undefined;
    return isMissing && Object.values(data).some((each) => each !== undefined);
  };
  return desired.secrets.filter(isNew).map(({name, type, data, metadata}) => {
    const labels = {...ownLabels(desired.name.release), ...metadata?.labels};
    const annotations = {...metadata?.annotations};
    const keys = Object.keys(data).map((key) => [key, 'dry run']);
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      type,
      metadata: {name, labels, annotations},
      stringData: Object.fromEntries(keys),
    };
  });
}

function podTrials(
  owner: KubernetesObject,
  objects: readonly KubernetesObject[],
  {live}: Created,
): Trial[] {
  const isNewAccount = (name: string): boolean =>
    objects.some(
      (each) =>
        each.kind === 'ServiceAccount' && each.metadata.name === name && !isLive(each, live),
    );
  return trialPods(owner, isNewAccount).map((object) => ({
    what: `Pod of ${kindAndName(owner)}`,
    object,
    owner,
    excuse: (message) => podExcuse(message, owner, isLive(owner, live)),
  }));
}

/** Pods of runs that the agent creates without a template: only their labels, requests and limits are known. */
const runTrials = ({desired, get}: Created): Trial[] =>
  desired.chart.chart === 'agent-k8s'
    ? [
        {
          what: RUN_POD,
          object: {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: {
              name: temporaryName('run'),
              labels: getAt(desired.effective, at('agent.kubernetes_task_labels')),
            },
            spec: {containers: [{...runContainer(get), image: 'run'}]},
          } as KubernetesObject,
          excuse: (message) => (isOfAmounts(message) ? undefined : ''),
        },
      ]
    : [];

/** Containers that webhooks add to a pod, such as sidecars. */
function injectedInto(object: KubernetesObject, admitted: Tree): string[] {
  const namesIn = (tree: Tree): string[] =>
    mapsIn(getAt(tree, ['spec', 'containers'])).map(({name}) => String(name));
  const own = namesIn(object as unknown as Tree);
  return object.kind === 'Pod' ? namesIn(admitted).filter((name) => !own.includes(name)) : [];
}

/** The namespace check explains what to do. */
const ENDING_NAMESPACE = 'its namespace is being deleted';

/** What an error says about the object; an object that exists was admitted before. */
function outcomeOf(
  error: ReadError,
  excuse: Trial['excuse'],
): Pick<AdmissionTrial, 'rejection' | 'untried'> {
  const {message, status = 0} = error;
  if (status === EXISTS) return {};
  if (NOT_ASKED.includes(error.kind)) return {untried: errorLine(error)};
  if (NOT_FOUND.test(message)) return {untried: NO_NAMESPACE};
  if (message.includes('because it is being terminated')) return {untried: ENDING_NAMESPACE};
  const untried = excuse?.(message) ?? untriedBecause(message);
  if (untried !== undefined) return untried === '' ? {} : {untried};
  const isRejected = REJECTIONS.includes(status) || message.includes('failed calling webhook');
  return isRejected ? {rejection: message} : {untried: errorLine(error)};
}

const EXISTS = 409;
/** The request did not reach admission control. */
const NOT_ASKED: readonly ReadErrorKind[] = ['not-logged-in', 'web-page', 'unreachable'];
const NOT_FOUND = /^namespaces "[^"]*" not found/;
/** Bad request, forbidden and invalid; webhooks choose among them. */
const REJECTIONS = [400, 403, 422];
