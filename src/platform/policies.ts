import type {Target} from '../charts/define.ts';
import {missesRuns} from '../charts/target.ts';
import type {Advice} from '../ground/errors.ts';
import {type Fact, follow, isKnown, known, unknown} from '../ground/fact.ts';
import type {NetworkPolicies} from './cni.ts';
import type {CustomObject, PlatformReadings} from './readings.ts';

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

export function policiesOf(readings: PlatformReadings): Policies {
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

const podSecurityOf = ({namespaceObject, namespace}: PlatformReadings): Fact<string> =>
  follow(namespaceObject, (found): Fact<string> => {
    const level = found?.metadata.labels?.[ENFORCE];
    if (level !== undefined) return known(level, `Namespace ${namespace}, label ${ENFORCE}`);
    return unknown(
      'undetermined',
      `${found ? 'the namespace has no Pod Security label' : 'the namespace does not exist yet'}, so the default of the API server applies, which cannot be read`,
    );
  });

/** Whether Pod Security or the platform rejects pods with a hostPath volume; a policy engine may reject them too. */
export function forbidsHostPath({podSecurity}: Policies, cloud: Fact<string>): Fact<boolean> {
  if (isKnown(cloud) && cloud.value === 'gke-autopilot') return known(true, 'GKE Autopilot; agent-k8s 0.5.58, README');
  return follow(podSecurity, (level, source): Fact<boolean> => known(level !== 'privileged', source));
}

const ALLOW = 'allow it with --metadata-service allow';

/** What is wrong with the policy of this chart in this cluster; undefined if Scalr tested that it works. */
export const weaknessOf = (target: Target, {areEnforced, blockMetadata}: NetworkPolicies): Fact<Advice | undefined> =>
  follow(areEnforced, (enforced, why): Fact<Advice | undefined> => {
    if (!enforced)
      return known(
        {
          code: 'POLICY_NOT_ENFORCED',
          message: `NetworkPolicies are not enforced (${why}), so runs can access the node credentials at 169.254.169.254`,
          remedy: `Enable a network policy engine, or ${ALLOW}`,
        },
        why,
      );
    if (missesRuns(target))
      return known(
        {
          code: 'POLICY_MISSES_RUNS',
          message: `The NetworkPolicy of ${target.chart} ${target.version} does not cover the pods of runs, which can access 169.254.169.254`,
          remedy: 'Use --chart agent-job or --chart agent-local, whose NetworkPolicy covers runs',
        },
        why,
      );
    return follow(blockMetadata, (isBlocked, source) =>
      known(
        isBlocked
          ? undefined
          : {
              code: 'POLICY_WITHOUT_EFFECT',
              message: `NetworkPolicies do not block 169.254.169.254 here (${why}; tested by Scalr: ${source}), so runs can access the node credentials`,
              remedy: `Use GKE Dataplane V2 or Workload Identity, or ${ALLOW}`,
            },
        source,
      ),
    );
  });
