import {deleteObjects} from '../cluster/kubernetes/deletions.ts';
import {type ObjectRef, refText} from '../cluster/kubernetes/object-refs.ts';
import type {DefinitionObject, KubernetesObject} from '../cluster/kubernetes/objects.ts';
import type {InstalledRelease} from '../cluster/release/read-inventory.ts';
import {rollbackSteps} from './rollback-steps.ts';

import type {Step} from './step.ts';

export interface Rollback {
  /** Empty if a rollback is not possible. */
  steps: readonly Step[];
  /** What a rollback does not restore, or why a rollback is not possible. */
  limits: readonly string[];
}

/** What an upgrade leaves for a rollback. */
interface UpgradeRemains {
  manifest: readonly KubernetesObject[];
  /** Workloads that Helm has to create again. */
  restored: readonly ObjectRef[];
  keptClaims: readonly string[];
  timeoutSeconds: number;
}

/** Helm restores everything but CRDs. Measured with Helm 3 and 4: docs/guide/install-and-upgrade.md, "Rollback". */
export function rollbackOf(installed: InstalledRelease, remains: UpgradeRemains): Rollback {
  const {name, deployed} = installed;
  const {restored, keptClaims, timeoutSeconds} = remains;
  if (deployed === undefined)
    return {
      steps: [],
      limits: ['No revision of the release is deployed, so a rollback is not possible.'],
    };
  const steps: Step[] = [...rollbackSteps(name, deployed.revision, keptClaims)];
  if (restored.length > 0)
    steps.unshift({
      id: 'restore',
      title: `Delete ${restored.map(refText).join(' and ')}`,
      call: deleteObjects(name.kubeTarget, restored, timeoutSeconds),
    });
  return {steps, limits: limitsOf(installed, remains)};
}

function limitsOf(
  {definitions = [], inventory}: InstalledRelease,
  {manifest, keptClaims}: UpgradeRemains,
): string[] {
  const removed = inventory.definitions.filter(
    (each) => !manifest.some(({metadata}) => metadata.name === each.name),
  );
  return [
    ...storageLimits(definitions, manifest),
    ...(keptClaims.length > 0 ? [KEPT_ANNOTATION] : []),
    ...removed.map(
      ({name}) => `A rollback requires CRD ${name}: it is not possible after the CRD is deleted.`,
    ),
  ];
}

const KEPT_ANNOTATION =
  'PVCs keep the annotation helm.sh/resource-policy, so later upgrades do not delete them.';

/** CRDs are never rolled back; objects stay in the version in which they were stored. */
const storageLimits = (
  definitions: readonly DefinitionObject[],
  manifest: readonly DefinitionObject[],
): string[] =>
  manifest
    .filter(({kind}) => kind === 'CustomResourceDefinition')
    .flatMap((next) => {
      const {name} = next.metadata;
      const former = definitions.find(({metadata}) => metadata.name === name);
      if (former === undefined)
        return `CRD ${name} remains after a rollback, because Helm does not manage CRDs.`;
      const was = storedVersion(former);
      const is = storedVersion(next);
      if (was === is) return [];
      return `CRD ${name} stores objects as ${is} instead of ${was}, even after a rollback.`;
    });

const storedVersion = ({spec}: DefinitionObject): string | undefined =>
  spec?.versions?.find(({storage}) => storage)?.name;
