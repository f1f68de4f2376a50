import {weaknessOf} from '../../cluster/facts/policy-weakness.ts';
import type {KubernetesObject} from '../../cluster/objects.ts';
import {type Enforcement, NETWORK} from '../enforcement.ts';
import {type BundledRelease, releaseOf} from '../scope.ts';
import type {Evidence} from './evidence.ts';
import type {Finding} from './finding.ts';

/** Policies of this release that do not do what they are for. Pure. */
export function policyFindings(
  {name, chart, version}: Pick<BundledRelease, 'name' | 'chart' | 'version'>,
  objects: readonly KubernetesObject[],
  {policies}: Pick<Enforcement, 'policies'>,
  places: Evidence,
): Finding[] {
  const policy = objects.find((object) => object.kind === 'NetworkPolicy' && releaseOf(object) === name);
  const weakness = weaknessOf({chart, version}, policies);
  if (policy === undefined || !('value' in weakness) || weakness.value === undefined) return [];
  const {code, message, remedy} = weakness.value;
  const place =
    code === 'POLICY_MISSES_RUNS'
      ? undefined
      : places.inFile(NETWORK, code === 'POLICY_NOT_ENFORCED' ? '"areEnforced"' : '"blockMetadata"');
  return [
    {
      severity: 'warning',
      code,
      object: `networkpolicy/${policy.metadata.name}`,
      message,
      ...(place ?? places.inObject('networkpolicy', policy.metadata.name, '"podSelector"')),
      remedy,
    },
  ];
}
