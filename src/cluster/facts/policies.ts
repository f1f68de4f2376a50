import {type Fact, follow, isKnown, known, unknown} from './fact.ts';
import type {CustomObject, Readings} from './readings.ts';

export interface Policies {
  /** Kyverno is installed. */
  hasKyverno: Fact<boolean>;
  /** Names of its cluster policies. */
  kyvernoPolicies: Fact<readonly string[]>;
  /** Gatekeeper is installed; Azure Policy for AKS is one too. */
  hasGatekeeper: Fact<boolean>;
  /** Kinds of constraints that were made of its templates: k8spsphostfilesystem. */
  gatekeeperConstraints: Fact<readonly string[]>;
  /** Names of ValidatingAdmissionPolicies. */
  admissionPolicies: Fact<readonly string[]>;
  /** Level that Pod Security enforces in the namespace: privileged, baseline or restricted. */
  podSecurity: Fact<string>;
}

const ENFORCE = 'pod-security.kubernetes.io/enforce';
const CONSTRAINTS = '.constraints.gatekeeper.sh';

export function policiesOf(readings: Readings): Policies {
  const {resources, kyvernoPolicies, admissionPolicies} = readings;
  const isServed = (name: string): Fact<boolean> => follow(resources, (all, source) => known(all.includes(name), source));
  return {
    hasKyverno: isServed('clusterpolicies.kyverno.io'),
    kyvernoPolicies: namesOf(kyvernoPolicies),
    hasGatekeeper: isServed('constrainttemplates.templates.gatekeeper.sh'),
    gatekeeperConstraints: follow(resources, (all, source) =>
      known(
        all.filter((name) => name.endsWith(CONSTRAINTS)).map((name) => name.slice(0, -CONSTRAINTS.length)),
        source,
      ),
    ),
    admissionPolicies: namesOf(admissionPolicies),
    podSecurity: podSecurityOf(readings),
  };
}

const namesOf = (objects: Fact<readonly CustomObject[]>): Fact<string[]> =>
  follow(objects, (all, source) =>
    known(
      all.map(({metadata}) => metadata.name),
      source,
    ),
  );

const podSecurityOf = ({namespaceObject, namespace}: Readings): Fact<string> =>
  follow(namespaceObject, (found): Fact<string> => {
    const level = found?.metadata.labels?.[ENFORCE];
    if (level !== undefined) return known(level, `Namespace ${namespace}, label ${ENFORCE}`);
    return unknown(
      'undetermined',
      `${found ? 'the namespace has no label' : 'there is no namespace yet'}, so the default of the API server holds, which cannot be read`,
    );
  });

/** Whether pods with a hostPath volume are refused, as far as the cluster says so; a policy engine may refuse them all the same. */
export function forbidsHostPath({podSecurity}: Policies, cloud: Fact<string>): Fact<boolean> {
  if (isKnown(cloud) && cloud.value === 'gke-autopilot') return known(true, 'GKE Autopilot; agent-k8s 0.5.58, README');
  return follow(podSecurity, (level, source): Fact<boolean> => known(level !== 'privileged', source));
}
