import {kindAndName} from '../../../cluster/kubernetes/object-refs.ts';
import type {KubernetesObject} from '../../../cluster/kubernetes/objects.ts';
import {type Fact, known, knownValue} from '../../../ground/fact.ts';
import {getAt, type Tree} from '../../../ground/tree.ts';
import {type Amounts, amountsOf} from './amounts.ts';
import type {PreflightContext} from './context.ts';

/** The live object with the name of an object of the chart; an object that was not looked for does not exist. */
export const liveFact = (
  object: KubernetesObject,
  {live}: PreflightContext,
): Fact<KubernetesObject | undefined> =>
  live.objects.get(kindAndName(object)) ?? known(undefined, 'none');

export const liveObject = (
  object: KubernetesObject,
  context: PreflightContext,
): KubernetesObject | undefined => knownValue(liveFact(object, context));

/** PVCs that the install creates; quotas and LimitRanges do not apply to existing ones. */
export const newClaims = (
  objects: readonly KubernetesObject[],
  context: PreflightContext,
): KubernetesObject[] =>
  objects.filter(
    (object) =>
      object.kind === 'PersistentVolumeClaim' && liveObject(object, context) === undefined,
  );

export const claimRequests = (claim: KubernetesObject): Amounts =>
  amountsOf(getAt(claim as unknown as Tree, ['spec', 'resources', 'requests']));
